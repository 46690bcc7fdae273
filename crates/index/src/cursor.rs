//! The cursor traits, shared by posting lists and by every operator built on them.
//!
//! What lives here: document ids, the end sentinel, and the traits [`DocIterator`] → [`Frequencies`] →
//! [`Positions`]. An operator requires the lowest of them that it needs. Stored lists are in `postings/`.
//!
//! **Invariant.** The documents of an iterator are strictly ascending; once it has reached
//! [`END`] it stays there.

/// A document of one segment, numbered from zero in the order in which it was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u32);

/// No document: greater than every real one, and the last value of every iterator.
pub const END: DocId = DocId(u32::MAX);

/// An ascending sequence of documents, computed lazily.
pub trait DocIterator {
    /// The current document. A new iterator is on its first document, or on [`END`] if it has none.
    fn doc(&self) -> DocId;

    /// Moves to the next document and returns it; at the end it stays at [`END`].
    fn next_doc(&mut self) -> DocId;

    /// Moves to the first document not less than `target`, and returns it.
    ///
    /// Never moves backwards: when the current document is already at or past `target`, nothing
    /// happens.
    fn skip_to(&mut self, target: DocId) -> DocId {
        let mut doc = self.doc();
        while doc < target {
            doc = self.next_doc();
        }
        doc
    }
}

/// A cursor that also knows how often its term occurs in the current document.
pub trait Frequencies: DocIterator {
    /// Occurrences in the current document, at least one; zero at [`END`].
    fn frequency(&mut self) -> u32;
}

/// A cursor that also knows where its term occurs in the current document.
pub trait Positions: Frequencies {
    /// Clears `out` and puts in the positions of the current document, ascending; at [`END`] none.
    fn positions(&mut self, out: &mut Vec<u32>);
}

impl<T: DocIterator + ?Sized> DocIterator for Box<T> {
    fn doc(&self) -> DocId {
        (**self).doc()
    }

    fn next_doc(&mut self) -> DocId {
        (**self).next_doc()
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        (**self).skip_to(target)
    }
}

impl<T: Frequencies + ?Sized> Frequencies for Box<T> {
    fn frequency(&mut self) -> u32 {
        (**self).frequency()
    }
}

impl<T: Positions + ?Sized> Positions for Box<T> {
    fn positions(&mut self, out: &mut Vec<u32>) {
        (**self).positions(out);
    }
}
