//! A collection: one folder that holds everything from the configuration to the index.
//!
//! What lives here: the layout of the folder ([`Collection`]), its lock, and the files that the stages write and others
//! read: the page table ([`PageTable`]), the clusters of near-duplicates ([`Clusters`]), the link graph ([`LinkGraph`]) and
//! the ranks ([`Vector`]). What does not: how the stages make them (crate `jobs`), and the formats of the archive, the
//! graph and the index, which have crates of their own.
//!
//! **Invariant.** Every file is written to a temporary file, which is then renamed. After a kill at any moment, each file
//! is whole: the old one, the new one, or absent.
#![forbid(unsafe_code)]

mod clusters;
mod damage;
mod disk;
mod error;
mod layout;
mod link_graph;
mod pages;
mod ranks;
mod source;
mod vector;
mod verify;
mod writer;

pub use clusters::Clusters;
pub use damage::{discard_damaged, set_aside_damaged_ranks};
pub use disk::made_again;
pub use error::CollectionError;
pub use layout::{Collection, Lock};
pub use link_graph::LinkGraph;
pub use pages::{
    CaptureOutcome, Directory, Entry, OutLink, PART_COUNT_MAX, PagePointer, PageRow, PageTable,
    Part, PartName, PartWriter, Parts, files_read, write_directory,
};
pub use ranks::{
    Origin, document_ranks, document_vectors, imported_vectors, is_stale, node_ranks, node_vectors,
    read_imported, read_origin, read_vector, remove_vectors, write_document_vectors,
    write_imported, write_vector,
};
pub use source::{
    analysis_of, document_name, imported_source, is_imported, is_imported_source, url_of_name,
};
pub use vector::{Centrality, Vector};
pub use verify::{verify_pages, verify_ranks};
pub use writer::Writer;
