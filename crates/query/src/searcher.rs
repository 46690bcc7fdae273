//! A query in, the best documents of all segments out.
//!
//! What lives here: a plan run over every segment, and what it says of one document. What does not: how
//! a query becomes a plan (`plan.rs`), a tree (`tree.rs`), a number (`weighting.rs`); what documents are worth without one
//! (`prior.rs`).
//!
//! **Invariant.** [`Searcher::best`] gives what [`Searcher::exhaustive`] gives, and [`Searcher::count`] counts what that
//! visits: every document that matches and is not deleted. Deleted ones count in the statistics until their segment is
//! merged.

use std::collections::BTreeSet;
use std::sync::Arc;

use index::{DocId, DocIterator, END, Index};
use page::Analyzer;

use crate::block_max::{Shape, Task, Workspaces};
use crate::ignored::ignored_terms;
use crate::plan::{Plan, Planned};
use crate::prior::{Prior, RankValues};
use crate::scorers::{Scorers, Statistics};
use crate::tree::Tree;
use crate::{Config, Explanation, Highlighter, Hit, Query, QueryError, TopK, Weighting};

/// One generation of an index, ready to answer.
pub struct Searcher {
    pub(crate) index: Arc<Index>,
    pub(crate) analyzer: Analyzer,
    ignored: BTreeSet<String>,
    config: Config,
    statistics: Arc<Statistics>,
    prior: Prior,
    workspaces: Arc<Workspaces>,
}

/// A page of results.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// How many documents match, on all pages.
    pub total: u64,
    /// Those of this page, best first.
    pub hits: Vec<Hit>,
    /// What was not done as the query says, in words: a line each.
    pub notes: Vec<String>,
}

impl Searcher {
    /// `analyzer` is the chain that analysed the documents. `ranks` are those that there are, by their names, in any
    /// order; the weights of `config` say which of them count, and whether the dates of all documents are read here.
    pub fn new(
        index: Arc<Index>,
        analyzer: Analyzer,
        config: Config,
        ranks: Vec<(String, RankValues)>,
    ) -> Result<Searcher, QueryError> {
        Ok(Searcher {
            ignored: ignored_terms(&analyzer),
            statistics: Arc::new(Statistics::new(&index, &config)),
            prior: Prior::new(&index, &config, ranks)?,
            index,
            analyzer,
            config,
            workspaces: Arc::default(),
        })
    }

    /// The same generation in the order of a topic: `ranks` are those of the documents in it. All else is shared.
    #[must_use]
    pub fn with_topic(&self, topic: &str, ranks: RankValues) -> Searcher {
        Searcher {
            index: Arc::clone(&self.index),
            analyzer: self.analyzer.clone(),
            ignored: self.ignored.clone(),
            config: self.config.clone(),
            statistics: Arc::clone(&self.statistics),
            prior: self.prior.with_topic(&self.index, &self.config, topic, ranks),
            workspaces: Arc::clone(&self.workspaces),
        }
    }

    /// The `k` best documents after the first `offset`, and how many match.
    pub fn search(&self, query: &Query, offset: usize, k: usize) -> Result<Answer, QueryError> {
        let Planned { plan, notes } = self.plan(query)?;
        let (total, hits) = (self.count_of(&plan)?, self.best_of(&plan, offset, k)?);
        Ok(Answer { total, hits, notes })
    }

    /// The `k` best documents after the first `offset`. What cannot be among them is left out where the query allows
    /// it, which changes nothing but the time.
    pub fn best(&self, query: &Query, offset: usize, k: usize) -> Result<Vec<Hit>, QueryError> {
        self.best_of(&self.plan(query)?.plan, offset, k)
    }

    pub(crate) fn best_of(
        &self,
        plan: &Plan,
        offset: usize,
        k: usize,
    ) -> Result<Vec<Hit>, QueryError> {
        if k == 0 {
            return Ok(Vec::new());
        }
        // Block maxima are those of BM25F.
        let is_bounded = self.config.model == Weighting::Bm25f;
        let Some(shape) = Shape::of(plan).filter(|_| is_bounded) else {
            return self.visit(plan, offset, k);
        };
        let mut best = TopK::new(offset.saturating_add(k));
        self.task(plan, &shape).evaluate(&mut best)?;
        Ok(best.into_hits(offset))
    }

    /// The same as [`Searcher::best`], by looking at every document that matches.
    pub fn exhaustive(
        &self,
        query: &Query,
        offset: usize,
        k: usize,
    ) -> Result<Vec<Hit>, QueryError> {
        self.visit(&self.plan(query)?.plan, offset, k)
    }

    fn visit(&self, plan: &Plan, offset: usize, k: usize) -> Result<Vec<Hit>, QueryError> {
        let scorers = Scorers::gather(plan, &self.index, &self.statistics)?;
        let mut best = TopK::new(if k == 0 { 0 } else { offset.saturating_add(k) });
        let segments = self.index.segments().iter().zip(self.prior.statics());
        for (number, (segment, statics)) in segments.enumerate() {
            let mut tree = Tree::build(plan, segment, &scorers)?;
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
    pub fn count(&self, query: &Query) -> Result<u64, QueryError> {
        self.count_of(&self.plan(query)?.plan)
    }

    fn count_of(&self, plan: &Plan) -> Result<u64, QueryError> {
        let countable = |shape: &Shape<'_>| !shape.is_partial && shape.phrases.is_empty();
        if let Some(shape) = Shape::of(plan).filter(countable) {
            return self.task(plan, &shape).count();
        }
        let scorers = Scorers::gather(plan, &self.index, &self.statistics)?;
        let mut total = 0;
        for segment in self.index.segments() {
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

    fn plan(&self, query: &Query) -> Result<Planned, QueryError> {
        let pairing = self.config.proximity_weight > 0.0;
        Plan::build(query, &self.analyzer, &self.ignored, &self.index, pairing)
    }

    fn task<'a>(&'a self, plan: &'a Plan, shape: &'a Shape<'a>) -> Task<'a> {
        Task {
            plan,
            shape,
            index: &self.index,
            statistics: &self.statistics,
            statics: self.prior.statics(),
            workspaces: &self.workspaces,
        }
    }

    /// Why document `doc` of segment number `segment` has the score that [`Searcher::search`] gives it;
    /// 0 without parts if it does not match.
    pub fn explain(
        &self,
        query: &Query,
        segment: usize,
        doc: DocId,
    ) -> Result<Explanation, QueryError> {
        let plan = self.plan(query)?.plan;
        let scorers = Scorers::gather(&plan, &self.index, &self.statistics)?;
        let no_such_document = QueryError::NoSuchDocument { segment, doc: doc.0 };
        let found = self.index.segments().get(segment).filter(|found| doc.0 < found.doc_count());
        let Some(found) = found else { return Err(no_such_document) };
        if found.deleted()?.contains(doc) {
            return Err(no_such_document);
        }
        let mut tree = Tree::build(&plan, found, &scorers)?;
        if tree.skip_to(doc) != doc {
            let what = format!("does not match {query}");
            return Ok(Explanation { what, value: 0.0, parts: Vec::new() });
        }
        let parts = [Some(tree.explain()), self.prior.explain(segment, doc)];
        let parts = parts.into_iter().flatten().collect();
        Ok(Explanation::sum(format!("score for {query}"), parts))
    }

    /// Marks the words of `query` in texts; none if the query has nothing to search for.
    pub fn highlighter(&self, query: &Query) -> Highlighter {
        let mut terms = BTreeSet::new();
        if let Ok(planned) = self.plan(query) {
            planned.plan.wanted_terms(&mut terms);
        }
        Highlighter::new(self.analyzer.clone(), terms)
    }
}
