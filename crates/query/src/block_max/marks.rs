//! Which documents of a window have been met, a byte for each: to mark one is a store that waits for no other, where to
//! set a bit is to read and to write a word that the document before has just written.
//!
//! **Invariant.** Marks of an earlier stamp mean nothing: between two uses nothing has to be wiped off.

use codes::classes::{self, BLOCK};

use super::window::WINDOW_MAX;

pub(super) struct Marks {
    /// The last stamp that each document was marked with.
    bytes: Vec<u8>,
    stamp: u8,
}

impl Marks {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; WINDOW_MAX as usize], stamp: 1 }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        if self.stamp == u8::MAX {
            self.bytes.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
    }

    /// Marks a document by its place in the window; whether it was not marked before.
    #[inline]
    pub(super) fn insert(&mut self, at: u32) -> bool {
        std::mem::replace(&mut self.bytes[at as usize], self.stamp) != self.stamp
    }

    #[inline]
    pub(super) fn contains(&self, at: u32) -> bool {
        self.bytes[at as usize] == self.stamp
    }

    /// Marks documents that lie in the window from `start` on.
    #[inline]
    pub(super) fn extend(&mut self, docs: &[u32], start: u32) {
        for &doc in docs {
            if let Some(mark) = self.bytes.get_mut((doc - start) as usize) {
                *mark = self.stamp;
            }
        }
    }

    /// Sets the bits of all that are marked, the lowest of the first word that of the window's first document, and forgets
    /// them.
    pub(super) fn lay_on(&mut self, words: &mut [u64]) {
        let (blocks, _) = self.bytes.as_chunks::<BLOCK>();
        classes::set_where_equal(blocks, self.stamp, words);
        self.clear();
    }
}
