//! AND: the documents that are in every list.
//!
//! The rarest list proposes a document; the others skip to it, in the order of rarity. The first list that is beyond
//! it makes the rarest skip there, until all agree. Every step is a `skip_to`, so a long list next to a short one is
//! hardly decoded.
//!
//! **Invariant.** Before the end, every list is at the current document.
//!
//! E. D. Demaine, A. López-Ortiz, J. I. Munro, "Adaptive set intersections, unions, and differences", 2000: their
//! small adaptive order, with the sizes taken once at the beginning.

use index::{DocId, DocIterator, END};

/// Intersection. It is empty without lists.
#[derive(Debug)]
pub struct And<I> {
    /// In the given order, so that scores are added in the order of the query.
    lists: Vec<I>,
    /// Indices into `lists`, rarest first.
    rarest_first: Vec<usize>,
    doc: DocId,
}

impl<I: DocIterator> And<I> {
    /// Intersects `lists`. `cost` estimates the number of documents of a list.
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

    /// The lists in the given order. Each is at the current document, unless that is [`END`].
    pub fn lists_mut(&mut self) -> &mut [I] {
        &mut self.lists
    }

    /// Moves from the document of the rarest list to the first one that all lists have.
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
