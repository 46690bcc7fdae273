//! Link graph to ranks: named vectors of one value a page, by node and by document of the index.
//!
//! What lives here: the list of vectors, and when each is recomputed. What does not: the algorithms (crate `graph`),
//! imported values (`imported.rs`), and the order of documents (`documents.rs`).
//!
//! A [`Centrality`] is computed for every graph. Each topic of the configuration has one more vector.
//!
//! **Invariant.** `graph/NAME.ranks` holds a value for each node of the graph that `graph/NAME.source` names. It was
//! computed with the settings in that file.

mod config;
mod documents;
mod imported;
mod vector;

use std::fs;

use graph::{Graph, Ranks, in_degrees, pagerank, read_ranks, topic_pagerank, write_ranks};
use index::{Index, IndexError};
use serde::{Deserialize, Serialize};

use crate::link::read_source;
use crate::{Collection, Directory, JobsError, Linking, PageTable, Progress, Stage, disk};

pub use config::{RankConfig, Topic};
use documents::mark_stale;
pub use documents::{document_ranks, document_vectors};
pub(crate) use documents::{is_ranked, write_document_ranks};
pub use imported::{RankImport, import_ranks};
pub(crate) use imported::{imported_vectors, read_imported};
pub use vector::Vector;

const MAGIC: [u8; 8] = *b"CRVRSRC\x02";

/// A vector that is computed for every graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Centrality {
    PageRank,
    InDegree,
}

impl Centrality {
    const ALL: [Self; 2] = [Self::PageRank, Self::InDegree];

    fn name(self) -> &'static str {
        match self {
            Self::PageRank => "pagerank",
            Self::InDegree => "in-degree",
        }
    }

    /// The settings that the vector depends on, in lossless `Debug` format.
    fn settings(self, config: &RankConfig) -> String {
        match self {
            Self::PageRank => format!("{:?}", config.pagerank()),
            Self::InDegree => String::new(),
        }
    }

    fn compute(
        self,
        graph: &Graph,
        config: &RankConfig,
        progress: &mut dyn FnMut(u32, f64),
    ) -> Ranks {
        match self {
            Self::PageRank => pagerank(graph, &config.pagerank(), progress),
            Self::InDegree => Ranks { values: in_degrees(graph), iterations: 0, error_bound: 0.0 },
        }
    }
}

/// Returns whether a computed vector has this name. Imports may not use it.
fn is_computed(name: &str) -> bool {
    Centrality::ALL.iter().any(|centrality| centrality.name() == name)
}

/// What the stage computed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RankReport {
    /// Pages.
    pub nodes: u32,
    /// Links.
    pub arcs: u64,
    /// Iterations of PageRank.
    pub iterations: u32,
    /// Upper bound of the sum of all errors of PageRank.
    pub error_bound: f64,
    /// The names of all ranks, imported ones included.
    pub ranks: Vec<String>,
    /// One report for each configured topic.
    pub topics: Vec<TopicReport>,
    /// Nothing was to do.
    pub up_to_date: bool,
}

/// The result for one topic.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TopicReport {
    /// Its name.
    pub name: String,
    /// Pages of the collection that belong to the topic. A topic without pages has no ranks.
    pub pages: u64,
    /// Configured pages and sites that the collection lacks.
    pub missing: Vec<String>,
}

/// The graph and settings that a vector was computed from, and the result of the solver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Origin {
    source: String,
    settings: String,
    iterations: u32,
    error_bound: f64,
}

impl Origin {
    /// Returns whether the vector was computed from this graph with these settings.
    fn is_of(&self, linking: &Linking, settings: &str) -> bool {
        self.source == linking.source && self.settings == settings
    }
}

/// Computes the vectors that are out of date. Writes them by node and, if an index exists, by document.
pub fn rank(
    collection: &Collection,
    config: &RankConfig,
    progress: Progress<'_>,
) -> Result<RankReport, JobsError> {
    let missing = || JobsError::Missing { needs: "the link graph", command: "rank" };
    let linking = Linking::open(collection)?.ok_or_else(missing)?;
    let graph = &linking.graph;
    let mut report = RankReport { up_to_date: true, ..RankReport::default() };
    (report.nodes, report.arcs) = (graph.nodes(), graph.arcs());
    let most = u64::from(config.iterations_max);
    let mut tell = |iteration, _: f64| progress(Stage::Rank, u64::from(iteration), most);
    let mut bring = |vector: &Vector, settings: String, compute: Compute<'_>| {
        bring(collection, &linking, vector, settings, &mut || compute(graph, &mut tell))
    };
    for centrality in Centrality::ALL {
        let vector = Vector::Rank(centrality.name().to_owned());
        let compute: Compute<'_> = &|graph, tell| centrality.compute(graph, config, tell);
        let (origin, is_new) = bring(&vector, centrality.settings(config), compute)?;
        report.up_to_date &= !is_new;
        if centrality == Centrality::PageRank {
            (report.iterations, report.error_bound) = (origin.iterations, origin.error_bound);
        }
    }
    let table = PageTable::open(&collection.pages_dir())?;
    let directory = table.directory();
    if !config.topics.is_empty() && directory.id() != linking.source {
        return Err(missing());
    }
    for (name, topic) in &config.topics {
        let (nodes, missing) = topic.nodes(directory);
        let pages = nodes.len() as u64;
        report.topics.push(TopicReport { name: name.clone(), pages, missing });
        if pages > 0 {
            let settings = topic.settings(config);
            let compute: Compute<'_> =
                &|graph, tell| topic_pagerank(graph, &config.pagerank(), &nodes, tell);
            let (_, is_new) = bring(&Vector::Topic(name.clone()), settings, compute)?;
            report.up_to_date &= !is_new;
        }
    }
    let is_wanted = |topic: &str| report.topics.iter().any(|it| it.name == topic && it.pages > 0);
    remove_vectors(collection, |vector| matches!(vector, Vector::Topic(it) if !is_wanted(it)))?;
    by_document(collection, directory, report.up_to_date)?;
    report.ranks = Centrality::ALL.iter().map(|it| it.name().to_owned()).collect();
    let imported = imported_vectors(collection)?.into_iter();
    report.ranks.extend(imported.map(|vector| vector.name().to_owned()));
    Ok(report)
}

/// How the values of a vector are computed.
type Compute<'a> = &'a dyn Fn(&Graph, &mut dyn FnMut(u32, f64)) -> Ranks;

/// Sees to it that a vector is that of the graph under these settings; whether it was not.
fn bring(
    collection: &Collection,
    linking: &Linking,
    vector: &Vector,
    settings: String,
    compute: &mut dyn FnMut() -> Ranks,
) -> Result<(Origin, bool), JobsError> {
    if let Some(origin) = disk::made_again(read_origin(collection, vector))?
        && origin.is_of(linking, &settings)
    {
        return Ok((origin, false));
    }
    let Ranks { values, iterations, error_bound } = compute();
    // Without its origin a vector is computed again: that is taken away first and written last.
    let path = collection.rank_source_file(vector);
    disk::remove(&path)?;
    mark_stale(collection)?;
    write_ranks(&collection.rank_file(vector), &values)?;
    let origin = Origin { source: linking.source.clone(), settings, iterations, error_bound };
    let bytes = serde_json::to_vec(&origin).expect("strings and numbers are JSON");
    disk::write_sealed(&path, MAGIC, &bytes)?;
    Ok((origin, true))
}

/// Reads the origin of a vector. Returns `None` if the origin or the vector is missing.
pub(crate) fn read_origin(
    collection: &Collection,
    vector: &Vector,
) -> Result<Option<Origin>, JobsError> {
    let bytes = disk::read_sealed(&collection.rank_source_file(vector), MAGIC)?;
    let bytes = bytes.filter(|_| collection.rank_file(vector).is_file());
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// Returns whether all vectors of this graph and these settings exist. That covers each centrality and each topic
/// with pages. The documents of the index must have every vector.
pub fn is_all_ranked(
    collection: &Collection,
    linking: &Linking,
    directory: &Directory,
    config: &RankConfig,
) -> bool {
    let is_there = |vector: &Vector, settings: &str| {
        let origin = read_origin(collection, vector);
        origin.is_ok_and(|origin| origin.is_some_and(|origin| origin.is_of(linking, settings)))
    };
    let is_computed =
        |it: &Centrality| is_there(&Vector::Rank(it.name().to_owned()), &it.settings(config));
    let is_of_topic = |(name, topic): (&String, &Topic)| {
        topic.nodes(directory).0.is_empty()
            || is_there(&Vector::Topic(name.clone()), &topic.settings(config))
    };
    let index = Index::open(&collection.index_dir());
    Centrality::ALL.iter().all(is_computed)
        && config.topics.iter().all(is_of_topic)
        && index.map_or(true, |index| is_ranked(collection, directory, &index))
}

/// Writes the current ranks of the documents, if an index exists.
fn by_document(
    collection: &Collection,
    directory: &Directory,
    is_up_to_date: bool,
) -> Result<(), JobsError> {
    let Ok(index) = Index::open(&collection.index_dir()) else { return Ok(()) };
    if is_up_to_date && is_ranked(collection, directory, &index) {
        return Ok(());
    }
    match write_document_ranks(collection, directory, &index) {
        // The stage that follows builds it again, with its ranks.
        Err(JobsError::Index(IndexError::Damaged { .. })) => Ok(()),
        written => written,
    }
}

/// The vectors of the graph, computed of these pages or not, in the order of their names.
pub(crate) fn node_vectors(collection: &Collection) -> Result<Vec<Vector>, JobsError> {
    let dir = collection.graph_dir();
    let mut vectors = Vec::new();
    if dir.is_dir() {
        for file in fs::read_dir(&dir).map_err(JobsError::io(&dir))? {
            let name = file.map_err(JobsError::io(&dir))?.file_name();
            let stem = name.to_str().and_then(|name| name.strip_suffix(".ranks"));
            vectors.extend(stem.and_then(Vector::of_stem));
        }
    }
    vectors.sort();
    Ok(vectors)
}

/// Takes away the vectors of the graph that `is_gone` says.
pub(crate) fn remove_vectors(
    collection: &Collection,
    is_gone: impl Fn(&Vector) -> bool,
) -> Result<(), JobsError> {
    for vector in node_vectors(collection)?.iter().filter(|vector| is_gone(vector)) {
        disk::remove(&collection.rank_source_file(vector))?;
        disk::remove(&collection.rank_file(vector))?;
    }
    Ok(())
}

/// A vector by node, if it belongs to this directory.
fn read_vector(
    collection: &Collection,
    directory: &Directory,
    vector: &Vector,
) -> Result<Option<Vec<f64>>, JobsError> {
    let path = collection.rank_file(vector);
    match read_source(collection)? {
        Some((_, source)) if source == directory.id() && path.is_file() => {
            let ranks = read_ranks(&path)?;
            Ok((ranks.len() == directory.entries().len()).then_some(ranks))
        }
        _ => Ok(None),
    }
}

/// PageRank by node, if it belongs to this directory.
pub(crate) fn node_ranks(
    collection: &Collection,
    directory: &Directory,
) -> Result<Option<Vec<f64>>, JobsError> {
    read_vector(collection, directory, &Vector::pagerank())
}
