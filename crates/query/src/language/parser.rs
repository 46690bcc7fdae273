//! Tokens → [`Query`], by recursive descent over the grammar in the header of `language`.
//!
//! **Invariant.** The recursion is as deep as the parentheses, so at most [`DEPTH_MAX`]. A chain of negations is a
//! loop.

use std::ops::Range;

use page::{Limits, Url, file_type, normalise};

use super::display::levels;
use super::lexer::{Lexeme, Token, lex};
use super::{DEPTH_MAX, DateRange, LENGTH_BYTES_MAX, Query, TERMS_MAX};
use crate::QueryError;

/// Parses a query.
pub fn parse(text: &str) -> Result<Query, QueryError> {
    if text.len() > LENGTH_BYTES_MAX {
        let read = text.floor_char_boundary(LENGTH_BYTES_MAX);
        let column = text[..read].chars().count() + 1;
        return Err(QueryError::TooLong { column, bytes_max: LENGTH_BYTES_MAX });
    }
    let lexemes = lex(text)?;
    if lexemes.is_empty() {
        return Err(QueryError::Empty);
    }
    let mut parser = Parser { lexemes: &lexemes, at: 0, words: 0 };
    let query = parser.alternatives(0)?;
    match parser.lexemes.get(parser.at) {
        None => Ok(query),
        // All other tokens continue a sequence or begin an alternative.
        Some(lexeme) => Err(QueryError::CloseParenthesis { column: lexeme.column }),
    }
}

struct Parser<'a> {
    lexemes: &'a [Lexeme<'a>],
    /// Index of the next lexeme.
    at: usize,
    /// Number of words so far.
    words: usize,
}

impl Parser<'_> {
    fn alternatives(&mut self, depth: usize) -> Result<Query, QueryError> {
        let mut branches = vec![self.sequence(depth)?];
        while self.eat(Token::Or) {
            branches.push(self.sequence(depth)?);
        }
        Ok(any_of(branches))
    }

    fn sequence(&mut self, depth: usize) -> Result<Query, QueryError> {
        let (mut parts, mut unwanted) = (Vec::new(), Vec::new());
        let mut follows_and = false;
        loop {
            let (mut negated, mut required) = (false, follows_and);
            loop {
                if self.eat(Token::Not) {
                    negated = !negated;
                } else if self.eat(Token::Plus) {
                    required = true;
                } else {
                    break;
                }
            }
            let part = self.near(depth)?;
            follows_and = self.eat(Token::And);
            if negated {
                unwanted.push(part);
            } else {
                parts.push((part, required || follows_and));
            }
            if !follows_and && matches!(self.peek(), None | Some(Token::Or | Token::Close)) {
                break;
            }
        }
        Ok(match (parts.is_empty(), unwanted.is_empty()) {
            (_, true) => side_by_side(parts),
            (true, false) => Query::Not(Box::new(any_of(unwanted))),
            (false, false) => {
                Query::AndNot(Box::new(side_by_side(parts)), Box::new(any_of(unwanted)))
            }
        })
    }

    /// Parses a factor, or a chain of windows. The printed form of a chain has parentheses that the text may lack;
    /// these count as well.
    fn near(&mut self, depth: usize) -> Result<Query, QueryError> {
        let start = self.at;
        let mut query = self.factor(depth)?;
        while let Some(&Lexeme { token: Token::Near { ordered, width }, column }) =
            self.lexemes.get(self.at)
        {
            self.at += 1;
            let is_negated = self.peek() == Some(Token::Not);
            self.check_places(start..self.at + usize::from(is_negated))?;
            let next = self.factor(depth)?;
            self.check_places(start..self.at)?;
            query = match query {
                Query::Near { ordered: o, width: w, mut parts } if (o, w) == (ordered, width) => {
                    parts.push(next);
                    Query::Near { ordered, width, parts }
                }
                query => Query::Near { ordered, width, parts: vec![query, next] },
            };
            if depth + levels(&query) > DEPTH_MAX {
                return Err(QueryError::TooDeep { column, max: DEPTH_MAX });
            }
        }
        Ok(query)
    }

    /// Checks that everything among these lexemes has positions in a text.
    fn check_places(&self, lexemes: Range<usize>) -> Result<(), QueryError> {
        let placeless =
            |lexeme: &Lexeme<'_>| lexeme.token.placeless().map(|what| (lexeme.column, what));
        match self.lexemes[lexemes].iter().find_map(placeless) {
            Some((column, what)) => Err(QueryError::InWindow { column, what }),
            None => Ok(()),
        }
    }

    fn factor(&mut self, depth: usize) -> Result<Query, QueryError> {
        let Some(&Lexeme { token, column }) = self.lexemes.get(self.at) else {
            return Err(self.missing_operand());
        };
        let query = match token {
            Token::Open => return self.group(depth),
            Token::Close
            | Token::Or
            | Token::And
            | Token::Not
            | Token::Plus
            | Token::Near { .. }
            | Token::Within(_) => return Err(self.missing_operand()),
            token => leaf(token, column)?,
        };
        self.at += 1;
        self.words += match token {
            Token::Phrase { text, .. } => text.split_whitespace().count().max(1),
            _ => 1,
        };
        if self.words > TERMS_MAX {
            return Err(QueryError::TooManyWords { column, max: TERMS_MAX });
        }
        Ok(match (query, self.width()) {
            (Query::Phrase { field, text }, Some(width)) => Query::Within { field, text, width },
            (query, _) => query,
        })
    }

    /// Parses an optional width. The lexer emits one only where it is valid.
    fn width(&mut self) -> Option<u32> {
        let Some(Token::Within(width)) = self.peek() else { return None };
        self.at += 1;
        Some(width)
    }

    fn group(&mut self, depth: usize) -> Result<Query, QueryError> {
        let (start, column) = (self.at, self.lexemes[self.at].column);
        if depth == DEPTH_MAX {
            return Err(QueryError::TooDeep { column, max: DEPTH_MAX });
        }
        self.at += 1;
        if self.peek().is_none() {
            return Err(QueryError::OpenParenthesis { column });
        }
        let query = self.alternatives(depth + 1)?;
        if !self.eat(Token::Close) {
            return Err(QueryError::OpenParenthesis { column });
        }
        let Some(width) = self.width() else { return Ok(query) };
        self.check_places(start..self.at)?;
        let parts = match query {
            Query::And(parts) | Query::Sequence(parts) => parts,
            query => vec![query],
        };
        Ok(Query::Near { ordered: false, width, parts })
    }

    /// Finds the cause of a missing operand.
    fn missing_operand(&self) -> QueryError {
        let before = self.at.checked_sub(1).and_then(|at| self.lexemes.get(at));
        let here = self.lexemes.get(self.at);
        let operators = [(before, "after"), (here, "before")];
        for (lexeme, side) in operators {
            let Some(&Lexeme { token, column }) = lexeme else { continue };
            let operator = match token {
                Token::Or => "OR",
                Token::And => "AND",
                Token::Not => "NOT",
                Token::Plus => "+",
                Token::Near { ordered: false, .. } => "NEAR",
                Token::Near { ordered: true, .. } => "BEFORE",
                _ => continue,
            };
            return QueryError::Operand { column, operator, side };
        }
        let column = here.map_or(1, |lexeme| lexeme.column);
        QueryError::CloseParenthesis { column }
    }

    fn peek(&self) -> Option<Token<'_>> {
        self.lexemes.get(self.at).map(|lexeme| lexeme.token)
    }

    fn eat(&mut self, token: Token<'_>) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }
}

/// Makes a query of a single token.
fn leaf(token: Token<'_>, column: usize) -> Result<Query, QueryError> {
    let own = str::to_owned;
    Ok(match token {
        Token::Prefix { field, text } => Query::Prefix { field, text: own(text) },
        Token::Fuzzy { field, text, distance } => Query::Fuzzy { field, text: own(text), distance },
        Token::Phrase { field, text } => Query::Phrase { field, text: own(text) },
        Token::Site(text) => Query::Site(host(text).ok_or_else(|| no_host(column, text))?),
        Token::Language(text) => {
            let error = || QueryError::Language { column, found: own(text) };
            Query::Language(language(text).ok_or_else(error)?)
        }
        Token::FileType(text) => {
            let error = || QueryError::FileType { column, found: own(text) };
            Query::FileType(file_type(text.trim_start_matches('.')).ok_or_else(error)?)
        }
        Token::Link(text) => {
            let error = || QueryError::Link { column, found: own(text) };
            Query::Link(link(text).ok_or_else(error)?)
        }
        Token::Date(text) => {
            let error = || QueryError::Date { column, found: own(text) };
            Query::Date(DateRange::read(text).ok_or_else(error)?)
        }
        Token::Term { field, text } => Query::Term { field, text: own(text) },
        operator => unreachable!("{operator:?} is no leaf"),
    })
}

/// Combines the parts of a sequence. The flag of each part says whether `+` or `AND` requires it.
fn side_by_side(parts: Vec<(Query, bool)>) -> Query {
    if parts.len() > 1 && parts.iter().all(|(_, required)| *required) {
        return one_or(parts.into_iter().map(|(part, _)| part).collect(), Query::And);
    }
    let mark = |(part, required): (Query, bool)| match part {
        part if required && part.is_plain() => Query::Required(Box::new(part)),
        part => part,
    };
    one_or(parts.into_iter().map(mark).collect(), Query::Sequence)
}

fn any_of(queries: Vec<Query>) -> Query {
    one_or(queries, Query::Or)
}

fn one_or(mut queries: Vec<Query>, many: fn(Vec<Query>) -> Query) -> Query {
    match queries.pop() {
        Some(only) if queries.is_empty() => only,
        last => {
            queries.extend(last);
            many(queries)
        }
    }
}

/// The host of `example.org`, `Example.org.`, `https://example.org/`. Returns `None` for a path or a port, which
/// would be ignored.
fn host(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let name = lower.strip_prefix("http://").or(lower.strip_prefix("https://")).unwrap_or(&lower);
    // The colons of an IPv6 address come before its bracket. `Url` drops the default port.
    if name.rsplit(']').next().is_some_and(|rest| rest.contains(':')) {
        return None;
    }
    let url = Url::parse(&format!("http://{}/", name.trim_end_matches('/'))).ok()?;
    let bare = url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.port().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    let whole = url.host_str().filter(|_| bare)?;
    let trimmed = whole.trim_matches('.');
    if trimmed.len() < whole.len() {
        // Without the dots it may have another meaning: `6` is an address, `6..` is not.
        return host(trimmed);
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.[]:".contains(c);
    (!whole.is_empty() && whole.chars().all(plain)).then(|| whole.to_owned())
}

/// The error for a text that is not a host.
fn no_host(column: usize, text: &str) -> QueryError {
    let bare = text.trim_end_matches('/').rsplit_once(':');
    let bare = bare.filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    match bare.and_then(|(bare, _)| host(bare)) {
        Some(host) => QueryError::Port { column, host },
        None => QueryError::Site { column, found: text.to_owned() },
    }
}

/// The normalised URL of `http://example.org/x`. The result for `example.org/x` has no scheme.
fn link(text: &str) -> Option<String> {
    let limits = Limits::default();
    let is_web = |scheme: &str| {
        text.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    };
    if is_web("http://") || is_web("https://") {
        return normalise(text, None, &limits).ok().map(|url| url.as_str().to_owned());
    }
    let url = normalise(&format!("http://{text}"), None, &limits).ok()?;
    let bare = url.as_str().strip_prefix("http://")?;
    // The URL must be read as written: no user, no empty host, no other scheme.
    let (host, _) = bare.split_once('/')?;
    let begins = text.get(..host.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(host));
    let is_said = begins || !text.is_ascii();
    (is_said && host.contains(['.', ':'])).then(|| bare.to_owned())
}

/// The language of `en`, `EN`, `en-GB`.
fn language(text: &str) -> Option<String> {
    let (code, _region) = text.split_once('-').unwrap_or((text, ""));
    let valid = matches!(code.len(), 2 | 3) && code.bytes().all(|byte| byte.is_ascii_alphabetic());
    valid.then(|| code.to_ascii_lowercase())
}
