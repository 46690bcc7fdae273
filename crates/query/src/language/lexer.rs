//! Text of a query → tokens with their columns.
//!
//! **Invariant.** Columns are 1-based, count characters, and ascend.

use index::Field;

use super::{DISTANCE_MAX, WIDTH_MAX};
use crate::QueryError;

/// A run of at least this many words in capitals makes a text a sentence in capitals. Fewer may be abbreviations, as
/// in `NASA OR ESA`.
const SENTENCE_WORDS_MIN: usize = 4;

/// The smallest pieces of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    Or,
    And,
    Not,
    Plus,
    /// `NEAR/8`, `BEFORE/8`
    Near {
        ordered: bool,
        width: u32,
    },
    /// `~8`, directly after a parenthesis or a phrase.
    Within(u32),
    Term {
        field: Option<Field>,
        text: &'a str,
    },
    Prefix {
        field: Option<Field>,
        text: &'a str,
    },
    Fuzzy {
        field: Option<Field>,
        text: &'a str,
        distance: u32,
    },
    Phrase {
        field: Option<Field>,
        text: &'a str,
    },
    Site(&'a str),
    Language(&'a str),
    FileType(&'a str),
    Link(&'a str),
    Date(&'a str),
}

impl Token<'_> {
    /// The name of a token without positions in a text. `None` if it has positions.
    pub(super) fn placeless(&self) -> Option<&'static str> {
        Some(match self {
            Token::Not => "NOT",
            Token::Site(_) => "site:",
            Token::Language(_) => "lang:",
            Token::FileType(_) => "filetype:",
            Token::Link(_) => "link:",
            Token::Date(_) => "date:",
            _ => return None,
        })
    }
}

/// A token and its column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexeme<'a> {
    pub(super) token: Token<'a>,
    pub(super) column: usize,
}

pub(super) fn lex(text: &str) -> Result<Vec<Lexeme<'_>>, QueryError> {
    let has_operators = !is_in_capitals(text);
    let mut lexer = Lexer { rest: text, column: 1, has_operators };
    let mut lexemes: Vec<Lexeme<'_>> = Vec::new();
    // Whether a width may follow the last token.
    let mut can_widen = false;
    loop {
        can_widen &= lexer.take_until(|c| !c.is_whitespace()).is_empty();
        let column = lexer.column;
        let Some(first) = lexer.rest.chars().next() else { return Ok(lexemes) };
        let token = match first {
            '(' => lexer.single(Token::Open),
            ')' => lexer.single(Token::Close),
            '|' => lexer.single(Token::Or),
            '-' if lexer.marks() => lexer.single(Token::Not),
            '+' if lexer.marks() => lexer.single(Token::Plus),
            '~' if can_widen && lexer.widens() => lexer.width_behind()?,
            _ if is_quote(first) => Token::Phrase { field: None, text: lexer.quoted()? },
            _ => lexer.word()?,
        };
        let closes_nothing_inside =
            token == Token::Close && lexemes.last().is_some_and(|last| last.token == Token::Open);
        can_widen = !closes_nothing_inside && matches!(token, Token::Close | Token::Phrase { .. });
        if closes_nothing_inside {
            lexemes.pop();
        } else {
            lexemes.push(Lexeme { token, column });
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    /// Column of the first character of `rest`.
    column: usize,
    /// Whether `AND`, `OR` and `NOT` are operators.
    has_operators: bool,
}

impl<'a> Lexer<'a> {
    /// Advances to the first character for which `ends` returns true, unless that is part of a word.
    fn take_until(&mut self, ends: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.char_indices().find(|&(at, c)| ends(c) && !is_letter(self.rest, at));
        let (taken, rest) = self.rest.split_at(end.map_or(self.rest.len(), |(at, _)| at));
        self.rest = rest;
        self.column += taken.chars().count();
        taken
    }

    /// Consumes one character and returns `token`.
    fn single(&mut self, token: Token<'a>) -> Token<'a> {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
        self.column += 1;
        token
    }

    /// Returns whether the `-` or `+` at the cursor belongs to the part after it.
    fn marks(&self) -> bool {
        let next = self.rest.chars().nth(1);
        next.is_some_and(|c| !c.is_whitespace() && c != ')' && c != '|')
    }

    /// Returns whether the `~` at the cursor begins a width.
    fn widens(&self) -> bool {
        self.rest.chars().nth(1).is_none_or(|c| c.is_ascii_digit() || ends_word(c))
    }

    fn width_behind(&mut self) -> Result<Token<'a>, QueryError> {
        let column = self.column;
        self.single(Token::Not);
        width(self.take_until(ends_word), column).map(Token::Within)
    }

    fn quoted(&mut self) -> Result<&'a str, QueryError> {
        let column = self.column;
        self.single(Token::Open);
        let text = self.take_until(is_quote);
        if self.rest.is_empty() {
            return Err(QueryError::OpenQuote { column });
        }
        self.single(Token::Close);
        Ok(text)
    }

    fn word(&mut self) -> Result<Token<'a>, QueryError> {
        let column = self.column;
        let word = self.take_until(ends_word);
        let Some((prefix, value)) = split_prefix(word) else {
            return Ok(match word {
                "OR" if self.has_operators => Token::Or,
                "AND" if self.has_operators => Token::And,
                "NOT" if self.has_operators => Token::Not,
                "OR" => Token::Term { field: None, text: "or" },
                "AND" => Token::Term { field: None, text: "and" },
                "NOT" => Token::Term { field: None, text: "not" },
                text => return window(text, column).unwrap_or_else(|| form(None, text, column)),
            });
        };
        let bare = |name, what| Err(QueryError::Bare { column, name, what });
        match prefix {
            Prefix::Field(field) if value.is_empty() && self.rest.starts_with(is_quote) => {
                Ok(Token::Phrase { field: Some(field), text: self.quoted()? })
            }
            Prefix::Field(field) if value.is_empty() => {
                bare(field.name(), "a word or a phrase in quotation marks")
            }
            Prefix::Field(field) => form(Some(field), value, column),
            Prefix::Site if value.is_empty() => bare("site", "a host name"),
            Prefix::Site => Ok(Token::Site(value)),
            Prefix::Language if value.is_empty() => bare("lang", "a language code"),
            Prefix::Language => Ok(Token::Language(value)),
            Prefix::FileType if value.is_empty() => bare("filetype", "a file extension"),
            Prefix::FileType => Ok(Token::FileType(value)),
            Prefix::Link if value.is_empty() && self.rest.starts_with(is_quote) => {
                Ok(Token::Link(self.quoted()?))
            }
            Prefix::Link if value.is_empty() => bare("link", "a URL"),
            Prefix::Link => Ok(Token::Link(value)),
            Prefix::Date if value.is_empty() => bare("date", "a date"),
            Prefix::Date => Ok(Token::Date(value)),
        }
    }
}

/// Returns whether a text is a sentence in capitals, in which `AND` is a word.
fn is_in_capitals(text: &str) -> bool {
    let is_word =
        |word: &&str| word.contains(char::is_uppercase) && !matches!(*word, "AND" | "OR" | "NOT");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut runs = words.split(|word| !is_word(word));
    !text.contains(char::is_lowercase) && runs.any(|run| run.len() >= SENTENCE_WORDS_MIN)
}

/// Parses the operator of a window. Returns `None` for other words.
fn window(word: &str, column: usize) -> Option<Result<Token<'_>, QueryError>> {
    let (name, digits) = word.split_once('/')?;
    let ordered = match name {
        "NEAR" => false,
        "BEFORE" => true,
        _ => return None,
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| width(digits, column).map(|width| Token::Near { ordered, width }))
}

fn width(digits: &str, column: usize) -> Result<u32, QueryError> {
    let width = digits.parse().ok().filter(|width| (1..=WIDTH_MAX).contains(width));
    width.ok_or(QueryError::Width { column, max: WIDTH_MAX })
}

/// Parses a word, a prefix or a fuzzy word.
fn form(field: Option<Field>, text: &str, column: usize) -> Result<Token<'_>, QueryError> {
    let beginning = text.trim_end_matches('*');
    if beginning.len() < text.len() && beginning.contains(char::is_alphanumeric) {
        return Ok(Token::Prefix { field, text: beginning });
    }
    let Some((word, number)) = text.rsplit_once('~') else {
        return Ok(Token::Term { field, text });
    };
    let is_number = number.starts_with(|c: char| c.is_ascii_digit())
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !is_number || !word.ends_with(char::is_alphanumeric) {
        return Ok(Token::Term { field, text });
    }
    match number.parse() {
        Ok(distance @ 1..=DISTANCE_MAX) => Ok(Token::Fuzzy { field, text: word, distance }),
        _ => Err(QueryError::Distance { column, word: word.to_owned(), max: DISTANCE_MAX }),
    }
}

pub(super) enum Prefix {
    Field(Field),
    Site,
    Language,
    FileType,
    Link,
    Date,
}

pub(super) fn split_prefix(word: &str) -> Option<(Prefix, &str)> {
    let (name, value) = word.split_once(':')?;
    let prefix = match name.to_ascii_lowercase().as_str() {
        "site" => Prefix::Site,
        "lang" => Prefix::Language,
        "filetype" => Prefix::FileType,
        "link" => Prefix::Link,
        "date" => Prefix::Date,
        name => Prefix::Field(Field::from_name(name)?),
    };
    Some((prefix, value))
}

/// Phones often type curly quotation marks.
fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

/// Returns whether the quotation mark at `at` is a letter, as in Hebrew abbreviations. The analysis of texts agrees
/// (`WB7b` and `WB7c` of UAX #29).
fn is_letter(text: &str, at: usize) -> bool {
    let is_hebrew = |c| matches!(c, '\u{5d0}'..='\u{5f2}' | '\u{fb1d}'..='\u{fb4f}');
    text[at..].strip_prefix('"').is_some_and(|after| after.starts_with(is_hebrew))
        && text[..at].ends_with(is_hebrew)
}

pub(super) fn ends_word(c: char) -> bool {
    c.is_whitespace() || is_quote(c) || matches!(c, '(' | ')' | '|')
}
