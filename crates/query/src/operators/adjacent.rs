//! Words at given offsets next to each other, with their intervals.
//!
//! The candidates are the documents that have every word, by [`And`]. In a candidate, the positions of every word
//! minus its offset are intersected. The result is the start positions. A single word always occurs in its
//! candidates, so this needs no positions.
//!
//! **Invariant.** Positions are read only for documents that have every word.

use index::{DocId, DocIterator, Positions};

use super::{And, Interval, Intervals};

/// Intersection in which word *i* is `shift` *i* positions after the start.
#[derive(Debug)]
pub struct Adjacent<P> {
    words: And<P>,
    shifts: Vec<u32>,
    /// Offsets of the first word and of the last one from the start.
    reach: (u32, u32),
    /// Start positions in the current document.
    starts: Vec<u32>,
    /// Number of intervals returned so far.
    told: usize,
    /// Positions of one word. A buffer.
    positions: Vec<u32>,
}

impl<P: Positions> Adjacent<P> {
    /// Takes (shift, list) pairs. `cost` estimates the number of documents of a list.
    pub fn new(words: Vec<(u32, P)>, cost: impl Fn(&P) -> u64) -> Adjacent<P> {
        let (mut shifts, lists): (Vec<u32>, Vec<P>) = words.into_iter().unzip();
        if let [only] = &mut shifts[..] {
            *only = 0;
        }
        let ends = (shifts.iter().min(), shifts.iter().max());
        let reach = (ends.0.copied().unwrap_or(0), ends.1.copied().unwrap_or(0));
        let words = And::new(lists, cost);
        Adjacent { words, shifts, reach, starts: Vec::new(), told: 0, positions: Vec::new() }
    }

    /// The lists in the given order. Each is at the current document, unless that is [`END`](index::END).
    pub fn words_mut(&mut self) -> &mut [P] {
        self.words.lists_mut()
    }
}

impl<P: Positions> Intervals for Adjacent<P> {
    fn begin(&mut self) {
        self.told = 0;
        self.starts.clear();
        let mut words = self.words.lists_mut().iter_mut().zip(&self.shifts);
        let Some((first, &shift)) = words.next() else { return };
        first.positions(&mut self.positions);
        self.starts.extend(self.positions.iter().filter_map(|at| at.checked_sub(shift)));
        for (word, &shift) in words {
            if self.starts.is_empty() {
                return;
            }
            word.positions(&mut self.positions);
            keep_shifted(&mut self.starts, &self.positions, shift);
        }
    }

    fn next_interval(&mut self) -> Option<Interval> {
        let &start = self.starts.get(self.told)?;
        self.told += 1;
        let (first, last) = self.reach;
        Some(Interval { first: start.saturating_add(first), last: start.saturating_add(last) })
    }

    fn occurs(&mut self) -> bool {
        if self.shifts.len() == 1 {
            return true;
        }
        self.begin();
        !self.starts.is_empty()
    }
}

/// Keeps the `starts` with a position `shift` later. Both lists ascend.
fn keep_shifted(starts: &mut Vec<u32>, positions: &[u32], shift: u32) {
    let mut rest = positions;
    starts.retain(|start| {
        let Some(wanted) = start.checked_add(shift) else { return false };
        while let Some((&first, after)) = rest.split_first()
            && first < wanted
        {
            rest = after;
        }
        rest.first() == Some(&wanted)
    });
}

impl<P: Positions> DocIterator for Adjacent<P> {
    fn doc(&self) -> DocId {
        self.words.doc()
    }

    fn next_doc(&mut self) -> DocId {
        self.words.next_doc()
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        self.words.skip_to(target)
    }
}
