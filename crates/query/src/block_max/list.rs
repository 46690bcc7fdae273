//! One inverted list: decoded a window or a block at a time, bounded without. A block that lies as a set of bits is asked
//! for single documents, and laid out, without being decoded.
//!
//! **Invariant.** Windows come in any order; what is asked for in one of them ascends, but for [`List::has`].

use std::ops::Range;

use codes::{bits_of, lanes};
use index::{
    BLOCK, Bounds, Champion, Champions, DecodedBlock, DocId, DocSet, Field, InvertedList, Lengths,
    Maximum, Occurrences, Segment,
};

use super::held::{Held, Room, find, read_more};
use super::scale::Scale;
use crate::bm25::FieldScale;

/// Looking a document up costs as much as going over so many postings.
pub(super) const LOOK_UP: u64 = 16;

/// The documents that have a term in a field.
pub(super) struct List<'a> {
    inverted: InvertedList<'a>,
    pub(super) field: Field,
    bounds: Bounds<'a>,
    /// The same, of documents of the window at hand.
    near: Bounds<'a>,
    exact: FieldScale,
    scale: Scale,
    /// How many blocks there are; the list ends before one that does not go on behind the one before it.
    block_count: usize,
    /// Whole blocks whose documents are decoded: they ascend.
    blocks: Range<usize>,
    docs: Vec<u32>,
    /// How often, less one, each has the term, of those blocks that were asked for it.
    more: Vec<u32>,
    has_more: Vec<bool>,
    /// Where the documents of the window are, if it is decoded.
    window: Option<Range<usize>>,
    /// Where a document was found last.
    hint: usize,
    /// The block that documents are looked up in.
    held: Held<'a>,
    /// Where the document at hand was found.
    pub(super) found: Spot,
    /// Made when it is first needed.
    occurrences: Option<Box<Occurrences<'a>>>,
}

/// Documents of one block.
pub(super) struct Run {
    pub(super) len: usize,
    pub(super) block: usize,
}

/// What a block has of a window.
enum Part<'b> {
    Docs(&'b [u32]),
    /// Up to, but without, a document.
    Set(DocSet<'b>, u32),
}

impl Part<'_> {
    /// Sets the bits of its documents: the lowest of the first word is that of `start`.
    #[inline]
    fn set_bits(&self, start: u32, words: &mut [u64]) {
        match *self {
            Part::Docs(docs) => bits_of::set(docs, start, words),
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

    /// How many of its documents have a bit.
    #[inline]
    fn count_in(&self, start: u32, words: &[u64]) -> u64 {
        match *self {
            Part::Docs(docs) => u64::from(bits_of::count(docs, start, words)),
            Part::Set(set, _) => u64::from(set.count_in(start, words)),
        }
    }
}

/// Where a document stands in a list, and how often it has the term: 0 if it does not, or if that is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) frequency: u32,
    /// Among all documents of the list.
    at: Option<u32>,
}

impl Spot {
    /// Not in the list.
    pub(super) const NOWHERE: Spot = Spot { frequency: 0, at: None };

    /// At a place among all documents of the list.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a list has fewer than 2^32 documents")]
    pub(super) fn at(place: usize, frequency: u32) -> Spot {
        Spot { frequency, at: Some(place as u32) }
    }

    /// The same, where nobody knows how often.
    #[inline]
    pub(super) fn uncounted(self) -> Spot {
        Spot { frequency: 0, ..self }
    }

    /// The block that it is in.
    #[inline]
    pub(super) fn block(self) -> Option<usize> {
        self.at.map(|at| at as usize / BLOCK)
    }

    /// Its place there.
    #[inline]
    pub(super) fn place(self) -> usize {
        self.at.map_or(0, |at| at as usize % BLOCK)
    }
}

impl<'a> List<'a> {
    pub(super) fn new(
        list: InvertedList<'a>,
        field: Field,
        segment: &Segment,
        exact: FieldScale,
        room: &'a mut Room,
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
            more: Vec::new(),
            has_more: Vec::new(),
            window: None,
            hint: 0,
            held: Held::new(room),
            found: Spot::NOWHERE,
            occurrences: None,
        }
    }

    #[inline]
    pub(super) fn doc_frequency(&self) -> u32 {
        self.inverted.doc_frequency()
    }

    /// About how often a document of the list has the term, in sixteenths: whole numbers would hardly differ.
    pub(super) fn frequency_sixteenths(&self) -> u32 {
        let frequency = u64::from(self.doc_frequency().max(1));
        let mean = self.inverted.total_frequency().saturating_mul(16) / frequency;
        u32::try_from(mean).unwrap_or(u32::MAX)
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

    /// What the occurrences of any document of a window count at most, and the block where it begins. Windows ascend.
    #[inline]
    pub(super) fn bound(&mut self, start: u32, end: u32) -> (f32, usize) {
        let (most, block) = self.most_in(start, end);
        (self.bound_of(most), block)
    }

    /// The same as a maximum.
    #[inline]
    pub(super) fn most_in(&mut self, start: u32, end: u32) -> (Option<Maximum>, usize) {
        self.bounds.over(start, end)
    }

    /// What the occurrences of any document count at most.
    pub(super) fn greatest_bound(&self) -> f32 {
        let most = self.bounds.greatest();
        self.bound_of(Some(most))
    }

    /// Goes to a window that begins in a block.
    #[inline]
    pub(super) fn enter(&mut self, block: usize) {
        self.bounds.enter(block);
        self.window = None;
    }

    /// Goes to a window that begins at `start`; windows ascend.
    #[inline]
    pub(super) fn advance(&mut self, start: u32) {
        self.bounds.seek(start);
        self.window = None;
        self.near = self.bounds;
    }

    /// Goes to a window that begins at `start`, wherever it is.
    pub(super) fn go_to(&mut self, start: u32) {
        self.bounds.enter(0);
        self.advance(start);
    }

    /// Back to the first document of the window, for what looks documents up.
    #[inline]
    pub(super) fn rewind(&mut self) {
        self.near = self.bounds;
    }

    /// What the occurrences of `doc` count at most, and up to which document that holds.
    #[inline]
    pub(super) fn bound_at(&mut self, doc: u32) -> (f32, u32) {
        let (most, _) = self.near.over(doc, doc + 1);
        (self.bound_of(most), self.near.last_doc())
    }

    #[inline]
    fn bound_of(&self, most: Option<Maximum>) -> f32 {
        most.map_or(0.0, |most| self.scale.bound(most))
    }

    /// What the occurrences of at least `k` documents count at least, as the maxima of its blocks say.
    pub(super) fn reached_by(&self, k: usize) -> f32 {
        self.scale.reached(self.bounds.reached_by(k))
    }

    /// The documents that the term says most about, if they are told.
    pub(super) fn champions(&self) -> Option<Champions<'a>> {
        self.inverted.champions()
    }

    /// What the occurrences of the `k` first champions count at least; `None` if there are not as many.
    pub(super) fn champions_reach(&self, k: usize) -> Option<f32> {
        let champions = self.champions().filter(|_| (1..=Champions::COUNT).contains(&k))?;
        let scaled = |one: Champion| self.scaled(one.doc, one.frequency);
        Some(champions.iter().take(k).map(scaled).fold(f32::INFINITY, f32::min))
    }

    /// The documents of the window.
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

    /// The documents of the window, which is decoded, and how often, less one, each has the term.
    pub(super) fn with_more(&mut self) -> (&[u32], &[u32]) {
        let window = self.window.clone().unwrap_or_default();
        if !window.is_empty() {
            for block in window.start / BLOCK..=(window.end - 1) / BLOCK {
                self.fill_more(block);
            }
        }
        (&self.docs[window.clone()], &self.more[window])
    }

    /// Decodes whole blocks, and forgets those before them.
    fn hold(&mut self, wanted: Range<usize>) {
        let start = wanted.start.min(self.block_count);
        let mut wanted = start..wanted.end.clamp(start, self.block_count);
        if self.blocks.start <= wanted.start && wanted.end <= self.blocks.end {
            return;
        }
        if self.blocks.contains(&wanted.start) {
            let behind = wanted.start - self.blocks.start;
            self.docs.drain(..behind * BLOCK);
            self.more.drain(..behind * BLOCK);
            self.has_more.drain(..behind);
        } else {
            self.docs.clear();
            self.more.clear();
            self.has_more.clear();
            self.blocks.end = wanted.start;
        }
        for block in self.blocks.end..wanted.end {
            let before = self.docs.len();
            self.docs.resize(before + self.inverted.block_len(block), 0);
            let read = self.inverted.read_docs(block, &mut self.docs[before..]).is_some();
            let ascends = before == 0 || self.docs[before - 1] < self.docs[before];
            if !read || !ascends {
                // Only files that we did not write are so.
                self.docs.truncate(before);
                self.block_count = block;
                wanted.end = block;
                break;
            }
        }
        self.more.resize(self.docs.len(), 0);
        self.has_more.resize(wanted.len(), false);
        self.blocks = wanted;
    }

    /// Decodes the frequencies of a block that is held.
    #[inline]
    fn fill_more(&mut self, block: usize) {
        if !self.has_more[block] {
            self.has_more[block] = true;
            let end = self.more.len().min((block + 1) * BLOCK);
            read_more(
                &self.inverted,
                self.blocks.start + block,
                &mut self.more[block * BLOCK..end],
            );
        }
    }

    /// Where the document at a place of the window stands.
    #[inline]
    pub(super) fn spot_at(&mut self, place: usize) -> Spot {
        let at = self.window.as_ref().map_or(0, |window| window.start) + place;
        self.fill_more(at / BLOCK);
        Spot::at(self.blocks.start * BLOCK + at, self.more[at].saturating_add(1))
    }

    /// Decodes any block: its documents and how often, less one, each has the term.
    pub(super) fn block(&mut self, block: usize) -> (&[u32], &[u32]) {
        self.held.take(block);
        self.held.fill_docs(&self.inverted);
        self.held.fill_more(&self.inverted);
        // Documents that are damaged are none.
        let count = self.held.docs().len().min(self.held.more().len());
        (&self.held.docs()[..count], &self.held.more()[..count])
    }

    /// Decodes the documents of any block.
    pub(super) fn block_docs(&mut self, block: usize) -> &[u32] {
        self.held.take(block);
        self.held.fill_docs(&self.inverted);
        self.held.docs()
    }

    /// A block that lies as a set of bits.
    #[inline]
    pub(super) fn block_set(&self, block: usize) -> Option<DocSet<'a>> {
        self.inverted.set(block)
    }

    /// Sets the bits of the documents from `start` up to, but without, `end`: the lowest of the first word is that of
    /// `start`, which never goes back.
    pub(super) fn lay_out(&mut self, start: u32, end: u32, words: &mut [u64]) {
        self.each_part(start, end, |_| true, |part| part.set_bits(start, words));
    }

    /// The same, but leaves out blocks where `mask` has no bits.
    pub(super) fn lay_out_over(&mut self, start: u32, end: u32, mask: &[u64], words: &mut [u64]) {
        let is_wanted = |docs: Range<u32>| has_bits(mask, start, docs);
        self.each_part(start, end, is_wanted, |part| part.set_bits(start, words));
    }

    /// How many of the documents have a bit: the lowest of the first word is that of `start`, which never goes back.
    pub(super) fn count_in(&mut self, start: u32, end: u32, words: &[u64]) -> u64 {
        let mut count = 0;
        let is_wanted = |docs: Range<u32>| has_bits(words, start, docs);
        self.each_part(start, end, is_wanted, |part| count += part.count_in(start, words));
        count
    }

    /// Hands over the blocks that have documents from `start` up to, but without, `end`, and that are wanted: that is asked
    /// with the documents that they may have. `start` never goes back.
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

    /// The first of some documents, each known by a tag, that are in one block if anywhere; `None` if there are none, or
    /// all are behind the last. They ascend, and never go back.
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

    /// The block that a document is in if anywhere, and its last document; `None` if it is behind the last. They ascend, and
    /// never go back.
    #[inline]
    pub(super) fn block_of(&mut self, doc: u32) -> Option<(usize, u32)> {
        let block = self.near.seek(doc);
        (block < self.block_count).then(|| (block, self.near.last_doc()))
    }

    /// What the occurrences of any document of a block count at most.
    #[inline]
    pub(super) fn block_bound(&self, block: usize) -> f32 {
        let most = self.bounds.maximum(block);
        self.bound_of(Some(most))
    }

    /// Keeps the documents that a block has, in their order: each is known by a tag. Returns how many.
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

    /// How often a document that the block at hand has has the term.
    #[inline]
    pub(super) fn frequency_of(&mut self, doc: u32) -> u32 {
        self.held.find(doc);
        self.held.fill_more(&self.inverted);
        self.held.more().get(self.held.at).map_or(1, |more| more.saturating_add(1))
    }

    /// Which of those ascending documents that are asked for a block has, a bit for each. Makes `places` for each of those its
    /// place there.
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

    /// How often, less one, each document of a block has the term.
    #[inline]
    pub(super) fn more_of(&mut self, block: usize) -> &[u32] {
        self.held.take(block);
        self.more_of_held()
    }

    /// The same of the block that is held.
    #[inline]
    pub(super) fn more_of_held(&mut self) -> &[u32] {
        self.held.fill_more(&self.inverted);
        self.held.more()
    }

    /// How many blocks there are.
    pub(super) fn block_count(&self) -> usize {
        self.block_count
    }

    /// Takes a block to look documents up in, and decodes it unless it is a set.
    #[inline]
    fn hold_alone(&mut self, block: usize) {
        self.held.take(block);
        self.held.open(&self.inverted);
    }

    /// Whether `doc`, which is in the window or to be looked up, has the term.
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

    /// How often `doc`, which is in the window or to be looked up, has the term; 0 if it does not.
    #[inline]
    pub(super) fn frequency(&mut self, doc: u32) -> u32 {
        if self.window.is_none() {
            return self.look_up(doc);
        }
        if !self.contains(doc) {
            return 0;
        }
        self.fill_more(self.hint / BLOCK);
        self.more[self.hint].saturating_add(1)
    }

    /// Finds a document, in the window if that is decoded: where it stands is kept, not how often it has the term.
    pub(super) fn find_anywhere(&mut self, doc: u32) {
        if self.window.is_none() {
            self.find(doc);
            return;
        }
        self.found = if self.contains(doc) {
            Spot::at(self.blocks.start * BLOCK + self.hint, 0)
        } else {
            Spot::NOWHERE
        };
    }

    /// Whether `doc`, which is looked up, has the term; where it stands is kept, not how often.
    #[inline]
    pub(super) fn find(&mut self, doc: u32) -> bool {
        let block = self.near.seek(doc);
        self.hold_alone(block);
        let is_there = self.held.find(doc);
        self.found =
            if is_there { Spot::at(block * BLOCK + self.held.at, 0) } else { Spot::NOWHERE };
        is_there
    }

    /// Whether `doc` has the term, wherever it lies beside those asked for before.
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

    /// How often a document that has the term has it, wherever it lies beside those asked for before.
    pub(super) fn frequency_of_any(&mut self, doc: u32) -> u32 {
        self.near.enter(0);
        self.look_up(doc).max(1)
    }

    /// How often `doc`, which is looked up, has the term; that and where it stands is kept.
    #[inline]
    pub(super) fn look_up(&mut self, doc: u32) -> u32 {
        if self.find(doc) {
            self.held.fill_more(&self.inverted);
            let more = self.held.more().get(self.held.at).copied().unwrap_or(0);
            self.found.frequency = more.saturating_add(1);
        }
        self.found.frequency
    }

    /// Finds out how often the document at hand has the term, if that is not known yet.
    #[inline]
    pub(super) fn complete_found(&mut self) {
        if let Spot { frequency: 0, at: Some(at) } = self.found {
            let place = at as usize % BLOCK;
            let more = self.decoded(at as usize / BLOCK).more.get(place).copied().unwrap_or(0);
            self.found.frequency = more.saturating_add(1);
        }
    }

    /// The block where the window begins.
    pub(super) fn first_block(&self) -> usize {
        self.bounds.block()
    }

    /// Appends to `starts` where a phrase begins that has the term `shift` behind its first word, in each of some ascending
    /// documents of the list, and to `ends` how many starts there are with each.
    pub(super) fn add_starts(
        &mut self,
        spots: impl Iterator<Item = Spot>,
        shift: u32,
        starts: &mut Vec<u32>,
        ends: &mut Vec<usize>,
    ) {
        self.each_spot(spots, |occurrences, found| {
            if let Some((decoded, place)) = found {
                occurrences.append_shifted(decoded, place, shift, starts);
            }
            ends.push(starts.len());
        });
    }

    /// Keeps those starts, with the same documents, that the term stands `shift` behind.
    pub(super) fn keep_starts(
        &mut self,
        spots: impl Iterator<Item = Spot>,
        shift: u32,
        starts: &mut Vec<u32>,
        ends: &mut [usize],
    ) {
        let (mut from, mut kept) = (0, 0);
        let mut ends = ends.iter_mut();
        self.each_spot(spots, |occurrences, found| {
            let Some(end) = ends.next() else { return };
            let own = &mut starts[from..*end];
            let count = match found {
                Some((decoded, place)) if !own.is_empty() => {
                    occurrences.keep_shifted(decoded, place, shift, own)
                }
                _ => 0,
            };
            starts.copy_within(from..from + count, kept);
            kept += count;
            from = std::mem::replace(end, kept);
        });
        starts.truncate(kept);
    }

    /// Visits documents at ascending spots of the list, each with its block and its place there.
    #[inline]
    fn each_spot(
        &mut self,
        spots: impl Iterator<Item = Spot>,
        mut visit: impl FnMut(&mut Occurrences<'a>, Option<(DecodedBlock<'_>, usize)>),
    ) {
        let list = self.inverted;
        let mut occurrences =
            self.occurrences.take().unwrap_or_else(|| Box::new(Occurrences::new(list)));
        let mut spots = spots.peekable();
        while let Some(&spot) = spots.peek() {
            let Some(block) = spot.block() else {
                spots.next();
                visit(&mut occurrences, None);
                continue;
            };
            let decoded = self.decoded(block);
            while let Some(spot) = spots.next_if(|spot| spot.block() == Some(block)) {
                let place = spot.place();
                visit(&mut occurrences, Some((decoded, place)));
            }
        }
        self.occurrences = Some(occurrences);
    }

    /// A block, decoded.
    fn decoded(&mut self, block: usize) -> DecodedBlock<'_> {
        let held = block.checked_sub(self.blocks.start).filter(|_| self.blocks.contains(&block));
        if let Some(number) = held {
            self.fill_more(number);
            let part = number * BLOCK..self.docs.len().min((number + 1) * BLOCK);
            DecodedBlock { block, docs: &self.docs[part.clone()], more: &self.more[part] }
        } else {
            self.hold_alone(block);
            self.held.fill_docs(&self.inverted);
            self.held.fill_more(&self.inverted);
            DecodedBlock { block, docs: self.held.docs(), more: self.held.more() }
        }
    }

    /// What the occurrences of `doc` count, about.
    #[inline]
    pub(super) fn scaled(&self, doc: u32, frequency: u32) -> f32 {
        self.scale.scaled(frequency, self.lengths().get(DocId(doc)))
    }

    /// The same to the last digit.
    #[inline]
    pub(super) fn scaled_exactly(&self, doc: u32, frequency: u32) -> f64 {
        self.exact.scaled(frequency, self.lengths().get(DocId(doc)))
    }
}

/// Keeps the tags for which `test` holds at the front, in their order, and returns how many.
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

/// Those of ascending documents from `start` up to, but without, `end`: most often all.
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

/// Whether any of some documents may have a bit: the lowest of the first word is that of `start`.
#[inline]
fn has_bits(words: &[u64], start: u32, docs: Range<u32>) -> bool {
    let (from, until) = ((docs.start - start) / 64, (docs.end - start).div_ceil(64));
    let words = words.get(from as usize..until as usize).unwrap_or_default();
    words.iter().any(|&word| word != 0)
}
