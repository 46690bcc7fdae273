//! A filter as a tree: evaluation and formatting.
//!
//! What lives here: [`Expression`] and its parts. What does not: parsing (`parser.rs`).
//!
//! **Invariant.** Evaluation does not allocate. The formatted text parses to the same tree.

use std::fmt;

use regex::Regex;

use super::field::{Facts, Field};
use super::lexer::is_of_word;

#[derive(Debug, PartialEq)]
pub(super) enum Expression {
    /// All of them hold; at least two, none itself an `And`.
    And(Vec<Expression>),
    /// One of them holds; at least two, none itself an `Or`.
    Or(Vec<Expression>),
    Not(Box<Expression>),
    Text(Field, TextTest),
    Number(Field, Comparison, u64),
    NumberIn(Field, Vec<u64>),
    Flag(Field, bool),
}

#[derive(Debug, PartialEq)]
pub(super) enum TextTest {
    Equal(String),
    Unequal(String),
    Matches(Pattern),
    MatchesNot(Pattern),
    In(Vec<String>),
}

/// A regular expression, and its source.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) source: String,
    pub(super) regex: Regex,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.source == other.source
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Comparison {
    const ALL: [(Comparison, &'static str); 6] = [
        (Comparison::Equal, "="),
        (Comparison::Unequal, "!="),
        (Comparison::Less, "<"),
        (Comparison::AtMost, "<="),
        (Comparison::Greater, ">"),
        (Comparison::AtLeast, ">="),
    ];

    pub(super) fn of_sign(sign: &str) -> Option<Comparison> {
        Comparison::ALL
            .into_iter()
            .find(|(_, known)| *known == sign)
            .map(|(comparison, _)| comparison)
    }

    fn sign(self) -> &'static str {
        let known = Comparison::ALL.into_iter().find(|(comparison, _)| *comparison == self);
        known.map_or("=", |(_, sign)| sign)
    }

    fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::Unequal => left != right,
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::Greater => left > right,
            Comparison::AtLeast => left >= right,
        }
    }
}

impl Expression {
    pub(super) fn holds(&self, facts: &Facts<'_>) -> bool {
        match self {
            Expression::And(parts) => parts.iter().all(|part| part.holds(facts)),
            Expression::Or(parts) => parts.iter().any(|part| part.holds(facts)),
            Expression::Not(part) => !part.holds(facts),
            Expression::Text(field, test) => test.holds(*field, field.text(facts)),
            Expression::Number(field, comparison, value) => {
                comparison.holds(field.number(facts), *value)
            }
            Expression::NumberIn(field, values) => values.contains(&field.number(facts)),
            Expression::Flag(field, value) => field.flag(facts) == *value,
        }
    }

    pub(super) fn any_field(&self, is_it: &mut dyn FnMut(Field) -> bool) -> bool {
        match self {
            Expression::And(parts) | Expression::Or(parts) => {
                parts.iter().any(|part| part.any_field(is_it))
            }
            Expression::Not(part) => part.any_field(is_it),
            Expression::Text(field, _)
            | Expression::Number(field, ..)
            | Expression::NumberIn(field, _)
            | Expression::Flag(field, _) => is_it(*field),
        }
    }

    /// Returns whether it needs parentheses inside `and` and `not`.
    fn is_compound(&self) -> bool {
        matches!(self, Expression::And(_) | Expression::Or(_))
    }
}

impl TextTest {
    fn holds(&self, field: Field, value: &str) -> bool {
        let is = |wanted: &String| {
            if field.ignores_case() { value.eq_ignore_ascii_case(wanted) } else { value == wanted }
        };
        match self {
            TextTest::Equal(wanted) => is(wanted),
            TextTest::Unequal(wanted) => !is(wanted),
            TextTest::Matches(pattern) => pattern.regex.is_match(value),
            TextTest::MatchesNot(pattern) => !pattern.regex.is_match(value),
            TextTest::In(wanted) => wanted.iter().any(is),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = |out: &mut fmt::Formatter<'_>, part: &Expression| {
            if part.is_compound() { write!(out, "({part})") } else { part.fmt(out) }
        };
        match self {
            Expression::And(parts) => joined(out, parts, " and ", inner),
            Expression::Or(parts) => joined(out, parts, " or ", |out, part| match part {
                Expression::Or(_) => inner(out, part),
                _ => part.fmt(out),
            }),
            Expression::Not(part) => {
                out.write_str("not ")?;
                inner(out, part)
            }
            Expression::Text(field, test) => {
                out.write_str(field.name())?;
                match test {
                    TextTest::Equal(value) => write!(out, " = {}", Value(value)),
                    TextTest::Unequal(value) => write!(out, " != {}", Value(value)),
                    TextTest::Matches(pattern) => write!(out, " ~ {}", Value(&pattern.source)),
                    TextTest::MatchesNot(pattern) => write!(out, " !~ {}", Value(&pattern.source)),
                    TextTest::In(values) => {
                        out.write_str(" in (")?;
                        joined(out, values, ", ", |out, value| Value(value).fmt(out))?;
                        out.write_str(")")
                    }
                }
            }
            Expression::Number(field, comparison, value) => {
                write!(out, "{} {} {value}", field.name(), comparison.sign())
            }
            Expression::NumberIn(field, values) => {
                write!(out, "{} in (", field.name())?;
                joined(out, values, ", ", |out, value| value.fmt(out))?;
                out.write_str(")")
            }
            Expression::Flag(field, value) => write!(out, "{} = {value}", field.name()),
        }
    }
}

fn joined<T>(
    out: &mut fmt::Formatter<'_>,
    parts: &[T],
    between: &str,
    write: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            out.write_str(between)?;
        }
        write(out, part)?;
    }
    Ok(())
}

/// Formats a value: in quotes, unless it can be read as a word.
struct Value<'a>(&'a str);

impl fmt::Display for Value<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.is_empty() && self.0.chars().all(is_of_word) {
            return out.write_str(self.0);
        }
        write!(out, "\"{}\"", self.0.replace('"', "\\\""))
    }
}
