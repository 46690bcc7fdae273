//! Groups of words that must all match: the rarest proposes documents.
//!
//! A window is a block of the rarest group, if that is one list. Its documents are scored; those that the bounds of the
//! other groups cannot lift to what it takes are no candidates. Group after group their number shrinks, the rarest
//! first: by the bounds of the blocks that they are in, by whether they are there at all, and by what that adds. Where
//! candidates are many beside the postings of a list in the window, these are gone over; where they are few, each is
//! looked up by itself.
//!
//! **Invariant.** A document of the window that is not judged lacks a group, or its bounds stay below what it takes.

use index::DocId;

use super::candidates::Span;
use super::list::Spot;
use super::phrase;
use super::shape::Shape;
use super::window::WINDOW_MAX;
use super::workspace::Workspace;
use super::{Judge, Word};

/// Looking a document up costs as much as going over so many postings.
const LOOK_UP: u64 = 12;

/// Documents that have every group so far.
#[derive(Default)]
pub(super) struct Matches {
    docs: Vec<u32>,
    /// What they are worth so far, about.
    scores: Vec<f32>,
    /// For each list where each document stands in it.
    spots: Vec<Vec<Spot>>,
    /// Which of them are left.
    left: Vec<u32>,
}

impl Matches {
    /// Of no documents yet, in so many lists.
    fn begin(&mut self, lists: usize) {
        self.docs.clear();
        self.scores.clear();
        self.left.clear();
        self.spots.resize_with(self.spots.len().max(lists), Vec::new);
    }

    /// All of them are left.
    fn spread(&mut self) {
        self.left.extend(0..u32::try_from(self.docs.len()).unwrap_or(u32::MAX));
    }

    /// Where they stand in a list: room for it.
    fn spots_in(&mut self, list: usize) -> &mut [Spot] {
        let spots = &mut self.spots[list];
        spots.resize(spots.len().max(self.docs.len()), Spot::default());
        &mut spots[..self.docs.len()]
    }
}

/// The order in which groups are looked up.
pub(super) fn rarest_first(groups: &[Vec<Word<'_>>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&at| groups[at].iter().map(Word::cost).sum::<u64>());
    order
}

/// Evaluates a window; the bounds of the groups are known.
pub(super) fn evaluate(
    groups: &mut [Vec<Word<'_>>],
    rarest_first: &[usize],
    span: Span,
    judge: &mut Judge<'_, '_>,
    work: &mut Workspace,
) {
    let Some((&driver, others)) = rarest_first.split_first() else { return };
    let mut rest: f32 = others.iter().map(|&at| bound(&groups[at])).sum();
    work.matches.begin(groups.iter().flatten().map(|word| word.lists.len()).sum());
    let mut left = rarest_first;
    let mut gone_over = 0;
    if let [word] = &mut groups[driver][..]
        && word.is_single()
    {
        propose(word, span, judge.least - span.most - rest, work);
        left = others;
        gone_over = 1;
    } else {
        work.mark_docs(&mut groups[driver], span);
        rest += bound(&groups[driver]);
        work.matches.docs.extend_from_slice(&work.docs);
        work.matches.scores.resize(work.docs.len(), 0.0);
        work.matches.spread();
    }
    if span.most > 0.0 {
        let Matches { docs, scores, .. } = &mut work.matches;
        docs.iter().zip(scores).for_each(|(&doc, score)| *score += judge.still(doc));
    }
    // Where candidates are many, group by group; then candidate by candidate.
    while let Some((&at, behind)) = left.split_first()
        && is_dense(&groups[at], span, judge.doc_count, &work.matches)
    {
        let word = &mut groups[at][0];
        rest -= word.bound;
        go_over(word, span, judge.least - rest.max(0.0), work);
        (left, gone_over) = (behind, gone_over + 1);
    }
    for &at in left {
        groups[at].iter_mut().for_each(Word::rewind);
    }
    let gone_over = &rarest_first[..gone_over];
    for at in 0..work.matches.left.len() {
        let place = work.matches.left[at] as usize;
        let (doc, score) = (work.matches.docs[place], work.matches.scores[place]);
        if is_match(groups, left, doc, (score, rest), judge.least) {
            for &at in gone_over {
                let word = &mut groups[at][0];
                word.lists[0].found = work.matches.spots[word.number][place];
            }
            settle(groups, doc, judge, work);
        }
    }
}

/// Whether the matches are many beside the postings of a group, which is one list, in the window.
fn is_dense(group: &[Word<'_>], span: Span, doc_count: u32, matches: &Matches) -> bool {
    let [word] = group else { return false };
    let wide = span.end - span.start;
    let postings = word.cost() * u64::from(wide) / u64::from(doc_count.max(1));
    word.is_single() && wide <= WINDOW_MAX && matches.left.len() as u64 * LOOK_UP > postings
}

/// What a group adds at most in the window at hand.
fn bound(group: &[Word<'_>]) -> f32 {
    group.iter().map(|word| word.bound).sum()
}

/// Makes matches of the documents of a block, which the window is, that add `wanted` or more.
fn propose(word: &mut Word<'_>, span: Span, wanted: f32, work: &mut Workspace) {
    let Workspace { scratch, matches, .. } = work;
    let number = word.number;
    let (docs, more, first) = word.block_scores(scratch);
    let kept = &mut scratch.kept;
    kept.clear();
    kept.resize(docs.len() + 1, 0);
    let mut count = 0;
    for ((place, &doc), &score) in (0..).zip(docs).zip(&scratch.scores) {
        kept[count] = place;
        count += usize::from(score >= wanted && span.contains(doc));
    }
    for &place in &kept[..count] {
        matches.docs.push(docs[place as usize]);
        matches.scores.push(scratch.scores[place as usize]);
    }
    matches.spread();
    let spots = matches.spots_in(number);
    for (spot, &place) in spots.iter_mut().zip(&kept[..count]) {
        let frequency = more[place as usize].saturating_add(1);
        *spot = Spot { frequency, at: first + place as usize };
    }
}

/// Keeps the matches that are in a list, whose documents in the window are gone over, and come to `least` with it.
fn go_over(word: &mut Word<'_>, span: Span, least: f32, work: &mut Workspace) {
    let Workspace { matches, places, .. } = work;
    let (number, saturation) = (word.number, word.saturation);
    let list = &mut word.lists[0];
    let (lengths, scale) = (list.lengths(), list.scale());
    let found = list.window(span.start, span.end);
    let Some(last) = found.len().checked_sub(1) else { return matches.left.clear() };
    for (place, &doc) in (0..).zip(found) {
        places[(doc - span.start) as usize] = place;
    }
    matches.spots_in(number);
    let Matches { docs, scores, spots, left } = matches;
    let spots = &mut spots[number][..];
    // A place from another time is seen by its document.
    let mut kept = 0;
    for at in 0..left.len() {
        let place = left[at];
        let doc = docs[place as usize];
        let there = usize::from(places[(doc - span.start) as usize]).min(last);
        left[kept] = place;
        kept += usize::from(found[there] == doc);
    }
    left.truncate(kept);
    kept = 0;
    for at in 0..left.len() {
        let place = left[at] as usize;
        let doc = docs[place];
        let spot = list.spot_at(usize::from(places[(doc - span.start) as usize]));
        spots[place] = spot;
        scores[place] += saturation.of_field(scale, spot.frequency, lengths.get(DocId(doc)));
        left[kept] = left[at];
        kept += usize::from(scores[place] >= least);
    }
    left.truncate(kept);
}

/// Whether a document has the groups that are left, as long as they may lift it to `least`.
fn is_match(
    groups: &mut [Vec<Word<'_>>],
    left: &[usize],
    doc: u32,
    (mut score, mut rest): (f32, f32),
    least: f32,
) -> bool {
    for &at in left {
        let group = &mut groups[at];
        rest -= bound(group);
        let tight: f32 = group.iter_mut().map(|word| word.bound_at(doc).0).sum();
        if score + tight + rest.max(0.0) < least {
            return false;
        }
        let mut is_there = false;
        for word in group {
            if let Some(added) = word.look_up(doc) {
                is_there = true;
                score += added;
            }
        }
        if !is_there {
            return false;
        }
    }
    score >= least
}

/// Judges a document that has every group, and whose words have been found.
fn settle(groups: &mut [Vec<Word<'_>>], doc: u32, judge: &mut Judge<'_, '_>, work: &mut Workspace) {
    let shape = judge.shape;
    if judge.plan.is_some() {
        judge.judge(doc, || 0.0);
    } else if phrase::hold(groups, shape, &mut work.positions) {
        judge.judge(doc, || exactly(groups, shape, doc));
    }
}

/// The text score of a document whose words have been found: the sum over units of the sum over groups of the sum over
/// words, in the order of the query as everywhere.
fn exactly(groups: &mut [Vec<Word<'_>>], shape: &Shape<'_>, doc: u32) -> f64 {
    let of_group = |words: &mut Vec<Word<'_>>| {
        words.iter_mut().fold(0.0, |sum, word| sum + word.exactly_found(doc))
    };
    shape.units.iter().fold(0.0, |sum, unit| {
        sum + groups[unit.clone()].iter_mut().map(of_group).fold(0.0, |sum, score| sum + score)
    })
}
