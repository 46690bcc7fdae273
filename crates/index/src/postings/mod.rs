//! Posting lists: which documents have a term, how often, and where.
//!
//! A list lies in four streams, each a file of its own, so that what is not asked for is not read:
//!
//! ```text
//! docs       for each document its distance to the one before, less one (from -1)
//! freqs      for each document its occurrences, less one
//! positions  for each occurrence its distance to the one before in the document (from 0)
//! skips      for each full block of 128 documents where the next begins; see `skips.rs`
//! ```
//!
//! The numbers of docs, freqs and positions are packed in blocks of 128 ([`codes::packed`]), and
//! what is left over at the end of the list is in [`codes::vbyte`]. Blocks of positions are counted
//! in occurrences, not in documents. The writer is in `writer.rs`; where a list begins in each
//! stream stands in the lexicon.
//!
//! **Invariant.** Whatever the bytes, a cursor moves only forward, through documents that the
//! segment has, and ends. Bytes have been verified before a cursor sees them, so that they are
//! otherwise as written.

mod numbers;
mod skips;
mod writer;

pub(crate) use skips::{Skips, Widths};
pub(crate) use writer::PostingsWriter;

use crate::{DocId, DocIterator, END, Frequencies, Positions};
use codes::packed::BLOCK;
use numbers::Numbers;

/// A part of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
}

/// Where a list lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extents {
    pub(crate) docs: Extent,
    pub(crate) freqs: Extent,
    pub(crate) positions: Extent,
    pub(crate) skips: Extent,
}

/// What the lexicon says of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) doc_frequency: u32,
    pub(crate) total_frequency: u64,
    pub(crate) extents: Extents,
}

/// The verified bytes of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streams<'a> {
    pub(crate) docs: &'a [u8],
    pub(crate) freqs: &'a [u8],
    pub(crate) positions: &'a [u8],
    pub(crate) skips: Skips<'a>,
}

/// A cursor over the documents that have a term in a field.
#[derive(Clone, Debug)]
pub struct Postings<'a> {
    streams: Streams<'a>,
    doc_frequency: u32,
    total_frequency: u64,
    doc_count: u32,
    doc: DocId,
    /// The block in `docs`, and how many documents it has.
    block: usize,
    block_docs: usize,
    /// Where `doc` stands in it.
    at: usize,
    docs: [u32; BLOCK],
    /// The frequencies, less one, of block `freqs_block`.
    freqs: [u32; BLOCK],
    freqs_block: usize,
    deltas: Numbers<'a>,
    /// The document, as block and place, whose first position comes next in `deltas`.
    deltas_block: usize,
    deltas_at: usize,
}

/// Stands for no block.
const NONE: usize = usize::MAX;

impl<'a> Postings<'a> {
    /// A cursor on the first document of a list of a segment with `doc_count` documents.
    pub(crate) fn new(streams: Streams<'a>, list: &List, doc_count: u32) -> Postings<'a> {
        let mut postings = Postings {
            streams,
            doc_frequency: list.doc_frequency,
            total_frequency: list.total_frequency,
            doc_count,
            doc: END,
            block: 0,
            block_docs: 0,
            at: 0,
            docs: [0; BLOCK],
            freqs: [0; BLOCK],
            freqs_block: NONE,
            deltas: Numbers::new(streams.positions, list.total_frequency),
            deltas_block: NONE,
            deltas_at: 0,
        };
        postings.load(0, 0);
        postings
    }

    /// How many documents have the term.
    pub fn doc_frequency(&self) -> u32 {
        self.doc_frequency
    }

    /// How often the term occurs in all of them.
    pub fn total_frequency(&self) -> u64 {
        self.total_frequency
    }

    /// Moves to the first document of a block; to the end if there is no such block, or if it does
    /// not begin at `doc_min` or later.
    fn load(&mut self, block: usize, doc_min: u32) -> DocId {
        self.block = block;
        self.at = 0;
        self.doc = END;
        self.block_docs = self.read_docs(block).unwrap_or(0);
        if self.block_docs > 0 && self.docs[0] >= doc_min {
            self.doc = DocId(self.docs[0]);
        } else {
            self.block_docs = 0;
        }
        self.doc
    }

    /// Decodes the documents of a block and returns how many they are.
    fn read_docs(&mut self, block: usize) -> Option<usize> {
        let before = self.streams.skips.before(block)?;
        let bytes = self.streams.docs.get(usize::try_from(before.docs).ok()?..)?;
        let count = u64::from(self.doc_frequency);
        let (docs, _) = numbers::read_block(bytes, count, block, &mut self.docs)?;
        let gaps = &mut self.docs[..docs];
        let first = if block == 0 { 0 } else { before.last_doc.checked_add(1)? };
        let last = u64::from(first) + gaps.iter().map(|&gap| u64::from(gap) + 1).sum::<u64>();
        if last > u64::from(self.doc_count) {
            return None;
        }
        let mut next = first;
        for gap in gaps {
            *gap += next;
            next = *gap + 1;
        }
        Some(docs)
    }

    /// Decodes the frequencies of the current block, if they are not there yet.
    fn load_freqs(&mut self) -> Option<()> {
        if self.freqs_block != self.block {
            let before = self.streams.skips.before(self.block)?;
            let bytes = self.streams.freqs.get(usize::try_from(before.freqs).ok()?..)?;
            self.freqs_block = NONE;
            let count = u64::from(self.doc_frequency);
            numbers::read_block(bytes, count, self.block, &mut self.freqs)?;
            self.freqs_block = self.block;
        }
        Some(())
    }

    fn read_positions(&mut self, out: &mut Vec<u32>) -> Option<()> {
        self.load_freqs()?;
        if self.deltas_block != self.block || self.deltas_at > self.at {
            let before = self.streams.skips.before(self.block)?;
            self.deltas.seek(before.occurrences, before.positions);
            (self.deltas_block, self.deltas_at) = (self.block, 0);
        }
        let passed = &self.freqs[self.deltas_at..self.at];
        self.deltas.skip(passed.iter().map(|&freq| u64::from(freq) + 1).sum());
        self.deltas_at = self.at + 1;
        let mut position = 0_u32;
        self.deltas.read(u64::from(self.freqs[self.at]) + 1, |delta| {
            position = position.saturating_add(delta);
            out.push(position);
        })
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
            let block = self.streams.skips.find(self.block + 1, target.0);
            let doc_min = self.docs[self.block_docs - 1] + 1;
            if block > self.streams.skips.count() || self.load(block, doc_min) == END {
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
        if self.doc != END && self.read_positions(out).is_none() {
            // Bytes that were never written by us: what could be read of them stays.
            self.deltas_block = NONE;
        }
    }
}
