//! Filters between the stages of a crawl (W3): one small language, four places.
//!
//! What lives here: [`Filter`], compiled once from the text of a key of the configuration and then asked
//! about [`Facts`]; [`Point`], the four places where one may stand. `lexer.rs` cuts the text into words,
//! `parser.rs` makes them a tree, `expression.rs` is the tree, `field.rs` what it may speak of. What does
//! not: what follows from an answer (`rules.rs`, `answer.rs`).
//!
//! **Invariant.** A filter that compiled answers about any facts, in time linear in its length and in
//! theirs, and its text as written by `Display` compiles to the same filter.
//!
//! Reference: the grammar stands in `docs/guide/filters.md`.

mod expression;
mod field;
mod lexer;
mod parser;

use std::fmt;
use std::sync::Arc;

use crate::config::Config;
use crate::error::CrawlError;

use expression::Expression;
pub(crate) use field::extension;
pub use field::{Facts, Point};

/// A filter, ready to be asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    expression: Arc<Expression>,
}

impl Filter {
    /// Reads a filter that is to stand at `point`.
    pub fn compile(text: &str, point: Point) -> Result<Filter, FilterError> {
        let expression = parser::parse(text, point)?;
        Ok(Filter { expression: Arc::new(expression) })
    }

    /// Whether the filter lets pass what these facts are about.
    pub fn accepts(&self, facts: &Facts<'_>) -> bool {
        self.expression.holds(facts)
    }

    /// Whether it speaks of what only reading the page tells.
    pub(crate) fn needs_page(&self) -> bool {
        self.expression.any_field(&mut |field| field.is_of_page())
    }

    /// Whether it speaks of how a URL was found.
    pub(crate) fn needs_link(&self) -> bool {
        self.expression.any_field(&mut |field| field.is_of_link())
    }

    /// Whether it speaks of pages seen before.
    pub(crate) fn needs_duplicates(&self) -> bool {
        self.expression.any_field(&mut |field| field == field::Field::Duplicate)
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expression.fmt(out)
    }
}

/// The filters of a crawl; where there is none, everything passes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filters {
    pub(crate) fetch: Option<Filter>,
    pub(crate) parse: Option<Filter>,
    pub(crate) store: Option<Filter>,
    pub(crate) link: Option<Filter>,
}

impl Filters {
    /// Those that stand in the configuration.
    pub(crate) fn compile(config: &Config) -> Result<Filters, CrawlError> {
        let compile = |point: Point, text: &str| {
            if text.trim().is_empty() {
                return Ok(None);
            }
            let wrong = |error: FilterError| CrawlError::Config {
                key: point.key(),
                why: error.to_string(),
            };
            Filter::compile(text, point).map(Some).map_err(wrong)
        };
        Ok(Filters {
            fetch: compile(Point::Fetch, &config.fetch_filter)?,
            parse: compile(Point::Parse, &config.parse_filter)?,
            store: compile(Point::Store, &config.store_filter)?,
            link: compile(Point::Link, &config.link_filter)?,
        })
    }
}

/// Why a text is no filter, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    /// The text, as given.
    pub text: String,
    /// The place of the offence in letters, from 1.
    pub column: usize,
    /// What is wrong.
    pub why: String,
    /// What was perhaps meant.
    pub suggestion: Option<String>,
}

impl fmt::Display for FilterError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "column {}: {}", self.column, self.why)?;
        if let Some(suggestion) = &self.suggestion {
            write!(out, "; did you mean `{suggestion}`?")?;
        }
        // Line breaks and tabs count as one letter each, so that the mark stands below its place.
        let line = self.text.replace(char::is_control, " ");
        write!(out, "\n  {line}\n  {:1$}^", "", self.column.saturating_sub(1))
    }
}

impl std::error::Error for FilterError {}
