//! Expansion: the terms of an index that a beginning of a word stands for, or a word but for some letters.
//!
//! All segments and fields are gone through at once, in the order of terms, so that a term and how many documents have it
//! are known before the next: what is kept is as many terms as are asked for, those that most documents have, however
//! many there are. For a beginning that is a range of the lexicon. For a word but for some letters the rows of the
//! table of edit distances are kept for each letter of the current term: the next term shares its beginning, and with
//! that the rows. Where a whole row is too far away no term that begins so can be near, and the lexicon skips them all.
//!
//! The distance is that of the fewest letters inserted, left out, replaced, or exchanged with their neighbour (optimal
//! string alignment), counted in characters.
//!
//! What does not live here: how a word of a query becomes what is compared (`plan.rs`).
//!
//! **Invariant.** Time and memory are bounded whatever the index has: by [`STEPS_MAX`] terms looked at and [`FORMS_MAX`]
//! kept for all words of a query together, and what is left out is said in a note. Filters are no forms of words.
//!
//! Reference: B. J. Oommen, R. K. S. Loke, "Pattern recognition of strings with substitutions, insertions, deletions
//! and generalized transpositions", 1997.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use index::{FILTER_MARK, Field, Index, Terms};

use crate::{QueryError, Stop};

/// Terms kept for one word.
pub(crate) const WORD_FORMS_MAX: usize = 1024;
/// Terms kept for all words of a query: each is a list in every field.
const FORMS_MAX: usize = 4096;
/// Terms looked at for all words of a query. To skip some is some of these.
const STEPS_MAX: usize = 1 << 22;
/// What it costs to skip terms, in terms.
const SKIP_STEPS: usize = 16;

/// Finds the terms that words of one query stand for.
pub(crate) struct Expander<'a> {
    index: &'a Index,
    stop: &'a Stop,
    forms_max: usize,
    steps_max: usize,
    /// What was found so far: a word that a query repeats is looked for once.
    known: Vec<Known>,
    /// What was left out.
    pub(crate) notes: Vec<String>,
}

/// The terms of a pattern in some fields.
struct Known {
    fields: Vec<Field>,
    pattern: Pattern,
    terms: Vec<String>,
}

/// What terms are compared with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Pattern {
    /// Terms that begin so.
    Beginning(String),
    /// Terms at most so many letters away.
    Near(String, u32),
}

impl<'a> Expander<'a> {
    /// For a query with so many words that stand for others.
    pub(crate) fn new(index: &'a Index, words: usize, stop: &'a Stop) -> Expander<'a> {
        let words = words.max(1);
        let forms_max = (FORMS_MAX / words).clamp(1, WORD_FORMS_MAX);
        let steps_max = STEPS_MAX / words;
        Expander { index, stop, forms_max, steps_max, known: Vec::new(), notes: Vec::new() }
    }

    /// The terms that `pattern` stands for in any of `fields`, in their order. `what` is how the query says it.
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
                "{what} may stand for more words than were looked at; of those that were, the {kept} that most pages \
                 have are searched for"
            ))
        } else {
            (left > 0).then(|| {
                format!("{what} stands for {count} words; the {kept} that most pages have are searched for")
            })
        };
        self.notes.extend(note);
        let mut terms: Vec<String> = most.into_iter().map(|(term, _)| term).collect();
        terms.sort_unstable();
        Ok(terms)
    }

    /// The terms that fit `pattern` in any of `fields`: those that most documents have.
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

/// The terms that fit a pattern.
pub(crate) struct Fitting {
    /// Those that most documents have, with how many, most first; equals in the order of terms.
    pub(crate) most: Vec<(String, u64)>,
    /// How many fit.
    count: u64,
    /// Whether there may be more than were looked at.
    is_cut: bool,
}

/// The terms of several segments and fields that fit a pattern, in order.
struct Merge<'a> {
    streams: Vec<Stream<'a>>,
    /// (term, stream).
    ahead: BinaryHeap<Reverse<(String, usize)>>,
    /// How many terms may still be looked at.
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

    /// The next term, and how many documents have it in that field in which most have it.
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

/// The terms of one field of one segment that fit.
struct Stream<'a> {
    terms: Terms<'a>,
    field: Field,
    /// `None` if all of them fit.
    table: Option<Table>,
}

impl Stream<'_> {
    /// Moves to the next term that fits; false if there is none, or no time to find it.
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
                (None, Some(table)) => table.judge(term),
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

/// What is behind all filters of the kind that `term` is; `None` if it is none.
fn behind_filters(term: &str) -> Option<String> {
    let at = term.find(FILTER_MARK)?;
    successor(&term[..at + FILTER_MARK.len()])
}

/// The least text that is greater than all that begin with `beginning`; `None` if there is none.
fn successor(beginning: &str) -> Option<String> {
    let mut chars: Vec<char> = beginning.chars().collect();
    while let Some(last) = chars.pop() {
        // Between these two there are no characters.
        let next =
            if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(u32::from(last) + 1) };
        if let Some(next) = next {
            return Some(chars.into_iter().chain([next]).collect());
        }
    }
    None
}

/// What is to be done with a term.
enum Verdict {
    Fits,
    /// It does not, but the next one may.
    Next,
    /// Nothing before this does.
    Skip(String),
    /// Nothing behind it does.
    End,
}

/// The table of distances between the beginnings of a word and those of the current term.
#[derive(Debug)]
struct Table {
    word: Vec<char>,
    distance_max: u32,
    /// The current term, as far as it has been compared.
    term: Vec<char>,
    /// For each beginning of `term`, the shortest first, its distance from each beginning of `word`.
    rows: Vec<Vec<u32>>,
}

impl Table {
    fn new(word: &str, distance_max: u32) -> Table {
        let word: Vec<char> = word.chars().collect();
        let first = (0..).take(word.len() + 1).collect();
        Table { word, distance_max, term: Vec::new(), rows: vec![first] }
    }

    fn judge(&mut self, term: &str) -> Verdict {
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

    /// The row of the letter that `term` ends with.
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

    /// Every verdict on a sorted list of words is that of the distance itself, and skips none that fits.
    #[test]
    fn skipping_loses_nothing() {
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
                    match table.judge(&words[at - 1]) {
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
    fn the_successor_is_behind_all_that_begin_so() {
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
