//! Peeling a hypergraph: edges that have a vertex for themselves are taken away, one after the other.
//!
//! What is left, the 2-core, is the same in whatever order they are taken. It is empty almost surely
//! if there are more than 1.222 vertices an edge of three; for graphs (edges of two) it is empty
//! if there is no cycle, which with 2.09 vertices an edge has a probability of about 0.3.
//!
//! **Invariant.** Each edge that is taken stands with a vertex that none of the edges after it
//! has, nor one that is left. So the equations can be made true from the last edge to the first,
//! each by the cell of its vertex.
//!
//! **Reference.** M. Molloy, "Cores in random hypergraphs and Boolean formulas", Random Structures &
//! Algorithms 27(1), 2005; D. Belazzougui, P. Boldi, G. Ottaviano, R. Venturini, S. Vigna,
//! "Cache-oblivious peeling of random hypergraphs", DCC 2014 (edges kept as their exclusive or).

/// An edge that was taken away.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peeled {
    pub(super) edge: u32,
    /// The vertex that was its own.
    pub(super) vertex: u32,
}

/// The edges of a vertex: how many, and the exclusive or of their numbers, which is the number of the
/// last one once there is only one.
#[derive(Debug, Clone, Copy, Default)]
struct Incidence {
    degree: u32,
    edges: u32,
}

/// The edges that can be taken away, in the order in which they are.
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
