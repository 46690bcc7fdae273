//! What can go wrong between a request and its answer.
//!
//! **Invariant.** Whether the fault is in what was asked or in us can be told: [`ServeError::is_users`].

use std::io;

/// An error of the server or of a search.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The collection has no index yet.
    #[error("this collection has no index yet: run `crivello index` first")]
    NoIndex,
    /// The query cannot be read or answered.
    #[error(transparent)]
    Query(#[from] query::QueryError),
    /// The collection's files.
    #[error(transparent)]
    Jobs(#[from] jobs::JobsError),
    /// The index.
    #[error(transparent)]
    Index(#[from] index::IndexError),
    /// The archive.
    #[error(transparent)]
    Archive(#[from] archive::ArchiveError),
    /// The analysis chain.
    #[error(transparent)]
    Page(#[from] ::page::PageError),
    /// The listener.
    #[error("the server cannot go on")]
    Io(#[from] io::Error),
    /// A search that ended without an answer.
    #[error("the search was broken off")]
    Stopped,
}

impl ServeError {
    /// The column of the query that the user can mend; `None` where the fault is not in the query.
    pub fn column(&self) -> Option<usize> {
        match self {
            Self::Query(error) => error.column(),
            _ => None,
        }
    }

    /// The fault is in what was asked, not in us.
    pub fn is_users(&self) -> bool {
        matches!(self, Self::Query(error) if !matches!(error, query::QueryError::Index(_)))
    }
}
