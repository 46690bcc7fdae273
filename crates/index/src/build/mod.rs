//! From documents and their terms to the segments of an index.
//!
//! What lives here: [`IndexWriter`], the batch of postings in memory that it fills, and the merging of segments. What
//! does not: how a segment is written (`segment/`).

mod arena;
mod batch;
mod batch_reader;
mod cache_lines;
mod keys;
mod paged;
mod policy;
mod sorting;
mod term_cache;
mod words;
mod writer;

pub use policy::MergePolicy;
pub use words::FieldWords;
pub use writer::{Config, IndexWriter, merge};
