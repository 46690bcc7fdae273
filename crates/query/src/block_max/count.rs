//! How many documents have a word of each group: nothing is scored, and no frequency is decoded.
//!
//! **Invariant.** Each document counts once, deleted ones never.

use index::{Deleted, DocId};

use super::candidates::{LOOK_UP, Span};
use super::window::keep;
use super::windows::Windows;
use super::workspace::Workspace;
use super::{StaticScores, Word, intersection};

/// `deleted`: which documents do not count, if there are any.
pub(super) fn count(
    mut groups: Vec<Vec<Word<'_>>>,
    doc_count: u32,
    deleted: Option<Deleted<'_>>,
    work: &mut Workspace,
) -> u64 {
    if let ([words], None) = (&groups[..], deleted)
        && let [word] = &words[..]
        && word.is_single()
    {
        return word.cost();
    }
    let rarest_first = intersection::rarest_first(&groups);
    let is_union = groups.len() == 1;
    let statics = StaticScores::default();
    let windows = Windows::new(&mut groups, (doc_count, &statics), f32::NEG_INFINITY);
    let mut count = 0;
    for &(number, _) in &windows.order {
        let span = windows.enter(number, &mut groups);
        if is_union && deleted.is_none() {
            count += work.count(&mut groups[0], span);
            continue;
        }
        narrow(&mut groups, &rarest_first, span, doc_count, work);
        let counts = |doc: &&u32| deleted.is_none_or(|deleted| !deleted.contains(DocId(**doc)));
        count += work.docs.iter().filter(counts).count() as u64;
    }
    count
}

/// Makes `work.docs` the documents of a window that have all groups.
fn narrow(
    groups: &mut [Vec<Word<'_>>],
    rarest_first: &[usize],
    span: Span,
    doc_count: u32,
    work: &mut Workspace,
) {
    let Some((&driver, others)) = rarest_first.split_first() else { return };
    if let [word] = &mut groups[driver][..]
        && let Some((list, _)) = word.single_list()
    {
        work.docs.clear();
        work.docs.extend_from_slice(list.window(span.start, span.end));
    } else {
        work.mark_docs(&mut groups[driver], span);
    }
    for &at in others {
        let group = &mut groups[at];
        let cost: u64 = group.iter().map(Word::cost).sum();
        let postings = cost * u64::from(span.end - span.start) / u64::from(doc_count.max(1));
        if work.docs.len() as u64 * LOOK_UP <= postings {
            group.iter_mut().for_each(Word::rewind);
            keep(&mut work.docs, |&mut doc| group.iter_mut().any(|word| word.contains(doc)));
        } else {
            let stamp = work.mark(group, span);
            let (docs, marks) = (&mut work.docs, &work.marks);
            keep(docs, |doc| marks[(*doc - span.start) as usize] == stamp);
        }
    }
}
