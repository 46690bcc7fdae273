//! What can go wrong with a graph.

use std::io;
use std::path::PathBuf;

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
    /// An arc names a node that the graph does not have.
    #[error("arc {from} → {to} of a graph of {nodes} nodes")]
    ArcOutOfRange {
        /// Source of the arc.
        from: u32,
        /// Target of the arc.
        to: u32,
        /// How many nodes there are.
        nodes: u32,
    },
}
