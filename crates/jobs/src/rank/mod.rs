//! Link graph to ranks: named vectors of one value a page, by node and by document of the index.
//!
//! What lives here: when each vector is recomputed. What does not: the algorithms (crate `graph`), the files (crate
//! `collection`), imported values (`imported.rs`), and the order of documents (`documents.rs`).
//!
//! A [`Centrality`] is computed for every graph. Each topic of the configuration has one more vector.

mod config;
mod documents;
mod imported;

use collection::{
    Centrality, Collection, CollectionError, Directory, LinkGraph, Origin, PageTable, Vector,
    imported_vectors, made_again, read_origin, remove_vectors, write_vector,
};
use graph::{Graph, Ranks, in_degrees, pagerank, topic_pagerank};
use index::{Index, IndexError};
use serde::Serialize;

use crate::{JobsError, Progress, Stage};

pub use config::{RankConfig, Topic};
pub(crate) use documents::{is_ranked, write_document_ranks};
pub use imported::{RankImport, import_ranks};

/// The settings that a vector depends on, in lossless `Debug` format.
fn settings(centrality: Centrality, config: &RankConfig) -> String {
    match centrality {
        Centrality::PageRank => format!("{:?}", config.pagerank()),
        Centrality::InDegree => String::new(),
    }
}

fn compute(
    centrality: Centrality,
    graph: &Graph,
    config: &RankConfig,
    progress: &mut dyn FnMut(u32, f64),
) -> Ranks {
    match centrality {
        Centrality::PageRank => pagerank(graph, &config.pagerank(), progress),
        Centrality::InDegree => {
            Ranks { values: in_degrees(graph), iterations: 0, error_bound: 0.0 }
        }
    }
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

/// Computes the vectors that are out of date. Writes them by node and, if an index exists, by document.
pub fn rank(
    collection: &Collection,
    config: &RankConfig,
    progress: Progress<'_>,
) -> Result<RankReport, JobsError> {
    let missing = || CollectionError::Missing { needs: "the link graph", command: "rank" };
    let linking = LinkGraph::open(collection)?.ok_or_else(missing)?;
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
        let compute: Compute<'_> = &|graph, tell| compute(centrality, graph, config, tell);
        let (origin, is_new) = bring(&vector, settings(centrality, config), compute)?;
        report.up_to_date &= !is_new;
        if centrality == Centrality::PageRank {
            (report.iterations, report.error_bound) = (origin.iterations, origin.error_bound);
        }
    }
    let table = PageTable::open(&collection.pages_dir())?;
    let directory = table.directory();
    if !config.topics.is_empty() && directory.id() != linking.source {
        return Err(missing().into());
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
    linking: &LinkGraph,
    vector: &Vector,
    settings: String,
    compute: &mut dyn FnMut() -> Ranks,
) -> Result<(Origin, bool), JobsError> {
    if let Some(origin) = made_again(read_origin(collection, vector))?
        && origin.is_of(linking, &settings)
    {
        return Ok((origin, false));
    }
    let Ranks { values, iterations, error_bound } = compute();
    let origin = Origin { source: linking.source.clone(), settings, iterations, error_bound };
    write_vector(collection, vector, &origin, &values)?;
    Ok((origin, true))
}

/// Returns whether all vectors of this graph and these settings exist. That covers each centrality and each topic
/// with pages. The documents of the index must have every vector.
pub fn is_all_ranked(
    collection: &Collection,
    linking: &LinkGraph,
    directory: &Directory,
    config: &RankConfig,
) -> bool {
    let is_there = |vector: &Vector, settings: &str| {
        let origin = read_origin(collection, vector);
        origin.is_ok_and(|origin| origin.is_some_and(|origin| origin.is_of(linking, settings)))
    };
    let is_computed =
        |&it: &Centrality| is_there(&Vector::Rank(it.name().to_owned()), &settings(it, config));
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
