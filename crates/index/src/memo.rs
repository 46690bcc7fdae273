//! From words that came of late to the lists of their terms: most occurrences are of a few thousand
//! words, and for them nothing else is looked at.
//!
//! Two tables, each with places for words and for what they lead to. A short word has its place among
//! the three of a set; a longer one has one place; words that are longer still have none. A new word
//! takes the place of an old one.
//!
//! What does not live here: what becomes of a word.
//!
//! **Invariant.** What is found was put in for exactly that word in that field. A set is a line of the
//! processor's cache.

use crate::Field;
use std::hint::black_box;
use xxhash_rust::xxh3::xxh3_64;

/// How many sets and how many places for longer words there are, as powers of two.
const SETS_LOG2: u32 = 15;
const LONG_LOG2: u32 = 14;
const WAYS: usize = 3;
const SHORT_BYTES_MAX: usize = 15;
const LONG_BYTES_MAX: usize = 55;

/// The tables, which have no places before the first word.
#[derive(Debug, Default)]
pub(crate) struct WordMemo {
    sets: Vec<Set>,
    long: Vec<Long>,
}

/// Words as [`Probe`] has them.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Set {
    keys: [u128; WAYS],
    lists: [u32; WAYS],
    /// Which place is the next to be taken.
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Long {
    /// With zeros behind it.
    word: [u8; LONG_BYTES_MAX],
    /// Zero if there is none.
    length: u8,
    field: Field,
    list: u32,
}

const NO_WORD: Long = Long { word: [0; LONG_BYTES_MAX], length: 0, field: Field::Title, list: 0 };

/// Where to look for a word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Probe {
    /// A field and a short word as a number, or zero for a longer one.
    key: u128,
    /// The set of a short word, or the place of a longer one.
    place: usize,
}

impl Probe {
    /// Whether both are of one short word in one field.
    pub(crate) fn is_same(self, other: Probe) -> bool {
        self.key != 0 && self.key == other.key
    }
}

/// A field and a short word, which is `text[start..end]`, as a number that is not zero.
#[inline]
fn short_key(field: Field, text: &[u8], start: usize, end: usize) -> u128 {
    let count = end - start;
    let word = match text[start..].first_chunk() {
        // What is behind the word is cut off.
        Some(sixteen) => u128::from_le_bytes(*sixteen) & ((1 << (8 * count)) - 1),
        None => number(&text[start..end]),
    };
    word | (0x80 | (field as u128) << 4 | count as u128) << 120
}

/// Up to sixteen bytes as a number, the first the lowest. Loads overlap, so that there are few.
#[inline]
fn number(bytes: &[u8]) -> u128 {
    let count = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let behind = u128::from(u64::from_le_bytes(*last)) << (8 * (count - 8));
        u128::from(u64::from_le_bytes(*first)) | behind
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let behind = u64::from(u32::from_le_bytes(*last)) << (8 * (count - 4));
        u128::from(u64::from(u32::from_le_bytes(*first)) | behind)
    } else if let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) {
        let middle = u32::from(bytes[count / 2]) << (8 * (count / 2));
        u128::from(u32::from(first) | middle | u32::from(last) << (8 * (count - 1)))
    } else {
        0
    }
}

/// The set of a key.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "halves, and a few of the upper bits")]
fn set_of(key: u128) -> usize {
    let (low, high) = (key as u64, (key >> 64) as u64);
    // Odd numbers without a pattern; the upper bits of a product depend on all others.
    let mixed = low.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ high.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(32);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> (u64::BITS - SETS_LOG2)) as usize
}

fn place_of(word: &[u8]) -> usize {
    (xxh3_64(word) >> (u64::BITS - LONG_LOG2)) as usize
}

impl WordMemo {
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&self.sets[..]) + size_of_val(&self.long[..])
    }

    /// Calls for the places of short words, all before the first is waited for.
    #[inline]
    pub(crate) fn touch(&self, probes: impl Iterator<Item = Probe>) {
        let next = |probe: Probe| self.sets.get(probe.place).map_or(0, |set| set.next);
        black_box(probes.map(next).fold(0, |sum, next| sum ^ next));
    }

    /// Where to look for the word `text[start..end]` in a field.
    #[inline]
    pub(crate) fn probe(field: Field, text: &[u8], start: usize, end: usize) -> Probe {
        if end - start > SHORT_BYTES_MAX {
            return Probe { key: 0, place: place_of(&text[start..end]) };
        }
        let key = short_key(field, text, start, end);
        Probe { key, place: set_of(key) }
    }

    /// The list that was put in for a word in a field, if it is still there.
    #[inline]
    pub(crate) fn find(
        &self,
        Probe { key, place }: Probe,
        field: Field,
        word: &str,
    ) -> Option<u32> {
        if key == 0 {
            return self.find_long(place, field, word);
        }
        let set = self.sets.get(place)?;
        // Which of the three it is cannot be foreseen: all are looked at, and the one is picked out.
        let (mut list, mut found) = (0, false);
        for way in 0..WAYS {
            let is_it = set.keys[way] == key;
            list |= set.lists[way] & 0_u32.wrapping_sub(u32::from(is_it));
            found |= is_it;
        }
        found.then_some(list)
    }

    fn find_long(&self, place: usize, field: Field, word: &str) -> Option<u32> {
        let place = self.long.get(place)?;
        let is_it =
            place.field == field && place.word[..usize::from(place.length)] == *word.as_bytes();
        is_it.then_some(place.list)
    }

    /// Puts in the list of the term of a word in a field.
    pub(crate) fn put(&mut self, probe: Probe, field: Field, word: &str, list: u32) {
        if self.sets.is_empty() {
            self.sets = vec![Set::default(); 1 << SETS_LOG2];
            self.long = vec![NO_WORD; 1 << LONG_LOG2];
        }
        let Probe { key, place } = probe;
        if key != 0 {
            let set = &mut self.sets[place];
            let way = set.keys.iter().position(|of| *of == key).unwrap_or(set.next as usize);
            (set.keys[way], set.lists[way]) = (key, list);
            set.next = if set.next as usize + 1 < WAYS { set.next + 1 } else { 0 };
        } else if word.len() <= LONG_BYTES_MAX {
            let place = &mut self.long[place];
            place.word[..word.len()].copy_from_slice(word.as_bytes());
            place.length = word.len().to_le_bytes()[0];
            (place.field, place.list) = (field, list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn numbers_are_the_bytes() {
        let bytes = [0x81_u8, 2, 3, 4, 5, 6, 7, 0x88, 9, 10, 11, 12, 13, 14, 15, 0x90];
        for count in 0..=16 {
            let mut padded = [0; 16];
            padded[..count].copy_from_slice(&bytes[..count]);
            assert_eq!(number(&bytes[..count]), u128::from_le_bytes(padded), "{count} bytes");
        }
        assert_eq!((size_of::<Set>(), size_of::<Long>()), (64, 64));
    }

    /// Words of all lengths, among them such with zeros at their ends, against a map.
    #[test]
    fn what_is_found_was_put_for_that_word_in_that_field() {
        let (mut memo, mut model, mut found) = (WordMemo::default(), HashMap::new(), [0; 2]);
        let mut state = 1_u32;
        for turn in 0..300_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let field = Field::ALL[(state >> 28) as usize % 5];
            let length = (state >> 20) as usize % 60;
            let digits = format!("{}", state >> 17 & 0x7).repeat(60);
            let word = digits[..length].replace('1', "\0");
            let expected = model.get(&(field as u8, word.clone())).copied();
            // With and without sixteen bytes to read.
            let text = format!("{word}{}", "behind the word".repeat((state >> 30) as usize));
            let probe = WordMemo::probe(field, text.as_bytes(), 0, length);
            if let Some(list) = memo.find(probe, field, &word) {
                assert_eq!(Some(list), expected, "{word:?}");
                found[usize::from(length > SHORT_BYTES_MAX)] += 1;
            }
            memo.put(probe, field, &word, turn);
            let again = memo.find(probe, field, &word);
            assert_eq!(again, (length <= LONG_BYTES_MAX).then_some(turn), "{word:?}");
            model.insert((field as u8, word), turn);
        }
        assert!(found[0] > 10_000 && found[1] > 10_000, "{found:?}");
        assert_eq!(memo.memory_bytes(), (1 << 21) + (1 << 20));
    }
}
