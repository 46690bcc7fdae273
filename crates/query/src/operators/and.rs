//! AND: the documents that are in every list.
//!
//! The rarest list proposes a document; the others skip to it, next rarest first. The first that
//! stands beyond it makes the rarest skip there, and so on until all agree. Every step is a
//! `skip_to`, so of a long list beside a short one almost nothing is decoded.
//!
//! **Invariant.** Unless at the end, every list stands on the current document.
//!
//! E. D. Demaine, A. López-Ortiz, J. I. Munro, "Adaptive set intersections, unions, and differences",
//! 2000; this is their small adaptive order with the sizes taken once, at the beginning.

use index::{DocId, DocIterator, END};

/// Intersection. Of no lists at all it is empty.
#[derive(Debug)]
pub struct And<I> {
    /// As given, so that scores are added in the order of the query.
    lists: Vec<I>,
    /// Indices into `lists`, rarest first.
    rarest_first: Vec<usize>,
    doc: DocId,
}

impl<I: DocIterator> And<I> {
    /// Of `lists`; `cost` is about how many documents a list has.
    pub fn new(lists: Vec<I>, cost: impl Fn(&I) -> u64) -> And<I> {
        let mut rarest_first: Vec<usize> = (0..lists.len()).collect();
        rarest_first.sort_by_key(|&at| cost(&lists[at]));
        let mut and = And { lists, rarest_first, doc: END };
        if let Some(&rarest) = and.rarest_first.first() {
            let candidate = and.lists[rarest].doc();
            and.align(candidate);
        }
        and
    }

    /// The lists in the order given; each stands on the current document, unless that is [`END`].
    pub fn lists_mut(&mut self) -> &mut [I] {
        &mut self.lists
    }

    /// From the document on which the rarest list stands to the first that all have.
    fn align(&mut self, candidate: DocId) -> DocId {
        self.doc = candidate;
        let Some((&rarest, others)) = self.rarest_first.split_first() else { return END };
        'candidate: while self.doc != END {
            for &other in others {
                let found = self.lists[other].skip_to(self.doc);
                if found != self.doc {
                    self.doc = self.lists[rarest].skip_to(found);
                    continue 'candidate;
                }
            }
            break;
        }
        self.doc
    }
}

impl<I: DocIterator> DocIterator for And<I> {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn next_doc(&mut self) -> DocId {
        if self.doc == END {
            return END;
        }
        let candidate = self.lists[self.rarest_first[0]].next_doc();
        self.align(candidate)
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        if target <= self.doc {
            return self.doc;
        }
        let candidate = self.lists[self.rarest_first[0]].skip_to(target);
        self.align(candidate)
    }
}
