//! In-degree: the number of nodes that link to a node.
//!
//! **Invariant.** The in-degrees of a graph sum to the number of its arcs.

use crate::Graph;

/// The number of predecessors of each node. A self-loop counts as one.
pub fn in_degrees(graph: &Graph) -> Vec<f64> {
    let mut degrees = vec![0.0; graph.nodes() as usize];
    graph.for_each_list(|_, list| {
        for &to in list {
            degrees[to as usize] += 1.0;
        }
    });
    degrees
}
