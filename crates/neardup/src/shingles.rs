//! The exact comparison of two pages: the Jaccard similarity of their 5-word shingles.
//!
//! A word is an unchanged run of characters between white space. Case, numbers and punctuation count, so
//! `C`, `C++`, `KEY_m` and `KEY_M` are four words. In a script without spaces each character is a word.
//! [`Dates`] can be left out. A shingle is five words in a row; a text of fewer words is one shingle. The
//! similarity of two texts is the number of shared shingles divided by the number of shingles in either.
//!
//! `tables.rs` selects the pages to compare.
//!
//! **Invariant.** The similarity is symmetric. It is 1 for equal sequences of words, and 0 for pages with
//! different titles or without text.
//!
//! **Reference.** A. Broder, "On the resemblance and containment of documents", SEQUENCES 1997.

use std::cell::OnceCell;
use std::cmp::Ordering;

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::dates;
use crate::letter::is_unspaced;

/// Words in a shingle.
const SHINGLE_WORDS: usize = 5;

/// The treatment of dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dates {
    /// Dates are words like others.
    Kept,
    /// Dates are left out.
    LeftOut,
}

/// The words of the title and text of a page, as 64-bit hashes.
#[derive(Debug, Clone)]
pub struct PageWords {
    title: Vec<u64>,
    text: Vec<u64>,
    /// The hashes of the shingles of the text, ascending and distinct. Computed at first use.
    shingles: OnceCell<Vec<u64>>,
}

impl PageWords {
    /// Cuts title and text into words.
    pub fn of(title: &str, text: &str, dates: Dates) -> Self {
        let words = |text| hashes(text, dates);
        Self { title: words(title), text: words(text), shingles: OnceCell::new() }
    }

    /// Returns whether the text has no words.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// A digest that is equal for pages with equal sequences of words in title and text.
    pub fn digest(&self) -> u128 {
        let length = self.title.len() as u64;
        let words = [length].into_iter().chain(self.title.iter().chain(&self.text).copied());
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        xxh3_128(&bytes)
    }

    /// The Jaccard similarity of the texts; 0 if the titles differ or a text is empty.
    pub fn similarity(&self, other: &Self) -> f64 {
        if self.title != other.title || self.is_empty() || other.is_empty() {
            0.0
        } else if self.text == other.text {
            1.0
        } else {
            jaccard(self.shingles(), other.shingles())
        }
    }

    fn shingles(&self) -> &[u64] {
        self.shingles.get_or_init(|| {
            let size = SHINGLE_WORDS.min(self.text.len()).max(1);
            let mut shingles: Vec<u64> = self.text.windows(size).map(shingle).collect();
            shingles.sort_unstable();
            shingles.dedup();
            shingles
        })
    }
}

/// The hash of the title's words without dates.
pub(crate) fn title_hash(title: &str) -> u64 {
    hashes(title, Dates::LeftOut).into_iter().fold(0, crate::pair)
}

/// The hashes of the words of `text`.
fn hashes(text: &str, dates: Dates) -> Vec<u64> {
    let mut words = Vec::with_capacity(text.len() / 6);
    text.split_whitespace().for_each(|word| cut(word, &mut words));
    let mut hashes = Vec::with_capacity(words.len());
    let mut rest = words.as_slice();
    while let [first, others @ ..] = rest {
        let date = if dates == Dates::LeftOut { dates::length(rest) } else { 0 };
        rest = if date == 0 { others } else { &rest[date..] };
        if date == 0 {
            hashes.push(xxh3_64(first.as_bytes()));
        }
    }
    hashes
}

/// Cuts a word after a date with a closing bracket, since a link may follow without white space.
fn cut<'a>(word: &'a str, words: &mut Vec<&'a str>) {
    let end = word.find([')', ']']).map_or(word.len(), |bracket| bracket + 1);
    let (date, after) = word.split_at(end);
    if after.starts_with(char::is_alphanumeric) && dates::is_part(date) {
        cut_unspaced(date, words);
        cut_unspaced(after, words);
    } else {
        cut_unspaced(word, words);
    }
}

/// Cuts off each character of a script without spaces.
fn cut_unspaced<'a>(word: &'a str, words: &mut Vec<&'a str>) {
    if word.is_ascii() {
        return words.push(word);
    }
    let mut rest = word;
    while let Some(at) = rest.find(is_unspaced) {
        let (before, from) = rest.split_at(at);
        let length = from.chars().next().map_or(0, char::len_utf8);
        let (alone, after) = from.split_at(length);
        words.extend([before, alone].into_iter().filter(|word| !word.is_empty()));
        rest = after;
    }
    words.extend(Some(rest).filter(|word| !word.is_empty()));
}

fn shingle(words: &[u64]) -> u64 {
    let mut bytes = [0; 8 * SHINGLE_WORDS];
    for (slot, word) in bytes.chunks_exact_mut(8).zip(words) {
        slot.copy_from_slice(&word.to_le_bytes());
    }
    xxh3_64(&bytes[..8 * words.len()])
}

/// The Jaccard similarity of two ascending lists of distinct numbers.
#[expect(clippy::cast_precision_loss, reason = "a text has fewer than 2^52 words")]
fn jaccard(these: &[u64], those: &[u64]) -> f64 {
    let (mut a, mut b, mut shared) = (0, 0, 0);
    while let (Some(this), Some(that)) = (these.get(a), those.get(b)) {
        let order = this.cmp(that);
        a += usize::from(order != Ordering::Greater);
        b += usize::from(order != Ordering::Less);
        shared += usize::from(order == Ordering::Equal);
    }
    let either = these.len() + those.len() - shared;
    shared as f64 / either as f64
}
