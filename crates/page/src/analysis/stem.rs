//! The stemmers by name.
//!
//! An analysis has one stemmer, whatever the language of a text.
//!
//! **Invariant.** The names never change, because stored configurations contain them.
//!
//! Reference: M. F. Porter, "Snowball: a language for stemming algorithms", 2001.

use std::borrow::Cow;
use std::fmt;

use rust_stemmers::{Algorithm, Stemmer};

use crate::PageError;

/// Every stemmer with the English name of its language.
const STEMMERS: [(&str, Algorithm); 18] = [
    ("arabic", Algorithm::Arabic),
    ("danish", Algorithm::Danish),
    ("dutch", Algorithm::Dutch),
    ("english", Algorithm::English),
    ("finnish", Algorithm::Finnish),
    ("french", Algorithm::French),
    ("german", Algorithm::German),
    ("greek", Algorithm::Greek),
    ("hungarian", Algorithm::Hungarian),
    ("italian", Algorithm::Italian),
    ("norwegian", Algorithm::Norwegian),
    ("portuguese", Algorithm::Portuguese),
    ("romanian", Algorithm::Romanian),
    ("russian", Algorithm::Russian),
    ("spanish", Algorithm::Spanish),
    ("swedish", Algorithm::Swedish),
    ("tamil", Algorithm::Tamil),
    ("turkish", Algorithm::Turkish),
];

/// The valid values of `analysis.stemmer`: "none" and the names of the stemmers.
pub fn stemmers() -> impl Iterator<Item = &'static str> {
    ["none"].into_iter().chain(STEMMERS.into_iter().map(|(name, _)| name))
}

/// The choice of a stemmer, or of none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stemming(Option<Algorithm>);

impl Stemming {
    /// No stemmer: words stay unchanged.
    pub(super) const NONE: Self = Self(None);

    pub(super) fn from_name(name: &str) -> Result<Self, PageError> {
        if name == "none" {
            return Ok(Self::NONE);
        }
        match STEMMERS.iter().find(|(known, _)| *known == name) {
            Some((_, algorithm)) => Ok(Self(Some(*algorithm))),
            None => Err(PageError::UnknownStemmer {
                name: name.to_owned(),
                known: STEMMERS.map(|(known, _)| known).join(", "),
            }),
        }
    }

    /// The name in the configuration.
    pub(super) fn name(self) -> &'static str {
        let named = STEMMERS.iter().find(|(_, algorithm)| Some(*algorithm) == self.0);
        named.map_or("none", |(name, _)| name)
    }

    /// Returns whether the stemmer reads accents.
    pub(super) fn has_accents(self) -> bool {
        self.0 != Some(Algorithm::English)
    }

    pub(super) fn stemmer(self) -> MaybeStemmer {
        let is_english = self.0 == Some(Algorithm::English);
        MaybeStemmer { stemmer: self.0.map(Stemmer::create), is_english }
    }
}

impl fmt::Debug for Stemming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stemming({:?})", self.0)
    }
}

/// An optional stemmer. Without one, words stay unchanged.
pub(super) struct MaybeStemmer {
    stemmer: Option<Stemmer>,
    is_english: bool,
}

impl MaybeStemmer {
    /// The stem of a folded word.
    pub(super) fn stem<'a>(&self, word: &'a str) -> Cow<'a, str> {
        match &self.stemmer {
            Some(stemmer) if !self.is_english || has_english_suffix(word) => stemmer.stem(word),
            _ => Cow::Borrowed(word),
        }
    }
}

/// Returns whether the English stemmer may change a word. It changes only words with an apostrophe, and words whose
/// last two letters end a suffix.
fn has_english_suffix(word: &str) -> bool {
    let ends_so = match word.as_bytes() {
        [.., before, last] => match last {
            b'e' | b's' | b'y' => true,
            b'c' => *before == b'i',
            b'd' => *before == b'e',
            b'g' | b't' => *before == b'n',
            b'i' => matches!(before, b'c' | b'g' | b'l' | b't'),
            b'l' => matches!(before, b'a' | b'l' | b'u'),
            b'm' => *before == b's',
            b'n' => *before == b'o',
            b'r' => matches!(before, b'e' | b'o'),
            _ => false,
        },
        // The stemmer never changes a word of one letter.
        _ => false,
    };
    ends_so || word.contains('\'')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Words with and without suffixes, and with characters that are not letters.
        #[test]
        fn a_word_without_a_suffix_is_its_own_stem(
            words in proptest::collection::vec("[a-z]{0,6}([a-z]{1,3}|[0-9.'é_]|ies|ing|ly|y|sses)", 1000),
        ) {
            let stemmer = Stemmer::create(Algorithm::English);
            for word in words.iter().filter(|word| !has_english_suffix(word)) {
                prop_assert_eq!(&stemmer.stem(word), word);
            }
        }
    }

    #[test]
    fn every_short_word_without_a_suffix_is_its_own_stem() {
        let stemmer = Stemmer::create(Algorithm::English);
        let letters = || 'a'..='z';
        for [a, b, c] in
            letters().flat_map(|a| letters().flat_map(move |b| letters().map(move |c| [a, b, c])))
        {
            for word in [format!("{a}{b}{c}"), format!("dis{a}{b}{c}"), format!("y{a}y{b}y{c}")] {
                if !has_english_suffix(&word) {
                    assert_eq!(stemmer.stem(&word), word);
                }
            }
        }
    }
}
