//! In-degree: how many nodes link to each.
//!
//! **Invariant.** The in-degrees of a graph sum to its arcs.

use crate::Graph;

/// For each node the count of its predecessors; a self-loop counts as one.
pub fn in_degrees(graph: &Graph) -> Vec<f64> {
    let mut degrees = vec![0.0; graph.nodes() as usize];
    graph.for_each_list(|_, list| {
        for &to in list {
            degrees[to as usize] += 1.0;
        }
    });
    degrees
}
