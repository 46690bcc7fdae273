//! A posting list: decoded a window or a block at a time, bounded by block maxima without decoding. A block stored
//! as a bit set is probed without decoding.
//!
//! **Invariant.** Windows come in any order. Lookups in a window ascend, except those of [`List::has`].

use std::ops::Range;

use codes::{bit_set, lanes};
use index::{
    BLOCK, Bounds, Champion, Champions, DocId, DocSet, Field, InvertedList, Lengths, Maximum,
    Segment,
};

use super::block_reader::{BlockBuffer, BlockReader, find, read_tf_minus_one};
use super::scale::Scale;
use crate::bm25::FieldScale;

/// Cost of a lookup, in postings scanned.
pub(super) const LOOK_UP: u64 = 16;

/// The posting list of a term in a field.
pub(super) struct List<'a> {
    inverted: InvertedList<'a>,
    pub(super) field: Field,
    bounds: Bounds<'a>,
    /// Bounds positioned at the last lookup in the current window.
    near: Bounds<'a>,
    exact: FieldScale,
    scale: Scale,
    /// The number of usable blocks. The list ends before a damaged block.
    block_count: usize,
    /// The range of decoded blocks. Their documents ascend.
    blocks: Range<usize>,
    docs: Vec<u32>,
    /// Term frequencies minus 1, for the blocks in `has_more`.
    tf_minus_one: Vec<u32>,
    has_more: Vec<bool>,
    /// The range of the window in `docs`, if it is decoded.
    window: Option<Range<usize>>,
    /// Place of the last lookup.
    hint: usize,
    /// The block for lookups outside the decoded window.
    held: BlockReader<'a>,
}

/// Successive documents that fall into one block.
pub(super) struct Run {
    pub(super) len: usize,
    pub(super) block: usize,
}

/// The documents of a block that are in a window.
enum Part<'b> {
    Docs(&'b [u32]),
    /// All documents of the set before the given one.
    Set(DocSet<'b>, u32),
}

impl Part<'_> {
    /// Sets the bits of its documents. The lowest bit of the first word is `start`.
    #[inline]
    fn set_bits(&self, start: u32, words: &mut [u64]) {
        match *self {
            Part::Docs(docs) => bit_set::set(docs, start, words),
            Part::Set(set, end) => {
                let Range { start: first, end: behind } = set.range();
                let from = (first.max(start) - start) / 64;
                let until = behind.min(end).saturating_sub(start).div_ceil(64);
                for at in from..until {
                    words[at as usize] |= set.word(start + 64 * at);
                }
            }
        }
    }

    /// Counts its documents whose bits are set.
    #[inline]
    fn count_in(&self, start: u32, words: &[u64]) -> u64 {
        match *self {
            Part::Docs(docs) => u64::from(bit_set::count(docs, start, words)),
            Part::Set(set, _) => u64::from(set.count_in(start, words)),
        }
    }
}

impl<'a> List<'a> {
    pub(super) fn new(
        list: InvertedList<'a>,
        field: Field,
        segment: &Segment,
        exact: FieldScale,
        room: &'a mut BlockBuffer,
    ) -> List<'a> {
        let (scale, bounds) = (Scale::new(exact, segment, field), list.bounds());
        List {
            bounds,
            near: bounds,
            block_count: list.block_count(),
            inverted: list,
            field,
            exact,
            scale,
            blocks: 0..0,
            docs: Vec::new(),
            tf_minus_one: Vec::new(),
            has_more: Vec::new(),
            window: None,
            hint: 0,
            held: BlockReader::new(room),
        }
    }

    #[inline]
    pub(super) fn doc_frequency(&self) -> u32 {
        self.inverted.doc_frequency()
    }

    pub(super) fn bounds(&self) -> &Bounds<'a> {
        &self.bounds
    }

    pub(super) fn scale(&self) -> Scale {
        self.scale
    }

    pub(super) fn exact(&self) -> FieldScale {
        self.exact
    }

    pub(super) fn lengths(&self) -> Lengths<'a> {
        self.inverted.lengths()
    }

    /// Returns an upper bound of the scaled occurrences in any document of a window, and the first block of the
    /// window. Windows ascend.
    #[inline]
    pub(super) fn bound(&mut self, start: u32, end: u32) -> (f32, usize) {
        let (most, block) = self.most_in(start, end);
        (self.bound_of(most), block)
    }

    /// Returns the maximum of all blocks in a window, and the first block of the window.
    #[inline]
    pub(super) fn most_in(&mut self, start: u32, end: u32) -> (Option<Maximum>, usize) {
        self.bounds.over(start, end)
    }

    /// An upper bound of the scaled occurrences in any document.
    pub(super) fn greatest_bound(&self) -> f32 {
        let most = self.bounds.greatest();
        self.bound_of(Some(most))
    }

    /// Enters a window that begins in the given block.
    #[inline]
    pub(super) fn enter(&mut self, block: usize) {
        self.bounds.enter(block);
        self.window = None;
    }

    /// Enters a window that begins at `start`. Windows ascend.
    #[inline]
    pub(super) fn advance(&mut self, start: u32) {
        self.bounds.seek(start);
        self.window = None;
        self.near = self.bounds;
    }

    /// Enters a window that begins at `start`, in any order.
    pub(super) fn go_to(&mut self, start: u32) {
        self.bounds.enter(0);
        self.advance(start);
    }

    /// Restarts lookups at the first document of the window.
    #[inline]
    pub(super) fn rewind(&mut self) {
        self.near = self.bounds;
    }

    /// Returns an upper bound of the scaled occurrences in `doc`, and the last document for which it holds.
    #[inline]
    pub(super) fn bound_at(&mut self, doc: u32) -> (f32, u32) {
        let (most, _) = self.near.over(doc, doc + 1);
        (self.bound_of(most), self.near.last_doc())
    }

    #[inline]
    fn bound_of(&self, most: Option<Maximum>) -> f32 {
        most.map_or(0.0, |most| self.scale.bound(most))
    }

    /// A lower bound, from block maxima, of the scaled occurrences in the best `k` documents.
    pub(super) fn reached_by(&self, k: usize) -> f32 {
        self.scale.reached(self.bounds.reached_by(k))
    }

    /// The documents with the best scores for the term, if the index stores them.
    pub(super) fn champions(&self) -> Option<Champions<'a>> {
        self.inverted.champions()
    }

    /// A lower bound of the scaled occurrences in the first `k` champions. Returns `None` with fewer champions.
    pub(super) fn champions_reach(&self, k: usize) -> Option<f32> {
        let champions = self.champions().filter(|_| (1..=Champions::COUNT).contains(&k))?;
        let scaled = |one: Champion| self.scaled(one.doc, one.frequency);
        Some(champions.iter().take(k).map(scaled).fold(f32::INFINITY, f32::min))
    }

    /// Decodes the documents of the window.
    pub(super) fn window(&mut self, start: u32, end: u32) -> &[u32] {
        let last = self.bounds.last_block(end);
        self.hold(self.bounds.block()..last + 1);
        let first = self.docs.partition_point(|&doc| doc < start);
        let rest = &self.docs[first..];
        let whole = rest.last().is_none_or(|&last| last < end);
        let count = if whole { rest.len() } else { rest.partition_point(|&doc| doc < end) };
        self.window = Some(first..first + count);
        self.hint = first;
        &self.docs[first..first + count]
    }

    /// The documents of the decoded window and their term frequencies minus 1.
    pub(super) fn with_tf_minus_one(&mut self) -> (&[u32], &[u32]) {
        let window = self.window.clone().unwrap_or_default();
        if !window.is_empty() {
            for block in window.start / BLOCK..=(window.end - 1) / BLOCK {
                self.fill_more(block);
            }
        }
        (&self.docs[window.clone()], &self.tf_minus_one[window])
    }

    /// Decodes a range of blocks and drops earlier ones.
    fn hold(&mut self, wanted: Range<usize>) {
        let start = wanted.start.min(self.block_count);
        let mut wanted = start..wanted.end.clamp(start, self.block_count);
        if self.blocks.start <= wanted.start && wanted.end <= self.blocks.end {
            return;
        }
        if self.blocks.contains(&wanted.start) {
            let behind = wanted.start - self.blocks.start;
            self.docs.drain(..behind * BLOCK);
            self.tf_minus_one.drain(..behind * BLOCK);
            self.has_more.drain(..behind);
        } else {
            self.docs.clear();
            self.tf_minus_one.clear();
            self.has_more.clear();
            self.blocks.end = wanted.start;
        }
        for block in self.blocks.end..wanted.end {
            let before = self.docs.len();
            self.docs.resize(before + self.inverted.block_len(block), 0);
            let read = self.inverted.read_docs(block, &mut self.docs[before..]).is_some();
            let ascends = before == 0 || self.docs[before - 1] < self.docs[before];
            if !read || !ascends {
                // This happens only in a foreign or damaged file.
                self.docs.truncate(before);
                self.block_count = block;
                wanted.end = block;
                break;
            }
        }
        self.tf_minus_one.resize(self.docs.len(), 0);
        self.has_more.resize(wanted.len(), false);
        self.blocks = wanted;
    }

    /// Decodes the frequencies of a decoded block.
    #[inline]
    fn fill_more(&mut self, block: usize) {
        if !self.has_more[block] {
            self.has_more[block] = true;
            let end = self.tf_minus_one.len().min((block + 1) * BLOCK);
            read_tf_minus_one(
                &self.inverted,
                self.blocks.start + block,
                &mut self.tf_minus_one[block * BLOCK..end],
            );
        }
    }

    /// The term frequency at a place of the window.
    #[inline]
    pub(super) fn frequency_at(&mut self, place: usize) -> u32 {
        let at = self.window.as_ref().map_or(0, |window| window.start) + place;
        self.fill_more(at / BLOCK);
        self.tf_minus_one[at].saturating_add(1)
    }

    /// Decodes any block: documents and term frequencies minus 1.
    pub(super) fn block(&mut self, block: usize) -> (&[u32], &[u32]) {
        self.held.take(block);
        self.held.fill_docs(&self.inverted);
        self.held.fill_more(&self.inverted);
        // A block with damaged documents is empty.
        let count = self.held.docs().len().min(self.held.tf_minus_one().len());
        (&self.held.docs()[..count], &self.held.tf_minus_one()[..count])
    }

    /// Decodes the documents of any block.
    pub(super) fn block_docs(&mut self, block: usize) -> &[u32] {
        self.held.take(block);
        self.held.fill_docs(&self.inverted);
        self.held.docs()
    }

    /// The bit set of a block that is stored as one.
    #[inline]
    pub(super) fn block_set(&self, block: usize) -> Option<DocSet<'a>> {
        self.inverted.set(block)
    }

    /// Sets the bits of the documents in `start..end`. The lowest bit of the first word is `start`. `start` must
    /// not decrease.
    pub(super) fn lay_out(&mut self, start: u32, end: u32, words: &mut [u64]) {
        self.each_part(start, end, |_| true, |part| part.set_bits(start, words));
    }

    /// Sets the bits of the documents in `start..end`, except in blocks where `mask` has no bits.
    pub(super) fn lay_out_over(&mut self, start: u32, end: u32, mask: &[u64], words: &mut [u64]) {
        let is_wanted = |docs: Range<u32>| has_bits(mask, start, docs);
        self.each_part(start, end, is_wanted, |part| part.set_bits(start, words));
    }

    /// Counts the documents in `start..end` whose bits are set. The lowest bit of the first word is `start`, which
    /// must not decrease.
    pub(super) fn count_in(&mut self, start: u32, end: u32, words: &[u64]) -> u64 {
        let mut count = 0;
        let is_wanted = |docs: Range<u32>| has_bits(words, start, docs);
        self.each_part(start, end, is_wanted, |part| count += part.count_in(start, words));
        count
    }

    /// Visits the blocks with documents in `start..end` for which `is_wanted` returns true. Its argument is the
    /// range of documents of the block. `start` must not decrease.
    #[inline]
    fn each_part(
        &mut self,
        start: u32,
        end: u32,
        is_wanted: impl Fn(Range<u32>) -> bool,
        mut visit: impl FnMut(Part<'_>),
    ) {
        let mut next = start;
        while next < end {
            let block = self.near.seek(next);
            if block >= self.block_count {
                return;
            }
            let last = self.near.last_doc();
            if is_wanted(next..end.min(last.saturating_add(1))) {
                if let Some(set) = self.inverted.set(block) {
                    visit(Part::Set(set, end));
                } else {
                    visit(Part::Docs(between(self.block_docs(block), start, end)));
                }
            }
            if last == u32::MAX {
                return;
            }
            next = last + 1;
        }
    }

    /// Returns the first of some tagged documents that fall into one block. Returns `None` without documents or
    /// after the last block. Documents of successive calls ascend.
    #[inline]
    pub(super) fn run(&mut self, tags: &[u32], doc_of: impl Fn(u32) -> u32) -> Option<Run> {
        let block = self.near.seek(doc_of(*tags.first()?));
        if block >= self.block_count {
            return None;
        }
        let last = self.near.last_doc();
        let len = tags.iter().position(|&tag| doc_of(tag) > last).unwrap_or(tags.len());
        Some(Run { len, block })
    }

    /// Returns the block that may contain a document, and the last document of the block. Returns `None` after the
    /// last block. Documents of successive calls ascend.
    #[inline]
    pub(super) fn block_of(&mut self, doc: u32) -> Option<(usize, u32)> {
        let block = self.near.seek(doc);
        (block < self.block_count).then(|| (block, self.near.last_doc()))
    }

    /// An upper bound of the scaled occurrences in any document of a block.
    #[inline]
    pub(super) fn block_bound(&self, block: usize) -> f32 {
        let most = self.bounds.maximum(block);
        self.bound_of(Some(most))
    }

    /// Keeps the tags of documents that a block contains, in their order. Returns their number.
    pub(super) fn keep_in_block(
        &mut self,
        block: usize,
        tags: &mut [u32],
        doc_of: impl Fn(u32) -> u32,
    ) -> usize {
        self.hold_alone(block);
        if let Some(set) = &self.held.set {
            return compact(tags, |tag| set.contains(doc_of(tag)));
        }
        let mut kept = 0;
        for from in (0..tags.len()).step_by(BLOCK) {
            let count = BLOCK.min(tags.len() - from);
            let mut docs = [u32::MAX; BLOCK];
            for (doc, &tag) in docs.iter_mut().zip(&tags[from..from + count]) {
                *doc = doc_of(tag);
            }
            let asked = lanes::first(count);
            let found = lanes::find(self.held.docs(), &docs, asked, &mut [0; BLOCK]);
            lanes::each(found, |at| {
                tags[kept] = tags[from + at];
                kept += 1;
            });
        }
        kept
    }

    /// The term frequency of a document that the current block contains.
    #[inline]
    pub(super) fn frequency_of(&mut self, doc: u32) -> u32 {
        self.held.find(doc);
        self.held.fill_more(&self.inverted);
        self.held
            .tf_minus_one()
            .get(self.held.at)
            .map_or(1, |tf_minus_one| tf_minus_one.saturating_add(1))
    }

    /// Returns which of the `asked` documents a block contains, a bit each, and sets their `places` in the block.
    /// The documents ascend.
    pub(super) fn find_in(
        &mut self,
        block: usize,
        docs: &[u32; BLOCK],
        asked: u128,
        places: &mut [u8; BLOCK],
    ) -> u128 {
        self.hold_alone(block);
        match &self.held.set {
            Some(set) => set.find(docs, asked, places),
            None => lanes::find(self.held.docs(), docs, asked, places),
        }
    }

    /// The term frequencies minus 1 of a block.
    #[inline]
    pub(super) fn tf_minus_one_of(&mut self, block: usize) -> &[u32] {
        self.held.take(block);
        self.tf_minus_one_of_block()
    }

    /// The term frequencies minus 1 of the held block.
    #[inline]
    pub(super) fn tf_minus_one_of_block(&mut self) -> &[u32] {
        self.held.fill_more(&self.inverted);
        self.held.tf_minus_one()
    }

    pub(super) fn block_count(&self) -> usize {
        self.block_count
    }

    /// Holds a block for lookups. A bit set is not decoded.
    #[inline]
    fn hold_alone(&mut self, block: usize) {
        self.held.take(block);
        self.held.open(&self.inverted);
    }

    /// Returns whether the list contains `doc`. Lookups ascend.
    #[inline]
    pub(super) fn contains(&mut self, doc: u32) -> bool {
        let Some(window) = self.window.clone() else {
            let block = self.near.seek(doc);
            self.hold_alone(block);
            return self.held.contains(doc);
        };
        self.hint = find(&self.docs, self.hint.max(window.start), doc);
        self.docs.get(self.hint) == Some(&doc)
    }

    /// The term frequency of `doc`, or 0 if the list lacks it. Lookups ascend.
    #[inline]
    pub(super) fn frequency(&mut self, doc: u32) -> u32 {
        if self.window.is_none() {
            return self.look_up(doc);
        }
        if !self.contains(doc) {
            return 0;
        }
        self.fill_more(self.hint / BLOCK);
        self.tf_minus_one[self.hint].saturating_add(1)
    }

    /// Returns whether the list contains `doc`. Calls may come in any order.
    pub(super) fn has(&mut self, doc: u32) -> bool {
        let block = self.held.block;
        let is_held = block.is_some_and(|block| {
            let (before, last) = self.near.span(block);
            (block == 0 || before < doc) && doc <= last
        });
        let block = block.filter(|_| is_held).unwrap_or_else(|| {
            self.near.enter(0);
            self.near.seek(doc)
        });
        self.hold_alone(block);
        self.held.contains(doc)
    }

    /// The term frequency of a document that the list contains. Calls may come in any order.
    pub(super) fn frequency_of_any(&mut self, doc: u32) -> u32 {
        self.near.enter(0);
        self.look_up(doc).max(1)
    }

    /// The term frequency of `doc`, or 0. Lookups ascend.
    #[inline]
    pub(super) fn look_up(&mut self, doc: u32) -> u32 {
        let block = self.near.seek(doc);
        self.hold_alone(block);
        if !self.held.find(doc) {
            return 0;
        }
        self.held.fill_more(&self.inverted);
        self.held
            .tf_minus_one()
            .get(self.held.at)
            .map_or(1, |tf_minus_one| tf_minus_one.saturating_add(1))
    }

    pub(super) fn first_block(&self) -> usize {
        self.bounds.block()
    }

    /// The scaled occurrences in `doc`, in single precision.
    #[inline]
    pub(super) fn scaled(&self, doc: u32, frequency: u32) -> f32 {
        self.scale.scaled(frequency, self.lengths().get(DocId(doc)))
    }

    /// The scaled occurrences in `doc`, in double precision as for exact scores.
    #[inline]
    pub(super) fn scaled_exactly(&self, doc: u32, frequency: u32) -> f64 {
        self.exact.scaled(frequency, self.lengths().get(DocId(doc)))
    }
}

/// Moves the tags that pass `test` to the front, in their order, and returns their number.
#[inline]
pub(super) fn compact(tags: &mut [u32], mut test: impl FnMut(u32) -> bool) -> usize {
    let mut kept = 0;
    for at in 0..tags.len() {
        let tag = tags[at];
        tags[kept] = tag;
        kept += usize::from(test(tag));
    }
    kept
}

/// The part of ascending documents in `start..end`: usually all of them.
#[inline]
fn between(docs: &[u32], start: u32, end: u32) -> &[u32] {
    let is_whole = |(first, last): (&u32, &u32)| *first >= start && *last < end;
    if docs.first().zip(docs.last()).is_some_and(is_whole) {
        return docs;
    }
    let from = docs.partition_point(|&doc| doc < start);
    let behind = docs.partition_point(|&doc| doc < end).max(from);
    &docs[from..behind]
}

/// Returns whether any bit of a range of documents may be set. The lowest bit of the first word is `start`.
#[inline]
fn has_bits(words: &[u64], start: u32, docs: Range<u32>) -> bool {
    let (from, until) = ((docs.start - start) / 64, (docs.end - start).div_ceil(64));
    let words = words.get(from as usize..until as usize).unwrap_or_default();
    words.iter().any(|&word| word != 0)
}
