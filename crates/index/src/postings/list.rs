//! An inverted list where it lies: any of its blocks can be decoded, in any order.
//!
//! What does not live here: a cursor that moves over it (`mod.rs`), and bounds (`bounds.rs`).
//!
//! **Invariant.** A block that is decoded without a fault, or taken as a set, holds documents that the segment has, in ascending order.

use super::champions::Contest;
use super::chunks::Chunks;
use super::code::{BLOCK, Coder};
use super::{
    Bounds, Champions, Extents, List, Skips, StreamCode, StreamCodes, first_width, has_freqs,
    is_short,
};
use crate::{DocId, Lengths, fixed};
use codes::{gaps, pfor, unary_block};
use std::ops::Range;

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
    #[inline]
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

    /// The documents that the term says most about; `None` of a short list, and where they cannot be told.
    pub fn champions(&self) -> Option<Champions<'a>> {
        self.streams.skips.champions(self.doc_frequency)
    }

    /// Whether its champions are those of a contest that all its documents have entered.
    pub(crate) fn is_won(&self, contest: &Contest) -> bool {
        let mut bytes = Vec::new();
        contest.write(self.doc_frequency, self.doc_count, &mut bytes);
        self.streams.skips.champion_bytes(self.doc_frequency) == bytes
    }

    /// Decodes the documents of a block into `docs`, which has room for as many; `None`, with anything in it, if the block
    /// is damaged or not there.
    pub fn read_docs(&self, block: usize, docs: &mut [u32]) -> Option<()> {
        let skips = &self.streams.skips;
        let mut bytes = self.streams.docs.get(skips.docs(block)?..)?;
        let first = skips.first_doc(block)?;
        if self.is_unary(block)
            && let Some((bits, _)) = pfor::split_unary(bytes)
        {
            let behind = unary_block::places(bits, first, docs)?;
            return (behind <= self.doc_count).then_some(());
        }
        let mut read = 0;
        if is_short(self.doc_frequency) {
            let width = first_width(self.doc_count);
            *docs.first_mut()? = u32::try_from(fixed::get(bytes, 0, width)?).ok()?;
            bytes = bytes.get(width..)?;
            read = 1;
        }
        Coder::of_docs(self.codes.docs).read(&mut bytes, &mut docs[read..])?;
        let behind = gaps::add_up(first, docs)?;
        (behind <= self.doc_count).then_some(())
    }

    /// A full block that lies as a set of bits, if it is sound.
    #[inline]
    pub fn set(&self, block: usize) -> Option<DocSet<'a>> {
        if !self.is_unary(block) {
            return None;
        }
        let skips = &self.streams.skips;
        let (bits, _) = pfor::split_unary(self.streams.docs.get(skips.docs(block)?..)?)?;
        let set = DocSet { first: skips.first_doc(block)?, bits };
        let is_sound = set.len() == BLOCK && set.range().end <= self.doc_count;
        is_sound.then_some(set)
    }

    /// Whether a block may lie as a set of bits: those that are full may.
    #[inline]
    fn is_unary(&self, block: usize) -> bool {
        self.codes.docs == StreamCode::PforUnary && self.block_len(block) == BLOCK
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

/// The documents of a block, as bits: whoever asks for one decodes none.
#[derive(Clone, Copy, Debug)]
pub struct DocSet<'a> {
    /// That of the first bit.
    first: u32,
    bits: &'a [u8],
}

impl DocSet<'_> {
    /// No set has more bits: its length is a byte.
    pub const BITS_MAX: usize = 8 * u8::MAX as usize;

    /// How many they are.
    #[inline]
    fn len(&self) -> usize {
        unary_block::ones(self.bits) as usize
    }

    /// Whether a document is among them.
    #[inline]
    pub fn contains(&self, doc: u32) -> bool {
        doc >= self.first && unary_block::contains(self.bits, doc - self.first)
    }

    /// Which of those documents that are asked for are among them, a bit for each. Makes `places` for each of those how many
    /// of the set are before it.
    #[inline]
    pub fn find(&self, docs: &[u32; BLOCK], asked: u128, places: &mut [u8; BLOCK]) -> u128 {
        unary_block::find(self.bits, self.first, docs, asked, places)
    }

    /// For each of the 64 documents from `doc` on whether it is among them, the lowest bit first.
    #[inline]
    pub fn word(&self, doc: u32) -> u64 {
        if doc >= self.first {
            unary_block::word(self.bits, doc - self.first)
        } else {
            unary_block::word(self.bits, 0).checked_shl(self.first - doc).unwrap_or(0)
        }
    }

    /// How many of the documents from `start` on are among them and have a bit, the lowest of the first word that of
    /// `start`.
    #[inline]
    pub fn count_in(&self, start: u32, words: &[u64]) -> u32 {
        let Range { start: first, end: behind } = self.range();
        let ahead = first.saturating_sub(start);
        let until = (behind.saturating_sub(start) as usize).div_ceil(64).min(words.len());
        let words = words.get(ahead as usize / 64..until).unwrap_or_default();
        unary_block::common(self.bits, start.saturating_sub(first), ahead % 64, words)
    }

    /// Between which documents they are, the second not included.
    #[inline]
    pub fn range(&self) -> Range<u32> {
        let unused = self.bits.last().map_or(0, |last| last.leading_zeros());
        let bits = u32::try_from(8 * self.bits.len()).unwrap_or(u32::MAX);
        self.first..self.first.saturating_add(bits - unused)
    }

    /// How many of them are before a document.
    #[inline]
    pub fn rank(&self, doc: u32) -> usize {
        let ahead = (doc.saturating_sub(self.first) as usize).min(8 * self.bits.len());
        let (whole, rest) = self.bits[..ahead / 8].as_chunks();
        let mut ones: u32 = whole.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum();
        let left = unary_block::word(self.bits, u32::try_from(64 * whole.len()).unwrap_or(0));
        let beside = 8 * rest.len() + ahead % 8;
        ones += (left & ((1 << beside) - 1)).count_ones();
        ones as usize
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
    distances: Vec<u32>,
}

impl<'a> Occurrences<'a> {
    /// Of a list.
    pub fn new(list: InvertedList<'a>) -> Occurrences<'a> {
        Occurrences { list, block: None, chunks: Chunks::default(), distances: Vec::new() }
    }

    /// For each occurrence in the document at a place of a block its distance to the one before; for the first, its
    /// position. None if the index keeps no positions, and of bytes that were never written by us.
    pub(super) fn distances(&mut self, decoded: DecodedBlock<'_>, at: usize) -> &[u32] {
        let mut distances = std::mem::take(&mut self.distances);
        distances.clear();
        let read = self.each(decoded, at, |distance| {
            distances.push(distance);
            true
        });
        if read.is_none() {
            distances.clear();
        }
        self.distances = distances;
        &self.distances
    }

    /// Appends to `out` each position of the term in that document, less `shift`, if it is not before that.
    #[inline]
    pub fn append_shifted(
        &mut self,
        decoded: DecodedBlock<'_>,
        at: usize,
        shift: u32,
        out: &mut Vec<u32>,
    ) {
        let before = out.len();
        let mut position = 0_u32;
        let read = self.each(decoded, at, |distance| {
            position = position.saturating_add(distance);
            out.extend(position.checked_sub(shift));
            true
        });
        if read.is_none() {
            out.truncate(before);
        }
    }

    /// Keeps of `starts`, which ascend, those that, `shift` later, are positions of the term in that document, at the front.
    /// Returns how many.
    #[inline]
    pub fn keep_shifted(
        &mut self,
        decoded: DecodedBlock<'_>,
        at: usize,
        shift: u32,
        starts: &mut [u32],
    ) -> usize {
        let (mut position, mut next, mut kept) = (0_u32, 0, 0);
        let read = self.each(decoded, at, |distance| {
            position = position.saturating_add(distance);
            while let Some(&start) = starts.get(next)
                && start.saturating_add(shift) <= position
            {
                starts[kept] = start;
                kept += usize::from(start.checked_add(shift) == Some(position));
                next += 1;
            }
            next < starts.len()
        });
        if read.is_some() { kept } else { 0 }
    }

    /// Hands each distance to `visit` until that says no; `None`, after any of them, if the bytes are none.
    #[inline]
    fn each(
        &mut self,
        decoded: DecodedBlock<'_>,
        at: usize,
        visit: impl FnMut(u32) -> bool,
    ) -> Option<()> {
        let (code, DecodedBlock { block, docs, more }) = (self.list.codes.positions?, decoded);
        if self.block != Some(block) || !self.chunks.is_ahead(at) {
            self.block = None;
            self.chunks.restart(code, self.list.positions(block)?, more)?;
        }
        // Until it has been read without a fault.
        self.block = None;
        let lengths = self.list.lengths;
        let length = |at: usize| docs.get(at).map_or(0, |&doc| lengths.get(DocId(doc)));
        self.chunks.read(code, more, length, at, visit)?;
        self.block = Some(block);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_set_says_what_its_documents_say(first in 0..300_u32, gaps in vec(0..9_u32, 1..128)) {
            let mut bits = Vec::new();
            unary_block::write(&gaps, &mut bits);
            let mut docs = gaps;
            let behind = gaps::add_up(first, &mut docs).expect("small");
            let set = DocSet { first, bits: &bits };
            prop_assert_eq!(set.range(), first..behind);
            for start in (0..behind + 70).step_by(37) {
                let words = [0x8421_u64 << (start % 13), u64::MAX, 0, !0 >> 7, 1];
                let is_common = |&&doc: &&u32| {
                    let at = doc.checked_sub(start);
                    at.is_some_and(|at| words.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 != 0))
                };
                prop_assert_eq!(set.count_in(start, &words) as usize, docs.iter().filter(is_common).count());
            }
            for doc in 0..behind + 70 {
                prop_assert_eq!(set.contains(doc), docs.contains(&doc), "{}", doc);
                prop_assert_eq!(set.rank(doc), docs.iter().filter(|&&one| one < doc).count());
                let ahead = |at: u32| u64::from(docs.contains(&(doc + at))) << at;
                prop_assert_eq!(set.word(doc), (0..64).map(ahead).sum::<u64>());
            }
        }
    }
}
