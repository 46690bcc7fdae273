//! Link graph to ranks: PageRank by node, and the same by document of the index.
//!
//! **Invariant.** `graph/documents-G-S.ranks` holds, for each document of generation `G` of the index,
//! which was made from the source with hash `S`, in order, n times the PageRank of its page (so 1 is
//! the average page), and 0 where the page is not in the graph.

use std::fs;

use graph::{PageRankConfig, pagerank, read_ranks, write_ranks};
use index::{Index, IndexError};
use serde::{Deserialize, Serialize};

use crate::link::read_source;
use crate::{Collection, Directory, JobsError, Linking, PageTable, Progress, Stage, disk};

const MAGIC: [u8; 8] = *b"CRVRSRC\x01";

/// What the stage computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RankReport {
    /// Pages.
    pub nodes: u32,
    /// Links.
    pub arcs: u64,
    /// Rounds that it took.
    pub iterations: u32,
    /// The sum of all errors is at most this.
    pub error_bound: f64,
    /// Nothing was to do.
    pub up_to_date: bool,
}

/// What ranks were computed from, and what was said of them.
#[derive(Serialize, Deserialize)]
struct Origin {
    source: String,
    /// As Rust prints it, which loses nothing.
    config: String,
    report: RankReport,
}

/// Computes PageRank and writes it by node and, where there is an index, by document.
pub fn rank(
    collection: &Collection,
    config: &PageRankConfig,
    progress: Progress<'_>,
) -> Result<RankReport, JobsError> {
    let missing = JobsError::Missing { needs: "the link graph", command: "rank" };
    let linking = Linking::open(collection)?.ok_or(missing)?;
    let report = match disk::made_again(read_origin(collection))? {
        Some(origin)
            if origin.source == linking.source && origin.config == format!("{config:?}") =>
        {
            RankReport { up_to_date: true, ..origin.report }
        }
        _ => compute(collection, config, linking, progress)?,
    };
    if let Ok(index) = Index::open(&collection.index_dir())
        && !(report.up_to_date && collection.document_ranks_file(&index).is_file())
    {
        match write_document_ranks(collection, &index) {
            // The stage that follows builds it again, with its ranks.
            Err(JobsError::Index(IndexError::Damaged { .. })) => {}
            written => written?,
        }
    }
    Ok(report)
}

fn compute(
    collection: &Collection,
    config: &PageRankConfig,
    linking: Linking,
    progress: Progress<'_>,
) -> Result<RankReport, JobsError> {
    let most = u64::from(config.iterations_max);
    let ranks = pagerank(&linking.graph, config, &mut |iteration, _| {
        progress(Stage::Rank, u64::from(iteration), most);
    });
    let report = RankReport {
        nodes: linking.graph.nodes(),
        arcs: linking.graph.arcs(),
        iterations: ranks.iterations,
        error_bound: ranks.error_bound,
        up_to_date: false,
    };
    // Without its origin a vector is computed again: that is taken away first and written last.
    disk::remove(&collection.ranks_source_file())?;
    write_ranks(&collection.ranks_file(), &ranks.values)?;
    let origin = Origin { source: linking.source, config: format!("{config:?}"), report };
    let origin = serde_json::to_vec(&origin).expect("strings and numbers are JSON");
    disk::write_sealed(&collection.ranks_source_file(), MAGIC, &origin)?;
    Ok(report)
}

fn read_origin(collection: &Collection) -> Result<Option<Origin>, JobsError> {
    let bytes = disk::read_sealed(&collection.ranks_source_file(), MAGIC)?;
    let bytes = bytes.filter(|_| collection.ranks_file().is_file());
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// The ranks by node, if they belong to this directory.
pub(crate) fn node_ranks(
    collection: &Collection,
    directory: &Directory,
) -> Result<Option<Vec<f64>>, JobsError> {
    let path = collection.ranks_file();
    match read_source(collection)? {
        Some((_, source)) if source == directory.id() && path.is_file() => {
            let ranks = read_ranks(&path)?;
            Ok((ranks.len() == directory.entries().len()).then_some(ranks))
        }
        _ => Ok(None),
    }
}

/// Writes the ranks in the order of the index's documents; without ranks there is nothing to write.
pub(crate) fn write_document_ranks(
    collection: &Collection,
    index: &Index,
) -> Result<(), JobsError> {
    let table = PageTable::open(&collection.pages_dir())?;
    let Some(ranks) = node_ranks(collection, table.directory())? else { return Ok(()) };
    let places = table.directory().resolver();
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let average = ranks.len() as f64;
    let mut values = Vec::new();
    for segment in index.segments() {
        let begin = values.len();
        values.resize(begin + segment.doc_count() as usize, 0.0);
        segment.each_record(|doc, record| {
            let rank = places.get(record.url.as_str()).map(|&place| ranks[place as usize]);
            values[begin + doc.0 as usize] = rank.unwrap_or(0.0) * average;
        })?;
    }
    let path = collection.document_ranks_file(index);
    write_ranks(&path, &values)?;
    remove_older(collection, &path)
}

/// Vectors of generations that are gone.
fn remove_older(collection: &Collection, keep: &std::path::Path) -> Result<(), JobsError> {
    let dir = collection.graph_dir();
    for file in fs::read_dir(&dir).map_err(JobsError::io(&dir))? {
        let path = file.map_err(JobsError::io(&dir))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("documents-") && path != keep {
            fs::remove_file(&path).map_err(JobsError::io(&path))?;
        }
    }
    Ok(())
}

/// For each segment of the index, n times the PageRank of each document; empty without ranks.
pub fn document_ranks(collection: &Collection, index: &Index) -> Result<Vec<Vec<f32>>, JobsError> {
    let path = collection.document_ranks_file(index);
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let values = read_ranks(&path)?;
    let mut rest = values.as_slice();
    let mut by_segment = Vec::new();
    for segment in index.segments() {
        let Some((mine, others)) = rest.split_at_checked(segment.doc_count() as usize) else {
            let what = "fewer ranks than documents";
            return Err(JobsError::Damaged { path, offset: 0, what: what.into() });
        };
        #[expect(clippy::cast_possible_truncation, reason = "a rank needs no 53 bits")]
        by_segment.push(mine.iter().map(|&rank| rank as f32).collect());
        rest = others;
    }
    Ok(by_segment)
}
