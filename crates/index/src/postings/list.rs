//! An inverted list where it lies: any of its blocks can be decoded, in any order.
//!
//! What does not live here: a cursor that moves over it (`mod.rs`), and bounds (`bounds.rs`).
//!
//! **Invariant.** A block that is decoded without a fault holds documents that the segment has, in ascending order.

use super::chunks::Chunks;
use super::code::{BLOCK, Coder};
use super::{Bounds, Extents, List, Skips, StreamCodes, first_width, has_freqs, is_short};
use crate::{DocId, Lengths, fixed};
use codes::gaps;

/// The verified bytes of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streams<'a> {
    pub(crate) docs: &'a [u8],
    pub(crate) freqs: &'a [u8],
    pub(crate) positions: &'a [u8],
    pub(crate) skips: Skips<'a>,
}

/// The documents that have a term in a field, in blocks of [`BLOCK`], the last of which need not be full.
#[derive(Clone, Copy, Debug)]
pub struct InvertedList<'a> {
    pub(super) streams: Streams<'a>,
    pub(super) codes: StreamCodes,
    lengths: Lengths<'a>,
    doc_frequency: u32,
    total_frequency: u64,
    doc_count: u32,
}

impl<'a> InvertedList<'a> {
    /// Of a segment with `doc_count` documents; `lengths` are those of its field.
    pub(crate) fn new(
        streams: Streams<'a>,
        codes: StreamCodes,
        lengths: Lengths<'a>,
        list: &List,
        doc_count: u32,
    ) -> InvertedList<'a> {
        let &List { doc_frequency, total_frequency, extents: Extents { .. } } = list;
        InvertedList { streams, codes, lengths, doc_frequency, total_frequency, doc_count }
    }

    /// How many documents have the term.
    #[inline]
    pub fn doc_frequency(&self) -> u32 {
        self.doc_frequency
    }

    /// How often the term occurs in all of them.
    pub fn total_frequency(&self) -> u64 {
        self.total_frequency
    }

    /// The lengths of the field.
    #[inline]
    pub fn lengths(&self) -> Lengths<'a> {
        self.lengths
    }

    /// How many blocks the list has.
    #[inline]
    pub fn block_count(&self) -> usize {
        (self.doc_frequency as usize).div_ceil(BLOCK)
    }

    /// How many documents a block has.
    #[inline]
    pub fn block_len(&self, block: usize) -> usize {
        let before = block.saturating_mul(BLOCK);
        (self.doc_frequency as usize).saturating_sub(before).min(BLOCK)
    }

    /// What its blocks can make of its term, from the beginning on.
    pub fn bounds(&self) -> Bounds<'a> {
        Bounds::new(self.streams.skips, self.block_count())
    }

    /// Decodes the documents of a block into `docs`, which has room for as many; `None`, with anything in it, if the block
    /// is damaged or not there.
    pub fn read_docs(&self, block: usize, docs: &mut [u32]) -> Option<()> {
        let skips = &self.streams.skips;
        let mut bytes = self.streams.docs.get(skips.docs(block)?..)?;
        let mut read = 0;
        if is_short(self.doc_frequency) {
            let width = first_width(self.doc_count);
            *docs.first_mut()? = u32::try_from(fixed::get(bytes, 0, width)?).ok()?;
            bytes = bytes.get(width..)?;
            read = 1;
        }
        Coder::of_docs(self.codes.docs).read(&mut bytes, &mut docs[read..])?;
        let behind = gaps::add_up(skips.first_doc(block)?, docs)?;
        (behind <= self.doc_count).then_some(())
    }

    /// Decodes how often, less one, each document of a block has the term; as [`InvertedList::read_docs`] does.
    pub fn read_more(&self, block: usize, more: &mut [u32]) -> Option<()> {
        if has_freqs(self.doc_frequency, self.total_frequency) {
            let mut bytes = self.streams.freqs.get(self.streams.skips.freqs(block)?..)?;
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

    /// Where the positions of a block begin.
    fn positions(&self, block: usize) -> Option<&'a [u8]> {
        self.streams.positions.get(self.streams.skips.positions(block)?..)
    }
}

/// A decoded block of a list.
#[derive(Clone, Copy, Debug)]
pub struct DecodedBlock<'b> {
    /// Which one.
    pub block: usize,
    /// Its documents.
    pub docs: &'b [u32],
    /// How often, less one, each has the term.
    pub more: &'b [u32],
}

/// Reads where the term of a list stands in its documents. Costs least where blocks and documents ascend.
#[derive(Clone, Debug)]
pub struct Occurrences<'a> {
    list: InvertedList<'a>,
    /// The block that `chunks` are of.
    block: Option<usize>,
    chunks: Chunks<'a>,
}

impl<'a> Occurrences<'a> {
    /// Of a list.
    pub fn new(list: InvertedList<'a>) -> Occurrences<'a> {
        Occurrences { list, block: None, chunks: Chunks::default() }
    }

    /// For each occurrence in the document at a place of a block its distance to the one before; for the first, its
    /// position. None if the index keeps no positions, and of bytes that were never written by us.
    pub(super) fn distances(&mut self, decoded: DecodedBlock<'_>, at: usize) -> &[u32] {
        let Some(code) = self.list.codes.positions else { return &[] };
        if self.block != Some(decoded.block) || !self.chunks.is_ahead(at) {
            self.block = None;
            let Some(bytes) = self.list.positions(decoded.block) else { return &[] };
            self.chunks.restart(bytes);
            self.block = Some(decoded.block);
        }
        let (lengths, DecodedBlock { docs, more, .. }) = (self.list.lengths, decoded);
        let length = |at: usize| docs.get(at).map_or(0, |&doc| lengths.get(DocId(doc)));
        let distances = self.chunks.read(code, more, length, at);
        if distances.is_none() {
            self.block = None;
        }
        distances.unwrap_or_default()
    }

    /// Makes `out` the positions of the term in that document.
    pub fn positions(&mut self, decoded: DecodedBlock<'_>, at: usize, out: &mut Vec<u32>) {
        out.clear();
        let mut position = 0_u32;
        out.extend(self.distances(decoded, at).iter().map(|&distance| {
            position = position.saturating_add(distance);
            position
        }));
    }
}
