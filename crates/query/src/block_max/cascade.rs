//! Words of one list each, of which any may match: one after the other proposes documents.
//!
//! The word that may add most comes first. Its documents that may be among the best are looked up in the lists of all others,
//! a block of its own at a time. Then the next one proposes its documents; those that have a word before were judged, and
//! what the others may reach is less by what that adds. Once the words that are left do not reach what it takes together, no
//! other document can be among the best (`MaxScore`).
//!
//! **Invariant.** A document is judged once, for the first of its words; one that is not judged stays below what it takes.

use index::BLOCK;

use super::candidates::Span;
use super::front::Front;
use super::list::Run;
use super::windows::Windows;
use super::workspace::Workspace;
use super::{Judge, Word};

/// More words than so many are added up in windows (`union.rs`): here each may be looked up for each of the others.
pub(super) const WORDS_MAX: usize = 16;

/// Evaluates all words.
pub(super) fn evaluate(
    words: &mut [Word<'_>],
    windows: &mut Windows,
    judge: &mut Judge<'_, '_>,
    work: &mut Workspace,
) {
    let most_of = |word: &mut Word<'_>| word.saturation.bound(word.lists[0].greatest_bound());
    let mut most: Vec<f32> = words.iter_mut().map(most_of).collect();
    words.sort_by(|a, b| most[b.number].total_cmp(&most[a.number]));
    most.sort_by(|a, b| b.total_cmp(a));
    let still = judge.statics.most(0, judge.doc_count);
    work.front.frequencies.resize(words.len(), [0; BLOCK]);
    for first in 0..words.len() {
        if most[first..].iter().sum::<f32>() + still < judge.least {
            return;
        }
        let (before, words) = words.split_at_mut(first);
        for word in &mut *words {
            word.lists[0].enter(0);
        }
        let bounds = *words[0].lists[0].bounds();
        let segment = (judge.doc_count, judge.statics);
        windows.spread_over_blocks(&bounds, segment, |windows, span| {
            windows.push(words.iter_mut(), span, judge.least);
        });
        windows.sort();
        for &(number, bound) in &windows.order {
            if bound < judge.least {
                break;
            }
            let span = windows.enter(number, words.iter_mut());
            propose(words, span, judge, work);
            settle(before, words, judge, &mut work.front);
        }
    }
}

/// Finds those of a block of the first word, which the window is, that may be among the best.
fn propose(words: &mut [Word<'_>], span: Span, judge: &Judge<'_, '_>, work: &mut Workspace) {
    let Workspace { front, scratch, places, .. } = work;
    let Some((first, others)) = words.split_first_mut() else { return };
    let mut rest: f32 = others.iter().map(|word| word.bound).sum();
    front.propose(first, span, Some(judge.least - span.most - rest), scratch);
    front.add_worth(span, &|doc| judge.still(doc));
    let mut field = first.lists[0].field;
    for word in others {
        if front.count == 0 {
            return;
        }
        rest -= word.bound;
        if word.lists[0].field != field {
            field = word.lists[0].field;
            front.measure(word.lists[0].lengths());
        }
        add(word, judge.least - rest.max(0.0), front, places);
    }
}

/// Adds what a word is worth to those that have it; keeps those that come to `least`.
fn add(word: &mut Word<'_>, least: f32, front: &mut Front, places: &mut [u16]) {
    let (saturation, list) = (word.saturation, &mut word.lists[0]);
    let scale = list.scale();
    front.frequencies[word.number] = [0; BLOCK];
    list.rewind();
    let (mut from, mut kept) = (0, 0);
    while from < front.count {
        let Some(Run { len, block }) = list.run(&front.docs[from..front.count], |doc| doc) else {
            // The others are behind its last document.
            kept = front.keep(from..front.count, kept, least);
            break;
        };
        let start = kept;
        let wanted = least - saturation.bound(list.block_bound(block));
        let end = front.keep(from..from + len, start, wanted);
        from += len;
        if start == end {
            continue;
        }
        let Front { docs, scores, tags, lengths, in_block, frequencies, .. } = front;
        let mut found = list.find_in(block, &docs[start..end], places, in_block);
        if found != 0 {
            let more = list.more_of_held();
            let frequencies = &mut frequencies[word.number];
            while found != 0 {
                let at = found.trailing_zeros() as usize;
                found &= found - 1;
                let frequency = more[usize::from(in_block[at])].saturating_add(1);
                let tag = usize::from(tags[start + at]);
                frequencies[tag] = frequency;
                scores[start + at] += saturation.of_field(scale, frequency, lengths[tag]);
            }
        }
        kept = front.keep(start..end, start, least);
    }
    front.count = kept;
}

/// Judges those that are left and have none of the words before.
fn settle(
    before: &mut [Word<'_>],
    words: &mut [Word<'_>],
    judge: &mut Judge<'_, '_>,
    front: &mut Front,
) {
    let count = front.count;
    if count == 0 {
        return;
    }
    judge.raise(front.scores[..count].iter().copied());
    let first = &mut words[0];
    let own = &mut front.frequencies[first.number];
    let block = first.lists[0].first_block();
    let more = first.lists[0].more_of(block);
    for &tag in &front.tags[..count] {
        let place = usize::from(tag);
        own[place] = more.get(place).map_or(1, |more| more.saturating_add(1));
    }
    // In the order of the query, in which scores are added up.
    let mut order = [None; WORDS_MAX];
    for (at, word) in words.iter().enumerate() {
        order[word.number] = Some(at);
    }
    for at in 0..count {
        let (doc, place) = (front.docs[at], usize::from(front.tags[at]));
        let is_before = |word: &mut Word<'_>| word.lists[0].has(doc);
        if front.scores[at] < judge.least || before.iter_mut().any(is_before) {
            continue;
        }
        judge.judge(doc, || {
            order.iter().flatten().fold(0.0, |sum, &at| {
                let word = &mut words[at];
                word.lists[0].found.frequency = front.frequencies[word.number][place];
                sum + word.exactly_found(doc)
            })
        });
    }
}
