//! A window, or a word in several forms, in one field of one segment.
//!
//! What lives here: the lists of the operators, and the frequency of each word in the current document. What does
//! not: intervals (`operators`), scores (`tree.rs`).
//!
//! A word in several forms is scored as one term (`bm25.rs`): its frequency is the sum over all forms, and n(t) is
//! the sum over its forms, at most N. A window is scored as a phrase: in each field that contains it, each of its
//! words counts with all its occurrences there.
//!
//! **Invariant.** A word counts if the document is a candidate of every operand that contains it. Of alternatives,
//! those with all their words count.

use index::{DocId, DocIterator, Field, Frequencies, Postings, Segment};

use crate::operators::{Adjacent, Either, Forms, Interval, Intervals, Ordered, Unordered};
use crate::plan::Part;
use crate::stop::Until;
use crate::{QueryError, Stop};

/// A part with positions, in one field.
pub(crate) struct Spans<'a> {
    node: Node<'a>,
    /// An upper bound of the number of documents, from the sizes of the lists.
    pub(crate) cost: u64,
}

enum Node<'a> {
    /// With the number of the first word.
    Words(Adjacent<Forms<Until<'a, Postings<'a>>>>, usize),
    Either(Either<Spans<'a>>),
    Unordered(Unordered<Spans<'a>>),
    Ordered(Ordered<Spans<'a>>),
}

impl<'a> Spans<'a> {
    /// Builds a part. Words are numbered in the order of the query, from `next` on.
    pub(crate) fn build(
        part: &Part,
        segment: &'a Segment,
        field: Field,
        stop: &'a Stop,
        next: &mut usize,
    ) -> Result<Spans<'a>, QueryError> {
        let mut all = |parts: &[Part]| -> Result<Vec<Spans<'a>>, QueryError> {
            parts.iter().map(|part| Spans::build(part, segment, field, stop, next)).collect()
        };
        let cost = |part: &Spans<'a>| part.cost;
        Ok(match part {
            Part::Words { field: wanted, words } => {
                let number = *next;
                *next += words.len();
                let mut lists = Vec::with_capacity(words.len());
                for word in words {
                    let forms = if wanted.is_none_or(|wanted| wanted == field) {
                        &word.forms[..]
                    } else {
                        &[]
                    };
                    lists.push((word.shift, open(forms, segment, field, stop)?));
                }
                let least = lists.iter().map(|(_, list)| list.cost()).min().unwrap_or(0);
                let words = Adjacent::new(lists, Forms::cost);
                Spans { node: Node::Words(words, number), cost: least }
            }
            Part::Either(parts) => {
                let parts = all(parts)?;
                let sum = parts.iter().map(cost).sum();
                Spans { node: Node::Either(Either::new(parts)), cost: sum }
            }
            Part::Window { ordered, width, parts } => {
                let parts = all(parts)?;
                let least = parts.iter().map(cost).min().unwrap_or(0);
                let node = if *ordered {
                    Node::Ordered(Ordered::new(parts, *width, cost))
                } else {
                    Node::Unordered(Unordered::new(parts, *width, cost))
                };
                Spans { node, cost: least }
            }
        })
    }

    /// Calls `visit` with the number and frequency of each word that counts in the current document.
    pub(crate) fn each_frequency(&mut self, visit: &mut impl FnMut(usize, u32)) {
        match &mut self.node {
            Node::Words(words, number) => {
                for (place, word) in words.words_mut().iter_mut().enumerate() {
                    visit(*number + place, word.frequency());
                }
            }
            Node::Either(either) => either.for_each_matched(|part| part.each_frequency(visit)),
            Node::Unordered(window) => {
                window.parts_mut().iter_mut().for_each(|part| part.each_frequency(visit));
            }
            Node::Ordered(window) => {
                window.parts_mut().iter_mut().for_each(|part| part.each_frequency(visit));
            }
        }
    }
}

/// Opens the lists of the forms of a word. After a stop, some are missing.
fn open<'a>(
    forms: &[String],
    segment: &'a Segment,
    field: Field,
    stop: &'a Stop,
) -> Result<Forms<Until<'a, Postings<'a>>>, QueryError> {
    let mut lists = Vec::new();
    for form in forms.iter().take_while(|_| !stop.is_set()) {
        let postings = segment.postings(field, form)?;
        lists.extend(postings.map(|postings| Until::new(postings, stop)));
    }
    Ok(Forms::new(lists, |list| u64::from(list.list().doc_frequency())))
}

impl DocIterator for Spans<'_> {
    fn doc(&self) -> DocId {
        match &self.node {
            Node::Words(words, _) => words.doc(),
            Node::Either(either) => either.doc(),
            Node::Unordered(window) => window.doc(),
            Node::Ordered(window) => window.doc(),
        }
    }

    fn next_doc(&mut self) -> DocId {
        match &mut self.node {
            Node::Words(words, _) => words.next_doc(),
            Node::Either(either) => either.next_doc(),
            Node::Unordered(window) => window.next_doc(),
            Node::Ordered(window) => window.next_doc(),
        }
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        match &mut self.node {
            Node::Words(words, _) => words.skip_to(target),
            Node::Either(either) => either.skip_to(target),
            Node::Unordered(window) => window.skip_to(target),
            Node::Ordered(window) => window.skip_to(target),
        }
    }
}

impl Intervals for Spans<'_> {
    fn begin(&mut self) {
        match &mut self.node {
            Node::Words(words, _) => words.begin(),
            Node::Either(either) => either.begin(),
            Node::Unordered(window) => window.begin(),
            Node::Ordered(window) => window.begin(),
        }
    }

    fn next_interval(&mut self) -> Option<Interval> {
        match &mut self.node {
            Node::Words(words, _) => words.next_interval(),
            Node::Either(either) => either.next_interval(),
            Node::Unordered(window) => window.next_interval(),
            Node::Ordered(window) => window.next_interval(),
        }
    }

    fn occurs(&mut self) -> bool {
        match &mut self.node {
            Node::Words(words, _) => words.occurs(),
            Node::Either(either) => either.occurs(),
            Node::Unordered(window) => window.occurs(),
            Node::Ordered(window) => window.occurs(),
        }
    }
}
