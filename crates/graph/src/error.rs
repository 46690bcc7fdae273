//! The error type of this crate.
//!
//! **Invariant.** Every error about a file names the file. Damage also has the byte offset.

use std::io;
use std::path::{Path, PathBuf};

use durable::Fault;

/// An error in reading, writing or building a graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A file of the graph cannot be read or written.
    #[error("cannot access graph file {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The contents of a graph file are invalid.
    #[error("graph file {file} is damaged at byte {offset}: {reason}; build the graph again")]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The byte offset at which the damage was noticed.
        offset: u64,
        /// A description of the damage.
        reason: String,
    },
    /// An imported graph has a property value that this program does not support.
    #[error(
        "graph file {file} uses {key}={value}, which is not supported; \
         compress the graph again with WebGraph's defaults"
    )]
    Unsupported {
        /// The properties file.
        file: PathBuf,
        /// The key of the property.
        key: &'static str,
        /// The value of the property.
        value: String,
    },
    /// An arc has a node that does not exist in the graph.
    #[error("arc {from} → {to} in a graph of {nodes} nodes, which are numbered from 0")]
    ArcOutOfRange {
        /// The source of the arc.
        from: u32,
        /// The target of the arc.
        to: u32,
        /// The number of nodes.
        nodes: u32,
    },
    /// The source of a graph is unfit for a manifest: too long, or more than one line.
    #[error("the source of a graph must be one line of at most {bytes_max} bytes")]
    SourceUnfit {
        /// The maximum length in bytes.
        bytes_max: usize,
    },
}

impl GraphError {
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> GraphError {
        move |source| GraphError::Io { path: path.to_owned(), source }
    }

    /// The error of a file that [`durable::read_checked`] cannot read.
    pub(crate) fn of(file: &Path, fault: Fault) -> GraphError {
        match fault {
            Fault::Io(source) => GraphError::Io { path: file.to_owned(), source },
            Fault::Damaged { offset, what } => {
                GraphError::Damaged { file: file.to_owned(), offset, reason: what.to_owned() }
            }
            Fault::Version { .. } => GraphError::damaged(file, 0, fault.to_string()),
        }
    }

    pub(crate) fn damaged(file: &Path, offset: usize, reason: impl Into<String>) -> GraphError {
        GraphError::Damaged { file: file.to_owned(), offset: offset as u64, reason: reason.into() }
    }
}
