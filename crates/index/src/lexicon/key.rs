//! The key of a term: the number of its field, one byte, and then its own bytes.
//!
//! What lives here: keys as they are looked up ([`Key`]), and as a number that compares as they do
//! ([`beginning`]). What does not: how keys are stored (`block.rs`).
//!
//! **Invariant.** Keys of terms compare as bytes as (field, term) do.

use crate::Field;
use codes::symbols::Needle;

/// Keys of up to so many bytes need no memory of their own.
const SHORT_BYTES: usize = 48;

/// What a term that is no word has in it: one that says of a whole document what it is, to choose documents by. It
/// counts in no length.
pub const FILTER_MARK: &str = "::";

/// Whether the term of a key is a filter.
pub(crate) fn is_filter(key: &[u8]) -> bool {
    key.windows(FILTER_MARK.len()).any(|bytes| bytes == FILTER_MARK.as_bytes())
}

/// Puts in `key` the key of a term.
pub(crate) fn set_key(key: &mut Vec<u8>, field: Field, term: &str) {
    key.clear();
    key.push(field.number());
    key.extend_from_slice(term.as_bytes());
}

/// A key to look up, with what must be behind it.
#[derive(Debug)]
pub(crate) struct Key {
    short: [u8; SHORT_BYTES + Needle::PADDING],
    /// Empty if it fits the other.
    long: Vec<u8>,
    length: usize,
}

impl Key {
    /// No key at all.
    pub(super) const EMPTY: Key =
        Key { short: [0; SHORT_BYTES + Needle::PADDING], long: Vec::new(), length: 0 };

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "what it hands on is many words, which would go through memory"
    )]
    pub(crate) fn new(field: Field, term: &str) -> Key {
        let mut key = Key::EMPTY;
        key.set(field, term);
        key
    }

    /// Makes it the key of a term; it was [`Key::EMPTY`].
    #[inline]
    pub(super) fn set(&mut self, field: Field, term: &str) {
        self.length = 1 + term.len();
        if self.length > SHORT_BYTES {
            return self.set_long(field, term);
        }
        self.short[0] = field.number();
        copy_short(term.as_bytes(), &mut self.short);
    }

    #[cold]
    fn set_long(&mut self, field: Field, term: &str) {
        set_key(&mut self.long, field, term);
        self.long.extend_from_slice(&[0; Needle::PADDING]);
    }

    #[inline]
    pub(crate) fn needle(&self) -> Needle<'_> {
        let padded = if self.long.is_empty() { &self.short[..] } else { &self.long };
        Needle::new(padded, self.length).expect("it is padded")
    }
}

/// Copies to behind the first byte, as much as there is room for without padding. A few bytes are copied in
/// pieces of one size that overlap: a loop or a call over them takes longer.
#[inline]
fn copy_short(from: &[u8], to: &mut [u8; SHORT_BYTES + Needle::PADDING]) {
    let (length, to) = (from.len(), &mut to[1..]);
    if let (Some(first), Some(last)) = (from.first_chunk::<16>(), from.last_chunk::<16>()) {
        to[..16].copy_from_slice(first);
        if let Some(middle) = from[16..].first_chunk::<16>() {
            to[16..32].copy_from_slice(middle);
        }
        to[length - 16..length].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (from.first_chunk::<8>(), from.last_chunk::<8>()) {
        to[..8].copy_from_slice(first);
        to[length - 8..length].copy_from_slice(last);
    } else {
        to[..8].copy_from_slice(&codes::fixed::eight(from, 0).to_le_bytes());
    }
}

/// The first eight bytes of a key, zeros behind its end, as a number that compares as they do.
#[inline]
pub(crate) fn beginning(key: &[u8]) -> u64 {
    codes::fixed::eight(key, 0).swap_bytes()
}

/// The first sixteen bytes of a key, zeros behind its end, as two numbers that compare as they do.
pub(super) fn long_beginning(key: &[u8]) -> (u64, u64) {
    (beginning(key), beginning(key.get(8..).unwrap_or_default()))
}

/// Ascending pairs of numbers to look among: the upper ones of all, those of every eighth, and the lower ones. Those
/// looked at together do not wait for each other, as they would in halving.
#[derive(Debug)]
pub(super) struct Ascending {
    firsts: Box<[u64]>,
    eights: Box<[Eight]>,
    lower: Box<[u64]>,
}

const EIGHT: usize = 8;

/// A line of memory.
#[derive(Debug)]
#[repr(align(64))]
struct Eight([u64; EIGHT]);

/// Of more than so many it is as well to halve.
const FIRSTS_MAX: usize = 64;

impl Ascending {
    pub(super) fn new(pairs: impl IntoIterator<Item = (u64, u64)>) -> Ascending {
        let (upper, lower): (Vec<u64>, Vec<u64>) = pairs.into_iter().unzip();
        let eights = upper.chunks(EIGHT).map(|some| {
            let mut eight = [u64::MAX; EIGHT];
            eight[..some.len()].copy_from_slice(some);
            Eight(eight)
        });
        let firsts = upper.iter().step_by(EIGHT).copied();
        Ascending { firsts: firsts.collect(), eights: eights.collect(), lower: lower.into() }
    }

    /// How many are not greater than a pair, and whether the last of these equals it. The lower number of the pair is
    /// seldom asked for.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a step of a way on which what is at hand would go through memory at each call"
    )]
    pub(super) fn count_within(&self, upper: u64, lower: impl FnOnce() -> u64) -> (usize, bool) {
        let within = |numbers: &[u64]| {
            numbers.iter().map(|&number| usize::from(number <= upper)).sum::<usize>()
        };
        let behind = if self.firsts.len() <= FIRSTS_MAX {
            within(&self.firsts)
        } else {
            self.firsts.partition_point(|&first| first <= upper)
        };
        let Some(group) = behind.checked_sub(1) else { return (0, false) };
        // What fills the last eight is greater than any that is wanted, but for the greatest.
        let mut count = (EIGHT * group + within(&self.eights[group].0)).min(self.lower.len());
        if count > 0 && self.upper(count - 1) != upper {
            return (count, false);
        }
        let lower = lower();
        while let Some(last) = count.checked_sub(1) {
            if self.upper(last) != upper || self.lower[last] < lower {
                return (count, false);
            }
            if self.lower[last] == lower {
                return (count, true);
            }
            count = last;
        }
        (0, false)
    }

    #[inline]
    fn upper(&self, at: usize) -> u64 {
        self.eights[at / EIGHT].0[at % EIGHT]
    }

    /// The pair at a place.
    #[inline]
    pub(super) fn get(&self, at: usize) -> (u64, u64) {
        (self.upper(at), self.lower[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_any_length_are_field_and_term() {
        let letters: String = ('a'..='z').cycle().take(200).collect();
        for length in 0..letters.len() {
            let (term, mut wanted) = (&letters[..length], Vec::new());
            set_key(&mut wanted, Field::Body, term);
            let key = Key::new(Field::Body, term);
            assert_eq!(key.needle().as_bytes(), wanted, "{term}");
            assert_eq!(Key::EMPTY.needle().as_bytes(), b"");
        }
    }

    #[test]
    fn as_many_are_within_as_are_not_greater() {
        for count in (0..70).chain([500, 513, 4100]) {
            let mut pairs: Vec<(u64, u64)> =
                (0..count).map(|at| (10 + at / 3 * 2, at % 3 / 2 * 5)).collect();
            for greatest in [None, Some((u64::MAX, 3)), Some((u64::MAX, u64::MAX))] {
                pairs.extend(greatest);
                let ascending = Ascending::new(pairs.iter().copied());
                assert!((0..pairs.len()).all(|at| ascending.get(at) == pairs[at]));
                for upper in (0..14).chain((14..3000).step_by(7)).chain([u64::MAX - 1, u64::MAX]) {
                    for wanted in [0, 3, 5, u64::MAX].map(|lower| (upper, lower)) {
                        let right = pairs.iter().filter(|&&pair| pair <= wanted).count();
                        let expected = (right, right > 0 && pairs[right - 1] == wanted);
                        let found = ascending.count_within(upper, || wanted.1);
                        assert_eq!(found, expected, "{wanted:?} in {count}");
                    }
                }
            }
        }
    }

    #[test]
    fn beginnings_compare_as_keys_do() {
        let keys = ["", "a", "ab", "abcdefg", "abcdefgh", "abcdefghi", "b", "\u{10ffff}"];
        for pair in keys.windows(2) {
            assert!(beginning(pair[0].as_bytes()) <= beginning(pair[1].as_bytes()), "{pair:?}");
        }
        assert_eq!(beginning(b"abc"), u64::from_be_bytes(*b"abc\0\0\0\0\0"));
        assert_eq!(beginning(b"abcdefghi"), u64::from_be_bytes(*b"abcdefgh"));
    }
}
