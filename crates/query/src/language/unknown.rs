//! Finds unknown field names in queries.
//!
//! What lives here: [`Query::unknown_field`], for a hint with the results. What does not: an error, because a colon
//! may be part of a word (`rdf:type`).
//!
//! **Invariant.** Only words that look like field names are reported: no schemes (`http://…`), hosts
//! (`localhost:80`) or paths of a programming language (`std::vec`).

use std::fmt;

use index::Field;

use super::Query;

/// A word that looks like a field but is not one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownField {
    /// As typed.
    pub name: String,
    /// The field that was perhaps meant.
    pub meant: Option<&'static str>,
}

impl fmt::Display for UnknownField {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}:` is not a field and was searched for as a word; ", self.name)?;
        if let Some(meant) = self.meant {
            return write!(out, "did you mean `{meant}:`?");
        }
        let known: Vec<String> = names().map(|name| format!("`{name}:`")).collect();
        write!(out, "fields are {}", known.join(", "))
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    Field::ALL.into_iter().map(Field::name).chain(["site", "lang", "filetype", "link", "date"])
}

impl Query {
    /// The first word of the query that looks like a field but is not one.
    pub fn unknown_field(&self) -> Option<UnknownField> {
        let mut left = vec![self];
        while let Some(query) = left.pop() {
            match query {
                Query::Term { field: None, text }
                | Query::Prefix { field: None, text }
                | Query::Fuzzy { field: None, text, .. } => {
                    if let Some(name) = field_like(text) {
                        return Some(UnknownField { name: name.to_owned(), meant: nearest(name) });
                    }
                }
                Query::Sequence(queries)
                | Query::And(queries)
                | Query::Or(queries)
                | Query::Near { parts: queries, .. } => left.extend(queries.iter().rev()),
                Query::Required(part) => left.push(part),
                Query::AndNot(wanted, unwanted) => left.extend([&**unwanted, &**wanted]),
                Query::Not(unwanted) => left.push(unwanted),
                _ => {}
            }
        }
        None
    }
}

fn field_like(text: &str) -> Option<&str> {
    let (name, value) = text.split_once(':')?;
    let is_name = !name.is_empty() && name.chars().all(char::is_alphabetic);
    let is_value = |c: char| !c.is_ascii_digit() && c != '/' && c != ':';
    // Text in quotation marks is a separate phrase.
    (is_name && value.chars().next().is_none_or(is_value)).then_some(name)
}

fn nearest(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    // `author` and `anchor` have distance 2.
    names().find(|known| strsim::osa_distance(&name, known) == 1)
}
