//! The words of a text on their way to their lists, some at a time.
//!
//! Where a word leads to stands in a place of the memo that is seldom at hand, and so does the list. One
//! after the other they would be waited for; here the place of a word is asked for when it comes, and
//! looked at when some more have come; then their lists are asked for.
//!
//! What does not live here: where a text has its words, and what their terms are.
//!
//! **Invariant.** Occurrences come to the batch in the order in which they were pushed, all of them by the
//! time a [`FieldWords`] is dropped.

use crate::memo::{Probe, WordMemo};
use crate::{Field, IndexWriter};
use std::ops::Range;

/// How many words wait for each other.
pub(crate) const TOGETHER: usize = 64;

/// Takes the words of a text, which is a field of the document added last: see
/// [`IndexWriter::words`].
pub struct FieldWords<'w, 't, T: FnMut(&str, &mut String)> {
    pub(crate) writer: &'w mut IndexWriter,
    pub(crate) field: Field,
    pub(crate) text: &'t str,
    pub(crate) term: T,
    pub(crate) waiting: [Occurrence; TOGETHER],
    pub(crate) count: usize,
}

/// A word that waits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Occurrence {
    pub(crate) probe: Probe,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) position: u32,
}

impl<T: FnMut(&str, &mut String)> FieldWords<'_, '_, T> {
    /// Adds an occurrence of the term of the word in that range of the text.
    ///
    /// # Panics
    /// If there is no such range, or it does not begin and end between characters; perhaps at a later push only, or
    /// when this is dropped.
    #[inline]
    pub fn push(&mut self, word: Range<usize>, position: u32) {
        let Range { start, end } = word;
        let probe = WordMemo::probe(self.field, self.text.as_bytes(), start, end);
        self.writer.expect_word(probe);
        self.waiting[self.count] = Occurrence { probe, start, end, position };
        self.count += 1;
        if self.count == TOGETHER {
            self.flush();
        }
    }

    #[inline(never)]
    fn flush(&mut self) {
        // Taken first: should it panic, the drop does not do it again.
        let waiting = &self.waiting[..std::mem::take(&mut self.count)];
        self.writer.push_words(self.field, self.text, waiting, &mut self.term);
    }
}

impl<T: FnMut(&str, &mut String)> Drop for FieldWords<'_, '_, T> {
    fn drop(&mut self) {
        self.flush();
    }
}
