//! Posting lists: which documents have a term, how often, and where.
//!
//! A list is split into four streams, each in its own file, so that only the needed parts are read:
//!
//! ```text
//! docs       for each document its gap to the previous one, less one (from -1)
//! freqs      for each document its frequency, less one
//! positions  for each occurrence its distance to the previous one in the document (from 0)
//! skips      for each full block of 128 documents where the next begins; see `skips.rs`. Then its best documents; see
//!            `champions.rs`
//! ```
//!
//! Documents are grouped into blocks of 128; the last block has the remainder. The numbers of a block are one run
//! in docs and one in freqs, under the configured codes (`code.rs`), and several chunks in positions
//! (`chunks.rs`). A short list, one block that is not full, begins in docs with its first document in whole bytes.
//! Only its other documents are a run. It has nothing in freqs if the lexicon implies all frequencies: every
//! frequency is one, or there is one document. The writer is in `writer.rs`. The lexicon stores where a list
//! begins in each stream.
//!
//! **Invariant.** On any bytes, a cursor moves only forward, through documents that the segment has, and ends.
//! Bytes are verified before a cursor reads them.
//!
//! A segment may have no positions, for example after an import from another engine. Then the positions stream is
//! empty, and a cursor returns frequencies only.

mod bounds;
mod champions;
mod chunks;
mod code;
mod list;
mod maxima;
mod skips;
mod writer;

pub use bounds::Bounds;
pub(crate) use champions::Contest;
pub use champions::{Champion, Champions};
pub use code::{BLOCK, StreamCode};
pub(crate) use list::Streams;
pub use list::{DocSet, InvertedList};
pub(crate) use maxima::Norm;
pub use maxima::{Maximum, Slope};
pub(crate) use skips::{Skips, Widths};
pub(crate) use writer::PostingsWriter;

use crate::file::fixed;
use crate::{DocId, DocIterator, END, Frequencies, Positions};
use list::{DecodedBlock, Occurrences};

/// The codes of the three streams of numbers; `None` if there are no positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamCodes {
    pub(crate) docs: StreamCode,
    pub(crate) freqs: StreamCode,
    pub(crate) positions: Option<StreamCode>,
}

impl Default for StreamCodes {
    fn default() -> StreamCodes {
        StreamCodes {
            docs: StreamCode::PforUnary,
            freqs: StreamCode::PforOptimum,
            positions: Some(StreamCode::Golomb),
        }
    }
}

/// Bytes of the first document of a short list.
pub(crate) fn first_width(doc_count: u32) -> usize {
    fixed::width(u64::from(doc_count.saturating_sub(1)))
}

/// Returns whether a list is a single block that is not full. A short list has no skips.
pub(crate) fn is_short(doc_frequency: u32) -> bool {
    (doc_frequency as usize) < BLOCK
}

/// Returns whether a list has any bytes in freqs.
pub(crate) fn has_freqs(doc_frequency: u32, total_frequency: u64) -> bool {
    !is_short(doc_frequency) || (doc_frequency > 1 && total_frequency > u64::from(doc_frequency))
}

/// A part of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
}

/// The parts of a list in the streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extents {
    pub(crate) docs: Extent,
    pub(crate) freqs: Extent,
    pub(crate) positions: Extent,
    pub(crate) skips: Extent,
}

impl Extents {
    /// Total number of bytes in all streams.
    pub(crate) fn bytes(&self) -> u64 {
        let Extents { docs, freqs, positions, skips } = self;
        [docs, freqs, positions, skips].iter().fold(0, |sum, of| of.bytes.saturating_add(sum))
    }
}

/// The lexicon's entry for a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) doc_frequency: u32,
    pub(crate) total_frequency: u64,
    pub(crate) extents: Extents,
}

/// A cursor over the documents that have a term in a field.
#[derive(Clone, Debug)]
pub struct Postings<'a> {
    list: InvertedList<'a>,
    doc: DocId,
    /// Current block in `docs`, and its number of documents.
    block: usize,
    block_docs: usize,
    /// Index of `doc` in the block.
    at: usize,
    docs: [u32; BLOCK],
    /// The frequencies, less one, of block `freqs_block`.
    freqs: [u32; BLOCK],
    freqs_block: usize,
    occurrences: Occurrences<'a>,
}

/// Marks an unloaded block.
const NONE: usize = usize::MAX;

impl<'a> Postings<'a> {
    /// A cursor on the first document of a list.
    pub fn new(list: InvertedList<'a>) -> Postings<'a> {
        let mut postings = Postings {
            list,
            doc: END,
            block: 0,
            block_docs: 0,
            at: 0,
            docs: [0; BLOCK],
            freqs: [0; BLOCK],
            freqs_block: NONE,
            occurrences: Occurrences::new(list),
        };
        postings.load(0, 0);
        postings
    }

    /// Number of documents with the term.
    pub fn doc_frequency(&self) -> u32 {
        self.list.doc_frequency()
    }

    /// Number of occurrences of the term in all of them.
    pub fn total_frequency(&self) -> u64 {
        self.list.total_frequency()
    }

    /// The greatest measure of the current block; `None` if the list is too short to have maxima.
    pub fn block_maximum(&self) -> Option<Maximum> {
        self.list.streams.skips.maximum(self.block)
    }

    /// Moves to the first document of a block. Moves to the end if the block does not exist or begins before
    /// `doc_min`.
    fn load(&mut self, block: usize, doc_min: u32) -> DocId {
        self.block = block;
        self.at = 0;
        self.doc = END;
        let count = self.list.block_len(block);
        let read = count > 0 && self.list.read_docs(block, &mut self.docs[..count]).is_some();
        if read && self.docs[0] >= doc_min {
            self.block_docs = count;
            self.doc = DocId(self.docs[0]);
        } else {
            self.block_docs = 0;
        }
        self.doc
    }

    /// Decodes the frequencies of the current block, unless that is done already.
    fn load_freqs(&mut self) -> Option<()> {
        if self.freqs_block == self.block {
            return Some(());
        }
        self.freqs_block = NONE;
        self.list.read_tf_minus_one(self.block, &mut self.freqs[..self.block_docs])?;
        self.freqs_block = self.block;
        Some(())
    }

    /// The distance of each occurrence in the current document to the previous one; for the first, its position.
    /// Empty at the end, and on corrupt bytes.
    pub(crate) fn distances(&mut self) -> &[u32] {
        if self.doc == END || self.load_freqs().is_none() {
            return &[];
        }
        let (docs, tf_minus_one) = (&self.docs[..self.block_docs], &self.freqs[..self.block_docs]);
        self.occurrences.distances(DecodedBlock { block: self.block, docs, tf_minus_one }, self.at)
    }
}

impl DocIterator for Postings<'_> {
    #[inline]
    fn doc(&self) -> DocId {
        self.doc
    }

    #[inline]
    fn next_doc(&mut self) -> DocId {
        if self.at + 1 < self.block_docs {
            self.at += 1;
            self.doc = DocId(self.docs[self.at]);
            return self.doc;
        }
        if self.doc == END {
            return END;
        }
        self.load(self.block + 1, self.doc.0 + 1)
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        if self.doc >= target {
            return self.doc;
        }
        let mut from = self.at + 1;
        while self.docs[self.block_docs - 1] < target.0 {
            let block = self.list.streams.skips.find(self.block + 1, target.0);
            let doc_min = self.docs[self.block_docs - 1] + 1;
            if block >= self.list.block_count() || self.load(block, doc_min) == END {
                self.block_docs = 0;
                self.doc = END;
                return END;
            }
            from = 0;
        }
        let ahead = self.docs[from..self.block_docs].partition_point(|&doc| doc < target.0);
        self.at = from + ahead;
        self.doc = DocId(self.docs[self.at]);
        self.doc
    }
}

impl Frequencies for Postings<'_> {
    #[inline]
    fn frequency(&mut self) -> u32 {
        if self.doc == END || self.load_freqs().is_none() {
            return 0;
        }
        self.freqs[self.at].saturating_add(1)
    }
}

impl Positions for Postings<'_> {
    fn positions(&mut self, out: &mut Vec<u32>) {
        out.clear();
        if self.doc != END && self.load_freqs().is_some() {
            let (docs, tf_minus_one) =
                (&self.docs[..self.block_docs], &self.freqs[..self.block_docs]);
            self.occurrences.append(
                DecodedBlock { block: self.block, docs, tf_minus_one },
                self.at,
                out,
            );
        }
    }
}
