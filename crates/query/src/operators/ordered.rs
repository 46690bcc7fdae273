//! Ordered window: all operands within a number of positions, each after the one before.
//!
//! For each interval of the first operand, every other operand moves to its first interval after that of the operand
//! before it. So the window ends as early as possible. The ends never descend. Among windows with equal ends the
//! last start is minimal, so a result is returned once the next one ends later.
//!
//! **Invariant.** Every operand only moves forward, so its positions are read once per document. Operands do not
//! overlap: a repeated word must occur twice.

use index::{DocId, DocIterator};

use super::{And, Interval, Intervals};

/// Intersection of operands with intervals, in order and near each other.
#[derive(Debug)]
pub struct Ordered<I> {
    parts: And<I>,
    width: u32,
    /// Current intervals of the operands. The first one is not used.
    stands: Vec<Option<Interval>>,
    /// The next window, if known.
    next: Option<Interval>,
}

impl<I: Intervals> Ordered<I> {
    /// All of `parts` in this order within `width` positions. `cost` estimates the number of documents of a part.
    pub fn new(parts: Vec<I>, width: u32, cost: impl Fn(&I) -> u64) -> Ordered<I> {
        let stands = vec![None; parts.len()];
        Ordered { parts: And::new(parts, cost), width, stands, next: None }
    }

    /// The operands in the given order. The current document is a candidate of each.
    pub fn parts_mut(&mut self) -> &mut [I] {
        self.parts.lists_mut()
    }

    /// The window from the next interval of the first operand to the earliest end.
    fn reach(&mut self) -> Option<Interval> {
        let (first_part, others) = self.parts.lists_mut().split_first_mut()?;
        let Interval { first, mut last } = first_part.next_interval()?;
        for (part, stands) in others.iter_mut().zip(&mut self.stands[1..]) {
            while stands.is_none_or(|interval| interval.first <= last) {
                *stands = Some(part.next_interval()?);
            }
            last = stands.map_or(last, |interval| interval.last);
        }
        Some(Interval { first, last })
    }
}

impl<I: Intervals> Intervals for Ordered<I> {
    fn begin(&mut self) {
        self.parts.lists_mut().iter_mut().for_each(I::begin);
        self.stands.fill(None);
        self.next = self.reach();
    }

    fn next_interval(&mut self) -> Option<Interval> {
        while let Some(found) = self.next {
            self.next = self.reach();
            let contains_next = self.next.is_some_and(|next| next.last == found.last);
            if !contains_next && found.width() <= self.width {
                return Some(found);
            }
        }
        None
    }
}

impl<I: Intervals> DocIterator for Ordered<I> {
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
