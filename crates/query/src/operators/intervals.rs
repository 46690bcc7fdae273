//! Intervals: the occurrences of an operand in a document, from the first word to the last.
//!
//! What lives here: [`Interval`], the trait [`Intervals`] above [`DocIterator`], and [`Occurring`], the documents
//! with at least one interval. What does not: the intervals of each operator.
//!
//! Only *minimal* intervals are returned, those that contain no other. They are enough to check windows, and their
//! number is at most that of the positions. So operators nest without restriction and take linear time.
//!
//! An operator over intervals works in two steps. As a [`DocIterator`] it visits its *candidates*, the documents
//! that have all required words. Intervals are computed only in candidates. So an inner window reads no positions in
//! a document that lacks a word of the outer one.
//!
//! **Invariant.** The intervals of a document ascend strictly, in both their first and last positions.
//! [`Intervals::begin`] and [`Intervals::occurs`] read the positions of the current document.
//!
//! C. L. A. Clarke, G. V. Cormack, F. J. Burkowski, "An algebra for structured text search and a framework for its
//! implementation", The Computer Journal 38(1), 1995; P. Boldi, S. Vigna, "Efficient optimally lazy algorithms for
//! minimal-interval semantics", Theoretical Computer Science 648, 2016.

use index::{DocId, DocIterator, END};

/// A range of positions in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// Position of the first word.
    pub first: u32,
    /// Position of the last word, which may be the same.
    pub last: u32,
}

impl Interval {
    /// The number of positions.
    pub fn width(self) -> u32 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }
}

/// A list of candidates with the intervals in the current one.
pub trait Intervals: DocIterator {
    /// Moves before the first interval of the current document.
    fn begin(&mut self);

    /// The next minimal interval since `begin`. Returns `None` after the last one, and from then on.
    fn next_interval(&mut self) -> Option<Interval>;

    /// Returns whether the current document has an interval. It ends the iteration since `begin`.
    fn occurs(&mut self) -> bool {
        self.begin();
        self.next_interval().is_some()
    }
}

impl<T: Intervals + ?Sized> Intervals for Box<T> {
    fn begin(&mut self) {
        (**self).begin();
    }

    fn next_interval(&mut self) -> Option<Interval> {
        (**self).next_interval()
    }

    fn occurs(&mut self) -> bool {
        (**self).occurs()
    }
}

/// The candidates that have an interval.
#[derive(Debug)]
pub struct Occurring<I>(I);

impl<I: Intervals> Occurring<I> {
    /// Filters `candidates`.
    pub fn of(candidates: I) -> Occurring<I> {
        let mut occurring = Occurring(candidates);
        occurring.settle();
        occurring
    }

    /// The operand, at the current document.
    pub fn inner_mut(&mut self) -> &mut I {
        &mut self.0
    }

    fn settle(&mut self) -> DocId {
        while self.0.doc() != END && !self.0.occurs() {
            self.0.next_doc();
        }
        self.0.doc()
    }
}

impl<I: Intervals> DocIterator for Occurring<I> {
    fn doc(&self) -> DocId {
        self.0.doc()
    }

    fn next_doc(&mut self) -> DocId {
        self.0.next_doc();
        self.settle()
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        if target <= self.0.doc() {
            return self.0.doc();
        }
        self.0.skip_to(target);
        self.settle()
    }
}
