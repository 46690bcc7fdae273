//! NOT: the documents that are missing from a list.
//!
//! **Invariant.** A document below the bound is in the list or in its complement, and never in both.

use index::DocIterator;

use super::{All, AndNot};

/// Complement within the documents of a segment.
pub type Not<I> = AndNot<All, I>;

impl<I: DocIterator> Not<I> {
    /// Every document below `doc_count` that is not in `list`.
    pub fn complement(list: I, doc_count: u32) -> Not<I> {
        AndNot::new(All::new(doc_count), list)
    }
}
