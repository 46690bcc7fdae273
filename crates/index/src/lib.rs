//! Lexicon, postings, positions, document table, segments; the cursor traits.
//!
//! An index is a folder. [`IndexWriter`] takes documents and their terms, keeps them in memory up to
//! a limit, and makes of them one [`Segment`] and a manifest; [`Index`] reads what the manifest names.
//! [`Segment::postings`] hands out [`Postings`], a cursor over the documents that have a term, how
//! often and where. The byte layout of every file is in `docs/formats/index.md`.
//!
//! ```text
//! IndexWriter ─▶ Batch ─▶ segment ─┐
//!             ─▶ Batch ─▶ segment ─┼─ merge ─▶ segment ─▶ manifest ─▶ Index ─▶ Segment ─▶ Postings
//!             ─▶ Batch ─▶ segment ─┘
//! ```
//!
//! An index goes to other engines, and comes from them, as a file of the Common Index File Format:
//! [`export_ciff`], [`CiffFile`].
//!
//! What does not live here: how text becomes terms, scores, queries.
//!
//! Files are mapped, and verified where they are first read. A file may be removed while it is open. If somebody cuts
//! one short or writes to it, or the disk refuses a part of it, readers go on with whatever bytes there are, or with
//! zeros: so whoever has worked out an answer asks [`Index::intact`] once before giving it. What changes a file without
//! changing its length or date is noticed only where it has not been read before.
//!
//! **Invariant.** What a reader is handed without an error is what was written, if [`Index::intact`] says so
//! afterwards. A reader sees one generation from the moment it opens the index until it drops it, whatever writers do
//! meanwhile.
//!
//! ```
//! use index::{Config, DocIterator, DocRecord, END, Field, Index, IndexWriter};
//!
//! let dir = tempfile::tempdir()?;
//! let mut writer = IndexWriter::create(dir.path(), &Config::default())?;
//! for text in ["in a hole in the ground", "there lived a hobbit"] {
//!     writer.add(&DocRecord::default())?;
//!     for (position, term) in (0..).zip(text.split(' ')) {
//!         writer.term(Field::Body, term, position);
//!     }
//! }
//! writer.commit("two lines")?;
//!
//! let index = Index::open(dir.path())?;
//! let mut a = index.segments()[0].postings(Field::Body, "a")?.expect("both have it");
//! assert_eq!((a.doc().0, a.next_doc().0, a.next_doc()), (0, 1, END));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(unsafe_code)]

mod arena;
mod batch;
mod blocks;
mod ciff;
mod cursor;
mod disk;
mod envelope;
mod error;
mod faults;
mod field;
mod fixed;
mod keys;
mod lengths;
mod lexicon;
mod lines;
mod manifest;
mod mapped;
mod memo;
mod order;
mod paged;
mod policy;
mod postings;
mod reader;
mod record;
mod segment;
mod sorting;
mod strings;
mod tombstones;
mod words;
mod writer;

pub use ciff::{CiffExport, CiffFile, CiffHeader, CiffImport, OpenBytes, export_ciff};
pub use cursor::{DocId, DocIterator, END, Frequencies, Positions};
pub use error::IndexError;
pub use field::Field;
pub use lengths::{Lengths, Peaks};
pub use lexicon::{FILTER_MARK, TERM_BYTES_MAX, Terms};
pub use order::DocOrder;
pub use policy::MergePolicy;
pub use postings::{
    BLOCK, Bounds, Champion, Champions, DecodedBlock, DocSet, InvertedList, Maximum, Occurrences,
    Postings, Slope, StreamCode,
};
pub use reader::Index;
pub use record::{DocRecord, RECORD_BYTES_MAX};
pub use segment::{ListNumbers, Segment, Sizes};
pub use tombstones::Deleted;
pub use words::FieldWords;
pub use writer::{Config, IndexWriter, merge};
