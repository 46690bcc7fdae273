//! Bytes to URL, links, text, language, terms.
//!
//! The crate computes everything that follows from the bytes of one page.
//!
//! - [`normalise`]: a reference as found in a page becomes one absolute URL, always the same one.
//! - [`parse`]: the bytes of an HTTP body become a [`Page`]: charset, title, headings, text, links,
//!   directives to robots, language. HTML, plain text and Markdown. [`parse_wanted`] reads only the parts that
//!   [`Wanted`] names.
//! - [`Analyzer`]: text becomes terms with positions and offsets. Pages and queries go through one chain.
//! - [`Cleaner`]: a page becomes a copy that loads nothing. [`without_controls`] removes control characters from a
//!   line of text.
//! - [`Filter`]: terms that select pages by site, language, type, link and date.
//!
//! The crate uses neither the network nor the disk. Other crates decide on scope, storage and ranking.
//!
//! **Invariant.** Any bytes under any content type give a [`Page`] or a [`PageError`] in linear time.
//! [`Limits`] bounds every result. No function panics or recurses on input.
//!
//! ```
//! use page::{Analyzer, AnalysisConfig, Limits, normalise, parse};
//!
//! let limits = Limits::default();
//! let url = normalise("HTTP://Example.com/a/../index.html#top", None, &limits)?;
//! assert_eq!(url.as_str(), "http://example.com/index.html");
//!
//! let body = b"<title>Sieves</title><p>A <a href='/b'>sieve</a> keeps the coarse.";
//! let page = parse(&url, Some("text/html"), body, &limits)?;
//! assert_eq!(page.title, "Sieves");
//! assert_eq!(page.text, "A sieve keeps the coarse.");
//! assert_eq!(page.links[0].url.as_str(), "http://example.com/b");
//!
//! let analyzer = Analyzer::build(&AnalysisConfig::default())?;
//! assert_eq!(analyzer.terms("Sieves, coarsely"), ["siev", "coars"]);
//! # Ok::<(), page::PageError>(())
//! ```
#![forbid(unsafe_code)]

mod analysis;
mod assemble;
mod binary;
mod charset;
mod content;
mod controls;
mod day;
mod directives;
mod error;
mod filters;
mod flow;
mod function_words;
mod html;
mod kind;
mod language;
mod limits;
mod markdown;
mod parse;
mod plain;
mod resolve;
mod status;
mod url;

pub use ::url::Url;

pub use analysis::{
    AnalysisConfig, Analyzer, TERM_BYTES_LEAST, TERM_BYTES_LIMIT, TermMaker, Token, stemmers,
};
pub use charset::{Charset, CharsetSource};
pub use content::{Known, Link, Page, Wanted};
pub use controls::{is_harmless, without_controls};
pub use day::{Day, YEAR_FIRST, YEAR_LAST};
pub use directives::Directives;
pub use error::PageError;
pub use filters::{Filter, file_type};
pub use html::Cleaner;
pub use kind::ContentType;
pub use language::language_of;
pub use limits::Limits;
pub use parse::{check, parse, parse_wanted};
pub use resolve::parse_normal;
pub use status::StatusClass;
pub use url::{normalise, registered_domain, upper_case_escapes};
