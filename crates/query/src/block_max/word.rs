//! A word: its lists in some fields, and what they add to scores together.
//!
//! **Invariant.** Up to rounding, what a word adds is its BM25F score (`bm25.rs`): occurrences in all fields are added
//! up before they saturate. What [`Word::exactly`] says is that score to the last digit.

use index::{DocId, Field, InvertedList, Maximum, Segment};

use super::ROUND_UP;
use super::floor;
use super::held::Room;
use super::list::List;
use super::scale::Scale;
use super::shape::Wanted;
use super::tables::Table;
use super::window::{Window, present};
use super::workspace::Scratch;
use crate::bm25::Bm25;
use crate::scorers::Statistics;

/// A list of so many blocks has so many windows that bounds are worked out beforehand: then OR takes 2 to 4 % less.
const LONG: usize = 64;

pub(super) struct Word<'a> {
    /// In the order of the fields asked.
    pub(super) lists: Vec<List<'a>>,
    /// The number of the first of them among all of the query.
    pub(super) number: usize,
    /// Which of them is the longest: the others are few beside it.
    longest: usize,
    /// `None` if it only chooses documents.
    pub(super) exact: Option<Bm25>,
    pub(super) saturation: Saturation,
    /// In the window at hand.
    pub(super) bound: f32,
    /// What was bounded last, and its bound.
    last_bound: (f32, f32),
    /// What each maximum bounds, of one list that is long, once that was asked for.
    bounds: Vec<f32>,
    pub(super) memo: Memo,
    /// What it is worth in each document, if that is known.
    pub(super) table: Option<&'a Table>,
}

/// Scores that were computed before: documents that are alike are many, and to divide takes long.
#[derive(Default)]
pub(super) struct Memo {
    /// How many were asked for before any was kept.
    first: usize,
    kept: Vec<(u32, u32, f64)>,
}

impl Memo {
    /// How many are kept, a power of two.
    const SIZE: usize = 16;

    /// The score of so many occurrences in a field of that length.
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
                // Of a few it does not pay.
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

    /// How many 255ths that is of what `greatest` makes, and no less with a margin; at least one.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
    pub(super) fn share(self, scaled: f32, greatest: f32) -> u8 {
        // What is no number, as the share of what is infinite, is all.
        let of = |scaled: f32| Some(scaled / (scaled + self.k1)).filter(|share| share.is_finite());
        let share = of(scaled).unwrap_or(1.0) / of(greatest).unwrap_or(1.0);
        (share * ROUND_UP * 255.0).ceil().clamp(1.0, 255.0) as u8
    }

    /// The same for what may be infinite.
    #[inline]
    pub(super) fn bound(self, scaled: f32) -> f32 {
        let share = scaled / (scaled + self.k1);
        if share.is_finite() { self.limit * share } else { self.limit }
    }

    /// What adds up to `score`, or more.
    pub(super) fn inverse(self, score: f32) -> f32 {
        if score <= 0.0 {
            0.0
        } else if score < self.limit {
            self.k1 * score / (self.limit - score) * 0.9999
        } else {
            f32::INFINITY
        }
    }

    /// Of occurrences in one field, with one division.
    #[inline]
    pub(super) fn of_field(self, scale: Scale, frequency: u32, length: u32) -> f32 {
        let (above, below) = scale.fraction(frequency, length);
        // The greater of nothing and what is no number, nothing over nothing, is nothing.
        self.limit * (above / (above + self.k1 * below)).max(0.0)
    }
}

impl<'a> Word<'a> {
    /// `None` if no document of the segment has it.
    pub(super) fn new(
        wanted: &Wanted<'_>,
        segment: &'a Segment,
        statistics: &Statistics,
        exact: Option<Bm25>,
        found: impl Iterator<Item = ((Field, Option<InvertedList<'a>>), &'a mut Room)>,
    ) -> Option<Word<'a>> {
        let mut lists = Vec::with_capacity(found.size_hint().1.unwrap_or(0));
        for ((field, list), room) in found {
            if let Some(list) = list {
                lists.push(List::new(list, field, segment, statistics.scale(field), room));
            }
        }
        let (longest, _) = lists.iter().enumerate().max_by_key(|(_, list)| list.doc_frequency())?;
        let exact = exact.filter(|_| wanted.is_scored);
        let (limit, k1) = exact.map_or((0.0, 1.0), |exact| exact.parameters());
        #[expect(clippy::cast_possible_truncation, reason = "bounds have a margin")]
        // Nothing may be divided by nothing.
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

    /// Whether it has one list only.
    pub(super) fn is_single(&self) -> bool {
        self.lists.len() == 1
    }

    /// About how many documents have it.
    pub(super) fn cost(&self) -> u64 {
        self.lists.iter().map(|list| u64::from(list.doc_frequency())).sum()
    }

    /// Bounds what it adds to any document of a window, and says in which block of each list the window begins. Windows
    /// ascend.
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

    /// Bounds what a word of one list adds to any document of a block.
    #[inline]
    pub(super) fn bound_of_block(&mut self, block: usize) -> f32 {
        self.bound_of(self.lists[0].bounds().maximum(block))
    }

    /// What a maximum bounds, of a word of one list.
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

    /// Goes to a window with that bound, which begins in these blocks.
    #[inline]
    pub(super) fn enter(&mut self, bound: f32, blocks: &mut impl Iterator<Item = usize>) {
        self.bound = bound;
        for (list, block) in self.lists.iter_mut().zip(blocks) {
            list.enter(block);
        }
    }

    /// What `scaled` makes at most; that of the last time is kept, since blocks are often alike.
    #[inline]
    fn saturate(&mut self, scaled: f32) -> f32 {
        if scaled.to_bits() != self.last_bound.0.to_bits() {
            self.last_bound = (scaled, self.saturation.bound(scaled));
        }
        self.last_bound.1
    }

    /// What at least `k` documents have of it, as its champions or the maxima of its blocks say.
    pub(super) fn surely_reached_by(&self, k: usize) -> f32 {
        let list = &self.lists[self.longest];
        self.saturation.of(list.champions_reach(k).unwrap_or_else(|| list.reached_by(k)))
    }

    /// What no document reaches of it.
    pub(super) fn limit(&self) -> f32 {
        self.saturation.limit
    }

    /// As [`Word::surely_reached_by`], and as the best of its blocks has it, if there are no champions.
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

    /// What it adds to `doc`; `None` if that does not have it. Keeps how often it is there.
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

    /// The score of `doc` for it.
    pub(super) fn exactly(&mut self, doc: u32) -> f64 {
        for list in &mut self.lists {
            list.found.frequency = list.frequency(doc);
        }
        self.exactly_found(doc)
    }

    /// The score of `doc` for what was found in it.
    #[inline]
    pub(super) fn exactly_found(&mut self, doc: u32) -> f64 {
        if let [list] = &self.lists[..] {
            let (frequency, length) = (list.found.frequency, list.lengths().get(DocId(doc)));
            return self.exactly_often(frequency, length);
        }
        let Some(exact) = self.exact else { return 0.0 };
        let there = self.lists.iter().filter(|list| list.found.frequency > 0);
        exact.score(
            there.fold(0.0, |sum, list| sum + list.scaled_exactly(doc, list.found.frequency)),
        )
    }

    /// The score of a document of that length that has a word of one list so often.
    #[inline]
    pub(super) fn exactly_often(&mut self, frequency: u32, length: u32) -> f64 {
        let Some(exact) = self.exact else { return 0.0 };
        let scale = self.lists[0].exact();
        self.memo.score(frequency, length, || exact.score(0.0 + scale.scaled(frequency, length)))
    }

    /// The list in a field.
    pub(super) fn list_in(&mut self, field: Field) -> Option<&mut List<'a>> {
        self.lists.iter_mut().find(|list| list.field == field)
    }

    /// What a word of one list adds to each document of a window.
    pub(super) fn single_scores<'s>(
        &'s mut self,
        start: u32,
        end: u32,
        scratch: &mut Scratch,
    ) -> &'s [u32] {
        let list = &mut self.lists[0];
        let (lengths, scale) = (list.lengths(), list.scale());
        list.window(start, end);
        let (docs, more) = list.with_more();
        self.saturation.fill(scale, (docs, more), lengths, scratch);
        docs
    }

    /// The list of a word that has one only.
    pub(super) fn single_list(&mut self) -> Option<(&mut List<'a>, Saturation)> {
        let saturation = self.saturation;
        match &mut self.lists[..] {
            [list] => Some((list, saturation)),
            _ => None,
        }
    }

    /// Goes to a window that begins at `start`; windows ascend.
    pub(super) fn advance(&mut self, start: u32) {
        self.lists.iter_mut().for_each(|list| list.advance(start));
    }

    /// Back to the first document of the window, for [`Word::bound_at`].
    #[inline]
    pub(super) fn rewind(&mut self) {
        self.lists.iter_mut().for_each(List::rewind);
    }

    /// Bounds what it adds to `doc`, and says up to which document that holds.
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

    /// Adds what it is worth to every document of a window.
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
            let (docs, more) = list.with_more();
            for (&doc, &more) in docs.iter().zip(more) {
                let (at, length) = ((doc - start) as usize, lengths.get(DocId(doc)));
                window.partial[at] += present(scale.scaled(more.saturating_add(1), length));
                places.push(at);
            }
        }
        let list = &mut self.lists[longest];
        let (lengths, scale) = (list.lengths(), list.scale());
        list.window(start, end);
        let (docs, more) = list.with_more();
        scratch.lengths.resize(docs.len(), 0);
        lengths.of(docs, &mut scratch.lengths);
        for ((&doc, &more), &length) in docs.iter().zip(more).zip(&scratch.lengths) {
            let at = (doc - start) as usize;
            let scaled = window.partial[at] + scale.scaled(more.saturating_add(1), length);
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
        (docs, more): (&[u32], &[u32]),
        lengths: index::Lengths<'_>,
        scratch: &mut Scratch,
    ) {
        scratch.lengths.resize(docs.len(), 0);
        lengths.of(docs, &mut scratch.lengths);
        scratch.scores.clear();
        let scores = more.iter().zip(&scratch.lengths);
        scratch.scores.extend(
            scores.map(|(&more, &length)| self.of_field(scale, more.saturating_add(1), length)),
        );
    }
}
