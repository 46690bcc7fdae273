//! The search engine of a collection: opens its files and answers queries.
//!
//! What lives here: [`Engine`], which holds the index, the ranks, the page table and the archive of one generation;
//! results with their snippets ([`Results`]); cached copies of pages ([`PageCopy`]). What does not: the query language
//! and scores (crate `query`), HTTP and the pages of results (crate `serve`).
//!
//! **Invariant.** An engine answers from one generation of the index for its whole life.
#![forbid(unsafe_code)]

mod cached_copy;
mod engine;
mod error;
mod results;

pub use cached_copy::PageCopy;
pub use engine::{Change, Engine};
pub use error::SearchError;
pub use results::{
    CachedPage, Completions, Ranking, Results, SearchRequest, SearchResult, stopped_after,
};
