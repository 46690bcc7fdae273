//! Bounds: what the blocks of a list can make of its term, without a look into them.
//!
//! What lives here: a cursor over the maxima of a list (`maxima.rs`) that moves forward by documents, and
//! what they promise of the whole list. What does not: scores.
//!
//! **Invariant.** A bound is not less than the measure of any document that it is asked for.
//! Reference: S. Ding, T. Suel, "Faster top-k document retrieval using block-max indexes", SIGIR 2011.

use super::{Maximum, Skips};

/// The maxima of a list, block by block.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a> {
    skips: Skips<'a>,
    /// The first block that may hold a document asked for, and its last document.
    block: usize,
    last_doc: u32,
    /// The documents behind all full blocks: if the list has any, how great the greatest may be.
    tail: Option<Maximum>,
}

impl<'a> Bounds<'a> {
    pub(super) fn new(skips: Skips<'a>, has_tail: bool) -> Bounds<'a> {
        let tail = has_tail.then_some(Maximum::UNKNOWN);
        let mut bounds = Bounds { skips, block: 0, last_doc: 0, tail };
        bounds.last_doc = bounds.last_of(0);
        bounds
    }

    /// The last document of a block; beyond all for the tail.
    fn last_of(&self, block: usize) -> u32 {
        self.skips.last_doc(block).unwrap_or(u32::MAX)
    }

    /// The block of the first document asked for.
    #[inline]
    pub fn block(&self) -> usize {
        self.block
    }

    /// Moves to a block, ahead or behind.
    #[inline]
    pub fn enter(&mut self, block: usize) {
        self.block = block;
        self.last_doc = self.last_of(block);
    }

    /// The block of the last document before `end`, which is not before the current one.
    #[inline]
    pub fn last_block(&self, end: u32) -> usize {
        if self.last_doc.saturating_add(1) >= end {
            return self.block;
        }
        self.skips.find(self.block + 1, end.saturating_sub(1))
    }

    /// The bound of the documents from `start` up to, but without, `end`; `None` if the list has none there
    /// for sure. `start` never goes back, unless [`Bounds::enter`] does.
    #[inline]
    pub fn between(&mut self, start: u32, end: u32) -> Option<Maximum> {
        if self.last_doc < start {
            self.block = self.skips.find(self.block + 1, start);
            self.last_doc = self.last_of(self.block);
        }
        let (mut block, mut last_doc, mut most) = (self.block, self.last_doc, None);
        loop {
            most = most.max(self.skips.maximum(block).or(self.tail));
            // The block behind may begin right after the last document of this one.
            if block >= self.skips.count() || last_doc.saturating_add(1) >= end {
                return most;
            }
            block += 1;
            last_doc = self.last_of(block);
        }
    }

    /// Where the bound of `start` may change: the last document of its block.
    #[inline]
    pub fn last_doc(&self) -> u32 {
        self.last_doc
    }

    /// The blocks whose bound is `least` or more.
    pub fn reaching(&self, least: Maximum) -> impl Iterator<Item = (usize, Maximum)> + use<'a> {
        let maxima = self.skips.maxima();
        let tail = self.tail.map(|tail| (maxima.len(), tail));
        let full = maxima.iter().enumerate().filter(move |&(_, &code)| code >= least.0);
        full.map(|(block, &code)| (block, Maximum(code))).chain(tail)
    }

    /// Between which documents the documents of a block lie, both included.
    pub fn span(&self, block: usize) -> (u32, u32) {
        let before = block.checked_sub(1).map_or(0, |before| self.last_of(before));
        (before, self.last_of(block))
    }

    /// What at least `k` documents reach, each in a block of its own: zero for lists of fewer full blocks.
    pub fn reached_by(&self, k: usize) -> Maximum {
        let maxima = self.skips.maxima();
        if k == 0 || maxima.len() < k {
            return Maximum(0);
        }
        // The greatest code that is not greater than k of them.
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
