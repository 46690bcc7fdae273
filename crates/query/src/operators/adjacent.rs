//! Words in given places next to each other, and where they stand so.
//!
//! The candidates are the documents that have every word, by [`And`]. In a candidate the positions of every word,
//! shifted back by its place, are intersected: what is left are the positions where the whole begins. One word alone is
//! the simplest case, and needs no positions to be somewhere.
//!
//! **Invariant.** Positions are read only of documents that have every word.

use index::{DocId, DocIterator, Positions};

use super::{And, Interval, Intervals};

/// Intersection in which word *i* stands `shift` *i* after the beginning.
#[derive(Debug)]
pub struct Adjacent<P> {
    words: And<P>,
    shifts: Vec<u32>,
    /// From where it begins to its first word, and to its last.
    reach: (u32, u32),
    /// Where it begins in the current document.
    starts: Vec<u32>,
    /// How many of them were handed out.
    told: usize,
    /// Positions of one word; kept for its memory.
    positions: Vec<u32>,
}

impl<P: Positions> Adjacent<P> {
    /// Of (shift, list) pairs; `cost` is about how many documents a list has.
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

    /// The lists in the order given; each stands on the current document, unless that is [`END`](index::END).
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

/// Keeps of `starts` those that, `shift` later, are in `positions`; both ascend.
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
