//! What can go wrong between a query's text and its answer.
//!
//! **Invariant.** Whatever is wrong with the text of a query carries a column, counted in characters
//! from 1, so that a page or a terminal can put a mark under it.

use index::IndexError;

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// Nothing to search for: blank, or punctuation and signs only.
    #[error(
        "the query has no word in it: give at least one, which has a letter or a digit; punctuation and signs are no words"
    )]
    Empty,
    /// The text is longer than [`crate::LENGTH_BYTES_MAX`].
    #[error(
        "column {column}: the query is too long, at most {bytes_max} bytes are read; leave out what follows"
    )]
    TooLong {
        /// First character that is too much.
        column: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// More words than [`crate::TERMS_MAX`].
    #[error(
        "column {column}: too many words, at most {max} are searched for; leave out this one and what follows"
    )]
    TooManyWords {
        /// Where the first word too many begins.
        column: usize,
        /// The limit.
        max: usize,
    },
    /// The words of the query are few, but analysis cuts them into more terms than
    /// [`crate::TERMS_MAX`] (languages written without spaces).
    #[error("the query has {found} terms, at most {max} are searched for: leave some words out")]
    TooManyTerms {
        /// How many there are.
        found: usize,
        /// The limit.
        max: usize,
    },
    /// Parentheses nest deeper than [`crate::DEPTH_MAX`].
    #[error(
        "column {column}: parentheses nest too deep, at most {max} levels are read; leave some of them out"
    )]
    TooDeep {
        /// The parenthesis that is too much.
        column: usize,
        /// The limit.
        max: usize,
    },
    /// A query that was built in a program nests deeper than any text could.
    #[error("the query nests too deep, at most {max} levels are evaluated")]
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
        "column {column}: nothing stands {side} {operator}; \
         to search for the word itself put it in quotation marks"
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
    #[error("column {column}: `{name}:` must be followed at once by {what}")]
    Bare {
        /// Where the name begins.
        column: usize,
        /// The name before the colon.
        name: &'static str,
        /// What may follow it.
        what: &'static str,
    },
    /// `site:` and something that is no host.
    #[error("column {column}: `{found}` is not a host name; write for example site:example.org")]
    Site {
        /// Where `site:` begins.
        column: usize,
        /// What follows it.
        found: String,
    },
    /// `site:` and a host with its port.
    #[error(
        "column {column}: `site:` takes a host without its port, which the index does not know; \
         write site:{host}"
    )]
    Port {
        /// Where `site:` begins.
        column: usize,
        /// The host.
        host: String,
    },
    /// `lang:` and something that is no language code.
    #[error("column {column}: `{found}` is not a language code; write for example lang:en")]
    Language {
        /// Where `lang:` begins.
        column: usize,
        /// What follows it.
        found: String,
    },
    /// `filetype:` and something that is no ending of a file name.
    #[error(
        "column {column}: `{found}` is not the ending of a file name; write for example filetype:txt"
    )]
    FileType {
        /// Where `filetype:` begins.
        column: usize,
        /// What follows it.
        found: String,
    },
    /// `link:` and something that is no address of the web.
    #[error(
        "column {column}: `{found}` is not an address of the web; write for example link:https://example.org/page, \
         in quotation marks if there are parentheses in it"
    )]
    Link {
        /// Where `link:` begins.
        column: usize,
        /// What follows it.
        found: String,
    },
    /// `date:` and something that is no date, or a range that ends before it begins.
    #[error(
        "column {column}: `{found}` is not a date from {} to {}; write for example date:2026, date:2026-03-15, \
         date:2026-01..2026-03 or date:..2025",
        page::YEAR_FIRST,
        page::YEAR_LAST
    )]
    Date {
        /// Where `date:` begins.
        column: usize,
        /// What follows it.
        found: String,
    },
    /// `colour~3`
    #[error(
        "column {column}: at most {max} letters may differ; write {word}~1 or {word}~{max}, \
         or put it in quotation marks to search for it as it is"
    )]
    Distance {
        /// Where the word begins.
        column: usize,
        /// The word.
        word: String,
        /// The limit.
        max: u32,
    },
    /// `(a b)~0`, `a NEAR/99999999 b`
    #[error(
        "column {column}: a window is as wide as a number of words from 1 to {max} says; \
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
        "column {column}: {what} has no place in a text, so it cannot stand in a window; \
         put it before or behind the window"
    )]
    InWindow {
        /// What cannot be there.
        column: usize,
        /// Its name.
        what: &'static str,
    },
    /// The same in a query that was built in a program.
    #[error("{what} has no place in a text, so it cannot stand in a window")]
    InWindowTree {
        /// What cannot be there.
        what: String,
    },
    /// Words next to each other, in an index that was made without positions.
    #[error(
        "{what} means words near each other, and this index was imported without the places of words; \
         search for them one by one"
    )]
    NoPositions {
        /// As the query says it.
        what: String,
    },
    /// A document to explain that the index does not hold.
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
    /// Where the fault is in the text of the query, in characters from 1; `None` if the fault is
    /// not at one place of the text.
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
