//! The documents of a block that are left, and what is known of each at its place, so that loops go over places side by side.
//!
//! A word proposes the documents of a block of its list; they are looked up in the lists of the others, a block at a time,
//! and what those add is added for all of them at once.
//!
//! **Invariant.** Documents ascend. Those that are not left are no match, or their bounds stay below what it takes.

use codes::lanes;
use index::{BLOCK, DocId, Field, Lengths};

use super::candidates::Span;
use super::list::{List, Spot};
use super::tables::FULL;
use super::{Judge, Word};

/// Of so many the lengths are read one by one.
const FEW: usize = 32;

/// The documents of a block. What stands side by side begins where a line of the cache does.
#[repr(align(64))]
pub(super) struct Front {
    /// Which of them are left: a bit for each, the lowest for the first.
    pub(super) left: u128,
    /// How many the block has.
    count: usize,
    /// Beyond all where the block has none, unless none is left.
    docs: [u32; BLOCK],
    /// What they are worth so far, about.
    pub(super) scores: [f32; BLOCK],
    /// How long a field of theirs is, of those that were left when it was asked for.
    lengths: [u32; BLOCK],
    field: Option<Field>,
    /// What is known of each list.
    lists: Vec<Known>,
    /// Where those that are looked up are in a block of another list.
    in_block: [u8; BLOCK],
}

/// What is known of the documents in a list, of those that it has.
#[repr(align(64))]
struct Known {
    /// Where they stand among all documents of the list.
    at: [u32; BLOCK],
    /// How often they have the term.
    frequencies: [u32; BLOCK],
    /// Whether that is known of those that are left.
    is_counted: bool,
}

impl Default for Front {
    fn default() -> Front {
        Front {
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

impl Front {
    /// Of a query of so many lists.
    pub(super) fn begin(&mut self, lists: usize) {
        let nothing = || Known { at: [0; BLOCK], frequencies: [0; BLOCK], is_counted: false };
        self.lists.resize_with(self.lists.len().max(lists), nothing);
    }

    /// The documents of a block, which the window is: those that the word adds `wanted` to, or more, if that is asked for.
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
            for (frequency, more) in frequencies.iter_mut().zip(list.more_of(block)) {
                *frequency = more.saturating_add(1);
            }
            self.add(word);
            self.keep(wanted);
        }
    }

    /// Takes the documents of a block, and returns how many they are.
    fn take(&mut self, list: &mut List<'_>, block: usize, span: Span) -> usize {
        let docs = list.block_docs(block);
        let is_inside = |doc: Option<&u32>| doc.is_some_and(|&doc| span.contains(doc));
        if !is_inside(docs.first()) || !is_inside(docs.last()) {
            // Only files that we did not write are so.
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

    /// Adds what they are worth before any question.
    pub(super) fn add_worth(&mut self, span: Span, worth: &impl Fn(u32) -> f32) {
        if span.most > 0.0 {
            lanes::each(self.left, |place| self.scores[place] += worth(self.docs[place]));
        }
    }

    /// Looks those that are left up in a list, and says which have the word. If `least` is given, those that the block of the
    /// list where they would be cannot lift to it are dropped first, and of the others it is found out how often. A table says
    /// which and how often of all at once, and not where they stand.
    pub(super) fn look_up(&mut self, word: &mut Word<'_>, least: Option<f32>) -> u128 {
        let Front { left, docs, scores, lists, in_block, .. } = self;
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
                    // Fewer may come to it than in the whole window.
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
                let more = list.more_of_held();
                lanes::each(there, |place| {
                    let more = more.get(usize::from(in_block[place])).copied().unwrap_or(0);
                    frequencies[place] = more.saturating_add(1);
                });
            }
        }
        found
    }

    /// Drops those that a list has.
    pub(super) fn refuse(&mut self, list: &mut List<'_>) {
        list.rewind();
        let mut ahead = self.left;
        while let Some((block, asked)) = next_block(list, &self.docs, &mut ahead) {
            self.left &= !list.find_in(block, &self.docs, asked, &mut self.in_block);
        }
    }

    /// Finds out how often those that are left, which have a word, have it.
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
            let more = list.more_of(block);
            lanes::each(here, |place| {
                let more = more.get(at[place] as usize % BLOCK).copied().unwrap_or(0);
                frequencies[place] = more.saturating_add(1);
            });
        }
    }

    /// No document is known to have a word any more: [`Front::look_up`] finds those that do.
    pub(super) fn forget(&mut self, word: &Word<'_>) {
        self.lists[word.number].frequencies = [0; BLOCK];
    }

    /// Adds what a word is worth to those that are left, as often as they have it.
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

    /// Makes lengths those of a field.
    fn measure(&mut self, lengths: Lengths<'_>) {
        if self.left.count_ones() as usize <= FEW {
            lanes::each(self.left, |place| {
                self.lengths[place] = lengths.get(DocId(self.docs[place]));
            });
        } else {
            lengths.of(&self.docs[..self.count], &mut self.lengths[..self.count]);
        }
    }

    /// Keeps those that come to `least`.
    #[inline]
    pub(super) fn keep(&mut self, least: f32) {
        self.left &= lanes::reaching(&self.scores, least);
    }

    /// Takes account of what those that are left are worth at least.
    pub(super) fn raise(&self, judge: &mut Judge<'_, '_>) {
        // Of fewer nothing follows.
        if self.left.count_ones() as usize >= judge.best.size() {
            let (mut scores, mut count) = ([0.0; BLOCK], 0);
            lanes::each(self.left, |place| {
                scores[count] = self.scores[place];
                count += 1;
            });
            judge.raise(scores[..count].iter().copied());
        }
    }

    /// The document at a place.
    #[inline]
    pub(super) fn doc(&self, place: usize) -> u32 {
        self.docs[place]
    }

    /// Where the document at a place stands in the list of a word, which it has, and how often if that is known.
    #[inline]
    pub(super) fn spot(&self, word: &Word<'_>, place: usize) -> Spot {
        debug_assert!(word.table.is_none(), "a table does not say where a document stands");
        let Known { at, frequencies, .. } = &self.lists[word.number];
        Spot::at(at[place] as usize, frequencies[place])
    }

    /// The score of the document at a place, which is left, for a word; how often it has that is known.
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

/// The first of those documents that are ahead that are in one block of a list, if they are in it at all, and which block that
/// is; `None` if there are none ahead, or all are behind the last block.
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

/// The last of the places of a block among all documents of its list.
#[inline]
fn last_of(block: usize) -> u32 {
    first_of(block) | (first_of(1) - 1)
}

/// The first of the places of a block among all documents of its list.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a list has fewer than 2^32 documents")]
fn first_of(block: usize) -> u32 {
    (block * BLOCK) as u32
}
