//! A compressed link graph, and ranks of its nodes.
//!
//! [`Graph`] is a web graph, compressed on disk as a `BVGraph`. [`pagerank()`] and [`in_degrees`] rank its nodes.
//! `docs/formats/graph.md` describes the files. Nodes are numbers: URLs and text are handled by other crates.
//!
//! **Invariant.** Every list of a [`Graph`] has been decoded once before the graph is returned. Its methods
//! therefore cannot meet an invalid list.
//!
//! ```
//! use graph::{Graph, NodeId, PageRankConfig, pagerank};
//!
//! let folder = tempfile::tempdir()?;
//! let arcs = [(0, 1), (0, 2), (1, 2), (2, 0)].map(|(from, to)| (NodeId(from), NodeId(to)));
//! let graph = Graph::build(folder.path(), 3, arcs.into_iter())?;
//! assert_eq!(graph.successors(NodeId(0)), [NodeId(1), NodeId(2)]);
//!
//! let ranks = pagerank(&graph, &PageRankConfig::default(), &mut |_, _| {});
//! assert!(ranks.error_bound <= 1e-9 && ranks.values[2] > ranks.values[1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod compress;
mod dead_ends;
mod decode;
mod error;
mod in_degree;
mod manifest;
mod matrix;
mod pagerank;
mod ranks;
mod shape;
mod store;

pub use error::GraphError;
pub use in_degree::in_degrees;
pub use pagerank::{DeadEnds, PageRankConfig, Ranks, Solver, pagerank, topic_pagerank};
pub use ranks::{read_ranks, write_ranks};
pub use store::Graph;

/// A node: a page or a host. The nodes of a graph are numbered consecutively from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);
