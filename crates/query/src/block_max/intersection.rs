//! Groups of words that must all match: the rarest proposes documents.
//!
//! A window is a block of the rarest group, if that is one list. Its documents are scored; those that the bounds of the
//! other groups cannot lift to what it takes are no candidates. Group after group their number shrinks, the rarest
//! first: by the bounds of the blocks that they are in, by whether they are there at all, and by what that adds. Where
//! candidates are many beside the postings of a list in the window, these are gone over; where they are few, each is
//! looked up by itself. As long as any document will do, nothing is scored before it has every group.
//!
//! **Invariant.** A document of the window that is not judged lacks a group, or its bounds stay below what it takes.

use index::{BLOCK, DocId};

use super::candidates::Span;
use super::list::{LOOK_UP, Spot};
use super::phrase;
use super::shape::Shape;
use super::window::{WINDOW_MAX, keep};
use super::workspace::Workspace;
use super::{Judge, Word};

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
        spots.resize(spots.len().max(self.docs.len()), Spot::NOWHERE);
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
    // Throughout the window, or sums would lack what was not added.
    let is_scored = judge.least > 0.0;
    let wanted = judge.least - span.most - rest;
    match &mut groups[driver][..] {
        [word] if word.is_single() && is_scored => propose(word, span, wanted, work),
        [word] if word.is_single() => propose_all(word, span, work),
        group => propose_sums(group, span, wanted, work),
    }
    if span.most > 0.0 {
        let Matches { docs, scores, .. } = &mut work.matches;
        docs.iter().zip(scores).for_each(|(&doc, score)| *score += judge.still(doc));
    }
    // Where candidates are many, group by group; then candidate by candidate.
    let mut left = others;
    while let Some((&at, behind)) = left.split_first()
        && let documents = groups[at].iter().map(Word::cost).sum()
        && are_many(&work.matches, documents, span, judge.doc_count)
    {
        let group = &mut groups[at];
        rest -= bound(group);
        let least = is_scored.then_some(judge.least - rest.max(0.0));
        match &mut group[..] {
            [word] if word.is_single() => go_over(word, span, least, work),
            group => go_over_sums(group, span, least, work),
        }
        left = behind;
    }
    refuse(span, judge, work);
    for &at in left {
        groups[at].iter_mut().for_each(Word::rewind);
    }
    let gone_over = &rarest_first[..rarest_first.len() - left.len()];
    for at in 0..work.matches.left.len() {
        let place = work.matches.left[at] as usize;
        let (doc, score) = (work.matches.docs[place], work.matches.scores[place]);
        let is_match = if is_scored {
            may_be_best(groups, left, doc, (score, rest), judge.least)
        } else {
            left.iter().all(|&at| has_any(&mut groups[at], doc))
        };
        if is_match {
            for &at in gone_over {
                recall(&mut groups[at], doc, place, &work.matches);
            }
            settle(groups, doc, judge, work);
        }
    }
}

/// Finds again where a match stands in a group that was gone over.
fn recall(group: &mut [Word<'_>], doc: u32, place: usize, matches: &Matches) {
    match group {
        [word] if word.is_single() => word.lists[0].found = matches.spots[word.number][place],
        group => {
            for list in group.iter_mut().flat_map(|word| &mut word.lists) {
                list.find_in_window(doc);
            }
        }
    }
}

/// Whether the matches are many beside the postings of a list of so many documents in the window.
fn are_many(matches: &Matches, documents: u64, span: Span, doc_count: u32) -> bool {
    let wide = span.end - span.start;
    let postings = documents * u64::from(wide) / u64::from(doc_count.max(1));
    wide <= WINDOW_MAX && matches.left.len() as u64 * LOOK_UP > postings
}

/// Drops matches that have unwanted words, as far as it is worth while here: the rest is seen when they are judged.
fn refuse(span: Span, judge: &mut Judge<'_, '_>, work: &mut Workspace) {
    for list in &mut judge.unwanted {
        if !are_many(&work.matches, u64::from(list.doc_frequency()), span, judge.doc_count) {
            continue;
        }
        let stamp = work.next_stamp();
        list.go_to(span.start);
        for &doc in list.window(span.start, span.end) {
            work.marks[(doc - span.start) as usize] = stamp;
        }
        let (Matches { docs, left, .. }, marks) = (&mut work.matches, &work.marks);
        keep(left, |&mut place| marks[(docs[place as usize] - span.start) as usize] != stamp);
    }
}

/// What a group adds at most in the window at hand.
fn bound(group: &[Word<'_>]) -> f32 {
    group.iter().map(|word| word.bound).sum()
}

/// Makes matches of all documents of a block, which the window is, without their scores.
fn propose_all(word: &mut Word<'_>, span: Span, work: &mut Workspace) {
    let (matches, number) = (&mut work.matches, word.number);
    let block = word.lists[0].first_block();
    let docs = word.lists[0].block_docs(block);
    let start = docs.partition_point(|&doc| doc < span.start);
    let end = docs.partition_point(|&doc| doc < span.end).max(start);
    matches.docs.extend_from_slice(&docs[start..end]);
    matches.scores.resize(end - start, 0.0);
    matches.spread();
    for (place, spot) in (start..end).zip(matches.spots_in(number)) {
        *spot = Spot::at(block * BLOCK + place, 0);
    }
}

/// Makes matches of the documents of a window that a group of several lists adds `wanted` to, or more.
fn propose_sums(group: &mut [Word<'_>], span: Span, wanted: f32, work: &mut Workspace) {
    let Workspace { window, scratch, matches, found, .. } = work;
    for word in group {
        word.add_to(window, span.start, span.end, scratch);
    }
    window.drain(wanted, found);
    matches.docs.extend(found.iter().map(|&(distance, _)| span.start + distance));
    matches.scores.extend(found.iter().map(|&(_, score)| score));
    matches.spread();
}

/// As [`go_over`], of a group of several lists.
fn go_over_sums(group: &mut [Word<'_>], span: Span, least: Option<f32>, work: &mut Workspace) {
    let Workspace { window, scratch, matches: Matches { docs, scores, left, .. }, .. } = work;
    for word in group {
        word.add_to(window, span.start, span.end, scratch);
    }
    let least = least.unwrap_or(f32::NEG_INFINITY);
    keep(left, |&mut place| {
        let (doc, score) = (docs[place as usize], &mut scores[place as usize]);
        let added = window.sum((doc - span.start) as usize);
        *score += added;
        added > 0.0 && *score >= least
    });
    window.clear();
}

/// Makes matches of those that add `wanted` or more.
fn propose(word: &mut Word<'_>, span: Span, wanted: f32, work: &mut Workspace) {
    let Workspace { scratch, matches, found, .. } = work;
    let (number, block) = (word.number, word.lists[0].first_block());
    let (docs, more) = word.block_reaching(block, wanted, scratch, found);
    found.retain(|&(place, _)| span.contains(docs[place as usize]));
    matches.docs.extend(found.iter().map(|&(place, _)| docs[place as usize]));
    matches.scores.extend(found.iter().map(|&(_, score)| score));
    matches.spread();
    for (spot, &(place, _)) in matches.spots_in(number).iter_mut().zip(&*found) {
        let frequency = more[place as usize].saturating_add(1);
        *spot = Spot::at(block * BLOCK + place as usize, frequency);
    }
}

/// Keeps the matches that are in a list, whose documents in the window are gone over, and come to `least` with it, if
/// that is asked for.
fn go_over(word: &mut Word<'_>, span: Span, least: Option<f32>, work: &mut Workspace) {
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
    let place_of = |doc: u32| usize::from(places[(doc - span.start) as usize]);
    let Some(least) = least else {
        for &place in &*left {
            spots[place as usize] = list.bare_spot_at(place_of(docs[place as usize]));
        }
        return;
    };
    kept = 0;
    for at in 0..left.len() {
        let place = left[at] as usize;
        let doc = docs[place];
        let spot = list.spot_at(place_of(doc));
        spots[place] = spot;
        scores[place] += saturation.of_field(scale, spot.frequency, lengths.get(DocId(doc)));
        left[kept] = left[at];
        kept += usize::from(scores[place] >= least);
    }
    left.truncate(kept);
}

/// Whether a document has a word of a group.
fn has_any(group: &mut [Word<'_>], doc: u32) -> bool {
    group.iter_mut().fold(false, |is_there, word| is_there | word.find(doc))
}

/// Whether a document has the groups that are left, and comes to `least` with them.
fn may_be_best(
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
        return judge.judge(doc, || 0.0);
    }
    for list in groups.iter_mut().flatten().flat_map(|word| &mut word.lists) {
        list.complete_found();
    }
    if phrase::hold(groups, shape, &mut work.positions) {
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
