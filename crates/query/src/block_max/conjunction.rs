//! Words of one list each that must all match: a window is a block of the rarest.
//!
//! Its documents are looked up in the other lists, the rarest first, a block at a time. Where what the rarest adds decides
//! on many of them, only those that may be among the best are; elsewhere those that have all words are found first and
//! scored then. What is known of those that are left stands side by side, so that loops over it are short. Where
//! nothing but words is asked for, they are judged here as well.
//!
//! **Invariant.** A document of the window that is not left lacks a word, or its bounds stay below what it takes.

use index::BLOCK;

use super::candidates::Span;
use super::front::Front;
use super::intersection::{Matches, bound};
use super::list::{Run, Spot};
use super::workspace::Workspace;
use super::{Judge, Word};

/// What the rarest word must add, of what it may at most, for a look at that to come first.
const TIGHT: f32 = 0.5;

/// Makes matches of the documents of a block, which the window is, that have all words and come to `least`, if that is asked
/// for. `worth` is what a document is worth before any question.
pub(super) fn evaluate(
    groups: &mut [Vec<Word<'_>>],
    rarest_first: &[usize],
    span: Span,
    least: Option<f32>,
    worth: impl Fn(u32) -> f32,
    work: &mut Workspace,
) {
    let Some((&driver, others)) = rarest_first.split_first() else { return };
    let mut rest: f32 = others.iter().map(|&at| bound(&groups[at])).sum();
    let wanted = least.map(|least| least - span.most - rest);
    let first = wanted.filter(|&wanted| wanted >= TIGHT * groups[driver][0].bound);
    work.front.propose(&mut groups[driver][0], span, first, &mut work.scratch);
    if first.is_some() {
        work.front.add_worth(span, &worth);
    }
    let mut field = groups[driver][0].lists[0].field;
    for &at in others {
        if work.front.count == 0 {
            return;
        }
        let word = &mut groups[at][0];
        rest -= word.bound;
        let least = least.filter(|_| first.is_some());
        if least.is_some() && word.lists[0].field != field {
            field = word.lists[0].field;
            work.front.measure(word.lists[0].lengths());
        }
        narrow(word, least.map(|least| least - rest.max(0.0)), work);
    }
    tell_places(&mut groups[driver][0], first.is_some(), work);
    if let (None, Some(least)) = (first, least) {
        score(groups, rarest_first, least - span.most, work);
        work.front.add_worth(span, &worth);
    }
    let Workspace { front, matches, .. } = work;
    let Matches { docs, scores, spots, left } = matches;
    docs.extend_from_slice(&front.docs[..front.count]);
    scores.extend_from_slice(&front.scores[..front.count]);
    left.extend((0..).take(front.count));
    for &at in rarest_first {
        let spots = &mut spots[groups[at][0].number];
        for (place, &tag) in front.tags[..front.count].iter().enumerate() {
            spots[place] = spots[usize::from(tag)];
        }
    }
}

/// Says where those that are left stand in the list of the rarest word, whose block is the window; and how often, if that is
/// asked for.
fn tell_places(word: &mut Word<'_>, with_frequency: bool, work: &mut Workspace) {
    let Workspace { front, matches, .. } = work;
    let spots = matches.room_for_block(word.number);
    let list = &mut word.lists[0];
    let block = list.first_block();
    let more = if with_frequency { list.more_of(block) } else { &[] };
    for &tag in &front.tags[..front.count] {
        let place = usize::from(tag);
        let frequency = more.get(place).map_or(0, |more| more.saturating_add(1));
        spots[place] = Spot::at(block * BLOCK + place, frequency);
    }
}

/// Keeps those that are in a list, and come to `least` with it, if that is asked for.
fn narrow(word: &mut Word<'_>, least: Option<f32>, work: &mut Workspace) {
    let Workspace { front, matches, places, .. } = work;
    let (saturation, number, list) = (word.saturation, word.number, &mut word.lists[0]);
    let scale = list.scale();
    let spots = matches.room_for_block(number);
    list.rewind();
    let (mut from, mut kept) = (0, 0);
    while let Some(Run { len, block }) = list.run(&front.docs[from..front.count], |doc| doc) {
        let start = from;
        from += len;
        let mut end = from;
        if let Some(least) = least {
            let tight = saturation.bound(list.block_bound(block));
            if tight < word.bound {
                // Fewer may come to it than in the whole window.
                end = front.keep(start..from, start, least - tight);
                if end == start {
                    continue;
                }
            }
        }
        let Front { docs, scores, tags, lengths, in_block, .. } = &mut *front;
        let mut found = list.find_in(block, &docs[start..end], places, in_block);
        if found == 0 {
            continue;
        }
        let more = if least.is_some() { list.more_of_held() } else { &[] };
        while found != 0 {
            let at = found.trailing_zeros() as usize;
            found &= found - 1;
            let place = usize::from(in_block[at]);
            let at = start + at;
            let tag = usize::from(tags[at]);
            (docs[kept], tags[kept]) = (docs[at], tags[at]);
            let Some(least) = least else {
                spots[tag] = Spot::at(block * BLOCK + place, 0);
                kept += 1;
                continue;
            };
            let frequency = more[place].saturating_add(1);
            let score = scores[at] + saturation.of_field(scale, frequency, lengths[tag]);
            spots[tag] = Spot::at(block * BLOCK + place, frequency);
            scores[kept] = score;
            kept += usize::from(score >= least);
        }
    }
    front.count = kept;
}

/// Scores those that have all words; keeps those that may come to `least`.
fn score(groups: &mut [Vec<Word<'_>>], rarest_first: &[usize], least: f32, work: &mut Workspace) {
    let Workspace { front, matches, .. } = work;
    let mut rest: f32 = rarest_first.iter().map(|&at| bound(&groups[at])).sum();
    let mut field = None;
    front.scores[..front.count].fill(0.0);
    for &at in rarest_first {
        let word = &mut groups[at][0];
        rest -= word.bound;
        let (saturation, number, list) = (word.saturation, word.number, &mut word.lists[0]);
        let scale = list.scale();
        if field != Some(list.field) {
            field = Some(list.field);
            front.measure(list.lengths());
        }
        let Front { count, docs, scores, tags, lengths, .. } = &mut *front;
        let spots = &mut matches.spots[number][..];
        let wanted = least - rest.max(0.0);
        let (mut at, mut kept) = (0, 0);
        while at < *count {
            let block = spots[usize::from(tags[at])].block();
            let more = list.more_of(block.unwrap_or(0));
            while at < *count {
                let tag = usize::from(tags[at]);
                let spot = &mut spots[tag];
                if spot.block() != block {
                    break;
                }
                spot.frequency = more.get(spot.place()).map_or(1, |more| more.saturating_add(1));
                let score = scores[at] + saturation.of_field(scale, spot.frequency, lengths[tag]);
                (docs[kept], tags[kept], scores[kept]) = (docs[at], tags[at], score);
                kept += usize::from(score >= wanted);
                at += 1;
            }
        }
        *count = kept;
    }
}

/// Judges the matches that are left, where nothing but words is asked for. Scores are added up as everywhere: those of the
/// words of a unit, then those of the units, in the order of the query.
pub(super) fn settle(
    groups: &mut [Vec<Word<'_>>],
    is_scored: bool,
    judge: &mut Judge<'_, '_>,
    matches: &Matches,
) {
    let shape = judge.shape;
    for &place in &matches.left {
        let place = place as usize;
        if is_scored && matches.scores[place] < judge.least {
            continue;
        }
        let doc = matches.docs[place];
        let of_word = |group: &mut Vec<Word<'_>>| {
            let word = &mut group[0];
            word.lists[0].found = matches.spots[word.number][place];
            word.lists[0].complete_found();
            word.exactly_found(doc)
        };
        judge.judge(doc, || {
            let of_units = shape.units.iter().map(|unit| {
                groups[unit.clone()].iter_mut().map(of_word).fold(0.0, |sum, score| sum + score)
            });
            of_units.fold(0.0, |sum, of_unit| sum + of_unit)
        });
    }
}
