//! Batch pipelines over a collection: archive → pages → graph → ranks → folded duplicates → index.
//!
//! What lives here: one module a stage. What does not: the files that the stages write (crate `collection`), crawling,
//! HTTP, scores.
//!
//! | stage | reads | writes | function |
//! |---|---|---|---|
//! | extract | `archive/` | `pages/` | [`extract`] |
//! | link | `pages/` | `graph/links/`, `graph/source` | [`link`] |
//! | rank | `graph/`, `ranks/` | `graph/NAME.ranks`, `graph/documents-….NAME.ranks` | [`rank()`] |
//! | fold | `pages/`, ranks if there are any | `dups/` | [`fold`] |
//! | index | `pages/`, `dups/`, ranks | `index/`, `graph/documents-….NAME.ranks` | [`build_index`] |
//!
//! Ranks may also come from the user ([`import_ranks`], to `ranks/`). An index may also come from another engine
//! ([`import_ciff`]), instead of all stages. It may also go to one ([`export_ciff`]).
//!
//! **Invariant.** A stage writes to a temporary file and renames it. The index renames only its manifest, which
//! names the new files. After a kill at any moment, every output is whole: the old one, the new one, or absent. Pages,
//! graph, clusters and index name the input that they were made from. A stage with
//! unchanged input therefore does nothing, and a stale output is recognised. Ranks are removed with their graph.
#![forbid(unsafe_code)]

mod changes;
mod ciff;
mod error;
mod extract;
mod fold;
mod in_order;
mod indexing;
mod link;
mod link_target;
mod progress;
mod rank;
mod staleness;

pub use ciff::{CiffReport, export_ciff, import_ciff};
pub use error::JobsError;
pub use extract::{ExtractOptions, ExtractReport, extract, extract_staleness, is_text_cut};
pub use fold::{Fold, FoldConfig, FoldReport, fold, is_folded, similarity};
pub use indexing::{IndexReport, Reuse, build_index, filters, index_staleness, url_words};
pub use link::{LinkReport, link};
pub use link_target::{LinkTarget, Unchanged};
pub use progress::{Progress, Stage};
pub use rank::{
    RankConfig, RankImport, RankReport, Topic, TopicReport, import_ranks, is_all_ranked, rank,
};
pub use staleness::Staleness;
