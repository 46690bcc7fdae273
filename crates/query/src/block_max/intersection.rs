//! Groups of words that must all match: the rarest proposes documents.
//!
//! **Invariant.** A document that is no candidate lacks the rarest group, or is in a window whose bounds stay below what it
//! takes.

use super::candidates::{Rest, Span, complete};
use super::workspace::Workspace;
use super::{Judge, Word};

/// Evaluates a window; the groups are in the order of `rarest_first`, and their bounds are known.
pub(super) fn evaluate(
    groups: &mut [Vec<Word<'_>>],
    rarest_first: &[usize],
    span: Span,
    judge: &mut Judge<'_, '_>,
    work: &mut Workspace,
) {
    let Some((&driver, others)) = rarest_first.split_first() else { return };
    propose(&mut groups[driver], (span.start, span.end), work);
    let mut rest = Rest { groups, left: others, is_required: true };
    complete(&mut rest, span, judge, work);
}

/// The order in which groups are added.
pub(super) fn rarest_first(groups: &[Vec<Word<'_>>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&at| groups[at].iter().map(Word::cost).sum::<u64>());
    order
}

/// The documents of a window that have any word of a group, with what its words add.
fn propose(group: &mut [Word<'_>], (start, end): (u32, u32), work: &mut Workspace) {
    let Workspace { window, scratch, found, .. } = work;
    if let [word] = group
        && word.is_single()
    {
        found.clear();
        let docs = word.single_scores(start, end, scratch);
        found.extend(docs.iter().zip(&scratch.scores).map(|(&doc, &score)| (doc - start, score)));
        return;
    }
    for word in group {
        word.add_to(window, start, end, scratch);
    }
    window.drain(0.0, found);
}
