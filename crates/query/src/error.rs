//! Errors of queries.
//!
//! **Invariant.** Every syntax error has a column, counted in characters from 1, so that a page or a terminal can
//! mark it.

use index::IndexError;

/// The reason why a query failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// No words: the query is blank or has only punctuation and signs.
    #[error("the query has no words; give at least one word with a letter or a digit")]
    Empty,
    /// The text is longer than [`crate::LENGTH_BYTES_MAX`].
    #[error("column {column}: the query is longer than {bytes_max} bytes; leave out the rest")]
    TooLong {
        /// The first character beyond the limit.
        column: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// More words than [`crate::TERMS_MAX`].
    #[error(
        "column {column}: the query has more than {max} words; leave out this one and the rest"
    )]
    TooManyWords {
        /// Start of the first word beyond the limit.
        column: usize,
        /// The limit.
        max: usize,
    },
    /// The query has few words, but analysis splits them into more than [`crate::TERMS_MAX`] terms (languages
    /// written without spaces).
    #[error("the query has {found} terms, but the limit is {max}; leave some words out")]
    TooManyTerms {
        /// The number of terms.
        found: usize,
        /// The limit.
        max: usize,
    },
    /// Parentheses nest deeper than [`crate::DEPTH_MAX`].
    #[error("column {column}: parentheses nest deeper than {max} levels; leave some of them out")]
    TooDeep {
        /// The first parenthesis beyond the limit.
        column: usize,
        /// The limit.
        max: usize,
    },
    /// A query built by a program nests deeper than any text can.
    #[error("the query nests deeper than {max} levels")]
    TooDeepTree {
        /// The limit.
        max: usize,
    },
    /// `"a b`
    #[error("column {column}: this quotation mark is never closed")]
    OpenQuote {
        /// The mark.
        column: usize,
    },
    /// `(a b`
    #[error("column {column}: this parenthesis is never closed")]
    OpenParenthesis {
        /// The parenthesis.
        column: usize,
    },
    /// `a b)`
    #[error("column {column}: this parenthesis closes nothing")]
    CloseParenthesis {
        /// The parenthesis.
        column: usize,
    },
    /// `OR a`, `a AND`, `NOT`
    #[error(
        "column {column}: {operator} needs a word {side} it; \
         to search for {operator} itself, put it in quotation marks"
    )]
    Operand {
        /// The operator.
        column: usize,
        /// Its name.
        operator: &'static str,
        /// `before` or `after`.
        side: &'static str,
    },
    /// `title: x`, `site:(a b)`
    #[error("column {column}: `{name}:` must be followed directly by {what}")]
    Bare {
        /// Start of the name.
        column: usize,
        /// The name before the colon.
        name: &'static str,
        /// The expected text.
        what: &'static str,
    },
    /// `site:` with an invalid host.
    #[error("column {column}: `{found}` is not a host name; write for example site:example.org")]
    Site {
        /// Start of `site:`.
        column: usize,
        /// The invalid text.
        found: String,
    },
    /// `site:` with a host and a port.
    #[error(
        "column {column}: `site:` takes a host without its port; \
         write site:{host}"
    )]
    Port {
        /// Start of `site:`.
        column: usize,
        /// The host.
        host: String,
    },
    /// `lang:` with an invalid language code.
    #[error("column {column}: `{found}` is not a language code; write for example lang:en")]
    Language {
        /// Start of `lang:`.
        column: usize,
        /// The invalid text.
        found: String,
    },
    /// `filetype:` with an invalid file extension.
    #[error("column {column}: `{found}` is not a file extension; write for example filetype:txt")]
    FileType {
        /// Start of `filetype:`.
        column: usize,
        /// The invalid text.
        found: String,
    },
    /// `link:` with an invalid web address.
    #[error(
        "column {column}: `{found}` is not a web address; write for example link:https://example.org/page, \
         in quotation marks if it has parentheses"
    )]
    Link {
        /// Start of `link:`.
        column: usize,
        /// The invalid text.
        found: String,
    },
    /// `date:` with an invalid date, or a range that ends before it begins.
    #[error(
        "column {column}: `{found}` is not a date from {} to {}; write for example date:2026, date:2026-03-15, \
         date:2026-01..2026-03 or date:..2025",
        page::YEAR_FIRST,
        page::YEAR_LAST
    )]
    Date {
        /// Start of `date:`.
        column: usize,
        /// The invalid text.
        found: String,
    },
    /// `colour~3`
    #[error(
        "column {column}: at most {max} letters may differ; write {word}~1 or {word}~{max}, \
         or put it in quotation marks to search for it literally"
    )]
    Distance {
        /// Start of the word.
        column: usize,
        /// The word.
        word: String,
        /// The limit.
        max: u32,
    },
    /// `(a b)~0`, `a NEAR/99999999 b`
    #[error(
        "column {column}: the width of a window must be from 1 to {max} words; \
         write for example (solar panel)~8 or solar NEAR/8 panel"
    )]
    Width {
        /// The `~` or the operator.
        column: usize,
        /// The limit.
        max: u32,
    },
    /// `(a -b)~8`
    #[error(
        "column {column}: {what} has no position in a text and cannot be in a window; \
         put it before or after the window"
    )]
    InWindow {
        /// The misplaced part.
        column: usize,
        /// Its name.
        what: &'static str,
    },
    /// A negation or a filter in a window of a query that was built by a program.
    #[error("{what} has no position in a text and cannot be in a window")]
    InWindowTree {
        /// The misplaced part.
        what: String,
    },
    /// A query for word positions in an index without them.
    #[error(
        "{what} needs word positions, which this index lacks; \
         search for the words one by one"
    )]
    NoPositions {
        /// The part of the query that needs positions.
        what: String,
    },
    /// A document number that is not in the index.
    #[error("the index has no document {doc} in segment {segment}")]
    NoSuchDocument {
        /// Number of the segment.
        segment: usize,
        /// Number of the document inside it.
        doc: u32,
    },
    /// The index could not be read.
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl QueryError {
    /// The column of the error in the text of the query, in characters from 1. `None` if the error is not at one
    /// place.
    pub fn column(&self) -> Option<usize> {
        match *self {
            Self::TooLong { column, .. }
            | Self::TooManyWords { column, .. }
            | Self::TooDeep { column, .. }
            | Self::OpenQuote { column }
            | Self::OpenParenthesis { column }
            | Self::CloseParenthesis { column }
            | Self::Operand { column, .. }
            | Self::Bare { column, .. }
            | Self::Site { column, .. }
            | Self::Port { column, .. }
            | Self::Language { column, .. }
            | Self::FileType { column, .. }
            | Self::Link { column, .. }
            | Self::Date { column, .. }
            | Self::Distance { column, .. }
            | Self::Width { column, .. }
            | Self::InWindow { column, .. } => Some(column),
            Self::Empty
            | Self::TooManyTerms { .. }
            | Self::TooDeepTree { .. }
            | Self::InWindowTree { .. }
            | Self::NoPositions { .. }
            | Self::NoSuchDocument { .. }
            | Self::Index(_) => None,
        }
    }
}
