//! [`Vector`]: the name of a vector of ranks.
//!
//! **Invariant.** A name that passes [`check_name`] has no dot. A file stem, `NAME` or `topic.NAME`, therefore
//! belongs to one vector only. No stem begins like a file of ranks by document.

use super::Centrality;

/// Maximum bytes of a name.
const NAME_BYTES_MAX: usize = 64;
/// Prefix of the stem of a topic.
const TOPIC: &str = "topic.";

/// The name of a vector with one value a page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vector {
    /// A rank of all pages: computed from the graph, or imported.
    Rank(String),
    /// `PageRank` in a topic.
    Topic(String),
}

impl Vector {
    /// `PageRank` in no topic.
    pub fn pagerank() -> Self {
        Self::Rank(Centrality::PageRank.name().to_owned())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Rank(name) | Self::Topic(name) => name,
        }
    }

    /// As files are called.
    pub(crate) fn stem(&self) -> String {
        match self {
            Self::Rank(name) => name.clone(),
            Self::Topic(name) => format!("{TOPIC}{name}"),
        }
    }

    /// The vector whose files are called so.
    pub(crate) fn of_stem(stem: &str) -> Option<Self> {
        let name = stem.strip_prefix(TOPIC).unwrap_or(stem);
        check_name(name).ok()?;
        let name = name.to_owned();
        Some(if stem.starts_with(TOPIC) { Self::Topic(name) } else { Self::Rank(name) })
    }
}

/// Checks the name of a rank or a topic. Returns the reason if it is not valid.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let is_plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    if !begins || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_plain) {
        return Err(format!(
            "a name has up to {NAME_BYTES_MAX} small letters, digits, `-` and `_`, and begins with a letter"
        ));
    }
    if name.starts_with("documents-") {
        return Err("no name begins with `documents-`".to_owned());
    }
    Ok(())
}
