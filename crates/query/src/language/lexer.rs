//! Text of a query → tokens with their columns.
//!
//! **Invariant.** Columns are 1-based, count characters, and ascend.

use index::Field;

use crate::QueryError;

/// The smallest pieces of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    Or,
    And,
    Not,
    Term { field: Option<Field>, text: &'a str },
    Phrase { field: Option<Field>, text: &'a str },
    Site(&'a str),
    Language(&'a str),
}

/// A token and where it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexeme<'a> {
    pub(super) token: Token<'a>,
    pub(super) column: usize,
}

pub(super) fn lex(text: &str) -> Result<Vec<Lexeme<'_>>, QueryError> {
    let mut lexer = Lexer { rest: text, column: 1 };
    let mut lexemes: Vec<Lexeme<'_>> = Vec::new();
    loop {
        lexer.take_until(|c| !c.is_whitespace());
        let column = lexer.column;
        let Some(first) = lexer.rest.chars().next() else { return Ok(lexemes) };
        let token = match first {
            '(' => lexer.single(Token::Open),
            ')' => lexer.single(Token::Close),
            '|' => lexer.single(Token::Or),
            '-' if lexer.negates() => lexer.single(Token::Not),
            _ if is_quote(first) => Token::Phrase { field: None, text: lexer.quoted()? },
            _ => lexer.word()?,
        };
        let closes_nothing_inside =
            token == Token::Close && lexemes.last().is_some_and(|last| last.token == Token::Open);
        if closes_nothing_inside {
            lexemes.pop();
        } else {
            lexemes.push(Lexeme { token, column });
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    /// Of the first character of `rest`.
    column: usize,
}

impl<'a> Lexer<'a> {
    /// Steps up to the first character that `ends` it, unless that is part of a word.
    fn take_until(&mut self, ends: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.char_indices().find(|&(at, c)| ends(c) && !is_letter(self.rest, at));
        let (taken, rest) = self.rest.split_at(end.map_or(self.rest.len(), |(at, _)| at));
        self.rest = rest;
        self.column += taken.chars().count();
        taken
    }

    /// Steps over one character, which is `token`.
    fn single(&mut self, token: Token<'a>) -> Token<'a> {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
        self.column += 1;
        token
    }

    /// Whether the `-` that stands here belongs to what follows it.
    fn negates(&self) -> bool {
        let next = self.rest.chars().nth(1);
        next.is_some_and(|c| !c.is_whitespace() && c != ')' && c != '|')
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
                "OR" => Token::Or,
                "AND" => Token::And,
                "NOT" => Token::Not,
                text => Token::Term { field: None, text },
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
            Prefix::Field(field) => Ok(Token::Term { field: Some(field), text: value }),
            Prefix::Site if value.is_empty() => bare("site", "a host name"),
            Prefix::Site => Ok(Token::Site(value)),
            Prefix::Language if value.is_empty() => bare("lang", "a language code"),
            Prefix::Language => Ok(Token::Language(value)),
        }
    }
}

enum Prefix {
    Field(Field),
    Site,
    Language,
}

fn split_prefix(word: &str) -> Option<(Prefix, &str)> {
    let (name, value) = word.split_once(':')?;
    let prefix = match name.to_ascii_lowercase().as_str() {
        "site" => Prefix::Site,
        "lang" => Prefix::Language,
        name => Prefix::Field(Field::from_name(name)?),
    };
    Some((prefix, value))
}

/// Telephones like to type the curled ones.
fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

/// Whether the quotation mark at `at` is one of the letters around it, as in Hebrew abbreviations, and
/// for the analysis of texts too (`WB7b` and `WB7c` of UAX #29).
fn is_letter(text: &str, at: usize) -> bool {
    let is_hebrew = |c| matches!(c, '\u{5d0}'..='\u{5f2}' | '\u{fb1d}'..='\u{fb4f}');
    text[at..].strip_prefix('"').is_some_and(|after| after.starts_with(is_hebrew))
        && text[..at].ends_with(is_hebrew)
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || is_quote(c) || matches!(c, '(' | ')' | '|')
}
