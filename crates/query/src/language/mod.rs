//! The query language, as people know it from the web.
//!
//! ```text
//! query    = sequence { ("OR" | "|") sequence }
//! sequence = factor { ["AND"] factor }
//! factor   = { "NOT" | "-" } ( "(" query ")" | [field ":"] (word | '"' text '"')
//!                            | "site:" host | "lang:" code )
//! field    = "title" | "headings" | "body" | "url" | "anchor"
//! ```
//!
//! So words side by side must all be there, and `OR` binds less than that: `a b OR c` is
//! `(a b) OR c`. Operators are written in capitals; `or` is a word. A word ends at white space, a
//! parenthesis, a quotation mark or `|`; a `-` negates only at the beginning of something, so
//! `state-of-the-art` is one word and a `-` that stands alone is punctuation. What follows the colon
//! of a field is taken as it stands (`title:OR`). A `"` between two Hebrew letters is a part of the
//! word, an abbreviation. An unknown name before a colon is part of the
//! word (`http://…`); `unknown.rs` finds it for a hint. An empty pair of parentheses is dropped (`main()`).
//!
//! What lives here: text to [`Query`] ([`parse`]) and back (`Display`). What does not: terms. The text
//! of a word is kept as typed; it is analysed when it is searched for, by the same chain that
//! analysed the documents (`plan.rs`).
//!
//! **Invariant.** Every text is a query or a [`QueryError`](crate::QueryError), in time linear in its
//! length, which is bounded; and `parse(&query.to_string()) == query` for every parsed query whose
//! printed form keeps within [`LENGTH_BYTES_MAX`].

mod display;
mod lexer;
mod parser;
mod unknown;

use index::Field;

pub use parser::parse;
pub use unknown::UnknownField;

/// Longest query that is read, in bytes.
pub const LENGTH_BYTES_MAX: usize = 4096;
/// Deepest nesting of parentheses that is read.
pub const DEPTH_MAX: usize = 64;
/// Most words (and, after analysis, terms) that one query searches for.
pub const TERMS_MAX: usize = 256;

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
    /// Words in this order and next to each other, within one field.
    Phrase {
        /// Where it must stand; `None`: in any field.
        field: Option<Field>,
        /// As typed between the quotation marks.
        text: String,
    },
    /// Pages of this host and of the hosts below it. In lower case, non-ASCII in Punycode.
    Site(String),
    /// Pages in this language, an ISO 639 code in lower case.
    Language(String),
    /// All of these.
    And(Vec<Query>),
    /// At least one of these.
    Or(Vec<Query>),
    /// The first and not the second.
    AndNot(Box<Query>, Box<Query>),
    /// Every page but these.
    Not(Box<Query>),
    /// Any of the words of a text in which nothing is an operator: the more of them a page has, and the rarer they
    /// are, the better it is. What text never gives by [`parse`].
    Any(String),
}
