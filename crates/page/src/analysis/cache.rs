//! The terms of words that came before: in a text most words are old ones.
//!
//! A table with one place for each hash; a word takes the place of the one that was there. Only short
//! words of ASCII are kept, which are nearly all; what a word becomes is asked for once.
//!
//! **Invariant.** What is found is what was put for exactly this word.

/// The longest word, and the longest term, that is kept.
const BYTES_MAX: usize = 16;
/// How many places there are, as a power of two.
const PLACES_LOG2: u32 = 15;

/// The terms of words.
#[derive(Clone)]
pub(super) struct Cache {
    places: Box<[Place]>,
}

/// A word and its term, with zeros behind them; no word is empty.
#[derive(Clone, Copy, Default)]
struct Place {
    word: [u8; BYTES_MAX],
    term: [u8; BYTES_MAX],
    word_bytes: u8,
    term_bytes: u8,
}

/// A word that may be in the cache.
#[derive(Clone, Copy)]
pub(super) struct Key {
    word: [u8; BYTES_MAX],
    word_bytes: u8,
    place: usize,
}

impl Default for Cache {
    fn default() -> Self {
        Self { places: vec![Place::default(); 1 << PLACES_LOG2].into_boxed_slice() }
    }
}

impl Key {
    /// For the word `text[start..end]` of ASCII; `None` if it is too long.
    #[inline]
    pub(super) fn of(text: &[u8], start: usize, end: usize) -> Option<Self> {
        let length = end - start;
        if length > BYTES_MAX {
            return None;
        }
        let word = if let Some(sixteen) = text[start..].first_chunk::<BYTES_MAX>() {
            // What is behind the word is cut off.
            let kept = u128::MAX.checked_shr(128 - 8 * u32::try_from(length).ok()?);
            (u128::from_le_bytes(*sixteen) & kept.unwrap_or(0)).to_le_bytes()
        } else {
            let mut word = [0; BYTES_MAX];
            word[..length].copy_from_slice(&text[start..end]);
            word
        };
        let (low, high) = word.split_at(8);
        let half = |bytes: &[u8]| u64::from_le_bytes(std::array::from_fn(|at| bytes[at]));
        // Two odd numbers without a pattern; the upper bits of the product depend on all others.
        let mixed = half(low).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ half(high).wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(32);
        let place = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> (64 - PLACES_LOG2);
        Some(Self {
            word,
            word_bytes: u8::try_from(length).ok()?,
            place: usize::try_from(place).ok()?,
        })
    }
}

impl Cache {
    /// The term of a word, if it is there.
    #[inline]
    pub(super) fn get(&self, key: &Key) -> Option<&str> {
        let place = &self.places[key.place];
        if place.word != key.word || place.word_bytes != key.word_bytes {
            return None;
        }
        std::str::from_utf8(&place.term[..usize::from(place.term_bytes)]).ok()
    }

    /// Keeps the term of a word, if it is short enough.
    pub(super) fn put(&mut self, key: &Key, term: &str) {
        let Some(kept) = u8::try_from(term.len()).ok().filter(|_| term.len() <= BYTES_MAX) else {
            return;
        };
        let place = &mut self.places[key.place];
        place.term[..term.len()].copy_from_slice(term.as_bytes());
        (place.word, place.word_bytes, place.term_bytes) = (key.word, key.word_bytes, kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_was_put_for_that_word() {
        let text = b"a ab abc abcdefghijklmnop abcdefghijklmnopq a\0 a";
        let key = |start, end| Key::of(text, start, end);
        let mut cache = Cache::default();
        let words = [(44, 46), (0, 1), (2, 4), (5, 8), (9, 25)];
        for (start, end) in words {
            assert_eq!(cache.get(&key(start, end).unwrap()), None, "{start}");
        }
        for (number, (start, end)) in words.into_iter().enumerate() {
            cache.put(&key(start, end).unwrap(), &format!("term {number}"));
            let found = cache.get(&key(start, end).unwrap());
            assert_eq!(found, Some(&*format!("term {number}")));
        }
        // The last word, where no sixteen bytes are left, is the first; with a zero it is another one.
        assert_eq!(cache.get(&key(47, 48).unwrap()), Some("term 1"));
        assert_eq!(cache.get(&key(44, 46).unwrap()), None);
        assert!(key(26, 43).is_none());
        cache.put(&key(0, 1).unwrap(), "a term that is too long to keep");
        assert_eq!(cache.get(&key(0, 1).unwrap()), Some("term 1"));
    }
}
