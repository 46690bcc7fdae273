//! The lexer of filters.
//!
//! What lives here: [`Token`] and its position. What does not: the meaning of a word (`parser.rs`).
//!
//! In a quoted string `\"` is a quotation mark; any other backslash is literal, so that patterns need no extra
//! escapes.
//!
//! **Invariant.** Every token has the column where it begins, counted in characters from 1.

use super::FilterError;

/// Maximum bytes of a filter.
const BYTES_MAX: usize = 8_192;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// Letters, digits and `_ - . / + * :`, not in quotes.
    Word(String),
    /// In quotes.
    Quoted(String),
    /// A comparison: `=`, `!=`, `<`, `<=`, `>`, `>=`, `~`, `!~`.
    Sign(&'static str),
    Open,
    Close,
    Comma,
}

/// A token and its column.
pub(super) type Placed = (Token, usize);

const SIGNS: [&str; 8] = ["!=", "!~", "<=", ">=", "=", "<", ">", "~"];

pub(super) fn cut(text: &str) -> Result<Vec<Placed>, FilterError> {
    let error = |column, why: String, suggestion: Option<&str>| FilterError {
        text: text.to_owned(),
        column,
        why,
        suggestion: suggestion.map(str::to_owned),
    };
    if text.len() > BYTES_MAX {
        return Err(FilterError {
            text: String::new(),
            column: 1,
            why: format!("it has {} bytes, and {BYTES_MAX} are enough", text.len()),
            suggestion: None,
        });
    }
    let mut tokens = Vec::new();
    let (mut rest, mut column) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let token;
        let before = rest;
        if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
            column += 1;
            continue;
        } else if let Some(single) = single(first) {
            (token, rest) = (single, &rest[1..]);
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (token, rest) = (Token::Sign(sign), &rest[sign.len()..]);
        } else if first == '"' {
            let quoted = quoted(&rest[1..]);
            let Some((value, after)) = quoted else {
                return Err(error(column, "this string has no end".to_owned(), None));
            };
            (token, rest) = (Token::Quoted(value), after);
        } else if is_of_word(first) {
            let end = rest.find(|letter| !is_of_word(letter)).unwrap_or(rest.len());
            (token, rest) = (Token::Word(rest[..end].to_owned()), &rest[end..]);
        } else {
            let meant = match first {
                '&' => Some("and"),
                '|' => Some("or"),
                '!' => Some("not"),
                '\'' => Some("\""),
                _ => None,
            };
            return Err(error(column, format!("{first:?} means nothing here"), meant));
        }
        tokens.push((token, column));
        column += before[..before.len() - rest.len()].chars().count();
    }
    Ok(tokens)
}

fn single(letter: char) -> Option<Token> {
    match letter {
        '(' => Some(Token::Open),
        ')' => Some(Token::Close),
        ',' => Some(Token::Comma),
        _ => None,
    }
}

/// Returns whether a character can be in a word without quotes.
pub(super) fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | '+' | '*' | ':')
}

/// Returns the value up to the closing quotation mark, and the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[at + 1..])),
            '\\' if letters.next_if(|&(_, next)| next == '"').is_some() => value.push('"'),
            _ => value.push(letter),
        }
    }
    None
}
