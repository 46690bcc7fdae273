//! A WARC record and its place.
//!
//! What lives here: the values that readers give out. What does not: bytes on disk (`warc/reader.rs`,
//! `warc/writer.rs`) and what a block means (`http/`, and the crates above).
//!
//! **Invariant.** A location of a length other than 0 is enough to read its record again.
//!
//! Reference: ISO 28500:2017 (WARC 1.1), sections 4 to 6.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fields;

/// Where a record is: enough to read it again without looking at anything else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    /// The name of the file inside the archive folder.
    pub file: String,
    /// The byte of the file at which the record, or its member (of gzip, or a frame of zstd), begins.
    pub offset: u64,
    /// How many bytes of the file it takes, compressed as they are. 0 for a record that shares a
    /// member with others: such a record is found only by reading through.
    pub length: u64,
}

/// What a record holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// About the file itself.
    Warcinfo,
    /// The response of a server, with the header of its protocol.
    Response,
    /// The request of a client.
    Request,
    /// A resource without any protocol around it.
    Resource,
    /// About another record or a URL.
    Metadata,
    /// A visit that found what an earlier one had found.
    Revisit,
    /// Another version of a record's content.
    Conversion,
    /// A further segment of a record.
    Continuation,
    /// A type the standard does not know, in lower case.
    Other(String),
}

impl Kind {
    /// Reads the value of WARC-Type; case does not matter.
    pub fn from_name(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "warcinfo" => Self::Warcinfo,
            "response" => Self::Response,
            "request" => Self::Request,
            "resource" => Self::Resource,
            "metadata" => Self::Metadata,
            "revisit" => Self::Revisit,
            "conversion" => Self::Conversion,
            "continuation" => Self::Continuation,
            _ => Self::Other(name),
        }
    }

    /// The value of WARC-Type.
    pub fn name(&self) -> &str {
        match self {
            Self::Warcinfo => "warcinfo",
            Self::Response => "response",
            Self::Request => "request",
            Self::Resource => "resource",
            Self::Metadata => "metadata",
            Self::Revisit => "revisit",
            Self::Conversion => "conversion",
            Self::Continuation => "continuation",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One record, as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// WARC-Type.
    pub kind: Kind,
    /// WARC-Record-ID without its angle brackets; empty where a foreign file has none.
    pub id: String,
    /// WARC-Date as seconds since 1970.
    pub date_s: i64,
    /// The microseconds of that second, if the date has them.
    pub date_us: u32,
    /// WARC-Target-URI, without the angle brackets that some writers add. A web address has upper case digits in its
    /// escapes.
    pub target: Option<String>,
    /// Content-Type of the block.
    pub content_type: Option<String>,
    /// Every header as read, in order, folded lines joined.
    pub headers: Vec<(String, String)>,
    /// The block: what Content-Length counts.
    pub block: Vec<u8>,
    /// Where the record is.
    pub location: Location,
}

impl Record {
    /// The value of the first header called `name`; case does not matter.
    pub fn header(&self, name: &str) -> Option<&str> {
        fields::find(&self.headers, name)
    }
}

/// What a reader accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest block; larger ones are an error and are skipped.
    pub block_bytes_max: u64,
    /// The largest WARC header.
    pub header_bytes_max: usize,
    /// Whether block and payload digests are compared with the bytes, where a record has them and
    /// they are SHA-1.
    pub verify_digests: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { block_bytes_max: 256 << 20, header_bytes_max: 64 << 10, verify_digests: true }
    }
}
