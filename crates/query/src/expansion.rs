//! Expansion: finds the index terms that match a prefix or a misspelt word.
//!
//! The terms of all segments and fields are merged in sorted order. So the document frequency of a term is known
//! before the next term, and only the most frequent terms are kept, however many match. For a prefix, the terms
//! are a range of the lexicon. For a misspelt word, a table holds a row of edit distances for each letter of the
//! current term. The next term shares a prefix with it, and so the rows of that prefix. If a whole row exceeds the
//! distance, no term with this prefix can match, and the lexicon skips them all.
//!
//! The distance is the least number of letters inserted, deleted, replaced, or transposed with a neighbour
//! (optimal string alignment), counted in characters.
//!
//! Elsewhere: the analysis of the words of a query (`plan.rs`).
//!
//! **Invariant.** Time and memory are bounded for any index: all words of a query together examine at most
//! [`STEPS_MAX`] terms and keep at most [`FORMS_MAX`]. A note reports omitted terms. Filters are never forms of a
//! word.
//!
//! B. J. Oommen, R. K. S. Loke, "Pattern recognition of strings with substitutions, insertions, deletions and
//! generalized transpositions", 1997.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use index::{FILTER_MARK, Field, Index, Terms};

use crate::{QueryError, Stop};

/// Maximum number of terms for one word.
pub(crate) const WORD_FORMS_MAX: usize = 1024;
/// Maximum number of terms for all words of a query. Each term is a list in every field.
const FORMS_MAX: usize = 4096;
/// Maximum number of examined terms for all words of a query, including the cost of skips.
const STEPS_MAX: usize = 1 << 22;
/// Cost of a skip, in terms.
const SKIP_STEPS: usize = 16;

/// Finds the index terms that match the words of one query.
pub(crate) struct Expander<'a> {
    index: &'a Index,
    stop: &'a Stop,
    forms_max: usize,
    steps_max: usize,
    /// Results so far, so that a repeated word is expanded once.
    known: Vec<Known>,
    /// Reports of omitted terms.
    pub(crate) notes: Vec<String>,
}

/// The terms that match a pattern in some fields.
struct Known {
    fields: Vec<Field>,
    pattern: Pattern,
    terms: Vec<String>,
}

/// A pattern for terms.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Pattern {
    /// Terms with this prefix.
    Beginning(String),
    /// Terms within this edit distance.
    Near(String, u32),
}

impl<'a> Expander<'a> {
    /// Shares the limits among the given number of words.
    pub(crate) fn new(index: &'a Index, words: usize, stop: &'a Stop) -> Expander<'a> {
        let words = words.max(1);
        let forms_max = (FORMS_MAX / words).clamp(1, WORD_FORMS_MAX);
        let steps_max = STEPS_MAX / words;
        Expander { index, stop, forms_max, steps_max, known: Vec::new(), notes: Vec::new() }
    }

    /// The terms that match `pattern` in any of `fields`, sorted. `what` is the text of the pattern in the query.
    pub(crate) fn expand(
        &mut self,
        what: &str,
        fields: &[Field],
        pattern: Pattern,
    ) -> Result<Vec<String>, QueryError> {
        let same = |known: &&Known| known.fields == fields && known.pattern == pattern;
        if let Some(known) = self.known.iter().find(same) {
            return Ok(known.terms.clone());
        }
        let terms = self.find(what, fields, &pattern)?;
        self.known.push(Known { fields: fields.to_vec(), pattern, terms: terms.clone() });
        Ok(terms)
    }

    fn find(
        &mut self,
        what: &str,
        fields: &[Field],
        pattern: &Pattern,
    ) -> Result<Vec<String>, QueryError> {
        let Fitting { most, count, is_cut } = self.most(fields, pattern)?;
        let (kept, left) = (most.len() as u64, count - most.len() as u64);
        let note = if is_cut {
            Some(format!(
                "{what} may match more words than were examined; only the {kept} most common of those are searched for"
            ))
        } else {
            (left > 0).then(|| {
                format!(
                    "{what} matches {count} words; only the {kept} most common are searched for"
                )
            })
        };
        self.notes.extend(note);
        let mut terms: Vec<String> = most.into_iter().map(|(term, _)| term).collect();
        terms.sort_unstable();
        Ok(terms)
    }

    /// The most frequent terms that match `pattern` in any of `fields`.
    pub(crate) fn most(&self, fields: &[Field], pattern: &Pattern) -> Result<Fitting, QueryError> {
        let mut merge = Merge::begin(self.index, fields, pattern, self.steps_max, self.stop)?;
        let mut best: BinaryHeap<Reverse<(u64, Reverse<String>)>> = BinaryHeap::new();
        let mut count = 0_u64;
        while let Some((term, documents)) = merge.next()? {
            count += 1;
            best.push(Reverse((documents, Reverse(term))));
            if best.len() > self.forms_max {
                best.pop();
            }
        }
        let most = best.into_sorted_vec().into_iter();
        let most = most.map(|Reverse((documents, Reverse(term)))| (term, documents)).collect();
        Ok(Fitting { most, count, is_cut: merge.steps_left == 0 || self.stop.is_set() })
    }
}

/// The terms that match a pattern.
pub(crate) struct Fitting {
    /// The most frequent terms with their document frequencies, in falling order. Ties are in the order of terms.
    pub(crate) most: Vec<(String, u64)>,
    /// The number of all matching terms.
    count: u64,
    /// Whether there may be more terms that were not examined.
    is_cut: bool,
}

/// The matching terms of several segments and fields, in order.
struct Merge<'a> {
    streams: Vec<Stream<'a>>,
    /// (term, stream).
    ahead: BinaryHeap<Reverse<(String, usize)>>,
    /// The number of terms that may still be examined.
    steps_left: usize,
    stop: &'a Stop,
}

impl<'a> Merge<'a> {
    fn begin(
        index: &'a Index,
        fields: &[Field],
        pattern: &Pattern,
        steps: usize,
        stop: &'a Stop,
    ) -> Result<Merge<'a>, QueryError> {
        let (streams, ahead) = (Vec::new(), BinaryHeap::new());
        let mut merge = Merge { streams, ahead, steps_left: steps, stop };
        for segment in index.segments() {
            for &field in fields {
                let (prefix, table) = match pattern {
                    Pattern::Beginning(prefix) => (prefix.as_str(), None),
                    Pattern::Near(word, distance) => ("", Some(Table::new(word, *distance))),
                };
                let terms = segment.terms(field, prefix)?;
                merge.streams.push(Stream { terms, field, table });
                merge.push(merge.streams.len() - 1)?;
            }
        }
        Ok(merge)
    }

    /// Puts the next term of a stream into the heap.
    fn push(&mut self, number: usize) -> Result<(), QueryError> {
        if self.streams[number].advance(&mut self.steps_left, self.stop)? {
            let term = self.streams[number].terms.term()?.to_owned();
            self.ahead.push(Reverse((term, number)));
        }
        Ok(())
    }

    /// Returns the next term and its document frequency, in the field where that is greatest.
    fn next(&mut self) -> Result<Option<(String, u64)>, QueryError> {
        let Some(Reverse((term, _))) = self.ahead.peek() else { return Ok(None) };
        let term = term.clone();
        let mut documents = [0_u64; Field::ALL.len()];
        while let Some(Reverse((next, _))) = self.ahead.peek()
            && *next == term
        {
            let Some(Reverse((_, number))) = self.ahead.pop() else { break };
            let stream = &self.streams[number];
            documents[stream.field as usize] += u64::from(stream.terms.doc_frequency());
            self.push(number)?;
        }
        Ok(Some((term, documents.into_iter().max().unwrap_or(0))))
    }
}

/// The matching terms of one field of one segment.
struct Stream<'a> {
    terms: Terms<'a>,
    field: Field,
    /// `None` if all of them match.
    table: Option<Table>,
}

impl Stream<'_> {
    /// Moves to the next matching term. Returns false at the end, or when steps or time run out.
    fn advance(&mut self, steps_left: &mut usize, stop: &Stop) -> Result<bool, QueryError> {
        let mut skip: Option<String> = None;
        loop {
            let cost = if skip.is_some() { SKIP_STEPS } else { 1 };
            *steps_left = steps_left.saturating_sub(cost);
            let there = match &skip {
                _ if *steps_left == 0 || stop.is_set() => false,
                Some(target) => self.terms.skip_to(target)?,
                None => self.terms.advance()?,
            };
            if !there {
                return Ok(false);
            }
            let term = self.terms.term()?;
            let verdict = match (behind_filters(term), &mut self.table) {
                (Some(target), _) => Verdict::Skip(target),
                (None, Some(table)) => table.collect(term),
                (None, None) => Verdict::Fits,
            };
            skip = match verdict {
                Verdict::Fits => return Ok(true),
                Verdict::Next => None,
                Verdict::Skip(target) => Some(target),
                Verdict::End => return Ok(false),
            };
        }
    }
}

/// The first text after all filters of the kind of `term`. `None` if `term` is not a filter.
fn behind_filters(term: &str) -> Option<String> {
    let at = term.find(FILTER_MARK)?;
    successor(&term[..at + FILTER_MARK.len()])
}

/// The least text that is greater than all texts with this prefix. `None` if it does not exist.
fn successor(beginning: &str) -> Option<String> {
    let mut chars: Vec<char> = beginning.chars().collect();
    while let Some(last) = chars.pop() {
        // U+D800 to U+DFFF are not characters.
        let next =
            if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(u32::from(last) + 1) };
        if let Some(next) = next {
            return Some(chars.into_iter().chain([next]).collect());
        }
    }
    None
}

/// The next step after a term.
enum Verdict {
    Fits,
    /// The term does not match, but the next one may.
    Next,
    /// No term before this one matches.
    Skip(String),
    /// No later term matches.
    End,
}

/// The table of distances between the prefixes of a word and those of the current term.
#[derive(Debug)]
struct Table {
    word: Vec<char>,
    distance_max: u32,
    /// The compared prefix of the current term.
    term: Vec<char>,
    /// For each prefix of `term`, the shortest first, its distances from all prefixes of `word`.
    rows: Vec<Vec<u32>>,
}

impl Table {
    fn new(word: &str, distance_max: u32) -> Table {
        let word: Vec<char> = word.chars().collect();
        let first = (0..).take(word.len() + 1).collect();
        Table { word, distance_max, term: Vec::new(), rows: vec![first] }
    }

    fn collect(&mut self, term: &str) -> Verdict {
        let shared = self.term.iter().zip(term.chars()).take_while(|(a, b)| **a == *b).count();
        self.term.truncate(shared);
        self.rows.truncate(shared + 1);
        for c in term.chars().skip(shared) {
            self.term.push(c);
            let row = self.next_row();
            let is_far = row.iter().all(|&distance| distance > self.distance_max);
            self.rows.push(row);
            if is_far {
                let beginning: String = self.term.iter().collect();
                return successor(&beginning).map_or(Verdict::End, Verdict::Skip);
            }
        }
        let distance = self.rows.last().and_then(|row| row.last()).copied();
        let fits = distance.is_some_and(|distance| distance <= self.distance_max);
        if fits { Verdict::Fits } else { Verdict::Next }
    }

    /// The row of the last letter of `term`.
    fn next_row(&self) -> Vec<u32> {
        let (letters, above) = (&self.term, &self.rows[self.rows.len() - 1]);
        let letter = letters[letters.len() - 1];
        let mut row = Vec::with_capacity(above.len());
        row.push(above[0] + 1);
        for (at, &wanted) in self.word.iter().enumerate() {
            let replaced = above[at] + u32::from(letter != wanted);
            let mut distance = replaced.min(above[at + 1] + 1).min(row[at] + 1);
            let is_exchanged = at > 0
                && letters.len() > 1
                && letters[letters.len() - 2] == wanted
                && letter == self.word[at - 1];
            if is_exchanged {
                distance = distance.min(self.rows[self.rows.len() - 2][at - 1] + 1);
            }
            row.push(distance);
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares every verdict on a sorted list of words with the distance, and checks that no match is skipped.
    #[test]
    fn skipping_misses_no_match() {
        let letters = ['a', 'b', 'é', '\u{10ffff}'];
        let mut words = vec![String::new()];
        for from in [0, 1, 5, 21, 85] {
            let longer: Vec<String> = words[from..]
                .iter()
                .flat_map(|word| letters.map(|letter| format!("{word}{letter}")))
                .collect();
            words.extend(longer);
        }
        words.sort();
        for word in ["", "a", "ab", "abé", "ééb", "baab", "\u{10ffff}\u{10ffff}a"] {
            for distance in 0..3 {
                let (mut table, mut at, mut found) = (Table::new(word, distance), 0, Vec::new());
                while at < words.len() {
                    at += 1;
                    match table.collect(&words[at - 1]) {
                        Verdict::Fits => found.push(&words[at - 1]),
                        Verdict::Next => {}
                        Verdict::Skip(target) => {
                            assert!(target > words[at - 1]);
                            at = words.partition_point(|word| *word < target);
                        }
                        Verdict::End => break,
                    }
                }
                let near = |other: &&String| strsim::osa_distance(word, other) <= distance as usize;
                assert_eq!(
                    found,
                    words.iter().filter(near).collect::<Vec<_>>(),
                    "{word} {distance}"
                );
            }
        }
    }

    #[test]
    fn the_successor_follows_all_words_with_the_prefix() {
        for (text, expected) in [
            ("a", Some("b")),
            ("site::", Some("site:;")),
            ("a\u{10ffff}", Some("b")),
            ("\u{d7ff}", Some("\u{e000}")),
            ("\u{10ffff}", None),
            ("", None),
        ] {
            assert_eq!(successor(text).as_deref(), expected, "{text:?}");
        }
    }
}
