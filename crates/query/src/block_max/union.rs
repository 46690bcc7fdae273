//! Words of which any may match: `MaxScore` in windows. A few words of one list each go another way (`cascade.rs`).
//!
//! **Invariant.** A document that is no candidate has only words whose bounds stay below what it takes.

use super::candidates::{Rest, Span, complete};
use super::window::keep;
use super::workspace::Workspace;
use super::{Judge, Word};

/// Evaluates a window. Each group is a word, and its bound is known.
pub(super) fn evaluate(
    groups: &mut [Vec<Word<'_>>],
    span: Span,
    judge: &mut Judge<'_, '_>,
    work: &mut Workspace,
) {
    let Span { start, end, most } = span;
    // The least bounds first.
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_unstable_by(|&a, &b| groups[a][0].bound.total_cmp(&groups[b][0].bound));
    let split = optional(order.iter().map(|&at| groups[at][0].bound), judge.least - most);
    let (optional, essential) = order.split_at_mut(split);
    let rest: f32 = optional.iter().map(|&at| groups[at][0].bound).sum();
    let least = judge.least - most - rest;
    let Workspace { window, scratch, found, .. } = &mut *work;
    if let [only] = *essential
        && groups[only][0].is_single()
    {
        let docs = groups[only][0].single_scores(start, end, scratch);
        found.clear();
        found.extend(docs.iter().zip(&scratch.scores).map(|(&doc, &score)| (doc - start, score)));
        keep(found, |&mut (_, score)| score >= least);
    } else {
        for &at in &*essential {
            groups[at][0].add_to(window, start, end, scratch);
        }
        window.drain(least, found);
    }
    judge.raise(work.found.iter().map(|&(_, score)| score));
    // What is worth most comes first.
    optional.reverse();
    let mut rest = Rest { groups, left: optional };
    complete(&mut rest, span, judge, work);
}

/// How many words, of which these are the bounds, the least first, do not reach `least` together.
pub(super) fn optional(bounds: impl Iterator<Item = f32>, least: f32) -> usize {
    let mut sum = 0.0;
    let below = bounds.take_while(|bound| {
        sum += bound;
        sum < least
    });
    below.count()
}
