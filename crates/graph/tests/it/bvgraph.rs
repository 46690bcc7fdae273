//! Compatibility with the `webgraph` crate: each side reads the files of the other, and both write equal bits.

use std::fs;
use std::path::Path;

use dsi_bitstream::traits::BE;
use graph::{Graph, NodeId, write_ranks};
use proptest::collection::vec;
use proptest::prelude::*;
use webgraph::graphs::bvgraph::{BvComp, BvGraphSeq, LoadMem};
use webgraph::graphs::vec_graph::VecGraph;
use webgraph::traits::SequentialLabeling;

use crate::{VARIED, arcs_of, build, folder};

/// The arcs of the `BVGraph` at `basename` and the start of each list, read by the `webgraph` crate.
fn webgraph_reads(basename: &Path) -> (Vec<(u32, u32)>, Vec<u64>) {
    let graph = BvGraphSeq::with_basename(basename).mode::<LoadMem>().load().expect("a BVGraph");
    let mut arcs = Vec::new();
    let mut lists = graph.iter();
    for node in 0..graph.num_nodes() {
        let list = lists.next_successors().expect("a list");
        let number = |n: usize| u32::try_from(n).expect("a node");
        arcs.extend(list.iter().map(|&to| (number(node), number(to))));
    }
    (arcs, graph.offset_deg_iter().map(|(offset, _)| offset).collect())
}

fn check(nodes: u32, arcs: &[(u32, u32)]) {
    let dir = folder();
    let ours = build(dir.path(), nodes, arcs);
    let expected = arcs_of(&ours);
    let (read, offsets) = webgraph_reads(&dir.path().join("links-1"));
    assert_eq!(read, expected);
    assert_eq!(offsets.len(), nodes as usize);

    let theirs = dir.path().join("theirs");
    let mut graph = VecGraph::empty(nodes as usize);
    graph.add_arcs(expected.iter().map(|&(from, to)| (from as usize, to as usize)));
    BvComp::with_basename(&theirs).comp_graph::<BE>(&graph).expect("compressed");
    assert_eq!(arcs_of(&Graph::import(&theirs).expect("a BVGraph")), expected);
    for extension in ["graph", "offsets"] {
        let read = |base: &Path| fs::read(base.with_extension(extension)).expect("a file");
        assert_eq!(read(&dir.path().join("links-1")), read(&theirs), "the {extension} files");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn bits_match_webgraph(nodes in 1..40_u32, pairs in vec((0..40_u32, 0..40_u32), 1..300)) {
        let arcs: Vec<_> = pairs.iter().map(|&(a, b)| (a % nodes, b % nodes)).collect();
        check(nodes, &arcs);
    }

    /// Lists of few runs, chosen from a small set, so that there are many copies and intervals.
    #[test]
    fn similar_lists_match_webgraph(
        stock in vec(vec((0..200_u32, 1..12_u32), 0..6), 1..6),
        choice in vec((0..6_usize, 0..200_u32), 1..60),
    ) {
        let mut arcs = Vec::new();
        for (node, (which, extra)) in (0..).zip(choice) {
            let runs = &stock[which % stock.len()];
            let list = runs.iter().flat_map(|&(start, len)| start..start + len);
            arcs.extend(list.chain([extra]).map(|to| (node, to)));
        }
        check(220, &arcs);
    }
}

#[test]
fn edge_cases_match_webgraph() {
    check(1, &[]);
    check(1, &[(0, 0)]);
    check(100, &[]);
    check(16, &VARIED);
}

/// The examples in the documentation of the format.
#[test]
fn graphs_match_the_examples_of_the_format_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/graph.md");
    let page = fs::read_to_string(page).expect("the page of the format");
    let check_shown = |text: &str| assert!(page.contains(text), "the page does not show\n{text}");
    let hex = |path: &Path| {
        let bytes = fs::read(path).expect("a file");
        let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        digits.chunks(16).map(|line| line.join(" ") + "\n").collect::<String>()
    };
    let dir = folder();
    let arcs = [(1, 2), (1, 3), (2, 2), (2, 3), (2, 4), (4, 0), (4, 1), (4, 2), (4, 3)];
    let arcs = arcs.into_iter().map(|(from, to)| (NodeId(from), NodeId(to)));
    Graph::build_from("directory 7", dir.path(), 5, arcs).expect("a graph");
    check_shown(&hex(&dir.path().join("links-1.graph")));
    check_shown(&hex(&dir.path().join("links-1.offsets")));
    for name in ["links-1.properties", "manifest"] {
        check_shown(&fs::read_to_string(dir.path().join(name)).expect("a file"));
    }
    let ranks = dir.path().join("a.ranks");
    write_ranks(&ranks, &[0.25, 0.75]).expect("written");
    check_shown(&hex(&ranks));
}

#[test]
fn a_graph_with_other_codes_is_refused() {
    let dir = folder();
    build(dir.path(), 16, &VARIED);
    let base = dir.path().join("links-1");
    let path = base.with_extension("properties");
    let text = fs::read_to_string(&path).expect("a file");
    for (from, to) in [
        ("compressionflags=", "compressionflags=RESIDUALS_GAMMA"),
        ("zetak=3", "zetak=4"),
        ("endianness=big", "endianness=little"),
        ("version=0", "version=2"),
        ("nodes=16", "nodes=4294967296"),
        ("nodes=16", "nodes=17000"),
        ("nodes=16", "nodes="),
        ("nodes=16", ""),
        ("arcs=31", "arcs=30"),
        ("arcs=31", "arcs=32"),
        ("arcs=31", ""),
        ("windowsize=7", "windowsize=99999999"),
        ("minintervallength=4", "minintervallength=1"),
    ] {
        assert!(text.contains(from));
        fs::write(&path, text.replace(from, to)).expect("written");
        let error = Graph::import(&base).expect_err(to);
        assert!(error.to_string().contains("links-1."), "{error}");
    }
    fs::write(&path, &text).expect("written");
    assert_eq!(arcs_of(&Graph::import(&base).expect("a BVGraph")), VARIED);
}
