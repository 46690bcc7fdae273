//! Groups of words that must all match: the rarest proposes documents.
//!
//! **Invariant.** A document that is no candidate lacks the rarest group, or is in a window whose bounds stay below what it
//! takes.

use super::candidates::{Rest, Span, complete};
use super::window::width;
use super::workspace::Workspace;
use super::{Judge, Word};

/// A window is as wide as this many postings of the rarest group take.
const POSTINGS: u64 = 128;

pub(super) fn evaluate(groups: &mut [Vec<Word<'_>>], judge: &mut Judge<'_, '_>, work: &mut Workspace) {
    let doc_count = judge.doc_count;
    let costs: Vec<u64> = groups.iter().map(|group| group.iter().map(Word::cost).sum()).collect();
    let mut rarest_first: Vec<usize> = (0..groups.len()).collect();
    rarest_first.sort_by_key(|&at| costs[at]);
    let Some((&driver, others)) = rarest_first.split_first() else { return };
    let wide = width(POSTINGS, costs[driver], doc_count);
    let mut start = 0;
    loop {
        let first = groups[driver].iter_mut().map(|word| word.first_from(start)).min();
        start = first.unwrap_or(u32::MAX);
        if start >= doc_count {
            return;
        }
        let end = start.saturating_add(wide).min(doc_count);
        let most = judge.statics.most(start, end);
        let bound: f32 = groups.iter_mut().flatten().map(|word| word.bound_in(start, end)).sum();
        if bound + most < judge.least {
            start = end;
            continue;
        }
        propose(&mut groups[driver], (start, end), work);
        let mut rest = Rest { groups, left: others, is_required: true };
        complete(&mut rest, Span { start, end, most }, judge, work);
        start = end;
    }
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
