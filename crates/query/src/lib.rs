//! Query language, operators, scoring, top-k retrieval, snippets.
//!
//! The stages of a query, in their order:
//!
//! - [`parse`]: parses text into a [`Query`];
//! - [`Searcher::search`]: analyses the words as those of documents were and evaluates the query. If words decide,
//!   dynamic pruning by block maxima skips documents that cannot be among the top k; otherwise [`operators`]
//!   combine the posting lists. A score is the sum of [`bm25`] or [`tf_idf`], proximity and a static score;
//!   [`TopK`] keeps the best documents;
//! - [`Searcher::with_topic`]: searches in the order of a topic;
//! - [`Searcher::explain`]: gives a score as a readable sum;
//! - [`Highlighter`]: highlights the query words in a title or in the best part of a text;
//! - [`Searcher::suggest`], [`Searcher::complete`]: correct a query and complete an unfinished word;
//! - [`evaluation`]: measures the effectiveness of rankings by human judgements.
//!
//! What does not: HTTP, HTML, files (the index has them), the text of documents (the caller passes it).
//!
//! **Invariant.** Every text gets results or a [`QueryError`]. Results have one total order, so pages of results
//! neither overlap nor leave gaps.
//!
//! # The language
//!
//! `solar panels "city hall" -site:example.org title:budget`: a page must have the phrase, the field and one of
//! the plain words. It ranks higher with more of them.
//!
//! - `+word` or `AND` require a word, `-` or `NOT` exclude one. `OR` or `|` separates alternatives and binds less than a
//!   sequence. Parentheses group.
//! - `"…"` is a phrase, `comput*` a prefix, `colour~1` a word with at most one letter different.
//! - `(a b c)~8` and `a NEAR/8 b` are words near each other, `"a b"~8` and `a BEFORE/8 b` words in order.
//! - `title:`, `headings:`, `body:`, `url:` and `anchor:` go before a word or a phrase.
//! - `site:example.org` selects a host and its subdomains. `lang:en`, `filetype:txt`, `link:example.org/page` and
//!   `date:2026-01..2026-03` select languages, types, links and dates.
//!
//! The grammar is in the header of `language`.
//!
//! ```
//! use query::{QueryError, parse};
//!
//! assert_eq!(parse("solar | wind -(coal gas)")?.to_string(), "solar | wind -(coal gas)");
//! assert_eq!(parse("solar NEAR/8 (roof OR wall*)")?.to_string(), "(solar (roof | wall*))~8");
//! assert_eq!(parse("solar \"city hall").unwrap_err().column(), Some(7));
//! # Ok::<(), QueryError>(())
//! ```
#![forbid(unsafe_code)]

mod block_max;
pub mod bm25;
mod completion;
mod config;
mod edits;
mod error;
pub mod evaluation;
mod expansion;
mod explanation;
mod half_life;
mod language;
pub mod operators;
mod plan;
mod prepared;
mod prior;
mod proximity;
mod scorers;
mod searcher;
mod snippet;
mod snippet_budget;
mod spans;
mod stop;
mod stop_words;
mod suggestion;
mod surface_forms;
pub mod tf_idf;
mod top_k;
mod tree;
mod weighting;

pub use block_max::ImpactTablesReport;
pub use completion::COMPLETIONS_MAX;
pub use config::{Config, FieldWeights, Match};
pub use error::QueryError;
pub use explanation::Explanation;
pub use half_life::HalfLife;
pub use language::{
    DEPTH_MAX, DISTANCE_MAX, DateRange, LENGTH_BYTES_MAX, Query, TERMS_MAX, UnknownField,
    WIDTH_MAX, parse,
};
pub use prepared::{Answer, Matches, Prepared};
pub use prior::RankValues;
pub use searcher::Searcher;
pub use snippet::{Highlighter, Piece};
pub use stop::Stop;
pub use suggestion::{FEW_RESULTS, Suggestion};
pub use top_k::{Hit, TopK};
pub use weighting::Weighting;
