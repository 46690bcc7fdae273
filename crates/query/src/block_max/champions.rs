//! Queries of one list: the top k are its champions, if the index stores enough of them.
//!
//! **Invariant.** A document that is not judged scores below all champions.

use index::{Champions, DocId};

use super::{Collector, Word};

/// Saturation keeps the order of documents whose measures differ by a millionth, if their scaled occurrences are
/// at most this multiple of *k1*.
const TOLD_APART: f64 = 1e6;

/// Collects the champions if no other document can be among the top k. Returns whether it did.
pub(super) fn collect(word: &Word<'_>, collector: &mut Collector<'_, '_>) -> bool {
    let is_asked = collector.is_sure()
        && collector.tree.is_none()
        && collector.best.size() <= Champions::COUNT
        && collector.statics.most(0, collector.doc_count) <= 0.0;
    let list = &word.lists[0];
    let Some(exact) = word.exact.filter(|_| is_asked && list.scale().is_own()) else {
        return false;
    };
    let Some(champions) = list.champions() else { return false };
    let (_, k1) = exact.parameters();
    let (exactly, lengths) = (list.exact(), list.lengths());
    let most = champions
        .iter()
        .next()
        .map_or(f64::INFINITY, |one| exactly.scaled(one.frequency, lengths.get(DocId(one.doc))));
    if most > TOLD_APART * k1 {
        return false;
    }
    for one in champions.iter() {
        let length = lengths.get(DocId(one.doc));
        collector.collect(one.doc, || exact.score(exactly.scaled(one.frequency, length)));
    }
    true
}
