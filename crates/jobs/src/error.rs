//! What can go wrong in a batch job.

use std::io;
use std::path::{Path, PathBuf};

/// An error of a batch job; each names the file it is about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobsError {
    /// Reading or writing failed; a full disk arrives here.
    #[error("cannot access {path}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder holds neither a configuration nor an archive.
    #[error(
        "{path} is not a collection: it holds no crivello.toml (make one with `crivello init {path}`)"
    )]
    NotACollection {
        /// The folder that was given.
        path: PathBuf,
    },
    /// Another process is writing to the collection.
    #[error("{path} is in use by another crivello process; wait for it to end or stop it")]
    Busy {
        /// The collection's folder.
        path: PathBuf,
    },
    /// A file of ours does not hold what it should.
    #[error(
        "{path} is damaged at byte {offset}: {what}; delete the folder it is in and run the stage \
         again, the archive holds everything"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        offset: u64,
        /// What was wrong there.
        what: &'static str,
    },
    /// A stage was asked for before the one that it needs.
    #[error("{needs} is missing: run `crivello {command}` first")]
    Missing {
        /// What is missing.
        needs: &'static str,
        /// The command that makes it.
        command: &'static str,
    },
    /// More pages or blocks than a pointer can address.
    #[error("too many {what}: at most {most}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        most: u64,
    },
    /// The archive could not be read.
    #[error(transparent)]
    Archive(#[from] archive::ArchiveError),
    /// The text could not be analysed.
    #[error(transparent)]
    Page(#[from] page::PageError),
    /// The link graph could not be built or read.
    #[error(transparent)]
    Graph(#[from] graph::GraphError),
    /// The index could not be built or read.
    #[error(transparent)]
    Index(#[from] index::IndexError),
}

impl JobsError {
    /// An input/output error at `path`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
