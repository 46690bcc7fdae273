//! Collects the words of a text, so that memory accesses of several words overlap.
//!
//! The memo entry of a word and its list are seldom in the cache. The entry is prefetched when the word arrives,
//! and read after some more words have arrived. Then the list is prefetched.
//!
//! **Invariant.** Occurrences reach the batch in the order in which they were pushed, all of them before a
//! [`FieldWords`] is dropped.

use crate::build::term_cache::{Occurrence, TOGETHER, TermCache};
use crate::{Field, IndexWriter};
use std::ops::Range;

/// Takes the words of a text, which is a field of the last added document: see [`IndexWriter::words`].
pub struct FieldWords<'w, 't, T: FnMut(&str, &mut String)> {
    pub(crate) writer: &'w mut IndexWriter,
    pub(crate) field: Field,
    pub(crate) text: &'t str,
    pub(crate) term: T,
    pub(crate) waiting: [Occurrence; TOGETHER],
    pub(crate) count: usize,
}

impl<T: FnMut(&str, &mut String)> FieldWords<'_, '_, T> {
    /// Adds an occurrence of the term of a word, given its range in the text.
    ///
    /// # Panics
    /// If the range is not inside the text or is not on character boundaries. The panic may come at a later
    /// push or at the drop.
    #[inline]
    pub fn push(&mut self, word: Range<usize>, position: u32) {
        let Range { start, end } = word;
        let probe = TermCache::probe(self.field, self.text.as_bytes(), start, end);
        self.writer.expect_word(probe);
        self.waiting[self.count] = Occurrence { probe, start, end, position };
        self.count += 1;
        if self.count == TOGETHER {
            self.flush();
        }
    }

    #[inline(never)]
    fn flush(&mut self) {
        // Take first, so that after a panic the drop does not repeat it.
        let waiting = &self.waiting[..std::mem::take(&mut self.count)];
        self.writer.push_words(self.field, self.text, waiting, &mut self.term);
    }
}

impl<T: FnMut(&str, &mut String)> Drop for FieldWords<'_, '_, T> {
    fn drop(&mut self) {
        self.flush();
    }
}
