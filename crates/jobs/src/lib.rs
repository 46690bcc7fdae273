//! Batch pipelines over a collection: archive → pages → graph → ranks → folded duplicates → index.
//!
//! What lives here: the layout of a collection on disk ([`Collection`]), the page table
//! ([`PageTable`]) and one module a stage. What does not: crawling, HTTP, scores.
//!
//! | stage | reads | writes | function |
//! |---|---|---|---|
//! | extract | `archive/` | `pages/` | [`extract`] |
//! | link | `pages/` | `graph/` | [`link`] |
//! | rank | `graph/` | `graph/pagerank.ranks` | [`rank`] |
//! | fold | `pages/`, ranks if there are any | `dups/` | [`fold`] |
//! | index | `pages/`, `dups/` | `index/` | [`build_index`] |
//!
//! **Invariant.** A stage writes beside and renames into place: after a kill at any moment every
//! output is the old one or the new one, whole. Each output names the input that it was made from,
//! so a stage whose input has not changed does nothing and a stale output is recognised.
#![forbid(unsafe_code)]

mod collection;
mod disk;
mod error;
mod extract;
mod fold;
mod indexing;
mod link;
mod pages;
mod progress;
mod rank;

pub use collection::{Collection, Lock};
pub use error::JobsError;
pub use extract::{ExtractOptions, ExtractReport, extract};
pub use fold::{FoldReport, Folding, fold};
pub use indexing::{IndexReport, build_index};
pub use link::{LinkReport, Linking, link};
pub use pages::{Directory, Entry, Fate, OutLink, PagePointer, PageRow, PageTable};
pub use progress::{Progress, Stage};
pub use rank::{RankReport, document_ranks, rank};
