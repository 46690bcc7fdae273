//! Suggestions: corrected queries for queries with few results.
//!
//! A plain word in few documents may be misspelt. Its candidates are the words at edit distance one and, without a
//! suggestion from these, at distance two (`edits.rs`). Each candidate is analysed and looked up in the lexicon.
//! The most frequent term is taken.
//!
//! What lives here: the choice of doubtful words and of candidates. What does not: results, which a suggestion
//! never changes.
//!
//! **Invariant.** A suggestion is better than the query in the order of [`Matches`], and parses to the query that
//! was counted. Words that are negated, in phrases, with `*`, `~` or digits stay unchanged. The work is bounded
//! for any query and lexicon: at most [`WORDS_MAX`] words are changed, [`LOOKUPS_MAX`] keys looked up at each
//! distance, and [`WORDS_MAX`] + 1 queries counted. The largest segments are looked up first.

use std::cmp::Reverse;

use index::{Field, Segment};
use serde::Serialize;

use crate::edits;
use crate::surface_forms::TermContext;
use crate::{Hit, Matches, Query, QueryError, Searcher, Stop, parse};

/// A query with fewer results that have all words may get a suggestion.
pub const FEW_RESULTS: u64 = 3;
/// Maximum document frequency of a doubtful word. A word with any documents is doubtful only in a query without
/// results.
const RARE_DOCUMENTS: u64 = 2;
/// A known word is replaced only by a word with more than this many times its document frequency.
const TIMES_COMMONER: u64 = 10;
/// Shorter words are similar to too many others.
const WORD_CHARS_MIN: usize = 3;
/// Longer words are not corrected.
const WORD_CHARS_MAX: usize = 32;
/// Words of at least this length are corrected up to distance two.
const LONG_CHARS: usize = 5;
/// Maximum number of words to change. Each takes about 0.4 ms.
const WORDS_MAX: usize = 2;
/// Maximum number of lookups for all words of a query, at one distance.
const LOOKUPS_MAX: usize = 1 << 14;
/// Maximum number of terms per query word for which a written form is searched.
const TERMS_TRIED_MAX: usize = 2;

/// A corrected query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// The query as text.
    pub query: String,
    /// The number of matching documents.
    pub total: u64,
}

/// A plain word of a query that may be misspelt.
struct Doubtful {
    field: Option<Field>,
    text: String,
    /// Its document frequency.
    documents: u64,
}

/// A doubtful word and its correction.
struct Change {
    word: Doubtful,
    meant: String,
}

impl Searcher {
    /// Suggests a correction of `query`, which has `found` results. Returns `None` if enough of them have all
    /// words, if no correction has more, or after `stop`. `texts` gives the text of a document if it exists:
    /// corrections are written as in these texts or in titles.
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

    /// The first plain words without documents. If the query has no results, rare words count too.
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

    /// Finds the correction of a word.
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
            // Each word is looked up in two fields: titles and texts.
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
                let sought = TermContext { term, fields: &fields, typed: &word.text, fits: &fits };
                let meant = match forms[..] {
                    // Texts show which of several forms are words, and whether a stem is one.
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

    fn terms_of(&self, words: &[String]) -> Vec<String> {
        let mut maker = self.analyzer.uncached_term_maker();
        words.iter().map(|word| maker.term(word).to_owned()).collect()
    }

    /// The most frequent terms, at most [`TERMS_TRIED_MAX`]. Looks them up in the largest segments, within the
    /// limit of `lookups`.
    fn commonest<'t>(
        &self,
        terms: &'t [String],
        field: Option<Field>,
        lookups: usize,
    ) -> Result<Vec<&'t str>, QueryError> {
        // A useful correction occurs in a title or in a text.
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

    /// Returns the first correction that is better than `before`: first with all unknown words replaced, then with
    /// one of the known words replaced as well.
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

/// Calls `visit` for the plain words that are not negated, from left to right.
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
