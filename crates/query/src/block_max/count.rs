//! How many documents have a word of each group: nothing is scored, and no frequency is decoded.
//!
//! **Invariant.** Each document counts once, deleted ones never.

use index::{Deleted, DocId};

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
    if !is_union {
        groups.iter_mut().flatten().for_each(Word::load_short);
    }
    let driver = rarest_first.first().copied().filter(|_| !is_union);
    let statics = StaticScores::default();
    let windows = Windows::new(&mut groups, driver, (doc_count, &statics), f32::NEG_INFINITY);
    let mut count = 0;
    for &(number, _) in &windows.order {
        let span = windows.enter(number, &mut groups);
        if is_union && deleted.is_none() {
            count += work.count(&mut groups[0], span);
            continue;
        }
        let left = intersection::narrow(
            &mut groups,
            &rarest_first,
            (span, f32::NEG_INFINITY),
            doc_count,
            work,
        );
        for &doc in &work.docs {
            let counts = deleted.is_none_or(|deleted| !deleted.contains(DocId(doc)));
            count += u64::from(counts && intersection::has_all(&mut groups, left, doc));
        }
    }
    count
}
