//! Groups of words that must all match: the rarest proposes documents.
//!
//! First it is found out which documents have all groups, then what they are worth: most have not.
//!
//! **Invariant.** A document of the window that is not judged lacks a group, or its bounds stay below what it takes.

use super::candidates::{LOOK_UP, Span};
use super::window::keep;
use super::workspace::Workspace;
use super::{Judge, Word};

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
    let least = judge.least - span.most;
    let left = narrow(groups, rarest_first, (span, least), judge.doc_count, work);
    for at in 0..work.docs.len() {
        let doc = work.docs[at];
        if has_all(groups, left, doc) {
            score(groups, rarest_first, judge, doc, span.most, &mut work.exact);
        }
    }
}

/// Makes `work.docs` the documents of a window that have the rarest groups, except some whose words cannot reach `least`,
/// and returns the groups that are left to be looked up.
pub(super) fn narrow<'o>(
    groups: &mut [Vec<Word<'_>>],
    rarest_first: &'o [usize],
    (span, least): (Span, f32),
    doc_count: u32,
    work: &mut Workspace,
) -> &'o [usize] {
    let Some((&driver, mut left)) = rarest_first.split_first() else { return &[] };
    let others: f32 = left.iter().flat_map(|&at| &groups[at]).map(|word| word.bound).sum();
    propose(&mut groups[driver], span, least - others, work);
    while let Some((&at, behind)) = left.split_first() {
        let group = &mut groups[at];
        let cost: u64 = group.iter().map(Word::cost).sum();
        let postings = cost * u64::from(span.end - span.start) / u64::from(doc_count.max(1));
        if work.docs.len() as u64 * LOOK_UP <= postings {
            break;
        }
        let stamp = work.mark(group, span);
        let (docs, marks) = (&mut work.docs, &work.marks);
        keep(docs, |doc| marks[(*doc - span.start) as usize] == stamp);
        left = behind;
    }
    left
}

/// Whether a document has a word of each group.
pub(super) fn has_all(groups: &mut [Vec<Word<'_>>], asked: &[usize], doc: u32) -> bool {
    asked.iter().all(|&at| groups[at].iter_mut().any(|word| word.contains(doc)))
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
    exact: &mut Vec<f64>,
) {
    let mut rest: f32 = groups.iter().flatten().map(|word| word.bound).sum();
    let mut sum = if most > 0.0 { judge.still(doc) } else { 0.0 };
    exact.clear();
    exact.resize(groups.len(), 0.0);
    for &at in rarest_first {
        let mut of_group = 0.0;
        for word in &mut groups[at] {
            rest -= word.bound;
            of_group += word.exactly(doc);
        }
        exact[at] = of_group;
        #[expect(clippy::cast_possible_truncation, reason = "there is a margin")]
        {
            sum += of_group as f32;
        }
        if sum + rest.max(0.0) < judge.least {
            return;
        }
    }
    // In the order of the query, as everywhere.
    judge.judge(doc, || exact.iter().fold(0.0, |sum, of_group| sum + of_group));
}
