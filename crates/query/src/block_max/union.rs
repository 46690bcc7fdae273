//! Words of which any may match: MaxScore in windows.
//!
//! **Invariant.** A document that is no candidate has only words whose bounds stay below what it takes.

use super::candidates::{Rest, Span, complete};
use super::window::{keep, width};
use super::workspace::Workspace;
use super::{Judge, Word};

/// A window is as wide as this many postings of essential words take.
const POSTINGS: u64 = 512;

/// Each group is a word.
pub(super) fn evaluate(groups: &mut [Vec<Word<'_>>], judge: &mut Judge<'_, '_>, work: &mut Workspace) {
    let doc_count = judge.doc_count;
    // The least bounds first; those that are not essential turned around.
    let mut order: Vec<usize> = (0..groups.len()).collect();
    let mut wide = width(POSTINGS, groups.iter().flatten().map(Word::cost).sum(), doc_count);
    let mut start = 0;
    while start < doc_count {
        let end = start.saturating_add(wide).min(doc_count);
        for word in groups.iter_mut().flatten() {
            word.bound_in(start, end);
        }
        order.sort_unstable_by(|&a, &b| groups[a][0].bound.total_cmp(&groups[b][0].bound));
        let most = judge.statics.most(start, end);
        let split = split(groups, &order, judge.least - most);
        let (optional, essential) = order.split_at_mut(split);
        if essential.is_empty() {
            // The same bounds hold up to the end of a block.
            let until = groups.iter().flatten().map(Word::bound_until).min().unwrap_or(0);
            start = end.max(until.min(doc_count));
            continue;
        }
        let words = essential.iter().map(|&at| &groups[at][0]);
        wide = width(POSTINGS, words.map(Word::cost).sum(), doc_count);
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
        optional.reverse();
        let mut rest = Rest { groups, left: optional, is_required: false };
        complete(&mut rest, Span { start, end, most }, judge, work);
        start = end;
    }
}

/// How many words, the least bounds first, do not reach `least` together.
fn split(groups: &[Vec<Word<'_>>], order: &[usize], least: f32) -> usize {
    let mut sum = 0.0;
    let reach = order.iter().position(|&at| {
        sum += groups[at][0].bound;
        sum >= least
    });
    reach.unwrap_or(order.len())
}
