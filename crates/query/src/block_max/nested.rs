//! Any nesting of alternatives, phrases and windows of words: an upper bound of the score of each document with
//! the required words.
//!
//! Window by window, the documents of each part are combined from those of its words. In a conjunction the rarest
//! part comes first; once few documents remain, the other words are looked up. Positions are ignored. Documents
//! near the threshold are judged by the whole plan.
//!
//! **Invariant.** Documents ascend. They include every document of the window that matches the plan, with an upper
//! bound of its score.

use super::candidates::Span;
use super::list::LOOK_UP;
use super::shape::Need;
use super::window::{keep, present};
use super::workspace::Workspace;
use super::{Collector, Word};

/// Documents by their distance from the start of the window, with the sums of their word scores.
pub(super) type Found = Vec<(u32, f32)>;

pub(super) fn evaluate(
    groups: &mut [Vec<Word<'_>>],
    need: &Need,
    span: Span,
    collector: &mut Collector<'_, '_>,
    work: &mut Workspace,
) {
    let found = Parts { groups, span, doc_count: collector.doc_count, work }.having(need);
    for &(distance, score) in &found {
        let doc = span.start + distance;
        if score + collector.static_score(doc) >= collector.least {
            collector.collect(doc, || 0.0);
        }
    }
    work.give_back(found);
}

struct Parts<'p, 'a> {
    /// At most one word each. A group is empty if the segment lacks the word.
    groups: &'p mut [Vec<Word<'a>>],
    span: Span,
    doc_count: u32,
    work: &'p mut Workspace,
}

impl Parts<'_, '_> {
    /// Finds the documents of the window that fulfil a need.
    fn having(&mut self, need: &Need) -> Found {
        match need {
            Need::Word(at) => self.having_word(*at),
            Need::All(needs) => self.having_all(needs),
            Need::Any(needs) => {
                let mut found = self.work.take();
                for need in needs {
                    let others = self.having(need);
                    let before = std::mem::replace(&mut found, self.work.take());
                    merge(&before, &others, &mut found);
                    self.work.give_back(before);
                    self.work.give_back(others);
                }
                found
            }
        }
    }

    fn having_word(&mut self, at: usize) -> Found {
        let (mut found, Span { start, end, .. }) = (self.work.take(), self.span);
        let Some(word) = self.groups[at].first_mut() else { return found };
        let Workspace { window, scratch, .. } = &mut *self.work;
        if word.is_single() {
            let docs = word.single_scores(start, end, scratch);
            let scored = docs.iter().zip(&scratch.scores);
            found.extend(scored.map(|(&doc, &score)| (doc - start, present(score))));
        } else {
            word.add_to(window, start, end, scratch);
            window.drain(0.0, &mut found);
        }
        found
    }

    fn having_all(&mut self, needs: &[Need]) -> Found {
        let mut order: Vec<(u64, &Need)> =
            needs.iter().map(|need| (need.cost(self.groups), need)).collect();
        order.sort_by_key(|&(cost, _)| cost);
        let Some((&(_, rarest), others)) = order.split_first() else { return Found::new() };
        let mut found = self.having(rarest);
        for &(cost, need) in others {
            if found.is_empty() {
                break;
            }
            let wide = u64::from(self.span.end - self.span.start);
            let postings = cost * wide / u64::from(self.doc_count.max(1));
            if found.len() as u64 * LOOK_UP <= postings {
                self.look_up(need, &mut found);
            } else {
                let others = self.having(need);
                intersect(&mut found, &others);
                self.work.give_back(others);
            }
        }
        found
    }

    /// Keeps the documents that fulfil a need, by lookups.
    fn look_up(&mut self, need: &Need, found: &mut Found) {
        let (start, groups) = (self.span.start, &mut *self.groups);
        groups.iter_mut().flatten().for_each(Word::rewind);
        keep(found, |(distance, score)| {
            let added = worth(need, groups, start + *distance);
            *score += added.unwrap_or(0.0);
            added.is_some()
        });
    }
}

/// The score of a document for a need, or `None` if it is not fulfilled. Documents ascend.
fn worth(need: &Need, groups: &mut [Vec<Word<'_>>], doc: u32) -> Option<f32> {
    match need {
        Need::Word(at) => groups[*at].first_mut()?.look_up(doc),
        Need::All(needs) => {
            needs.iter().try_fold(0.0, |sum, need| Some(sum + worth(need, groups, doc)?))
        }
        Need::Any(needs) => {
            let there = needs.iter().filter_map(|need| worth(need, groups, doc));
            there.fold(None, |sum, added| Some(sum.unwrap_or(0.0) + added))
        }
    }
}

/// Keeps the documents of `found` that are also in `others`, with the sum of both scores.
fn intersect(found: &mut Found, others: &[(u32, f32)]) {
    let mut at = 0;
    keep(found, |(distance, score)| {
        while others.get(at).is_some_and(|other| other.0 < *distance) {
            at += 1;
        }
        let other = others.get(at).filter(|other| other.0 == *distance);
        *score += other.map_or(0.0, |other| other.1);
        other.is_some()
    });
}

/// Merges two lists of documents and adds up the scores of common ones.
fn merge(mut some: &[(u32, f32)], mut others: &[(u32, f32)], merged: &mut Found) {
    merged.clear();
    while let (Some((&one, behind)), Some((&other, behind_other))) =
        (some.split_first(), others.split_first())
    {
        let distance = one.0.min(other.0);
        let mut sum = 0.0;
        if one.0 == distance {
            sum += one.1;
            some = behind;
        }
        if other.0 == distance {
            sum += other.1;
            others = behind_other;
        }
        merged.push((distance, sum));
    }
    merged.extend_from_slice(some);
    merged.extend_from_slice(others);
}
