//! [`Query`] → text that [`parse`](super::parse) reads back.
//!
//! Operators are printed as signs, because words in capitals are no operators in a sentence in capitals.
//!
//! **Invariant.** Printing never exceeds the depth that parsing allows: it adds no parentheses, except those of
//! windows written with `NEAR`, which parsing counts. So
//! `AndNot(a, Or[b, c])` is printed as several negations: `a -b -c`.

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
            Self::Prefix { field, text } => {
                prefix(f, field.map(index::Field::name))?;
                write!(f, "{text}*")
            }
            Self::Fuzzy { field, text, distance } => {
                prefix(f, field.map(index::Field::name))?;
                write!(f, "{text}~{distance}")
            }
            Self::Within { field, text, width } => {
                prefix(f, field.map(index::Field::name))?;
                write!(f, "\"{text}\"~{width}")
            }
            Self::Near { ordered, width, parts } => window(f, *ordered, *width, parts),
            Self::FileType(ending) => write!(f, "filetype:{ending}"),
            Self::Link(url) if url.contains(super::lexer::ends_word) => write!(f, "link:\"{url}\""),
            Self::Link(url) => write!(f, "link:{url}"),
            Self::Date(range) => write!(f, "date:{range}"),
            Self::Site(host) => write!(f, "site:{host}"),
            Self::Language(code) => write!(f, "lang:{code}"),
            Self::Sequence(parts) => separated(f, parts, " ", factor),
            Self::Required(part) => required(f, part),
            Self::And(parts) => separated(f, parts, " ", required),
            Self::Or(branches) => separated(f, branches, " | ", |f, branch| match branch {
                Self::Or(_) => factor(f, branch),
                _ => branch.fmt(f),
            }),
            Self::AndNot(wanted, unwanted) => {
                match **wanted {
                    Self::And(_) | Self::Sequence(_) => wanted.fmt(f)?,
                    _ => factor(f, wanted)?,
                }
                f.write_str(" ")?;
                negated(f, unwanted)
            }
            Self::Not(unwanted) => negated(f, unwanted),
        }
    }
}

fn prefix(f: &mut Formatter<'_>, name: Option<&str>) -> Result {
    name.map_or(Ok(()), |name| write!(f, "{name}:"))
}

/// Prints a part of a sequence, in parentheses if necessary.
fn factor(f: &mut Formatter<'_>, query: &Query) -> Result {
    match query {
        Query::Sequence(_) | Query::And(_) | Query::Or(_) | Query::AndNot(..) | Query::Not(_) => {
            write!(f, "({query})")
        }
        _ => query.fmt(f),
    }
}

fn window(f: &mut Formatter<'_>, ordered: bool, width: u32, parts: &[Query]) -> Result {
    let operand = |f: &mut Formatter<'_>, part: &Query| match part {
        Query::Near { ordered: true, .. } => write!(f, "({part})"),
        _ => factor(f, part),
    };
    match parts {
        _ if ordered => separated(f, parts, &format!(" BEFORE/{width} "), operand),
        [only] => write!(f, "({only})~{width}"),
        _ => {
            f.write_str("(")?;
            separated(f, parts, " ", factor)?;
            write!(f, ")~{width}")
        }
    }
}

/// The nesting depth of the parentheses in the printed query.
pub(super) fn levels(query: &Query) -> usize {
    let inside = |queries: &[Query]| {
        let level = |query: &Query| {
            let apart = match query {
                Query::Sequence(_)
                | Query::And(_)
                | Query::Or(_)
                | Query::AndNot(..)
                | Query::Not(_) => true,
                Query::Near { ordered, .. } => *ordered,
                _ => false,
            };
            usize::from(apart) + levels(query)
        };
        queries.iter().map(level).max().unwrap_or(0)
    };
    match query {
        Query::Sequence(queries) | Query::And(queries) | Query::Or(queries) => inside(queries),
        Query::Required(part) => inside(std::slice::from_ref(part)),
        Query::AndNot(wanted, unwanted) => 1 + levels(wanted).max(levels(unwanted)),
        Query::Not(unwanted) => 1 + levels(unwanted),
        Query::Near { ordered, parts, .. } => usize::from(!ordered) + inside(parts),
        _ => 0,
    }
}

fn required(f: &mut Formatter<'_>, query: &Query) -> Result {
    f.write_str("+")?;
    factor(f, query)
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
