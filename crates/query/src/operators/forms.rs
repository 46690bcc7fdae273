//! Forms: several words that count as one, such as those with the same prefix.
//!
//! **Invariant.** Frequencies and positions are those of all forms together.

use index::{DocId, DocIterator, Frequencies, Positions};

use super::Or;

/// Union of lists of words that is itself the list of a word.
#[derive(Debug)]
pub struct Forms<P> {
    lists: Or<P>,
    cost: u64,
    /// Positions of one form. A buffer.
    positions: Vec<u32>,
}

impl<P: Positions> Forms<P> {
    /// Takes the list of each form. `cost` estimates the number of documents of a list.
    pub fn new(lists: Vec<P>, cost: impl Fn(&P) -> u64) -> Forms<P> {
        let cost = lists.iter().map(cost).sum();
        Forms { lists: Or::new(lists), cost, positions: Vec::new() }
    }

    /// An upper bound of the number of documents.
    pub fn cost(&self) -> u64 {
        self.cost
    }
}

impl<P: Positions> DocIterator for Forms<P> {
    fn doc(&self) -> DocId {
        self.lists.doc()
    }

    fn next_doc(&mut self) -> DocId {
        self.lists.next_doc()
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        self.lists.skip_to(target)
    }
}

impl<P: Positions> Frequencies for Forms<P> {
    fn frequency(&mut self) -> u32 {
        let mut sum = 0_u32;
        self.lists.for_each_matched(|form| sum = sum.saturating_add(form.frequency()));
        sum
    }
}

impl<P: Positions> Positions for Forms<P> {
    fn positions(&mut self, out: &mut Vec<u32>) {
        out.clear();
        self.lists.for_each_matched(|form| {
            form.positions(&mut self.positions);
            out.extend_from_slice(&self.positions);
        });
        if self.lists.matched().len() > 1 {
            out.sort_unstable();
            out.dedup();
        }
    }
}
