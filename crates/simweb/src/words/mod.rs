//! The word model: small hand-written vocabularies and the topics that hosts are about.
//!
//! Any noun phrase goes with any verb: nouns are singular and nominative with their article, verbs
//! are intransitive in the third person. So the sentences of [`crate::prose`] are grammatical, also
//! in languages with gender and case.
//!
//! **Invariant.** Any phrase goes with any other of its language.

mod cs;
mod de;
mod en;
mod es;
mod fr;
mod it;
mod ja;
mod ru;
mod topics;

pub(crate) use topics::{TOPICS, Topic};

/// A language that pages are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Language {
    English,
    Italian,
    German,
    French,
    Spanish,
    Russian,
    Japanese,
    Czech,
}

impl Language {
    /// Its ISO 639-1 code.
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Italian => "it",
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
            Self::Russian => "ru",
            Self::Japanese => "ja",
            Self::Czech => "cs",
        }
    }

    pub(crate) fn lexicon(self) -> &'static Lexicon {
        match self {
            Self::English => &en::LEXICON,
            Self::Italian => &it::LEXICON,
            Self::German => &de::LEXICON,
            Self::French => &fr::LEXICON,
            Self::Spanish => &es::LEXICON,
            Self::Russian => &ru::LEXICON,
            Self::Japanese => &ja::LEXICON,
            Self::Czech => &cs::LEXICON,
        }
    }
}

/// Words and sentence templates of one language.
///
/// In a template, `%n` is a noun phrase of the topic or of the language. `%v` is a verb, `%a` an
/// adverb and `%p` a place. `%o` is an opening, and `%w` the needle.
pub(crate) struct Lexicon {
    pub(crate) language: Language,
    pub(crate) nouns: &'static [&'static str],
    pub(crate) verbs: &'static [&'static str],
    pub(crate) adverbs: &'static [&'static str],
    pub(crate) places: &'static [&'static str],
    pub(crate) openings: &'static [&'static str],
    pub(crate) sentences: &'static [&'static str],
    pub(crate) titles: &'static [&'static str],
    /// The sentence that holds the needle.
    pub(crate) needle: &'static str,
    /// The separator of sentences.
    pub(crate) space: &'static str,
    pub(crate) home: &'static str,
    pub(crate) up: &'static str,
    pub(crate) contents: &'static str,
    pub(crate) see_also: &'static str,
    pub(crate) updated: &'static str,
}
