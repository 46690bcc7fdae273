//! Fingerprints of a text and how to find the close ones.
//!
//! What lives here: [`fingerprint`], a digest that is equal for texts equal after
//! normalisation and a [`simhash`] that is close for close texts; [`PermutedTables`], which finds
//! the close ones without comparing all with all; [`fold`], which makes clusters of them. Two pages that
//! name different things by words with digits, as those of two spare parts do, are not close. What
//! does not: HTML, URLs, files. A fingerprint sees text, a table sees numbers.
//!
//! **Invariant.** A fingerprint depends on the text alone. It is stored, so that whoever stores it makes it anew where a
//! version changes it (golden tests in `tests/it/golden.rs`).
//!
//! ```
//! use neardup::{Config, fingerprint, fold};
//!
//! let pages = [
//!     "Opening hours, last changed on Monday, 3 March 2025",
//!     "A page about something else",
//!     "Opening hours, last changed on Friday 27 June 2025",
//! ];
//! assert_eq!(fold(&pages.map(fingerprint), &Config::default()), [0, 1, 0]);
//! ```

#![forbid(unsafe_code)]

mod cluster;
mod dates;
mod digest;
mod letter;
mod simhash;
mod tables;
mod words;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

pub use cluster::fold;
pub use simhash::simhash;
pub use tables::PermutedTables;

/// When two pages are taken for the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Pages with the same identifiers whose `SimHash`es differ in at most so many of 64 bits are folded. Any number is
    /// correct; beyond about 8 unrelated pages begin to fold, and the search gets slow.
    pub distance_max: u32,
    /// Pages of fewer words are folded only if they are equal but for case, digits, dates,
    /// punctuation and white space: a `SimHash` of few words says little.
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
    /// The [`simhash`] of the pairs of neighbouring words, or of what stands for them in scripts without spaces, in 64 bits.
    pub simhash: u64,
    /// Equal for texts that differ in case, digits, dates, punctuation and white space only.
    pub digest: u64,
    /// Which words with digits there are that name a thing (`BM1690`, `v2.3`), however often; 0 for none.
    /// Pages in which these differ are never folded.
    pub identifiers: u64,
    /// How many words there are that hold no digit and belong to no date; at most 2³² – 1.
    pub words: u32,
}

/// The fingerprint of `text`.
///
/// The features of the `SimHash` are pairs of neighbouring words, as often as they occur; the
/// first word is paired with the beginning. Of single words, pairs and triples, with and without
/// repetitions, these tolerate most edits without folding unrelated texts: on 4,000 abstracts of
/// 185 words on average, 72 % stay within 3 bits when a word is changed (triples: 52 %), and the
/// one pair within 3 bits is one text twice. Single words tolerate more (95 %) but bring 107 pairs
/// together, because the frequent words outvote all others.
///
/// In scripts written without spaces a word is a character, so the features are pairs of characters. Where there are
/// few of these, as in Thai and Hiragana and unlike in Chinese, all long texts have the same pairs: there they are six
/// characters in a row. Of 24 texts of 400 words in each of Thai, Lao, Burmese, Khmer and Hiragana the closest two are
/// 11 to 22 bits apart (three in a row: 3 to 8, four: 5 to 13; pairs of words with spaces between them: 12), and 18 to
/// 24 texts stay within 3 bits when a word is changed (of those with spaces: 23).
///
/// ```
/// let print = neardup::fingerprint("The time is 12:45, 3 May 2024");
/// assert_eq!(print, neardup::fingerprint("the TIME   is 9.15 (4 June 2025)"));
/// assert_eq!(print.words, 3);
/// assert_ne!(neardup::fingerprint("pump BM1690"), neardup::fingerprint("pump BM1691"));
/// ```
pub fn fingerprint(text: &str) -> Fingerprint {
    let mut features = Vec::new();
    // The pairs that end with this word, with the one before, …
    let (mut pairs, mut previous) = ([0; 5], 0);
    let whole = words::each(text, |word| {
        let hash = xxh3_64(word);
        pairs.rotate_right(1);
        pairs[0] = pair(previous, hash);
        previous = hash;
        let [last, _, middle, _, first] = pairs;
        let is_of_few = letter::is_of_few(word);
        features.push(if is_of_few { pair(pair(first, middle), last) } else { last });
    });
    let words = features.len();
    Fingerprint {
        simhash: simhash(features.into_iter(), u64::BITS),
        digest: digest::digest(&whole.letters),
        identifiers: identity(whole.identifiers),
        words: u32::try_from(words).unwrap_or(u32::MAX),
    }
}

/// One number for a set of hashes.
fn identity(mut hashes: Vec<u64>) -> u64 {
    hashes.sort_unstable();
    hashes.dedup();
    hashes.into_iter().fold(0, pair)
}

/// The hash of two neighbouring words, from their hashes.
fn pair(first: u64, second: u64) -> u64 {
    let both = u128::from(first) | u128::from(second) << 64;
    xxh3_64(&both.to_le_bytes())
}
