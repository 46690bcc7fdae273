//! Graphs written and opened again, compared with the sorted set of their arcs.

use std::collections::BTreeSet;
use std::fs;

use graph::{Graph, GraphError, NodeId};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{VARIED, arcs_of, build, folder};

fn check(nodes: u32, arcs: &[(u32, u32)]) {
    let expected: Vec<_> = arcs.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let dir = folder();
    let built = build(dir.path(), nodes, arcs);
    let opened = Graph::open(dir.path()).expect("what was just built");
    for graph in [&built, &opened] {
        assert_eq!(graph.nodes(), nodes);
        assert_eq!(graph.arcs(), expected.len() as u64);
        assert_eq!(arcs_of(graph), expected);
        for node in 0..nodes {
            let list: Vec<_> = graph.successors(NodeId(node)).iter().map(|to| to.0).collect();
            let mine = expected.iter().filter(|arc| arc.0 == node);
            assert_eq!(list, mine.map(|arc| arc.1).collect::<Vec<_>>(), "successors of {node}");
        }
        assert_eq!(graph.successors(NodeId(nodes)), []);
        assert_eq!(graph.successors(NodeId(u32::MAX)), []);
    }
    assert_eq!(built.bits_per_arc().to_bits(), opened.bits_per_arc().to_bits());
    assert_eq!(built.bits_per_arc() > 0.0, !expected.is_empty());
}

/// A graph in which neighbouring nodes have similar lists, as in the web. It has references, blocks and intervals.
fn alike() -> impl Strategy<Value = (u32, Vec<(u32, u32)>)> {
    let list = vec((0..60_u32, 1..9_u32), 0..4);
    vec((list, any::<bool>(), vec(0..60_u32, 0..4)), 1..40).prop_map(|lists| {
        let mut arcs = Vec::new();
        let mut before = BTreeSet::new();
        for (node, (runs, fresh, toggled)) in (0..).zip(lists) {
            if fresh {
                before = runs.iter().flat_map(|&(start, len)| start..start + len).collect();
            }
            for to in toggled {
                if !before.remove(&to) {
                    before.insert(to);
                }
            }
            arcs.extend(before.iter().map(|&to| (node, to)));
        }
        (70, arcs)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_arcs_round_trip(nodes in 1..40_u32, pairs in vec((0..40_u32, 0..40_u32), 0..200)) {
        let arcs: Vec<_> = pairs.iter().map(|&(a, b)| (a % nodes, b % nodes)).collect();
        check(nodes, &arcs);
    }

    #[test]
    fn similar_lists_round_trip((nodes, arcs) in alike()) {
        check(nodes, &arcs);
    }
}

#[test]
fn empty_and_tiny_graphs_round_trip() {
    check(0, &[]);
    check(1, &[]);
    check(1, &[(0, 0)]);
    check(1000, &[]);
    check(16, &VARIED);
    check(300_000, &[(0, 299_999), (299_999, 0), (150_000, 150_000)].repeat(3));
}

#[test]
fn long_dense_lists_round_trip() {
    let nodes = 50_000;
    let dir = folder();
    let all = (0..nodes).map(|to| (7, to));
    let odd = (0..nodes).filter(|to| to % 2 == 1).map(|to| (8, to));
    let arcs: Vec<_> = all.chain(odd).chain([(nodes - 1, 0)]).collect();
    build(dir.path(), nodes, &arcs);
    let graph = Graph::open(dir.path()).expect("a graph");
    assert_eq!(arcs_of(&graph), arcs);
    assert_eq!(graph.successors(NodeId(7)).len(), nodes as usize);
    assert_eq!(graph.successors(NodeId(8)).len(), nodes as usize / 2);
    assert_eq!(graph.successors(NodeId(nodes - 1)), [NodeId(0)]);
}

#[test]
fn an_arc_out_of_range_is_refused_and_nothing_changes() {
    let dir = folder();
    build(dir.path(), 3, &[(0, 1)]);
    for arc in [(0, 3), (3, 0), (u32::MAX, u32::MAX)] {
        let arcs = [(0, 1), arc].map(|(from, to)| (NodeId(from), NodeId(to)));
        let error = Graph::build(dir.path(), 3, arcs.into_iter()).expect_err("an arc too far");
        let GraphError::ArcOutOfRange { from, to, nodes: 3 } = error else { panic!("{error}") };
        assert_eq!((from, to), arc);
    }
    assert_eq!(arcs_of(&Graph::open(dir.path()).expect("the old graph")), [(0, 1)]);
}

#[test]
fn a_build_replaces_the_graph_without_leftover_files() {
    let dir = folder();
    build(dir.path(), 16, &VARIED);
    let graph = build(dir.path(), 2, &[(1, 0)]);
    assert_eq!(arcs_of(&graph), [(1, 0)]);
    assert_eq!(arcs_of(&Graph::open(dir.path()).expect("a graph")), [(1, 0)]);
    let files = fs::read_dir(dir.path()).expect("a folder");
    let mut names: Vec<_> = files.map(|file| file.expect("a file").file_name()).collect();
    names.sort();
    assert_eq!(names, ["links-2.graph", "links-2.offsets", "links-2.properties", "manifest"]);
}

/// A killed build leaves files that are not in the manifest.
#[test]
fn an_interrupted_build_keeps_the_old_graph() {
    let dir = folder();
    build(dir.path(), 16, &VARIED);
    for name in ["links-2.properties", "links-2.graph", "links-2.offsets.tmp", "manifest.tmp"] {
        fs::write(dir.path().join(name), b"half").expect("written");
        let graph = Graph::open(dir.path()).expect("the old graph");
        assert_eq!(arcs_of(&graph), VARIED);
    }
    build(dir.path(), 1, &[(0, 0)]);
    assert_eq!(arcs_of(&Graph::open(dir.path()).expect("the new graph")), [(0, 0)]);
    assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 4, "nothing half is left");
}

#[test]
fn the_source_is_stored_and_unfit_sources_are_refused() {
    let dir = folder();
    let arcs = || [(NodeId(0), NodeId(0))].into_iter();
    let source = "pages 17 # sum 00000000 \u{e8}";
    let graph = Graph::build_from(source, dir.path(), 1, arcs()).expect("a graph");
    assert_eq!(graph.source(), source);
    assert_eq!(Graph::open(dir.path()).expect("a graph").source(), source);
    for unfit in ["two\nlines", &"x".repeat(1025)] {
        let error = Graph::build_from(unfit, dir.path(), 1, arcs()).expect_err("unfit");
        assert!(matches!(error, GraphError::SourceUnfit { bytes_max: 1024 }), "{error}");
    }
}

#[test]
fn a_missing_graph_is_an_error_naming_the_file() {
    let dir = folder();
    let error = Graph::open(dir.path()).expect_err("an empty folder");
    let GraphError::Io { path, .. } = error else { panic!("{error}") };
    assert_eq!(path, dir.path().join("manifest"));
}
