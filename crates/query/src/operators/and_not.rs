//! AND NOT: the documents that are in one list and not in another.
//!
//! **Invariant.** Before the end, the wanted list is at the current document and the unwanted one beyond it.

use index::{DocId, DocIterator, END};

/// Difference. The unwanted list is moved only to documents of the wanted one.
#[derive(Debug)]
pub struct AndNot<I, J> {
    wanted: I,
    unwanted: J,
}

impl<I: DocIterator, J: DocIterator> AndNot<I, J> {
    /// `wanted` without `unwanted`.
    pub fn new(wanted: I, unwanted: J) -> AndNot<I, J> {
        let mut difference = AndNot { wanted, unwanted };
        difference.settle();
        difference
    }

    /// The wanted list, at the current document.
    pub fn wanted_mut(&mut self) -> &mut I {
        &mut self.wanted
    }

    fn settle(&mut self) -> DocId {
        let mut doc = self.wanted.doc();
        while doc != END && self.unwanted.skip_to(doc) == doc {
            doc = self.wanted.next_doc();
        }
        doc
    }
}

impl<I: DocIterator, J: DocIterator> DocIterator for AndNot<I, J> {
    fn doc(&self) -> DocId {
        self.wanted.doc()
    }

    fn next_doc(&mut self) -> DocId {
        self.wanted.next_doc();
        self.settle()
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        self.wanted.skip_to(target);
        self.settle()
    }
}
