//! Ranks by document of the index.
//!
//! What lives here: the values by document. What does not: their files (crate `collection`).
//!
//! **Invariant.** A value is the value of the vector for the page, divided by the average. It is 0 if the vector has
//! no value for the page. The average is over all pages of the graph, or over all imported values.

use std::collections::HashMap;

use collection::{
    Collection, Directory, Vector, document_name, document_ranks, document_vectors,
    imported_vectors, is_stale, node_vectors, read_imported, read_vector, write_document_vectors,
};
use index::{Index, IndexError};

use crate::JobsError;

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
    let vectors = sources.iter().map(|(vector, _)| vector).zip(&columns);
    let vectors: Vec<_> = vectors.map(|(vector, column)| (vector, column.as_slice())).collect();
    Ok(write_document_vectors(collection, index, &vectors)?)
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
    if is_stale(collection) {
        return false;
    }
    wanted.extend(imported);
    wanted.sort();
    let found = document_vectors(collection, index);
    let is_whole = |vector| matches!(document_ranks(collection, index, vector), Ok(Some(_)));
    found.iter().map(|(vector, _)| vector).eq(&wanted) && wanted.iter().all(is_whole)
}
