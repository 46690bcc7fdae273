//! The stemmers by name.
//!
//! What does not live here: which language a text is in; one analysis has one stemmer.
//!
//! **Invariant.** The names stand in stored configurations: they never change.
//!
//! Reference: M. F. Porter, "Snowball: a language for stemming algorithms", 2001.

use std::borrow::Cow;
use std::fmt;

use rust_stemmers::{Algorithm, Stemmer};

use crate::PageError;

/// Every stemmer under its language's English name.
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

/// What `analysis.stemmer` may be: no stemmer, or one of these.
pub fn stemmers() -> impl Iterator<Item = &'static str> {
    ["none"].into_iter().chain(STEMMERS.into_iter().map(|(name, _)| name))
}

/// Which stemmer to use, if any.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stemming(Option<Algorithm>);

impl Stemming {
    pub(super) fn from_name(name: &str) -> Result<Self, PageError> {
        if name == "none" {
            return Ok(Self(None));
        }
        match STEMMERS.iter().find(|(known, _)| *known == name) {
            Some((_, algorithm)) => Ok(Self(Some(*algorithm))),
            None => Err(PageError::UnknownStemmer {
                name: name.to_owned(),
                known: STEMMERS.map(|(known, _)| known).join(", "),
            }),
        }
    }

    /// The name it was chosen by.
    pub(super) fn name(self) -> &'static str {
        let named = STEMMERS.iter().find(|(_, algorithm)| Some(*algorithm) == self.0);
        named.map_or("none", |(name, _)| name)
    }

    /// Whether the stemmer looks at accents.
    pub(super) fn has_accents(self) -> bool {
        self.0 != Some(Algorithm::English)
    }

    pub(super) fn stemmer(self) -> MaybeStemmer {
        MaybeStemmer(self.0.map(Stemmer::create))
    }
}

impl fmt::Debug for Stemming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stemming({:?})", self.0)
    }
}

/// A stemmer, or nothing that leaves words alone.
pub(super) struct MaybeStemmer(Option<Stemmer>);

impl MaybeStemmer {
    /// The stem of a folded word.
    pub(super) fn stem<'a>(&self, word: &'a str) -> Cow<'a, str> {
        match &self.0 {
            Some(stemmer) => stemmer.stem(word),
            None => Cow::Borrowed(word),
        }
    }
}
