//! From text to terms: the chain that pages and queries go through alike.
//!
//! 1. `words.rs`: words by the Unicode rules, with dictionaries for scripts without spaces.
//! 2. `fold.rs`: NFKC, case folding, characters that do not show removed.
//! 3. A Snowball stemmer, if one is configured.
//! 4. `fold.rs` again: accents off letters, if configured; after stemming, since stemmers of
//!    languages with accents look at them, but before it for English, so that `resume` and `résumé`
//!    have one stem.
//!
//! A word that came before takes a shorter way (`cache.rs`).
//!
//! What does not live here: stop words and weights, which are the index's and the query's.
//!
//! **Invariant.** Positions count from 0 without gaps, and `text[token.start..token.end]` is the
//! word as written.

mod ascii;
mod cache;
mod dictionary;
mod fold;
mod stem;
mod words;

use serde::{Deserialize, Serialize};

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::PageError;

use cache::{Cache, Key};
pub use stem::stemmers;

use stem::{MaybeStemmer, Stemming};

/// Bytes of a term at most, whatever is configured: longer ones are noise.
pub const TERM_BYTES_LIMIT: usize = 1024;
/// Bytes of a term at least, whatever is configured: the longest character has four.
pub const TERM_BYTES_LEAST: usize = 4;
/// A word longer than this many times a term is cut before folding, which may shorten it.
const WORD_TO_TERM: usize = 8;

/// How text becomes terms. An index and the queries on it must agree on this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnalysisConfig {
    /// The Snowball stemmer: "english", the name of another language, or "none".
    pub stemmer: String,
    /// Whether `café` is found as `cafe`.
    pub fold_accents: bool,
    /// Bytes of a term; longer ones are cut.
    pub term_bytes_max: usize,
}

impl Default for AnalysisConfig {
    fn default() -> Self {
        Self { stemmer: "english".to_owned(), fold_accents: true, term_bytes_max: 64 }
    }
}

/// The chain, ready to run; cheap to clone and shared freely between threads.
#[derive(Clone, Debug)]
pub struct Analyzer {
    stemming: Stemming,
    fold_accents: bool,
    term_bytes_max: usize,
    caches: Caches,
}

/// Caches that no one uses right now: as many as there have been texts at the same time.
#[derive(Clone, Default)]
struct Caches(Arc<Mutex<Vec<Cache>>>);

impl Caches {
    fn take(&self) -> Cache {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        free.pop().unwrap_or_default()
    }

    fn give_back(&self, cache: Option<Cache>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(cache);
    }
}

impl fmt::Debug for Caches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Caches")
    }
}

/// A word of the text, as a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// What is indexed and looked up.
    pub term: &'a str,
    /// Which word of the text it is, from 0.
    pub position: u32,
    /// The byte of the text where the word begins.
    pub start: usize,
    /// The byte of the text where the word has ended.
    pub end: usize,
}

impl Analyzer {
    /// Makes the chain that `config` describes.
    pub fn build(config: &AnalysisConfig) -> Result<Self, PageError> {
        let bytes = config.term_bytes_max;
        if !(TERM_BYTES_LEAST..=TERM_BYTES_LIMIT).contains(&bytes) {
            let (least, most) = (TERM_BYTES_LEAST, TERM_BYTES_LIMIT);
            return Err(PageError::TermLimit { bytes, least, most });
        }
        Ok(Self {
            stemming: Stemming::from_name(&config.stemmer)?,
            fold_accents: config.fold_accents,
            term_bytes_max: bytes,
            caches: Caches::default(),
        })
    }

    /// The stemmer's name, as the configuration has it.
    pub fn stemmer(&self) -> &'static str {
        self.stemming.name()
    }

    /// The same chain without its stemmer: words as they are compared with the beginnings of terms.
    #[must_use]
    pub fn without_stemmer(&self) -> Self {
        Self { stemming: Stemming::NONE, caches: Caches::default(), ..self.clone() }
    }

    /// Hands every word of `text` to `emit`, in order.
    pub fn each(&self, text: &str, emit: &mut dyn FnMut(Token<'_>)) {
        let mut words = self.term_maker();
        let mut position = 0_u32;
        words::each(text, &mut |start, end| {
            let term = words.term_at(text, start, end);
            emit(Token { term, position, start, end });
            position = position.saturating_add(1);
        });
    }

    /// Hands the range of every word of `text` and its position to `emit`, in order: for whoever
    /// remembers words himself, and asks a [`TermMaker`] for the terms of those that are new to him.
    #[inline]
    pub fn words(&self, text: &str, mut emit: impl FnMut(Range<usize>, u32)) {
        let mut position = 0_u32;
        words::each(text, &mut |start, end| {
            emit(start..end, position);
            position = position.saturating_add(1);
        });
    }

    /// What makes terms of the words of [`Analyzer::words`].
    pub fn term_maker(&self) -> TermMaker<'_> {
        TermMaker { chain: Chain::new(self), cache: Some(self.caches.take()) }
    }

    /// Makes terms of words that are not worth remembering.
    pub fn uncached_term_maker(&self) -> TermMaker<'_> {
        TermMaker { chain: Chain::new(self), cache: None }
    }

    /// The terms of `text` in order.
    pub fn terms(&self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.each(text, &mut |token| terms.push(token.term.to_owned()));
        terms
    }
}

/// Makes terms of words, one at a time.
pub struct TermMaker<'a> {
    chain: Chain<'a>,
    /// Missing once it is given back, and where words are not remembered.
    cache: Option<Cache>,
}

impl TermMaker<'_> {
    /// The term of a word.
    pub fn term(&mut self, word: &str) -> &str {
        self.term_at(word, 0, word.len())
    }

    /// The term of the word `text[start..end]`.
    #[inline]
    fn term_at(&mut self, text: &str, start: usize, end: usize) -> &str {
        let key = Key::of(text.as_bytes(), start, end);
        let (Some(key), Some(cache)) = (&key, &mut self.cache) else {
            return self.chain.term(&text[start..end]);
        };
        if let Some(way) = cache.find(key) {
            return cache.get(key, way);
        }
        let term = self.chain.term(&text[start..end]);
        cache.put(key, term);
        term
    }
}

impl Drop for TermMaker<'_> {
    fn drop(&mut self) {
        self.chain.analyzer.caches.give_back(self.cache.take());
    }
}

impl fmt::Debug for TermMaker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TermMaker({:?})", self.chain.analyzer)
    }
}

/// What turns a word into its term.
struct Chain<'a> {
    analyzer: &'a Analyzer,
    stemmer: MaybeStemmer,
    folded: String,
    unaccented: String,
    term: String,
}

impl<'a> Chain<'a> {
    fn new(analyzer: &'a Analyzer) -> Self {
        let stemmer = analyzer.stemming.stemmer();
        let [folded, unaccented, term] = [const { String::new() }; 3];
        Self { analyzer, stemmer, folded, unaccented, term }
    }

    fn term(&mut self, word: &str) -> &str {
        let &Analyzer { stemming, fold_accents, term_bytes_max, .. } = self.analyzer;
        let accents_first = fold_accents && !stemming.has_accents();
        let word = &word[..word.floor_char_boundary(WORD_TO_TERM * term_bytes_max)];
        fold::fold(word, term_bytes_max, &mut self.folded);
        let plain = if accents_first {
            fold::without_accents(&self.folded, &mut self.unaccented)
        } else {
            &self.folded
        };
        let stem = self.stemmer.stem(plain);
        let stem = if stem.is_empty() { plain } else { &*stem };
        self.term.clear();
        if fold_accents && !accents_first {
            fold::push_without_accents(stem, &mut self.term);
        } else {
            self.term.push_str(stem);
        }
        self.term.truncate(self.term.floor_char_boundary(term_bytes_max));
        &self.term
    }
}
