//! Every document of a segment.
//!
//! **Invariant.** Each step takes constant time.

use index::{DocId, DocIterator, END};

/// The documents 0, 1, …, `doc_count` - 1.
#[derive(Debug)]
pub struct All {
    doc_count: u32,
    doc: DocId,
}

impl All {
    /// Starts at document 0, if it exists.
    pub fn new(doc_count: u32) -> All {
        let mut all = All { doc_count, doc: END };
        all.stand_at(DocId(0));
        all
    }

    fn stand_at(&mut self, doc: DocId) -> DocId {
        self.doc = if doc.0 < self.doc_count { doc } else { END };
        self.doc
    }
}

impl DocIterator for All {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn next_doc(&mut self) -> DocId {
        self.stand_at(DocId(self.doc.0.saturating_add(1)))
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        self.stand_at(self.doc.max(target))
    }
}
