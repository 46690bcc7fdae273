//! How many documents have a word of each group: nothing is scored, and no frequency is decoded.
//!
//! **Invariant.** Each document counts once, deleted ones never.

use index::{Deleted, DocId};

use super::candidates::Span;
use super::list::{LOOK_UP, List};
use super::window::{WINDOW_MAX, keep};
use super::workspace::Workspace;
use super::{Word, intersection};

/// `deleted`: which documents do not count, if there are any.
pub(super) fn count(
    mut groups: Vec<Vec<Word<'_>>>,
    doc_count: u32,
    deleted: Option<Deleted<'_>>,
    work: &mut Workspace,
) -> u64 {
    let is_one_list = |words: &Vec<Word<'_>>| matches!(&words[..], [word] if word.is_single());
    match (&mut groups[..], deleted) {
        ([words], None) => return count_any(words, doc_count, work),
        (groups, None) if groups.iter().all(is_one_list) => {
            let mut lists: Vec<&mut List<'_>> =
                groups.iter_mut().flatten().flat_map(|word| &mut word.lists).collect();
            return count_all(&mut lists, doc_count, work);
        }
        _ => {}
    }
    let rarest_first = intersection::rarest_first(&groups);
    let mut count = 0;
    for span in spans(doc_count) {
        groups.iter_mut().flatten().for_each(|word| word.advance(span.start));
        narrow(&mut groups, &rarest_first, span, doc_count, work);
        let counts = |doc: &&u32| deleted.is_none_or(|deleted| !deleted.contains(DocId(**doc)));
        count += work.docs.iter().filter(counts).count() as u64;
    }
    count
}

/// Windows as wide as they may be.
fn spans(doc_count: u32) -> impl Iterator<Item = Span> {
    let starts = (0..doc_count).step_by(WINDOW_MAX as usize);
    starts.map(move |start| Span {
        start,
        end: start.saturating_add(WINDOW_MAX).min(doc_count),
        most: 0.0,
    })
}

/// How many documents have any of some words: those of the longest list, and those of the others that are not in it.
fn count_any(words: &mut [Word<'_>], doc_count: u32, work: &mut Workspace) -> u64 {
    let mut lists: Vec<&mut List<'_>> = words.iter_mut().flat_map(|word| &mut word.lists).collect();
    lists.sort_by_key(|list| list.doc_frequency());
    let Some((longest, others)) = lists.split_last_mut() else { return 0 };
    let mut count = u64::from(longest.doc_frequency());
    let rest: u64 = others.iter().map(|list| u64::from(list.doc_frequency())).sum();
    if rest == 0 {
        return count;
    }
    let looks_up = rest * LOOK_UP <= count;
    for span in spans(doc_count) {
        let stamp = work.next_stamp();
        let marks = &mut work.marks;
        longest.advance(span.start);
        if !looks_up {
            for &doc in longest.window(span.start, span.end) {
                marks[(doc - span.start) as usize] = stamp;
            }
        }
        for list in &mut *others {
            list.advance(span.start);
            longest.rewind();
            for &doc in list.window(span.start, span.end) {
                let mark = &mut marks[(doc - span.start) as usize];
                let is_new = *mark != stamp;
                *mark = stamp;
                count += u64::from(is_new && !(looks_up && longest.contains(doc)));
            }
        }
    }
    count
}

/// How many documents are in all lists.
fn count_all(lists: &mut [&mut List<'_>], doc_count: u32, work: &mut Workspace) -> u64 {
    lists.sort_by_key(|list| list.doc_frequency());
    let Some((rarest, others)) = lists.split_first_mut() else { return 0 };
    let mut count = 0;
    for block in 0..rarest.block_count() {
        work.docs.clear();
        work.docs.extend_from_slice(rarest.block_docs(block));
        let (Some(&first), Some(&last)) = (work.docs.first(), work.docs.last()) else { break };
        let span = Span { start: first, end: last + 1, most: 0.0 };
        for list in &mut *others {
            list.advance(span.start);
            keep_listed(list, span, doc_count, work);
        }
        count += work.docs.len() as u64;
    }
    count
}

/// Keeps of `work.docs` those that are in a list, which stands at the beginning of the window.
fn keep_listed(list: &mut List<'_>, span: Span, doc_count: u32, work: &mut Workspace) {
    let wide = span.end - span.start;
    let postings = u64::from(list.doc_frequency()) * u64::from(wide) / u64::from(doc_count.max(1));
    if wide > WINDOW_MAX || work.docs.len() as u64 * LOOK_UP <= postings {
        keep(&mut work.docs, |&mut doc| list.contains(doc));
        return;
    }
    let stamp = work.next_stamp();
    let (docs, marks) = (&mut work.docs, &mut work.marks);
    for &doc in list.window(span.start, span.end) {
        marks[(doc - span.start) as usize] = stamp;
    }
    keep(docs, |doc| marks[(*doc - span.start) as usize] == stamp);
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
    work.collect(&mut groups[driver], span);
    for &at in others {
        let group = &mut groups[at];
        if let [word] = &mut group[..]
            && let [list] = &mut word.lists[..]
        {
            keep_listed(list, span, doc_count, work);
            continue;
        }
        let stamp = work.mark(group, span);
        let (docs, marks) = (&mut work.docs, &work.marks);
        keep(docs, |doc| marks[(*doc - span.start) as usize] == stamp);
    }
}
