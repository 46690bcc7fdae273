//! What can go wrong between a request and its answer.
//!
//! **Invariant.** Whether the fault is in what was asked or in us can be told: [`ServeError::is_users`].

use std::io;
use std::path::Path;

use index::IndexError;

/// An error of the server or of a search.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The collection has no index yet.
    #[error("this collection has no index yet: run `crivello index` first")]
    NoIndex,
    /// The topic that was chosen is none.
    #[error("there is no topic `{topic}` in this collection; {}", in_words(known))]
    NoTopic {
        /// What was asked for.
        topic: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The query cannot be read or answered.
    #[error(transparent)]
    Query(#[from] query::QueryError),
    /// The collection's files.
    #[error(transparent)]
    Jobs(#[from] jobs::JobsError),
    /// The index.
    #[error(transparent)]
    Index(#[from] IndexError),
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
    /// More searches than the server has room for.
    #[error("the server is busy: too many searches are waiting; try again in a second")]
    Busy,
}

impl ServeError {
    /// The column of the query that the user can mend; `None` where the fault is not in the query.
    pub fn column(&self) -> Option<usize> {
        match self {
            Self::Query(error) => error.column(),
            _ => None,
        }
    }

    /// The file of the index that is damaged, and where, if that is what is wrong.
    pub(crate) fn damage(&self) -> Option<(&Path, u64)> {
        match self {
            Self::Index(IndexError::Damaged { file, offset, .. })
            | Self::Query(query::QueryError::Index(IndexError::Damaged { file, offset, .. })) => {
                Some((file, *offset))
            }
            _ => None,
        }
    }

    /// The fault is in what was asked, not in us.
    pub fn is_users(&self) -> bool {
        match self {
            Self::Query(error) => !matches!(error, query::QueryError::Index(_)),
            Self::NoTopic { .. } => true,
            _ => false,
        }
    }
}

fn in_words(known: &[String]) -> String {
    match known {
        [] => "it has none: name some in [rank.topics] of crivello.toml and run `crivello rank`"
            .to_owned(),
        _ => format!("it has {}", known.join(", ")),
    }
}
