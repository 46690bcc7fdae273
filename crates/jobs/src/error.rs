//! Errors of the batch jobs.

use std::path::PathBuf;

use collection::CollectionError;
use graph::GraphError;

/// An error of a batch job. Its message names the file concerned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobsError {
    /// A file of the collection could not be read or written.
    #[error(transparent)]
    Collection(#[from] CollectionError),
    /// The stage would overwrite an imported index.
    #[error(
        "the index in {path} was imported, and would be lost: pages go into a collection of their own; or delete \
         the folder, and the archive is indexed. One of another version, or one that is damaged, is made again by \
         `crivello import`"
    )]
    ImportedIndex {
        /// The folder of the index.
        path: PathBuf,
    },
    /// The archive is empty, so the stage would delete every document of the index.
    #[error(
        "{path} has no archive file, but {}: put the files back, or mount the disk that they are on, or let `crivello \
         crawl` fetch the pages again; for an empty index, delete {index}",
        match documents {
            Some(1) => "the index has 1 document".to_owned(),
            Some(documents) => format!("the index has {documents} documents"),
            None => "there is an index, of another version or damaged".to_owned(),
        }
    )]
    ArchiveGone {
        /// The folder of the archive.
        path: PathBuf,
        /// The folder of the index.
        index: PathBuf,
        /// Number of documents in the index, if it can be opened.
        documents: Option<u64>,
    },
    /// An index cannot be imported into a collection that has pages.
    #[error(
        "{path} holds pages, but an imported index needs a collection of its own; make one with `crivello init`"
    )]
    HasPages {
        /// The folder of the archive.
        path: PathBuf,
    },
    /// The name of a rank is not valid.
    #[error("`{name}` cannot be the name of a rank: {why}")]
    RankName {
        /// The name that was given.
        name: String,
        /// The reason.
        why: String,
    },
    /// A line of a file of ranks cannot be read.
    #[error("{path}, line {line}: {what}")]
    RankLine {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong there.
        what: String,
    },
    /// The archive could not be read.
    #[error(transparent)]
    Archive(#[from] archive::ArchiveError),
    /// The text could not be analysed.
    #[error(transparent)]
    Page(#[from] page::PageError),
    /// The index could not be built or read.
    #[error(transparent)]
    Index(#[from] index::IndexError),
    /// The index is complete, but merging its segments failed.
    #[error("what is new is in the index, but its segments cannot be merged: {0}")]
    Merge(index::IndexError),
}

impl From<GraphError> for JobsError {
    fn from(error: GraphError) -> Self {
        Self::Collection(error.into())
    }
}
