//! A query in, the best documents of all segments out.
//!
//! What lives here: a plan run over every segment, and what it says of one document. What does not: how
//! a query becomes a plan (`plan.rs`), a tree (`tree.rs`), a number (`bm25.rs`).
//!
//! **Invariant.** Every document that matches and is not deleted is visited and scored, so the total is
//! exact. Deleted ones count in the statistics until their segment is merged.

use std::collections::BTreeSet;
use std::sync::Arc;

use index::{DocId, DocIterator, END, Index};
use page::Analyzer;

use crate::ignored::ignored_terms;
use crate::plan::{Plan, Planned};
use crate::scorers::Scorers;
use crate::tree::Tree;
use crate::{Config, Explanation, Highlighter, Hit, Query, QueryError, TopK};

/// One generation of an index, ready to answer.
pub struct Searcher {
    index: Arc<Index>,
    analyzer: Analyzer,
    ignored: BTreeSet<String>,
    config: Config,
    ranks: Vec<Vec<f32>>,
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
    /// `analyzer` is the chain that analysed the documents. `ranks` has for each segment and each
    /// document n·PageRank, 1 being the average; what is missing, negative or not a number counts as 0.
    pub fn new(
        index: Arc<Index>,
        analyzer: Analyzer,
        config: Config,
        ranks: Vec<Vec<f32>>,
    ) -> Searcher {
        let ignored = ignored_terms(&analyzer);
        Searcher { index, analyzer, ignored, config, ranks }
    }

    /// The `k` best documents after the first `offset`.
    pub fn search(&self, query: &Query, offset: usize, k: usize) -> Result<Answer, QueryError> {
        let Planned { plan, notes } = self.plan(query)?;
        let scorers = Scorers::gather(&plan, &self.index, &self.config)?;
        let mut best = TopK::new(if k == 0 { 0 } else { offset.saturating_add(k) });
        let mut total = 0;
        for (number, segment) in self.index.segments().iter().enumerate() {
            let mut tree = Tree::build(&plan, segment, &scorers)?;
            let deleted = segment.deleted()?;
            let mut doc = tree.doc();
            while doc != END {
                if deleted.contains(doc) {
                    doc = tree.next_doc();
                    continue;
                }
                total += 1;
                if k > 0 {
                    let score = tree.score() + self.static_score(number, doc);
                    best.offer(Hit { segment: number, doc, score });
                }
                doc = tree.next_doc();
            }
        }
        Ok(Answer { total, hits: best.into_hits(offset), notes })
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
        let scorers = Scorers::gather(&plan, &self.index, &self.config)?;
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
        let rank = Explanation {
            what: format!(
                "links: weight {} × ln(1 + {})",
                self.config.rank_weight,
                self.rank(segment, doc)
            ),
            value: self.static_score(segment, doc),
            parts: Vec::new(),
        };
        Ok(Explanation::sum(format!("score for {query}"), vec![tree.explain(), rank]))
    }

    /// Marks the words of `query` in texts; none if the query has nothing to search for.
    pub fn highlighter(&self, query: &Query) -> Highlighter {
        let mut terms = BTreeSet::new();
        if let Ok(planned) = self.plan(query) {
            planned.plan.wanted_terms(&mut terms);
        }
        Highlighter::new(self.analyzer.clone(), terms)
    }

    fn plan(&self, query: &Query) -> Result<Planned, QueryError> {
        Plan::build(query, &self.analyzer, &self.ignored, &self.index)
    }

    fn static_score(&self, segment: usize, doc: DocId) -> f64 {
        self.config.rank_weight * self.rank(segment, doc).ln_1p()
    }

    fn rank(&self, segment: usize, doc: DocId) -> f64 {
        let rank = self.ranks.get(segment).and_then(|ranks| ranks.get(doc.0 as usize));
        rank.copied().filter(|rank| rank.is_finite() && *rank > 0.0).map_or(0.0, f64::from)
    }
}
