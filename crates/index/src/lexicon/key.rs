//! The key of a term: the number of its field, one byte, and then its own bytes.
//!
//! What lives here: keys to look up ([`Key`]); the first bytes of a key as a number with the same order
//! ([`beginning`]); the common prefix of a bucket's keys ([`Prefix`]); sorted numbers to search ([`Ascending`]).
//! How keys are stored is in `block.rs`.
//!
//! **Invariant.** Keys of terms compare as bytes as (field, term) do.

use crate::Field;
use codes::fsst::Needle;

/// Keys of at most this size need no allocation.
const SHORT_BYTES: usize = 8 * WORDS;
/// The same size in 64-bit words.
const WORDS: usize = 4;

/// Marks a filter: a term that describes the whole document and only selects documents. It does not count in any
/// length.
pub const FILTER_MARK: &str = "::";

/// Returns whether the term of a key is a filter.
pub(crate) fn is_filter(key: &[u8]) -> bool {
    key.windows(FILTER_MARK.len()).any(|bytes| bytes == FILTER_MARK.as_bytes())
}

/// Sets `key` to the key of a term.
pub(crate) fn set_key(key: &mut Vec<u8>, field: Field, term: &str) {
    key.clear();
    key.push(field.number());
    key.extend_from_slice(term.as_bytes());
}

/// A key to look up, with padding.
#[derive(Debug)]
pub(crate) struct Key {
    short: [u8; SHORT_BYTES + Needle::PADDING],
    /// Empty if the key fits into `short`.
    long: Vec<u8>,
    length: usize,
}

impl Key {
    /// The empty key.
    pub(crate) const EMPTY: Key =
        Key { short: [0; SHORT_BYTES + Needle::PADDING], long: Vec::new(), length: 0 };

    /// Sets an empty key to that of a term. It works in place: moving a new key would stall on copying words that
    /// were just stored.
    #[inline]
    pub(crate) fn set(&mut self, field: Field, term: &str) {
        self.length = 1 + term.len();
        if self.length > SHORT_BYTES {
            return self.set_long(field, term);
        }
        let words = words(field.number(), term.as_bytes());
        for (to, word) in self.short.as_chunks_mut().0.iter_mut().zip(words) {
            *to = word.to_le_bytes();
        }
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

/// The words of a short key, padded with zeros. Overlapping loads, the same number for every length of eight or
/// more; a copy would branch on the length.
#[inline]
fn words(field: u8, term: &[u8]) -> [u64; WORDS] {
    let mut before = u64::from(field) << 56;
    let few = if term.len() < 8 { codes::fixed::eight(term, 0) } else { 0 };
    std::array::from_fn(|word| {
        let own = match term.len().checked_sub(8) {
            None => {
                if word == 0 {
                    few
                } else {
                    0
                }
            }
            Some(last) => {
                let from = last.min(8 * word);
                let eight = term.get(from..from + 8).and_then(|some| some.first_chunk());
                let eight = eight.map_or(0, |eight| u64::from_le_bytes(*eight));
                let bits = u32::try_from(8 * (8 * word - from)).unwrap_or(u32::MAX);
                eight.checked_shr(bits).unwrap_or(0)
            }
        };
        let word = own << 8 | before >> 56;
        before = own;
        word
    })
}

/// The first eight bytes of a key, padded with zeros, as a big-endian number.
#[inline]
pub(crate) fn beginning(key: &[u8]) -> u64 {
    codes::fixed::eight(key, 0).swap_bytes()
}

/// The first sixteen bytes of a key, padded with zeros, as two big-endian numbers.
pub(super) fn long_beginning(key: &[u8]) -> (u64, u64) {
    (beginning(key), beginning(key.get(8..).unwrap_or_default()))
}

/// The common prefix of all keys of a bucket, at most eight bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Prefix {
    /// The prefix as a big-endian number, and a mask of its bytes.
    beginning: u64,
    mask: u64,
    length: usize,
}

impl Prefix {
    /// Longest prefix.
    pub(super) const BYTES_MAX: usize = 8;

    /// The first `length` bytes of `beginning`; `None` if `length` is too great.
    pub(super) fn new(beginning: u64, length: usize) -> Option<Prefix> {
        let behind = Self::BYTES_MAX.checked_sub(length)?;
        let mask = if length == 0 { 0 } else { u64::MAX << (8 * behind) };
        Some(Prefix { beginning: beginning & mask, mask, length })
    }

    /// The common prefix of all keys from `first` to `last`.
    pub(super) fn of_all(first: &[u8], last: &[u8]) -> Prefix {
        let common = first.iter().zip(last).take_while(|(a, b)| a == b).count();
        Prefix::new(beginning(first), common.min(Self::BYTES_MAX)).unwrap_or_default()
    }

    #[inline]
    pub(super) fn len(self) -> usize {
        self.length
    }

    /// The prefix, padded with zeros.
    pub(super) fn bytes(self) -> [u8; Self::BYTES_MAX] {
        self.beginning.to_be_bytes()
    }

    /// Returns whether a key, which must not be shorter, begins with this prefix.
    #[inline]
    pub(super) fn is_of(self, key: Needle<'_>) -> bool {
        (key.eight(0) ^ self.beginning) & self.mask == 0
    }
}

/// A sorted array of pairs. It has the upper numbers of all pairs, those of every eighth, and the lower numbers.
/// The comparisons of a search are independent of each other, unlike in a bisection.
#[derive(Debug)]
pub(super) struct Ascending {
    firsts: Box<[u64]>,
    eights: Box<[Eight]>,
    lower: Box<[u64]>,
}

const EIGHT: usize = 8;

/// A cache line.
#[derive(Debug)]
#[repr(align(64))]
struct Eight([u64; EIGHT]);

/// With more entries than this, bisection is as fast.
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

    /// Counts the pairs that are at most the given one, and tells whether the last of these is equal to it.
    /// `lower` is seldom called.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a hot step of a lookup: a call would spill registers to memory"
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
        // The padding of the last line is greater than any number except the greatest.
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

    #[inline]
    pub(super) fn get(&self, at: usize) -> (u64, u64) {
        (self.upper(at), self.lower[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_any_length_join_field_and_term() {
        let letters: String = ('a'..='z').cycle().take(200).collect();
        for length in 0..letters.len() {
            let (term, mut wanted) = (&letters[..length], Vec::new());
            set_key(&mut wanted, Field::Body, term);
            let mut key = Key::EMPTY;
            key.set(Field::Body, term);
            assert_eq!(key.needle().as_bytes(), wanted, "{term}");
            assert_eq!(Key::EMPTY.needle().as_bytes(), b"");
        }
    }

    #[test]
    fn ascending_search_counts_pairs_up_to_a_bound() {
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
    fn key_prefixes_compare_like_keys() {
        let keys = ["", "a", "ab", "abcdefg", "abcdefgh", "abcdefghi", "b", "\u{10ffff}"];
        for pair in keys.windows(2) {
            assert!(beginning(pair[0].as_bytes()) <= beginning(pair[1].as_bytes()), "{pair:?}");
        }
        assert_eq!(beginning(b"abc"), u64::from_be_bytes(*b"abc\0\0\0\0\0"));
        assert_eq!(beginning(b"abcdefghi"), u64::from_be_bytes(*b"abcdefgh"));
    }
}
