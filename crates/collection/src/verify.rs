//! Reads the files of the stages in full and checks them.
//!
//! What lives here: the page table and the ranks. What does not: files that are verified when opened (directory,
//! clusters, graph), and the index, which verifies itself.
//!
//! **Invariant.** Verification changes no file. It reports the first damage of each file.

use graph::read_ranks;
use index::Index;

use crate::disk::made_again;
use crate::pages::{PageTable, Part, Parts};
use crate::ranks::{
    document_ranks, document_vectors, imported_vectors, node_vectors, read_imported, read_origin,
};
use crate::{Collection, CollectionError};

/// Reads every row of the page table. Returns the number of rows and the damage found.
pub fn verify_pages(collection: &Collection) -> (u64, Vec<CollectionError>) {
    let dir = collection.pages_dir();
    let mut faults: Vec<CollectionError> = PageTable::open(&dir).err().into_iter().collect();
    let parts = Parts::read(&dir).unwrap_or_else(|fault| {
        faults.push(fault);
        Parts::default()
    });
    let mut rows = 0;
    for name in parts.names {
        let read = Part::open(&Parts::path(&dir, name.number)).and_then(|mut part| {
            let mut offset = Part::FIRST;
            while let Some((heads, next)) = part.heads(offset)? {
                rows += heads.len() as u64;
                part.block(offset)?;
                offset = next;
            }
            Ok(())
        });
        faults.extend(read.err());
    }
    (rows, faults)
}

/// Reads the ranks by page, the imported ranks and the ranks by document.
pub fn verify_ranks(collection: &Collection) -> Result<(), CollectionError> {
    for vector in node_vectors(collection)? {
        read_ranks(&collection.rank_file(&vector))?;
        made_again(read_origin(collection, &vector))?;
    }
    for vector in imported_vectors(collection)? {
        read_imported(collection, vector.name())?;
    }
    // An index that cannot be opened has no ranks. Another check reports the index itself.
    if let Ok(index) = Index::open(&collection.index_dir()) {
        for (vector, _) in document_vectors(collection, &index) {
            document_ranks(collection, &index, &vector)?;
        }
    }
    Ok(())
}
