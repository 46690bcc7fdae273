//! Conjunctions of words with one list each: a window is a block of the rarest list. `intersection.rs` adds other
//! groups.
//!
//! The documents of the block are looked up in the other lists, the rarest first, a block at a time. If a high
//! score for the rarest word is necessary, the documents are scored and pruned first. Otherwise documents with all
//! words are found first and scored afterwards (`block_candidates.rs`). Queries without other groups are judged here as well.
//!
//! **Invariant.** A document of the window that is dropped lacks a word, or its upper bound is below the threshold.

use codes::lanes;

use super::block_candidates::BlockCandidates;
use super::candidates::Span;
use super::intersection::{Matches, bound};
use super::{Collector, Word};

/// Least share of its bound that the rarest word must contribute for scoring to come first. With 0.5, AND takes 2
/// % more time; with 0.1 it also takes more on shorter documents.
const TIGHT: f32 = 0.25;

/// Finds the documents of a block that have all words and reach `least`, if given. The window is this block.
/// `worth` gives the static score of a document.
pub(super) fn evaluate(
    groups: &mut [Vec<Word<'_>>],
    rarest_first: &[usize],
    span: Span,
    least: Option<f32>,
    worth: impl Fn(u32) -> f32,
    front: &mut BlockCandidates,
) {
    let Some((&driver, others)) = rarest_first.split_first() else { return };
    let mut rest: f32 = others.iter().map(|&at| bound(&groups[at])).sum();
    let wanted = least.map(|least| least - span.most - rest);
    let first = wanted.filter(|&wanted| wanted >= TIGHT * groups[driver][0].bound);
    front.propose(&mut groups[driver][0], span, first);
    if first.is_some() {
        front.add_worth(span, &worth);
    }
    for &at in others {
        if front.left == 0 {
            return;
        }
        let word = &mut groups[at][0];
        rest -= word.bound;
        let least = least.filter(|_| first.is_some()).map(|least| least - rest.max(0.0));
        let found = front.look_up(word, least);
        front.left &= found;
        if let Some(least) = least {
            front.add(word);
            front.keep(least);
        }
    }
    if let (None, Some(least)) = (first, least) {
        score(groups, rarest_first, least - span.most, front);
        front.add_worth(span, &worth);
    }
}

/// Scores the documents that have all words and keeps those that may reach `least`.
fn score(
    groups: &mut [Vec<Word<'_>>],
    rarest_first: &[usize],
    least: f32,
    front: &mut BlockCandidates,
) {
    let mut rest: f32 = rarest_first.iter().map(|&at| bound(&groups[at])).sum();
    for &at in rarest_first {
        let word = &mut groups[at][0];
        rest -= word.bound;
        front.count(word);
        front.add(word);
        front.keep(least - rest.max(0.0));
    }
}

/// Copies the remaining documents to `matches`.
pub(super) fn hand_over(front: &BlockCandidates, matches: &mut Matches) {
    lanes::each(front.left, |place| {
        matches.docs.push(front.doc(place));
        matches.scores.push(front.scores[place]);
    });
    matches.keep_all();
}

/// Judges the remaining documents of a query whose words have one list each.
pub(super) fn settle(
    groups: &mut [Vec<Word<'_>>],
    is_scored: bool,
    span: Span,
    collector: &mut Collector<'_, '_>,
    front: &mut BlockCandidates,
) {
    for list in collector.unwanted.iter_mut() {
        list.go_to(span.start);
        front.refuse(list);
    }
    if front.left == 0 {
        return;
    }
    if is_scored {
        front.raise_floor(collector);
    } else {
        groups.iter_mut().flatten().for_each(|word| front.count(word));
    }
    lanes::each(front.left, |place| {
        if is_scored && front.scores[place] < collector.least {
            return;
        }
        let words = groups.iter_mut().flatten();
        collector.collect(front.doc(place), || {
            words.fold(0.0, |sum, word| sum + front.exactly(word, place))
        });
    });
}
