//! Queries of one list: answered from its champions if the top k must be among them. Otherwise only the blocks
//! that may contain a top document are decoded, the greatest maximum first.
//!
//! **Invariant.** A document that is not judged is below the threshold, by the bound of its block or its own, or
//! below all champions.

use index::{Champions, DocId, Maximum};

use super::workspace::Workspace;
use super::{Judge, Word};

/// Documents that are compared together.
const STRIPE: usize = 32;

/// Saturation keeps the order of documents whose measures differ by a millionth, if their scaled occurrences are
/// at most this multiple of *k1*.
const TOLD_APART: f64 = 1e6;

/// Judges the champions if no other document can be among the top k. Returns whether it did.
pub(super) fn judge_champions(word: &Word<'_>, judge: &mut Judge<'_, '_>) -> bool {
    let is_asked = judge.is_sure()
        && judge.plan.is_none()
        && judge.best.size() <= Champions::COUNT
        && judge.statics.most(0, judge.doc_count) <= 0.0;
    let list = &word.lists[0];
    let Some(exact) = word.exact.filter(|_| is_asked && list.scale().is_own()) else {
        return false;
    };
    let Some(champions) = list.champions() else { return false };
    let (_, k1) = exact.parameters();
    let (exactly, lengths) = (list.exact(), list.lengths());
    let most = champions
        .iter()
        .next()
        .map_or(f64::INFINITY, |one| exactly.scaled(one.frequency, lengths.get(DocId(one.doc))));
    if most > TOLD_APART * k1 {
        return false;
    }
    for one in champions.iter() {
        let length = lengths.get(DocId(one.doc));
        judge.judge(one.doc, || exact.score(exactly.scaled(one.frequency, length)));
    }
    true
}

/// Evaluates a query of one list. `in_order` requires that documents are judged in ascending order.
pub(super) fn evaluate(
    word: &mut Word<'_>,
    judge: &mut Judge<'_, '_>,
    in_order: bool,
    work: &mut Workspace,
) {
    let (saturation, exact) = (word.saturation, word.exact);
    let Word { lists, memo, .. } = word;
    let list = &mut lists[0];
    let (scale, bounds) = (list.scale(), *list.bounds());
    let bound = |maximum: Maximum| saturation.bound(scale.bound(maximum));
    let most = judge.statics.most(0, judge.doc_count);
    let Some(least) = Maximum::least(|maximum| bound(maximum) + most >= judge.least) else {
        return;
    };
    let mut blocks: Vec<(usize, Maximum)> = bounds.reaching(least).collect();
    if !in_order {
        blocks.sort_unstable_by_key(|&(block, maximum)| (std::cmp::Reverse(maximum), block));
    }
    let stop = judge.stop;
    for (block, maximum) in blocks.into_iter().take_while(|_| !stop.is_set()) {
        let bound = bound(maximum);
        if bound + most < judge.least {
            continue;
        }
        let (first, last) = bounds.span(block);
        let near = judge.statics.most(first, last.min(judge.doc_count - 1) + 1);
        if bound + near < judge.least {
            continue;
        }
        let (lengths, exactly) = (list.lengths(), list.exact());
        let (docs, more) = list.block(block);
        work.scratch.lengths.resize(docs.len(), 0);
        lengths.of(docs, &mut work.scratch.lengths);
        let lengths = &work.scratch.lengths[..];
        if judge.least <= 0.0 {
            let score = |(&more, &length): (&u32, &u32)| {
                saturation.of_field(scale, more.saturating_add(1), length)
            };
            judge.raise(more.iter().zip(lengths).map(score));
        }
        let wanted = saturation.inverse(judge.least - near);
        let reaches = |more: u32, length: u32| {
            let (above, below) = scale.fraction(more.saturating_add(1), length);
            above >= wanted * below
        };
        let chunks = docs.chunks(STRIPE).zip(more.chunks(STRIPE)).zip(lengths.chunks(STRIPE));
        for ((docs, more), lengths) in chunks {
            let pairs = || more.iter().zip(lengths);
            if pairs().map(|(&more, &length)| u32::from(reaches(more, length))).sum::<u32>() == 0 {
                continue;
            }
            for (&doc, (&more, &length)) in docs.iter().zip(pairs()) {
                if reaches(more, length) {
                    let frequency = more.saturating_add(1);
                    let scaled = || exactly.scaled(frequency, length);
                    let score = || exact.map_or(0.0, |exact| exact.score(scaled()));
                    judge.judge(doc, || memo.score(frequency, length, score));
                }
            }
        }
    }
}
