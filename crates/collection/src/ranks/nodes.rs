//! Ranks by node of the link graph.
//!
//! **Invariant.** `graph/NAME.ranks` holds a value for each node of the graph that `graph/NAME.source` names. It was
//! computed with the settings in that file.

use std::fs;

use graph::{read_ranks, write_ranks};
use serde::{Deserialize, Serialize};

use super::documents::mark_stale;
use crate::link_graph::{LinkGraph, read_source};
use crate::pages::Directory;
use crate::{Collection, CollectionError, Vector, disk};

const MAGIC: [u8; 8] = *b"CRVRSRC\x02";

/// The graph and settings that a vector was computed from, and the result of the solver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The identifier of the directory that numbers the nodes of the graph.
    pub source: String,
    /// The settings, as text.
    pub settings: String,
    /// Iterations of the solver.
    pub iterations: u32,
    /// Upper bound of the sum of all errors.
    pub error_bound: f64,
}

impl Origin {
    /// Returns whether the vector was computed from this graph with these settings.
    pub fn is_of(&self, linking: &LinkGraph, settings: &str) -> bool {
        self.source == linking.source && self.settings == settings
    }
}

/// Reads the origin of a vector. Returns `None` if the origin or the vector is missing.
pub fn read_origin(
    collection: &Collection,
    vector: &Vector,
) -> Result<Option<Origin>, CollectionError> {
    let bytes = disk::read_sealed(&collection.rank_source_file(vector), MAGIC)?;
    let bytes = bytes.filter(|_| collection.rank_file(vector).is_file());
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// Writes a vector and its origin. The origin is removed first and written last, because a vector without an origin is
/// computed again.
#[expect(clippy::missing_panics_doc, reason = "strings and numbers are JSON")]
pub fn write_vector(
    collection: &Collection,
    vector: &Vector,
    origin: &Origin,
    values: &[f64],
) -> Result<(), CollectionError> {
    let path = collection.rank_source_file(vector);
    disk::remove(&path)?;
    mark_stale(collection)?;
    write_ranks(&collection.rank_file(vector), values)?;
    let bytes = serde_json::to_vec(origin).expect("strings and numbers are JSON");
    disk::write_sealed(&path, MAGIC, &bytes)
}

/// The vectors of the graph, up to date or not, in the order of their names.
pub fn node_vectors(collection: &Collection) -> Result<Vec<Vector>, CollectionError> {
    let dir = collection.graph_dir();
    let mut vectors = Vec::new();
    if dir.is_dir() {
        for file in fs::read_dir(&dir).map_err(CollectionError::io(&dir))? {
            let name = file.map_err(CollectionError::io(&dir))?.file_name();
            let stem = name.to_str().and_then(|name| name.strip_suffix(".ranks"));
            vectors.extend(stem.and_then(Vector::of_stem));
        }
    }
    vectors.sort();
    Ok(vectors)
}

/// Removes the vectors of the graph for which `is_gone` returns true.
pub fn remove_vectors(
    collection: &Collection,
    is_gone: impl Fn(&Vector) -> bool,
) -> Result<(), CollectionError> {
    for vector in node_vectors(collection)?.iter().filter(|vector| is_gone(vector)) {
        disk::remove(&collection.rank_source_file(vector))?;
        disk::remove(&collection.rank_file(vector))?;
    }
    Ok(())
}

/// A vector by node, if it belongs to this directory.
pub fn read_vector(
    collection: &Collection,
    directory: &Directory,
    vector: &Vector,
) -> Result<Option<Vec<f64>>, CollectionError> {
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
pub fn node_ranks(
    collection: &Collection,
    directory: &Directory,
) -> Result<Option<Vec<f64>>, CollectionError> {
    read_vector(collection, directory, &Vector::pagerank())
}
