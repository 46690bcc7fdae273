//! OR: the documents that are in at least one list.
//!
//! A k-way merge. A heap holds the lists by their current documents. The lists at the current document are taken out
//! of it and kept by number, which gives the matching lists.
//!
//! **Invariant.** A list is in the heap, or among the matched, or at its end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use index::{DocId, DocIterator, END};

/// Union with the lists that have the current document.
#[derive(Debug)]
pub struct Or<I> {
    lists: Vec<I>,
    /// (document, list) of the lists beyond the current document.
    ahead: BinaryHeap<Reverse<(DocId, usize)>>,
    /// The lists on the current document, ascending.
    matched: Vec<usize>,
    doc: DocId,
}

impl<I: DocIterator> Or<I> {
    /// Union of `lists`.
    pub fn new(lists: Vec<I>) -> Or<I> {
        let ahead = lists
            .iter()
            .enumerate()
            .filter(|(_, list)| list.doc() != END)
            .map(|(number, list)| Reverse((list.doc(), number)))
            .collect();
        let mut or = Or { matched: Vec::with_capacity(lists.len()), lists, ahead, doc: END };
        or.gather();
        or
    }

    /// Numbers of the lists that have the current document, ascending.
    pub fn matched(&self) -> &[usize] {
        &self.matched
    }

    /// All lists in the given order. The matched ones are at the current document. The caller must not move them.
    /// them.
    pub(super) fn lists_mut(&mut self) -> &mut [I] {
        &mut self.lists
    }

    /// Calls `visit` with each list that has the current document, in the given order.
    pub fn for_each_matched(&mut self, mut visit: impl FnMut(&mut I)) {
        for &number in &self.matched {
            visit(&mut self.lists[number]);
        }
    }

    /// Moves list `number` and pushes it into the heap unless it has ended.
    fn advance(&mut self, number: usize, step: impl FnOnce(&mut I) -> DocId) {
        let doc = step(&mut self.lists[number]);
        if doc != END {
            self.ahead.push(Reverse((doc, number)));
        }
    }

    /// Takes the lists at the smallest document out of the heap.
    fn gather(&mut self) -> DocId {
        self.matched.clear();
        self.doc = self.ahead.peek().map_or(END, |&Reverse((doc, _))| doc);
        while let Some(&Reverse((doc, number))) = self.ahead.peek()
            && doc == self.doc
        {
            self.ahead.pop();
            self.matched.push(number);
        }
        self.doc
    }
}

impl<I: DocIterator> DocIterator for Or<I> {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn next_doc(&mut self) -> DocId {
        while let Some(number) = self.matched.pop() {
            self.advance(number, I::next_doc);
        }
        self.gather()
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        if target <= self.doc {
            return self.doc;
        }
        while let Some(number) = self.matched.pop() {
            self.advance(number, |list| list.skip_to(target));
        }
        while let Some(&Reverse((doc, number))) = self.ahead.peek()
            && doc < target
        {
            self.ahead.pop();
            self.advance(number, |list| list.skip_to(target));
        }
        self.gather()
    }
}
