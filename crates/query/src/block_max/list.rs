//! One posting list: decoded a window or a block at a time, bounded without.
//!
//! **Invariant.** Windows come in any order; what is asked for in one of them ascends.

use std::ops::Range;

use index::{Bounds, DocId, DocIterator, Field, Frequencies, Lengths, Maximum, Postings, Segment};

use crate::bm25::FieldScale;

/// A list of no more documents is decoded at once.
const SHORT: usize = 2048;

/// The documents that have a term in a field.
pub(super) struct List<'a> {
    postings: Postings<'a>,
    bounds: Bounds<'a>,
    /// The same, of documents of the window at hand.
    near: Bounds<'a>,
    lengths: Lengths<'a>,
    exact: FieldScale,
    scale: Scale,
    /// All postings of documents in `held`.
    docs: Vec<u32>,
    frequencies: Vec<u32>,
    held: Range<u32>,
    /// Whether the cursor stands on the first document behind `held`.
    is_next: bool,
    /// Where a document was found last.
    hint: usize,
    /// The maximum that was asked for last, and its bound.
    last_bound: (Maximum, f32),
}

/// What occurrences count: weight · f / (base + `per_term` · length).
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    weight: f32,
    base: f32,
    per_term: f32,
    b: f32,
    average_ratio: f32,
}

impl Scale {
    #[expect(clippy::cast_possible_truncation, reason = "bounds have a margin")]
    fn new(exact: FieldScale, segment: &Segment, field: Field) -> Scale {
        let (weight, b, average) = exact.parameters();
        #[expect(clippy::cast_precision_loss, reason = "bounds have a margin")]
        let own = segment.length_total(field) as f64 / f64::from(segment.doc_count().max(1));
        // A field without any terms has no postings either.
        let is_empty = average <= 0.0 || own <= 0.0;
        let (base, per_term, average_ratio) =
            if is_empty { (1.0, 0.0, 1.0) } else { (1.0 - b, b / average, average / own) };
        Scale {
            weight: weight as f32,
            base: base as f32,
            per_term: per_term as f32,
            b: b as f32,
            average_ratio: average_ratio as f32,
        }
    }

    /// Weighted occurrences, and what they are divided by.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "bounds have a margin")]
    pub(super) fn fraction(self, frequency: u32, length: u32) -> (f32, f32) {
        (self.weight * frequency as f32, self.base + self.per_term * length as f32)
    }

    #[inline]
    pub(super) fn scaled(self, frequency: u32, length: u32) -> f32 {
        let (above, below) = self.fraction(frequency, length);
        above / below
    }

    /// What the occurrences of any document of a block with that maximum count at most.
    #[inline]
    pub(super) fn bound(self, most: Maximum) -> f32 {
        self.weight * most.bound(self.b, self.average_ratio)
    }
}

impl<'a> List<'a> {
    pub(super) fn new(postings: Postings<'a>, field: Field, segment: &Segment, exact: FieldScale) -> List<'a> {
        let mut list = List {
            bounds: postings.bounds(),
            near: postings.bounds(),
            lengths: postings.lengths(),
            postings,
            exact,
            scale: Scale::new(exact, segment, field),
            docs: Vec::new(),
            frequencies: Vec::new(),
            held: 0..0,
            is_next: false,
            hint: 0,
            last_bound: (Maximum::default(), 0.0),
        };
        list.last_bound.1 = list.scale.bound(Maximum::default());
        list
    }

    pub(super) fn doc_frequency(&self) -> u32 {
        self.postings.doc_frequency()
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
        self.lengths
    }

    /// What the occurrences of any document of a window count at most. Windows ascend.
    #[inline]
    pub(super) fn bound(&mut self, start: u32, end: u32) -> f32 {
        let most = self.bounds.between(start, end);
        self.bound_of(most)
    }

    /// The same of any window.
    pub(super) fn bound_anywhere(&mut self, start: u32, end: u32) -> f32 {
        self.bounds.seek(start);
        self.bound(start, end)
    }

    /// Back to the first document of the window, for [`List::bound_at`].
    #[inline]
    pub(super) fn rewind(&mut self) {
        self.near = self.bounds;
    }

    /// What the occurrences of `doc` count at most, and up to which document that holds.
    #[inline]
    pub(super) fn bound_at(&mut self, doc: u32) -> (f32, u32) {
        let most = self.near.between(doc, doc + 1);
        (self.bound_of(most), self.near.last_doc())
    }

    #[inline]
    fn bound_of(&mut self, most: Option<Maximum>) -> f32 {
        let Some(most) = most else { return 0.0 };
        if most != self.last_bound.0 {
            self.last_bound = (most, self.scale.bound(most));
        }
        self.last_bound.1
    }

    /// Decodes all of it, if it is not long, and says what each document has.
    pub(super) fn all(&mut self) -> Option<(&[u32], &[u32])> {
        (self.doc_frequency() as usize <= SHORT).then(|| self.window(0, u32::MAX))
    }

    /// All documents, if they have been decoded.
    pub(super) fn short(&self) -> Option<&[u32]> {
        (self.held == (0..u32::MAX)).then_some(&self.docs[..])
    }

    /// What the occurrences of at least `k` documents count at least.
    pub(super) fn reached_by(&self, k: usize) -> f32 {
        let reached = self.bounds.reached_by(k);
        self.scale.weight * reached.reached(self.scale.b, self.scale.average_ratio)
    }

    /// Decodes a window: its documents and how often each has the term.
    pub(super) fn window(&mut self, start: u32, end: u32) -> (&[u32], &[u32]) {
        if !(self.held.start <= start && end <= self.held.end) {
            self.hold(start, end);
        }
        let first = self.docs.partition_point(|&doc| doc < start);
        let rest = &self.docs[first..];
        let whole = rest.last().is_none_or(|&last| last < end);
        let count = if whole { rest.len() } else { rest.partition_point(|&doc| doc < end) };
        (&rest[..count], &self.frequencies[first..first + count])
    }

    fn hold(&mut self, start: u32, end: u32) {
        if self.is_next && self.held.contains(&start) {
            let behind = self.docs.partition_point(|&doc| doc < start);
            self.docs.drain(..behind);
            self.frequencies.drain(..behind);
        } else {
            self.docs.clear();
            self.frequencies.clear();
            self.postings.seek(DocId(start));
        }
        while self.postings.doc().0 < end {
            self.postings.take_block(&mut self.docs, &mut self.frequencies);
        }
        self.held = start..self.postings.doc().0;
        self.is_next = true;
    }

    /// Decodes any block: its documents and how often, less one, each has the term.
    pub(super) fn block(&mut self, block: usize) -> (&[u32], &[u32]) {
        self.postings.enter_block(block);
        self.postings.block_rest_more()
    }

    /// How often `doc` has the term.
    #[inline]
    pub(super) fn frequency(&mut self, doc: u32) -> Option<u32> {
        if self.held.contains(&doc) {
            let at = self.find(doc);
            self.hint = at;
            return (self.docs.get(at) == Some(&doc)).then(|| self.frequencies[at]);
        }
        self.is_next = false;
        (self.postings.seek(DocId(doc)) == DocId(doc)).then(|| self.postings.frequency())
    }

    /// Where the first document from `doc` on is held: most often not far behind the one before.
    #[inline]
    fn find(&self, doc: u32) -> usize {
        let (mut low, mut step) = (self.hint, 1);
        if self.docs.get(low).is_none_or(|&found| found > doc) {
            low = 0;
        }
        while let Some(&found) = self.docs.get(low + step)
            && found <= doc
        {
            low += step;
            step *= 2;
        }
        let high = (low + step).min(self.docs.len());
        low + self.docs[low..high].partition_point(|&found| found < doc)
    }

    /// What the occurrences of `doc` count, about.
    #[inline]
    pub(super) fn scaled(&mut self, doc: u32) -> Option<f32> {
        let frequency = self.frequency(doc)?;
        Some(self.scale.scaled(frequency, self.lengths.get(DocId(doc))))
    }

    /// The same to the last digit.
    pub(super) fn scaled_exactly(&mut self, doc: u32) -> Option<f64> {
        let frequency = self.frequency(doc)?;
        Some(self.exact.scaled(frequency, self.lengths.get(DocId(doc))))
    }
}
