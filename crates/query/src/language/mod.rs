//! The query language: the syntax of common web search engines, extended.
//!
//! ```text
//! query    = sequence { ("OR" | "|") sequence }
//! sequence = marked { ["AND"] marked }
//! marked   = { "NOT" | "-" | "+" } near
//! near     = factor { ("NEAR/" | "BEFORE/") number factor }
//! factor   = "(" query ")" ["~" number]
//!          | [field ":"] ( word | word "*" | word "~" ("1" | "2") | '"' text '"' ["~" number] )
//!          | "site:" host | "lang:" code | "filetype:" ending | "link:" url | "date:" dates
//! dates    = date | [date] ".." [date]
//! date     = year [ "-" month [ "-" day ] ]
//! field    = "title" | "headings" | "body" | "url" | "anchor"
//! ```
//!
//! Plain words of a sequence are optional: a page must have at least one of them, and ranks higher with more
//! ([`Query::is_plain`]). All other parts are required: phrases, windows, fields, filters, groups with an operator,
//! parts marked with `+`, and both sides of `AND`. [`Match::All`](crate::Match) requires plain words too.
//!
//! `OR` binds less than a sequence: `a b OR c` is `(a b) OR c`. Operators are in capitals; `or` is a word, and so is
//! `OR` in a sentence in capitals. A word ends at white space, a parenthesis, a quotation mark or `|`. A `-` or `+`
//! counts only at the beginning of a part, so `state-of-the-art` and `c++` are words, and a `-` alone is punctuation.
//!
//! The text after the colon of a field is taken literally (`title:OR`). A `"` between two Hebrew letters is part of
//! an abbreviation. An unknown name before a colon is part of the word (`http://…`); `unknown.rs` finds it for a
//! hint. An empty pair of parentheses is dropped (`main()`).
//!
//! `*` and `~` are operators only directly after their operand, and end it. In quotation marks, a word that ends in
//! `*` is a prefix too. A number is from 1 to [`WIDTH_MAX`]. `a NEAR/5 b` is `(a b)~5`; a chain of equal operators
//! is one window, any other chain nests to the left. A window may contain words, phrases, `OR`, `AND` and windows,
//! which have positions in a text, but no negations or filters.
//!
//! What lives here: parsing ([`parse`]) and printing (`Display`) of a [`Query`]. What does not: terms. Words are
//! kept as typed; `plan.rs` analyses them by the same chain as documents.
//!
//! **Invariant.** Every text is a query or a [`QueryError`](crate::QueryError), in time linear in its bounded length.
//! For every parsed query, `parse(&query.to_string()) == query` if the printed form has at most [`LENGTH_BYTES_MAX`].

mod date;
mod display;
mod lexer;
mod parser;
mod unfinished;
mod unknown;

use index::Field;

pub use date::DateRange;
pub use parser::parse;
pub(crate) use unfinished::unfinished;
pub use unknown::UnknownField;

/// Maximum length of a query, in bytes.
pub const LENGTH_BYTES_MAX: usize = 4096;
/// Maximum nesting depth of parentheses.
pub const DEPTH_MAX: usize = 64;
/// Maximum number of words in a query and, after analysis, of terms.
pub const TERMS_MAX: usize = 256;

/// Maximum width of a window, in positions.
pub const WIDTH_MAX: u32 = 10_000;
/// Maximum edit distance of a fuzzy word.
pub const DISTANCE_MAX: u32 = 2;

/// A query; see the [grammar](crate#the-language).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Query {
    /// A word, in `field` or anywhere.
    Term {
        /// The field; `None` for any.
        field: Option<Field>,
        /// The word as typed.
        text: String,
    },
    /// Words with a prefix, in `field` or anywhere.
    Prefix {
        /// The field; `None` for any.
        field: Option<Field>,
        /// The prefix as typed, without the star.
        text: String,
    },
    /// Words within an edit distance, in `field` or anywhere.
    Fuzzy {
        /// The field; `None` for any.
        field: Option<Field>,
        /// The word as typed, without the `~`.
        text: String,
        /// Maximum number of letters that are missing, inserted, replaced or transposed.
        distance: u32,
    },
    /// Words in this order and next to each other, within one field. A word that ends in `*` is a prefix.
    Phrase {
        /// The field; `None` for any.
        field: Option<Field>,
        /// The text in the quotation marks.
        text: String,
    },
    /// The words of a text in this order within a number of positions of one field, possibly with other words
    /// between them.
    Within {
        /// The field; `None` for any.
        field: Option<Field>,
        /// The text in the quotation marks.
        text: String,
        /// Number of positions from the first word to the last.
        width: u32,
    },
    /// Parts within a number of positions of one field. A part is a word in any form, a phrase, or a [`Query::And`],
    /// [`Query::Or`] or window of such parts.
    Near {
        /// Whether they must be in this order without overlap. Otherwise they may overlap.
        ordered: bool,
        /// Number of positions from the first part to the last.
        width: u32,
        /// The parts.
        parts: Vec<Query>,
    },
    /// Pages of this host and its subdomains. In lower case, non-ASCII in Punycode.
    Site(String),
    /// Pages in this language, an ISO 639 code in lower case.
    Language(String),
    /// Pages whose address has this file extension, in lower case and without the dot.
    FileType(String),
    /// Pages with a link to this URL, which is normalised. Without a scheme, http and https both match.
    Link(String),
    /// Pages of these days.
    Date(DateRange),
    /// A sequence: plain words are optional, everything else is required.
    Sequence(Vec<Query>),
    /// A plain part of a sequence that is required.
    Required(Box<Query>),
    /// All of these.
    And(Vec<Query>),
    /// At least one of these.
    Or(Vec<Query>),
    /// The first and not the second.
    AndNot(Box<Query>, Box<Query>),
    /// Every page but these.
    Not(Box<Query>),
}

impl Query {
    /// Returns whether a page may lack this part if it has another plain word: a word without a field, or a sequence
    /// of such words.
    pub fn is_plain(&self) -> bool {
        match self {
            Self::Term { field, .. } | Self::Prefix { field, .. } | Self::Fuzzy { field, .. } => {
                field.is_none()
            }
            Self::Sequence(parts) => parts.iter().all(Self::is_plain),
            _ => false,
        }
    }
}
