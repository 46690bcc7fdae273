//! Unordered window: where all of some operands stand within so many positions, in any order.
//!
//! A heap holds the current interval of each operand by where it begins. From the first beginning to the last end is a
//! stretch with all of them, and the only one that begins there that can be minimal. To find the next the operands that
//! begin there move on; if the end is still the same the stretch contains the next one and is not minimal.
//!
//! **Invariant.** Between calls each operand in the heap stands on the interval that the heap says, and `last` is the
//! greatest end of those. A heap that is not full has nothing more to tell. Operands may overlap, so a word given twice
//! need be there once only.

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
    /// All of `parts` within `width` positions; `cost` is about how many documents a part has.
    pub fn new(parts: Vec<I>, width: u32, cost: impl Fn(&I) -> u64) -> Unordered<I> {
        Unordered { parts: And::new(parts, cost), width, begun: BinaryHeap::new(), last: 0 }
    }

    /// The operands in the order given; the current document is a candidate of each.
    pub fn parts_mut(&mut self) -> &mut [I] {
        self.parts.lists_mut()
    }

    fn is_full(&mut self) -> bool {
        self.begun.len() == self.parts.lists_mut().len()
    }

    /// Moves on every operand that begins at `first`; one that has no more leaves the heap.
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
