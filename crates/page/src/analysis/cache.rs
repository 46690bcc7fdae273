//! A cache of the terms of words, because most words of a text occur repeatedly.
//!
//! The table has two places for each hash. A new word replaces one of them. Only short words are kept, and nearly all
//! words are short. ASCII words are kept in lower case.
//!
//! **Invariant.** A lookup finds only the term of exactly this word. Only the case of ASCII words is ignored.

/// Bytes of the longest word that is kept.
const WORD_BYTES_MAX: usize = WORD_BITS as usize / 8;
/// Bytes of the longest term that is kept. Each place has this number of bytes.
const TERM_BYTES_MAX: usize = 16;
/// The number of pairs of places, as a power of two.
const PAIRS_LOG2: u32 = 15;
/// Bits of a number that hold the word. The bits above hold the length of the term.
const WORD_BITS: u32 = 120;

/// The table of words and their terms.
pub(super) struct Cache {
    /// The word of each place, filled with zeros, and the length of its term. A word is not empty and contains no
    /// zeros.
    words: Box<[[u128; 2]]>,
    /// The term of each place.
    terms: Box<[[[u8; TERM_BYTES_MAX]; 2]]>,
    /// The place of a pair that the next new word takes.
    next: usize,
}

/// A word that may be in the cache.
#[derive(Clone, Copy)]
pub(super) struct Key {
    word: u128,
    pair: usize,
}

impl Default for Cache {
    fn default() -> Self {
        let pairs = 1 << PAIRS_LOG2;
        Self {
            words: vec![[0; 2]; pairs].into_boxed_slice(),
            terms: vec![[[0; TERM_BYTES_MAX]; 2]; pairs].into_boxed_slice(),
            next: 0,
        }
    }
}

/// The same byte in every place of a number.
const fn sixteen(byte: u8) -> u128 {
    u128::from_le_bytes([byte; 16])
}

impl Key {
    /// The key of the word `text[start..end]`. `None` if the word is too long.
    #[inline]
    pub(super) fn of(text: &[u8], start: usize, end: usize) -> Option<Self> {
        let length = end - start;
        if length > WORD_BYTES_MAX {
            return None;
        }
        let mut word = if let Some(sixteen) = text[start..].first_chunk::<16>() {
            // The mask removes the bytes after the word.
            u128::from_le_bytes(*sixteen) & ((1 << (8 * length)) - 1)
        } else {
            let mut word = [0; 16];
            word[..length].copy_from_slice(&text[start..end]);
            u128::from_le_bytes(word)
        };
        if word & sixteen(0x80) == 0 {
            // The highest bit of a byte in `from_a` means at least `A`. In `beyond_z` it means greater than `Z`.
            let from_a = word + sixteen(0x80 - b'A');
            let beyond_z = word + sixteen(0x7f - b'Z');
            word |= (from_a & !beyond_z & sixteen(0x80)) >> 2;
        }
        #[expect(clippy::cast_possible_truncation, reason = "halves")]
        let (low, high) = (word as u64, (word >> 64) as u64);
        // Two odd factors without a pattern. The upper bits of the product depend on all other bits.
        let mixed = low.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ high.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(32);
        let pair = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> (64 - PAIRS_LOG2);
        Some(Self { word, pair: usize::try_from(pair).ok()? })
    }
}

impl Cache {
    /// The place of a word in its pair, if the cache has it.
    #[inline]
    pub(super) fn find(&self, key: &Key) -> Option<usize> {
        let is_it = |place: &u128| (place ^ key.word) << (128 - WORD_BITS) == 0;
        self.words[key.pair].iter().position(is_it)
    }

    /// The term of a word at the place that [`Cache::find`] returned.
    #[inline]
    pub(super) fn get(&self, key: &Key, way: usize) -> &str {
        let bytes = (self.words[key.pair][way] >> WORD_BITS) as usize;
        str::from_utf8(&self.terms[key.pair][way][..bytes]).expect("was put in as a term")
    }

    /// Keeps the term of a word, if it is short enough.
    pub(super) fn put(&mut self, key: &Key, term: &str) {
        if term.len() > TERM_BYTES_MAX {
            return;
        }
        let way = self.next;
        self.next ^= 1;
        self.terms[key.pair][way][..term.len()].copy_from_slice(term.as_bytes());
        self.words[key.pair][way] = key.word | (term.len() as u128) << WORD_BITS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_cache_returns_the_term_of_each_word() {
        let text = "a ab abc abcdefghijklmno abcdefghijklmnop é É a".as_bytes();
        let key = |start, end| Key::of(text, start, end);
        let mut cache = Cache::default();
        let get =
            |cache: &Cache, key: Key| cache.find(&key).map(|way| cache.get(&key, way).to_owned());
        let words = [(42, 44), (45, 47), (0, 1), (2, 4), (5, 8), (9, 24)];
        for (number, (start, end)) in words.into_iter().enumerate() {
            assert_eq!(get(&cache, key(start, end).unwrap()), None, "{start}");
            cache.put(&key(start, end).unwrap(), &format!("the term №{number}"));
        }
        for (number, (start, end)) in words.into_iter().enumerate() {
            let found = get(&cache, key(start, end).unwrap());
            assert_eq!(found, Some(format!("the term №{number}")));
        }
        // The last word has fewer than sixteen bytes after it, and equals the first word.
        assert_eq!(get(&cache, key(48, 49).unwrap()).as_deref(), Some("the term №2"));
        assert!(key(25, 41).is_none());
        cache.put(&key(0, 1).unwrap(), "a term that is too long to keep");
        assert_eq!(get(&cache, key(0, 1).unwrap()).as_deref(), Some("the term №2"));
    }

    proptest! {
        /// Words that differ in anything but the case of ASCII have different keys.
        #[test]
        fn different_words_have_different_keys(
            words in proptest::collection::vec("[A-Ca-c@\\[`{é_0]{1,15}", 2..20),
        ) {
            let words: Vec<_> = words.into_iter().filter(|word| word.len() <= 15).collect();
            let spelling = |word: &str| {
                if word.is_ascii() { word.to_ascii_lowercase() } else { word.to_owned() }
            };
            for a in &words {
                for b in &words {
                    let [one, other] = [a, b].map(|word| {
                        // With and without sixteen bytes to read.
                        let behind = format!("{word} and what follows it");
                        let key = Key::of(word.as_bytes(), 0, word.len()).unwrap();
                        let again = Key::of(behind.as_bytes(), 0, word.len()).unwrap();
                        assert_eq!((key.word, key.pair), (again.word, again.pair));
                        key.word
                    });
                    prop_assert_eq!(one == other, spelling(a) == spelling(b), "{} {}", a, b);
                }
            }
        }
    }
}
