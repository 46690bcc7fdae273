//! A planned query: finds the best documents, counts the matches, and explains scores.
//!
//! What lives here: the execution of a plan on every segment. What does not: plans (`plan.rs`), trees (`tree.rs`),
//! scores (`weighting.rs`).
//!
//! **Invariant.** [`Prepared::best`] returns the result of [`Prepared::exhaustive`]. [`Prepared::count`] counts every
//! matching document that is not deleted. Deleted documents count in the statistics until their segment is merged.

use std::collections::BTreeSet;

use index::{DocId, DocIterator, END};

use crate::block_max::{Shape, Task};
use crate::plan::Plan;
use crate::scorers::Scorers;
use crate::tree::Tree;
use crate::{Explanation, Highlighter, Hit, Query, QueryError, Searcher, Stop, TopK, Weighting};

/// A page of results.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The number of matching documents on all pages. A lower bound if the answer is partial.
    pub total: u64,
    /// The number of matches with all plain words. `None` if every match has them.
    pub with_all: Option<u64>,
    /// The hits of this page, best first.
    pub hits: Vec<Hit>,
    /// Deviations from the query, a line each.
    pub notes: Vec<String>,
    /// Whether the search was stopped early. Other documents may match, even better ones.
    pub partial: bool,
}

/// Match counts of a query, compared by `with_all` and then by `total`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Matches {
    /// Matching documents with all plain words.
    pub with_all: u64,
    /// All matching documents.
    pub total: u64,
}

/// A query that was planned for an index.
pub struct Prepared<'a> {
    pub(crate) searcher: &'a Searcher,
    pub(crate) query: &'a Query,
    pub(crate) plan: Plan,
    /// The plan with all plain words required, if it is a different one.
    pub(crate) with_all: Option<Plan>,
    pub(crate) notes: Vec<String>,
    pub(crate) stop: Stop,
}

impl Prepared<'_> {
    /// Returns the `k` best documents after the first `offset`, and the number of matches.
    pub fn search(&self, offset: usize, k: usize) -> Result<Answer, QueryError> {
        // The hits come first: a stopped search should return some, even without their number.
        let (hits, total) = if self.shape().is_some() {
            (self.best(offset, k)?, self.count()?)
        } else {
            self.walk(offset, k)?
        };
        let shown = if hits.is_empty() { 0 } else { offset.saturating_add(hits.len()) };
        let (total, notes) = (total.max(shown as u64), self.notes.clone());
        let with_all = self.count_with_all()?;
        Ok(Answer { total, with_all, hits, notes, partial: self.stop.is_set() })
    }

    /// The shape of the plan for pruning by block maxima, which are those of BM25F. `None` if pruning is impossible.
    fn shape(&self) -> Option<Shape<'_>> {
        let is_bounded = self.searcher.config.model == Weighting::Bm25f;
        Shape::of(&self.plan).filter(|_| is_bounded)
    }

    /// Returns the `k` best documents after the first `offset`, with dynamic pruning if possible. Pruning changes
    /// only the time.
    pub fn best(&self, offset: usize, k: usize) -> Result<Vec<Hit>, QueryError> {
        if k == 0 {
            return Ok(Vec::new());
        }
        let Some(shape) = self.shape() else { return self.exhaustive(offset, k) };
        let mut best = TopK::new(offset.saturating_add(k));
        self.task(&self.plan, &shape).evaluate(&mut best)?;
        Ok(best.into_hits(offset))
    }

    /// Returns the `k` best documents after the first `offset` by scoring every match.
    pub fn exhaustive(&self, offset: usize, k: usize) -> Result<Vec<Hit>, QueryError> {
        Ok(self.walk(offset, k)?.0)
    }

    /// Scores every match. Returns the hits and the number of matches.
    fn walk(&self, offset: usize, k: usize) -> Result<(Vec<Hit>, u64), QueryError> {
        let Searcher { index, statistics, prior, .. } = self.searcher;
        let scorers = Scorers::gather(&self.plan, index, statistics, &self.stop)?;
        let mut best = TopK::new(if k == 0 { 0 } else { offset.saturating_add(k) });
        let mut total = 0;
        let segments = index.segments().iter().zip(prior.statics());
        for (number, (segment, statics)) in segments.enumerate() {
            let mut tree = Tree::build(&self.plan, segment, &scorers)?;
            let deleted = segment.deleted()?;
            let mut doc = tree.doc();
            while doc != END {
                if !deleted.contains(doc) {
                    let score = tree.score() + statics.of(doc);
                    if self.stop.is_set() {
                        break;
                    }
                    total += 1;
                    best.offer(Hit { segment: number, doc, score });
                }
                doc = tree.next_doc();
            }
        }
        Ok((best.into_hits(offset), total))
    }

    /// Counts the matching documents.
    pub fn count(&self) -> Result<u64, QueryError> {
        self.count_of(&self.plan)
    }

    /// Counts the matches with all plain words. Returns `None` if every match has them.
    pub fn count_with_all(&self) -> Result<Option<u64>, QueryError> {
        self.with_all.as_ref().map(|plan| self.count_of(plan)).transpose()
    }

    /// Counts the matches, with and without the requirement of all plain words.
    pub fn matches(&self) -> Result<Matches, QueryError> {
        let total = self.count()?;
        Ok(Matches { with_all: self.count_with_all()?.unwrap_or(total), total })
    }

    fn count_of(&self, plan: &Plan) -> Result<u64, QueryError> {
        let countable = |shape: &Shape<'_>| {
            !shape.is_partial && shape.phrases.is_empty() && shape.unwanted.is_empty()
        };
        if let Some(shape) = Shape::of(plan).filter(countable) {
            return self.task(plan, &shape).count();
        }
        let Searcher { index, statistics, .. } = self.searcher;
        let scorers = Scorers::gather(plan, index, statistics, &self.stop)?;
        let mut total = 0;
        for segment in index.segments() {
            let mut tree = Tree::build(plan, segment, &scorers)?;
            let deleted = segment.deleted()?;
            let mut doc = tree.doc();
            while doc != END && !self.stop.is_set() {
                total += u64::from(!deleted.contains(doc));
                doc = tree.next_doc();
            }
        }
        Ok(total)
    }

    fn task<'t>(&'t self, plan: &'t Plan, shape: &'t Shape<'t>) -> Task<'t> {
        let Searcher { index, statistics, prior, workspaces, tables, .. } = self.searcher;
        let (statics, stop) = (prior.statics(), &self.stop);
        Task { plan, shape, index, statistics, statics, workspaces, tables, stop }
    }

    /// Explains the score of document `doc` in segment number `segment`, as given by [`Prepared::best`]. The score
    /// is 0 without parts if it does not match.
    pub fn explain(&self, segment: usize, doc: DocId) -> Result<Explanation, QueryError> {
        let Searcher { index, statistics, prior, .. } = self.searcher;
        let scorers = Scorers::gather(&self.plan, index, statistics, &self.stop)?;
        let no_such_document = QueryError::NoSuchDocument { segment, doc: doc.0 };
        let found = index.segments().get(segment).filter(|found| doc.0 < found.doc_count());
        let Some(found) = found else { return Err(no_such_document) };
        if found.deleted()?.contains(doc) {
            return Err(no_such_document);
        }
        let mut tree = Tree::build(&self.plan, found, &scorers)?;
        let parts = if tree.skip_to(doc) == doc {
            [Some(tree.explain()), prior.explain(segment, doc)]
        } else {
            [None, None]
        };
        let parts: Vec<Explanation> = parts.into_iter().flatten().collect();
        if self.stop.is_set() || parts.is_empty() {
            let fault =
                if self.stop.is_set() { "stopped before scoring" } else { "does not match" };
            let what = format!("{fault} {}", self.query);
            return Ok(Explanation { what, value: 0.0, parts: Vec::new() });
        }
        Ok(Explanation::sum(format!("score for {}", self.query), parts))
    }

    /// Returns a highlighter for the words of the query.
    pub fn highlighter(&self) -> Highlighter {
        let mut terms = BTreeSet::new();
        self.plan.wanted_terms(&mut terms);
        Highlighter::new(self.searcher.analyzer.clone(), terms, self.stop.clone())
    }
}
