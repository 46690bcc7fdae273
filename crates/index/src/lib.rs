//! Lexicon, postings, positions, document table, segments; the cursor traits.
//!
//! An index is a folder. [`IndexWriter`] collects documents and their terms in memory up to a limit, and writes
//! them as one [`Segment`] and a manifest. [`Index`] opens the segments that the manifest names.
//! [`Segment::postings`] returns [`Postings`], a cursor over the documents that contain a term, with frequencies
//! and positions. The byte layout of every file is in `docs/formats/index.md`.
//!
//! ```text
//! IndexWriter ─▶ Batch ─▶ segment ─┐
//!             ─▶ Batch ─▶ segment ─┼─ merge ─▶ segment ─▶ manifest ─▶ Index ─▶ Segment ─▶ Postings
//!             ─▶ Batch ─▶ segment ─┘
//! ```
//!
//! [`export_ciff`] and [`CiffFile`] exchange indexes with other engines in the Common Index File Format.
//!
//! Text analysis, scores and queries live in other crates.
//!
//! Files are mapped and verified where they are first read. A file may be removed while it is open. If another
//! program truncates or changes an open file, or the disk cannot read it, reads return wrong bytes or zeros. So
//! callers check [`Index::intact`] once before they return a result. A change that keeps both length and date is
//! noticed only in chunks not read before.
//!
//! **Invariant.** If [`Index::intact`] succeeds after a read, the read returned what was written. A reader sees
//! one generation from the moment it opens the index until it drops it, whatever writers do meanwhile.
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

mod build;
mod ciff;
mod cursor;
mod error;
mod field;
mod file;
mod lengths;
mod lexicon;
mod manifest;
mod order;
mod postings;
mod reader;
mod record;
mod segment;
mod tombstones;

pub use build::{Config, FieldWords, IndexWriter, MergePolicy, merge};
pub use ciff::{CiffExport, CiffFile, CiffHeader, CiffImport, OpenBytes, export_ciff};
pub use cursor::{DocId, DocIterator, END, Frequencies, Positions};
pub use error::IndexError;
pub use field::Field;
pub use lengths::{Lengths, MaxFrequencies};
pub use lexicon::{FILTER_MARK, TERM_BYTES_MAX, Terms};
pub use order::DocOrder;
pub use postings::{
    BLOCK, Bounds, Champion, Champions, DocSet, InvertedList, Maximum, Postings, Slope, StreamCode,
};
pub use reader::Index;
pub use record::{DocRecord, RECORD_BYTES_MAX};
pub use segment::{ListNumbers, Segment, Sizes};
pub use tombstones::Deleted;
