//! [`Vector`]: the name of a vector of ranks.
//!
//! **Invariant.** A name that [`check_name`] lets pass has no dot, so that the stem of a file, `NAME` or `topic.NAME`, is
//! of one vector only, and no stem begins as a file of documents does.

use super::Centrality;

/// Letters of a name.
const NAME_BYTES_MAX: usize = 64;
/// How the stems of topics begin.
const TOPIC: &str = "topic.";

/// One value a page, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vector {
    /// A rank of all pages: computed of the graph, or brought by the user.
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

/// Whether a rank or a topic can be called so; if not, why.
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
