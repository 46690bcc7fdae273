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
const FEW: u64 = 1 << 16;
/// Then a window is as wide as this many postings take.
const POSTINGS: u64 = 512;

/// A window with the sum of the bounds of all words.
pub(super) struct Bounded {
    pub(super) span: Span,
    pub(super) bound: f32,
}

/// All windows that may hold one of the best, and whether the most promising come first. Of groups that must all match
/// `driver` is the rarest.
pub(super) fn order(
    groups: &mut [Vec<Word<'_>>],
    driver: Option<usize>,
    judge: &Judge<'_, '_>,
) -> (Vec<Bounded>, bool) {
    let doc_count = judge.doc_count;
    let cost: u64 = groups.iter().flatten().map(Word::cost).sum();
    let mut docs = driver.and_then(|driver| groups[driver].first()?.short()).unwrap_or_default().to_vec().into_iter();
    let is_short = docs.len() > 0;
    let wide = if is_short {
        WINDOW_MAX
    } else if cost < FEW {
        let documents = POSTINGS * u64::from(doc_count) / cost.max(1);
        u32::try_from(documents).unwrap_or(u32::MAX).clamp(WINDOW_MIN, WINDOW_MAX)
    } else {
        (doc_count / WINDOWS).clamp(WINDOW_MIN, WINDOW_MAX)
    };
    let mut windows = Vec::with_capacity((doc_count / wide) as usize + 1);
    let mut start = docs.next().unwrap_or(0);
    while start < doc_count {
        let end = start.saturating_add(wide).min(doc_count);
        let most = judge.statics.most(start, end);
        let bounds = groups.iter_mut().flatten().map(|word| word.bound_in(start, end));
        let bound = bounds.sum::<f32>() + most;
        if bound >= judge.least {
            windows.push(Bounded { span: Span { start, end, most }, bound });
        }
        start = if is_short { docs.find(|&doc| doc >= end).unwrap_or(doc_count) } else { end };
    }
    let sorts = judge.tree.is_none() && cost >= FEW;
    if sorts {
        windows.sort_unstable_by(|a, b| b.bound.total_cmp(&a.bound));
    }
    (windows, sorts)
}
