//! From text to terms: the one chain of steps for pages and queries.
//!
//! 1. `words.rs`: words by the Unicode rules, with dictionaries for scripts without spaces.
//! 2. `fold.rs`: NFKC, case folding, removal of invisible characters.
//! 3. A Snowball stemmer, if one is configured.
//! 4. `fold.rs` again: removal of accents, if configured. It follows stemming, because stemmers of languages with
//!    accents read them. For English it precedes stemming, so that `resume` and `résumé` have one stem.
//!
//! `cache.rs` keeps the terms of words that occurred before.
//!
//! The index and the query decide on stop words and weights.
//!
//! **Invariant.** Positions count from 0 without gaps. `text[token.start..token.end]` is the word as written.

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

/// The greatest value of [`AnalysisConfig::term_bytes_max`]. Longer terms are noise.
pub const TERM_BYTES_LIMIT: usize = 1024;
/// The least value of [`AnalysisConfig::term_bytes_max`], because the longest character has four bytes.
pub const TERM_BYTES_LEAST: usize = 4;
/// A word is cut to this multiple of a term before folding, because folding may shorten it.
const WORD_TO_TERM: usize = 8;

/// The configuration of the analysis. An index and its queries must use the same one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnalysisConfig {
    /// The Snowball stemmer: "english", the name of another language, or "none".
    pub stemmer: String,
    /// Whether accents are removed, so that `cafe` finds `café`.
    pub fold_accents: bool,
    /// Bytes of the longest term. Longer ones are cut.
    pub term_bytes_max: usize,
}

impl Default for AnalysisConfig {
    fn default() -> Self {
        Self { stemmer: "english".to_owned(), fold_accents: true, term_bytes_max: 64 }
    }
}

/// The chain of the analysis. It is cheap to clone, and threads can share it.
#[derive(Clone, Debug)]
pub struct Analyzer {
    stemming: Stemming,
    fold_accents: bool,
    term_bytes_max: usize,
    caches: Caches,
}

/// Caches that are not in use. Their number is that of the texts that were analysed at the same time.
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

/// A word of the text with its term and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The term that is indexed and looked up.
    pub term: &'a str,
    /// The number of the word in the text, from 0.
    pub position: u32,
    /// The byte of the text where the word begins.
    pub start: usize,
    /// The byte of the text after the word.
    pub end: usize,
}

impl Analyzer {
    /// Builds the chain that `config` describes.
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

    /// The name of the stemmer, as in the configuration.
    pub fn stemmer(&self) -> &'static str {
        self.stemming.name()
    }

    /// This chain without its stemmer. Its terms are compared with the prefixes of terms.
    #[must_use]
    pub fn without_stemmer(&self) -> Self {
        Self { stemming: Stemming::NONE, caches: Caches::default(), ..self.clone() }
    }

    /// Passes every word of `text` to `emit`, in order.
    pub fn each(&self, text: &str, emit: &mut dyn FnMut(Token<'_>)) {
        let mut words = self.term_maker();
        let mut position = 0_u32;
        words::each(text, &mut |start, end| {
            let term = words.term_at(text, start, end);
            emit(Token { term, position, start, end });
            position = position.saturating_add(1);
        });
    }

    /// Passes the range of every word of `text` and its position to `emit`, in order. Callers with their own cache of
    /// words use it, and compute the terms of new words with a [`TermMaker`].
    #[inline]
    pub fn words(&self, text: &str, mut emit: impl FnMut(Range<usize>, u32)) {
        let mut position = 0_u32;
        words::each(text, &mut |start, end| {
            emit(start..end, position);
            position = position.saturating_add(1);
        });
    }

    /// Creates a maker of terms for the words of [`Analyzer::words`].
    pub fn term_maker(&self) -> TermMaker<'_> {
        TermMaker { chain: Chain::new(self), cache: Some(self.caches.take()) }
    }

    /// Creates a maker of terms without a cache, for words that rarely repeat.
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

/// Computes the terms of single words.
pub struct TermMaker<'a> {
    chain: Chain<'a>,
    /// `None` after the cache was returned, or for a maker without a cache.
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

/// The steps from a word to its term, with their buffers.
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
