//! Errors of the server.
//!
//! [`ServeError::is_users`] separates errors in the request from errors in the server.

use std::io;

use search::SearchError;

/// An error of the server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// A search failed.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// An I/O error of the listener.
    #[error("the server cannot go on")]
    Io(#[from] io::Error),
    /// A search that ended without an answer.
    #[error("the search ended without an answer; try again")]
    Stopped,
    /// The queue of waiting searches is full.
    #[error("the server is busy: too many searches are waiting; try again in a second")]
    Busy,
}

impl ServeError {
    /// The column of the error in the query. `None` if the error has no column in the query.
    pub(crate) fn column(&self) -> Option<usize> {
        match self {
            Self::Search(error) => error.column(),
            _ => None,
        }
    }

    /// Returns whether the request caused the error.
    pub(crate) fn is_users(&self) -> bool {
        matches!(self, Self::Search(error) if error.is_users())
    }
}
