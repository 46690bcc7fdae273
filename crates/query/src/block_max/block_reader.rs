//! One block of a list, decoded on demand. A block stored as a bit set is probed without decoding.
//!
//! **Invariant.** Decoded data belongs to the block that was taken last. A block with damaged documents is empty;
//! damaged frequencies read as 1.

use index::{BLOCK, DocSet, InvertedList};

/// Buffers of a decoded block, reused by later queries and aligned to cache lines.
#[repr(align(64))]
pub(super) struct BlockBuffer {
    docs: [u32; BLOCK],
    tf_minus_one: [u32; BLOCK],
}

/// Buffers for the lists of a query. Their number never shrinks.
#[derive(Default)]
pub(super) struct BlockBuffers(Vec<BlockBuffer>);

impl BlockBuffers {
    /// The number of buffers.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `count` buffers.
    pub(super) fn take(&mut self, count: usize) -> impl Iterator<Item = &mut BlockBuffer> {
        let empty = || BlockBuffer { docs: [0; BLOCK], tf_minus_one: [0; BLOCK] };
        self.0.resize_with(self.0.len().max(count), empty);
        self.0.iter_mut().take(count)
    }
}

/// One block of a list.
pub(super) struct BlockReader<'a> {
    pub(super) block: Option<usize>,
    /// Whether documents can be looked up, in `set` or in the decoded documents.
    is_open: bool,
    pub(super) set: Option<DocSet<'a>>,
    room: &'a mut BlockBuffer,
    /// The number of decoded documents. `None` if they are not decoded.
    docs: Option<usize>,
    /// The number of decoded frequencies. `None` if they are not decoded.
    tf_minus_one: Option<usize>,
    /// The place of the last lookup.
    pub(super) at: usize,
}

impl<'a> BlockReader<'a> {
    /// Holds no block yet.
    pub(super) fn new(room: &'a mut BlockBuffer) -> BlockReader<'a> {
        BlockReader {
            block: None,
            is_open: false,
            set: None,
            room,
            docs: None,
            tf_minus_one: None,
            at: 0,
        }
    }

    /// Selects a block without decoding it.
    #[inline]
    pub(super) fn take(&mut self, block: usize) {
        if self.block != Some(block) {
            (self.block, self.at, self.set) = (Some(block), 0, None);
            (self.is_open, self.docs, self.tf_minus_one) = (false, None, None);
        }
    }

    /// Prepares the block for lookups.
    #[inline]
    pub(super) fn open(&mut self, list: &InvertedList<'a>) {
        if let (false, Some(block)) = (self.is_open, self.block) {
            self.is_open = true;
            self.set = list.set(block);
            if self.set.is_none() {
                self.fill_docs(list);
            }
        }
    }

    /// The documents. Empty if they are not decoded.
    #[inline]
    pub(super) fn docs(&self) -> &[u32] {
        &self.room.docs[..self.docs.unwrap_or(0)]
    }

    /// The term frequencies minus 1. Empty if they are not decoded.
    #[inline]
    pub(super) fn tf_minus_one(&self) -> &[u32] {
        &self.room.tf_minus_one[..self.tf_minus_one.unwrap_or(0)]
    }

    /// Returns whether the block contains `doc`.
    #[inline]
    pub(super) fn contains(&mut self, doc: u32) -> bool {
        match &self.set {
            Some(set) => set.contains(doc),
            None => self.find(doc),
        }
    }

    /// Returns whether the block contains `doc`, and keeps its place in `at`.
    #[inline]
    pub(super) fn find(&mut self, doc: u32) -> bool {
        if let Some(set) = &self.set {
            let is_there = set.contains(doc);
            if is_there {
                self.at = set.rank(doc);
            }
            return is_there;
        }
        self.at = find(self.docs(), self.at, doc);
        self.docs().get(self.at) == Some(&doc)
    }

    #[inline]
    pub(super) fn fill_docs(&mut self, list: &InvertedList<'_>) {
        if let (None, Some(block)) = (self.docs, self.block) {
            let count = list.block_len(block);
            let read = list.read_docs(block, &mut self.room.docs[..count]);
            self.docs = Some(read.map_or(0, |()| count));
        }
    }

    #[inline]
    pub(super) fn fill_more(&mut self, list: &InvertedList<'_>) {
        if let (None, Some(block)) = (self.tf_minus_one, self.block) {
            let count = list.block_len(block);
            read_tf_minus_one(list, block, &mut self.room.tf_minus_one[..count]);
            self.tf_minus_one = Some(count);
        }
    }
}

/// Reads term frequencies minus 1. Damaged ones read as 0.
pub(super) fn read_tf_minus_one(list: &InvertedList<'_>, block: usize, tf_minus_one: &mut [u32]) {
    if list.read_tf_minus_one(block, tf_minus_one).is_none() {
        tf_minus_one.fill(0);
    }
}

/// Finds the first document greater than or equal to `doc` by galloping from `hint`, which is usually near.
#[inline]
pub(super) fn find(docs: &[u32], hint: usize, doc: u32) -> usize {
    let (mut low, mut step) = (hint, 1);
    if docs.get(low).is_none_or(|&found| found > doc) {
        low = 0;
    }
    while let Some(&found) = docs.get(low + step)
        && found <= doc
    {
        low += step;
        step *= 2;
    }
    let high = (low + step).min(docs.len());
    low + docs[low..high].partition_point(|&found| found < doc)
}
