//! Words as people write them, of a term as the index has it.
//!
//! The index has stems; what is shown to people are words of the best documents that have the stem: those of their
//! titles, or of the beginnings of their texts where no title has one. Where neither has, as in an imported index, the
//! term itself will do if it is a word that leads back to it.
//!
//! What lives here: words of a term, and the stems that a word may have. What does not: which terms are meant
//! (`suggestion.rs`, `completion.rs`).
//!
//! **Invariant.** Every word given is read by the query language as a plain word, and analysed to the term. At most
//! [`TITLES_MAX`] titles and [`TEXTS_MAX`] texts are looked at for a term.

use index::Field;

use crate::plan::{Plan, Words};
use crate::{Hit, Prepared, Query, QueryError, Searcher, Stop, parse};

/// Titles looked at for one term.
const TITLES_MAX: usize = 16;
/// Texts looked at for one term.
const TEXTS_MAX: usize = 3;
/// How much of a text is looked at.
const TEXT_BYTES_MAX: usize = 1 << 14;
/// No shorter beginning of a word is tried as its stem.
const STEM_CHARS_MIN: usize = 3;
/// How many letters a stemmer may have taken away.
const SUFFIX_CHARS_MAX: usize = 6;

/// A term to be written.
pub(crate) struct Sought<'a> {
    pub(crate) term: &'a str,
    /// Where it stands.
    pub(crate) fields: &'a [Field],
    /// What was typed in its place: where that has no capitals, neither has what is given.
    pub(crate) typed: &'a str,
    /// Which words will do.
    pub(crate) fits: &'a dyn Fn(&str) -> bool,
}

impl Searcher {
    /// The words that `sought` is in the best documents that have it, those that stand there most often first. `texts`
    /// gives the text of a document, where there is one.
    pub(crate) fn written<E: From<QueryError>>(
        &self,
        sought: &Sought<'_>,
        texts: &mut dyn FnMut(&Hit) -> Result<Option<String>, E>,
        stop: &Stop,
    ) -> Result<Vec<String>, E> {
        let (what, fields) = (sought.term.to_owned(), sought.fields.to_vec());
        let terms = vec![(0, what.clone())];
        let plan = Plan::Words(Words { what, fields, terms, is_plain: true });
        let query = Query::Term { field: None, text: sought.term.to_owned() };
        let (with_all, notes, stop_too) = (None, Vec::new(), stop.clone());
        let prepared =
            Prepared { searcher: self, query: &query, plan, with_all, notes, stop: stop_too };
        let hits = prepared.best(0, TITLES_MAX)?;
        let mut words: Vec<(String, usize)> = Vec::new();
        for hit in hits.iter().take_while(|_| !stop.is_set()) {
            let record = self.index.segments()[hit.segment].record(hit.doc);
            self.collect(sought, &record.map_err(QueryError::from)?.title, &mut words);
        }
        if words.is_empty() {
            for hit in hits.iter().take(TEXTS_MAX).take_while(|_| !stop.is_set()) {
                if let Some(text) = texts(hit)? {
                    self.collect(sought, &text, &mut words);
                }
            }
        }
        if words.is_empty() {
            self.collect(sought, sought.term, &mut words);
        }
        words.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        Ok(words.into_iter().map(|(word, _)| word).collect())
    }

    /// Counts the words of a text that are `sought`.
    fn collect(&self, sought: &Sought<'_>, text: &str, words: &mut Vec<(String, usize)>) {
        let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        let keeps_capitals = sought.typed.contains(char::is_uppercase);
        self.analyzer.each(text, &mut |token| {
            if token.term != sought.term {
                return;
            }
            let written = text.get(token.start..token.end).unwrap_or_default();
            let word = if keeps_capitals { written.to_owned() } else { written.to_lowercase() };
            match words.iter_mut().find(|(known, _)| known.to_lowercase() == word.to_lowercase()) {
                Some((_, count)) => *count += 1,
                None if self.leads_to(&word, sought.term) && (sought.fits)(&word) => {
                    words.push((word, 1));
                }
                None => {}
            }
        });
    }

    /// Whether a query of this word alone searches for this term alone.
    fn leads_to(&self, word: &str, term: &str) -> bool {
        let plain = Query::Term { field: None, text: word.to_owned() };
        parse(word).is_ok_and(|query| query == plain) && self.analyzer.terms(word) == [term]
    }

    /// The terms that a word, misspelt or unfinished at its end, may be of: its own stem, and its beginnings. The
    /// longest first, with how many documents have them in any of `fields`.
    pub(crate) fn stems(
        &self,
        word: &str,
        fields: &[Field],
    ) -> Result<Vec<(String, u64)>, QueryError> {
        let mut stems = self.analyzer.terms(word);
        let whole = self.plain.terms(word).concat();
        if self.analyzer.stemmer() != "none" {
            let ends: Vec<usize> = whole.char_indices().map(|(at, _)| at).collect();
            let ends = ends.into_iter().skip(STEM_CHARS_MIN).rev().take(SUFFIX_CHARS_MAX);
            stems.extend(ends.map(|end| whole[..end].to_owned()));
        }
        let mut known: Vec<(String, u64)> = Vec::new();
        for stem in stems {
            if known.iter().all(|(other, _)| *other != stem) {
                let documents = self.documents_with(&stem, fields)?;
                known.push((stem, documents));
            }
        }
        known.retain(|&(_, documents)| documents > 0);
        Ok(known)
    }

    /// How many documents have a term in that of `fields` in which most have it.
    pub(crate) fn documents_with(&self, term: &str, fields: &[Field]) -> Result<u64, QueryError> {
        let asked: Vec<(Field, &str)> = fields.iter().map(|&field| (field, term)).collect();
        let mut documents = vec![0_u64; fields.len()];
        for segment in self.index.segments() {
            for (sum, count) in documents.iter_mut().zip(segment.doc_frequencies(&asked)?) {
                *sum += u64::from(count);
            }
        }
        Ok(documents.into_iter().max().unwrap_or(0))
    }
}
