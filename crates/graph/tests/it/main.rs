//! Tests of the public interface, and shared helpers.

mod bvgraph;
mod hostile;
mod pagerank;
mod ranks;
mod round_trip;
mod shared;

use std::path::Path;

use graph::{Graph, NodeId};

/// Builds a graph in `dir` from pairs.
fn build(dir: &Path, nodes: u32, arcs: &[(u32, u32)]) -> Graph {
    let arcs = arcs.iter().map(|&(from, to)| (NodeId(from), NodeId(to)));
    Graph::build(dir, nodes, arcs).expect("arcs in range and a folder to write in")
}

/// Every arc, in the order of [`Graph::for_each_arc`].
fn arcs_of(graph: &Graph) -> Vec<(u32, u32)> {
    let mut arcs = Vec::new();
    graph.for_each_arc(&mut |from, to| arcs.push((from.0, to.0)));
    arcs
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A graph that uses all features of `BVGraph`: references, blocks at both ends, intervals, residuals before the
/// node, a self-loop, and an empty list.
const VARIED: [(u32, u32); 31] = [
    (0, 0),
    (1, 2),
    (1, 3),
    (1, 4),
    (1, 5),
    (1, 9),
    (2, 2),
    (2, 3),
    (2, 4),
    (2, 5),
    (2, 9),
    (3, 1),
    (3, 3),
    (3, 4),
    (3, 9),
    (3, 14),
    (5, 0),
    (5, 1),
    (5, 2),
    (5, 3),
    (5, 6),
    (5, 7),
    (5, 8),
    (5, 9),
    (5, 10),
    (5, 12),
    (6, 0),
    (6, 1),
    (6, 8),
    (6, 9),
    (15, 2),
];
