//! An encoded inverted list, whose blocks can be decoded in any order.
//!
//! The cursor over a list is in `mod.rs`, bounds are in `bounds.rs`.
//!
//! **Invariant.** A successfully decoded block, and a [`DocSet`], contains documents of the segment in ascending
//! order.

use super::champions::Contest;
use super::chunks::Chunks;
use super::code::{BLOCK, Coder};
use super::{
    Bounds, Champions, Extents, List, Skips, StreamCode, StreamCodes, first_width, has_freqs,
    is_short,
};
use crate::file::fixed;
use crate::{DocId, Lengths};
use codes::{pfor, prefix_sums, unary_block};
use std::ops::Range;

/// The verified bytes of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streams<'a> {
    pub(crate) docs: &'a [u8],
    pub(crate) freqs: &'a [u8],
    pub(crate) positions: &'a [u8],
    pub(crate) skips: Skips<'a>,
}

/// The documents with a term in a field, in blocks of [`BLOCK`]. The last block may be shorter.
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
    /// A list in a segment with `doc_count` documents; `lengths` are those of its field.
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

    /// Number of documents with the term.
    #[inline]
    pub fn doc_frequency(&self) -> u32 {
        self.doc_frequency
    }

    /// Number of occurrences of the term in all of them.
    pub fn total_frequency(&self) -> u64 {
        self.total_frequency
    }

    /// The lengths of the field.
    #[inline]
    pub fn lengths(&self) -> Lengths<'a> {
        self.lengths
    }

    /// Number of blocks.
    #[inline]
    pub fn block_count(&self) -> usize {
        (self.doc_frequency as usize).div_ceil(BLOCK)
    }

    /// Number of documents in a block.
    #[inline]
    pub fn block_len(&self, block: usize) -> usize {
        let before = block.saturating_mul(BLOCK);
        (self.doc_frequency as usize).saturating_sub(before).min(BLOCK)
    }

    /// Bounds of the blocks, from the beginning.
    pub fn bounds(&self) -> Bounds<'a> {
        Bounds::new(self.streams.skips, self.block_count())
    }

    /// The best documents of the list; `None` for a short list, or if there is no clear winner.
    pub fn champions(&self) -> Option<Champions<'a>> {
        self.streams.skips.champions(self.doc_frequency)
    }

    /// Returns whether the stored champions are those of `contest`, which has seen all documents.
    pub(crate) fn is_won(&self, contest: &Contest) -> bool {
        let mut bytes = Vec::new();
        contest.write(self.doc_frequency, self.doc_count, &mut bytes);
        self.streams.skips.champion_bytes(self.doc_frequency) == bytes
    }

    /// Decodes the documents of a block into `docs`, which must have the block's length. Returns `None`, with
    /// anything in `docs`, if the block is damaged or missing.
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
        let behind = prefix_sums::add_up(first, docs)?;
        (behind <= self.doc_count).then_some(())
    }

    /// Returns a full block that is stored as a bit set, if it is valid.
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

    /// Returns whether a block may be stored as a bit set; only full blocks may.
    #[inline]
    fn is_unary(&self, block: usize) -> bool {
        self.codes.docs == StreamCode::PforUnary && self.block_len(block) == BLOCK
    }

    /// Decodes the frequency of each document of a block, less one, like [`InvertedList::read_docs`].
    pub fn read_tf_minus_one(&self, block: usize, tf_minus_one: &mut [u32]) -> Option<()> {
        if has_freqs(self.doc_frequency, self.total_frequency) {
            let mut bytes = self.streams.freqs.get(self.streams.skips.freqs(block)?..)?;
            return Coder::of_freqs(self.codes.freqs).read(&mut bytes, tf_minus_one);
        }
        tf_minus_one.fill(0);
        if self.doc_frequency == 1
            && let Some(tf_minus_one) = tf_minus_one.first_mut()
        {
            *tf_minus_one = u32::try_from(self.total_frequency.checked_sub(1)?).ok()?;
        }
        Some(())
    }

    /// Bytes of the positions from a block on.
    fn positions(&self, block: usize) -> Option<&'a [u8]> {
        self.streams.positions.get(self.streams.skips.positions(block)?..)
    }
}

/// The documents of a block as a bit set, searched without decoding.
#[derive(Clone, Copy, Debug)]
pub struct DocSet<'a> {
    /// Document of the first bit.
    first: u32,
    bits: &'a [u8],
}

impl DocSet<'_> {
    /// Largest number of bits: the length in bytes fits into a byte.
    pub const BITS_MAX: usize = 8 * u8::MAX as usize;

    #[inline]
    fn len(&self) -> usize {
        unary_block::ones(self.bits) as usize
    }

    /// Returns whether a document is in the set.
    #[inline]
    pub fn contains(&self, doc: u32) -> bool {
        doc >= self.first && unary_block::contains(self.bits, doc - self.first)
    }

    /// Looks up the documents of `docs` whose bit in `asked` is set. Returns a bit for each that is in the set.
    /// Sets its entry of `places` to the number of set members before it.
    #[inline]
    pub fn find(&self, docs: &[u32; BLOCK], asked: u128, places: &mut [u8; BLOCK]) -> u128 {
        unary_block::find(self.bits, self.first, docs, asked, places)
    }

    /// Membership of the 64 documents from `doc` on, lowest bit first.
    #[inline]
    pub fn word(&self, doc: u32) -> u64 {
        if doc >= self.first {
            unary_block::word(self.bits, doc - self.first)
        } else {
            unary_block::word(self.bits, 0).checked_shl(self.first - doc).unwrap_or(0)
        }
    }

    /// Counts the members from `start` on whose bit in `words` is set. The lowest bit of the first word is
    /// `start`.
    #[inline]
    pub fn count_in(&self, start: u32, words: &[u64]) -> u32 {
        let Range { start: first, end: behind } = self.range();
        let ahead = first.saturating_sub(start);
        let until = (behind.saturating_sub(start) as usize).div_ceil(64).min(words.len());
        let words = words.get(ahead as usize / 64..until).unwrap_or_default();
        unary_block::common(self.bits, start.saturating_sub(first), ahead % 64, words)
    }

    /// A range that contains all members, ending after the last.
    #[inline]
    pub fn range(&self) -> Range<u32> {
        let unused = self.bits.last().map_or(0, |last| last.leading_zeros());
        let bits = u32::try_from(8 * self.bits.len()).unwrap_or(u32::MAX);
        self.first..self.first.saturating_add(bits - unused)
    }

    /// Number of members before a document.
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
pub(super) struct DecodedBlock<'b> {
    /// The block number.
    pub(super) block: usize,
    /// Its documents.
    pub(super) docs: &'b [u32],
    /// The frequency of each document, less one.
    pub(super) tf_minus_one: &'b [u32],
}

/// Reads the positions of a term in documents. Cheapest in ascending order of blocks and documents.
#[derive(Clone, Debug)]
pub(super) struct Occurrences<'a> {
    list: InvertedList<'a>,
    /// The block that `chunks` belongs to.
    block: Option<usize>,
    chunks: Chunks<'a>,
    distances: Vec<u32>,
}

impl<'a> Occurrences<'a> {
    /// Reads the positions of `list`.
    pub(super) fn new(list: InvertedList<'a>) -> Occurrences<'a> {
        Occurrences { list, block: None, chunks: Chunks::default(), distances: Vec::new() }
    }

    /// The distance of each occurrence to the previous one, for the document at index `at` of a block; for the
    /// first, its position. Empty without positions in the index, and on corrupt bytes.
    pub(super) fn distances(&mut self, decoded: DecodedBlock<'_>, at: usize) -> &[u32] {
        let mut distances = std::mem::take(&mut self.distances);
        distances.clear();
        let read = self.each(decoded, at, |distance| distances.push(distance));
        if read.is_none() {
            distances.clear();
        }
        self.distances = distances;
        &self.distances
    }

    /// Appends each position of the term in a document to `out`.
    #[inline]
    pub(super) fn append(&mut self, decoded: DecodedBlock<'_>, at: usize, out: &mut Vec<u32>) {
        let before = out.len();
        let mut position = 0_u32;
        let read = self.each(decoded, at, |distance| {
            position = position.saturating_add(distance);
            out.push(position);
        });
        if read.is_none() {
            out.truncate(before);
        }
    }

    /// Passes each distance to `visit`. Returns `None` if the bytes are invalid, possibly after some visits.
    #[inline]
    fn each(&mut self, decoded: DecodedBlock<'_>, at: usize, visit: impl FnMut(u32)) -> Option<()> {
        let (code, DecodedBlock { block, docs, tf_minus_one }) =
            (self.list.codes.positions?, decoded);
        if self.block != Some(block) || !self.chunks.is_ahead(at) {
            self.block = None;
            self.chunks.restart(code, self.list.positions(block)?, tf_minus_one)?;
        }
        // Stays unset if reading fails.
        self.block = None;
        let lengths = self.list.lengths;
        let length = |at: usize| docs.get(at).map_or(0, |&doc| lengths.get(DocId(doc)));
        self.chunks.read(code, tf_minus_one, length, at, visit)?;
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
        fn a_document_set_matches_its_document_list(first in 0..300_u32, gaps in vec(0..9_u32, 1..128)) {
            let mut bits = Vec::new();
            unary_block::write(&gaps, &mut bits);
            let mut docs = gaps;
            let behind = prefix_sums::add_up(first, &mut docs).expect("small");
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
