//! OR over intervals: the intervals of several operands.
//!
//! A heap holds the next interval of each operand that has the document: the earliest end on top, and the shortest
//! among equal ends. An interval that begins no later than the last result contains it, and is dropped.
//!
//! **Invariant.** A result contains no other interval of any operand.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use index::{DocId, DocIterator};

use super::{Interval, Intervals, Or};

/// Union of operands with intervals.
#[derive(Debug)]
pub struct Either<I> {
    parts: Or<I>,
    /// (last, first, operand).
    ahead: BinaryHeap<Reverse<(u32, Reverse<u32>, usize)>>,
    /// Start of the last interval returned.
    told: Option<u32>,
}

impl<I: Intervals> Either<I> {
    /// Union of `parts`.
    pub fn new(parts: Vec<I>) -> Either<I> {
        Either { parts: Or::new(parts), ahead: BinaryHeap::new(), told: None }
    }

    /// Calls `visit` with each operand that has the current document as a candidate.
    pub fn for_each_matched(&mut self, visit: impl FnMut(&mut I)) {
        self.parts.for_each_matched(visit);
    }

    /// Pushes the next interval of an operand.
    fn push(&mut self, number: usize) {
        if let Some(Interval { first, last }) = self.parts.lists_mut()[number].next_interval() {
            self.ahead.push(Reverse((last, Reverse(first), number)));
        }
    }
}

impl<I: Intervals> Intervals for Either<I> {
    fn begin(&mut self) {
        self.ahead.clear();
        self.told = None;
        for at in 0..self.parts.matched().len() {
            let number = self.parts.matched()[at];
            self.parts.lists_mut()[number].begin();
            self.push(number);
        }
    }

    fn next_interval(&mut self) -> Option<Interval> {
        loop {
            let Reverse((last, Reverse(first), number)) = self.ahead.pop()?;
            self.push(number);
            if self.told.is_none_or(|told| first > told) {
                self.told = Some(first);
                return Some(Interval { first, last });
            }
        }
    }

    fn occurs(&mut self) -> bool {
        let mut occurs = false;
        self.parts.for_each_matched(|part| occurs = occurs || part.occurs());
        occurs
    }
}

impl<I: Intervals> DocIterator for Either<I> {
    fn doc(&self) -> DocId {
        self.parts.doc()
    }

    fn next_doc(&mut self) -> DocId {
        self.parts.next_doc()
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        self.parts.skip_to(target)
    }
}
