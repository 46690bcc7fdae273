//! Repeated removal of dead ends, and their restoration.
//!
//! This module computes the order of removal and the ranks of removed nodes. `pagerank.rs` ranks the other nodes.
//!
//! **Reference.** J. Leskovec, A. Rajaraman, J. D. Ullman, "Mining of Massive Datasets", §5.1.4.
//!
//! **Invariant.** Every successor of a removed node was removed before it.

use crate::matrix::Matrix;

/// The dead ends, and the nodes that become dead ends when their successors are removed, in the order of removal.
pub(crate) fn removal_order(matrix: &Matrix, nodes: u32) -> Vec<u32> {
    let mut left: Vec<u32> = (0..nodes).map(|node| matrix.degree(node as usize)).collect();
    let mut order: Vec<u32> = (0..nodes).filter(|&node| left[node as usize] == 0).collect();
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        for &before in matrix.predecessors(node as usize) {
            left[before as usize] -= 1;
            if left[before as usize] == 0 {
                order.push(before);
            }
        }
        next += 1;
    }
    order
}

/// Computes the values of the nodes of `order`, in reverse, from the shares of their predecessors. `matrix` is that
/// of the whole graph.
pub(crate) fn restore(matrix: &Matrix, order: &[u32], values: &mut [f64]) {
    for &node in order.iter().rev() {
        let node = node as usize;
        let share =
            |&before: &u32| values[before as usize] / f64::from(matrix.degree(before as usize));
        values[node] = matrix.predecessors(node).iter().map(share).sum();
    }
}
