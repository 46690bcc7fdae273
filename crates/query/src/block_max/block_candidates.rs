//! The documents of one block, with arrays for vectorized loops over all of them.
//!
//! One word proposes the documents of a block of its list. They are looked up in the other lists, a block at a
//! time, and all their scores are updated at once.
//!
//! **Invariant.** Documents ascend. A document that was dropped is no match, or its upper bound is below the
//! threshold.

use codes::lanes;
use index::{BLOCK, DocId, Field, Lengths};

use super::candidates::Span;
use super::impact_tables::FULL;
use super::list::List;
use super::{Collector, Word};

/// Lengths of at most this many documents are read one by one.
const FEW: usize = 32;

/// The documents of a block. The arrays are aligned to cache lines.
#[repr(align(64))]
pub(super) struct BlockCandidates {
    /// The remaining documents, a bit each; the lowest bit is the first document.
    pub(super) left: u128,
    /// The number of documents in the block.
    count: usize,
    /// `u32::MAX` after the last document of the block, if any document remains.
    docs: [u32; BLOCK],
    /// Partial scores, in single precision.
    pub(super) scores: [f32; BLOCK],
    /// Lengths of `field` in the documents that remained when the lengths were read.
    lengths: [u32; BLOCK],
    field: Option<Field>,
    /// Postings of each list.
    lists: Vec<Known>,
    /// Places of the documents in a block of the list that is being probed.
    in_block: [u8; BLOCK],
}

/// Postings of the documents in one list; valid only for documents that the list has.
#[repr(align(64))]
struct Known {
    /// Places of the documents among all documents of the list.
    at: [u32; BLOCK],
    /// Term frequencies.
    frequencies: [u32; BLOCK],
    /// Whether `frequencies` is valid for the remaining documents.
    is_counted: bool,
}

impl Default for BlockCandidates {
    fn default() -> BlockCandidates {
        BlockCandidates {
            left: 0,
            count: 0,
            docs: [u32::MAX; BLOCK],
            scores: [0.0; BLOCK],
            lengths: [0; BLOCK],
            field: None,
            lists: Vec::new(),
            in_block: [0; BLOCK],
        }
    }
}

impl BlockCandidates {
    /// Makes room for the given number of lists.
    pub(super) fn begin(&mut self, lists: usize) {
        let nothing = || Known { at: [0; BLOCK], frequencies: [0; BLOCK], is_counted: false };
        self.lists.resize_with(self.lists.len().max(lists), nothing);
    }

    /// Takes the documents of a block; the window is this block. If `wanted` is given, keeps those to which the
    /// word adds at least that.
    pub(super) fn propose(&mut self, word: &mut Word<'_>, span: Span, wanted: Option<f32>) {
        let list = &mut word.lists[0];
        let block = list.first_block();
        self.field = None;
        self.count = self.take(list, block, span);
        self.left = lanes::first(self.count);
        let Known { at, frequencies, is_counted } = &mut self.lists[word.number];
        *is_counted = wanted.is_some();
        for (at, place) in at.iter_mut().zip(first_of(block)..) {
            *at = place;
        }
        self.scores = [0.0; BLOCK];
        if let Some(wanted) = wanted {
            for (frequency, tf_minus_one) in frequencies.iter_mut().zip(list.tf_minus_one_of(block))
            {
                *frequency = tf_minus_one.saturating_add(1);
            }
            self.add(word);
            self.keep(wanted);
        }
    }

    /// Copies the documents of a block and returns their number.
    fn take(&mut self, list: &mut List<'_>, block: usize, span: Span) -> usize {
        let docs = list.block_docs(block);
        let is_inside = |doc: Option<&u32>| doc.is_some_and(|&doc| span.contains(doc));
        if !is_inside(docs.first()) || !is_inside(docs.last()) {
            // This happens only in a foreign or damaged file.
            return 0;
        }
        if let Some(whole) = docs.first_chunk() {
            self.docs = *whole;
        } else {
            self.docs = [u32::MAX; BLOCK];
            self.docs[..docs.len()].copy_from_slice(docs);
        }
        docs.len()
    }

    /// Adds the static scores.
    pub(super) fn add_worth(&mut self, span: Span, worth: &impl Fn(u32) -> f32) {
        if span.most > 0.0 {
            lanes::each(self.left, |place| self.scores[place] += worth(self.docs[place]));
        }
    }

    /// Looks the remaining documents up in a list and returns those that have the word.
    ///
    /// If `least` is given, documents that cannot reach it with the maximum of their block in this list are dropped
    /// first, and frequencies are read. A table gives presence and frequencies at once, but no places in the list.
    pub(super) fn look_up(&mut self, word: &mut Word<'_>, least: Option<f32>) -> u128 {
        let BlockCandidates { left, docs, scores, lists, in_block, .. } = self;
        let Known { at, frequencies, is_counted } = &mut lists[word.number];
        if let Some(table) = word.table {
            *is_counted = true;
            let found = lanes::look_up(&table.often, docs, *left, frequencies);
            if table.has_full {
                let list = &mut word.lists[0];
                lanes::each(found, |place| {
                    if frequencies[place] == u32::from(FULL) {
                        frequencies[place] = list.frequency_of_any(docs[place]);
                    }
                });
            }
            return found;
        }
        *is_counted = least.is_some();
        word.lists[0].rewind();
        let (mut ahead, mut found) = (*left, 0);
        while let Some((block, here)) = next_block(&mut word.lists[0], docs, &mut ahead) {
            let mut asked = here;
            if let Some(least) = least {
                let tight = word.bound_of_block(block);
                if tight < word.bound {
                    // The block maximum is tighter than the bound of the window.
                    asked &= lanes::reaching(scores, least - tight);
                    *left &= !here | asked;
                }
            }
            if asked == 0 {
                continue;
            }
            let list = &mut word.lists[0];
            let there = list.find_in(block, docs, asked, in_block);
            if there == 0 {
                continue;
            }
            found |= there;
            let start = first_of(block);
            lanes::each(there, |place| at[place] = start + u32::from(in_block[place]));
            if least.is_some() {
                let tf_minus_one = list.tf_minus_one_of_block();
                lanes::each(there, |place| {
                    let tf_minus_one =
                        tf_minus_one.get(usize::from(in_block[place])).copied().unwrap_or(0);
                    frequencies[place] = tf_minus_one.saturating_add(1);
                });
            }
        }
        found
    }

    /// Drops the documents that a list has.
    pub(super) fn refuse(&mut self, list: &mut List<'_>) {
        list.rewind();
        let mut ahead = self.left;
        while let Some((block, asked)) = next_block(list, &self.docs, &mut ahead) {
            self.left &= !list.find_in(block, &self.docs, asked, &mut self.in_block);
        }
    }

    /// Reads the term frequencies of the remaining documents, which have the word.
    pub(super) fn count(&mut self, word: &mut Word<'_>) {
        let Known { at, frequencies, is_counted } = &mut self.lists[word.number];
        if *is_counted {
            return;
        }
        let list = &mut word.lists[0];
        let mut ahead = self.left;
        while ahead != 0 {
            let block = at[ahead.trailing_zeros() as usize] as usize / BLOCK;
            let here = ahead & lanes::up_to(at, last_of(block));
            ahead ^= here;
            let tf_minus_one = list.tf_minus_one_of(block);
            lanes::each(here, |place| {
                let tf_minus_one =
                    tf_minus_one.get(at[place] as usize % BLOCK).copied().unwrap_or(0);
                frequencies[place] = tf_minus_one.saturating_add(1);
            });
        }
    }

    /// Sets all frequencies of a word to 0. [`BlockCandidates::look_up`] fills in those of its documents.
    pub(super) fn forget(&mut self, word: &Word<'_>) {
        self.lists[word.number].frequencies = [0; BLOCK];
    }

    /// Adds the score of a word to the remaining documents.
    pub(super) fn add(&mut self, word: &Word<'_>) {
        let list = &word.lists[0];
        if self.field != Some(list.field) {
            self.field = Some(list.field);
            self.measure(list.lengths());
        }
        let known = &self.lists[word.number];
        let (saturation, scale) = (word.saturation, list.scale());
        let those = (&known.frequencies, &self.lengths);
        lanes::update(&mut self.scores, those, self.left, |score, frequency, length| {
            score + saturation.of_field(scale, frequency, length)
        });
    }

    /// Reads the lengths of a field.
    fn measure(&mut self, lengths: Lengths<'_>) {
        if self.left.count_ones() as usize <= FEW {
            lanes::each(self.left, |place| {
                self.lengths[place] = lengths.get(DocId(self.docs[place]));
            });
        } else {
            lengths.of(&self.docs[..self.count], &mut self.lengths[..self.count]);
        }
    }

    /// Keeps the documents whose scores reach `least`.
    #[inline]
    pub(super) fn keep(&mut self, least: f32) {
        self.left &= lanes::reaching(&self.scores, least);
    }

    /// Raises the threshold by the scores of the remaining documents.
    pub(super) fn raise_floor(&self, collector: &mut Collector<'_, '_>) {
        // Fewer than k documents give no bound.
        if self.left.count_ones() as usize >= collector.best.size() {
            let (mut scores, mut count) = ([0.0; BLOCK], 0);
            lanes::each(self.left, |place| {
                scores[count] = self.scores[place];
                count += 1;
            });
            collector.raise_floor(scores[..count].iter().copied());
        }
    }

    /// The document at a place.
    #[inline]
    pub(super) fn doc(&self, place: usize) -> u32 {
        self.docs[place]
    }

    /// Returns the exact score of a remaining document for a word. The frequency must be known.
    #[inline]
    pub(super) fn exactly(&self, word: &mut Word<'_>, place: usize) -> f64 {
        let list = &word.lists[0];
        let length = if self.field == Some(list.field) {
            self.lengths[place]
        } else {
            list.lengths().get(DocId(self.docs[place]))
        };
        word.exactly_often(self.lists[word.number].frequencies[place], length)
    }
}

/// Finds the block of a list that may contain the first document in `ahead`. Returns the block and all documents of
/// `ahead` in its range, and removes these from `ahead`. Returns `None` if `ahead` is empty or the list has ended.
#[inline]
fn next_block(list: &mut List<'_>, docs: &[u32; BLOCK], ahead: &mut u128) -> Option<(usize, u128)> {
    if *ahead == 0 {
        return None;
    }
    let next = ahead.trailing_zeros() as usize;
    let (block, last) = list.block_of(docs[next])?;
    let here = *ahead & (lanes::up_to(docs, last) | 1 << next);
    *ahead ^= here;
    Some((block, here))
}

/// The last place of a block among all documents of its list.
#[inline]
fn last_of(block: usize) -> u32 {
    first_of(block) | (first_of(1) - 1)
}

/// The first place of a block among all documents of its list.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a list has fewer than 2^32 documents")]
fn first_of(block: usize) -> u32 {
    (block * BLOCK) as u32
}
