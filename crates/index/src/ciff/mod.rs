//! CIFF, the Common Index File Format: an index as one file that other search engines read and write.
//!
//! A file is a sequence of protobuf messages, each preceded by its length as a varint:
//!
//! ```text
//! Header        version, number of lists, number of documents, both numbers for the whole collection,
//!               sum of all lengths, average length, description
//! PostingsList  term, document frequency, occurrences, and for each document its gap to the previous one
//!               (for the first: its number) and its frequency         as many lists as the header says
//! DocRecord     number, name, length                                  as many records as the header says
//! ```
//!
//! A file has one field and no positions. [`export_ciff`] writes one field of an index. [`CiffFile`] is imported
//! as an index without positions, whose only field is [`Field::Body`](crate::Field::Body). Messages are encoded in
//! `wire.rs`; the rules for a valid file are in `reader.rs`. Callers handle compression and the meaning of terms
//! and names.
//!
//! **Invariant.** Memory does not depend on the number or length of lists; only four bytes per document are kept.
//! An invalid file changes nothing. Its error has the offset.
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
/// Document numbers and counts have 31 bits.
const COUNT_MAX: u64 = i32::MAX as u64;
