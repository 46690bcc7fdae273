//! Queries of one list: answered from its champions if the top k must be among them. Otherwise only the blocks
//! that may contain a top document are decoded, the greatest maximum first.
//!
//! **Invariant.** A document that is not judged is below the threshold, by the bound of its block or its own, or
//! below all champions.

use index::{Champions, DocId, Maximum};

use super::workspace::Workspace;
use super::{Collector, Word};

/// Documents that are compared together.
const STRIPE: usize = 32;

/// Saturation keeps the order of documents whose measures differ by a millionth, if their scaled occurrences are
/// at most this multiple of *k1*.
const TOLD_APART: f64 = 1e6;

/// Judges the champions if no other document can be among the top k. Returns whether it did.
pub(super) fn judge_champions(word: &Word<'_>, collector: &mut Collector<'_, '_>) -> bool {
    let is_asked = collector.is_sure()
        && collector.plan.is_none()
        && collector.best.size() <= Champions::COUNT
        && collector.statics.most(0, collector.doc_count) <= 0.0;
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
        collector.collect(one.doc, || exact.score(exactly.scaled(one.frequency, length)));
    }
    true
}

/// Evaluates a query of one list. `in_order` requires that documents are judged in ascending order.
pub(super) fn evaluate(
    word: &mut Word<'_>,
    collector: &mut Collector<'_, '_>,
    in_order: bool,
    work: &mut Workspace,
) {
    let (saturation, exact) = (word.saturation, word.exact);
    let Word { lists, memo, .. } = word;
    let list = &mut lists[0];
    let (scale, bounds) = (list.scale(), *list.bounds());
    let bound = |maximum: Maximum| saturation.bound(scale.bound(maximum));
    let most = collector.statics.most(0, collector.doc_count);
    let Some(least) = Maximum::least(|maximum| bound(maximum) + most >= collector.least) else {
        return;
    };
    let mut blocks: Vec<(usize, Maximum)> = bounds.reaching(least).collect();
    if !in_order {
        blocks.sort_unstable_by_key(|&(block, maximum)| (std::cmp::Reverse(maximum), block));
    }
    let stop = collector.stop;
    for (block, maximum) in blocks.into_iter().take_while(|_| !stop.is_set()) {
        let bound = bound(maximum);
        if bound + most < collector.least {
            continue;
        }
        let (first, last) = bounds.span(block);
        let near = collector.statics.most(first, last.min(collector.doc_count - 1) + 1);
        if bound + near < collector.least {
            continue;
        }
        let (lengths, exactly) = (list.lengths(), list.exact());
        let (docs, tf_minus_one) = list.block(block);
        work.scratch.lengths.resize(docs.len(), 0);
        lengths.of(docs, &mut work.scratch.lengths);
        let lengths = &work.scratch.lengths[..];
        if collector.least <= 0.0 {
            let score = |(&tf_minus_one, &length): (&u32, &u32)| {
                saturation.of_field(scale, tf_minus_one.saturating_add(1), length)
            };
            collector.raise_floor(tf_minus_one.iter().zip(lengths).map(score));
        }
        let wanted = saturation.inverse(collector.least - near);
        let reaches = |tf_minus_one: u32, length: u32| {
            let (above, below) = scale.fraction(tf_minus_one.saturating_add(1), length);
            above >= wanted * below
        };
        let chunks =
            docs.chunks(STRIPE).zip(tf_minus_one.chunks(STRIPE)).zip(lengths.chunks(STRIPE));
        for ((docs, tf_minus_one), lengths) in chunks {
            let pairs = || tf_minus_one.iter().zip(lengths);
            if pairs()
                .map(|(&tf_minus_one, &length)| u32::from(reaches(tf_minus_one, length)))
                .sum::<u32>()
                == 0
            {
                continue;
            }
            for (&doc, (&tf_minus_one, &length)) in docs.iter().zip(pairs()) {
                if reaches(tf_minus_one, length) {
                    let frequency = tf_minus_one.saturating_add(1);
                    let scaled = || exactly.scaled(frequency, length);
                    let score = || exact.map_or(0.0, |exact| exact.score(scaled()));
                    collector.collect(doc, || memo.score(frequency, length, score));
                }
            }
        }
    }
}
