//! Groups of words that must all match.
//!
//! **Invariant.** A document that is not judged lacks a group, or its bounds stay below what it takes.

use super::window::width;
use super::workspace::{Scratch, Workspace};
use super::{Judge, Window, Word};

/// A window is as wide as this many postings of the rarest group take.
const POSTINGS: u64 = 128;
/// Looking a document up costs as much as going over so many postings.
const LOOK_UP: u64 = 8;

pub(super) fn evaluate(groups: &mut [Vec<Word<'_>>], judge: &mut Judge<'_, '_>, work: &mut Workspace) {
    let Workspace { window, scratch, places, found } = work;
    let doc_count = judge.doc_count;
    let costs: Vec<u64> = groups.iter().map(|group| group.iter().map(Word::cost).sum()).collect();
    let mut rarest_first: Vec<usize> = (0..groups.len()).collect();
    rarest_first.sort_by_key(|&at| costs[at]);
    let Some((&driver, others)) = rarest_first.split_first() else { return };
    let wide = width(POSTINGS, costs[driver], doc_count);
    let mut start = 0;
    loop {
        start = groups[driver].iter_mut().map(|word| word.first_from(start)).min().unwrap_or(u32::MAX);
        if start >= doc_count {
            return;
        }
        let end = start.saturating_add(wide).min(doc_count);
        let most = judge.statics.most(start, end);
        let mut rest = groups.iter_mut().flatten().map(|word| word.bound_in(start, end)).sum::<f32>();
        if rest + most < judge.least {
            start = end;
            continue;
        }
        propose(&mut groups[driver], window, (start, end), scratch, found);
        rest -= bound(&groups[driver]);
        let mut left = others;
        while let Some((&other, behind)) = left.split_first() {
            found.retain(|&(_, score)| score + rest + most >= judge.least);
            let in_window = costs[other] * u64::from(end - start) / u64::from(doc_count);
            if found.len() as u64 * LOOK_UP <= in_window {
                break;
            }
            left = behind;
            let group = &mut groups[other];
            rest -= bound(group);
            if let [word] = &mut group[..]
                && word.is_single()
            {
                merge(word, (start, end), scratch, places, found);
            } else {
                for word in group.iter_mut() {
                    word.add_to(window, start, end, scratch);
                }
                window.keep(found);
            }
        }
        for &(distance, score) in &*found {
            complete(groups, left, judge, start + distance, (score, rest));
        }
        start = end;
    }
}

/// What the words of a group add at most in the window at hand.
fn bound(group: &[Word<'_>]) -> f32 {
    group.iter().map(|word| word.bound).sum()
}

/// Looks up the groups that are left, as long as it may help.
fn complete(
    groups: &mut [Vec<Word<'_>>],
    left: &[usize],
    judge: &mut Judge<'_, '_>,
    doc: u32,
    (mut score, mut rest): (f32, f32),
) {
    score += judge.still(doc);
    for &at in left {
        if score + rest < judge.least {
            return;
        }
        rest -= bound(&groups[at]);
        let Some(added) = look_up(&mut groups[at], doc) else { return };
        score += added;
    }
    if score >= judge.least {
        judge.judge(doc, || {
            let of_group = |words: &mut Vec<Word<'_>>| {
                words.iter_mut().fold(0.0, |sum, word| sum + word.exactly(doc))
            };
            groups.iter_mut().map(of_group).fold(0.0, |sum, of_group| sum + of_group)
        });
    }
}

/// The documents of a window that have any word of a group, with what its words add.
fn propose(
    group: &mut [Word<'_>],
    window: &mut Window,
    (start, end): (u32, u32),
    scratch: &mut Scratch,
    found: &mut Vec<(u32, f32)>,
) {
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

/// Keeps the documents that have a word of one list, and adds what it is worth.
fn merge(
    word: &mut Word<'_>,
    (start, end): (u32, u32),
    scratch: &mut Scratch,
    places: &mut [u16],
    found: &mut Vec<(u32, f32)>,
) {
    for (place, &(distance, _)) in (1..).zip(found.iter()) {
        places[distance as usize] = place;
    }
    let docs = word.single_scores(start, end, scratch);
    let kept = &mut scratch.kept;
    kept.clear();
    for (&doc, &score) in docs.iter().zip(&scratch.scores) {
        let place = usize::from(places[(doc - start) as usize]);
        if place > 0 {
            let (distance, so_far) = found[place - 1];
            kept.push((distance, so_far + score));
        }
    }
    for &(distance, _) in &*found {
        places[distance as usize] = 0;
    }
    std::mem::swap(found, kept);
}

/// What the words of a group add to `doc`; `None` if it has none.
fn look_up(group: &mut [Word<'_>], doc: u32) -> Option<f32> {
    let mut sum = None;
    for word in group {
        if let Some(added) = word.look_up(doc) {
            sum = Some(sum.unwrap_or(0.0) + added);
        }
    }
    sum
}
