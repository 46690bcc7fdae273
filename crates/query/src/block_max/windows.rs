//! In which order windows are evaluated: the most promising first.
//!
//! Documents that are alike stand together, since they are in the order of their URLs: a query has its best documents
//! in few windows. Evaluated first, they lift the threshold so much that most others need no look.
//!
//! **Invariant.** Windows do not overlap, and those that are left out stay below what it takes.
//!
//! J. Mackenzie, M. Petri, A. Moffat, "Anytime ranking on document-ordered indexes", TOIS 2022.

use super::candidates::Span;
use super::window::{WINDOW_MAX, WINDOW_MIN};
use super::{Judge, Word};

/// Windows are as many, if there are enough documents.
const WINDOWS: u32 = 256;
/// With fewer postings it is not worth while to look for the most promising.
const FEW: u64 = 4096;

/// A window with the sum of the bounds of all words.
pub(super) struct Bounded {
    pub(super) span: Span,
    pub(super) bound: f32,
}

/// All windows that may hold one of the best, and whether the most promising come first.
pub(super) fn order(groups: &mut [Vec<Word<'_>>], judge: &Judge<'_, '_>) -> (Vec<Bounded>, bool) {
    let doc_count = judge.doc_count;
    let cost: u64 = groups.iter().flatten().map(Word::cost).sum();
    let wide = if cost < FEW { WINDOW_MAX } else { (doc_count / WINDOWS).clamp(WINDOW_MIN, WINDOW_MAX) };
    let mut windows = Vec::with_capacity((doc_count / wide) as usize + 1);
    let mut start = 0;
    while start < doc_count {
        let end = start.saturating_add(wide).min(doc_count);
        let most = judge.statics.most(start, end);
        let bound = groups.iter_mut().flatten().map(|word| word.bound_in(start, end)).sum::<f32>() + most;
        if bound >= judge.least {
            windows.push(Bounded { span: Span { start, end, most }, bound });
        }
        start = end;
    }
    let sorts = judge.tree.is_none() && cost >= FEW;
    if sorts {
        windows.sort_unstable_by(|a, b| b.bound.total_cmp(&a.bound));
    }
    (windows, sorts)
}
