//! Groups of words that must all match: one of them proposes documents.
//!
//! If every group is one word, the rarest word proposes the documents. If it has one list, its blocks are the windows.
//! With alternatives, the driver of each window is the group with the fewest documents that may reach the threshold.
//!
//! The candidates then pass through the other groups, the rarest first. If windows are blocks, words of one list come
//! first. A group drops candidates by its block maxima, then by presence, then by their scores. A list is decoded a
//! block at a time, and only where candidates are; a block stored as a bit set is probed without decoding.
//!
//! If windows are not blocks and most documents contain excluded words, matches are found as bits before anything
//! is scored. If the sum of the words is not the score, scoring begins with the first positive threshold.
//! `conjunction.rs` handles words of one list each.
//!
//! **Invariant.** A document of the window that is not judged lacks a group, or its upper bound is below the
//! threshold.

use std::mem::take;

use index::DocId;

use super::candidates::Span;
use super::conjunction;
use super::list::{LOOK_UP, Run, compact};
use super::union::optional;
use super::window::{WINDOW_MAX, keep};
use super::workspace::Workspace;
use super::{Collector, Word};

/// Number of documents after which the share of documents with excluded words is an estimate for the rest.
const TOLD: usize = 64;

/// Documents that match all groups so far.
#[derive(Default)]
pub(super) struct Matches {
    pub(super) docs: Vec<u32>,
    /// Partial scores, in single precision.
    pub(super) scores: Vec<f32>,
    /// Places of the remaining documents.
    pub(super) left: Vec<u32>,
}

impl Matches {
    fn clear(&mut self) {
        self.docs.clear();
        self.scores.clear();
        self.left.clear();
    }

    /// Marks all documents as remaining.
    pub(super) fn keep_all(&mut self) {
        self.left.extend(0..u32::try_from(self.docs.len()).unwrap_or(u32::MAX));
    }
}

/// The order in which groups are evaluated, and the method.
pub(super) struct Order {
    pub(super) rarest_first: Vec<usize>,
    /// Groups of one list each, the rarest first, if the blocks of the rarest group are the windows. Otherwise empty.
    lists: Vec<usize>,
    /// All other groups.
    others: Vec<usize>,
    /// Number of lists in all groups.
    list_count: usize,
}

impl Order {
    pub(super) fn new(groups: &[Vec<Word<'_>>]) -> Order {
        let mut rarest_first: Vec<usize> = (0..groups.len()).collect();
        rarest_first.sort_by_key(|&at| groups[at].iter().map(Word::cost).sum::<u64>());
        let is_list = |at: &usize| matches!(&groups[*at][..], [word] if word.is_single());
        // A group with alternatives is not always the best driver.
        let are_words = groups.iter().all(|group| group.len() == 1);
        let is_blocks = are_words && rarest_first.first().is_some_and(is_list);
        let (lists, others) = rarest_first.iter().partition(|at| is_blocks && is_list(at));
        let list_count = groups.iter().flatten().map(|word| word.lists.len()).sum();
        Order { rarest_first, lists, others, list_count }
    }

    /// The group whose blocks are the windows.
    pub(super) fn driver(&self) -> Option<usize> {
        self.lists.first().copied()
    }
}

/// Evaluates a window. It may be a block of the rarest group. The bounds of the groups must be known.
pub(super) fn evaluate(
    groups: &mut [Vec<Word<'_>>],
    order: &Order,
    span: Span,
    collector: &mut Collector<'_, '_>,
    work: &mut Workspace,
) {
    // The same answer for all groups of the window, since scores are sums over all groups.
    let is_scored = collector.least > 0.0 || !collector.is_partial;
    let driver = if order.lists.is_empty() { driver(groups, order, span, collector) } else { None };
    let is_refused_first = driver.is_some() && collector.refusals.are_most();
    let driver = driver.filter(|_| !is_refused_first);
    let others = order.others.iter().copied().filter(|&at| driver != Some(at));
    let mut rest: f32 = others.clone().map(|at| bound(&groups[at])).sum();
    work.matches.clear();
    if let Some(driver) = driver {
        let wanted = collector.least - span.most - rest;
        propose_sums(&mut groups[driver], span, wanted, work);
        add_still(span, collector, work);
    } else if is_refused_first {
        propose_unrefused(groups, span, collector, work);
        add_still(span, collector, work);
    } else {
        work.front.begin(order.list_count);
        let least = is_scored.then_some(collector.least - rest);
        let worth = |doc: u32| collector.static_score(doc);
        let Workspace { front, matches, .. } = work;
        conjunction::evaluate(groups, &order.lists, span, least, worth, front);
        if order.others.is_empty() {
            return conjunction::settle(groups, is_scored, span, collector, front);
        }
        conjunction::hand_over(front, matches);
    }
    for at in others {
        if work.matches.left.is_empty() {
            return;
        }
        let group = &mut groups[at];
        rest -= bound(group);
        let least = is_scored.then_some(collector.least - rest.max(0.0));
        let documents = group.iter().map(Word::cost).sum();
        match &mut group[..] {
            [word] if word.is_single() => narrow(word, least, work),
            group if are_many(&work.matches, documents, span, collector.doc_count) => {
                go_over_sums(group, span, least, work);
            }
            group if group.iter().all(Word::is_single) => narrow_any(group, least, work),
            group => look_up_each(group, least, work),
        }
    }
    finish(groups, is_scored, span, collector, work);
}

/// Adds the static scores of the matches.
fn add_still(span: Span, collector: &Collector<'_, '_>, work: &mut Workspace) {
    if span.most > 0.0 {
        let Matches { docs, scores, .. } = &mut work.matches;
        docs.iter().zip(scores).for_each(|(&doc, score)| *score += collector.static_score(doc));
    }
}

/// Judges the remaining matches.
fn finish(
    groups: &mut [Vec<Word<'_>>],
    is_scored: bool,
    span: Span,
    collector: &mut Collector<'_, '_>,
    work: &mut Workspace,
) {
    if work.matches.left.is_empty() {
        return;
    }
    refuse(span, collector, work);
    let Matches { docs, scores, left } = &work.matches;
    collector.raise_floor(left.iter().map(|&place| scores[place as usize]));
    groups.iter_mut().flatten().for_each(Word::rewind);
    for &place in left {
        let (doc, score) = (docs[place as usize], scores[place as usize]);
        if !is_scored || score >= collector.least {
            collector.collect(doc, || exactly(groups, doc));
        }
    }
}

/// The exact text score of a document: the sum over groups of the sum over their words.
fn exactly(groups: &mut [Vec<Word<'_>>], doc: u32) -> f64 {
    let of_group =
        |words: &mut Vec<Word<'_>>| words.iter_mut().fold(0.0, |sum, word| sum + word.exactly(doc));
    groups.iter_mut().map(of_group).fold(0.0, |sum, of_group| sum + of_group)
}

/// Chooses the group that proposes documents: the one with the fewest documents that may reach the threshold
/// together with all other groups.
fn driver(
    groups: &[Vec<Word<'_>>],
    order: &Order,
    span: Span,
    collector: &Collector<'_, '_>,
) -> Option<usize> {
    let total: f32 = groups.iter().map(|group| bound(group)).sum();
    let cost = |at: usize| {
        let wanted = collector.least - span.most - total + bound(&groups[at]);
        let mut words: Vec<&Word<'_>> = groups[at].iter().collect();
        words.sort_unstable_by(|a, b| a.bound.total_cmp(&b.bound));
        let optional = optional(words.iter().map(|word| word.bound), wanted);
        words[optional..].iter().map(|word| word.cost()).sum::<u64>()
    };
    match order.rarest_first[..] {
        [rarest, ..] if groups.iter().all(|group| group.len() == 1) => Some(rarest),
        ref all => all.iter().copied().min_by_key(|&at| cost(at)),
    }
}

/// Returns whether a scan of the postings of a group in the window is cheaper than lookups of the matches.
fn are_many(matches: &Matches, documents: u64, span: Span, doc_count: u32) -> bool {
    let wide = span.end - span.start;
    let postings = documents * u64::from(wide) / u64::from(doc_count.max(1));
    wide <= WINDOW_MAX && matches.left.len() as u64 * LOOK_UP > postings
}

/// Drops matches with excluded words.
fn refuse(span: Span, collector: &mut Collector<'_, '_>, work: &mut Workspace) {
    let Workspace { matches: Matches { docs, left, .. }, scratch, .. } = work;
    collector.refusals.asked += left.len();
    for list in collector.unwanted.iter_mut() {
        list.go_to(span.start);
        let (mut from, mut kept) = (0, 0);
        while let Some(run) = list.run(&left[from..], |at| docs[at as usize]) {
            let refused = &mut scratch.kept;
            refused.clear();
            refused.extend_from_slice(&left[from..from + run.len]);
            let count = list.keep_in_block(run.block, refused, |at| docs[at as usize]);
            let mut refused = refused[..count].iter().peekable();
            for at in from..from + run.len {
                let place = left[at];
                left[kept] = place;
                kept += usize::from(refused.next_if_eq(&&place).is_none());
            }
            from += run.len;
        }
        left.copy_within(from.., kept);
        left.truncate(kept + left.len() - from);
    }
    collector.refusals.kept += left.len();
}

/// Counts the documents that were checked for excluded words, and those that contain none.
#[derive(Default)]
pub(super) struct Refusals {
    asked: usize,
    kept: usize,
}

impl Refusals {
    /// Returns whether more than three quarters of the documents so far contain excluded words.
    fn are_most(&self) -> bool {
        self.asked >= TOLD && self.kept * 4 < self.asked
    }
}

/// The upper bound of a group in the current window.
pub(super) fn bound(group: &[Word<'_>]) -> f32 {
    group.iter().map(|word| word.bound).sum()
}

/// Makes matches of the documents of a window to which a group of several lists adds at least `wanted`.
/// Non-essential words of the group are only looked up.
fn propose_sums(group: &mut [Word<'_>], span: Span, wanted: f32, work: &mut Workspace) {
    let Workspace { window, scratch, matches, found, .. } = work;
    let mut order: Vec<&mut Word<'_>> = group.iter_mut().collect();
    order.sort_unstable_by(|a, b| a.bound.total_cmp(&b.bound));
    let split = optional(order.iter().map(|word| word.bound), wanted);
    let (optional, essential) = order.split_at_mut(split);
    for word in essential {
        word.add_to(window, span.start, span.end, scratch);
    }
    let rest: f32 = optional.iter().map(|word| word.bound).sum();
    window.drain(wanted - rest, found);
    for word in optional {
        word.rewind();
        keep(found, |(distance, score)| {
            *score += word.look_up(span.start + *distance).unwrap_or(0.0);
            true
        });
    }
    keep(found, |&mut (_, score)| score >= wanted);
    matches.docs.extend(found.iter().map(|&(distance, _)| span.start + distance));
    matches.scores.extend(found.iter().map(|&(_, score)| score));
    matches.keep_all();
}

/// Makes matches of the documents of a window that match all groups and contain no excluded word, without scores.
/// If most documents are excluded, scores would be wasted.
fn propose_unrefused(
    groups: &mut [Vec<Word<'_>>],
    span: Span,
    collector: &mut Collector<'_, '_>,
    work: &mut Workspace,
) {
    let Span { start, end, .. } = span;
    let Workspace { words, matches, scratch, .. } = work;
    words.resize(WINDOW_MAX as usize / 64, 0);
    let words = &mut words[..((end - start) as usize).div_ceil(64)];
    let theirs = &mut scratch.words;
    theirs.clear();
    theirs.resize(words.len(), 0);
    for (number, group) in groups.iter_mut().enumerate() {
        for list in group.iter_mut().flat_map(|word| &mut word.lists) {
            list.rewind();
            if number == 0 {
                list.lay_out(start, end, words);
            } else {
                list.lay_out_over(start, end, words, theirs);
            }
        }
        if number > 0 {
            words.iter_mut().zip(&mut *theirs).for_each(|(word, theirs)| *word &= take(theirs));
        }
    }
    for list in collector.unwanted.iter_mut() {
        list.go_to(start);
        list.lay_out_over(start, end, words, theirs);
    }
    for ((base, word), theirs) in (start..).step_by(64).zip(words).zip(theirs) {
        // The last 64-bit word may extend beyond the window.
        let inside = u64::MAX >> 64_u32.saturating_sub(end.saturating_sub(base)).min(63);
        let mut left = take(word) & !*theirs & inside;
        while left != 0 {
            matches.docs.push(base + left.trailing_zeros());
            left &= left - 1;
        }
    }
    matches.scores.resize(matches.docs.len(), 0.0);
    matches.keep_all();
}

/// Scans the postings of a group in the window. Keeps the matches that contain a word of the group and reach
/// `least`, if given.
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

/// Keeps the matches that are in the list of a word and reach `least`, if given. Works on one block of the list at
/// a time.
fn narrow(word: &mut Word<'_>, least: Option<f32>, work: &mut Workspace) {
    let Matches { docs, scores, left, .. } = &mut work.matches;
    let (saturation, list) = (word.saturation, &mut word.lists[0]);
    let (lengths, scale) = (list.lengths(), list.scale());
    let docs = &docs[..];
    list.rewind();
    let (mut from, mut kept) = (0, 0);
    while let Some(Run { len, block }) = list.run(&left[from..], |at| docs[at as usize]) {
        let (start, run) = (from, &mut left[from..from + len]);
        from += len;
        let mut count = len;
        if let Some(least) = least {
            let wanted = least - saturation.bound(list.block_bound(block));
            count = compact(run, |place| scores[place as usize] >= wanted);
        }
        if count > 0 {
            count = list.keep_in_block(block, &mut run[..count], |at| docs[at as usize]);
        }
        for at in start..start + count {
            let place = left[at] as usize;
            left[kept] = left[at];
            let Some(least) = least else {
                kept += 1;
                continue;
            };
            let length = lengths.get(DocId(docs[place]));
            scores[place] += saturation.of_field(scale, list.frequency_of(docs[place]), length);
            kept += usize::from(scores[place] >= least);
        }
    }
    left.truncate(kept);
}

/// Keeps the matches that contain any of some words and reach `least`, if given. Each word has one list.
fn narrow_any(group: &mut [Word<'_>], least: Option<f32>, work: &mut Workspace) {
    let Workspace { matches, scratch, .. } = work;
    let Matches { docs, scores, left, .. } = matches;
    let docs = &docs[..];
    let is_found = &mut scratch.is_found;
    is_found.clear();
    is_found.resize(docs.len(), false);
    let mut behind = bound(group);
    for word in group {
        behind -= word.bound;
        let (saturation, list) = (word.saturation, &mut word.lists[0]);
        let (lengths, scale) = (list.lengths(), list.scale());
        list.rewind();
        let mut from = 0;
        while let Some(Run { len, block }) = list.run(&left[from..], |at| docs[at as usize]) {
            let run = &left[from..from + len];
            from += len;
            // Matches that the block maximum and the remaining words may lift to `least`. Others are dropped at
            // the end.
            let bound = saturation.bound(list.block_bound(block));
            let wanted = least.map(|least| least - behind.max(0.0) - bound);
            let may = |&&place: &&u32| wanted.is_none_or(|wanted| scores[place as usize] >= wanted);
            let there = &mut scratch.kept;
            there.clear();
            there.extend(run.iter().filter(may));
            if there.is_empty() {
                continue;
            }
            let count = list.keep_in_block(block, there, |at| docs[at as usize]);
            for &place in &there[..count] {
                let place = place as usize;
                is_found[place] = true;
                if least.is_some() {
                    let frequency = list.frequency_of(docs[place]);
                    let length = lengths.get(DocId(docs[place]));
                    scores[place] += saturation.of_field(scale, frequency, length);
                }
            }
        }
    }
    let least = least.unwrap_or(f32::NEG_INFINITY);
    keep(left, |&mut place| is_found[place as usize] && scores[place as usize] >= least);
}

/// Keeps the matches that contain a word of a group and reach `least`, if given. Looks each match up in all lists.
fn look_up_each(group: &mut [Word<'_>], least: Option<f32>, work: &mut Workspace) {
    let Matches { docs, scores, left, .. } = &mut work.matches;
    group.iter_mut().for_each(Word::rewind);
    let least = least.unwrap_or(f32::NEG_INFINITY);
    left.retain(|&place| {
        let (doc, score) = (docs[place as usize], &mut scores[place as usize]);
        let tight: f32 = group.iter_mut().map(|word| word.bound_at(doc).0).sum();
        if *score + tight < least {
            return false;
        }
        let mut is_there = false;
        for added in group.iter_mut().filter_map(|word| word.look_up(doc)) {
            is_there = true;
            *score += added;
        }
        is_there && *score >= least
    });
}
