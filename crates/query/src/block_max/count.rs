//! Counts the documents that have a word of each group and no excluded word, without scores and frequencies.
//!
//! Blocks stored as bit sets are counted as such. The longest list is probed only for documents of the other
//! lists; its blocks without any of them are not decoded.
//!
//! **Invariant.** A document counts at most once, a deleted one never.

use std::ops::Range;

use index::{Deleted, DocId, DocSet};

use super::Word;
use super::candidates::Span;
use super::intersection::Order;
use super::list::{LOOK_UP, List};
use super::window::{WINDOW_MAX, keep};
use super::workspace::Workspace;
use crate::Stop;

/// With one posting in this many documents, a pass over all documents is cheaper than one over the postings.
const DENSE: u64 = 16;

/// Maximum number of 64-bit words in the bit set of a block.
const SET_WORDS: usize = DocSet::BITS_MAX.div_ceil(64);

/// Counts the matches that are not `deleted`. Once `stop` is set, returns the count so far.
pub(super) fn count(
    groups: &mut [Vec<Word<'_>>],
    unwanted: &mut [List<'_>],
    (doc_count, deleted): (u32, Option<Deleted<'_>>),
    work: &mut Workspace,
    stop: &Stop,
) -> u64 {
    let is_one_list = |words: &Vec<Word<'_>>| matches!(&words[..], [word] if word.is_single());
    let is_simple = deleted.is_none() && unwanted.is_empty();
    match &mut *groups {
        [words] if is_simple => return count_any(words, doc_count, work, stop),
        groups if is_simple && groups.iter().all(is_one_list) => {
            let mut lists: Vec<&mut List<'_>> =
                groups.iter_mut().flatten().flat_map(|word| &mut word.lists).collect();
            return count_all(&mut lists, doc_count, work, stop);
        }
        _ => {}
    }
    let Order { rarest_first, .. } = Order::new(groups);
    let mut count = 0;
    for span in spans(doc_count, stop) {
        groups.iter_mut().flatten().for_each(|word| word.advance(span.start));
        narrow(groups, &rarest_first, span, work);
        if !unwanted.is_empty() {
            for list in &mut *unwanted {
                list.advance(span.start);
            }
            let stamp = work.mark(unwanted.iter_mut(), span);
            let (docs, marks) = (&mut work.docs, &work.marks);
            keep(docs, |doc| marks[(*doc - span.start) as usize] != stamp);
        }
        let counts = |doc: &&u32| deleted.is_none_or(|deleted| !deleted.contains(DocId(**doc)));
        count += work.docs.iter().filter(counts).count() as u64;
    }
    count
}

/// Splits the documents into windows of the maximum width.
fn spans(doc_count: u32, stop: &Stop) -> impl Iterator<Item = Span> {
    let starts = (0..doc_count).step_by(WINDOW_MAX as usize);
    starts.take_while(|_| !stop.is_set()).map(move |start| Span {
        start,
        end: start.saturating_add(WINDOW_MAX).min(doc_count),
        most: 0.0,
    })
}

/// Counts the documents of the longest list, and those that only other lists have.
fn count_any(words: &mut [Word<'_>], doc_count: u32, work: &mut Workspace, stop: &Stop) -> u64 {
    let mut lists: Vec<&mut List<'_>> = words.iter_mut().flat_map(|word| &mut word.lists).collect();
    lists.sort_by_key(|list| list.doc_frequency());
    let Some((longest, others)) = lists.split_last_mut() else { return 0 };
    let mut count = u64::from(longest.doc_frequency());
    let rest: u64 = others.iter().map(|list| u64::from(list.doc_frequency())).sum();
    if rest == 0 {
        return count;
    }
    if (rest + count) * DENSE >= u64::from(doc_count) {
        return count_dense(longest, others, doc_count, work, stop);
    }
    let looks_up = rest * LOOK_UP <= count;
    for span in spans(doc_count, stop) {
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

/// Counts the union of dense lists: the other lists are united as bits, and the longest list is probed for them.
fn count_dense(
    longest: &mut List<'_>,
    others: &mut [&mut List<'_>],
    doc_count: u32,
    work: &mut Workspace,
    stop: &Stop,
) -> u64 {
    let mut count = u64::from(longest.doc_frequency());
    let words = &mut work.words;
    words.resize(WINDOW_MAX as usize / 64, 0);
    for Span { start, end, .. } in spans(doc_count, stop) {
        for list in &mut *others {
            list.lay_out(start, end, words);
        }
        let common = longest.count_in(start, end, words);
        let ones: u64 =
            words.iter_mut().map(|word| u64::from(std::mem::take(word).count_ones())).sum();
        // In a foreign or damaged file, `common` may be greater than `ones`.
        count += ones.saturating_sub(common);
    }
    count
}

/// Counts the documents that are in all lists.
fn count_all(
    lists: &mut [&mut List<'_>],
    doc_count: u32,
    work: &mut Workspace,
    stop: &Stop,
) -> u64 {
    lists.sort_by_key(|list| list.doc_frequency());
    let Some((rarest, others)) = lists.split_first_mut() else { return 0 };
    if u64::from(rarest.doc_frequency()) * DENSE >= u64::from(doc_count)
        && let Some((longest, others)) = others.split_last_mut()
    {
        return count_all_dense(rarest, others, longest, doc_count, stop);
    }
    let mut count = 0;
    for block in (0..rarest.block_count()).take_while(|_| !stop.is_set()) {
        if let Some(set) = rarest.block_set(block) {
            count += count_in_set(set, others);
            continue;
        }
        work.docs.clear();
        work.docs.extend_from_slice(rarest.block_docs(block));
        for list in &mut *others {
            keep_listed(list, work);
        }
        count += work.docs.len() as u64;
    }
    count
}

/// Counts the intersection of dense lists as bits.
fn count_all_dense(
    rarest: &mut List<'_>,
    others: &mut [&mut List<'_>],
    longest: &mut List<'_>,
    doc_count: u32,
    stop: &Stop,
) -> u64 {
    let mut count = 0;
    let mut words = [0; WINDOW_MAX as usize / 64];
    let mut theirs = [0; WINDOW_MAX as usize / 64];
    for Span { start, end, .. } in spans(doc_count, stop) {
        rarest.lay_out(start, end, &mut words);
        for list in &mut *others {
            list.lay_out_over(start, end, &words, &mut theirs);
            for (word, theirs) in words.iter_mut().zip(&mut theirs) {
                *word &= std::mem::take(theirs);
            }
        }
        count += longest.count_in(start, end, &words);
        words.fill(0);
    }
    count
}

/// Counts the documents of a set that are in all other lists. Sets of successive calls ascend.
fn count_in_set(set: DocSet<'_>, others: &mut [&mut List<'_>]) -> u64 {
    let mut words = [0; SET_WORDS];
    let Range { start, end } = set.range();
    let words = &mut words[..((end - start) as usize).div_ceil(64)];
    for (word, doc) in words.iter_mut().zip((start..).step_by(64)) {
        *word = set.word(doc);
    }
    for list in others {
        let mut theirs = [0; SET_WORDS];
        list.lay_out(start, end, &mut theirs[..words.len()]);
        words.iter_mut().zip(theirs).for_each(|(word, theirs)| *word &= theirs);
    }
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Keeps the documents of `work.docs` that are in a list. Documents of successive calls ascend.
fn keep_listed(list: &mut List<'_>, work: &mut Workspace) {
    let docs = &mut work.docs;
    let (mut from, mut kept) = (0, 0);
    while let Some(run) = list.run(&docs[from..], |doc| doc) {
        let end = from + run.len;
        let count = list.keep_in_block(run.block, &mut docs[from..end], |doc| doc);
        docs.copy_within(from..from + count, kept);
        (from, kept) = (end, kept + count);
    }
    docs.truncate(kept);
}

/// Sets `work.docs` to the documents of a window that match all groups.
fn narrow(groups: &mut [Vec<Word<'_>>], rarest_first: &[usize], span: Span, work: &mut Workspace) {
    let Some((&driver, others)) = rarest_first.split_first() else { return };
    work.collect(&mut groups[driver], span);
    for &at in others {
        let group = &mut groups[at];
        if let [word] = &mut group[..]
            && let [list] = &mut word.lists[..]
        {
            keep_listed(list, work);
            continue;
        }
        let stamp = work.mark(group.iter_mut().flat_map(|word| &mut word.lists), span);
        let (docs, marks) = (&mut work.docs, &work.marks);
        keep(docs, |doc| marks[(*doc - span.start) as usize] == stamp);
    }
}
