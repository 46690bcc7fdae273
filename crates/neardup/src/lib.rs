//! Fingerprints of a text and how to find the close ones.
//!
//! What lives here: [`fingerprint`], made of a digest and a SimHash; [`PermutedTables`], which
//! finds close SimHashes; [`fold`], which makes clusters. What does not: HTML and files.

#![forbid(unsafe_code)]

mod cluster;
mod simhash;
mod tables;

use serde::{Deserialize, Serialize};

pub use cluster::fold;
pub use simhash::simhash;
pub use tables::PermutedTables;

/// When two pages are the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Greatest Hamming distance of two SimHashes that are folded.
    pub distance_max: u32,
    /// Pages of fewer words are folded only if their digests are equal.
    pub words_min: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config { distance_max: 3, words_min: 20 }
    }
}

/// What is kept of a text to recognise it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Close for close texts.
    pub simhash: u64,
    /// Equal for texts that are equal without case, digits, dates, punctuation and white space.
    pub digest: u64,
    /// Words that count.
    pub words: u32,
}

/// The fingerprint of `text`.
pub fn fingerprint(text: &str) -> Fingerprint {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !word.contains(|c: char| c.is_numeric()))
        .map(str::to_lowercase)
        .collect();
    let hash = |text: &str| xxhash_rust::xxh3::xxh3_64(text.as_bytes());
    Fingerprint {
        simhash: simhash(words.windows(2).map(|pair| hash(&pair.join(" "))), 64),
        digest: hash(&words.join(" ")),
        words: u32::try_from(words.len()).unwrap_or(u32::MAX),
    }
}
