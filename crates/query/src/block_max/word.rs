//! A word: its lists in some fields, and their joint contribution to scores.
//!
//! **Invariant.** Up to rounding, the contribution is the BM25F score (`bm25.rs`): occurrences in all fields are
//! added up before saturation. [`Word::exactly`] is equal to that score in every bit.

use index::{DocId, Field, InvertedList, Maximum, Segment};

use super::ROUND_UP;
use super::block_reader::BlockBuffer;
use super::floor;
use super::impact_tables::ImpactTable;
use super::list::List;
use super::scale::Scale;
use super::window::{Window, present};
use super::workspace::Scratch;
use crate::bm25::Bm25;
use crate::scorers::Statistics;

/// Lists with at least this many blocks precompute the bounds of all maxima. OR then takes 2 to 4 % less time.
const LONG: usize = 64;

pub(super) struct Word<'a> {
    /// In the order of the fields.
    pub(super) lists: Vec<List<'a>>,
    /// The number of its first list among all lists of the query.
    pub(super) number: usize,
    /// The longest list.
    longest: usize,
    /// `None` for a filter.
    pub(super) exact: Option<Bm25>,
    pub(super) saturation: Saturation,
    /// Upper bound in the current window.
    pub(super) bound: f32,
    /// Argument and result of the last [`Word::saturate`].
    last_bound: (f32, f32),
    /// The bounds of all maxima, for a word of one long list.
    bounds: Vec<f32>,
    pub(super) memo: Memo,
    /// Quantized scores in all documents, if known.
    pub(super) table: Option<&'a ImpactTable>,
}

/// A cache of scores: many documents have the same frequency and length, and division is slow.
#[derive(Default)]
pub(super) struct Memo {
    /// Number of lookups before the cache was allocated.
    first: usize,
    kept: Vec<(u32, u32, f64)>,
}

impl Memo {
    /// Number of entries, a power of two.
    const SIZE: usize = 16;

    /// The score for a frequency in a field of the given length.
    #[inline]
    pub(super) fn score(
        &mut self,
        frequency: u32,
        length: u32,
        compute: impl FnOnce() -> f64,
    ) -> f64 {
        if self.kept.is_empty() {
            self.first += 1;
            if self.first <= Memo::SIZE {
                // A cache does not pay for a few lookups.
                return compute();
            }
            self.kept.resize(Memo::SIZE, (0, 0, 0.0));
        }
        let at = (length as usize ^ (frequency as usize) << 3) % Memo::SIZE;
        let kept = &mut self.kept[at];
        if (kept.0, kept.1) != (frequency, length) {
            *kept = (frequency, length, compute());
        }
        kept.2
    }
}

/// limit · x / (x + k1)
#[derive(Clone, Copy, Debug)]
pub(super) struct Saturation {
    limit: f32,
    k1: f32,
}

impl Saturation {
    #[inline]
    pub(super) fn of(self, scaled: f32) -> f32 {
        self.limit * (scaled / (scaled + self.k1))
    }

    /// The quantized ratio to the value for `greatest`, in 255ths: rounded up with a margin, at least 1.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
    pub(super) fn share(self, scaled: f32, greatest: f32) -> u8 {
        // The ratio of infinite values is not a number; it becomes 1.
        let of = |scaled: f32| Some(scaled / (scaled + self.k1)).filter(|share| share.is_finite());
        let share = of(scaled).unwrap_or(1.0) / of(greatest).unwrap_or(1.0);
        (share * ROUND_UP * 255.0).ceil().clamp(1.0, 255.0) as u8
    }

    /// The saturated value, also for an infinite argument.
    #[inline]
    pub(super) fn bound(self, scaled: f32) -> f32 {
        let share = scaled / (scaled + self.k1);
        if share.is_finite() { self.limit * share } else { self.limit }
    }

    /// The saturated value of occurrences in one field, with one division.
    #[inline]
    pub(super) fn of_field(self, scale: Scale, frequency: u32, length: u32) -> f32 {
        let (above, below) = scale.fraction(frequency, length);
        // `max` turns 0 / 0, which is not a number, into 0.
        self.limit * (above / (above + self.k1 * below)).max(0.0)
    }
}

impl<'a> Word<'a> {
    /// Returns `None` if no document of the segment contains it. `exact` is `None` for a filter.
    pub(super) fn new(
        segment: &'a Segment,
        statistics: &Statistics,
        exact: Option<Bm25>,
        found: impl Iterator<Item = ((Field, Option<InvertedList<'a>>), &'a mut BlockBuffer)>,
    ) -> Option<Word<'a>> {
        let mut lists = Vec::with_capacity(found.size_hint().1.unwrap_or(0));
        for ((field, list), room) in found {
            if let Some(list) = list {
                lists.push(List::new(list, field, segment, statistics.scale(field), room));
            }
        }
        let (longest, _) = lists.iter().enumerate().max_by_key(|(_, list)| list.doc_frequency())?;
        let (limit, k1) = exact.map_or((0.0, 1.0), |exact| exact.parameters());
        #[expect(clippy::cast_possible_truncation, reason = "bounds have a margin")]
        // Avoids 0 / 0.
        let saturation = Saturation { limit: limit as f32, k1: (k1 as f32).max(f32::MIN_POSITIVE) };
        Some(Word {
            bounds: Vec::new(),
            lists,
            number: 0,
            longest,
            exact,
            saturation,
            bound: 0.0,
            last_bound: (0.0, 0.0),
            memo: Memo::default(),
            table: None,
        })
    }

    pub(super) fn is_single(&self) -> bool {
        self.lists.len() == 1
    }

    /// An upper bound of the number of documents that contain it.
    pub(super) fn cost(&self) -> u64 {
        self.lists.iter().map(|list| u64::from(list.doc_frequency())).sum()
    }

    /// An upper bound of its score in any document of a window. Appends the first block of the window in each
    /// list. Windows ascend.
    #[inline]
    pub(super) fn bound_in(&mut self, start: u32, end: u32, blocks: &mut Vec<usize>) -> f32 {
        if let [list] = &mut self.lists[..] {
            let (most, block) = list.most_in(start, end);
            blocks.push(block);
            return most.map_or(0.0, |most| self.bound_of(most));
        }
        let mut sum = 0.0;
        for list in &mut self.lists {
            let (scaled, block) = list.bound(start, end);
            sum += scaled;
            blocks.push(block);
        }
        self.saturate(sum)
    }

    /// An upper bound of the score of a word of one list in any document of a block.
    #[inline]
    pub(super) fn bound_of_block(&mut self, block: usize) -> f32 {
        self.bound_of(self.lists[0].bounds().maximum(block))
    }

    /// The bound that follows from a maximum, for a word of one list.
    #[inline]
    fn bound_of(&mut self, most: Maximum) -> f32 {
        if let Some(&bound) = self.bounds.get(usize::from(most.code())) {
            return bound;
        }
        let (scale, saturation) = (self.lists[0].scale(), self.saturation);
        if self.lists[0].block_count() >= LONG {
            self.bounds.extend(Maximum::all().map(|most| saturation.bound(scale.bound(most))));
        }
        self.saturate(scale.bound(most))
    }

    /// Enters a window with the given bound and first blocks.
    #[inline]
    pub(super) fn enter(&mut self, bound: f32, blocks: &mut impl Iterator<Item = usize>) {
        self.bound = bound;
        for (list, block) in self.lists.iter_mut().zip(blocks) {
            list.enter(block);
        }
    }

    /// The saturated bound. The last result is kept, since successive blocks are often alike.
    #[inline]
    fn saturate(&mut self, scaled: f32) -> f32 {
        if scaled.to_bits() != self.last_bound.0.to_bits() {
            self.last_bound = (scaled, self.saturation.bound(scaled));
        }
        self.last_bound.1
    }

    /// A lower bound of its k-th best score, from champions or block maxima.
    pub(super) fn surely_reached_by(&self, k: usize) -> f32 {
        let list = &self.lists[self.longest];
        self.saturation.of(list.champions_reach(k).unwrap_or_else(|| list.reached_by(k)))
    }

    /// An upper bound of its score in any document.
    pub(super) fn limit(&self) -> f32 {
        self.saturation.limit
    }

    /// A lower bound of its k-th best score, at least [`Word::surely_reached_by`]. Without champions it decodes
    /// the best block.
    pub(super) fn reached_by(&mut self, k: usize, scratch: &mut Scratch) -> f32 {
        let list = &mut self.lists[self.longest];
        if let Some(reached) = list.champions_reach(k) {
            return self.saturation.of(reached);
        }
        let surely = self.saturation.of(list.reached_by(k));
        let (lengths, scale, best) = (list.lengths(), list.scale(), list.bounds().best_block());
        self.saturation.fill(scale, list.block(best), lengths, scratch);
        floor::reached_by(k, scratch.scores.iter().copied()).max(surely)
    }

    /// Its score in `doc`, or `None` if the document lacks it.
    #[inline]
    pub(super) fn look_up(&mut self, doc: u32) -> Option<f32> {
        let (mut sum, mut is_there) = (0.0, false);
        for list in &mut self.lists {
            let frequency = list.look_up(doc);
            if frequency > 0 {
                is_there = true;
                sum += list.scaled(doc, frequency);
            }
        }
        is_there.then(|| present(self.saturation.of(sum)))
    }

    /// Its exact score in `doc`.
    pub(super) fn exactly(&mut self, doc: u32) -> f64 {
        if let [list] = &mut self.lists[..] {
            let (frequency, length) = (list.frequency(doc), list.lengths().get(DocId(doc)));
            return self.exactly_often(frequency, length);
        }
        let Some(exact) = self.exact else { return 0.0 };
        let mut scaled = 0.0;
        for list in &mut self.lists {
            let frequency = list.frequency(doc);
            if frequency > 0 {
                scaled += list.scaled_exactly(doc, frequency);
            }
        }
        exact.score(scaled)
    }

    /// The exact score of a word of one list, for a frequency and a length.
    #[inline]
    pub(super) fn exactly_often(&mut self, frequency: u32, length: u32) -> f64 {
        let Some(exact) = self.exact else { return 0.0 };
        let scale = self.lists[0].exact();
        self.memo.score(frequency, length, || exact.score(0.0 + scale.scaled(frequency, length)))
    }

    /// Computes the scores of a word of one list in the documents of a window.
    pub(super) fn single_scores<'s>(
        &'s mut self,
        start: u32,
        end: u32,
        scratch: &mut Scratch,
    ) -> &'s [u32] {
        let list = &mut self.lists[0];
        let (lengths, scale) = (list.lengths(), list.scale());
        list.window(start, end);
        let (docs, tf_minus_one) = list.with_tf_minus_one();
        self.saturation.fill(scale, (docs, tf_minus_one), lengths, scratch);
        docs
    }

    /// Enters a window that begins at `start`. Windows ascend.
    pub(super) fn advance(&mut self, start: u32) {
        self.lists.iter_mut().for_each(|list| list.advance(start));
    }

    /// Restarts lookups at the first document of the window.
    #[inline]
    pub(super) fn rewind(&mut self) {
        self.lists.iter_mut().for_each(List::rewind);
    }

    /// Returns an upper bound of its score in `doc`, and the last document for which it holds.
    #[inline]
    pub(super) fn bound_at(&mut self, doc: u32) -> (f32, u32) {
        let (mut sum, mut until) = (0.0, u32::MAX);
        for list in &mut self.lists {
            let (scaled, last) = list.bound_at(doc);
            sum += scaled;
            until = until.min(last);
        }
        (self.saturate(sum), until)
    }

    /// Adds its score to the accumulators of all documents of a window.
    pub(super) fn add_to(
        &mut self,
        window: &mut Window,
        start: u32,
        end: u32,
        scratch: &mut Scratch,
    ) {
        if self.is_single() {
            let docs = self.single_scores(start, end, scratch);
            for (&doc, &score) in docs.iter().zip(&scratch.scores) {
                window.add((doc - start) as usize, score);
            }
            return;
        }
        let (saturation, longest) = (self.saturation, self.longest);
        let mut places = Vec::new();
        for (_, list) in self.lists.iter_mut().enumerate().filter(|(at, _)| *at != longest) {
            let (lengths, scale) = (list.lengths(), list.scale());
            list.window(start, end);
            let (docs, tf_minus_one) = list.with_tf_minus_one();
            for (&doc, &tf_minus_one) in docs.iter().zip(tf_minus_one) {
                let (at, length) = ((doc - start) as usize, lengths.get(DocId(doc)));
                window.partial[at] += present(scale.scaled(tf_minus_one.saturating_add(1), length));
                places.push(at);
            }
        }
        let list = &mut self.lists[longest];
        let (lengths, scale) = (list.lengths(), list.scale());
        list.window(start, end);
        let (docs, tf_minus_one) = list.with_tf_minus_one();
        scratch.lengths.resize(docs.len(), 0);
        lengths.of(docs, &mut scratch.lengths);
        for ((&doc, &tf_minus_one), &length) in docs.iter().zip(tf_minus_one).zip(&scratch.lengths)
        {
            let at = (doc - start) as usize;
            let scaled = window.partial[at] + scale.scaled(tf_minus_one.saturating_add(1), length);
            window.partial[at] = 0.0;
            window.add(at, saturation.of(scaled));
        }
        for at in places {
            let scaled = std::mem::take(&mut window.partial[at]);
            if scaled > 0.0 {
                window.add(at, saturation.of(scaled));
            }
        }
    }
}

impl Saturation {
    pub(super) fn fill(
        self,
        scale: Scale,
        (docs, tf_minus_one): (&[u32], &[u32]),
        lengths: index::Lengths<'_>,
        scratch: &mut Scratch,
    ) {
        scratch.lengths.resize(docs.len(), 0);
        lengths.of(docs, &mut scratch.lengths);
        scratch.scores.clear();
        let scores = tf_minus_one.iter().zip(&scratch.lengths);
        scratch.scores.extend(scores.map(|(&tf_minus_one, &length)| {
            self.of_field(scale, tf_minus_one.saturating_add(1), length)
        }));
    }
}
