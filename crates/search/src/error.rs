//! Errors of searches.
//!
//! [`SearchError::is_users`] separates errors in the query from errors in the files.

use std::path::Path;

use index::IndexError;

/// An error of a search.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The collection has no index yet.
    #[error("this collection has no index yet: run `crivello index` first")]
    NoIndex,
    /// The requested topic does not exist.
    #[error("there is no topic `{topic}` in this collection; {}", in_words(known))]
    NoTopic {
        /// The requested topic.
        topic: String,
        /// The existing topics.
        known: Vec<String>,
    },
    /// The query cannot be parsed or answered.
    #[error(transparent)]
    Query(#[from] query::QueryError),
    /// An error in the files of the collection.
    #[error(transparent)]
    Collection(#[from] collection::CollectionError),
    /// An error in the index.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// An error in the archive.
    #[error(transparent)]
    Archive(#[from] archive::ArchiveError),
    /// An error in the analysis chain.
    #[error(transparent)]
    Page(#[from] page::PageError),
}

impl SearchError {
    /// The column of the error in the query. `None` if the error has no column in the query.
    pub fn column(&self) -> Option<usize> {
        match self {
            Self::Query(error) => error.column(),
            _ => None,
        }
    }

    /// The damaged index file and the byte offset, if the error is damage of the index.
    pub fn damage(&self) -> Option<(&Path, u64)> {
        match self {
            Self::Index(IndexError::Damaged { file, offset, .. })
            | Self::Query(query::QueryError::Index(IndexError::Damaged { file, offset, .. })) => {
                Some((file, *offset))
            }
            _ => None,
        }
    }

    /// Returns whether the question caused the error.
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
