//! Finds the written forms of index terms.
//!
//! The index has stems, but users see words. They come from the best documents with the stem: from titles, or
//! without any there, from the beginnings of texts. If neither contains one, as in an imported index, the term
//! itself is used if it is a word that analyses to itself.
//!
//! What lives here: the words of a term, and the possible stems of a word. What does not: the choice of terms
//! (`suggestion.rs`, `completion.rs`).
//!
//! **Invariant.** Every word parses as a plain word and analyses to the term. At most [`TITLES_MAX`] titles and
//! [`TEXTS_MAX`] texts are read for a term.

use index::Field;

use crate::plan::{Plan, Words};
use crate::{Hit, Prepared, Query, QueryError, Searcher, Stop, parse};

/// Maximum number of titles per term.
const TITLES_MAX: usize = 16;
/// Maximum number of texts per term.
const TEXTS_MAX: usize = 3;
/// Maximum part of a text that is read.
const TEXT_BYTES_MAX: usize = 1 << 14;
/// Minimum length of a prefix that is tried as a stem.
const STEM_CHARS_MIN: usize = 3;
/// Maximum number of letters that a stemmer may remove.
const SUFFIX_CHARS_MAX: usize = 6;

/// A term whose written forms are sought.
pub(crate) struct TermContext<'a> {
    pub(crate) term: &'a str,
    /// The fields that contain it.
    pub(crate) fields: &'a [Field],
    /// The typed word. Without capitals in it, written forms are in lower case.
    pub(crate) typed: &'a str,
    /// Returns whether a word is suitable.
    pub(crate) fits: &'a dyn Fn(&str) -> bool,
}

impl Searcher {
    /// The written forms of the term in the best documents, the most frequent first. `texts` gives the text of a
    /// document if it exists.
    pub(crate) fn written<E: From<QueryError>>(
        &self,
        sought: &TermContext<'_>,
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

    /// Counts the written forms of the term in a text.
    fn collect(&self, sought: &TermContext<'_>, text: &str, words: &mut Vec<(String, usize)>) {
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

    /// Returns whether a query of this word alone searches for this term alone.
    fn leads_to(&self, word: &str, term: &str) -> bool {
        let plain = Query::Term { field: None, text: word.to_owned() };
        parse(word).is_ok_and(|query| query == plain) && self.analyzer.terms(word) == [term]
    }

    /// The possible terms of a misspelt or unfinished word: its own stem and its prefixes, the longest first. Each
    /// has its document frequency in `fields`.
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

    /// The document frequency of a term, in that of `fields` where it is greatest.
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
