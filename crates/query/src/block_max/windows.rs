//! The order of windows: the greatest upper bound first.
//!
//! Documents are sorted by URL, so similar documents are neighbours and the best documents of a query are in few
//! windows. These windows come first and raise the threshold enough to skip most others. The others follow in the
//! order of documents, because a decoded block often serves the next window.
//!
//! **Invariant.** Windows do not overlap. The bounds of skipped windows are below the threshold.
//!
//! J. Mackenzie, M. Petri, A. Moffat, "Anytime ranking on document-ordered indexes", TOIS 2022.

use index::Bounds;

use super::candidates::Span;
use super::window::{WINDOW_MAX, WINDOW_MIN};
use super::{StaticScores, Word};
use crate::Stop;

/// Target number of windows.
const WINDOWS: u32 = 256;
/// With fewer postings, the width of a window follows from its number of postings.
const FEW: u64 = 1 << 16;
/// Target number of postings in such a window.
const POSTINGS: u64 = 512;

/// Number of windows that are sorted by their bounds. With 16, OR takes 3 % more time on pages. If all are sorted,
/// AND and OR take 1 to 3 % more.
const FIRST: usize = 32;

/// The windows that may contain a top document.
#[derive(Default)]
pub(super) struct Windows {
    /// A key per window: the complement of the bits of its bound, then its number. Keys ascend with falling bounds.
    keys: Vec<u64>,
    /// The keys of the windows that come first, sorted.
    first: Vec<u64>,
    spans: Vec<Span>,
    /// For each window, the bound of every word.
    bounds: Vec<f32>,
    /// For each window, its first block in every list.
    blocks: Vec<usize>,
    /// Number of bounds and of blocks per window.
    of_words: usize,
    of_lists: usize,
}

impl Windows {
    /// Makes windows of equal width and skips those below `least`. If no window can be skipped, they have the
    /// maximum width.
    pub(super) fn split_evenly(
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

    /// Makes windows of the blocks of one list. Calls `push` for each.
    pub(super) fn split_by_blocks(
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

    /// Removes all windows and keeps the memory.
    fn clear(&mut self) {
        self.keys.clear();
        self.first.clear();
        self.spans.clear();
        self.bounds.clear();
        self.blocks.clear();
    }

    /// Sorts the first windows by falling bound. Ties and the other windows are in the order of documents.
    pub(super) fn sort(&mut self) {
        self.first.clone_from(&self.keys);
        if self.first.len() > FIRST {
            self.first.select_nth_unstable(FIRST);
            self.first.truncate(FIRST);
        }
        self.first.sort_unstable();
    }

    /// The numbers and bounds of the windows, in the order of evaluation.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, f32)> {
        let last = self.first.last().copied().unwrap_or(0);
        let others = self.keys.iter().filter(move |&&key| key > last);
        self.first.iter().chain(others).map(|&key| {
            #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
            let (bound, number) = (!((key >> 32) as u32), key as u32);
            (number as usize, f32::from_bits(bound))
        })
    }

    /// Appends a window unless its bound is below `least`. `own` is a word and its block, if the window is that
    /// block.
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
            // The bits of non-negative floats have the order of the floats.
            let bits = !sum.max(0.0).to_bits();
            self.keys.push(u64::from(bits) << 32 | u64::from(number));
            self.spans.push(span);
        } else {
            self.bounds.truncate(bounds);
            self.blocks.truncate(blocks);
        }
    }

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

fn wide(cost: u64, doc_count: u32) -> u32 {
    if cost < FEW {
        let documents = POSTINGS * u64::from(doc_count) / cost.max(1);
        u32::try_from(documents).unwrap_or(u32::MAX).clamp(WINDOW_MIN, WINDOW_MAX)
    } else {
        (doc_count / WINDOWS).clamp(WINDOW_MIN, WINDOW_MAX)
    }
}
