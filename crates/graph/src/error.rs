//! What can go wrong with a graph.
//!
//! **Invariant.** Every variant about a file names it, and where in it the trouble was noticed.

use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong with a graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A file of the graph cannot be read or written.
    #[error("cannot access graph file {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the graph does not hold what was written.
    #[error("graph file {file} is damaged at byte {offset}: {reason}; build the graph again")]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Where in the file it was noticed, in bytes.
        offset: u64,
        /// What was noticed.
        reason: String,
    },
    /// A graph of others says in its properties what this program does not read.
    #[error(
        "graph file {file} asks for {key}={value}, which is not read here; \
         compress the graph again with WebGraph's defaults"
    )]
    Unsupported {
        /// The properties.
        file: PathBuf,
        /// The key of the property.
        key: &'static str,
        /// Its value.
        value: String,
    },
    /// An arc names a node that the graph does not have.
    #[error("arc {from} → {to} in a graph of {nodes} nodes, which are numbered from 0")]
    ArcOutOfRange {
        /// Source of the arc.
        from: u32,
        /// Target of the arc.
        to: u32,
        /// How many nodes there are.
        nodes: u32,
    },
    /// The name of what a graph is made from does not fit in a manifest.
    #[error("the source of a graph must be one line of at most {bytes_max} bytes")]
    SourceUnfit {
        /// The greatest length.
        bytes_max: usize,
    },
}

impl GraphError {
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> GraphError {
        move |source| GraphError::Io { path: path.to_owned(), source }
    }

    pub(crate) fn damaged(file: &Path, offset: usize, reason: impl Into<String>) -> GraphError {
        GraphError::Damaged { file: file.to_owned(), offset: offset as u64, reason: reason.into() }
    }
}
