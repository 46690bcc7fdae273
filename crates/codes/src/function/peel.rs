//! Peeling a hypergraph: removes edges that have a vertex of their own, one after the other.
//!
//! The remaining edges, the 2-core, do not depend on the order of removal. With more than 1.222 vertices per edge
//! of three vertices, the 2-core is empty almost surely. For graphs (edges of two vertices) it is empty if there
//! is no cycle. With 2.09 vertices per edge that has a probability of about 0.3.
//!
//! **Invariant.** Each removed edge has a vertex that belongs to no later edge and to no remaining edge. So the
//! equations can be satisfied from the last edge to the first, each by the cell of its vertex.
//!
//! **Reference.** M. Molloy, "Cores in random hypergraphs and Boolean formulas", Random Structures &
//! Algorithms 27(1), 2005; D. Belazzougui, P. Boldi, G. Ottaviano, R. Venturini, S. Vigna,
//! "Cache-oblivious peeling of random hypergraphs", DCC 2014 (edges kept as their exclusive or).

/// A removed edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peeled {
    pub(super) edge: u32,
    /// Its own vertex.
    pub(super) vertex: u32,
}

/// The edges of a vertex: their count, and the exclusive or of their numbers. With one edge left, that is its
/// number.
#[derive(Debug, Clone, Copy, Default)]
struct Incidence {
    degree: u32,
    edges: u32,
}

/// Returns the edges that can be removed, in the order of removal.
pub(super) fn peel<const K: usize>(edges: &[[u32; K]], vertices: usize) -> Vec<Peeled> {
    let mut incidences = vec![Incidence::default(); vertices];
    for (edge, ends) in (0..).zip(edges) {
        for &vertex in ends {
            let incidence = &mut incidences[vertex as usize];
            incidence.degree += 1;
            incidence.edges ^= edge;
        }
    }
    let mut peeled = Vec::with_capacity(edges.len());
    let mut alone = Vec::new();
    for (vertex, _) in (0..).zip(0..vertices) {
        alone.push(vertex);
        while let Some(vertex) = alone.pop() {
            let Incidence { degree: 1, edges: edge } = incidences[vertex as usize] else {
                continue;
            };
            peeled.push(Peeled { edge, vertex });
            for end in edges[edge as usize] {
                let incidence = &mut incidences[end as usize];
                incidence.degree -= 1;
                incidence.edges ^= edge;
                if incidence.degree == 1 {
                    alone.push(end);
                }
            }
        }
    }
    peeled
}
