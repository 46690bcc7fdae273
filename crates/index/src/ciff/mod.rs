//! CIFF, the Common Index File Format: an index as one file that other search engines read and write.
//!
//! A file is a sequence of protobuf messages, each behind its length as a varint:
//!
//! ```text
//! Header        version, number of lists, number of documents, the same of the whole collection,
//!               sum of all lengths, average length, description
//! PostingsList  term, documents that have it, occurrences, for each document its distance to the one before
//!               (the first: its number) and the occurrences in it       as many as the header says
//! DocRecord     number, name, length                                    as many as the header says
//! ```
//!
//! A file has one field and no positions. [`export_ciff`] writes one field of an index; the other way round
//! [`CiffFile`] becomes an index without positions, whose only field is [`Field::Body`](crate::Field::Body). The
//! bytes of messages are in `wire.rs`, what a file must be to be one in `reader.rs`. What does not live here:
//! compression around the file, and what terms and names mean.
//!
//! **Invariant.** Memory does not depend on how long a list is, nor on how many there are; four bytes for each
//! document are all that is kept. A file that is not as above changes nothing, and is told with the offset.
//!
//! Reference: J. Lin et al., "Supporting Interoperability Between Open-Source Search Engines with the Common
//! Index File Format", SIGIR 2020, arXiv:2003.08276.

mod export;
mod import;
mod reader;
mod wire;

pub use export::{CiffExport, export_ciff};
pub use import::{CiffFile, CiffImport, OpenBytes};
pub use reader::CiffHeader;

/// The version of the format.
const VERSION: u64 = 1;
/// Numbers of documents and counts have 31 bits.
const COUNT_MAX: u64 = i32::MAX as u64;
