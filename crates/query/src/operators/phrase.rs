//! Phrase: the documents in which words stand in given places next to each other.
//!
//! First the documents that have every word, by [`And`]; then in each of them the positions of
//! every word, shifted back by its place in the phrase, are intersected: what is left are the
//! positions where the phrase begins. One word alone is a phrase too, and needs no positions.
//!
//! **Invariant.** Positions are read only of documents that have every word.

use index::{DocId, DocIterator, END, Positions};

use super::And;

/// Intersection in which word *i* stands `shift` *i* after the beginning of the phrase.
#[derive(Debug)]
pub struct Phrase<P> {
    words: And<P>,
    shifts: Vec<u32>,
    /// Where the phrase may begin in the current document; kept for its memory.
    starts: Vec<u32>,
    /// Positions of one word; kept for its memory.
    positions: Vec<u32>,
}

impl<P: Positions> Phrase<P> {
    /// Of (shift, list) pairs; `cost` is about how many documents a list has.
    pub fn new(words: Vec<(u32, P)>, cost: impl Fn(&P) -> u64) -> Phrase<P> {
        let (shifts, lists) = words.into_iter().unzip();
        let words = And::new(lists, cost);
        let mut phrase = Phrase { words, shifts, starts: Vec::new(), positions: Vec::new() };
        phrase.settle();
        phrase
    }

    /// The lists in the order given; each stands on the current document, unless that is [`END`].
    pub fn words_mut(&mut self) -> &mut [P] {
        self.words.lists_mut()
    }

    fn settle(&mut self) -> DocId {
        while self.words.doc() != END && !self.occurs() {
            self.words.next_doc();
        }
        self.words.doc()
    }

    /// Whether the words of the current document, which has them all, stand as the phrase wants.
    fn occurs(&mut self) -> bool {
        let mut words = self.words.lists_mut().iter_mut().zip(&self.shifts);
        if words.len() == 1 {
            return true;
        }
        let Some((first, &shift)) = words.next() else { return false };
        first.positions(&mut self.positions);
        self.starts.clear();
        self.starts.extend(self.positions.iter().filter_map(|at| at.checked_sub(shift)));
        for (word, &shift) in words {
            if self.starts.is_empty() {
                return false;
            }
            word.positions(&mut self.positions);
            keep_shifted(&mut self.starts, &self.positions, shift);
        }
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

impl<P: Positions> DocIterator for Phrase<P> {
    fn doc(&self) -> DocId {
        self.words.doc()
    }

    fn next_doc(&mut self) -> DocId {
        self.words.next_doc();
        self.settle()
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        if target <= self.words.doc() {
            return self.words.doc();
        }
        self.words.skip_to(target);
        self.settle()
    }
}
