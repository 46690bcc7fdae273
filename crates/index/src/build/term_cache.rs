//! A cache from recent words to the lists of their terms. Most occurrences are of a few thousand words, and these
//! need no other lookup.
//!
//! Two tables of cache lines. A short word is in one of the three ways of a set. A longer word has one place.
//! Words longer than that are not cached. A new word replaces an old one.
//!
//! ```text
//! set      three keys, as in [`Probe`] (16 bytes each); their lists (4 each); the way to replace next (4)
//! place    a word, padded with zeros (55 bytes); its length, zero if the place is empty; the number of its
//!          field; three zeros; its list (4)
//! ```
//!
//! **Invariant.** A lookup returns a list only if it was stored for exactly that word in that field.

use crate::Field;
use crate::build::cache_lines::{CacheLines, LINE_BYTES};
use std::ops::RangeInclusive;
use xxhash_rust::xxh3::xxh3_64;

/// Smallest and largest number of sets, as powers of two. There is a place for a longer word for every two sets.
const SETS_LOG2: RangeInclusive<u32> = 8..=17;
/// The memo takes at most one part in this many of the memory.
const SHARE: usize = 24;
const WAYS: usize = 3;
const SHORT_BYTES_MAX: usize = 15;
const LONG_BYTES_MAX: usize = 55;

/// The tables, allocated when the first word is stored.
#[derive(Debug)]
pub(crate) struct TermCache {
    sets_log2: u32,
    sets: CacheLines,
    long: CacheLines,
}

/// A set in its cache line.
#[derive(Clone, Copy)]
struct Set<'a>(&'a [u8; LINE_BYTES]);

impl Set<'_> {
    #[inline]
    fn key(self, way: usize) -> u128 {
        self.0.as_chunks().0.get(way).map_or(0, |bytes| u128::from_le_bytes(*bytes))
    }

    #[inline]
    fn list(self, way: usize) -> u32 {
        u32::from_le_bytes(self.0.as_chunks().0[LISTS + way])
    }

    fn next(self) -> usize {
        u32::from_le_bytes(self.0.as_chunks().0[NEXT]) as usize % WAYS
    }
}

/// The way to replace after each.
const NEXT_WAY: [u8; WAYS] = [1, 2, 0];
/// Offsets in a set of the lists and of the way to replace, in units of four bytes.
const LISTS: usize = 4 * WAYS;
const NEXT: usize = 5 * WAYS;
/// Offsets of length, field and list in the place of a longer word.
const LENGTH: usize = LONG_BYTES_MAX;
const FIELD: usize = LENGTH + 1;
const LONG_LIST: usize = LINE_BYTES - 4;

/// Marks an unknown list; no list begins at this address.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// Number of words processed together.
pub(crate) const TOGETHER: usize = 64;

/// A buffered word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Occurrence {
    pub(crate) probe: Probe,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) position: u32,
}

/// Where to look up a word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Probe {
    /// A field and a short word as a number; zero for a longer word.
    key: u128,
    /// Hash of the word. Its upper bits select the set or the place.
    hash: u64,
}

impl Probe {
    /// Returns whether both are the same short word in the same field.
    pub(crate) fn is_same(self, other: Probe) -> bool {
        self.key != 0 && self.key == other.key
    }
}

/// A mask for each number of bytes.
static BYTES: [u128; SHORT_BYTES_MAX + 1] = {
    let (mut bytes, mut count) = ([0; SHORT_BYTES_MAX + 1], 1);
    while count <= SHORT_BYTES_MAX {
        bytes[count] = bytes[count - 1] << 8 | 0xff;
        count += 1;
    }
    bytes
};

/// A field and the short word `text[start..end]` as a nonzero number.
#[inline]
fn short_key(field: Field, text: &[u8], start: usize, end: usize) -> u128 {
    let count = end - start;
    let word = match text[start..].first_chunk() {
        // Cut off the bytes after the word.
        Some(sixteen) => u128::from_le_bytes(*sixteen) & BYTES[count],
        None => number(&text[start..end]),
    };
    word | (0x80 | (field as u128) << 4 | count as u128) << 120
}

/// Up to sixteen bytes as a little-endian number, from few overlapping loads.
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

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "halves")]
fn hash_of(key: u128) -> u64 {
    let (low, high) = (key as u64, (key >> 64) as u64);
    // Odd constants without a pattern; the upper bits of a product depend on all other bits.
    let mixed = low.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ high.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(32);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

impl TermCache {
    /// An empty memo for a writer with this much memory.
    pub(crate) fn new(memory_bytes: usize) -> TermCache {
        let set_bytes = LINE_BYTES + LINE_BYTES / 2;
        let sets_log2 = (memory_bytes / SHARE / set_bytes).checked_ilog2().unwrap_or(0);
        let sets_log2 = sets_log2.clamp(*SETS_LOG2.start(), *SETS_LOG2.end());
        TermCache { sets_log2, sets: CacheLines::default(), long: CacheLines::default() }
    }

    #[inline]
    fn set(&self, hash: u64) -> usize {
        narrow(hash >> (u64::BITS - self.sets_log2))
    }

    /// The place of a longer word.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        narrow(hash >> (u64::BITS + 1 - self.sets_log2))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.sets.memory_bytes() + self.long.memory_bytes()
    }

    /// Prefetches the set or place of a word.
    #[inline]
    pub(crate) fn prefetch(&self, Probe { key, hash }: Probe) {
        if key == 0 {
            self.long.prefetch(self.place(hash));
        } else {
            self.sets.prefetch(self.set(hash));
        }
    }

    /// Returns where to look up the word `text[start..end]` in a field.
    #[inline]
    pub(crate) fn probe(field: Field, text: &[u8], start: usize, end: usize) -> Probe {
        if end - start > SHORT_BYTES_MAX {
            return Probe { key: 0, hash: xxh3_64(&text[start..end]) };
        }
        let key = short_key(field, text, start, end);
        Probe { key, hash: hash_of(key) }
    }

    /// Returns the list stored for a word in a field, if it is still there. `word` is called only for a longer
    /// word.
    #[inline]
    pub(crate) fn find<'w>(
        &self,
        Probe { key, hash }: Probe,
        field: Field,
        word: impl FnOnce() -> &'w str,
    ) -> Option<u32> {
        if key == 0 {
            return self.find_long(hash, field, word());
        }
        let set = Set(self.sets.get(self.set(hash))?);
        // The matching way is unpredictable, so compare all and select without a branch.
        let (mut list, mut found) = (0, false);
        for way in 0..WAYS {
            let is_it = set.key(way) == key;
            list |= set.list(way) & 0_u32.wrapping_sub(u32::from(is_it));
            found |= is_it;
        }
        found.then_some(list)
    }

    /// Looks up words of `text` in a field. Each result is that of [`TermCache::find`], or [`UNKNOWN`].
    #[cfg_attr(
        target_arch = "x86_64",
        expect(unsafe_code, reason = "calls a function compiled for more CPU features")
    )]
    pub(crate) fn find_all(
        &self,
        field: Field,
        text: &str,
        words: &[Occurrence],
        found: &mut [u32; TOGETHER],
    ) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("bmi1") {
            // SAFETY: the processor has these instructions.
            return unsafe { self.find_all_wide(field, text, words, found) };
        }
        self.find_all_anyhow(field, text, words, found);
    }

    fn find_all_anyhow(
        &self,
        field: Field,
        text: &str,
        words: &[Occurrence],
        found: &mut [u32; TOGETHER],
    ) {
        for (list, word) in found.iter_mut().zip(words) {
            let written = || &text[word.start..word.end];
            *list = self.find(word.probe, field, written).unwrap_or(UNKNOWN);
        }
    }

    /// [`TermCache::find_all`] that compares all keys of a set at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,bmi1")]
    fn find_all_wide(
        &self,
        field: Field,
        text: &str,
        words: &[Occurrence],
        found: &mut [u32; TOGETHER],
    ) {
        for (list, word) in found.iter_mut().zip(words) {
            let Probe { key, hash } = word.probe;
            *list = if key == 0 {
                self.find_long(hash, field, &text[word.start..word.end]).unwrap_or(UNKNOWN)
            } else {
                self.sets.get(self.set(hash)).map_or(UNKNOWN, |line| find_wide(line, key))
            };
        }
    }

    fn find_long(&self, hash: u64, field: Field, word: &str) -> Option<u32> {
        let place = self.long.get(self.place(hash))?;
        let length = usize::from(place[LENGTH]);
        let is_it = place[FIELD] == field.number() && place.get(..length) == Some(word.as_bytes());
        is_it.then(|| u32::from_le_bytes(place.as_chunks().0[LONG_LIST / 4]))
    }

    /// Stores the list of a word in a field.
    pub(crate) fn put(&mut self, probe: Probe, field: Field, word: &str, list: u32) {
        if self.sets.is_empty() {
            self.sets = CacheLines::new(1 << self.sets_log2);
            self.long = CacheLines::new(1 << (self.sets_log2 - 1));
        }
        let Probe { key, hash } = probe;
        let (set, place) = (self.set(hash), self.place(hash));
        if key != 0 {
            let line = self.sets.get_mut(set).expect("there are as many");
            let set = Set(line);
            let next = set.next();
            let way = (0..WAYS).find(|&way| set.key(way) == key).unwrap_or(next);
            line.as_chunks_mut().0[way] = key.to_le_bytes();
            let fours = line.as_chunks_mut().0;
            fours[LISTS + way] = list.to_le_bytes();
            // The way fits into the first of four bytes.
            fours[NEXT] = [NEXT_WAY[next], 0, 0, 0];
        } else if word.len() <= LONG_BYTES_MAX {
            let place = self.long.get_mut(place).expect("there are as many");
            place[..word.len()].copy_from_slice(word.as_bytes());
            place[LENGTH] = word.len().to_le_bytes()[0];
            place[FIELD] = field.number();
            place[LONG_LIST..].copy_from_slice(&list.to_le_bytes());
        }
    }
}

/// Returns the list of a nonzero key in a set, or [`UNKNOWN`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,bmi1")]
#[inline]
#[expect(unsafe_code, reason = "three keys are compared at once; bench/index")]
fn find_wide(line: &[u8; LINE_BYTES], key: u128) -> u32 {
    use std::arch::x86_64::{
        _mm_set_epi64x, _mm512_broadcast_i32x4, _mm512_cmpeq_epi64_mask, _mm512_loadu_si512,
    };
    #[expect(clippy::cast_possible_truncation, reason = "halves")]
    let (low, high) = (key as u64, (key >> 64) as u64);
    let key = _mm_set_epi64x(high.cast_signed(), low.cast_signed());
    // SAFETY: the load reads exactly the bytes of a line, which need not be aligned.
    let keys = unsafe { _mm512_loadu_si512(line.as_ptr().cast()) };
    let halves = _mm512_cmpeq_epi64_mask(keys, _mm512_broadcast_i32x4(key));
    // Both halves of one of the keys match; the mask excludes the lists.
    let same = halves & halves >> 1 & 0b01_0101;
    if same == 0 {
        return UNKNOWN;
    }
    Set(line).list(same.trailing_zeros() as usize / 2)
}

/// The number of a set or of a place.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a few of the upper bits of a hash")]
fn narrow(n: u64) -> usize {
    n as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn a_number_holds_the_little_endian_bytes() {
        let bytes = [0x81_u8, 2, 3, 4, 5, 6, 7, 0x88, 9, 10, 11, 12, 13, 14, 15, 0x90];
        for count in 0..=16 {
            let mut padded = [0; 16];
            padded[..count].copy_from_slice(&bytes[..count]);
            assert_eq!(number(&bytes[..count]), u128::from_le_bytes(padded), "{count} bytes");
        }
    }

    /// Words of all lengths, some of them ending in zeros, against a map.
    #[test]
    fn a_lookup_matches_both_word_and_field() {
        let mut memo = TermCache::new(128 << 20);
        let (mut model, mut found) = (HashMap::new(), [0; 2]);
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
            let probe = TermCache::probe(field, text.as_bytes(), 0, length);
            if let Some(list) = memo.find(probe, field, || &word) {
                assert_eq!(Some(list), expected, "{word:?}");
                found[usize::from(length > SHORT_BYTES_MAX)] += 1;
            }
            memo.put(probe, field, &word, turn);
            let again = memo.find(probe, field, || &word);
            assert_eq!(again, (length <= LONG_BYTES_MAX).then_some(turn), "{word:?}");
            model.insert((field as u8, word), turn);
        }
        assert!(found[0] > 10_000 && found[1] > 10_000, "{found:?}");
        assert_eq!(memo.memory_bytes(), (1 << 21) + (1 << 20));
    }

    /// Short, longer and too long words, known and unknown, in full sets.
    #[test]
    fn both_word_searches_agree() {
        let mut memo = TermCache::new(0);
        let (mut text, mut words) = (String::new(), Vec::new());
        for number in 0..20_000_usize {
            let length = [0, 1, 2, 7, 8, 14, 15, 16, 17, 54, 55, 56, 64][number % 13];
            let word = format!("{number:0>length$}");
            let start = text.len();
            text.push_str(&word[..length.min(word.len())]);
            words.push((Field::ALL[number % 5], start, text.len()));
        }
        let occurrence = |field: Field, start: usize, end: usize| Occurrence {
            probe: TermCache::probe(field, text.as_bytes(), start, end),
            start,
            end,
            position: 0,
        };
        let mut found = [0; 2];
        for (list, &(field, start, end)) in (0..).zip(&words) {
            for field in [field, Field::Title] {
                let own = words[..=list as usize].iter().rev().take(TOGETHER);
                let own: Vec<_> = own.map(|&(_, a, b)| occurrence(field, a, b)).collect();
                let (mut plain, mut other) = ([7; TOGETHER], [7; TOGETHER]);
                memo.find_all_anyhow(field, &text, &own, &mut plain);
                memo.find_all(field, &text, &own, &mut other);
                assert_eq!(plain, other);
                let known = plain[..own.len()].iter().filter(|&&list| list != UNKNOWN).count();
                found[0] += known;
                found[1] += own.len() - known;
            }
            let probe = occurrence(field, start, end).probe;
            memo.put(probe, field, &text[start..end], list);
        }
        assert!(found.iter().all(|&count| count > 100_000), "{found:?}");
    }

    #[test]
    fn the_cache_keeps_to_its_memory_share() {
        for memory_bytes in [0, 1 << 20, 1 << 24, 64 << 20, 256 << 20, 1 << 40] {
            let mut memo = TermCache::new(memory_bytes);
            let probe = TermCache::probe(Field::Title, b"word", 0, 4);
            memo.put(probe, Field::Title, "word", 7);
            assert_eq!(memo.find(probe, Field::Title, || "word"), Some(7));
            let most = (memory_bytes / SHARE).max(96 << SETS_LOG2.start());
            let least = most.min(96 << SETS_LOG2.end()) / 2;
            let taken = memo.memory_bytes();
            assert!((least..=most).contains(&taken), "{taken} of {memory_bytes}");
        }
    }
}
