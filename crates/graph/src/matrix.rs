//! [`Matrix`]: the predecessors and the outdegree of each node.
//!
//! This is the transpose of a graph in memory. It takes four bytes per arc and twelve per node, or twenty during
//! construction.
//!
//! **Invariant.** The predecessors of a node are ascending, so sums over them have a fixed order.

use crate::Graph;

/// A graph as lists of predecessors.
#[derive(Debug)]
pub(crate) struct Matrix {
    /// The start of the predecessors of each node, and the end of the last ones.
    starts: Vec<usize>,
    predecessors: Vec<u32>,
    /// The number of successors of each node.
    degrees: Vec<u32>,
}

impl Matrix {
    pub(crate) fn new(graph: &Graph) -> Self {
        Self::among(graph, |_| true)
    }

    /// The graph without the arcs of nodes for which `keep` is false. All nodes keep their numbers.
    pub(crate) fn among(graph: &Graph, keep: impl Fn(u32) -> bool) -> Self {
        let nodes = graph.nodes() as usize;
        let mut degrees = vec![0; nodes];
        let mut starts = vec![0; nodes + 1];
        let each = |visit: &mut dyn FnMut(u32, u32)| {
            graph.for_each_list(|from, list| {
                if keep(from) {
                    list.iter().filter(|&&to| keep(to)).for_each(|&to| visit(from, to));
                }
            });
        };
        each(&mut |from, to| {
            degrees[from as usize] += 1;
            starts[to as usize + 1] += 1;
        });
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut free = starts.clone();
        let mut predecessors = vec![0; starts[nodes]];
        each(&mut |from, to| {
            predecessors[free[to as usize]] = from;
            free[to as usize] += 1;
        });
        Matrix { starts, predecessors, degrees }
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.degrees.len()
    }

    pub(crate) fn predecessors(&self, node: usize) -> &[u32] {
        &self.predecessors[self.starts[node]..self.starts[node + 1]]
    }

    pub(crate) fn degree(&self, node: usize) -> u32 {
        self.degrees[node]
    }
}
