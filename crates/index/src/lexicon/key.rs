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
/// Terms of up to so many bytes are most.
const USUAL_BYTES: usize = 16;

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

    #[inline]
    pub(crate) fn new(field: Field, term: &str) -> Key {
        let mut key = Key { length: 1 + term.len(), ..Key::EMPTY };
        if key.length > SHORT_BYTES {
            set_key(&mut key.long, field, term);
            key.long.extend_from_slice(&[0; Needle::PADDING]);
            return key;
        }
        key.short[0] = field.number();
        copy_usual(term.as_bytes(), &mut key.short[1..]);
        key
    }

    #[inline]
    pub(crate) fn needle(&self) -> Needle<'_> {
        let padded = if self.long.is_empty() { &self.short[..] } else { &self.long };
        Needle::new(padded, self.length).expect("it is padded")
    }
}

/// Copies to the beginning of what is longer by some bytes. Usual lengths are two copies of eight bytes that overlap:
/// a loop or a call over a few bytes takes longer.
#[inline]
fn copy_usual(from: &[u8], to: &mut [u8]) {
    let length = from.len();
    match (from.first_chunk::<8>(), from.last_chunk::<8>()) {
        (Some(first), Some(last)) if length <= USUAL_BYTES => {
            to[..8].copy_from_slice(first);
            to[length - 8..length].copy_from_slice(last);
        }
        (Some(_), _) => to[..length].copy_from_slice(from),
        _ => to[..8].copy_from_slice(&codes::fixed::eight(from, 0).to_le_bytes()),
    }
}

/// The first eight bytes of a key, zeros behind its end, as a number that compares as they do.
#[inline]
pub(crate) fn beginning(key: &[u8]) -> u64 {
    codes::fixed::eight(key, 0).swap_bytes()
}

/// How many of `count` ascending numbers are not greater than `wanted`. Several are looked at together, none of which
/// waits for another as it would in halving.
#[inline]
pub(super) fn count_within(count: usize, wanted: u64, number: impl Fn(usize) -> u64) -> usize {
    const PARTS: usize = 8;
    let (mut first, mut left) = (0, count);
    while left > PARTS {
        let part = left.div_ceil(PARTS);
        let ends = (part..left).step_by(part);
        let passed =
            part * ends.map(|end| usize::from(number(first + end) <= wanted)).sum::<usize>();
        first += passed;
        left = part.min(left - passed);
    }
    first + (first..first + left).map(|at| usize::from(number(at) <= wanted)).sum::<usize>()
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
            let numbers: Vec<u64> = (0..count).map(|at| 10 + at / 3 * 2).collect();
            for wanted in (0..14).chain((14..3000).step_by(7)).chain([u64::MAX]) {
                let right = numbers.iter().filter(|&&number| number <= wanted).count();
                let found = count_within(numbers.len(), wanted, |at| numbers[at]);
                assert_eq!(found, right, "{wanted} in {count}");
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
