//! Top-k evaluation with dynamic pruning: documents that cannot be among the top k are skipped.
//!
//! The block maxima of a list bound the score of its term. A query of one list may be answered from its champions
//! (`champions.rs`). Other queries are evaluated in windows of documents. A window is skipped, without decoding, if
//! the sum of its bounds is below the threshold: the k-th best score so far. The method depends on the query:
//!
//! - Disjunction of a few words of one list each (`cascade.rs`): `MaxScore`, term at a time. The blocks of one
//!   list after the other are the windows, until the remaining lists are not essential.
//! - Other disjunctions (`union.rs`): `MaxScore` in windows. The scores of the essential lists are added up in an
//!   array of accumulators. The other lists are probed only for documents near the threshold.
//! - Conjunction of words with tables (`impact_sum.rs`, `impact_tables.rs`): bounds are added up for all documents.
//! - Other conjunctions (`intersection.rs`): one group of words proposes documents, and the others are probed for
//!   those that may reach the threshold. Words of one list each are probed a block at a time (`conjunction.rs`).
//!
//! The same lists then count the matches, without scores (`count.rs`). Phrases, windows and other nestings are not
//! evaluated here but by a walk of cursors (`prepared.rs`): it counts every match anyway, so pruning would only add
//! to its time.
//!
//! A quick lower bound of the k-th best score (`floor.rs`) is the first threshold.
//!
//! Pruning uses single precision, and its bounds have a margin for rounding. Documents that may reach the
//! threshold are scored exactly: from the words, or by [`Tree`] if proximity counts. The threshold is lowered by
//! the greatest possible proximity score.
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
mod champions;
mod conjunction;
mod count;
mod floor;
mod impact_sum;
mod impact_tables;
mod intersection;
mod list;
mod scale;
mod shape;
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
use shape::Wanted;
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

/// The lists of one segment: those of all words of a shape in their order.
type Lists<'a> = Vec<Option<InvertedList<'a>>>;

/// The words of a query in one segment.
struct Opened<'a> {
    number: usize,
    segment: &'a Segment,
    deleted: Deleted<'a>,
    groups: Groups<'a>,
    /// Lists of excluded words.
    unwanted: Vec<List<'a>>,
}

impl<'a> Task<'a> {
    /// Offers every document to `best`, if given, that may be among the top k. Returns the number of matches if
    /// `is_counted`, and 0 otherwise.
    pub(crate) fn run(&self, best: Option<&mut TopK>, is_counted: bool) -> Result<u64, QueryError> {
        let lists = self.lists()?;
        let containing = self.containing(&lists);
        self.workspaces.with(|work, rooms| {
            let mut opened = self.open(lists, &containing, rooms)?;
            self.look_for_tables(&mut opened, best.is_some());
            // The hits come first: a stopped search should return some, even without their number.
            if let Some(best) = best {
                self.evaluate(&mut opened, best, work)?;
            }
            let mut total = 0;
            for one in opened.iter_mut().take_while(|_| is_counted && !self.stop.is_set()) {
                total += self.count(one, work);
            }
            Ok(total)
        })
    }

    /// Reads the lists of each segment. Some are missing after a stop.
    fn lists(&self) -> Result<Vec<Lists<'a>>, QueryError> {
        let count = self.shape.words().map(|word| word.fields.len()).sum();
        let mut asked: Vec<(Field, &str)> = Vec::with_capacity(count);
        for word in self.shape.words() {
            asked.extend(word.fields.iter().map(|&field| (field, word.term)));
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
            for &field in wanted.fields {
                let found = lists.iter().filter_map(|lists| lists[at].as_ref());
                counts[field as usize] = found.map(|list| u64::from(list.doc_frequency())).sum();
                at += 1;
            }
            containing.push(counts);
        }
        containing
    }

    /// Opens the segments that contain a word of each group.
    fn open<'r>(
        &self,
        lists: Vec<Lists<'r>>,
        containing: &[Containing],
        rooms: &'r mut BlockBuffers,
    ) -> Result<Vec<Opened<'r>>, QueryError>
    where
        'a: 'r,
    {
        let mut rooms = rooms.take(lists.iter().map(Vec::len).sum());
        let mut opened = Vec::with_capacity(lists.len());
        for (number, (segment, lists)) in self.index.segments().iter().zip(lists).enumerate() {
            let mut lists = lists.into_iter();
            let Some(groups) = self.groups(segment, &mut lists, containing, &mut rooms) else {
                continue;
            };
            let fields = self.shape.unwanted.iter().flat_map(|word| word.fields);
            let found = fields.zip(lists).zip(rooms.by_ref());
            let unwanted = found.filter_map(|((&field, list), room)| {
                Some(List::new(list?, field, segment, self.statistics.scale(field), room))
            });
            let (deleted, unwanted) = (segment.deleted()?, unwanted.collect());
            opened.push(Opened { number, segment, deleted, groups, unwanted });
        }
        Ok(opened)
    }

    /// Opens the words of each group that the segment contains. Returns `None` if a group has no words here.
    fn groups<'r>(
        &self,
        segment: &'r Segment,
        mut lists: impl Iterator<Item = Option<InvertedList<'r>>>,
        containing: &[Containing],
        mut rooms: impl Iterator<Item = &'r mut BlockBuffer>,
    ) -> Option<Groups<'r>> {
        let mut containing = containing.iter();
        let mut groups = Vec::with_capacity(self.shape.groups.len());
        let mut number = 0;
        for group in &self.shape.groups {
            let mut words = Vec::with_capacity(group.len());
            for (wanted, containing) in group.iter().zip(containing.by_ref()) {
                let lists = wanted.fields.iter().copied().zip(lists.by_ref()).zip(rooms.by_ref());
                let scorer = self.statistics.scorer(wanted.fields, containing);
                let exact = wanted.is_scored.then_some(scorer);
                if let Some(mut word) = Word::new(segment, self.statistics, exact, lists) {
                    word.number = number;
                    number += word.lists.len();
                    words.push(word);
                }
            }
            if words.is_empty() {
                return None;
            }
            groups.push(words);
        }
        Some(groups)
    }

    /// Counts the matches of a segment.
    fn count(&self, opened: &mut Opened<'_>, work: &mut Workspace) -> u64 {
        let Opened { segment, deleted, groups, unwanted, .. } = opened;
        let is_whole = segment.deleted_count() == 0;
        if is_whole && unwanted.is_empty() && impact_sum::is_known(groups) {
            return impact_sum::count(groups);
        }
        let lists = groups.iter_mut().flatten().flat_map(|word| &mut word.lists);
        lists.chain(&mut *unwanted).for_each(|list| list.go_to(0));
        let documents = (segment.doc_count(), (!is_whole).then_some(*deleted));
        count::count(groups, unwanted, documents, work, self.stop)
    }

    /// Offers every document to `best` that may be among the top k.
    fn evaluate<'r>(
        &self,
        opened: &mut [Opened<'r>],
        best: &mut TopK,
        work: &mut Workspace,
    ) -> Result<(), QueryError>
    where
        'a: 'r,
    {
        let (plan, index) = (self.plan, self.index);
        let scorers = self
            .shape
            .is_close
            .then(|| Scorers::gather(plan, index, self.statistics, self.stop))
            .transpose()?;
        let added = scorers.as_ref().map_or(0.0, |scorers| proximity::most(plan, scorers));
        for one in opened.iter_mut().take_while(|_| !self.stop.is_set()) {
            let tree = scorers.as_ref().map(|scorers| Tree::build(plan, one.segment, scorers));
            let mut collector = Collector {
                number: one.number,
                doc_count: one.segment.doc_count(),
                deleted: one.deleted,
                statics: &self.statics[one.number],
                best,
                tree: tree.transpose()?,
                unwanted: &mut one.unwanted,
                refusals: Refusals::default(),
                is_refused: false,
                floor: 0.0,
                is_partial: one.segment.deleted_count() > 0 || !self.statistics.is_gradual(),
                added,
                least: 0.0,
                stop: self.stop,
            };
            collector.evaluate(&mut one.groups, work);
        }
        Ok(())
    }

    /// Sets the tables of the words of a conjunction. A query for the best documents is a use of a table, and may
    /// build one. A count or proximity only takes existing tables.
    fn look_for_tables<'r>(&'r self, opened: &mut [Opened<'r>], is_ranked: bool) {
        let groups = &self.shape.groups;
        let are_words = groups.iter().all(|group| group.len() == 1);
        if !are_words || !(2..=TABLES_MAX).contains(&groups.len()) {
            return;
        }
        let mut has_made = false;
        for Opened { number, segment, groups, .. } in opened {
            let doc_count = segment.doc_count();
            let are_lists = groups.iter().flatten().all(Word::is_single);
            let mut all = groups.iter().flatten();
            if !are_lists && !all.all(|word| is_frequent(word, doc_count)) {
                continue;
            }
            let mut known: Vec<(Key<'_>, Option<&ImpactTable>)> = Vec::with_capacity(groups.len());
            for (word, wanted) in groups.iter_mut().flatten().zip(self.shape.words()) {
                let &Wanted { fields, term, is_scored } = wanted;
                let key = Key { segment: *number, fields, term, is_scored };
                // A repeated word is looked up once.
                word.table = match known.iter().find(|(other, _)| *other == key) {
                    Some(&(_, table)) => table,
                    None if is_ranked && !self.shape.is_close => {
                        self.tables.of(&key, word, doc_count, &mut has_made)
                    }
                    None => self.tables.made(&key),
                };
                known.push((key, word.table));
            }
        }
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
    best: &'b mut TopK,
    /// Scores documents if proximity counts.
    tree: Option<Tree<'a>>,
    /// Lists of excluded words.
    unwanted: &'b mut [List<'a>],
    refusals: Refusals,
    /// Whether documents with excluded words are dropped before they are judged.
    is_refused: bool,
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

impl Collector<'_, '_> {
    fn evaluate(&mut self, groups: &mut Groups<'_>, work: &mut Workspace) {
        let mut windows = std::mem::take(&mut work.windows);
        match &mut groups[..] {
            [words] => self.evaluate_any(words, &mut windows, work),
            groups => self.evaluate_all(groups, &mut windows, work),
        }
        work.windows = windows;
    }

    /// Evaluates a conjunction.
    fn evaluate_all(
        &mut self,
        groups: &mut [Vec<Word<'_>>],
        windows: &mut Windows,
        work: &mut Workspace,
    ) {
        self.raise_threshold();
        if self.tree.is_none() && impact_sum::pays(groups, self.doc_count) {
            self.is_refused = self.unwanted.is_empty();
            return impact_sum::evaluate(groups, self, work);
        }
        self.is_refused = true;
        let order = Order::new(groups);
        self.make_windows(windows, groups, order.driver());
        self.each_window(windows, groups, |collector, groups, span| {
            intersection::evaluate(groups, &order, span, collector, work);
        });
    }

    /// Evaluates a disjunction.
    fn evaluate_any(
        &mut self,
        words: &mut Vec<Word<'_>>,
        windows: &mut Windows,
        work: &mut Workspace,
    ) {
        self.is_refused = self.unwanted.is_empty();
        let are_lists = words.iter().all(Word::is_single);
        if are_lists && words.len() == 1 && champions::collect(&words[0], self) {
            return;
        }
        if self.is_sure() {
            self.floor = floor(words, self.best.size(), work);
        }
        self.raise_threshold();
        if self.tree.is_none() && are_lists && words.len() <= cascade::WORDS_MAX {
            return cascade::evaluate(words, windows, self, work);
        }
        let group = std::slice::from_mut(words);
        self.make_windows(windows, group, None);
        self.each_window(windows, group, |collector, group, span| {
            union::evaluate(&mut group[0], span, collector, work);
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
        if self.tree.is_none() {
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

    /// Keeps a document if it is among the top k. `score` computes its text score, unless proximity counts; then
    /// documents must ascend.
    #[inline]
    fn collect(&mut self, doc: u32, score: impl FnOnce() -> f64) {
        let doc = DocId(doc);
        if self.deleted.contains(doc) {
            return;
        }
        let score = match &mut self.tree {
            None => score(),
            Some(tree) => {
                let score = if tree.skip_to(doc) == doc { tree.score() } else { return };
                // After a stop, the tree may have missed words of the document.
                if self.stop.is_set() {
                    return;
                }
                score
            }
        };
        let hit = Hit { segment: self.number, doc, score: score + self.statics.of(doc) };
        let is_unwanted = |list: &mut List<'_>| list.has(doc.0);
        if self.best.admits(&hit) && (self.is_refused || !self.unwanted.iter_mut().any(is_unwanted))
        {
            self.best.offer(hit);
            self.raise_threshold();
        }
    }

    /// The static score of a document.
    #[expect(clippy::cast_possible_truncation, reason = "there is a margin")]
    fn static_score(&self, doc: u32) -> f32 {
        self.statics.of(DocId(doc)) as f32
    }
}
