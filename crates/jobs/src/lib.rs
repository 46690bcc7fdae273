//! Batch pipelines over a collection: archive → pages → graph → ranks → folded duplicates → index.
//!
//! What lives here: the layout of a collection on disk ([`Collection`]), the page table
//! ([`PageTable`]) and one module a stage. What does not: crawling, HTTP, scores.
//!
//! | stage | reads | writes | function |
//! |---|---|---|---|
//! | extract | `archive/` | `pages/` | [`extract`] |
//! | link | `pages/` | `graph/links/`, `graph/source` | [`link`] |
//! | rank | `graph/` | `graph/pagerank.ranks`, `graph/documents-….ranks` | [`rank`] |
//! | fold | `pages/`, ranks if there are any | `dups/` | [`fold`] |
//! | index | `pages/`, `dups/`, ranks | `index/`, `graph/documents-….ranks` | [`build_index`] |
//!
//! **Invariant.** A stage writes beside and renames into place: after a kill at any moment every
//! output is the old one, the new one, or absent, and whole. Pages, graph, clusters and index name the
//! input that they were made from, so that their stage does nothing where it has not changed and a
//! stale output is recognised; ranks are removed with the graph that they belong to.
#![forbid(unsafe_code)]

mod changes;
mod collection;
mod disk;
mod error;
mod extract;
mod fold;
mod in_order;
mod indexing;
mod link;
mod pages;
mod progress;
mod rank;
mod spelling;

pub use collection::{Collection, Lock, Writer};
pub use error::JobsError;
pub use extract::{ExtractOptions, ExtractReport, extract, is_extracted};
pub use fold::{FoldReport, Folding, fold, is_folded};
pub use indexing::{
    IndexReport, Reuse, analysis_of, build_index, is_indexed, url_filters, url_words,
};
pub use link::{LinkReport, Linking, link};
pub use pages::{Directory, Entry, Fate, OutLink, PagePointer, PageRow, PageTable};
pub use progress::{Progress, Stage};
pub use rank::{RankReport, document_ranks, rank};
pub use spelling::{AsFound, Spelling};
