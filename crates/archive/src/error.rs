//! Errors of an archive.
//!
//! What lives here: the one error type of this crate. Every variant about a file names the file and the byte. In a
//! compressed file, that byte is the beginning of the record's gzip member or zstd frame. Other tools can find the
//! record there too.
//!
//! **Invariant.** An error about a place in a file has an offset, [`ArchiveError::offset`].

use std::io;
use std::path::PathBuf;

/// An error while reading or writing an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The file system refused a read, a listing or a rename.
    #[error("cannot access {path}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// A record could not be written. The file ends with the last whole record. Writing may continue when the cause
    /// is gone.
    #[error("cannot write to {path} at byte {offset}; all earlier records are kept")]
    Write {
        /// The WARC file.
        path: PathBuf,
        /// Where the record would have begun.
        offset: u64,
        /// The system error.
        source: io::Error,
    },
    /// The compressed data is not what was written.
    #[error("{path} is damaged at byte {offset}: {what}")]
    Damaged {
        /// The WARC file.
        path: PathBuf,
        /// Where the damaged member begins.
        offset: u64,
        /// What does not fit.
        what: &'static str,
    },
    /// Bytes after the damage cannot be read, up to a known place. The cause names the damage.
    #[error("{cause}; skipped all data up to byte {to}, which is {} bytes", left_out(cause, *to))]
    Skipped {
        /// The error at the beginning of the skipped bytes.
        cause: Box<ArchiveError>,
        /// Where reading continues: at a record, or at the end of the file.
        to: u64,
    },
    /// The file ends inside a record; in our own archives `repair` cuts such a tail off.
    #[error("{path} ends inside the record at byte {offset}")]
    Truncated {
        /// The WARC file.
        path: PathBuf,
        /// Where the unfinished record or member begins.
        offset: u64,
    },
    /// There is no WARC record where one should begin.
    #[error("{path} has no WARC record at byte {offset}; found {}", shown(found))]
    Garbage {
        /// The WARC file.
        path: PathBuf,
        /// Where a record was expected.
        offset: u64,
        /// The first bytes found there.
        found: String,
    },
    /// The file is in the older ARC format.
    #[error("{path} is an ARC file, which is not supported; convert it with `warcio recompress`")]
    Arc {
        /// The ARC file.
        path: PathBuf,
    },
    /// A mandatory header is absent.
    #[error("the record at byte {offset} of {path} has no {name}")]
    MissingHeader {
        /// The WARC file.
        path: PathBuf,
        /// Where the record begins.
        offset: u64,
        /// The header.
        name: &'static str,
    },
    /// A header has a value that means nothing.
    #[error("the record at byte {offset} of {path} has an unusable {name}: {value:?}")]
    BadHeader {
        /// The WARC file.
        path: PathBuf,
        /// Where the record begins.
        offset: u64,
        /// The header.
        name: &'static str,
        /// Its value, shortened.
        value: String,
    },
    /// The block does not end where Content-Length says.
    #[error(
        "the record at byte {offset} of {path} does not have its declared length of {declared} bytes"
    )]
    WrongLength {
        /// The WARC file.
        path: PathBuf,
        /// Where the record begins.
        offset: u64,
        /// Its Content-Length.
        declared: u64,
    },
    /// A part is larger than the limit for it.
    #[error("the {what} at byte {offset} of {path} is larger than the limit of {bytes_max} bytes")]
    TooLarge {
        /// The WARC file.
        path: PathBuf,
        /// Where the record begins.
        offset: u64,
        /// Which part: header, block, the space between records, what a member unpacks to, or a dictionary.
        what: &'static str,
        /// The limit.
        bytes_max: u64,
    },
    /// A digest in the header is not that of the bytes.
    #[error(
        "{name} of the record at byte {offset} of {path} is {declared}, but its bytes give {computed}"
    )]
    Digest {
        /// The WARC file.
        path: PathBuf,
        /// Where the record begins.
        offset: u64,
        /// `WARC-Block-Digest` or `WARC-Payload-Digest`.
        name: &'static str,
        /// As the header has it.
        declared: String,
        /// As computed, in the same spelling.
        computed: String,
    },
    /// A record that others follow in the same member cannot be read by itself.
    #[error(
        "several records share the member at byte {offset} of {path}; import the file to give each record its own member"
    )]
    SharedMember {
        /// The WARC file.
        path: PathBuf,
        /// Where the member begins.
        offset: u64,
    },
    /// A location names something that is no file of the archive folder.
    #[error("{file:?} is not the name of a file in the archive {dir}")]
    Outside {
        /// The archive folder.
        dir: PathBuf,
        /// The name.
        file: String,
    },
    /// A record was not written, because a header of it cannot be: a line break or a control
    /// character in it, or a name that the writer sets itself.
    #[error("header {name:?} cannot be written with the value {value:?}")]
    RefusedHeader {
        /// The header.
        name: String,
        /// Its value.
        value: String,
    },
    /// A record was not written, because no reader would accept its size.
    #[error("cannot write a block of {bytes} bytes: the limit is {bytes_max}")]
    RefusedBlock {
        /// Its size.
        bytes: u64,
        /// The limit.
        bytes_max: u64,
    },
    /// A block is not an HTTP response.
    #[error("not an HTTP response: {what}")]
    Http {
        /// The fault.
        what: &'static str,
    },
    /// A body in a coding that is not decoded here.
    #[error("cannot decode a body in content coding {coding:?}")]
    Coding {
        /// The coding, as the header names it.
        coding: String,
    },
    /// A body of which nothing comes out when its coding is undone.
    #[error(
        "nothing can be read of a body in content coding {coding:?}: it is damaged from the start"
    )]
    DamagedCoding {
        /// The coding, as the header names it.
        coding: String,
    },
}

impl ArchiveError {
    /// The byte of the file that the error is about, if it is about one.
    pub fn offset(&self) -> Option<u64> {
        match *self {
            Self::Skipped { ref cause, .. } => cause.offset(),
            Self::Write { offset, .. }
            | Self::Damaged { offset, .. }
            | Self::Truncated { offset, .. }
            | Self::Garbage { offset, .. }
            | Self::MissingHeader { offset, .. }
            | Self::BadHeader { offset, .. }
            | Self::WrongLength { offset, .. }
            | Self::TooLarge { offset, .. }
            | Self::Digest { offset, .. }
            | Self::SharedMember { offset, .. } => Some(offset),
            _ => None,
        }
    }

    /// Wraps an error of the file system about `path`.
    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_path_buf(), source }
    }
}

/// Formats unexpected input for a message. Input that is not text is not shown.
fn shown(found: &str) -> String {
    let is_text = !found.chars().any(|it| it.is_control() || it == char::REPLACEMENT_CHARACTER);
    if is_text { format!("{found:?}") } else { "bytes that are not text".to_owned() }
}

/// Number of skipped bytes.
fn left_out(cause: &ArchiveError, to: u64) -> u64 {
    to.saturating_sub(cause.offset().unwrap_or(to))
}
