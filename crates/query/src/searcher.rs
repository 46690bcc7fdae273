//! A query in, the best documents of all segments out.
//!
//! What lives here: what all queries to one generation have in common. What does not: how a query becomes a plan
//! (`plan.rs`) and is answered (`prepared.rs`); what documents are worth without one (`prior.rs`).
//!
//! **Invariant.** Nothing that is asked of it changes what it answers next. Nothing here asks whether the files of the
//! index have been changed under it: whoever gives an answer away does.

use std::collections::BTreeSet;
use std::sync::Arc;

use index::{DocId, Index};
use page::Analyzer;

use crate::block_max::{Tables, TablesReport, Workspaces};
use crate::ignored::ignored_terms;
use crate::plan::{Plan, Planned};
use crate::prepared::{Answer, Prepared};
use crate::prior::{Prior, RankValues};
use crate::scorers::Statistics;
use crate::{Config, Explanation, Hit, Query, QueryError, Stop};

/// One generation of an index, ready to answer.
///
/// Its answers are right if the files of the index still are what they were when it was opened. Whoever gives one away
/// asks [`Index::intact`] first, once for all that was asked of the searcher for it, and gives that error instead of
/// any other. It is not asked here: that takes longer than many a query.
pub struct Searcher {
    pub(crate) index: Arc<Index>,
    pub(crate) analyzer: Analyzer,
    /// The analyzer without its stemmer.
    pub(crate) plain: Analyzer,
    ignored: BTreeSet<String>,
    pub(crate) config: Config,
    pub(crate) statistics: Arc<Statistics>,
    pub(crate) prior: Prior,
    pub(crate) workspaces: Arc<Workspaces>,
    pub(crate) tables: Arc<Tables>,
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
            plain: analyzer.without_stemmer(),
            statistics: Arc::new(Statistics::new(&index, &config)),
            prior: Prior::new(&index, &config, ranks)?,
            index,
            analyzer,
            tables: Arc::new(Tables::new(config.table_bytes)),
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
            plain: self.plain.clone(),
            ignored: self.ignored.clone(),
            config: self.config.clone(),
            statistics: Arc::clone(&self.statistics),
            prior: self.prior.with_topic(&self.index, &self.config, topic, ranks),
            workspaces: Arc::clone(&self.workspaces),
            tables: Arc::clone(&self.tables),
        }
    }

    /// What it keeps in memory of words that were asked for often.
    pub fn tables(&self) -> TablesReport {
        self.tables.report()
    }

    /// As [`Searcher::prepare_until`], without an early end.
    pub fn prepare<'a>(&'a self, query: &'a Query) -> Result<Prepared<'a>, QueryError> {
        self.prepare_until(query, &Stop::default())
    }

    /// Makes a query ready: its words are analysed, and prefixes and fuzzy words are expanded. Once `stop` is set, this and
    /// every method of the result end early, with what they have found.
    pub fn prepare_until<'a>(
        &'a self,
        query: &'a Query,
        stop: &Stop,
    ) -> Result<Prepared<'a>, QueryError> {
        let Planned { plan, with_all, notes } =
            Plan::build(query, &self.analyzer, &self.ignored, &self.index, &self.config, stop)?;
        Ok(Prepared { searcher: self, query, plan, with_all, notes, stop: stop.clone() })
    }

    /// The `k` best documents after the first `offset`, and how many match.
    pub fn search(&self, query: &Query, offset: usize, k: usize) -> Result<Answer, QueryError> {
        self.prepare(query)?.search(offset, k)
    }

    /// As [`Prepared::best`].
    pub fn best(&self, query: &Query, offset: usize, k: usize) -> Result<Vec<Hit>, QueryError> {
        self.prepare(query)?.best(offset, k)
    }

    /// As [`Prepared::exhaustive`].
    pub fn exhaustive(
        &self,
        query: &Query,
        offset: usize,
        k: usize,
    ) -> Result<Vec<Hit>, QueryError> {
        self.prepare(query)?.exhaustive(offset, k)
    }

    /// How many documents match.
    pub fn count(&self, query: &Query) -> Result<u64, QueryError> {
        self.prepare(query)?.count()
    }

    /// As [`Prepared::explain`].
    pub fn explain(
        &self,
        query: &Query,
        segment: usize,
        doc: DocId,
    ) -> Result<Explanation, QueryError> {
        self.prepare(query)?.explain(segment, doc)
    }
}
