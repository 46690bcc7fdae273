//! Phrase: the documents with words at given offsets next to each other.
//!
//! **Invariant.** Positions are read only for documents that have every word.

use index::Positions;

use super::{Adjacent, Occurring};

/// The documents in which word *i* is `shift` *i* positions after the start of the phrase.
pub type Phrase<P> = Occurring<Adjacent<P>>;

impl<P: Positions> Phrase<P> {
    /// Takes (shift, list) pairs. `cost` estimates the number of documents of a list.
    pub fn new(words: Vec<(u32, P)>, cost: impl Fn(&P) -> u64) -> Phrase<P> {
        Occurring::of(Adjacent::new(words, cost))
    }

    /// The lists in the given order. Each is at the current document, unless that is [`END`](index::END).
    pub fn words_mut(&mut self) -> &mut [P] {
        self.inner_mut().words_mut()
    }
}
