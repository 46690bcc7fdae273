//! Top-k evaluation with dynamic pruning: documents that cannot be among the top k are skipped.
//!
//! The block maxima of a list bound the score of its term. A query of one list is answered from its champions, or
//! from the blocks that may contain a top document (`single.rs`). Other queries are evaluated in windows of
//! documents. A window is skipped, without decoding, if the sum of its bounds is below the threshold: the k-th
//! best score so far. The method depends on the query:
//!
//! - Disjunction of a few words of one list each (`cascade.rs`): `MaxScore`, term at a time. The blocks of one
//!   list after the other are the windows, until the remaining lists are not essential.
//! - Other disjunctions (`union.rs`): `MaxScore` in windows. The scores of the essential lists are added up in an
//!   array of accumulators. The other lists are probed only for documents near the threshold.
//! - Conjunction of words with tables (`impact_sum.rs`, `impact_tables.rs`): bounds are added up for all documents.
//! - Other conjunctions (`intersection.rs`): one group of words proposes documents, and the others are probed for
//!   those that may reach the threshold. Words of one list each are probed a block at a time (`conjunction.rs`).
//!   Positions are read last (`phrase.rs`).
//! - Any other query (`nested.rs`): the documents of each part are combined from those of its words.
//!
//! A quick lower bound of the k-th best score (`floor.rs`) is the first threshold.
//!
//! Pruning uses single precision, and its bounds have a margin for rounding. Documents that may reach the
//! threshold are scored exactly: from the words, or by [`Tree`] if the plan has more than words and phrases. The
//! threshold is lowered by the greatest possible proximity score.
//!
//! Elsewhere: scores (`bm25.rs`).
//!
//! **Invariant.** The top k are those of exhaustive evaluation: same documents, same scores, same order.
//!
//! H. Turtle, J. Flood, "Query evaluation: strategies and optimizations", 1995; S. Ding, T. Suel, "Faster top-k
//! document retrieval using block-max indexes", SIGIR 2011; K. Chakrabarti, S. Chaudhuri, V. Ganti,
//! "Interval-based pruning for top-k processing over compressed lists", ICDE 2011.

mod block_candidates;
mod block_reader;
mod candidates;
mod cascade;
mod conjunction;
mod count;
mod floor;
mod impact_sum;
mod impact_tables;
mod intersection;
mod list;
mod nested;
mod phrase;
mod scale;
mod shape;
mod single;
mod static_scores;
mod union;
mod window;
mod windows;
mod word;
mod workspace;

pub(crate) use impact_tables::ImpactTables;
pub use impact_tables::ImpactTablesReport;
pub(crate) use shape::Shape;
pub(crate) use static_scores::StaticScores;
pub(crate) use workspace::Workspaces;

use index::{Deleted, DocId, DocIterator, Field, Index, InvertedList, Segment};

use crate::plan::Plan;
use crate::proximity;
use crate::scorers::{Containing, Scorers, Statistics, TOGETHER};
use crate::tree::Tree;
use crate::{Hit, QueryError, Stop, TopK};
use block_reader::{BlockBuffer, BlockBuffers};
use candidates::Span;
use impact_tables::{ImpactTable, Key, is_frequent};
use intersection::{Order, Refusals};
use list::List;
use shape::Forms;
use window::{NOTHING, Window};
use windows::Windows;
use word::Word;
use workspace::Workspace;

/// Relative margin of bounds in single precision. It exceeds the rounding error of a sum over all words of a query.
const MARGIN: f64 = 1e-4;
/// Factors with this margin: a product with the first is not too small, with the second not too large.
const ROUND_UP: f32 = 1.000_1;
const ROUND_DOWN: f32 = 0.999_9;

/// Queries with more words do not use tables.
const TABLES_MAX: usize = 16;

/// A query to evaluate.
pub(crate) struct Task<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) shape: &'a Shape<'a>,
    pub(crate) index: &'a Index,
    pub(crate) statistics: &'a Statistics,
    /// Static scores of each segment.
    pub(crate) statics: &'a [StaticScores],
    pub(crate) workspaces: &'a Workspaces,
    pub(crate) tables: &'a ImpactTables,
    /// Stops the search. Results found until then count.
    pub(crate) stop: &'a Stop,
}

/// A conjunction of groups; each group is a disjunction of words.
type Groups<'a> = Vec<Vec<Word<'a>>>;

/// The lists of one segment: those of all words of a shape in their order, then those of the excluded words.
type Lists<'a> = Vec<Option<InvertedList<'a>>>;

impl<'a> Task<'a> {
    /// Reads the lists of each segment. Some are missing after a stop.
    fn lists(&self) -> Result<Vec<Lists<'a>>, QueryError> {
        let words = self.shape.groups.len() + self.shape.unwanted.len();
        let mut asked: Vec<(Field, &str)> = Vec::with_capacity(words);
        for word in self.shape.groups.iter().flatten().chain(&self.shape.unwanted) {
            for term in word.forms.terms() {
                asked.extend(word.fields.iter().map(|&field| (field, term)));
            }
        }
        let mut lists = Vec::with_capacity(self.index.segments().len());
        for segment in self.index.segments() {
            let mut found = Vec::with_capacity(asked.len());
            for asked in asked.chunks(TOGETHER).take_while(|_| !self.stop.is_set()) {
                found.extend(segment.lists(asked)?);
            }
            found.resize_with(asked.len(), || None);
            lists.push(found);
        }
        Ok(lists)
    }

    /// For each word, the number of documents that contain it.
    fn containing(&self, lists: &[Lists<'a>]) -> Vec<Containing> {
        let mut containing: Vec<Containing> = Vec::with_capacity(self.shape.groups.len());
        let mut at = 0;
        for wanted in self.shape.groups.iter().flatten() {
            let mut counts = Containing::default();
            for _ in wanted.forms.terms() {
                for &field in wanted.fields {
                    let found = lists.iter().filter_map(|lists| lists[at].as_ref());
                    let found: u64 = found.map(|list| u64::from(list.doc_frequency())).sum();
                    let sum = &mut counts[field as usize];
                    *sum = sum.saturating_add(found).min(self.index.doc_count());
                    at += 1;
                }
            }
            containing.push(counts);
        }
        containing
    }

    /// Counts the documents that match a plan of words alone.
    pub(crate) fn count(&self) -> Result<u64, QueryError> {
        let lists = self.lists()?;
        let mut total = 0;
        for (number, (segment, lists)) in self.index.segments().iter().zip(lists).enumerate() {
            if self.stop.is_set() {
                break;
            }
            let deleted = segment.deleted()?;
            let is_whole = segment.deleted_count() == 0;
            let deleted = (!is_whole).then_some(deleted);
            total += self.workspaces.with(|work, rooms| {
                let Some((mut groups, _)) = self.groups(segment, lists, None, rooms) else {
                    return 0;
                };
                if is_whole && self.is_of_words() {
                    self.tables_of_words(number, &mut groups, |key, _| self.tables.made(key));
                    if impact_sum::is_known(&groups) {
                        return impact_sum::count(&groups);
                    }
                }
                count::count(&mut groups, segment.doc_count(), deleted, work, self.stop)
            });
        }
        Ok(total)
    }

    /// Offers every document to `best` that may be among the top k.
    pub(crate) fn evaluate(&self, best: &mut TopK) -> Result<(), QueryError> {
        let lists = self.lists()?;
        let containing = self.containing(&lists);
        let segments = self.index.segments();
        // Needed only if words alone do not decide.
        let scorers = if self.shape.is_partial || self.shape.is_close {
            Some(Scorers::gather(self.plan, self.index, self.statistics, self.stop)?)
        } else {
            None
        };
        let added = scorers.as_ref().map_or(0.0, |scorers| proximity::most(self.plan, scorers));
        let mut has_made = false;
        for (number, (segment, lists)) in segments.iter().zip(lists).enumerate() {
            let deleted = segment.deleted()?;
            if let Some((_, words)) = self.shape.phrases.first()
                && !segment.has_positions()
            {
                return Err(QueryError::NoPositions { what: words.what.clone() });
            }
            if self.shape.nested.is_some()
                && !segment.has_positions()
                && let Some(scorers) = &scorers
            {
                // The error names the part that needs positions.
                Tree::build(self.plan, segment, scorers)?;
            }
            if self.stop.is_set() {
                break;
            }
            let error = self.workspaces.with(|work, rooms| {
                let found = self.groups(segment, lists, Some(&containing), rooms);
                let (mut groups, unwanted) = found?;
                if scorers.is_none() {
                    self.look_for_tables(number, segment.doc_count(), &mut groups, &mut has_made);
                }
                let mut collector = Collector {
                    number,
                    doc_count: segment.doc_count(),
                    deleted,
                    statics: &self.statics[number],
                    shape: self.shape,
                    best,
                    plan: scorers.as_ref().map(|scorers| (self.plan, segment, scorers)),
                    unwanted,
                    refusals: Refusals::default(),
                    is_refused: false,
                    tree: None,
                    error: None,
                    floor: 0.0,
                    is_partial: self.shape.is_partial
                        || !self.shape.phrases.is_empty()
                        || segment.deleted_count() > 0
                        || !self.statistics.is_gradual(),
                    added,
                    least: 0.0,
                    stop: self.stop,
                };
                collector.evaluate(&mut groups, work);
                collector.error
            });
            if let Some(error) = error {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Sets the table of each word, as returned by `of`. The query must be a conjunction of words.
    fn tables_of_words<'r>(
        &'r self,
        segment: usize,
        groups: &mut Groups<'r>,
        mut of: impl FnMut(&Key<'_>, &mut Word<'r>) -> Option<&'r ImpactTable>,
    ) {
        let mut known: Vec<(Key<'_>, Option<&ImpactTable>)> = Vec::with_capacity(groups.len());
        for (word, wanted) in groups.iter_mut().flatten().zip(self.shape.groups.iter().flatten()) {
            let Forms::One(term) = wanted.forms else { continue };
            let (fields, is_scored) = (wanted.fields, wanted.is_scored);
            let key = Key { segment, fields, term, is_scored };
            // A repeated word is looked up once.
            word.table = match known.iter().find(|(other, _)| *other == key) {
                Some(&(_, table)) => table,
                None => of(&key, word),
            };
            known.push((key, word.table));
        }
    }

    /// Returns whether the query is a conjunction of words, so that tables are enough to match it.
    fn is_of_words(&self) -> bool {
        let Shape { groups: wanted, nested, phrases, .. } = self.shape;
        let are_words = wanted.iter().all(|group| group.len() == 1);
        let are_few = (2..=TABLES_MAX).contains(&wanted.len());
        are_few && are_words && nested.is_none() && phrases.is_empty()
    }

    /// Sets the tables of the words of a conjunction. If the tables are not added up, every word must have one
    /// list, because a table has no places in a list.
    fn look_for_tables<'r>(
        &'r self,
        segment: usize,
        doc_count: u32,
        groups: &mut Groups<'r>,
        has_made: &mut bool,
    ) {
        let are_lists = groups.iter().flatten().all(Word::is_single);
        let are_frequent = || groups.iter().flatten().all(|word| is_frequent(word, doc_count));
        if !self.is_of_words() || !(are_lists || are_frequent()) {
            return;
        }
        self.tables_of_words(segment, groups, |key, word| {
            self.tables.of(key, word, doc_count, has_made)
        });
        if !are_lists && !impact_sum::pays(groups, doc_count) {
            groups.iter_mut().flatten().for_each(|word| word.table = None);
        }
    }

    /// Opens the words of each group that the segment contains, and the lists of the excluded words. Words get
    /// scorers if `containing` is given. Returns `None` if a group has no words here.
    fn groups<'r>(
        &self,
        segment: &'r Segment,
        lists: Lists<'r>,
        containing: Option<&[Containing]>,
        rooms: &'r mut BlockBuffers,
    ) -> Option<(Groups<'r>, Vec<List<'r>>)> {
        let mut rooms = rooms.take(lists.len());
        let mut lists = lists.into_iter();
        let mut containing = containing.unwrap_or_default().iter();
        let mut groups = Vec::with_capacity(self.shape.groups.len());
        let mut number = 0;
        for group in &self.shape.groups {
            let mut words = Vec::with_capacity(group.len());
            for wanted in group {
                let containing = containing.next();
                let scorer = containing.map(|count| self.statistics.scorer(wanted.fields, count));
                let fields = wanted.forms.terms().flat_map(|_| wanted.fields.iter().copied());
                let lists = fields.zip(lists.by_ref());
                let lists = lists.zip(rooms.by_ref());
                if let Some(mut word) = Word::new(wanted, segment, self.statistics, scorer, lists) {
                    word.number = number;
                    number += word.lists.len();
                    words.push(word);
                }
            }
            if words.is_empty() && self.shape.nested.is_none() {
                return None;
            }
            groups.push(words);
        }
        let fields = self.shape.unwanted.iter().flat_map(|word| word.fields);
        let open =
            |((&field, list), room): ((&Field, Option<InvertedList<'r>>), &'r mut BlockBuffer)| {
                Some(List::new(list?, field, segment, self.statistics.scale(field), room))
            };
        Some((groups, fields.zip(lists).zip(rooms).filter_map(open).collect()))
    }
}

/// A lower bound of the k-th best score, from single words. The rarest word comes first, since it usually has the
/// greatest weight.
fn floor(words: &mut [Word<'_>], k: usize, work: &mut Workspace) -> f32 {
    let mut order: Vec<&mut Word<'_>> = words.iter_mut().collect();
    order.sort_by(|a, b| b.limit().total_cmp(&a.limit()));
    let mut floor = 0.0_f32;
    for word in order {
        if word.limit() > floor {
            let is_first = floor == 0.0;
            let reached = if is_first {
                word.reached_by(k, &mut work.scratch)
            } else {
                word.surely_reached_by(k)
            };
            floor = floor.max(reached);
        }
    }
    floor
}

/// Scores the candidates of a segment exactly and keeps the threshold.
struct Collector<'a, 'b> {
    number: usize,
    doc_count: u32,
    deleted: Deleted<'a>,
    statics: &'a StaticScores,
    shape: &'a Shape<'a>,
    best: &'b mut TopK,
    /// The plan, if words alone do not decide.
    plan: Option<(&'a Plan, &'a Segment, &'a Scorers<'a>)>,
    /// Lists of excluded words.
    unwanted: Vec<List<'a>>,
    refusals: Refusals,
    /// Whether documents with excluded words are dropped before they are judged.
    is_refused: bool,
    /// Created on first use.
    tree: Option<Tree<'a>>,
    error: Option<QueryError>,
    /// A lower bound of the k-th best score.
    floor: f32,
    /// Whether a document with all words may still fail to match, or score less than the sum in single precision.
    is_partial: bool,
    /// The greatest possible proximity score, which bounds do not include.
    added: f64,
    /// The threshold: documents with a lower upper bound are skipped.
    least: f32,
    stop: &'a Stop,
}

impl<'a> Collector<'a, '_> {
    fn evaluate(&mut self, groups: &mut Groups<'_>, work: &mut Workspace) {
        let mut windows = std::mem::take(&mut work.windows);
        self.evaluate_in(groups, &mut windows, work);
        work.windows = windows;
    }

    fn evaluate_in(
        &mut self,
        groups: &mut Groups<'_>,
        windows: &mut Windows,
        work: &mut Workspace,
    ) {
        if let Some(need) = &self.shape.nested {
            self.raise_threshold();
            self.make_windows(windows, groups, None);
            self.each_window(windows, groups, |collector, groups, span| {
                nested::evaluate(groups, need, span, collector, work);
            });
            return;
        }
        self.is_refused = groups.len() > 1 || self.unwanted.is_empty();
        if groups.len() > 1 {
            self.raise_threshold();
            if impact_sum::pays(groups, self.doc_count) {
                debug_assert!(self.plan.is_none(), "words alone decide");
                self.is_refused = self.unwanted.is_empty();
                return impact_sum::evaluate(groups, self, work);
            }
            let order = Order::new(groups);
            self.make_windows(windows, groups, order.driver());
            self.each_window(windows, groups, |collector, groups, span| {
                intersection::evaluate(groups, &order, span, collector, work);
            });
            return;
        }
        let Some(words) = groups.first_mut() else { return };
        let k = self.best.size();
        if let [only] = &mut words[..]
            && only.is_single()
        {
            if single::judge_champions(only, self) {
                return;
            }
            self.floor = if self.is_sure() { only.surely_reached_by(k) } else { 0.0 };
            self.raise_threshold();
            return single::evaluate(only, self, self.plan.is_some(), work);
        }
        if self.is_sure() {
            self.floor = floor(words, k, work);
        }
        self.raise_threshold();
        let are_lists = words.iter().all(Word::is_single);
        if self.plan.is_none() && are_lists && words.len() <= cascade::WORDS_MAX {
            return cascade::evaluate(words, windows, self, work);
        }
        *groups = words.drain(..).map(|word| vec![word]).collect();
        self.make_windows(windows, groups, None);
        self.each_window(windows, groups, |collector, words, span| {
            union::evaluate(words, span, collector, work);
        });
    }

    /// Makes windows of the blocks of the driver if it is one list. Otherwise makes windows of equal width.
    fn make_windows(
        &self,
        windows: &mut Windows,
        groups: &mut [Vec<Word<'_>>],
        driver: Option<usize>,
    ) {
        let segment = (self.doc_count, self.statics);
        let bounds = driver.and_then(|driver| match &groups[driver][..] {
            [word] if word.is_single() => Some((driver, *word.lists[0].bounds())),
            _ => None,
        });
        match bounds {
            Some((driver, bounds)) => {
                debug_assert!(groups.iter().all(|group| group.len() == 1), "a group is a word");
                windows.split_by_blocks(&bounds, segment, self.stop, |windows, span, block| {
                    let own = Some((driver, block));
                    windows.push(groups.iter_mut().flatten(), own, span, self.least);
                });
            }
            None => windows.split_evenly(groups, segment, self.least, self.stop),
        }
    }

    /// Evaluates the windows whose bound reaches the threshold.
    fn each_window<'w>(
        &mut self,
        windows: &mut Windows,
        groups: &mut [Vec<Word<'w>>],
        mut evaluate: impl FnMut(&mut Self, &mut [Vec<Word<'w>>], Span),
    ) {
        if self.plan.is_none() {
            windows.sort();
        }
        let stop = self.stop;
        for (number, bound) in windows.iter().take_while(|_| !stop.is_set()) {
            if bound >= self.least {
                let span = windows.enter(number, groups.iter_mut().flatten());
                evaluate(self, groups, span);
            }
        }
    }

    /// Sets the threshold from the k-th best score so far.
    fn raise_threshold(&mut self) {
        let threshold = self.best.threshold().unwrap_or(0.0);
        let reached = threshold.max(f64::from(self.floor)) - self.added * (1.0 + MARGIN);
        #[expect(clippy::cast_possible_truncation, reason = "there is a margin")]
        let least = (reached.max(0.0) * (1.0 - MARGIN)) as f32;
        self.least = least;
    }

    /// Returns whether the sum of the word scores is the score of a document.
    fn is_sure(&self) -> bool {
        !self.is_partial && self.is_refused
    }

    /// Raises the threshold by lower bounds of the scores of some documents.
    fn raise_floor(&mut self, scores: impl ExactSizeIterator<Item = f32>) {
        if self.is_sure() {
            let reached = floor::reached_by(self.best.size(), scores);
            if reached > self.floor.max(NOTHING) {
                self.floor = reached;
                self.raise_threshold();
            }
        }
    }

    /// Keeps a document if it is among the top k. `score` computes its text score if words alone decide. If the
    /// plan needs a tree, documents must ascend.
    #[inline]
    fn collect(&mut self, doc: u32, score: impl FnOnce() -> f64) {
        let doc = DocId(doc);
        if self.deleted.contains(doc) {
            return;
        }
        let score = match self.plan {
            None => Some(score()),
            Some((plan, segment, scorers)) => self.score_of_tree(plan, segment, scorers, doc),
        };
        let Some(score) = score else { return };
        let hit = Hit { segment: self.number, doc, score: score + self.statics.of(doc) };
        let is_unwanted = |list: &mut List<'_>| list.has(doc.0);
        if self.best.admits(&hit) && (self.is_refused || !self.unwanted.iter_mut().any(is_unwanted))
        {
            self.best.offer(hit);
            self.raise_threshold();
        }
    }

    /// Judges a document that contains all words of a query of words alone. `score` gives the score of each word.
    /// The sum has the same order as elsewhere: over the words of a unit, then over units.
    #[inline]
    fn collect_words(&mut self, doc: u32, mut score: impl FnMut(usize) -> f64) {
        let shape = self.shape;
        self.collect(doc, || {
            let of_units = shape
                .units
                .iter()
                .map(|unit| unit.clone().map(&mut score).fold(0.0, |sum, score| sum + score));
            of_units.fold(0.0, |sum, of_unit| sum + of_unit)
        });
    }

    /// The score of a document, if it matches the plan.
    fn score_of_tree(
        &mut self,
        plan: &'a Plan,
        segment: &'a Segment,
        scorers: &'a Scorers<'a>,
        doc: DocId,
    ) -> Option<f64> {
        if self.tree.is_none() && self.error.is_none() {
            match Tree::build(plan, segment, scorers) {
                Ok(tree) => self.tree = Some(tree),
                Err(error) => self.error = Some(error),
            }
        }
        let tree = self.tree.as_mut()?;
        let score = (tree.skip_to(doc) == doc).then(|| tree.score());
        // After a stop, the tree may have missed words of the document.
        score.filter(|_| !self.stop.is_set())
    }

    /// The static score of a document.
    #[expect(clippy::cast_possible_truncation, reason = "there is a margin")]
    fn static_score(&self, doc: u32) -> f32 {
        self.statics.of(DocId(doc)) as f32
    }
}
