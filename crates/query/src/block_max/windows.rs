//! In which order windows are evaluated: the most promising first.
//!
//! Documents that are alike stand together, since they are in the order of their URLs: a query has its best documents
//! in few windows. Evaluated first, they lift the threshold so much that most others need no look. Those that still do are taken
//! in the order of documents: what was decoded for one often serves the next.
//!
//! **Invariant.** Windows do not overlap, and those that are left out stay below what it takes.
//!
//! J. Mackenzie, M. Petri, A. Moffat, "Anytime ranking on document-ordered indexes", TOIS 2022.

use index::Bounds;

use super::candidates::Span;
use super::window::{WINDOW_MAX, WINDOW_MIN};
use super::{StaticScores, Word};
use crate::Stop;

/// Windows are as many, if there are enough documents.
const WINDOWS: u32 = 256;
/// With fewer postings a window is as wide as some of them take.
const FEW: u64 = 1 << 16;
/// So many.
const POSTINGS: u64 = 512;

/// So many are evaluated first, the most promising first. With 16 OR takes 3 % more on pages, and if all are sorted AND and OR
/// take 1 to 3 % more.
const FIRST: usize = 32;

/// The windows that may hold one of the best.
#[derive(Default)]
pub(super) struct Windows {
    /// For each the bits of the sum of its bounds, reversed so that the greatest is least, and then its number.
    keys: Vec<u64>,
    /// The keys of those that are evaluated before all others, in their order.
    first: Vec<u64>,
    spans: Vec<Span>,
    /// Of each window the bound of every word.
    bounds: Vec<f32>,
    /// Of each window in which block of every list it begins.
    blocks: Vec<usize>,
    /// How many of these there are of each window.
    of_words: usize,
    of_lists: usize,
}

impl Windows {
    /// Makes them windows of one width. What stays below `least` is left out; if nothing can, they are as wide as they may
    /// be.
    pub(super) fn spread(
        &mut self,
        groups: &mut [Vec<Word<'_>>],
        (doc_count, statics): (u32, &StaticScores),
        least: f32,
        stop: &Stop,
    ) {
        self.clear();
        let cost: u64 = groups.iter().flatten().map(Word::cost).sum();
        let wide = if least.is_finite() { wide(cost, doc_count) } else { WINDOW_MAX };
        let mut start = 0;
        while start < doc_count && !stop.is_set() {
            let end = start.saturating_add(wide).min(doc_count);
            let span = Span { start, end, most: statics.most(start, end) };
            self.push(groups.iter_mut().flatten(), None, span, least);
            start = end;
        }
    }

    /// The same, where each window is a block of the list of a word of one list; `push` is told of each.
    pub(super) fn spread_over_blocks(
        &mut self,
        bounds: &Bounds<'_>,
        (doc_count, statics): (u32, &StaticScores),
        stop: &Stop,
        mut push: impl FnMut(&mut Windows, Span, usize),
    ) {
        self.clear();
        let mut start = 0;
        for (block, last) in bounds.last_docs().enumerate().take_while(|_| !stop.is_set()) {
            let end = last.saturating_add(1).min(doc_count);
            if start < end {
                push(self, Span { start, end, most: statics.most(start, end) }, block);
                start = end;
            }
        }
    }

    /// None yet; the memory is kept.
    fn clear(&mut self) {
        self.keys.clear();
        self.first.clear();
        self.spans.clear();
        self.bounds.clear();
        self.blocks.clear();
    }

    /// Puts the most promising first; of those that promise the same, and of all others, in the order of documents.
    pub(super) fn sort(&mut self) {
        self.first.clone_from(&self.keys);
        if self.first.len() > FIRST {
            self.first.select_nth_unstable(FIRST);
            self.first.truncate(FIRST);
        }
        self.first.sort_unstable();
    }

    /// The windows in their order, each by its number and with the sum of its bounds.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, f32)> {
        let last = self.first.last().copied().unwrap_or(0);
        let others = self.keys.iter().filter(move |&&key| key > last);
        self.first.iter().chain(others).map(|&key| {
            #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
            let (bound, number) = (!((key >> 32) as u32), key as u32);
            (number as usize, f32::from_bits(bound))
        })
    }

    /// Appends a window, unless it stays below `least`. `own` is of which of the words it is a block, and which, if it is one.
    #[inline]
    pub(super) fn push<'w, 'a: 'w>(
        &mut self,
        words: impl Iterator<Item = &'w mut Word<'a>>,
        own: Option<(usize, usize)>,
        span: Span,
        least: f32,
    ) {
        let (bounds, blocks) = (self.bounds.len(), self.blocks.len());
        let number = u32::try_from(self.spans.len()).unwrap_or(u32::MAX);
        let mut sum = span.most;
        for (at, word) in words.enumerate() {
            let bound = match own {
                Some((own, block)) if own == at => {
                    self.blocks.push(block);
                    word.bound_of_block(block)
                }
                _ => word.bound_in(span.start, span.end, &mut self.blocks),
            };
            self.bounds.push(bound);
            sum += bound;
        }
        if number == 0 {
            (self.of_words, self.of_lists) = (self.bounds.len(), self.blocks.len());
        }
        if sum >= least {
            // Of numbers that are not negative the greater has the greater bits.
            let bits = !sum.max(0.0).to_bits();
            self.keys.push(u64::from(bits) << 32 | u64::from(number));
            self.spans.push(span);
        } else {
            self.bounds.truncate(bounds);
            self.blocks.truncate(blocks);
        }
    }

    /// Goes to a window.
    pub(super) fn enter<'w, 'a: 'w>(
        &self,
        number: usize,
        words: impl Iterator<Item = &'w mut Word<'a>>,
    ) -> Span {
        let mut bounds = self.bounds[number * self.of_words..].iter();
        let mut blocks = self.blocks[number * self.of_lists..].iter().copied();
        for word in words {
            word.enter(bounds.next().copied().unwrap_or(f32::INFINITY), &mut blocks);
        }
        self.spans[number]
    }
}

/// How wide windows are.
fn wide(cost: u64, doc_count: u32) -> u32 {
    if cost < FEW {
        let documents = POSTINGS * u64::from(doc_count) / cost.max(1);
        u32::try_from(documents).unwrap_or(u32::MAX).clamp(WINDOW_MIN, WINDOW_MAX)
    } else {
        (doc_count / WINDOWS).clamp(WINDOW_MIN, WINDOW_MAX)
    }
}
