//! When segments are merged, and which.
//!
//! Segments are a row in the order in which their documents were added. Only neighbours are merged, so the order
//! is kept. Under `Tiered`, the level of a segment is the logarithm of its size to the base [`WIDTH`]. [`WIDTH`]
//! segments of a level at the end of the row are merged, and smaller segments are merged into a larger one after
//! them. So a document is rewritten O(log *n*) times, and there are O(log *n*) segments.
//!
//! **Invariant.** After all merges of a policy, `One` leaves a single segment, `Tiered` fewer than [`WIDTH`] of a
//! level at the end of the row, and `Never` at most [`NEVER_WIDTH`].

use std::ops::Range;

/// Number of segments of a level that are merged.
const WIDTH: usize = 8;
/// Segments with fewer postings than [`WIDTH`] times this have the lowest level.
const LEVEL_POSTINGS: u64 = 1 << 15;
/// A segment is rewritten when one document in this many is deleted.
const DELETED_SHARE: u64 = 4;
/// Under `Never`, the largest number of segments that a reader can reasonably keep open.
const NEVER_WIDTH: usize = 256;

/// When segments are merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MergePolicy {
    /// Merge into one segment after every change: fastest to search, slowest to update.
    One,
    /// Merge when there are many segments of a size: few segments, and each document is seldom rewritten.
    #[default]
    Tiered,
    /// Merge only when there are too many segments to keep open: fastest to update, slowest to search.
    Never,
}

/// Size of a segment, the input of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) postings: u64,
    pub(crate) docs: u32,
    pub(crate) deleted: u32,
}

impl MergePolicy {
    /// Returns the neighbours to merge next, if any. A single segment is rewritten without its deleted documents.
    pub(crate) fn next(self, row: &[Size]) -> Option<Range<usize>> {
        match self {
            MergePolicy::One => {
                let clean = row.iter().all(|size| size.deleted == 0);
                (row.len() > 1 || !clean).then_some(0..row.len())
            }
            MergePolicy::Tiered => expunged(row).or_else(|| tier(row)),
            MergePolicy::Never => (row.len() > NEVER_WIDTH).then_some(0..row.len()),
        }
    }
}

/// Returns a segment that should be rewritten without its deleted documents.
fn expunged(row: &[Size]) -> Option<Range<usize>> {
    let lost = |size: &Size| {
        size.deleted > 0 && u64::from(size.deleted) * DELETED_SHARE >= u64::from(size.docs)
    };
    row.iter().position(lost).map(|at| at..at + 1)
}

/// Returns the segments at the end to merge: many of a level, or smaller ones before a larger one.
fn tier(row: &[Size]) -> Option<Range<usize>> {
    let last = row.last()?.level();
    let before = |is_one: fn(u32, u32) -> bool| {
        let others = row.iter().rev().skip(1).take_while(|size| is_one(size.level(), last));
        others.count()
    };
    let smaller = before(|level, last| level < last);
    if smaller > 0 {
        return Some(row.len() - 1 - smaller..row.len());
    }
    let equal = 1 + before(|level, last| level == last);
    (equal >= WIDTH).then_some(row.len() - equal..row.len())
}

impl Size {
    fn level(self) -> u32 {
        (self.postings / LEVEL_POSTINGS).checked_ilog(WIDTH as u64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(postings: u64) -> Size {
        Size { postings, docs: 100, deleted: 0 }
    }

    /// Adds segments and merges them by the policy. Returns the row and the number of rewritten postings.
    fn grow(policy: MergePolicy, sizes: impl Iterator<Item = u64>) -> (Vec<Size>, u64) {
        let (mut row, mut written) = (Vec::new(), 0);
        for postings in sizes {
            row.push(size(postings));
            while let Some(range) = policy.next(&row) {
                assert!(range.len() > 1, "{range:?} of {row:?}");
                let sum: u64 = row[range.clone()].iter().map(|size| size.postings).sum();
                written += sum;
                row.splice(range, [size(sum)]);
            }
        }
        (row, written)
    }

    #[test]
    fn tiers_keep_few_segments_with_few_writes() {
        let large_between = |n| if n % 500 == 3 { 90_000_000 } else { 7000 };
        for (name, sizes) in [
            ("equal", vec![1_000_000; 5000]),
            ("growing", (1..5000).map(|n| 1000 * n).collect()),
            ("shrinking", (1..5000).rev().map(|n| 1000 * n).collect()),
            ("a large one between", (0..5000).map(large_between).collect()),
            ("empty", vec![0; 300]),
        ] {
            let total: u64 = sizes.iter().sum();
            let (row, written) = grow(MergePolicy::Tiered, sizes.into_iter());
            let levels = row.iter().map(|size| size.level()).max().expect("some") as usize + 1;
            assert!(row.len() <= (WIDTH - 1) * levels, "{name}: {row:?}");
            assert!(written <= 6 * total, "{name}: {written} of {total}");
        }
    }

    #[test]
    fn policy_one_keeps_one_segment_and_never_keeps_many() {
        assert_eq!(grow(MergePolicy::One, 1..100).0.len(), 1);
        assert_eq!(grow(MergePolicy::Never, 1..100), ((1..100).map(size).collect(), 0));
        assert!(grow(MergePolicy::Never, 1..1000).0.len() <= NEVER_WIDTH);
    }

    #[test]
    fn a_segment_with_many_deletions_is_rewritten() {
        let full = size(9);
        let lost = |deleted| Size { deleted, ..full };
        assert_eq!(MergePolicy::Tiered.next(&[full, lost(24), full]), None);
        assert_eq!(MergePolicy::Tiered.next(&[full, lost(25), full]), Some(1..2));
        assert_eq!(MergePolicy::One.next(&[lost(1)]), Some(0..1));
        assert_eq!(MergePolicy::One.next(&[full]), None);
        assert_eq!(MergePolicy::Never.next(&[lost(100)]), None);
    }
}
