//! Unordered window: all operands within a number of positions, in any order.
//!
//! A heap holds the current interval of each operand, by start. The range from the first start to the last end
//! contains all operands, and is the only range with this start that can be minimal. Then the operands at this start
//! move on. If the end does not change, the range contains the next one and is not minimal.
//!
//! **Invariant.** Between calls, the heap has the current interval of each operand, and `last` is their greatest end.
//! If the heap is not full, no intervals are left. Operands may overlap, so a repeated word may occur only once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use index::{DocId, DocIterator};

use super::{And, Interval, Intervals};

/// Intersection of operands with intervals, near each other.
#[derive(Debug)]
pub struct Unordered<I> {
    parts: And<I>,
    width: u32,
    /// (first, operand).
    begun: BinaryHeap<Reverse<(u32, usize)>>,
    last: u32,
}

impl<I: Intervals> Unordered<I> {
    /// All of `parts` within `width` positions. `cost` estimates the number of documents of a part.
    pub fn new(parts: Vec<I>, width: u32, cost: impl Fn(&I) -> u64) -> Unordered<I> {
        Unordered { parts: And::new(parts, cost), width, begun: BinaryHeap::new(), last: 0 }
    }

    /// The operands in the given order. The current document is a candidate of each.
    pub fn parts_mut(&mut self) -> &mut [I] {
        self.parts.lists_mut()
    }

    fn is_full(&mut self) -> bool {
        self.begun.len() == self.parts.lists_mut().len()
    }

    /// Advances every operand at `first`. An operand without further intervals leaves the heap.
    fn pass(&mut self, first: u32) {
        while let Some(mut top) = self.begun.peek_mut()
            && top.0.0 == first
        {
            let number = top.0.1;
            match self.parts.lists_mut()[number].next_interval() {
                Some(next) => {
                    self.last = self.last.max(next.last);
                    *top = Reverse((next.first, number));
                }
                None => {
                    PeekMut::pop(top);
                }
            }
        }
    }
}

impl<I: Intervals> Intervals for Unordered<I> {
    fn begin(&mut self) {
        self.begun.clear();
        self.last = 0;
        for (number, part) in self.parts.lists_mut().iter_mut().enumerate() {
            part.begin();
            let Some(Interval { first, last }) = part.next_interval() else { return };
            self.last = self.last.max(last);
            self.begun.push(Reverse((first, number)));
        }
    }

    fn next_interval(&mut self) -> Option<Interval> {
        while self.is_full() {
            let &Reverse((first, _)) = self.begun.peek()?;
            let found = Interval { first, last: self.last };
            self.pass(first);
            let contains_next = self.is_full() && self.last == found.last;
            if !contains_next && found.width() <= self.width {
                return Some(found);
            }
        }
        None
    }
}

impl<I: Intervals> DocIterator for Unordered<I> {
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
