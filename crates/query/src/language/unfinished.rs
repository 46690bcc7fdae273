//! Finds the unfinished word at the end of a query.
//!
//! What lives here: its start. What does not: its completions (`completion.rs`).
//!
//! **Invariant.** The text before the word stays unchanged, also an open parenthesis or quotation mark.

use index::Field;

use super::lexer::{Prefix, ends_word, split_prefix};

/// Returns the start of the last word and the field before it. Returns `None` if the query ends after a word or with
/// a filter.
pub(crate) fn unfinished(text: &str) -> Option<(usize, Option<Field>)> {
    let word = text.rsplit(ends_word).next().unwrap_or(text).trim_start_matches(['-', '+']);
    let (field, word) = match split_prefix(word) {
        None => (None, word),
        Some((Prefix::Field(field), value)) => (Some(field), value),
        Some(_) => return None,
    };
    (!word.is_empty()).then_some((text.len() - word.len(), field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unfinished_last_word_is_found() {
        for (text, expected) in [
            ("beg", Some((0, None))),
            ("the -beg", Some((5, None))),
            ("the +beg", Some((5, None))),
            ("(a|beg", Some((3, None))),
            ("\"città al", Some((8, None))),
            ("title:beg", Some((6, Some(Field::Title)))),
            ("a -title:be", Some((9, Some(Field::Title)))),
            ("other:be", Some((0, None))),
            ("beg ", None),
            ("\"city\"", None),
            ("title:", None),
            ("site:exam", None),
            ("--", None),
            ("", None),
        ] {
            assert_eq!(unfinished(text), expected, "{text:?}");
        }
    }
}
