//! A query that is ready to be answered: by the best documents, by their number, by why one of them is where it is.
//!
//! What lives here: a plan run over every segment, and what it says of one document. What does not: how a query becomes
//! a plan (`plan.rs`), a tree (`tree.rs`), a number (`weighting.rs`).
//!
//! **Invariant.** [`Prepared::best`] gives what [`Prepared::exhaustive`] gives, and [`Prepared::count`] counts what that
//! visits: every document that matches and is not deleted. Deleted ones count in the statistics until their segment is
//! merged.

use std::collections::BTreeSet;

use index::{DocId, DocIterator, END};

use crate::block_max::{Shape, Task};
use crate::plan::Plan;
use crate::scorers::Scorers;
use crate::tree::Tree;
use crate::{Explanation, Highlighter, Hit, Query, QueryError, Searcher, TopK, Weighting};

/// A page of results.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// How many documents match, on all pages.
    pub total: u64,
    /// How many of them have every plain word; `None` if all of them must.
    pub with_all: Option<u64>,
    /// Those of this page, best first.
    pub hits: Vec<Hit>,
    /// What was not done as the query says, in words: a line each.
    pub notes: Vec<String>,
}

/// A query whose words are those of an index.
pub struct Prepared<'a> {
    pub(crate) searcher: &'a Searcher,
    pub(crate) query: &'a Query,
    pub(crate) plan: Plan,
    /// The plan with every plain word required, if that is another.
    pub(crate) with_all: Option<Plan>,
    pub(crate) notes: Vec<String>,
}

impl Prepared<'_> {
    /// The `k` best documents after the first `offset`, and how many match.
    pub fn search(&self, offset: usize, k: usize) -> Result<Answer, QueryError> {
        let (total, with_all) = (self.count()?, self.count_with_all()?);
        let hits = self.best(offset, k)?;
        Ok(Answer { total, with_all, hits, notes: self.notes.clone() })
    }

    /// The `k` best documents after the first `offset`. What cannot be among them is left out where the query allows
    /// it, which changes nothing but the time.
    pub fn best(&self, offset: usize, k: usize) -> Result<Vec<Hit>, QueryError> {
        if k == 0 {
            return Ok(Vec::new());
        }
        // Block maxima are those of BM25F.
        let is_bounded = self.searcher.config.model == Weighting::Bm25f;
        let Some(shape) = Shape::of(&self.plan).filter(|_| is_bounded) else {
            return self.exhaustive(offset, k);
        };
        let mut best = TopK::new(offset.saturating_add(k));
        self.task(&self.plan, &shape).evaluate(&mut best)?;
        Ok(best.into_hits(offset))
    }

    /// The same, by looking at every document that matches.
    pub fn exhaustive(&self, offset: usize, k: usize) -> Result<Vec<Hit>, QueryError> {
        let Searcher { index, statistics, prior, .. } = self.searcher;
        let scorers = Scorers::gather(&self.plan, index, statistics)?;
        let mut best = TopK::new(if k == 0 { 0 } else { offset.saturating_add(k) });
        let segments = index.segments().iter().zip(prior.statics());
        for (number, (segment, statics)) in segments.enumerate() {
            let mut tree = Tree::build(&self.plan, segment, &scorers)?;
            let deleted = segment.deleted()?;
            let mut doc = tree.doc();
            while doc != END {
                if !deleted.contains(doc) {
                    let score = tree.score() + statics.of(doc);
                    best.offer(Hit { segment: number, doc, score });
                }
                doc = tree.next_doc();
            }
        }
        Ok(best.into_hits(offset))
    }

    /// How many documents match.
    pub fn count(&self) -> Result<u64, QueryError> {
        self.count_of(&self.plan)
    }

    /// How many documents match and have every plain word; `None` if all that match must.
    pub fn count_with_all(&self) -> Result<Option<u64>, QueryError> {
        self.with_all.as_ref().map(|plan| self.count_of(plan)).transpose()
    }

    fn count_of(&self, plan: &Plan) -> Result<u64, QueryError> {
        let countable = |shape: &Shape<'_>| {
            !shape.is_partial && shape.phrases.is_empty() && shape.unwanted.is_empty()
        };
        if let Some(shape) = Shape::of(plan).filter(countable) {
            return self.task(plan, &shape).count();
        }
        let Searcher { index, statistics, .. } = self.searcher;
        let scorers = Scorers::gather(plan, index, statistics)?;
        let mut total = 0;
        for segment in index.segments() {
            let mut tree = Tree::build(plan, segment, &scorers)?;
            let deleted = segment.deleted()?;
            let mut doc = tree.doc();
            while doc != END {
                total += u64::from(!deleted.contains(doc));
                doc = tree.next_doc();
            }
        }
        Ok(total)
    }

    fn task<'t>(&'t self, plan: &'t Plan, shape: &'t Shape<'t>) -> Task<'t> {
        let Searcher { index, statistics, prior, workspaces, tables, .. } = self.searcher;
        let statics = prior.statics();
        Task { plan, shape, index, statistics, statics, workspaces, tables }
    }

    /// Why document `doc` of segment number `segment` has the score that [`Prepared::best`] gives it; 0 without parts if
    /// it does not match.
    pub fn explain(&self, segment: usize, doc: DocId) -> Result<Explanation, QueryError> {
        let Searcher { index, statistics, prior, .. } = self.searcher;
        let scorers = Scorers::gather(&self.plan, index, statistics)?;
        let no_such_document = QueryError::NoSuchDocument { segment, doc: doc.0 };
        let found = index.segments().get(segment).filter(|found| doc.0 < found.doc_count());
        let Some(found) = found else { return Err(no_such_document) };
        if found.deleted()?.contains(doc) {
            return Err(no_such_document);
        }
        let mut tree = Tree::build(&self.plan, found, &scorers)?;
        if tree.skip_to(doc) != doc {
            let what = format!("does not match {}", self.query);
            return Ok(Explanation { what, value: 0.0, parts: Vec::new() });
        }
        let parts = [Some(tree.explain()), prior.explain(segment, doc)];
        let parts = parts.into_iter().flatten().collect();
        Ok(Explanation::sum(format!("score for {}", self.query), parts))
    }

    /// Marks the words of the query in texts.
    pub fn highlighter(&self) -> Highlighter {
        let mut terms = BTreeSet::new();
        self.plan.wanted_terms(&mut terms);
        Highlighter::new(self.searcher.analyzer.clone(), terms)
    }
}
