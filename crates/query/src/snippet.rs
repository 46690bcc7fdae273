//! Snippets: the best passage of a text for a query, with its words highlighted.
//!
//! A word is highlighted if its analysed form is a term of the query, so stems and accents match as in the index.
//! Among all windows that fit, the best one has (1) the most different terms, (2) the most highlighted words, (3)
//! the shortest span, (4) the earliest place. It is then widened by neighbouring words until it is full,
//! preferably from the beginning of a block. One pass of analysis and one of two pointers: linear in the text.
//! Slow analysis is bounded (`snippet_budget.rs`).
//!
//! **Invariant.** A snippet has at most the requested number of characters, ellipses included. It is cut between
//! words, or inside one if no word fits. The pieces of [`Highlighter::mark`] together are its text.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use page::Analyzer;
use serde::Serialize;

use crate::{Stop, snippet_budget};

/// Maximum part of a text that is searched for a snippet.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// Ellipses before and after the snippet.
const ELLIPSES: (&str, &str) = ("… ", " …");
const ELLIPSES_CHARS: usize = 4;
/// Longer runs of punctuation are not part of the word beside them.
const PUNCTUATION_BYTES_MAX: usize = 8;

/// A piece of text that is entirely highlighted or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// Never empty.
    pub text: String,
    /// Whether it is a word of the query.
    pub highlighted: bool,
}

/// Highlights the words of one query. Created by [`crate::Prepared::highlighter`].
pub struct Highlighter {
    analyzer: Analyzer,
    /// Sorted.
    terms: Vec<String>,
    stop: Stop,
}

impl Highlighter {
    pub(crate) fn new(analyzer: Analyzer, terms: BTreeSet<String>, stop: Stop) -> Highlighter {
        Highlighter { analyzer, terms: terms.into_iter().collect(), stop }
    }

    /// Returns the whole text in pieces.
    pub fn mark(&self, text: &str) -> Vec<Piece> {
        let mut pieces = Pieces::default();
        pieces.push_marked(text, 0..text.len(), &self.words(text), str::to_owned);
        pieces.0
    }

    /// Returns the best `chars_max` characters of the text, with white space collapsed.
    pub fn snippet(&self, text: &str, chars_max: usize) -> Vec<Piece> {
        let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        let words = self.words(text);
        let window = if text.chars().nth(chars_max).is_none() {
            Some(0..text.len())
        } else {
            let budget = chars_max.saturating_sub(ELLIPSES_CHARS);
            best_window(&words, self.terms.len(), budget)
                .or_else(|| words.first().filter(|word| word.chars() <= budget).map(|_| (0, 0)))
                .map(|window| widen(text, &words, window, budget))
                .map(|(first, last)| words[first].from..words[last].to)
        };
        let mut pieces = Pieces::default();
        let Some(window) = window else {
            pieces.push(&collapse(&first_chars(text, chars_max)), false);
            return pieces.0;
        };
        if !text[..window.start].trim().is_empty() {
            pieces.push(ELLIPSES.0, false);
        }
        let cut = !text[window.end..].trim().is_empty();
        pieces.push_marked(text, window, &words, collapse);
        if cut {
            pieces.push(ELLIPSES.1, false);
        }
        pieces.0
    }

    fn words(&self, text: &str) -> Vec<Word> {
        let mut words = Words { text, list: Vec::new(), counted: 0, chars: 0 };
        // Without words nothing is highlighted, and a snippet is the beginning of its text.
        if self.stop.is_set() {
            return Vec::new();
        }
        snippet_budget::parts(text, &self.terms, |part, is_cut| {
            let (start, part) = (part.start, &text[part]);
            if !is_cut {
                return words.push(start, start + part.trim_end().len(), None);
            }
            self.analyzer.each(part, &mut |token| {
                let term = self.terms.binary_search_by(|term| term.as_str().cmp(token.term)).ok();
                words.push(start + token.start, start + token.end, term);
            });
        });
        words.finish()
    }
}

/// Collects the words of a text.
struct Words<'a> {
    text: &'a str,
    list: Vec<Word>,
    /// The first `counted` bytes are `chars` characters.
    counted: usize,
    chars: usize,
}

impl Words<'_> {
    fn push(&mut self, start: usize, end: usize, term: Option<usize>) {
        let text = self.text;
        let previous_end = self.list.last().map_or(0, |word| word.end);
        if start < previous_end || end <= start {
            return;
        }
        let (before, after) = share(&text[previous_end..start], self.list.is_empty());
        if let Some(previous) = self.list.last_mut() {
            previous.to += before;
            previous.chars_to += text[previous.end..previous.to].chars().count();
        }
        let from = start - after;
        let chars_from = self.chars + text[self.counted..from].chars().count();
        let chars_to = chars_from + text[from..end].chars().count();
        (self.counted, self.chars) = (end, chars_to);
        self.list.push(Word { start, end, from, to: end, chars_from, chars_to, term });
    }

    fn finish(mut self) -> Vec<Word> {
        if let Some(last) = self.list.last_mut() {
            last.to += share(&self.text[last.end..], false).0;
            last.chars_to += self.text[last.end..last.to].chars().count();
        }
        self.list
    }
}

/// One token of a text.
struct Word {
    /// Its bytes in the text.
    start: usize,
    end: usize,
    /// The word with its punctuation.
    from: usize,
    to: usize,
    /// `from` and `to` in characters.
    chars_from: usize,
    chars_to: usize,
    /// The number of its query term.
    term: Option<usize>,
}

impl Word {
    fn chars(&self) -> usize {
        self.chars_to - self.chars_from
    }
}

/// Splits the gap between two words: the bytes of punctuation that belong to the first word and to the second.
/// Punctuation that touches both belongs to the first.
fn share(gap: &str, is_first_gap: bool) -> (usize, usize) {
    let within = |bytes: usize| if bytes > PUNCTUATION_BYTES_MAX { 0 } else { bytes };
    let before = gap.find(char::is_whitespace);
    let after = gap.len() - gap.trim_end_matches(|c: char| !c.is_whitespace()).len();
    match before {
        None if is_first_gap => (0, within(after)),
        None => (within(gap.len()), 0),
        Some(before) => (within(before), within(after)),
    }
}

/// The first and last word of the best window of `budget` characters, both highlighted. `None` if no highlighted
/// word fits.
fn best_window(words: &[Word], terms: usize, budget: usize) -> Option<(usize, usize)> {
    let marked: Vec<(usize, usize)> =
        words.iter().enumerate().filter_map(|(at, word)| Some((at, word.term?))).collect();
    let mut counts = vec![0_u32; terms];
    let mut distinct = 0_usize;
    let mut left = 0;
    let mut best = None;
    for (right, &(last, term)) in marked.iter().enumerate() {
        distinct += usize::from(counts[term] == 0);
        counts[term] += 1;
        while left <= right && words[last].chars_to - words[marked[left].0].chars_from > budget {
            let dropped = marked[left].1;
            counts[dropped] -= 1;
            distinct -= usize::from(counts[dropped] == 0);
            left += 1;
        }
        if left > right {
            continue;
        }
        let first = marked[left].0;
        let span = words[last].chars_to - words[first].chars_from;
        let quality = (distinct, right - left + 1, Reverse(span));
        if best.as_ref().is_none_or(|(other, _)| quality > *other) {
            best = Some((quality, (first, last)));
        }
    }
    best.map(|(_, window)| window)
}

/// Widens the window by neighbouring words while it has at most `budget` characters.
fn widen(
    text: &str,
    words: &[Word],
    (mut first, mut last): (usize, usize),
    budget: usize,
) -> (usize, usize) {
    let chars = |first: usize, last: usize| words[last].chars_to - words[first].chars_from;
    let spare = budget - chars(first, last);
    let begins_block =
        |at: usize| at == 0 || text[words[at - 1].end..words[at].start].contains('\n');
    let lead_chars_min = words[first].chars_from.saturating_sub(spare / 2);
    while !begins_block(first) && words[first - 1].chars_from >= lead_chars_min {
        first -= 1;
    }
    while last + 1 < words.len() && chars(first, last + 1) <= budget {
        last += 1;
    }
    while first > 0 && chars(first - 1, last) <= budget {
        first -= 1;
    }
    (first, last)
}

fn first_chars(text: &str, chars_max: usize) -> String {
    let Some(kept) = chars_max.checked_sub(1) else { return String::new() };
    text.chars().take(kept).chain(['…']).collect()
}

fn collapse(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_whitespace() && !c.is_control() {
            collapsed.push(c);
        } else if !collapsed.ends_with(' ') {
            collapsed.push(' ');
        }
    }
    collapsed
}

/// Pieces; equally highlighted neighbours are joined.
#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn push(&mut self, text: &str, highlighted: bool) {
        match self.0.last_mut() {
            Some(last) if last.highlighted == highlighted => last.text.push_str(text),
            _ if text.is_empty() => {}
            _ => self.0.push(Piece { text: text.to_owned(), highlighted }),
        }
    }

    /// Appends the `window` of `text` with its query words highlighted. `print` formats each piece.
    fn push_marked(
        &mut self,
        text: &str,
        window: std::ops::Range<usize>,
        words: &[Word],
        print: fn(&str) -> String,
    ) {
        let mut at = window.start;
        for word in words {
            if word.term.is_some() && word.start >= window.start && word.end <= window.end {
                self.push(&print(&text[at..word.start]), false);
                self.push(&print(&text[word.start..word.end]), true);
                at = word.end;
            }
        }
        self.push(&print(&text[at..window.end]), false);
    }
}
