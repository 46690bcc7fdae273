//! The files of ranks: by node of the graph, by document of the index, and as users gave them.
//!
//! What lives here: how the files are written and read. What does not: how a rank is computed or checked.
//!
//! **Invariant.** While `graph/stale` exists, the vectors by document may be older than the other vectors.

mod documents;
mod imported;
mod nodes;

pub use documents::{document_ranks, document_vectors, is_stale, write_document_vectors};
pub use imported::{imported_vectors, read_imported, write_imported};
pub use nodes::{
    Origin, node_ranks, node_vectors, read_origin, read_vector, remove_vectors, write_vector,
};
