//! Compressed link graph, centralities, spectral ranks.
//!
//! What lives here: [`Graph`], a web graph compressed on disk; [`pagerank`] over it; the files both
//! are kept in. What does not: URLs and text. A graph sees numbers.

#![forbid(unsafe_code)]

mod error;
mod pagerank;
mod ranks;
mod store;

pub use error::GraphError;
pub use pagerank::{PageRankConfig, Ranks, pagerank};
pub use ranks::{read_ranks, write_ranks};
pub use store::Graph;

/// A node: a page, or a host. Nodes of a graph are numbered from zero without holes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);
