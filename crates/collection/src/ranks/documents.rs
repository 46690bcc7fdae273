//! Ranks by document of the index.
//!
//! **Invariant.** `graph/documents-G-S.NAME.ranks` holds one value for each document, in document order. It belongs
//! to generation `G` of the index whose source has hash `S`.

use std::fs;
use std::time::SystemTime;

use graph::{read_ranks, write_ranks};
use index::Index;

use crate::{Collection, CollectionError, Vector, disk};

/// Writes vectors in the order of the index's documents, and removes all others.
pub fn write_document_vectors(
    collection: &Collection,
    index: &Index,
    vectors: &[(&Vector, &[f64])],
) -> Result<(), CollectionError> {
    let dir = collection.graph_dir();
    fs::create_dir_all(&dir).map_err(CollectionError::io(&dir))?;
    let mut written = Vec::new();
    for (vector, values) in vectors {
        let path = collection.document_ranks_file(index, vector);
        write_ranks(&path, values)?;
        written.push(path);
    }
    // Remove the vectors that are not current.
    for file in fs::read_dir(&dir).map_err(CollectionError::io(&dir))? {
        let path = file.map_err(CollectionError::io(&dir))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("documents-") && !written.contains(&path) {
            fs::remove_file(&path).map_err(CollectionError::io(&path))?;
        }
    }
    disk::remove(&collection.stale_ranks_file())
}

/// Marks the ranks by document as stale. Call it before a vector is replaced, so that a kill cannot leave old ranks.
pub(super) fn mark_stale(collection: &Collection) -> Result<(), CollectionError> {
    let path = collection.stale_ranks_file();
    fs::create_dir_all(collection.graph_dir())
        .and_then(|()| durable::replace(&path, []))
        .map_err(CollectionError::io(&path))
}

/// Returns whether the vectors by document may be older than the vectors by node.
pub fn is_stale(collection: &Collection) -> bool {
    collection.stale_ranks_file().exists()
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
) -> Result<Option<Vec<Vec<f32>>>, CollectionError> {
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
            return Err(CollectionError::Damaged { path, offset: 0, what: what.into() });
        };
        #[expect(clippy::cast_possible_truncation, reason = "a rank needs no 53 bits")]
        by_segment.push(mine.iter().map(|&rank| rank as f32).collect());
        rest = others;
    }
    Ok(Some(by_segment))
}
