//! Batch pipelines over a collection: archive → pages → graph → ranks → folded duplicates → index.
//!
//! What lives here: the layout of a collection on disk ([`Collection`]), the page table
//! ([`PageTable`]) and one module a stage. What does not: crawling, HTTP, scores.
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
//! **Invariant.** A stage writes to a temporary file and renames it. After a kill at any moment, every output is
//! whole: the old one, the new one, or absent. Pages, graph, clusters and index name the input that they were made
//! from. A stage with unchanged input therefore does nothing, and a stale output is recognised. Ranks are removed
//! with their graph.
#![forbid(unsafe_code)]

mod changes;
mod collection;
mod damage;
mod disk;
mod error;
mod extract;
mod fold;
mod in_order;
mod indexing;
mod interchange;
mod lag;
mod link;
mod pages;
mod progress;
mod rank;
mod spelling;
mod verify;

pub use collection::{Collection, Lock, Writer};
pub use damage::{discard_damaged, set_aside_damaged_ranks};
pub use error::JobsError;
pub use extract::{ExtractOptions, ExtractReport, extract, extract_lag, files_read, is_text_cut};
pub use fold::{Fold, FoldConfig, FoldReport, Folding, fold, is_folded, similarity};
pub use indexing::{IndexReport, Reuse, analysis_of, build_index, filters, index_lag, url_words};
pub use interchange::{CiffReport, document_name, export_ciff, import_ciff, is_imported};
pub use lag::Lag;
pub use link::{LinkReport, Linking, link};
pub use pages::{Directory, Entry, Fate, OutLink, PagePointer, PageRow, PageTable};
pub use progress::{Progress, Stage};
pub use rank::{
    RankConfig, RankImport, RankReport, Topic, TopicReport, Vector, document_ranks,
    document_vectors, import_ranks, is_all_ranked, rank,
};
pub use spelling::{AsFound, Spelling};
pub use verify::{verify_pages, verify_ranks};
