//! Words of one list each that must all match: a window is a block of the rarest. Others may follow (`intersection.rs`).
//!
//! Its documents are looked up in the other lists, the rarest first, a block at a time. Where what the rarest adds decides
//! on many of them, only those that may be among the best are; elsewhere those that have all words are found first and
//! scored then (`front.rs`). Where nothing but words is asked for, they are judged here as well.
//!
//! **Invariant.** A document of the window that is not left lacks a word, or its bounds stay below what it takes.

use codes::lanes;

use super::candidates::Span;
use super::front::Front;
use super::intersection::{Matches, bound};
use super::{Judge, Word};

/// What the rarest word must add, of what it may at most, for a look at that to come first. With 0.5 AND takes 2 % more, with
/// 0.1 on shorter documents as well.
const TIGHT: f32 = 0.25;

/// Finds the documents of a block, which the window is, that have all words and come to `least`, if that is asked for.
/// `worth` is what a document is worth before any question.
pub(super) fn evaluate(
    groups: &mut [Vec<Word<'_>>],
    rarest_first: &[usize],
    span: Span,
    least: Option<f32>,
    worth: impl Fn(u32) -> f32,
    front: &mut Front,
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

/// Scores those that have all words; keeps those that may come to `least`.
fn score(groups: &mut [Vec<Word<'_>>], rarest_first: &[usize], least: f32, front: &mut Front) {
    let mut rest: f32 = rarest_first.iter().map(|&at| bound(&groups[at])).sum();
    for &at in rarest_first {
        let word = &mut groups[at][0];
        rest -= word.bound;
        front.count(word);
        front.add(word);
        front.keep(least - rest.max(0.0));
    }
}

/// Makes matches of those that are left.
pub(super) fn hand_over(
    groups: &[Vec<Word<'_>>],
    rarest_first: &[usize],
    is_scored: bool,
    front: &Front,
    matches: &mut Matches,
) {
    lanes::each(front.left, |place| {
        matches.docs.push(front.doc(place));
        matches.scores.push(front.scores[place]);
    });
    matches.spread();
    for &at in rarest_first {
        let word = &groups[at][0];
        let spots = &mut matches.spots[word.number];
        spots.clear();
        lanes::each(front.left, |place| {
            let spot = front.spot(word, place);
            spots.push(if is_scored { spot } else { spot.uncounted() });
        });
    }
}

/// Judges those that are left, where nothing but words is asked for.
pub(super) fn settle(
    groups: &mut [Vec<Word<'_>>],
    is_scored: bool,
    span: Span,
    judge: &mut Judge<'_, '_>,
    front: &mut Front,
) {
    for list in &mut judge.unwanted {
        list.go_to(span.start);
        front.refuse(list);
    }
    if front.left == 0 {
        return;
    }
    if is_scored {
        front.raise(judge);
    } else {
        groups.iter_mut().flatten().for_each(|word| front.count(word));
    }
    lanes::each(front.left, |place| {
        if is_scored && front.scores[place] < judge.least {
            return;
        }
        judge.judge_words(front.doc(place), |at| front.exactly(&mut groups[at][0], place));
    });
}
