//! Completion: what the word that somebody is typing may become.
//!
//! The terms that begin so come from the titles first, then from all fields, those that most documents have first; a
//! word that has outgrown its stem (`computin`) is found by its beginnings. What is given are words as written in the
//! best documents (`written.rs`).
//!
//! What lives here: which words, and in which order. What does not: where the last word of a query begins (`language`).
//!
//! **Invariant.** What is given begins with what was typed, but for the capitals and accents that the analysis looks
//! away from, and is longer. At most [`COMPLETIONS_MAX`] are given, and [`TERMS_TRIED_MAX`] terms of each are looked for
//! in documents.

use std::cmp::Reverse;

use index::Field;

use crate::expansion::{Expander, Pattern};
use crate::language::{LENGTH_BYTES_MAX, unfinished};
use crate::written::Sought;
use crate::{Hit, QueryError, Searcher, Stop};

/// How many completions there are at most.
pub const COMPLETIONS_MAX: usize = 10;
/// A single letter begins too many words to say anything.
const BEGINNING_CHARS_MIN: usize = 2;
/// Terms of which words are looked for, once for titles and once for all fields.
const TERMS_TRIED_MAX: usize = 20;
/// A completion is computed for each letter that is typed, so it may take only this part of the steps of a query.
const PART_OF_QUERY: usize = 64;

impl Searcher {
    /// Whole queries that `text` may become when its last word is finished, the likeliest first; none if it ends behind a
    /// word. `texts` gives the text of a document, where there is one. Once `stop` is set no more are looked for.
    pub fn complete<E: From<QueryError>>(
        &self,
        text: &str,
        stop: &Stop,
        mut texts: impl FnMut(&Hit) -> Result<Option<String>, E>,
    ) -> Result<Vec<String>, E> {
        let begun = unfinished(text).filter(|_| text.len() <= LENGTH_BYTES_MAX);
        let Some((at, field)) = begun else { return Ok(Vec::new()) };
        // Of several words in one, as in scripts without spaces, the last is unfinished.
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
                let sought = Sought { term: &term, fields: &fields, typed, fits: &fits };
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

    /// The terms that the beginning of a word may be of, those that most documents have first.
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
