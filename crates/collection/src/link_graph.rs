//! The link graph of a collection: the graph and `graph/source`.
//!
//! What lives here: [`LinkGraph`], which names the directory of its nodes. What does not: the format of the graph (crate
//! `graph`).
//!
//! **Invariant.** Node `i` of the graph is entry `i` of the directory that `graph/source` identifies.

use std::path::PathBuf;

use graph::Graph;

use crate::{Collection, CollectionError, disk};

const MAGIC: [u8; 8] = *b"CRVLINK\x01";

/// The link graph of a collection and the identifier of the directory that numbers its nodes.
pub struct LinkGraph {
    /// Pages and links.
    pub graph: Graph,
    /// The directory it was made from.
    pub source: String,
    /// Links that lead out of the collection.
    pub outside: u64,
}

impl LinkGraph {
    /// Opens the graph. Returns `None` if the collection has no graph.
    pub fn open(collection: &Collection) -> Result<Option<Self>, CollectionError> {
        let Some((outside, source)) = read_source(collection)? else { return Ok(None) };
        let graph = Graph::open(&collection.links_dir())?;
        Ok(Some(Self { graph, source, outside }))
    }

    /// Removes the source of the graph, so that the stage builds the graph again.
    pub fn remove_source(collection: &Collection) -> Result<(), CollectionError> {
        disk::remove(&source_file(collection))
    }

    /// Writes the number of links that lead out of the collection and the identifier of the directory.
    pub fn write_source(
        collection: &Collection,
        outside: u64,
        directory: &str,
    ) -> Result<(), CollectionError> {
        let text = format!("{outside} {directory}");
        disk::write_sealed(&source_file(collection), MAGIC, text.as_bytes())
    }
}

fn source_file(collection: &Collection) -> PathBuf {
    collection.graph_dir().join("source")
}

/// Returns the number of links that lead out of the collection and the identifier of the directory. Returns `None` if
/// the collection has no graph. It does not open the graph, because that decodes all of it.
pub(crate) fn read_source(
    collection: &Collection,
) -> Result<Option<(u64, String)>, CollectionError> {
    let path = source_file(collection);
    let Some(bytes) = disk::read_sealed(&path, MAGIC)? else { return Ok(None) };
    let pair = std::str::from_utf8(&bytes).ok().and_then(|text| text.split_once(' '));
    let read = pair.and_then(|(outside, source)| Some((outside.parse().ok()?, source.to_owned())));
    let (offset, what) = (MAGIC.len() as u64, "a source that cannot be read");
    read.map(Some).ok_or(CollectionError::Damaged { path, offset, what: what.into() })
}
