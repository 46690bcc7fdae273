//! Intervals: where in a document something stands, from its first word to its last.
//!
//! What lives here: [`Interval`], the rung [`Intervals`] above [`DocIterator`], and [`Occurring`], the documents that
//! have an interval at all. What does not: which intervals there are; each operator says so of its own.
//!
//! Of the intervals of an operand only the *minimal* ones are handed out, those that contain no other: they are enough
//! to know whether an operand stands in a window, and there are at most as many as positions. So operators nest
//! without restriction and stay linear.
//!
//! An operator over intervals is a list in two steps, each dearer than the one before. As a [`DocIterator`] it goes
//! through its *candidates*, the documents that have all words that it needs; its intervals are asked of a candidate
//! only. So a window inside a window costs no position in a document that lacks a word of the outer one.
//!
//! **Invariant.** The intervals of a document ascend strictly, by their first word and by their last alike. Positions
//! are read by [`Intervals::begin`] and [`Intervals::occurs`], of the current document.
//!
//! C. L. A. Clarke, G. V. Cormack, F. J. Burkowski, "An algebra for structured text search and a framework for its
//! implementation", The Computer Journal 38(1), 1995; P. Boldi, S. Vigna, "Efficient optimally lazy algorithms for
//! minimal-interval semantics", Theoretical Computer Science 648, 2016.

use index::{DocId, DocIterator, END};

/// A stretch of a field, from the position of its first word to that of its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// Position of the first word.
    pub first: u32,
    /// Position of the last word, which may be the same.
    pub last: u32,
}

impl Interval {
    /// How many positions it has.
    pub fn width(self) -> u32 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }
}

/// A list of candidates that knows where in the current one it stands.
pub trait Intervals: DocIterator {
    /// Goes before the first interval of the current document.
    fn begin(&mut self);

    /// The next minimal interval of the document at which it was begun; `None` behind the last, and from then on.
    fn next_interval(&mut self) -> Option<Interval>;

    /// Whether the current document has an interval. Nothing is begun after that.
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
    /// Of `candidates`.
    pub fn of(candidates: I) -> Occurring<I> {
        let mut occurring = Occurring(candidates);
        occurring.settle();
        occurring
    }

    /// What is looked for; it stands on the current document.
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
