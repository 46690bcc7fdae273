//! [`Query`] → text that [`parse`](super::parse) reads back; but for [`Query::Any`], which no text parses to.
//!
//! **Invariant.** No parenthesis is printed that the parsed text did not have, so printing never
//! exceeds the depth that parsing allows. For that a negated `OR` is printed as several negations:
//! `a -b -c` is how `AndNot(a, Or[b, c])` came about.

use std::fmt::{Display, Formatter, Result};

use super::Query;

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Term { field, text } => {
                prefix(f, field.map(index::Field::name))?;
                f.write_str(text)
            }
            Self::Phrase { field, text } => {
                prefix(f, field.map(index::Field::name))?;
                write!(f, "\"{text}\"")
            }
            Self::Site(host) => write!(f, "site:{host}"),
            Self::Language(code) => write!(f, "lang:{code}"),
            Self::And(parts) => separated(f, parts, " ", factor),
            Self::Or(branches) => separated(f, branches, " OR ", |f, branch| match branch {
                Self::Or(_) => factor(f, branch),
                _ => branch.fmt(f),
            }),
            Self::AndNot(wanted, unwanted) => {
                match **wanted {
                    Self::And(_) => wanted.fmt(f)?,
                    _ => factor(f, wanted)?,
                }
                f.write_str(" ")?;
                negated(f, unwanted)
            }
            Self::Not(unwanted) => negated(f, unwanted),
            Self::Any(text) => write!(f, "any of: {text}"),
        }
    }
}

fn prefix(f: &mut Formatter<'_>, name: Option<&str>) -> Result {
    name.map_or(Ok(()), |name| write!(f, "{name}:"))
}

/// As part of a sequence: in parentheses unless it is one word.
fn factor(f: &mut Formatter<'_>, query: &Query) -> Result {
    match query {
        Query::Term { .. } | Query::Phrase { .. } | Query::Site(_) | Query::Language(_) => {
            query.fmt(f)
        }
        _ => write!(f, "({query})"),
    }
}

fn negated(f: &mut Formatter<'_>, query: &Query) -> Result {
    let minus = |f: &mut Formatter<'_>, query: &Query| {
        f.write_str("-")?;
        factor(f, query)
    };
    match query {
        Query::Or(branches) => separated(f, branches, " ", minus),
        _ => minus(f, query),
    }
}

fn separated(
    f: &mut Formatter<'_>,
    queries: &[Query],
    separator: &str,
    mut print: impl FnMut(&mut Formatter<'_>, &Query) -> Result,
) -> Result {
    for (number, query) in queries.iter().enumerate() {
        if number > 0 {
            f.write_str(separator)?;
        }
        print(f, query)?;
    }
    Ok(())
}
