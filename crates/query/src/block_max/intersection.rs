//! Groups of words that must all match: the rarest proposes documents.
//!
//! First it is found out which documents have all groups, then what they are worth: most have not.
//!
//! **Invariant.** A document of the window that is not judged lacks a group, or its bounds stay below what it takes.

use super::candidates::{Span, exactly};
use super::window::keep;
use super::workspace::Workspace;
use super::{Judge, Word};

/// Looking a document up costs as much as going over so many.
const LOOK_UP: u64 = 24;

/// The rarest group is scored first if it must add at least this share of its bound: then many documents fall short.
const SCORED: f32 = 0.5;

/// Evaluates a window; the groups are in the order of `rarest_first`, and their bounds are known.
pub(super) fn evaluate(
    groups: &mut [Vec<Word<'_>>],
    rarest_first: &[usize],
    span: Span,
    judge: &mut Judge<'_, '_>,
    work: &mut Workspace,
) {
    let Some((&driver, mut left)) = rarest_first.split_first() else { return };
    let others: f32 = left.iter().flat_map(|&at| &groups[at]).map(|word| word.bound).sum();
    propose(&mut groups[driver], span, judge.least - span.most - others, work);
    while let Some((&at, behind)) = left.split_first() {
        let group = &mut groups[at];
        let cost: u64 = group.iter().map(Word::cost).sum();
        let postings = cost * u64::from(span.end - span.start) / u64::from(judge.doc_count.max(1));
        if work.docs.len() as u64 * LOOK_UP <= postings {
            break;
        }
        let stamp = work.mark(group, span);
        let (docs, marks) = (&mut work.docs, &work.marks);
        keep(docs, |doc| marks[(*doc - span.start) as usize] == stamp);
        left = behind;
    }
    for at in 0..work.docs.len() {
        let doc = work.docs[at];
        let has = |&at: &usize| groups[at].iter_mut().any(|word| word.contains(doc));
        if left.iter().all(has) {
            score(groups, rarest_first, judge, doc, span.most);
        }
    }
}

/// The order in which groups are added.
pub(super) fn rarest_first(groups: &[Vec<Word<'_>>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&at| groups[at].iter().map(Word::cost).sum::<u64>());
    order
}

/// The documents of a window that have any word of a group; those that may add less than `least` can be left out.
fn propose(group: &mut [Word<'_>], span: Span, least: f32, work: &mut Workspace) {
    work.docs.clear();
    if let [word] = group
        && let bound = word.bound
        && let Some((list, _)) = word.single_list()
    {
        if least < SCORED * bound {
            work.docs.extend_from_slice(list.window(span.start, span.end));
            return;
        }
        let docs = word.single_scores(span.start, span.end, &mut work.scratch);
        work.docs.resize(docs.len() + 1, 0);
        let mut count = 0;
        for (&doc, &score) in docs.iter().zip(&work.scratch.scores) {
            work.docs[count] = doc;
            count += usize::from(score >= least);
        }
        work.docs.truncate(count);
        return;
    }
    let stamp = work.mark(group, span);
    let marks = (span.start..span.end).zip(&work.marks);
    work.docs.extend(marks.filter(|(_, mark)| **mark == stamp).map(|(doc, _)| doc));
}

/// Adds up what the words of a document that has all groups are worth, as long as it may help.
fn score(
    groups: &mut [Vec<Word<'_>>],
    rarest_first: &[usize],
    judge: &mut Judge<'_, '_>,
    doc: u32,
    most: f32,
) {
    let mut rest: f32 = groups.iter().flatten().map(|word| word.bound).sum();
    let mut score = if most > 0.0 { judge.still(doc) } else { 0.0 };
    for &at in rarest_first {
        for word in &mut groups[at] {
            rest -= word.bound;
            score += word.look_up(doc).unwrap_or(0.0);
        }
        if score + rest.max(0.0) < judge.least {
            return;
        }
    }
    judge.judge(doc, || exactly(groups, doc));
}
