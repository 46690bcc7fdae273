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
//! Documents make up blocks of 128, the last one what is left. The numbers of a block are one run in
//! docs and one in freqs, under codes that the configuration chooses (`code.rs`), and in positions some
//! chunks (`chunks.rs`). A list of one block that is not full begins in docs with its first document in
//! whole bytes, and only the others are a run; it has nothing in freqs if the lexicon tells them all,
//! because every frequency is one or there is one document. The writer is in `writer.rs`; where a list
//! begins in each stream stands in the lexicon.
//!
//! **Invariant.** Whatever the bytes, a cursor moves only forward, through documents that the
//! segment has, and ends. Bytes have been verified before a cursor sees them, so that they are
//! otherwise as written.
//!
//! A segment may have been made without positions, as one is that another engine has exported: then that
//! stream is empty, and a cursor says of each document how often it has the term, not where.

mod bounds;
mod chunks;
mod code;
mod maxima;
mod skips;
mod writer;

pub use bounds::Bounds;
pub use code::{BLOCK, StreamCode};
pub use maxima::Maximum;
pub(crate) use maxima::Norm;
pub(crate) use skips::{Skips, Widths};
pub(crate) use writer::PostingsWriter;

use crate::{DocId, DocIterator, END, Frequencies, Lengths, Positions, fixed};
use chunks::{Chunks, Place};
use code::Coder;
use codes::gaps;

/// The codes of the three streams of numbers; none where positions are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamCodes {
    pub(crate) docs: StreamCode,
    pub(crate) freqs: StreamCode,
    pub(crate) positions: Option<StreamCode>,
}

impl Default for StreamCodes {
    fn default() -> StreamCodes {
        StreamCodes {
            docs: StreamCode::PforOptimum,
            freqs: StreamCode::PforOptimum,
            positions: Some(StreamCode::Golomb),
        }
    }
}

/// How many bytes the first document of a short list takes.
pub(crate) fn first_width(doc_count: u32) -> usize {
    fixed::width(u64::from(doc_count.saturating_sub(1)))
}

/// Whether a list is one block that is not full.
fn is_short(doc_frequency: u32) -> bool {
    (doc_frequency as usize) < BLOCK
}

/// Whether a list has anything in freqs.
pub(crate) fn has_freqs(doc_frequency: u32, total_frequency: u64) -> bool {
    !is_short(doc_frequency) || (doc_frequency > 1 && total_frequency > u64::from(doc_frequency))
}

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

impl Extents {
    /// The bytes in all streams.
    pub(crate) fn bytes(&self) -> u64 {
        let Extents { docs, freqs, positions, skips } = self;
        [docs, freqs, positions, skips].iter().fold(0, |sum, of| of.bytes.saturating_add(sum))
    }
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

/// The blocks of a list: any of them can be decoded.
#[derive(Clone, Copy, Debug)]
struct Blocks<'a> {
    streams: Streams<'a>,
    codes: StreamCodes,
    doc_frequency: u32,
    total_frequency: u64,
    doc_count: u32,
}

impl Blocks<'_> {
    /// How many documents a block has.
    fn count(&self, block: usize) -> Option<usize> {
        Some((self.doc_frequency as usize).checked_sub(block.checked_mul(BLOCK)?)?.min(BLOCK))
    }

    /// Decodes the documents of a block, which has as many.
    fn docs_of(&self, block: usize, docs: &mut [u32]) -> Option<()> {
        let before = self.streams.skips.before(block)?;
        let mut bytes = self.streams.docs.get(usize::try_from(before.docs).ok()?..)?;
        let mut read = 0;
        if is_short(self.doc_frequency) {
            let width = first_width(self.doc_count);
            docs[0] = u32::try_from(fixed::get(bytes, 0, width)?).ok()?;
            bytes = &bytes[width..];
            read = 1;
        }
        Coder::of_docs(self.codes.docs).read(&mut bytes, &mut docs[read..])?;
        let first = if block == 0 { 0 } else { before.last_doc.checked_add(1)? };
        let behind = gaps::add_up(first, docs)?;
        (behind <= self.doc_count).then_some(())
    }

    /// Decodes the frequencies, less one, of a block with as many documents.
    fn more_of(&self, block: usize, more: &mut [u32]) -> Option<()> {
        if has_freqs(self.doc_frequency, self.total_frequency) {
            let before = self.streams.skips.before(block)?;
            let mut bytes = self.streams.freqs.get(usize::try_from(before.freqs).ok()?..)?;
            return Coder::of_freqs(self.codes.freqs).read(&mut bytes, more);
        }
        more.fill(0);
        if self.doc_frequency == 1
            && let Some(more) = more.first_mut()
        {
            *more = u32::try_from(self.total_frequency.checked_sub(1)?).ok()?;
        }
        Some(())
    }
}

/// A cursor over the documents that have a term in a field.
#[derive(Clone, Debug)]
pub struct Postings<'a> {
    list: Blocks<'a>,
    lengths: Lengths<'a>,
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
    /// What the chunks of positions ask of block `places_block`.
    places: Vec<Place>,
    places_block: usize,
    chunks: Chunks<'a>,
}

/// Stands for no block.
const NONE: usize = usize::MAX;

impl<'a> Postings<'a> {
    /// A cursor on the first document of a list of a segment with `doc_count` documents; `lengths` are
    /// those of its field.
    pub(crate) fn new(
        streams: Streams<'a>,
        codes: StreamCodes,
        lengths: Lengths<'a>,
        list: &List,
        doc_count: u32,
    ) -> Postings<'a> {
        let &List { doc_frequency, total_frequency, .. } = list;
        let mut postings = Postings {
            list: Blocks { streams, codes, doc_frequency, total_frequency, doc_count },
            lengths,
            doc: END,
            block: 0,
            block_docs: 0,
            at: 0,
            docs: [0; BLOCK],
            freqs: [0; BLOCK],
            freqs_block: NONE,
            places: Vec::new(),
            places_block: NONE,
            chunks: Chunks::default(),
        };
        postings.load(0, 0);
        postings
    }

    /// How many documents have the term.
    pub fn doc_frequency(&self) -> u32 {
        self.list.doc_frequency
    }

    /// The lengths of the field.
    pub fn lengths(&self) -> Lengths<'a> {
        self.lengths
    }

    /// How often the term occurs in all of them.
    pub fn total_frequency(&self) -> u64 {
        self.list.total_frequency
    }

    /// The greatest measure of the current block; `None` for the last one if it is not full.
    pub fn block_maximum(&self) -> Option<Maximum> {
        self.list.streams.skips.maximum(self.block)
    }

    /// What the blocks of the list can make of its term, from its beginning on.
    pub fn bounds(&self) -> Bounds<'a> {
        let has_tail = !(self.list.doc_frequency as usize).is_multiple_of(BLOCK);
        Bounds::new(self.list.streams.skips, has_tail)
    }

    /// Moves to the first document not less than `target`, ahead or behind.
    pub fn seek(&mut self, target: DocId) -> DocId {
        let inside = self.block_docs > 0
            && self.docs[0] <= target.0
            && target.0 <= self.docs[self.block_docs - 1];
        if !inside {
            let is_ahead = self.block_docs > 0 && self.docs[self.block_docs - 1] < target.0;
            let from = if is_ahead { self.block + 1 } else { 0 };
            let block = self.list.streams.skips.find(from, target.0);
            if self.load(block, 0) == END {
                return END;
            }
        }
        let before = self.docs[..self.block_docs].partition_point(|&doc| doc < target.0);
        if before == self.block_docs {
            // All documents of the last block come before it.
            self.block_docs = 0;
            self.doc = END;
            return END;
        }
        self.at = before;
        self.doc = DocId(self.docs[before]);
        self.doc
    }

    /// Moves to the first document of any block, ahead or behind; to the end if there is no such block.
    pub fn enter_block(&mut self, block: usize) -> DocId {
        self.load(block, 0)
    }

    /// The documents of the current block from the current one on, and how often, less one, each has the term.
    pub fn block_rest_more(&mut self) -> (&[u32], &[u32]) {
        if self.doc == END || self.load_freqs().is_none() {
            return (&[], &[]);
        }
        let rest = self.at..self.block_docs;
        (&self.docs[rest.clone()], &self.freqs[rest])
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
        let count = self.list.count(block).filter(|&count| count > 0)?;
        self.list.docs_of(block, &mut self.docs[..count])?;
        Some(count)
    }

    /// Decodes the frequencies of the current block, if they are not there yet.
    fn load_freqs(&mut self) -> Option<()> {
        if self.freqs_block == self.block {
            return Some(());
        }
        self.freqs_block = NONE;
        self.list.more_of(self.block, &mut self.freqs[..self.block_docs])?;
        self.freqs_block = self.block;
        Some(())
    }

    /// How many blocks the list has.
    pub fn block_count(&self) -> usize {
        (self.list.doc_frequency as usize).div_ceil(BLOCK)
    }

    /// Appends the documents of a block, wherever the cursor is: none if it is damaged or not there.
    pub fn append_docs(&self, block: usize, docs: &mut Vec<u32>) {
        let (start, count) = (docs.len(), self.list.count(block).unwrap_or(0));
        docs.resize(start + count, 0);
        if count == 0 || self.list.docs_of(block, &mut docs[start..]).is_none() {
            docs.truncate(start);
        }
    }

    /// Fills in how often, less one, each document of a block has the term, wherever the cursor is.
    pub fn fill_more(&self, block: usize, more: &mut [u32]) {
        if self.list.more_of(block, more).is_none() {
            more.fill(0);
        }
    }

    /// Puts what the chunks of the current block ask in `places`, if it is not there yet.
    fn load_places(&mut self) -> Option<()> {
        if self.places_block == self.block {
            return Some(());
        }
        self.load_freqs()?;
        let before = self.list.streams.skips.before(self.block)?;
        let bytes = self.list.streams.positions.get(usize::try_from(before.positions).ok()?..)?;
        self.places.clear();
        let (docs, lengths) = (&self.docs[..self.block_docs], self.lengths);
        self.places.extend(
            docs.iter()
                .zip(&self.freqs)
                .map(|(&doc, &more)| Place { more, length: lengths.get(DocId(doc)) }),
        );
        self.chunks.restart(bytes);
        self.places_block = self.block;
        Some(())
    }

    /// For each occurrence in the current document its distance to the one before; for the first, its
    /// position. None at the end, and of bytes that were never written by us.
    pub(crate) fn distances(&mut self) -> &[u32] {
        if self.doc == END {
            return &[];
        }
        if !self.chunks.is_ahead(self.at) {
            self.places_block = NONE;
        }
        let (Some(code), Some(())) = (self.list.codes.positions, self.load_places()) else {
            self.places_block = NONE;
            return &[];
        };
        let distances = self.chunks.read(code, &self.places, self.at);
        if distances.is_none() {
            self.places_block = NONE;
        }
        distances.unwrap_or_default()
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
            if block > self.list.streams.skips.count() || self.load(block, doc_min) == END {
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
        let mut position = 0_u32;
        out.extend(self.distances().iter().map(|&distance| {
            position = position.saturating_add(distance);
            position
        }));
    }
}
