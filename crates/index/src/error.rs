//! Everything that can go wrong with an index, and how to fix it.
//!
//! An error about a file names the file. Damage is reported with its offset.

use std::io;
use std::path::{Path, PathBuf};

/// Why an index could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// There is no manifest in the folder.
    #[error("no index in {path}; build one with `crivello index`")]
    NotAnIndex {
        /// The folder.
        path: PathBuf,
    },
    /// A checksum does not match, or a file contradicts itself.
    #[error("{}; build it again with `crivello index --rebuild`", damaged(file, *offset, what))]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Offset of the first damaged byte.
        offset: u64,
        /// The problem.
        what: &'static str,
    },
    /// Another program touched a file while another file was built from it. Its bytes may have been different for
    /// a moment.
    #[error("cannot use index file {}: another program touched it while it was read; try again", file.display())]
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
    /// The operating system returned an error.
    #[error("cannot access index file {path}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Another process is building an index in this folder.
    #[error("another process is building an index in {path}; wait until it has finished")]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// Something is larger than the format allows.
    #[error("{what}: {found}, but the index can hold at most {max}")]
    Limit {
        /// The quantity.
        what: &'static str,
        /// The value found.
        found: u64,
        /// The largest value allowed.
        max: u64,
    },
    /// The static function of the terms could not be built.
    #[error("cannot build the static function of the lexicon")]
    Function {
        /// The cause.
        source: codes::function::FunctionError,
    },
    /// A document id is out of range for its segment.
    #[error("document {doc} does not exist: the segment has {doc_count} documents")]
    NoDocument {
        /// The document id.
        doc: u32,
        /// Number of documents in the segment.
        doc_count: u32,
    },
    /// A file in the Common Index File Format is invalid.
    #[error("{file} is damaged at byte {offset}: {what}")]
    Ciff {
        /// The file.
        file: PathBuf,
        /// Offset in the uncompressed file.
        offset: u64,
        /// The problem.
        what: String,
    },
    /// A file that an index is imported from or exported to could not be read or written.
    #[error("cannot access {path}")]
    Interchange {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The methods of [`IndexWriter`](crate::IndexWriter) were called in an invalid order.
    #[error("document {doc}: {what}")]
    Misuse {
        /// The document that was being added.
        doc: u32,
        /// The mistake.
        what: &'static str,
    },
}

impl IndexError {
    /// Adds the path to an error of the operating system.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> IndexError {
        move |source| IndexError::Io { path: path.to_path_buf(), source }
    }

    /// The problem and its cause without the cure, for callers that apply the cure themselves.
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
