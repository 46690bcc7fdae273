//! Suggestions: a query that finds more, for a query that finds little.
//!
//! A plain word that few documents have may be misspelt. Its candidates are the words that are one edit away, and only
//! if that gives no suggestion, words that are two edits away (`edits.rs`). Each candidate is analysed and looked up in
//! the lexicon, and the term that most documents have is taken.
//!
//! What lives here: which words are doubted, and the choice among candidates. What does not: results, which a
//! suggestion never changes.
//!
//! **Invariant.** A suggestion is better than the query by the order of [`Matches`], and parses to the query that was
//! counted. Words that are negated, in phrases, with a star or a distance, or with digits stay as they are. The work is
//! bounded whatever the query and the lexicon: at most [`WORDS_MAX`] words are changed, [`LOOKUPS_MAX`] keys looked up at
//! each distance, and [`WORDS_MAX`] + 1 queries counted. Of several segments the largest are looked up first.

use std::cmp::Reverse;

use index::{Field, Segment};
use serde::Serialize;

use crate::edits;
use crate::written::Sought;
use crate::{Hit, Matches, Query, QueryError, Searcher, Stop, parse};

/// With fewer results that have all words a query gets a suggestion, where there is one.
pub const FEW_RESULTS: u64 = 3;
/// A word that more documents have is not doubted. One that any document has is doubted only if nothing is found.
const RARE_DOCUMENTS: u64 = 2;
/// A known word is changed only to a word in more than this many times as many documents.
const TIMES_COMMONER: u64 = 10;
/// A shorter word is near too many others.
const WORD_CHARS_MIN: usize = 3;
/// A longer word is no misspelt word.
const WORD_CHARS_MAX: usize = 32;
/// A word of at least this length may be two edits away.
const LONG_CHARS: usize = 5;
/// Words of a query that may be changed. Each takes some 0.4 ms.
const WORDS_MAX: usize = 2;
/// Keys that are looked up for all words of a query, at one distance.
const LOOKUPS_MAX: usize = 1 << 14;
/// Terms of which a written word is looked for, for each word of a query.
const TERMS_TRIED_MAX: usize = 2;

/// A query that was perhaps meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// As it can be typed.
    pub query: String,
    /// How many documents match it.
    pub total: u64,
}

/// A plain word of a query that few documents have.
struct Doubtful {
    field: Option<Field>,
    text: String,
    /// How many documents have it.
    documents: u64,
}

/// A doubtful word, and the word that was perhaps meant.
struct Change {
    word: Doubtful,
    meant: String,
}

impl Searcher {
    /// Suggests a query near `query`, which has `found` results. `None` if enough of them have all words, or if no query
    /// near it has more. `texts` gives the text of a document, where there is one: words are suggested as they are written
    /// there or in titles. Once `stop` is set there is no suggestion.
    pub fn suggest<E: From<QueryError>>(
        &self,
        query: &Query,
        found: Matches,
        stop: &Stop,
        mut texts: impl FnMut(&Hit) -> Result<Option<String>, E>,
    ) -> Result<Option<Suggestion>, E> {
        if found.with_all >= FEW_RESULTS {
            return Ok(None);
        }
        let doubtful = self.doubtful(query, found.total)?;
        let lookups = LOOKUPS_MAX / doubtful.len().max(1);
        let mut changes = Vec::new();
        for word in doubtful {
            if stop.is_set() {
                return Ok(None);
            }
            let meant = self.meant(&word, lookups, &mut texts, stop)?;
            changes.extend(meant.map(|meant| Change { word, meant }));
        }
        Ok(self.first_better(query, found, &changes, stop)?)
    }

    /// The first plain words that no document has, and where the query has no results, those that few documents have.
    fn doubtful(&self, query: &Query, total: u64) -> Result<Vec<Doubtful>, QueryError> {
        let most = if total == 0 { RARE_DOCUMENTS } else { 0 };
        let mut words: Vec<(Option<Field>, String)> = Vec::new();
        each_plain(&mut query.clone(), |field, text| {
            let known = words.iter().any(|(other, word)| (*other, word) == (field, &*text));
            let letters = text.chars().filter(|c| c.is_alphabetic()).count();
            let is_word = letters >= WORD_CHARS_MIN && text.chars().count() <= WORD_CHARS_MAX;
            if !known && is_word && !text.contains(char::is_numeric) {
                words.push((field, text.clone()));
            }
        });
        let mut doubtful = Vec::new();
        for (field, text) in words {
            if doubtful.len() == WORDS_MAX {
                break;
            }
            let terms = self.analyzer.terms(&text);
            let [term] = &terms[..] else { continue };
            let documents = self.documents_with(term, &fields_of(field))?;
            if documents <= most {
                doubtful.push(Doubtful { field, text, documents });
            }
        }
        Ok(doubtful)
    }

    /// The word that was perhaps meant by `word`.
    fn meant<E: From<QueryError>>(
        &self,
        word: &Doubtful,
        lookups: usize,
        texts: &mut dyn FnMut(&Hit) -> Result<Option<String>, E>,
        stop: &Stop,
    ) -> Result<Option<String>, E> {
        let typed = self.plain.terms(&word.text).concat();
        let fields = fields_of(word.field);
        let least = word.documents * TIMES_COMMONER;
        for away in [edits::one_away, edits::two_away] {
            let mut words = away(&typed);
            // Each is looked up in titles and in texts.
            words.truncate(lookups / 2);
            let terms = self.terms_of(&words);
            for term in self.commonest(&terms, word.field, lookups)? {
                if self.documents_with(term, &fields)? <= least {
                    continue;
                }
                let with_term = words.iter().zip(&terms).filter(|(_, other)| *other == term);
                let mut forms: Vec<&str> = with_term.map(|(word, _)| word.as_str()).collect();
                forms.sort_unstable();
                forms.dedup();
                let fits = |word: &str| forms.contains(&&*self.plain.terms(word).concat());
                let sought = Sought { term, fields: &fields, typed: &word.text, fits: &fits };
                let meant = match forms[..] {
                    // Texts tell which of several forms are words, and whether a stem is one.
                    [form] if form != term || self.analyzer.stemmer() == "none" => {
                        let written = self.written(&sought, &mut |_| Ok::<_, E>(None), stop)?;
                        written.into_iter().next().or_else(|| Some(form.to_owned()))
                    }
                    _ => self.written(&sought, texts, stop)?.into_iter().next(),
                };
                if meant.is_some() {
                    return Ok(meant);
                }
            }
            if word.documents > 0 || typed.chars().count() < LONG_CHARS {
                break;
            }
        }
        Ok(None)
    }

    /// The term of each of these words.
    fn terms_of(&self, words: &[String]) -> Vec<String> {
        let mut maker = self.analyzer.uncached_term_maker();
        words.iter().map(|word| maker.term(word).to_owned()).collect()
    }

    /// The terms that most documents have, at most [`TERMS_TRIED_MAX`]. Looks them up in the largest segments, in as many
    /// of these as `lookups` allow.
    fn commonest<'t>(
        &self,
        terms: &'t [String],
        field: Option<Field>,
        lookups: usize,
    ) -> Result<Vec<&'t str>, QueryError> {
        // A word that is worth suggesting is in a title or in a text.
        let fields = field.map_or_else(|| vec![Field::Title, Field::Body], |field| vec![field]);
        let keys = terms.len() * fields.len();
        let mut segments: Vec<&Segment> = self.index.segments().iter().collect();
        segments.sort_by_key(|segment| Reverse(segment.doc_count()));
        let mut documents = vec![0_u64; terms.len()];
        for segment in segments.into_iter().take((lookups / keys.max(1)).max(1)) {
            for &field in &fields {
                let asked: Vec<(Field, &str)> =
                    terms.iter().map(|term| (field, term.as_str())).collect();
                let found = segment.doc_frequencies(&asked)?;
                for (sum, count) in documents.iter_mut().zip(found) {
                    *sum += u64::from(count);
                }
            }
        }
        let mut found: Vec<(u64, &str)> =
            documents.into_iter().zip(terms.iter().map(String::as_str)).collect();
        found.retain(|(documents, _)| *documents > 0);
        found.sort_unstable_by_key(|&(documents, term)| (Reverse(documents), term));
        found.dedup();
        found.truncate(TERMS_TRIED_MAX);
        Ok(found.into_iter().map(|(_, term)| term).collect())
    }

    /// The first query that finds more than `before`: with all words changed that no document has, and then with one
    /// of the others changed too.
    fn first_better(
        &self,
        query: &Query,
        before: Matches,
        changes: &[Change],
        stop: &Stop,
    ) -> Result<Option<Suggestion>, QueryError> {
        let known = changes.iter().enumerate().filter(|(_, change)| change.word.documents > 0);
        let also = known.map(|(number, _)| Some(number));
        for also in std::iter::once(None).chain(also) {
            let is_made =
                |number: usize, change: &Change| change.word.documents == 0 || also == Some(number);
            let mut other = query.clone();
            each_plain(&mut other, |field, text| {
                let change = changes.iter().enumerate().find(|(number, change)| {
                    let Change { word, .. } = change;
                    is_made(*number, change) && word.field == field && word.text == *text
                });
                if let Some((_, change)) = change {
                    text.clone_from(&change.meant);
                }
            });
            let printed = other.to_string();
            if other == *query || !parse(&printed).is_ok_and(|parsed| parsed == other) {
                continue;
            }
            let found = self.prepare_until(&other, stop)?.matches()?;
            if stop.is_set() {
                return Ok(None);
            }
            if found > before {
                return Ok(Some(Suggestion { query: printed, total: found.total }));
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
