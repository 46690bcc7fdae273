//! Suggestions: what was perhaps meant by a query that finds little.
//!
//! A plain word that hardly any document has may be misspelt. What may have been meant are the terms of the lexicon that
//! are a letter away, or two from five letters on (`expansion.rs`), and, since a stemmer does not know the ending of a
//! misspelt word, its beginnings, if a word as written is so near. They are tried by distance, then by how many documents
//! have them, the fewest words changed first; the first query that finds more is suggested.
//!
//! What lives here: which words, by what, and in which order. What does not: results, which never change.
//!
//! **Invariant.** A suggestion finds more than the query it stands for, and parses to what was counted. Words that are
//! negated, in phrases, with a star or a distance, or with digits stay as they are. For a query at most [`WORDS_MAX`]
//! words are changed and [`TRIES_MAX`] queries counted.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use index::Field;
use serde::Serialize;

use crate::expansion::{Expander, Pattern};
use crate::written::Sought;
use crate::{Hit, Query, QueryError, Searcher, Stop, parse};

/// With fewer results than this a query gets a suggestion, where there is one.
pub const FEW_RESULTS: u64 = 3;
/// A word that more documents have is taken for what it is.
const RARE_DOCUMENTS: u64 = 2;
/// A word that some documents have is doubted for one that more than so many times as many have.
const TIMES_COMMONER: u64 = 10;
/// A shorter word is near to too many others.
const WORD_CHARS_MIN: usize = 3;
/// From so many characters on a word or a stem may be two letters away.
const LONG_CHARS: usize = 5;
/// Words of a query that may be changed.
const WORDS_MAX: usize = 8;
/// What is tried for a word.
const CANDIDATES_MAX: usize = 3;
/// Queries that are tried.
const TRIES_MAX: usize = 16;

/// A query that was perhaps meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// As it can be typed.
    pub query: String,
    /// How many documents match it with all its words.
    pub total: u64,
}

/// A plain word of a query, and what it may be exchanged for.
struct Doubtful {
    field: Option<Field>,
    text: String,
    /// What is tried, best first: the word itself if any document has it, or nothing else is known.
    choices: Vec<String>,
}

/// Something that was perhaps meant by a word.
struct Candidate {
    term: String,
    documents: u64,
    distance: usize,
    word: String,
}

impl Searcher {
    /// What was perhaps meant by `query`, which has `total` results with all its words; `None` if these are enough, or
    /// nothing is near that has more. `texts` gives the text of a document, where there is one: words are suggested as
    /// they are written there or in titles. Once `stop` is set there is no suggestion.
    pub fn suggest<E: From<QueryError>>(
        &self,
        query: &Query,
        total: u64,
        stop: &Stop,
        mut texts: impl FnMut(&Hit) -> Result<Option<String>, E>,
    ) -> Result<Option<Suggestion>, E> {
        if total >= FEW_RESULTS || stop.is_set() {
            return Ok(None);
        }
        let mut doubtful = self.doubtful(query)?;
        let expander = Expander::new(&self.index, doubtful.len(), stop);
        for word in &mut doubtful {
            let candidates = self.candidates(&expander, word, &mut texts, stop)?;
            word.choices.extend(candidates.into_iter().map(|candidate| candidate.word));
            if word.choices.is_empty() {
                word.choices.push(word.text.clone());
            }
        }
        Ok(self.first_better(query, total, &doubtful, stop)?)
    }

    /// The plain words that hardly any document has.
    fn doubtful(&self, query: &Query) -> Result<Vec<Doubtful>, QueryError> {
        let mut words: Vec<(Option<Field>, String)> = Vec::new();
        each_plain(&mut query.clone(), |field, text| {
            let known = words.iter().any(|(other, word)| (*other, word) == (field, &*text));
            if !known && text.chars().count() >= WORD_CHARS_MIN && !text.contains(char::is_numeric)
            {
                words.push((field, text.clone()));
            }
        });
        let mut doubtful = Vec::new();
        for (field, text) in words {
            let terms = self.analyzer.terms(&text);
            let [term] = &terms[..] else { continue };
            let documents = self.documents_with(term, &fields_of(field))?;
            if documents <= RARE_DOCUMENTS && doubtful.len() < WORDS_MAX {
                let choices = if documents > 0 { vec![text.clone()] } else { Vec::new() };
                doubtful.push(Doubtful { field, text, choices });
            }
        }
        Ok(doubtful)
    }

    /// What may have been meant by a word, the likeliest first.
    fn candidates<E: From<QueryError>>(
        &self,
        expander: &Expander<'_>,
        word: &Doubtful,
        texts: &mut dyn FnMut(&Hit) -> Result<Option<String>, E>,
        stop: &Stop,
    ) -> Result<Vec<Candidate>, E> {
        let (typed, fields) = (word.text.to_lowercase(), fields_of(word.field));
        let term = self.analyzer.terms(&word.text).concat();
        let least = self.documents_with(&term, &fields)? * TIMES_COMMONER;
        let farthest = |word: &str| if word.chars().count() < LONG_CHARS { 1 } else { 2 };
        let from = |written: &str| strsim::osa_distance(&typed, &written.to_lowercase());
        let mut found: Vec<Candidate> = Vec::new();
        for (stem, documents) in self.stems(&word.text, &fields)? {
            let fits = |written: &str| (1..=farthest(&typed)).contains(&from(written));
            let sought = Sought { term: &stem, fields: &fields, typed: &word.text, fits: &fits };
            let words = self.written(&sought, texts, stop)?.into_iter();
            let nearest = words.min_by_key(|word| from(word)).filter(|_| documents > least);
            found.extend(nearest.map(|word| {
                let distance = from(&word);
                Candidate { term: stem, documents, distance, word }
            }));
        }
        for distance in 1..=farthest(&term) {
            let letters = u32::try_from(distance).unwrap_or(u32::MAX);
            let near = expander.most(&fields, &Pattern::Near(term.clone(), letters))?.most;
            let is_new = |(other, documents): &(String, u64)| {
                *documents > least && found.iter().all(|candidate| candidate.term != *other)
            };
            let near: Vec<_> = near.into_iter().filter(is_new).take(CANDIDATES_MAX).collect();
            for (term, documents) in near {
                let fits = |_: &str| true;
                let sought =
                    Sought { term: &term, fields: &fields, typed: &word.text, fits: &fits };
                let words = self.written(&sought, texts, stop)?.into_iter();
                let nearest = words.min_by_key(|word| from(word));
                found.extend(nearest.map(|word| Candidate { term, documents, distance, word }));
            }
            if found.len() >= CANDIDATES_MAX {
                break;
            }
        }
        found.sort_by_key(|candidate| (candidate.distance, Reverse(candidate.documents)));
        found.truncate(CANDIDATES_MAX);
        Ok(found)
    }

    /// The first query that finds more than `total`, of all that the choices of words make.
    fn first_better(
        &self,
        query: &Query,
        total: u64,
        doubtful: &[Doubtful],
        stop: &Stop,
    ) -> Result<Option<Suggestion>, QueryError> {
        let mut ahead = BTreeSet::from([(0, vec![0_usize; doubtful.len()])]);
        for _ in 0..TRIES_MAX {
            let Some((cost, chosen)) = ahead.pop_first() else { break };
            for (number, word) in doubtful.iter().enumerate() {
                if chosen[number] + 1 < word.choices.len() {
                    let mut next = chosen.clone();
                    next[number] += 1;
                    ahead.insert((cost + 1, next));
                }
            }
            let mut other = query.clone();
            each_plain(&mut other, |field, text| {
                let mut words = doubtful.iter().zip(&chosen);
                let same = |(word, _): &(&Doubtful, _)| word.field == field && word.text == *text;
                if let Some((word, &choice)) = words.find(same) {
                    text.clone_from(&word.choices[choice]);
                }
            });
            let printed = other.to_string();
            if other == *query || !parse(&printed).is_ok_and(|parsed| parsed == other) {
                continue;
            }
            let found = self.prepare_until(&other, stop)?.with_all()?;
            if stop.is_set() {
                return Ok(None);
            }
            if found > total {
                return Ok(Some(Suggestion { query: printed, total: found }));
            }
        }
        Ok(None)
    }
}

/// Hands the plain words that are not negated to `visit`, from left to right.
fn each_plain(query: &mut Query, mut visit: impl FnMut(Option<Field>, &mut String)) {
    let mut left = vec![query];
    while let Some(query) = left.pop() {
        match query {
            Query::Term { field, text } => visit(*field, text),
            Query::Sequence(queries)
            | Query::And(queries)
            | Query::Or(queries)
            | Query::Near { parts: queries, .. } => left.extend(queries.iter_mut().rev()),
            Query::Required(part) => left.push(part),
            Query::AndNot(wanted, _) => left.push(wanted),
            _ => {}
        }
    }
}

fn fields_of(field: Option<Field>) -> Vec<Field> {
    field.map_or_else(|| Field::ALL.to_vec(), |field| vec![field])
}
