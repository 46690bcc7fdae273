//! [`Vector`]: the name of a vector of ranks.
//!
//! What lives here: the names of vectors and of their files. What does not: their values (`ranks/`).
//!
//! **Invariant.** A name that passes [`Vector::check_name`] has no dot. A file stem, `NAME` or `topic.NAME`, therefore
//! belongs to one vector only. No stem begins like a file of ranks by document.

/// Maximum bytes of a name.
const NAME_BYTES_MAX: usize = 64;
/// Prefix of the stem of a topic.
const TOPIC: &str = "topic.";

/// A vector that is computed for every graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Centrality {
    /// `PageRank` in no topic.
    PageRank,
    /// The number of links to a page.
    InDegree,
}

impl Centrality {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::PageRank, Self::InDegree];

    /// The name of its vector.
    pub fn name(self) -> &'static str {
        match self {
            Self::PageRank => "pagerank",
            Self::InDegree => "in-degree",
        }
    }

    /// Returns whether a computed vector has this name. Imports may not use it.
    pub fn has_name(name: &str) -> bool {
        Self::ALL.iter().any(|centrality| centrality.name() == name)
    }
}

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
        Self::check_name(name).ok()?;
        let name = name.to_owned();
        Some(if stem.starts_with(TOPIC) { Self::Topic(name) } else { Self::Rank(name) })
    }

    /// Checks the name of a rank or a topic. Returns the reason if it is not valid.
    pub fn check_name(name: &str) -> Result<(), String> {
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
}
