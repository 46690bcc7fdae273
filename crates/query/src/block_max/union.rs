//! Words of which any may match: MaxScore in windows.
//!
//! **Invariant.** A document that is not judged has only words whose bounds stay below what it takes.

use super::window::{choose, width};
use super::workspace::Workspace;
use super::{Judge, Word};

/// A window is as wide as this many postings of essential words take.
const POSTINGS: u64 = 512;

pub(super) fn evaluate(words: &mut [Word<'_>], judge: &mut Judge<'_, '_>, work: &mut Workspace) {
    let Workspace { window, scratch, found, .. } = work;
    let doc_count = judge.doc_count;
    // The least bounds first.
    let mut order: Vec<usize> = (0..words.len()).collect();
    let mut wide = width(POSTINGS, words.iter().map(Word::cost).sum(), doc_count);
    let mut start = 0;
    while start < doc_count {
        let end = start.saturating_add(wide).min(doc_count);
        for word in words.iter_mut() {
            word.bound_in(start, end);
        }
        order.sort_unstable_by(|&a, &b| words[a].bound.total_cmp(&words[b].bound));
        let most = judge.statics.most(start, end);
        let split = split(words, &order, judge.least - most);
        let (optional, essential) = order.split_at(split);
        if essential.is_empty() {
            // The same bounds hold up to the end of a block.
            let until = words.iter().map(Word::bound_until).min().unwrap_or(0);
            start = end.max(until.min(doc_count));
            continue;
        }
        wide = width(POSTINGS, essential.iter().map(|&at| words[at].cost()).sum(), doc_count);
        let rest: f32 = optional.iter().map(|&at| words[at].bound).sum();
        let least = judge.least - most - rest;
        if let [only] = essential
            && words[*only].is_single()
        {
            let docs = words[*only].single_scores(start, end, scratch);
            choose(docs, &scratch.scores, start, least, found);
        } else {
            for &at in essential {
                words[at].add_to(window, start, end, scratch);
            }
            window.drain(least, found);
        }
        for &(distance, score) in &*found {
            complete(words, optional, judge, start + distance, (score, rest));
        }
        start = end;
    }
}

/// How many words, the least bounds first, do not reach `least` together.
fn split(words: &[Word<'_>], order: &[usize], least: f32) -> usize {
    let mut sum = 0.0;
    let reach = order.iter().position(|&at| {
        sum += words[at].bound;
        sum >= least
    });
    reach.unwrap_or(order.len())
}

/// Adds what the optional words are worth, as long as it may help.
fn complete(
    words: &mut [Word<'_>],
    optional: &[usize],
    judge: &mut Judge<'_, '_>,
    doc: u32,
    (mut score, mut rest): (f32, f32),
) {
    score += judge.still(doc);
    for &at in optional.iter().rev() {
        if score + rest < judge.least {
            return;
        }
        rest -= words[at].bound;
        if score + rest + words[at].bound_at(doc) < judge.least {
            return;
        }
        score += words[at].look_up(doc).unwrap_or(0.0);
    }
    if score >= judge.least {
        judge.judge(doc, || words.iter_mut().fold(0.0, |sum, word| sum + word.exactly(doc)));
    }
}
