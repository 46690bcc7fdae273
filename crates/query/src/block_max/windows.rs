//! In which order windows are evaluated: the most promising first.
//!
//! Documents that are alike stand together, since they are in the order of their URLs: a query has its best documents
//! in few windows. Evaluated first, they lift the threshold so much that most others need no look.
//!
//! **Invariant.** Windows do not overlap, and those that are left out stay below what it takes.
//!
//! J. Mackenzie, M. Petri, A. Moffat, "Anytime ranking on document-ordered indexes", TOIS 2022.

use super::candidates::Span;
use super::window::{WINDOW_MAX, WINDOW_MIN};
use super::{StaticScores, Word};

/// Windows are as many, if there are enough documents.
const WINDOWS: u32 = 256;
/// With fewer postings it is not worth while to look for the most promising.
const FEW: u64 = 1 << 16;
/// Then a window is as wide as this many postings take.
const POSTINGS: u64 = 512;

/// The windows that may hold one of the best.
pub(super) struct Windows {
    /// In the order in which they are evaluated: each with its number and the sum of its bounds.
    pub(super) order: Vec<(usize, f32)>,
    /// Whether the most promising come first.
    pub(super) is_sorted: bool,
    /// Whether there is much to be saved.
    is_costly: bool,
    spans: Vec<Span>,
    /// Of each window the bound of every word.
    bounds: Vec<f32>,
    /// Of each window in which block of every list it begins.
    blocks: Vec<usize>,
}

impl Windows {
    /// Of groups that must all match `driver` is the rarest. What stays below `least` is left out;
    /// if nothing can, windows are as wide as they may be.
    pub(super) fn new(
        groups: &mut [Vec<Word<'_>>],
        driver: Option<usize>,
        (doc_count, statics): (u32, &StaticScores),
        least: f32,
    ) -> Windows {
        let cost: u64 = groups.iter().flatten().map(Word::cost).sum();
        let short = driver.and_then(|driver| match &groups[driver][..] {
            [word] => word.short(),
            _ => None,
        });
        let mut docs = short.unwrap_or_default().to_vec().into_iter();
        let is_short = short.is_some();
        let wide = if least.is_finite() { wide(cost, doc_count, is_short) } else { WINDOW_MAX };
        let mut windows = Windows {
            order: Vec::new(),
            is_sorted: false,
            is_costly: cost >= FEW,
            spans: Vec::new(),
            bounds: Vec::new(),
            blocks: Vec::new(),
        };
        let mut start = if is_short { docs.next().unwrap_or(doc_count) } else { 0 };
        while start < doc_count {
            let end = start.saturating_add(wide).min(doc_count);
            windows.push(groups, Span { start, end, most: statics.most(start, end) }, least);
            start = if is_short { docs.find(|&doc| doc >= end).unwrap_or(doc_count) } else { end };
        }
        windows
    }

    /// Puts the most promising first, if it is worth while.
    pub(super) fn sort(&mut self) {
        if self.is_costly {
            self.order.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
            self.is_sorted = true;
        }
    }

    fn push(&mut self, groups: &mut [Vec<Word<'_>>], span: Span, least: f32) {
        let (bounds, blocks) = (self.bounds.len(), self.blocks.len());
        let mut sum = span.most;
        for group in groups {
            for word in group {
                let bound = word.bound_in(span.start, span.end, &mut self.blocks);
                self.bounds.push(bound);
                sum += bound;
            }
        }
        if sum >= least {
            self.order.push((self.spans.len(), sum));
            self.spans.push(span);
        } else {
            self.bounds.truncate(bounds);
            self.blocks.truncate(blocks);
        }
    }

    /// Goes to a window.
    pub(super) fn enter(&self, number: usize, groups: &mut [Vec<Word<'_>>]) -> Span {
        let (words, lists) =
            (self.bounds.len() / self.spans.len(), self.blocks.len() / self.spans.len());
        let mut bounds = self.bounds[number * words..].iter();
        let mut blocks = self.blocks[number * lists..].iter().copied();
        for word in groups.iter_mut().flatten() {
            word.enter(bounds.next().copied().unwrap_or(f32::INFINITY), &mut blocks);
        }
        self.spans[number]
    }
}

/// How wide windows are.
fn wide(cost: u64, doc_count: u32, is_short: bool) -> u32 {
    if is_short {
        WINDOW_MAX
    } else if cost < FEW {
        let documents = POSTINGS * u64::from(doc_count) / cost.max(1);
        u32::try_from(documents).unwrap_or(u32::MAX).clamp(WINDOW_MIN, WINDOW_MAX)
    } else {
        (doc_count / WINDOWS).clamp(WINDOW_MIN, WINDOW_MAX)
    }
}
