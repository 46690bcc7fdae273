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
        let mut best = (k > 0).then(|| TopK::new(offset.saturating_add(k)));
        let total = self.run(&self.plan, best.as_mut(), true)?;
        let hits = best.map(|best| best.into_hits(offset)).unwrap_or_default();
        let shown = if hits.is_empty() { 0 } else { offset.saturating_add(hits.len()) };
        let (total, notes) = (total.max(shown as u64), self.notes.clone());
        let with_all = self.count_with_all()?;
        Ok(Answer { total, with_all, hits, notes, partial: self.stop.is_set() })
    }

    /// Returns the `k` best documents after the first `offset`, with dynamic pruning if possible. Pruning changes
    /// only the time.
    pub fn best(&self, offset: usize, k: usize) -> Result<Vec<Hit>, QueryError> {
        if k == 0 {
            return Ok(Vec::new());
        }
        let mut best = TopK::new(offset.saturating_add(k));
        self.run(&self.plan, Some(&mut best), false)?;
        Ok(best.into_hits(offset))
    }

    /// Returns the `k` best documents after the first `offset` by scoring every match.
    pub fn exhaustive(&self, offset: usize, k: usize) -> Result<Vec<Hit>, QueryError> {
        let mut best = TopK::new(if k == 0 { 0 } else { offset.saturating_add(k) });
        self.walk(&self.plan, Some(&mut best))?;
        Ok(best.into_hits(offset))
    }

    /// Offers the best matches of a plan to `best`, if given. Returns the number of matches if `is_counted`. Block
    /// maxima are those of BM25F, so other models score every match.
    fn run(
        &self,
        plan: &Plan,
        best: Option<&mut TopK>,
        is_counted: bool,
    ) -> Result<u64, QueryError> {
        let Searcher { index, statistics, prior, workspaces, tables, config, .. } = self.searcher;
        let is_bounded = best.is_none() || config.model == Weighting::Bm25f;
        let Some(shape) = Shape::of(plan).filter(|_| is_bounded) else {
            return self.walk(plan, best);
        };
        let (shape, statics, stop) = (&shape, prior.statics(), &self.stop);
        Task { plan, shape, index, statistics, statics, workspaces, tables, stop }
            .run(best, is_counted)
    }

    /// Visits every match of a plan, offers its score to `best`, if given, and returns the number of matches.
    fn walk(&self, plan: &Plan, mut best: Option<&mut TopK>) -> Result<u64, QueryError> {
        let Searcher { index, statistics, prior, .. } = self.searcher;
        let scorers = Scorers::gather(plan, index, statistics, &self.stop)?;
        let mut total = 0;
        let segments = index.segments().iter().zip(prior.statics());
        for (number, (segment, statics)) in segments.enumerate() {
            let mut tree = Tree::build(plan, segment, &scorers)?;
            let deleted = segment.deleted()?;
            let mut doc = tree.doc();
            while doc != END {
                let is_match = !deleted.contains(doc);
                let is_scored = is_match && best.is_some();
                let score = if is_scored { tree.score() + statics.of(doc) } else { 0.0 };
                // After a stop, the tree may have missed words of the document.
                if self.stop.is_set() {
                    break;
                }
                total += u64::from(is_match);
                if let (true, Some(best)) = (is_match, &mut best) {
                    best.offer(Hit { segment: number, doc, score });
                }
                doc = tree.next_doc();
            }
        }
        Ok(total)
    }

    /// Counts the matching documents.
    pub fn count(&self) -> Result<u64, QueryError> {
        self.run(&self.plan, None, true)
    }

    /// Counts the matches with all plain words. Returns `None` if every match has them.
    pub fn count_with_all(&self) -> Result<Option<u64>, QueryError> {
        self.with_all.as_ref().map(|plan| self.run(plan, None, true)).transpose()
    }

    /// Counts the matches, with and without the requirement of all plain words.
    pub fn matches(&self) -> Result<Matches, QueryError> {
        let total = self.count()?;
        Ok(Matches { with_all: self.count_with_all()?.unwrap_or(total), total })
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
