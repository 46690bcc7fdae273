//! Ranks by document of the index.
//!
//! **Invariant.** `graph/documents-G-S.NAME.ranks` holds one value for each document, in document order. It belongs
//! to generation `G` of the index whose source has hash `S`. A value is the value of vector `NAME` for the page,
//! divided by the average. It is 0 if the vector has no value for the page. The average is over all pages of the
//! graph, or over all imported values.

use std::collections::HashMap;
use std::fs;
use std::time::SystemTime;

use graph::{read_ranks, write_ranks};
use index::{Index, IndexError};

use super::{Vector, imported_vectors, node_vectors, read_imported, read_vector};
use crate::interchange::document_name;
use crate::{Collection, Directory, JobsError, disk};

/// A vector, before it is put into the order of documents.
enum Source {
    /// By node.
    Nodes(Vec<f64>),
    /// By URL.
    Urls(HashMap<String, f64>),
}

impl Source {
    fn of(&self, place: Option<u32>, url: &str) -> f64 {
        let found = match self {
            Self::Nodes(values) => place.map(|place| values[place as usize]),
            Self::Urls(values) => {
                values.get(url).or_else(|| values.get(document_name(url))).copied()
            }
        };
        found.unwrap_or(0.0)
    }
}

/// The factor that makes the average of the values 1; 0 if all are zero.
fn scale(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let count = values.len() as f64;
    if sum > 0.0 { count / sum } else { 0.0 }
}

/// All vectors that there are, in the order of their names.
fn sources(
    collection: &Collection,
    directory: &Directory,
    places: &HashMap<&str, u32>,
) -> Result<Vec<(Vector, Source)>, JobsError> {
    let mut sources = Vec::new();
    for vector in node_vectors(collection)? {
        if let Some(mut values) = read_vector(collection, directory, &vector)? {
            let scale = scale(&values);
            for value in &mut values {
                *value *= scale;
            }
            sources.push((vector, Source::Nodes(values)));
        }
    }
    for vector in imported_vectors(collection)? {
        let values = read_imported(collection, vector.name())?;
        let all: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        let scale = scale(&all);
        let mut by_url = HashMap::with_capacity(values.len());
        let entry = |url: &str| places.get(url).map(|&place| &directory.entries()[place as usize]);
        // The value for a page's own URL has precedence over the value for a redirect to it.
        for is_direct in [false, true] {
            for (url, value) in &values {
                let page = entry(url).map_or(url, |entry| &entry.url);
                if (page == url) == is_direct {
                    by_url.insert(page.clone(), value * scale);
                }
            }
        }
        sources.push((vector, Source::Urls(by_url)));
    }
    Ok(sources)
}

/// Writes every vector in the order of the index's documents.
pub(crate) fn write_document_ranks(
    collection: &Collection,
    directory: &Directory,
    index: &Index,
) -> Result<(), JobsError> {
    let places = directory.resolver();
    let sources = sources(collection, directory, &places)?;
    let columns = columns(&sources, &places, index);
    index.intact()?;
    let columns = columns?;
    let dir = collection.graph_dir();
    fs::create_dir_all(&dir).map_err(JobsError::io(&dir))?;
    let mut written = Vec::new();
    for ((vector, _), column) in sources.iter().zip(&columns) {
        let path = collection.document_ranks_file(index, vector);
        write_ranks(&path, column)?;
        written.push(path);
    }
    // Remove the vectors that are not current.
    for file in fs::read_dir(&dir).map_err(JobsError::io(&dir))? {
        let path = file.map_err(JobsError::io(&dir))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("documents-") && !written.contains(&path) {
            fs::remove_file(&path).map_err(JobsError::io(&path))?;
        }
    }
    disk::remove(&collection.stale_ranks_file())
}

/// The values of each source for all documents of an index.
fn columns(
    sources: &[(Vector, Source)],
    places: &HashMap<&str, u32>,
    index: &Index,
) -> Result<Vec<Vec<f64>>, IndexError> {
    let mut columns = vec![Vec::new(); sources.len()];
    for segment in index.segments() {
        let begin = columns.first().map_or(0, Vec::len);
        for column in &mut columns {
            column.resize(begin + segment.doc_count() as usize, 0.0);
        }
        segment.each_record(|doc, record| {
            let place = places.get(record.url.as_str()).copied();
            for ((_, source), column) in sources.iter().zip(&mut columns) {
                column[begin + doc.0 as usize] = source.of(place, &record.url);
            }
        })?;
    }
    Ok(columns)
}

/// Marks the ranks by document as stale. Call it before a vector is replaced, so that a kill cannot leave old ranks.
pub(super) fn mark_stale(collection: &Collection) -> Result<(), JobsError> {
    disk::write_whole(&collection.stale_ranks_file(), &[])
}

/// Returns whether the documents of an index have exactly the current vectors, up to date and whole.
pub(crate) fn is_ranked(collection: &Collection, directory: &Directory, index: &Index) -> bool {
    let of_nodes = || -> Result<Vec<Vector>, JobsError> {
        let mut vectors = Vec::new();
        for vector in node_vectors(collection)? {
            if read_vector(collection, directory, &vector)?.is_some() {
                vectors.push(vector);
            }
        }
        Ok(vectors)
    };
    let (Ok(mut wanted), Ok(imported)) = (of_nodes(), imported_vectors(collection)) else {
        return false;
    };
    if collection.stale_ranks_file().exists() {
        return false;
    }
    wanted.extend(imported);
    wanted.sort();
    let found = document_vectors(collection, index);
    let is_whole = |vector| matches!(document_ranks(collection, index, vector), Ok(Some(_)));
    found.iter().map(|(vector, _)| vector).eq(&wanted) && wanted.iter().all(is_whole)
}

/// The vectors of an index's documents, in order, and the time each was written, if known.
pub fn document_vectors(
    collection: &Collection,
    index: &Index,
) -> Vec<(Vector, Option<SystemTime>)> {
    let begin = collection.document_ranks_begin(index);
    let files = fs::read_dir(collection.graph_dir()).into_iter().flatten().flatten();
    let vectors = files.filter_map(|file| {
        let name = file.file_name();
        let stem = name.to_str()?.strip_prefix(&begin)?.strip_suffix(".ranks")?;
        let written = file.metadata().and_then(|about| about.modified()).ok();
        Some((Vector::of_stem(stem)?, written))
    });
    let mut vectors: Vec<_> = vectors.collect();
    vectors.sort();
    vectors
}

/// Returns the ranks of the documents of each segment, in multiples of the average. Returns `None` if the vector does
/// not exist.
pub fn document_ranks(
    collection: &Collection,
    index: &Index,
    vector: &Vector,
) -> Result<Option<Vec<Vec<f32>>>, JobsError> {
    let path = collection.document_ranks_file(index, vector);
    if !path.is_file() {
        return Ok(None);
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
    Ok(Some(by_segment))
}
