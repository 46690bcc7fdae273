//! Disjunctions: `MaxScore` in windows. `cascade.rs` handles a few words of one list each.
//!
//! **Invariant.** The words of a document that is no candidate have bounds whose sum is below the threshold.

use super::candidates::{RemainingWords, Span, complete};
use super::window::keep;
use super::workspace::Workspace;
use super::{Collector, Word};

/// Evaluates a window. The bounds of the words must be known.
pub(super) fn evaluate(
    words: &mut [Word<'_>],
    span: Span,
    collector: &mut Collector<'_, '_>,
    work: &mut Workspace,
) {
    let Span { start, end, most } = span;
    // By increasing bound.
    let mut order: Vec<usize> = (0..words.len()).collect();
    order.sort_unstable_by(|&a, &b| words[a].bound.total_cmp(&words[b].bound));
    let split = optional(order.iter().map(|&at| words[at].bound), collector.least - most);
    let (optional, essential) = order.split_at_mut(split);
    let rest: f32 = optional.iter().map(|&at| words[at].bound).sum();
    let least = collector.least - most - rest;
    let Workspace { window, scratch, found, .. } = &mut *work;
    if let [only] = *essential
        && words[only].is_single()
    {
        let docs = words[only].single_scores(start, end, scratch);
        found.clear();
        found.extend(docs.iter().zip(&scratch.scores).map(|(&doc, &score)| (doc - start, score)));
        keep(found, |&mut (_, score)| score >= least);
    } else {
        for &at in &*essential {
            words[at].add_to(window, start, end, scratch);
        }
        window.drain(least, found);
    }
    collector.raise_floor(work.found.iter().map(|&(_, score)| score));
    // The word with the greatest bound comes first.
    optional.reverse();
    complete(&mut RemainingWords { words, left: optional }, span, collector, work);
}

/// Returns the number of non-essential words: the longest prefix whose bounds add up to less than `least`. Bounds
/// must ascend.
pub(super) fn optional(bounds: impl Iterator<Item = f32>, least: f32) -> usize {
    let mut sum = 0.0;
    let below = bounds.take_while(|bound| {
        sum += bound;
        sum < least
    });
    below.count()
}
