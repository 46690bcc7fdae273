//! The recursive-descent parser of filters.
//!
//! What lives here: the grammar and its errors. What does not: characters (`lexer.rs`).
//!
//! **Invariant.** Any text is a filter or an error with a column. Nesting is bounded, and so is the stack.

use regex::RegexBuilder;

use super::FilterError;
use super::expression::{Comparison, Expression, Pattern, TextTest};
use super::field::{Field, Kind, Point};
use super::lexer::{self, Placed, Token};

/// Maximum nesting of parentheses and `not`.
const NESTING_MAX: usize = 64;
/// Maximum bytes of a compiled pattern.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// The least similarity of a misspelt word to its suggestion.
const LIKENESS_MIN: f64 = 0.7;

pub(super) fn parse(text: &str, point: Point) -> Result<Expression, FilterError> {
    let tokens = lexer::cut(text)?;
    let mut parser = Parser { text, point, tokens, at: 0, nesting: 0 };
    let expression = parser.or()?;
    match parser.tokens.get(parser.at) {
        None => Ok(expression),
        Some((token, column)) => {
            let words = ["and", "or"];
            let suggestion = match token {
                Token::Word(word) => nearest(word, words.into_iter()),
                _ => None,
            };
            let why =
                format!("here the filter should end, or go on with `and` or `or`{}", said(token));
            Err(parser.error(*column, why, suggestion))
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    point: Point,
    tokens: Vec<Placed>,
    at: usize,
    nesting: usize,
}

impl Parser<'_> {
    fn or(&mut self) -> Result<Expression, FilterError> {
        self.chain("or", Parser::and, Expression::Or)
    }

    fn and(&mut self) -> Result<Expression, FilterError> {
        self.chain("and", Parser::not, Expression::And)
    }

    fn chain(
        &mut self,
        word: &str,
        part: fn(&mut Self) -> Result<Expression, FilterError>,
        join: fn(Vec<Expression>) -> Expression,
    ) -> Result<Expression, FilterError> {
        let first = part(self)?;
        let mut parts = Vec::new();
        while self.take_word(word) {
            parts.push(part(self)?);
        }
        if parts.is_empty() {
            return Ok(first);
        }
        parts.insert(0, first);
        Ok(join(flat(parts, word)))
    }

    fn not(&mut self) -> Result<Expression, FilterError> {
        let column = self.column();
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return Err(self.error(column, format!("nested deeper than {NESTING_MAX}"), None));
        }
        let expression = if self.take_word("not") {
            Expression::Not(Box::new(self.not()?))
        } else {
            self.primary()?
        };
        self.nesting -= 1;
        Ok(expression)
    }

    fn primary(&mut self) -> Result<Expression, FilterError> {
        let column = self.column();
        match self.next() {
            Some(Token::Open) => {
                let inner = self.or()?;
                self.close(column)?;
                Ok(inner)
            }
            Some(Token::Word(name)) => {
                let field = self.field(&name, column)?;
                self.test(field)
            }
            token => {
                let why = format!("a field is expected, such as `host`{}", said_of(token.as_ref()));
                Err(self.error(column, why, None))
            }
        }
    }

    fn field(&self, name: &str, column: usize) -> Result<Field, FilterError> {
        let Some(field) = Field::ALL.into_iter().find(|field| field.name() == name) else {
            let names = Field::ALL.into_iter().map(Field::name).chain(["not"]);
            let suggestion = nearest(&name.to_ascii_lowercase(), names);
            return Err(self.error(column, format!("`{name}` is no field"), suggestion));
        };
        if field.points().contains(&self.point) {
            return Ok(field);
        }
        let points: Vec<&str> = field.points().iter().map(|point| point.key()).collect();
        let why = format!(
            "`{name}` is not known in `{}`, only in {}",
            self.point.key(),
            points.join(", ")
        );
        Err(self.error(column, why, None))
    }

    /// Parses what comes after a field.
    fn test(&mut self, field: Field) -> Result<Expression, FilterError> {
        let column = self.column();
        if self.take_word("in") {
            return self.list(field, column);
        }
        let Some((Token::Sign(sign), _)) = self.tokens.get(self.at) else {
            if field.kind() == Kind::Flag {
                return Ok(Expression::Flag(field, true));
            }
            let why = format!(
                "after `{}` a comparison is expected: = != < <= > >= ~ !~ in",
                field.name()
            );
            return Err(self.error(column, why, None));
        };
        let sign = *sign;
        self.at += 1;
        let place = self.column();
        let value = self.value()?;
        match (field.kind(), sign) {
            (Kind::Text, "=") => Ok(Expression::Text(field, TextTest::Equal(value))),
            (Kind::Text, "!=") => Ok(Expression::Text(field, TextTest::Unequal(value))),
            (Kind::Text, "~") => {
                Ok(Expression::Text(field, TextTest::Matches(self.pattern(value, field, place)?)))
            }
            (Kind::Text, "!~") => Ok(Expression::Text(
                field,
                TextTest::MatchesNot(self.pattern(value, field, place)?),
            )),
            (Kind::Number, _) => {
                let Some(comparison) = Comparison::of_sign(sign) else {
                    return Err(self.mismatch(field, "a number", sign, column));
                };
                Ok(Expression::Number(field, comparison, self.number(&value, field, place)?))
            }
            (Kind::Flag, "=" | "!=") => {
                let truth = match value.as_str() {
                    "true" => true,
                    "false" => false,
                    _ => {
                        let why = format!("`{}` is true or false, not {value:?}", field.name());
                        let suggestion = nearest(&value, ["true", "false"].into_iter());
                        return Err(self.error(place, why, suggestion));
                    }
                };
                Ok(Expression::Flag(field, truth == (sign == "=")))
            }
            (Kind::Text, _) => Err(self.mismatch(field, "text", sign, column)),
            (Kind::Flag, _) => Err(self.mismatch(field, "true or false", sign, column)),
        }
    }

    fn list(&mut self, field: Field, column: usize) -> Result<Expression, FilterError> {
        if field.kind() == Kind::Flag {
            return Err(self.mismatch(field, "true or false", "in", column));
        }
        let open = self.column();
        if self.next() != Some(Token::Open) {
            return Err(self.error(open, "after `in` a list is expected: (a, b)".to_owned(), None));
        }
        let (mut texts, mut numbers) = (Vec::new(), Vec::new());
        loop {
            let place = self.column();
            let value = self.value()?;
            if field.kind() == Kind::Number {
                numbers.push(self.number(&value, field, place)?);
            } else {
                texts.push(value);
            }
            if !matches!(self.tokens.get(self.at), Some((Token::Comma, _))) {
                break;
            }
            self.at += 1;
        }
        self.close(open)?;
        Ok(match field.kind() {
            Kind::Number => Expression::NumberIn(field, numbers),
            _ => Expression::Text(field, TextTest::In(texts)),
        })
    }

    fn value(&mut self) -> Result<String, FilterError> {
        let column = self.column();
        match self.next() {
            Some(Token::Word(value) | Token::Quoted(value)) => Ok(value),
            token => {
                let why = format!("a value is expected{}", said_of(token.as_ref()));
                Err(self.error(column, why, None))
            }
        }
    }

    fn number(&self, value: &str, field: Field, column: usize) -> Result<u64, FilterError> {
        value.parse().map_err(|_| {
            let why = format!("`{}` is a number, and {value:?} is none", field.name());
            self.error(column, why, None)
        })
    }

    fn pattern(&self, source: String, field: Field, column: usize) -> Result<Pattern, FilterError> {
        let regex = RegexBuilder::new(&source)
            .case_insensitive(field.ignores_case())
            .size_limit(PATTERN_BYTES_MAX)
            .dfa_size_limit(PATTERN_BYTES_MAX)
            .build();
        match regex {
            Ok(regex) => Ok(Pattern { source, regex }),
            Err(error) => {
                // The last line of the message says what is wrong; the lines above draw.
                let message = error.to_string();
                let line = message.lines().last().unwrap_or_default().trim();
                let line = line.trim_start_matches("error: ");
                Err(self.error(column, format!("no regular expression: {line}"), None))
            }
        }
    }

    fn close(&mut self, open: usize) -> Result<(), FilterError> {
        let column = self.column();
        if self.next() == Some(Token::Close) {
            return Ok(());
        }
        let why = format!("the parenthesis of column {open} should be closed here");
        Err(self.error(column, why, None))
    }

    fn mismatch(&self, field: Field, kind: &str, sign: &str, column: usize) -> FilterError {
        self.error(
            column,
            format!("`{}` is {kind}, for which there is no `{sign}`", field.name()),
            None,
        )
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_it =
            matches!(self.tokens.get(self.at), Some((Token::Word(found), _)) if found == word);
        self.at += usize::from(is_it);
        is_it
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).map(|(token, _)| token.clone());
        self.at += 1;
        token
    }

    /// Returns the column of the next token, or of the end.
    fn column(&self) -> usize {
        let end = || self.text.trim_end().chars().count() + 1;
        self.tokens.get(self.at).map_or_else(end, |&(_, column)| column)
    }

    fn error(&self, column: usize, why: String, suggestion: Option<String>) -> FilterError {
        FilterError { text: self.text.to_owned(), column, why, suggestion }
    }
}

/// Flattens a chain: parts in parentheses that are a chain of the same word are merged into it.
fn flat(parts: Vec<Expression>, word: &str) -> Vec<Expression> {
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Expression::And(inner) if word == "and" => all.extend(inner),
            Expression::Or(inner) if word == "or" => all.extend(inner),
            part => all.push(part),
        }
    }
    all
}

fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let likeness = |name: &str| strsim::jaro_winkler(word, name);
    let best = names.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) >= LIKENESS_MIN).then(|| best.to_owned())
}

fn said_of(token: Option<&Token>) -> String {
    token.map_or_else(String::new, said)
}

fn said(token: &Token) -> String {
    match token {
        Token::Word(word) => format!(", not `{word}`"),
        Token::Quoted(value) => format!(", not {value:?}"),
        Token::Sign(sign) => format!(", not `{sign}`"),
        Token::Open => ", not `(`".to_owned(),
        Token::Close => ", not `)`".to_owned(),
        Token::Comma => ", not `,`".to_owned(),
    }
}
