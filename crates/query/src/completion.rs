//! Completion: proposes endings for an unfinished word.
//!
//! The terms with the typed prefix are taken from titles first, then from all fields, the most frequent first. A
//! word that is longer than its stem (`computin`) is found by its prefixes. The completions are words as written
//! in the best documents (`surface_forms.rs`).
//!
//! What lives here: the choice and order of words. What does not: finding the last word of a query (`language`).
//!
//! **Invariant.** A completion is longer than the typed text and begins with it, apart from capitals and accents.
//! There are at most [`COMPLETIONS_MAX`] completions, and documents are searched for at most [`TERMS_TRIED_MAX`]
//! terms per source.

use std::cmp::Reverse;

use index::Field;

use crate::expansion::{Expander, Pattern};
use crate::language::{LENGTH_BYTES_MAX, unfinished};
use crate::surface_forms::TermContext;
use crate::{Hit, QueryError, Searcher, Stop};

/// Maximum number of completions.
pub const COMPLETIONS_MAX: usize = 10;
/// Shorter prefixes match too many words.
const BEGINNING_CHARS_MIN: usize = 2;
/// Maximum number of terms tried, once for titles and once for all fields.
const TERMS_TRIED_MAX: usize = 20;
/// Each typed letter starts a completion, so it gets only this fraction of the steps of a query.
const PART_OF_QUERY: usize = 64;

impl Searcher {
    /// Returns whole queries that complete the last word of `text`, the likeliest first. Returns none if `text`
    /// ends after a word. `texts` gives the text of a document if it exists. `stop` ends the search for further
    /// completions.
    pub fn complete<E: From<QueryError>>(
        &self,
        text: &str,
        stop: &Stop,
        mut texts: impl FnMut(&Hit) -> Result<Option<String>, E>,
    ) -> Result<Vec<String>, E> {
        let begun = unfinished(text).filter(|_| text.len() <= LENGTH_BYTES_MAX);
        let Some((at, field)) = begun else { return Ok(Vec::new()) };
        // In scripts without spaces a text may contain several words; the last one is unfinished.
        let mut last = None;
        self.analyzer.each(&text[at..], &mut |token| last = Some(at + token.start..at + token.end));
        let Some(typed) = last.filter(|last| last.end == text.len()) else {
            return Ok(Vec::new());
        };
        let (before, typed) = text.split_at(typed.start);
        let plain = &self.plain;
        let beginning = plain.terms(typed).concat();
        if beginning.chars().count() < BEGINNING_CHARS_MIN {
            return Ok(Vec::new());
        }
        let fits = |word: &str| {
            let whole = plain.terms(word).concat();
            whole.len() > beginning.len() && whole.starts_with(&beginning)
        };
        let sources = field.map_or_else(
            || vec![vec![Field::Title], Field::ALL.to_vec()],
            |field| vec![vec![field]],
        );
        let mut words: Vec<String> = Vec::new();
        for fields in sources {
            if words.len() >= COMPLETIONS_MAX {
                break;
            }
            for term in self.terms_begun(typed, &beginning, &fields, stop)? {
                if words.len() >= COMPLETIONS_MAX || stop.is_set() {
                    break;
                }
                let sought = TermContext { term: &term, fields: &fields, typed, fits: &fits };
                for word in self.written(&sought, &mut texts, stop)? {
                    if !words.contains(&word) {
                        words.push(word);
                    }
                }
            }
        }
        words.truncate(COMPLETIONS_MAX);
        Ok(words.into_iter().map(|word| format!("{before}{word}")).collect())
    }

    /// The terms that the beginning of a word may belong to, the most frequent first.
    fn terms_begun(
        &self,
        typed: &str,
        beginning: &str,
        fields: &[Field],
        stop: &Stop,
    ) -> Result<Vec<String>, QueryError> {
        let expander = Expander::new(&self.index, PART_OF_QUERY, stop);
        let pattern = Pattern::Beginning(beginning.to_owned());
        let mut terms = expander.most(fields, &pattern)?.most;
        terms.truncate(TERMS_TRIED_MAX);
        terms.extend(self.stems(typed, fields)?);
        terms.sort_by(|(a, n), (b, m)| (Reverse(n), a).cmp(&(Reverse(m), b)));
        terms.dedup();
        terms.truncate(TERMS_TRIED_MAX);
        Ok(terms.into_iter().map(|(term, _)| term).collect())
    }
}
