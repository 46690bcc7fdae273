//! Names before a colon that are none of the language's.
//!
//! What lives here: [`Query::unknown_field`], for whoever shows an answer. What does not: refusing such a query, for a
//! colon may be a part of what is searched for (`rdf:type`).
//!
//! **Invariant.** What is named is a word before a colon as people write fields: neither a scheme (`http://…`), nor a
//! host (`localhost:80`), nor a path of a language (`std::vec`).

use std::fmt;

use index::Field;

use super::Query;

/// A word that looks like a field and is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownField {
    /// As typed.
    pub name: String,
    /// What it was perhaps meant to be.
    pub meant: Option<&'static str>,
}

impl fmt::Display for UnknownField {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}:` is no field and was searched for as a word; ", self.name)?;
        if let Some(meant) = self.meant {
            return write!(out, "did you mean `{meant}:`?");
        }
        let known: Vec<String> = names().map(|name| format!("`{name}:`")).collect();
        write!(out, "there are {}", known.join(", "))
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    Field::ALL.into_iter().map(Field::name).chain(["site", "lang", "filetype", "link", "date"])
}

impl Query {
    /// The first word of the query that looks like a field and is none.
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
    // What stands in quotation marks is a phrase of its own.
    (is_name && value.chars().next().is_none_or(is_value)).then_some(name)
}

fn nearest(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    // Two letters lie between `author` and `anchor`.
    names().find(|known| strsim::osa_distance(&name, known) == 1)
}
