//! Filters between the stages of a crawl: one small language, four places.
//!
//! What lives here: [`Filter`], compiled once from a key of the configuration and then evaluated on [`Facts`];
//! [`Point`], the four places. `lexer.rs` makes tokens of the text, `parser.rs` a tree, `expression.rs` is the
//! tree, `field.rs` its fields. What does not: the consequences of a result (`rules.rs`, `answer.rs`).
//!
//! **Invariant.** A compiled filter can be evaluated on any facts, in time linear in its length and in theirs. Its
//! text as written by `Display` compiles to the same filter.
//!
//! Reference: the grammar is in `docs/guide/filters.md`.

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

/// A compiled filter.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    expression: Arc<Expression>,
}

impl Filter {
    /// Compiles a filter for `point`.
    pub fn compile(text: &str, point: Point) -> Result<Filter, FilterError> {
        let expression = parser::parse(text, point)?;
        Ok(Filter { expression: Arc::new(expression) })
    }

    /// Returns whether the filter accepts these facts.
    pub fn accepts(&self, facts: &Facts<'_>) -> bool {
        self.expression.holds(facts)
    }

    /// Returns whether it uses fields that are known only after parsing the page.
    pub(crate) fn needs_page(&self) -> bool {
        self.expression.any_field(&mut |field| field.is_of_page())
    }

    /// Returns whether it uses fields of the link.
    pub(crate) fn needs_link(&self) -> bool {
        self.expression.any_field(&mut |field| field.is_of_link())
    }

    /// Returns whether it uses `duplicate`.
    pub(crate) fn needs_duplicates(&self) -> bool {
        self.expression.any_field(&mut |field| field == field::Field::Duplicate)
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expression.fmt(out)
    }
}

/// The filters of a crawl; a missing filter accepts everything.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filters {
    pub(crate) fetch: Option<Filter>,
    pub(crate) parse: Option<Filter>,
    pub(crate) store: Option<Filter>,
    pub(crate) link: Option<Filter>,
}

impl Filters {
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

/// Why a text is not a valid filter, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    /// The text, as given.
    pub text: String,
    /// The column of the error in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub why: String,
    /// A suggested correction.
    pub suggestion: Option<String>,
}

impl fmt::Display for FilterError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "column {}: {}", self.column, self.why)?;
        if let Some(suggestion) = &self.suggestion {
            write!(out, "; did you mean `{suggestion}`?")?;
        }
        // Newlines and tabs count as one character each, so that the mark is below its column.
        let line = self.text.replace(char::is_control, " ");
        write!(out, "\n  {line}\n  {:1$}^", "", self.column.saturating_sub(1))
    }
}

impl std::error::Error for FilterError {}
