//! Everything that can go wrong with an index, and what to do about it.
//!
//! **Invariant.** Whatever concerns a file names it, and damage the byte where it begins.

use std::io;
use std::path::{Path, PathBuf};

/// Why an index could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// There is no manifest in the folder.
    #[error("no index in {path}; build one with `crivello index`")]
    NotAnIndex {
        /// The folder that was to be opened.
        path: PathBuf,
    },
    /// A file is not as it was written, or contradicts itself.
    #[error("{}; build it again with `crivello index --rebuild`", damaged(file, *offset, what))]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Where in the file: the first byte of what was found damaged.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// Somebody touched a file while another one was made of it: what was read may have been something else for a moment.
    #[error("index file {} was touched by another program while it was read; it is whole: try again", file.display())]
    Touched {
        /// The file.
        file: PathBuf,
    },
    /// A file was written by another version of the format.
    #[error("{}; rebuild with `crivello index`", of_version(file, *found, *expected))]
    Version {
        /// The file.
        file: PathBuf,
        /// The version in its header.
        found: u32,
        /// The version this program writes and reads.
        expected: u32,
    },
    /// The operating system refused.
    #[error("cannot access index file {path}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// Somebody else is building in this folder.
    #[error("another process is building an index in {path}; wait until it has finished")]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// Something is larger than the format allows.
    #[error("{what}: {found}, the most that the index can hold is {max}")]
    Limit {
        /// What is counted.
        what: &'static str,
        /// How much there is.
        found: u64,
        /// How much there may be.
        max: u64,
    },
    /// The static function of the terms could not be made.
    #[error("no function for the terms of the lexicon")]
    Function {
        /// Why.
        source: codes::function::FunctionError,
    },
    /// A document was asked for that the segment does not have.
    #[error("there is no document {doc} in a segment of {doc_count}")]
    NoDocument {
        /// The document.
        doc: u32,
        /// How many there are.
        doc_count: u32,
    },
    /// A file in the Common Index File Format is not one.
    #[error("{file} is damaged at byte {offset}: {what}")]
    Ciff {
        /// The file.
        file: PathBuf,
        /// Where in the file, without its compression.
        offset: u64,
        /// What is wrong there.
        what: String,
    },
    /// A file that an index is imported from or exported to could not be read or written.
    #[error("cannot access {path}")]
    Interchange {
        /// The file.
        path: PathBuf,
        /// What was said.
        source: io::Error,
    },
    /// The calls of [`IndexWriter`](crate::IndexWriter) came in an order that has no meaning.
    #[error("document {doc}: {what}")]
    Misuse {
        /// The document that was being added.
        doc: u32,
        /// What was wrong.
        what: &'static str,
    },
}

impl IndexError {
    /// Puts the path to an error of the operating system.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> IndexError {
        move |source| IndexError::Io { path: path.to_path_buf(), source }
    }

    /// What is wrong, with its cause, but without what to do about it: for whoever does that.
    pub fn fault(&self) -> String {
        match self {
            IndexError::Damaged { file, offset, what } => damaged(file, *offset, what),
            IndexError::Version { file, found, expected } => of_version(file, *found, *expected),
            IndexError::Io { source, .. } => format!("{self}: {source}"),
            other => other.to_string(),
        }
    }
}

fn damaged(file: &Path, offset: u64, what: &str) -> String {
    format!("index file {} is damaged at byte {offset}: {what}", file.display())
}

fn of_version(file: &Path, found: u32, expected: u32) -> String {
    let file = file.display();
    format!("index file {file} has format version {found}, this program reads version {expected}")
}
