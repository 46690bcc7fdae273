//! Top-k evaluation that leaves out what cannot be among the best.
//!
//! The maxima of the blocks of a list bound what its word can add to a score. Of one list (`single.rs`) its champions answer,
//! or else only the blocks that may hold one of the best are decoded. Else documents are evaluated in windows; where the sum
//! of the bounds stays below the worst of the k best so far, the window is not even decoded. Elsewhere:
//!
//! - of a few words of one list each, of which any may match (`cascade.rs`), one after the other proposes its documents, the
//!   blocks of its list being the windows, until the words that are left do not reach the threshold together (`MaxScore`);
//! - of other words of which any may match, those of several lists, many, or where words alone do not decide (`union.rs`),
//!   those with the least bounds that together cannot reach the threshold are not essential: the postings of the others
//!   are added up in an array, and only for documents whose sum comes near the threshold the rest is looked up;
//! - of words that must all match and have tables (`tables.rs`) what they are worth together is added up for every document
//!   (`dense.rs`);
//! - of other groups of words that must all match (`intersection.rs`) one proposes documents, and the others are looked up for
//!   those that they may lift; those that are one list a block at a time (`conjunction.rs`); only of what is left positions
//!   are read (`phrase.rs`);
//! - of anything else (`nested.rs`) the documents of each part are put together from those of its words.
//!
//! What k documents of a window have at least (`floor.rs`) is the first threshold.
//!
//! All this is in single precision, on bounds that have a margin for its roundings. What may still be among the
//! best is scored exactly: by the words, or by [`Tree`] if the plan asks for more than words and phrases. What words near
//! each other may add is known beforehand: by so much less the others must reach.
//!
//! What does not live here: which plans can be pruned (`shape.rs`), scores (`bm25.rs`).
//!
//! **Invariant.** The k best are those of exhaustive evaluation: same documents, same scores, same order.
//!
//! H. Turtle, J. Flood, "Query evaluation: strategies and optimizations", 1995; S. Ding, T. Suel, "Faster top-k
//! document retrieval using block-max indexes", SIGIR 2011; K. Chakrabarti, S. Chaudhuri, V. Ganti, "Interval-based
//! pruning for top-k processing over compressed lists", ICDE 2011.

mod candidates;
mod cascade;
mod conjunction;
mod count;
mod dense;
mod floor;
mod front;
mod held;
mod intersection;
mod list;
mod nested;
mod phrase;
mod scale;
mod shape;
mod single;
mod static_scores;
mod tables;
mod union;
mod window;
mod windows;
mod word;
mod workspace;

pub(crate) use shape::Shape;
pub(crate) use static_scores::StaticScores;
pub(crate) use tables::Tables;
pub use tables::TablesReport;
pub(crate) use workspace::Workspaces;

use index::{Deleted, DocId, DocIterator, Field, Index, InvertedList, Segment};

use crate::plan::Plan;
use crate::proximity;
use crate::scorers::{Containing, Scorers, Statistics, TOGETHER};
use crate::tree::Tree;
use crate::{Hit, QueryError, Stop, TopK};
use candidates::Span;
use held::{Room, Rooms};
use intersection::{Order, Refusals};
use list::List;
use shape::Forms;
use tables::{Key, Table, is_frequent};
use window::{NOTHING, Window};
use windows::Windows;
use word::Word;
use workspace::Workspace;

/// How much a bound in single precision may have been rounded down, relatively: more than the sum of as many words as a
/// query may have can lose.
const MARGIN: f64 = 1e-4;
/// The same in single precision: what is multiplied by it is not less than it should be, or not more.
const ROUND_UP: f32 = 1.000_1;
const ROUND_DOWN: f32 = 0.999_9;

/// So many words are looked for in tables at most.
const TABLES_MAX: usize = 16;

/// What is evaluated.
pub(crate) struct Task<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) shape: &'a Shape<'a>,
    pub(crate) index: &'a Index,
    pub(crate) statistics: &'a Statistics,
    /// Of each segment.
    pub(crate) statics: &'a [StaticScores],
    pub(crate) workspaces: &'a Workspaces,
    pub(crate) tables: &'a Tables,
    /// Ends the search: what was found until then counts.
    pub(crate) stop: &'a Stop,
}

/// Of each group at least one word must be there.
type Groups<'a> = Vec<Vec<Word<'a>>>;

/// The lists of all words of a shape in one segment, in their order, then of those that are unwanted.
type Lists<'a> = Vec<Option<InvertedList<'a>>>;

impl<'a> Task<'a> {
    /// The lists of each segment; if it is time to stop, not all of them.
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

    /// For each word in how many documents it is.
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

    /// How many documents match a plan that asks for nothing but words.
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
                    if dense::is_known(&groups) {
                        return dense::count(&groups);
                    }
                }
                count::count(&mut groups, segment.doc_count(), deleted, work, self.stop)
            });
        }
        Ok(total)
    }

    /// Offers to `best` every document that may be among them.
    pub(crate) fn evaluate(&self, best: &mut TopK) -> Result<(), QueryError> {
        let lists = self.lists()?;
        let containing = self.containing(&lists);
        let segments = self.index.segments();
        // Only if the words alone do not decide.
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
                // Says what needs them.
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
                let mut judge = Judge {
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
                judge.evaluate(&mut groups, work);
                judge.error
            });
            if let Some(error) = error {
                return Err(error);
            }
        }
        Ok(())
    }

    /// The table of each word, if words must all match and there is nothing else to it; `of` finds that of one.
    fn tables_of_words<'r>(
        &'r self,
        segment: usize,
        groups: &mut Groups<'r>,
        mut of: impl FnMut(&Key<'_>, &mut Word<'r>) -> Option<&'r Table>,
    ) {
        let mut known: Vec<(Key<'_>, Option<&Table>)> = Vec::with_capacity(groups.len());
        for (word, wanted) in groups.iter_mut().flatten().zip(self.shape.groups.iter().flatten()) {
            let Forms::One(term) = wanted.forms else { continue };
            let (fields, is_scored) = (wanted.fields, wanted.is_scored);
            let key = Key { segment, fields, term, is_scored };
            // A word that is there twice is asked for once.
            word.table = match known.iter().find(|(other, _)| *other == key) {
                Some(&(_, table)) => table,
                None => of(&key, word),
            };
            known.push((key, word.table));
        }
    }

    /// Whether tables say all that there is to say of what matches.
    fn is_of_words(&self) -> bool {
        let Shape { groups: wanted, nested, phrases, .. } = self.shape;
        let are_words = wanted.iter().all(|group| group.len() == 1);
        let are_few = (2..=TABLES_MAX).contains(&wanted.len());
        are_few && are_words && nested.is_none() && phrases.is_empty()
    }

    /// Finds the tables of words that must all match, if there is nothing else to it. Unless they are added up, all words are one
    /// list each: of documents that are found in a table it is not known where they stand in a list.
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
        if !are_lists && !dense::pays(groups, doc_count) {
            groups.iter_mut().flatten().for_each(|word| word.table = None);
        }
    }

    /// The words of each group that the segment has, with their scorers, if it is known how many documents have each; and
    /// the lists of those that are unwanted. `None` if it has none of some group.
    fn groups<'r>(
        &self,
        segment: &'r Segment,
        lists: Lists<'r>,
        containing: Option<&[Containing]>,
        rooms: &'r mut Rooms,
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
        let open = |((&field, list), room): ((&Field, Option<InvertedList<'r>>), &'r mut Room)| {
            Some(List::new(list?, field, segment, self.statistics.scale(field), room))
        };
        Some((groups, fields.zip(lists).zip(rooms).filter_map(open).collect()))
    }
}

/// What at least k documents have of some word: the rarest comes first, and most often is worth most.
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

/// Decides on the documents of a segment, and knows what they must reach.
struct Judge<'a, 'b> {
    number: usize,
    doc_count: u32,
    deleted: Deleted<'a>,
    statics: &'a StaticScores,
    shape: &'a Shape<'a>,
    best: &'b mut TopK,
    /// Where words alone do not decide: what does.
    plan: Option<(&'a Plan, &'a Segment, &'a Scorers<'a>)>,
    /// No document of these is among the best.
    unwanted: Vec<List<'a>>,
    refusals: Refusals,
    /// Whether it has been seen that documents have none of those before they are judged.
    is_refused: bool,
    /// Made when it is first needed.
    tree: Option<Tree<'a>>,
    error: Option<QueryError>,
    /// What k documents are known to reach.
    floor: f32,
    /// Whether a document that has the words may still not match, or be worth less than sums in single precision.
    is_partial: bool,
    /// What words near each other add at most to what bounds know of.
    added: f64,
    /// Bounds below this are not among the best.
    least: f32,
    stop: &'a Stop,
}

impl<'a> Judge<'a, '_> {
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
            self.lift();
            self.spread(windows, groups, None);
            self.each_window(windows, groups, |judge, groups, span| {
                nested::evaluate(groups, need, span, judge, work);
            });
            return;
        }
        self.is_refused = groups.len() > 1 || self.unwanted.is_empty();
        if groups.len() > 1 {
            self.lift();
            if dense::pays(groups, self.doc_count) {
                debug_assert!(self.plan.is_none(), "words are all there is");
                self.is_refused = self.unwanted.is_empty();
                return dense::evaluate(groups, self, work);
            }
            let order = Order::new(groups);
            self.spread(windows, groups, order.driver());
            self.each_window(windows, groups, |judge, groups, span| {
                intersection::evaluate(groups, &order, span, judge, work);
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
            self.lift();
            return single::evaluate(only, self, self.plan.is_some(), work);
        }
        if self.is_sure() {
            self.floor = floor(words, k, work);
        }
        self.lift();
        let are_lists = words.iter().all(Word::is_single);
        if self.plan.is_none() && are_lists && words.len() <= cascade::WORDS_MAX {
            return cascade::evaluate(words, windows, self, work);
        }
        *groups = words.drain(..).map(|word| vec![word]).collect();
        self.spread(windows, groups, None);
        self.each_window(windows, groups, |judge, words, span| {
            union::evaluate(words, span, judge, work);
        });
    }

    /// The blocks of the driver, if it is one list, or else windows of one width.
    fn spread(&self, windows: &mut Windows, groups: &mut [Vec<Word<'_>>], driver: Option<usize>) {
        let segment = (self.doc_count, self.statics);
        let bounds = driver.and_then(|driver| match &groups[driver][..] {
            [word] if word.is_single() => Some((driver, *word.lists[0].bounds())),
            _ => None,
        });
        match bounds {
            Some((driver, bounds)) => {
                debug_assert!(groups.iter().all(|group| group.len() == 1), "a group is a word");
                windows.spread_over_blocks(&bounds, segment, self.stop, |windows, span, block| {
                    let own = Some((driver, block));
                    windows.push(groups.iter_mut().flatten(), own, span, self.least);
                });
            }
            None => windows.spread(groups, segment, self.least, self.stop),
        }
    }

    /// Evaluates all windows that may hold one of the best.
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

    /// Takes account of what the best so far have.
    fn lift(&mut self) {
        let threshold = self.best.threshold().unwrap_or(0.0);
        let reached = threshold.max(f64::from(self.floor)) - self.added * (1.0 + MARGIN);
        #[expect(clippy::cast_possible_truncation, reason = "there is a margin")]
        let least = (reached.max(0.0) * (1.0 - MARGIN)) as f32;
        self.least = least;
    }

    /// Whether what documents have of words is what they are worth.
    fn is_sure(&self) -> bool {
        !self.is_partial && self.is_refused
    }

    /// Takes account of what some documents have at least.
    fn raise(&mut self, scores: impl ExactSizeIterator<Item = f32>) {
        if self.is_sure() {
            let reached = floor::reached_by(self.best.size(), scores);
            if reached > self.floor.max(NOTHING) {
                self.floor = reached;
                self.lift();
            }
        }
    }

    /// Keeps a document if its score is among the best; if there is a tree, none comes before the last. `score` is its
    /// text score, if words decide.
    #[inline]
    fn judge(&mut self, doc: u32, score: impl FnOnce() -> f64) {
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
            self.lift();
        }
    }

    /// Judges a document that has all words, if they are all there is; `score` says what each is worth. That is added up as
    /// everywhere: for the words of a unit, then for the units, in the order of the query.
    #[inline]
    fn judge_words(&mut self, doc: u32, mut score: impl FnMut(usize) -> f64) {
        let shape = self.shape;
        self.judge(doc, || {
            let of_units = shape
                .units
                .iter()
                .map(|unit| unit.clone().map(&mut score).fold(0.0, |sum, score| sum + score));
            of_units.fold(0.0, |sum, of_unit| sum + of_unit)
        });
    }

    /// The score of a document that matches the plan.
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
        // It may lack what was not looked at any more.
        score.filter(|_| !self.stop.is_set())
    }

    /// What a document is worth before any question.
    #[expect(clippy::cast_possible_truncation, reason = "there is a margin")]
    fn still(&self, doc: u32) -> f32 {
        self.statics.of(DocId(doc)) as f32
    }
}
