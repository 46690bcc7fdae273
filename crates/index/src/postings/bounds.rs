//! Bounds: the best that the blocks of a list can contribute, without decoding them.
//!
//! What lives here: a cursor over the maxima of a list (`maxima.rs`), which moves forward by document, and bounds
//! of the whole list. Scores do not live here.
//!
//! **Invariant.** A bound is not less than the measure of any document that it covers.
//! Reference: S. Ding, T. Suel, "Faster top-k document retrieval using block-max indexes", SIGIR 2011.

use super::{Maximum, Skips};

/// The maxima of a list, block by block.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a> {
    skips: Skips<'a>,
    /// The current block, and its last document.
    block: usize,
    last_doc: u32,
    /// Number of blocks, including a last one that is not full.
    blocks: usize,
}

impl<'a> Bounds<'a> {
    pub(super) fn new(skips: Skips<'a>, blocks: usize) -> Bounds<'a> {
        let mut bounds = Bounds { skips, block: 0, last_doc: 0, blocks };
        bounds.last_doc = bounds.last_of(0);
        bounds
    }

    /// The last document of a block; `u32::MAX` for a last block that is not full.
    #[inline]
    fn last_of(&self, block: usize) -> u32 {
        self.skips.last_doc(block).unwrap_or(u32::MAX)
    }

    /// The current block.
    #[inline]
    pub fn block(&self) -> usize {
        self.block
    }

    /// Moves to a block, forwards or backwards.
    #[inline]
    pub fn enter(&mut self, block: usize) {
        self.block = block;
        self.last_doc = self.last_of(block);
    }

    /// The block of the last document before `end`. `end` must not be before the current block.
    #[inline]
    pub fn last_block(&self, end: u32) -> usize {
        if self.last_doc.saturating_add(1) >= end {
            return self.block;
        }
        self.skips.find(self.block + 1, end.saturating_sub(1))
    }

    /// Moves to the block that may contain `doc`, and returns it. `doc` must not decrease, except after
    /// [`Bounds::enter`].
    #[inline]
    pub fn seek(&mut self, doc: u32) -> usize {
        if self.last_doc < doc {
            self.block = self.skips.find(self.block + 1, doc);
            self.last_doc = self.last_of(self.block);
        }
        self.block
    }

    /// Returns the bound of the documents in `start..end` and the block where they begin. The bound is `None` if
    /// the list certainly has no such document. Moves to the block where they end. The next call must not ask for
    /// earlier documents, except after [`Bounds::enter`].
    #[inline]
    pub fn over(&mut self, start: u32, end: u32) -> (Option<Maximum>, usize) {
        let first = self.seek(start);
        // The next block may begin right after the last document of this one.
        let behind = (self.seek(end.saturating_sub(1)) + 1).min(self.blocks);
        if first >= behind {
            return (None, first);
        }
        let most = match self.skips.maxima() {
            [] => Maximum::UNKNOWN,
            maxima => {
                let near = maxima.get(first..behind).unwrap_or_default();
                Maximum(near.iter().copied().max().unwrap_or(u8::MAX))
            }
        };
        (Some(most), first)
    }

    /// The bound of a block.
    #[inline]
    pub fn maximum(&self, block: usize) -> Maximum {
        self.skips.maximum(block).unwrap_or(Maximum::UNKNOWN)
    }

    /// The last document of the current block; the bound may change after it.
    #[inline]
    pub fn last_doc(&self) -> u32 {
        self.last_doc
    }

    /// A block with the greatest bound.
    pub fn best_block(&self) -> usize {
        let maxima = self.skips.maxima().iter().enumerate();
        maxima.max_by_key(|(_, code)| **code).map_or(0, |(block, _)| block)
    }

    /// The bound of all documents.
    pub fn greatest(&self) -> Maximum {
        self.skips.maxima().iter().max().map_or(Maximum::UNKNOWN, |&code| Maximum(code))
    }

    /// A range that contains the documents of a block, both ends included.
    pub fn span(&self, block: usize) -> (u32, u32) {
        let before = block.checked_sub(1).map_or(0, |before| self.last_of(before));
        (before, self.last_of(block))
    }

    /// The last document of each block; `u32::MAX` for a last block that is not full.
    pub fn last_docs(&self) -> impl Iterator<Item = u32> + use<'a> {
        let bounds = *self;
        (0..self.blocks).map(move |block| bounds.last_of(block))
    }

    /// A bound reached by at least `k` documents, each in another block; zero for lists with fewer blocks.
    pub fn reached_by(&self, k: usize) -> Maximum {
        let maxima = self.skips.maxima();
        if k == 0 || maxima.len() < k {
            return Maximum(0);
        }
        // Find the k-th greatest code.
        let (mut low, mut high) = (0_u8, u8::MAX);
        while low < high {
            let middle = high - (high - low) / 2;
            if maxima.iter().filter(|&&code| code >= middle).count() >= k {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Maximum(low)
    }
}
