//! Searches one generation of an index.
//!
//! What lives here: state that all queries to one generation share. What does not: plans (`plan.rs`), answers
//! (`prepared.rs`), static scores (`prior.rs`).
//!
//! **Invariant.** A query does not change the answers to later queries. The caller checks that the index files are
//! unchanged.

use std::collections::BTreeSet;
use std::sync::Arc;

use index::{DocId, Index};
use page::Analyzer;

use crate::block_max::{ImpactTables, ImpactTablesReport, Workspaces};
use crate::plan::{Plan, Planned};
use crate::prepared::{Answer, Prepared};
use crate::prior::{Prior, RankValues};
use crate::scorers::Statistics;
use crate::stop_words::stop_words;
use crate::{Config, Explanation, Hit, Query, QueryError, Stop};

/// A searcher for one generation of an index.
///
/// Its answers are valid only if the index files have not changed since they were opened. Before returning an
/// answer, the caller must call [`Index::intact`] once and return its error instead of any other. Searches do not
/// check it themselves, because the check takes longer than many queries.
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
    pub(crate) tables: Arc<ImpactTables>,
}

impl Searcher {
    /// `analyzer` is the chain that analysed the documents. `ranks` are the available ranks by name, in any order.
    /// `config` sets their weights. If freshness counts, the dates of all documents are read here.
    pub fn new(
        index: Arc<Index>,
        analyzer: Analyzer,
        config: Config,
        ranks: Vec<(String, RankValues)>,
    ) -> Result<Searcher, QueryError> {
        Ok(Searcher {
            ignored: stop_words(&analyzer),
            plain: analyzer.without_stemmer(),
            statistics: Arc::new(Statistics::new(&index, &config)),
            prior: Prior::new(&index, &config, ranks)?,
            index,
            analyzer,
            tables: Arc::new(ImpactTables::new(config.table_bytes)),
            config,
            workspaces: Arc::default(),
        })
    }

    /// Returns a searcher in the order of a topic. `ranks` are the ranks of the documents in it. All other state
    /// is shared.
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

    /// Reports the number and memory of the tables of frequent words.
    pub fn tables(&self) -> ImpactTablesReport {
        self.tables.report()
    }

    /// Prepares a query without a stop; see [`Searcher::prepare_until`].
    pub fn prepare<'a>(&'a self, query: &'a Query) -> Result<Prepared<'a>, QueryError> {
        self.prepare_until(query, &Stop::default())
    }

    /// Prepares a query: analyses its words and expands prefixes and fuzzy words. After `stop`, this and every
    /// method of the result end early and return the results so far.
    pub fn prepare_until<'a>(
        &'a self,
        query: &'a Query,
        stop: &Stop,
    ) -> Result<Prepared<'a>, QueryError> {
        let Planned { plan, with_all, notes } =
            Plan::build(query, &self.analyzer, &self.ignored, &self.index, &self.config, stop)?;
        Ok(Prepared { searcher: self, query, plan, with_all, notes, stop: stop.clone() })
    }

    /// Returns the `k` best documents after the first `offset`, and the number of matches.
    pub fn search(&self, query: &Query, offset: usize, k: usize) -> Result<Answer, QueryError> {
        self.prepare(query)?.search(offset, k)
    }

    /// See [`Prepared::best`].
    pub fn best(&self, query: &Query, offset: usize, k: usize) -> Result<Vec<Hit>, QueryError> {
        self.prepare(query)?.best(offset, k)
    }

    /// See [`Prepared::exhaustive`].
    pub fn exhaustive(
        &self,
        query: &Query,
        offset: usize,
        k: usize,
    ) -> Result<Vec<Hit>, QueryError> {
        self.prepare(query)?.exhaustive(offset, k)
    }

    /// Counts the matching documents.
    pub fn count(&self, query: &Query) -> Result<u64, QueryError> {
        self.prepare(query)?.count()
    }

    /// See [`Prepared::explain`].
    pub fn explain(
        &self,
        query: &Query,
        segment: usize,
        doc: DocId,
    ) -> Result<Explanation, QueryError> {
        self.prepare(query)?.explain(segment, doc)
    }
}
