//! The query language, as people know it from the web.
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
//! In a sequence plain words are wanted: a page must have at least one of them, and is better with more
//! ([`Query::is_plain`]). Everything else in it is required: phrases, windows, fields, filters, groups with an operator,
//! parts marked with `+`, and both sides of `AND`. [`Match::All`](crate::Match) requires plain words too.
//!
//! `OR` binds less than a sequence: `a b OR c` is `(a b) OR c`. Operators are written in capitals; `or` is a word, and so
//! is `OR` in a sentence in capitals. A word ends at white space, a parenthesis, a quotation mark or `|`. A `-` or `+`
//! counts only at the beginning of a part, so `state-of-the-art` and `c++` are words, and a `-` alone is punctuation. The
//! text after the colon of a field is taken literally (`title:OR`). A `"` between two Hebrew letters is part of an
//! abbreviation. An unknown name before a colon is part of the word (`http://…`); `unknown.rs` finds it for a hint. An
//! empty pair of parentheses is dropped (`main()`).
//!
//! `*` and `~` mean something only where they follow at once, and end what they follow. Between quotation marks a word
//! that ends in `*` is a beginning too. A number is from 1 to [`WIDTH_MAX`]. `a NEAR/5 b` is `(a b)~5`; a chain of
//! equal ones is one window, any other chain nests to the left. In a window stand words, phrases, `OR`, `AND` and
//! windows, since these have places in a text; negations and filters have none.
//!
//! What lives here: text to [`Query`] ([`parse`]) and back (`Display`). What does not: terms. The text
//! of a word is kept as typed; it is analysed when it is searched for, by the same chain that
//! analysed the documents (`plan.rs`).
//!
//! **Invariant.** Every text is a query or a [`QueryError`](crate::QueryError), in time linear in its
//! length, which is bounded; and `parse(&query.to_string()) == query` for every parsed query whose
//! printed form keeps within [`LENGTH_BYTES_MAX`].

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

/// Longest query that is read, in bytes.
pub const LENGTH_BYTES_MAX: usize = 4096;
/// Deepest nesting of parentheses that is read.
pub const DEPTH_MAX: usize = 64;
/// Most words (and, after analysis, terms) that one query searches for.
pub const TERMS_MAX: usize = 256;

/// Widest window, in positions.
pub const WIDTH_MAX: u32 = 10_000;
/// Most letters in which a word may differ from one that is searched for.
pub const DISTANCE_MAX: u32 = 2;

/// What is searched for; see the [grammar](crate#the-language).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Query {
    /// A word, in `field` or anywhere.
    Term {
        /// Where it must stand; `None`: in any field.
        field: Option<Field>,
        /// As typed.
        text: String,
    },
    /// Words that begin so, in `field` or anywhere.
    Prefix {
        /// Where they must stand; `None`: in any field.
        field: Option<Field>,
        /// As typed, without the star.
        text: String,
    },
    /// Words that are so but for some letters, in `field` or anywhere.
    Fuzzy {
        /// Where they must stand; `None`: in any field.
        field: Option<Field>,
        /// As typed, without what follows.
        text: String,
        /// How many letters may be missing, too many, others, or exchanged with their neighbour.
        distance: u32,
    },
    /// Words in this order and next to each other, within one field. One that ends in `*` is the beginning of a word.
    Phrase {
        /// Where it must stand; `None`: in any field.
        field: Option<Field>,
        /// As typed between the quotation marks.
        text: String,
    },
    /// The words of a text in this order, with others between them perhaps, within so many positions of one field.
    Within {
        /// Where they must stand; `None`: in any field.
        field: Option<Field>,
        /// As typed between the quotation marks.
        text: String,
        /// From the first of them to the last.
        width: u32,
    },
    /// All of these within so many positions of one field. They must be words in any form, phrases, or of
    /// [`Query::And`], [`Query::Or`] and windows of such.
    Near {
        /// Whether they must stand in this order, each behind the one before; otherwise they may also overlap.
        ordered: bool,
        /// From the first of them to the last.
        width: u32,
        /// What they are.
        parts: Vec<Query>,
    },
    /// Pages of this host and of the hosts below it. In lower case, non-ASCII in Punycode.
    Site(String),
    /// Pages in this language, an ISO 639 code in lower case.
    Language(String),
    /// Pages whose address ends so, in lower case and without the dot.
    FileType(String),
    /// Pages with a link to this URL, which is normalised; without a scheme it is any of the web.
    Link(String),
    /// Pages of these days.
    Date(DateRange),
    /// Parts side by side: plain words are wanted, everything else is required.
    Sequence(Vec<Query>),
    /// A part of a sequence that a page must have, though it is plain.
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
    /// Whether a page may lack it where another word is there: a word without a field, or only such words side by side.
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
