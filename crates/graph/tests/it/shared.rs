//! Real graphs, compared with published figures.
//!
//! The figures are from the web page of the data. Two independent programs agree on each.

use std::env;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use graph::{Graph, NodeId, PageRankConfig, Ranks, Solver, pagerank};

use crate::{arcs_of, build, folder};

/// The folder of graphs beside the checkout.
fn graphs() -> PathBuf {
    let shared = env::var_os("CRIVELLO_SHARED").map(PathBuf::from).or_else(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        here.ancestors().map(|dir| dir.join("shared")).find(|dir| dir.is_dir())
    });
    shared.expect("a folder `shared` beside the checkout").join("graphs")
}

fn arc_list(name: &str) -> Vec<(u32, u32)> {
    let file = fs::File::open(graphs().join(name)).expect("a list of arcs");
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("text");
    let arc = |line: &str| {
        let (from, to) = line.split_once('\t').expect("two nodes");
        (from.parse().expect("a node"), to.parse().expect("a node"))
    };
    text.lines().map(arc).collect()
}

fn rank(graph: &Graph, solver: Solver) -> Ranks {
    let config = PageRankConfig { solver, ..Default::default() };
    pagerank(graph, &config, &mut |_, _| {})
}

/// The nodes of greatest rank.
fn first(ranks: &Ranks, count: usize) -> Vec<(usize, f64)> {
    let mut order: Vec<_> = ranks.values.iter().copied().enumerate().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    order.truncate(count);
    order
}

fn check_values(found: &[(usize, f64)], expected: &[f64], places: i32) {
    let half = 0.5 * 10_f64.powi(-places);
    for (&(node, value), &expected) in found.iter().zip(expected) {
        assert!((value - expected).abs() <= half * 1.001, "node {node}: {value}, not {expected}");
    }
}

#[test]
fn needs_shared_cnr_2000() {
    let original = graphs().join("cnr-2000/cnr-2000");
    let imported = Graph::import(&original).expect("a BVGraph");
    assert_eq!((imported.nodes(), imported.arcs()), (325_557, 3_216_152));
    assert!((imported.bits_per_arc() - 2.897).abs() < 0.0005, "{}", imported.bits_per_arc());
    let arcs = arcs_of(&imported);

    let dir = folder();
    let built = build(dir.path(), imported.nodes(), &arcs);
    eprintln!(
        "cnr-2000: {:.4} bits a link, stored {:.4}",
        built.bits_per_arc(),
        imported.bits_per_arc()
    );
    for extension in ["graph", "offsets"] {
        let ours = fs::read(dir.path().join("links-1").with_extension(extension)).expect("a file");
        let stored = fs::read(original.with_extension(extension)).expect("a file");
        // Only the padding with zeros to whole words may differ.
        let (same, padding) = stored.split_at_checked(ours.len()).expect("as long as ours");
        assert!(same == ours, "the {extension} file is not the stored one");
        assert!(padding.len() <= 8 && padding.iter().all(|&byte| byte == 0), "{padding:?}");
    }

    let ranks = rank(&built, Solver::GaussSeidel);
    eprintln!("cnr-2000: {} sweeps, error at most {:e}", ranks.iterations, ranks.error_bound);
    let found = first(&ranks, 5);
    let nodes: Vec<_> = found.iter().map(|entry| entry.0).collect();
    assert!(nodes[..2] == [60595, 60597] || nodes[..2] == [60597, 60595], "{found:?}");
    assert_eq!(nodes[2..], [285_152, 318_525, 247_028]);
    check_values(&found, &[0.017_771_9, 0.017_771_9, 0.007_504_9, 0.006_803_4, 0.005_618_6], 7);

    let mut rest = arcs.as_slice();
    let mut dead_ends = 0;
    for node in 0..built.nodes() {
        let (mine, others) = rest.split_at(rest.partition_point(|arc| arc.0 <= node));
        dead_ends += usize::from(mine.is_empty());
        rest = others;
        if node % 97 == 0 {
            let expected: Vec<_> = mine.iter().map(|arc| NodeId(arc.1)).collect();
            assert_eq!(built.successors(NodeId(node)), expected, "successors of {node}");
        }
    }
    assert_eq!(dead_ends, 78_056);
}

#[test]
fn needs_shared_cnr_2000_transpose() {
    let imported = Graph::import(&graphs().join("cnr-2000/cnr-2000-t")).expect("a BVGraph");
    assert_eq!((imported.nodes(), imported.arcs()), (325_557, 3_216_152));
    assert!((imported.bits_per_arc() - 2.343).abs() < 0.0005, "{}", imported.bits_per_arc());
}

#[test]
fn needs_shared_wiki_vote() {
    let arcs = arc_list("wiki-Vote.arcs.gz");
    assert_eq!(arcs.len(), 103_689);
    let dir = folder();
    build(dir.path(), 7115, &arcs);
    let graph = Graph::open(dir.path()).expect("a graph");
    assert_eq!(arcs_of(&graph), arcs);
    eprintln!("wiki-Vote: {:.3} bits a link", graph.bits_per_arc());
    let (sweeps, power) = (rank(&graph, Solver::GaussSeidel), rank(&graph, Solver::Power));
    let pairs = sweeps.values.iter().zip(&power.values);
    let apart: f64 = pairs.map(|(a, b)| (a - b).abs()).sum();
    assert!(apart <= sweeps.error_bound + power.error_bound + 1e-13, "{apart:e} apart");
    assert!(sweeps.iterations < power.iterations);
}

#[test]
fn needs_shared_harvard500() {
    let with_loops = arc_list("harvard500.arcs.gz");
    assert_eq!(with_loops.len(), 2636);
    let arcs: Vec<_> = with_loops.iter().copied().filter(|(from, to)| from != to).collect();
    assert_eq!(with_loops.len() - arcs.len(), 73);
    for solver in [Solver::GaussSeidel, Solver::Power] {
        let dir = folder();
        let graph = build(dir.path(), 500, &arcs);
        let expected = [0.0843, 0.0167, 0.0166, 0.0163, 0.0139, 0.0131, 0.0114, 0.0111];
        check_values(&first(&rank(&graph, solver), 8), &expected, 4);
        eprintln!("harvard500: {:.3} bits a link", graph.bits_per_arc());
        let graph = build(dir.path(), 500, &with_loops);
        check_values(&first(&rank(&graph, solver), 1), &[0.0823], 4);
    }
}
