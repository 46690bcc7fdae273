//! Damaged files of the stages count as missing.
//!
//! What lives here: [`discard_damaged`], which removes these files before the stages run, and
//! [`set_aside_damaged_ranks`] for imported ranks, which no stage can rebuild. What does not: the index, which its
//! stage verifies, and the archive.
//!
//! **Invariant.** A file is removed or renamed only if its checksum does not match or its content cannot be decoded.

use std::fs;
use std::path::PathBuf;

use index::Index;

use crate::pages::{Directory, Part, Parts};
use crate::ranks::{
    document_ranks, document_vectors, imported_vectors, node_vectors, read_imported, read_origin,
};
use crate::{Clusters, Collection, CollectionError, LinkGraph, disk};

/// Reads the page table, the clusters, the link graph and the ranks, and removes each damaged file, so that its stage
/// builds it again. Returns the damage found.
pub fn discard_damaged(collection: &Collection) -> Result<Vec<CollectionError>, CollectionError> {
    let mut found = Vec::new();
    let dir = collection.pages_dir();
    for name in discard(&mut found, Parts::read(&dir))?.unwrap_or_default().names {
        let path = Parts::path(&dir, name.number);
        discard(&mut found, Part::open(&path).and_then(|mut part| part.verify()))?;
    }
    discard(&mut found, Directory::read(&dir.join("directory")))?;
    discard(&mut found, Clusters::open(collection, &Directory::default()))?;
    let before = found.len();
    discard(&mut found, LinkGraph::open(collection))?;
    if found.len() > before {
        // The stage builds a graph again that has no source.
        LinkGraph::remove_source(collection)?;
    }
    for vector in node_vectors(collection)? {
        let values = graph::read_ranks(&collection.rank_file(&vector));
        discard(&mut found, values.map_err(CollectionError::from))?;
        discard(&mut found, read_origin(collection, &vector))?;
    }
    // The stage of the index finds out what is wrong with one that cannot be opened.
    if let Ok(index) = Index::open(&collection.index_dir()) {
        for (vector, _) in document_vectors(collection, &index) {
            discard(&mut found, document_ranks(collection, &index, &vector))?;
        }
    }
    Ok(found)
}

/// Renames each damaged file of imported ranks, so that the stages do without this rank. Returns the damage and the
/// new names.
pub fn set_aside_damaged_ranks(
    collection: &Collection,
) -> Result<Vec<(CollectionError, PathBuf)>, CollectionError> {
    let mut found = Vec::new();
    for vector in imported_vectors(collection)? {
        if let Err(fault @ CollectionError::Damaged { .. }) =
            read_imported(collection, vector.name())
        {
            let path = collection.imported_ranks_file(vector.name());
            let aside = path.with_added_extension("damaged");
            fs::rename(&path, &aside).map_err(CollectionError::io(&path))?;
            found.push((fault, aside));
        }
    }
    Ok(found)
}

/// Removes the file that is damaged by what was read of it. Other errors are left to the stage that needs the file.
fn discard<T>(
    found: &mut Vec<CollectionError>,
    read: Result<T, CollectionError>,
) -> Result<Option<T>, CollectionError> {
    match read {
        Ok(value) => return Ok(Some(value)),
        Err(CollectionError::Damaged { path, offset, what }) => {
            disk::remove(&path)?;
            found.push(CollectionError::Damaged { path, offset, what });
        }
        Err(_) => {}
    }
    Ok(None)
}
