//! Errors of the files of a collection.
//!
//! **Invariant.** A message about a damaged file names the file and the command that rebuilds it.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use graph::GraphError;

use crate::writer::Writer;

/// An error of a file of a collection. Its message names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollectionError {
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
    #[error(
        "{path} is in use by another crivello process{}; wait for it to end or stop it",
        name_of(writer.as_ref())
    )]
    Busy {
        /// The collection's folder.
        path: PathBuf,
        /// The other process, if known.
        writer: Option<Writer>,
    },
    /// A file written by this program has unexpected content.
    #[error("{path} is damaged at byte {offset}: {what}; {}", way_out(path))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        offset: u64,
        /// What was wrong there.
        what: Cow<'static, str>,
    },
    /// A file of the page table is missing.
    #[error("{path} is missing; `crivello index` makes it again")]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// A file was written by another version of this program.
    #[error(
        "{path} has format version {found}, this program reads version {expected}; {} makes it again",
        command(path)
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version in its header.
        found: u8,
        /// The version this program writes and reads.
        expected: u8,
    },
    /// The output of an earlier stage is missing.
    #[error("{needs} is missing: run `crivello {command}` first")]
    Missing {
        /// What is missing.
        needs: &'static str,
        /// The command that makes it.
        command: &'static str,
    },
    /// A count exceeds the limit of the file format.
    #[error("too many {what}: at most {most}")]
    TooMany {
        /// The counted items.
        what: &'static str,
        /// The limit.
        most: u64,
    },
    /// The link graph could not be built or read.
    #[error(transparent)]
    Graph(GraphError),
}

impl CollectionError {
    /// An input/output error at `path`.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// Returns the message without the advice.
    pub fn fault(&self) -> String {
        match self {
            Self::Damaged { path, offset, what } => {
                format!("{} is damaged at byte {offset}: {what}", path.display())
            }
            other => other.to_string(),
        }
    }

    /// The error of a missing file that another file names.
    pub(crate) fn gone(path: PathBuf) -> Self {
        Self::Damaged { path, offset: 0, what: "it is not there".into() }
    }
}

impl From<GraphError> for CollectionError {
    fn from(error: GraphError) -> Self {
        match error {
            GraphError::Damaged { file, offset, reason } => {
                Self::Damaged { path: file, offset, what: reason.into() }
            }
            GraphError::Io { path, source } if source.kind() == io::ErrorKind::NotFound => {
                Self::gone(path)
            }
            other => Self::Graph(other),
        }
    }
}

/// The command that rebuilds a file.
fn command(path: &Path) -> &'static str {
    let is_in = |name: &&str| path.ancestors().skip(1).any(|folder| folder.ends_with(name));
    if ["pages", "graph", "dups"].iter().any(is_in) {
        "`crivello index`"
    } else if is_in(&IMPORTED) {
        "`crivello rank import`"
    } else {
        "the stage that makes it"
    }
}

/// The folder of imported ranks.
const IMPORTED: &str = "ranks";

/// Formats the writer as a suffix of a message; empty if unknown.
fn name_of(writer: Option<&Writer>) -> String {
    writer.map(|writer| format!(": {writer}")).unwrap_or_default()
}

/// The advice about a damaged file.
fn way_out(path: &Path) -> String {
    let command = command(path);
    if path.parent().is_some_and(|folder| folder.ends_with(IMPORTED)) {
        format!("delete it, or write it again with {command}")
    } else {
        format!("run {command} to build it again")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_message_names_the_rebuild_command() {
        for (file, wanted) in [
            ("w/pages/directory", "run `crivello index` to build it again"),
            ("w/graph/links/a.graph", "run `crivello index` to build it again"),
            ("w/ranks/mine.values", "delete it, or write it again with `crivello rank import`"),
        ] {
            let graph =
                GraphError::Damaged { file: file.into(), offset: 7, reason: "torn".to_owned() };
            let said = CollectionError::from(graph).to_string();
            assert!(
                said.starts_with(&format!("{file} is damaged at byte 7: torn; {wanted}")),
                "{said}"
            );
        }
    }
}
