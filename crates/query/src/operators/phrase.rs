//! Phrase: the documents in which words stand in given places next to each other.
//!
//! **Invariant.** Positions are read only of documents that have every word.

use index::Positions;

use super::{Adjacent, Occurring};

/// The documents in which word *i* stands `shift` *i* after the beginning of the phrase.
pub type Phrase<P> = Occurring<Adjacent<P>>;

impl<P: Positions> Phrase<P> {
    /// Of (shift, list) pairs; `cost` is about how many documents a list has.
    pub fn new(words: Vec<(u32, P)>, cost: impl Fn(&P) -> u64) -> Phrase<P> {
        Occurring::of(Adjacent::new(words, cost))
    }

    /// The lists in the order given; each stands on the current document, unless that is [`END`](index::END).
    pub fn words_mut(&mut self) -> &mut [P] {
        self.inner_mut().words_mut()
    }
}
