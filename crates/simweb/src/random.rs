//! The only source of chance: the splitmix64 generator, keyed by what is being drawn.
//!
//! Integers only, so that every machine draws the same. A fresh [`Random`] is made for each thing
//! (a title, a page's prose, its links): no draw depends on how many were made elsewhere.
//!
//! **Invariant.** The same key draws the same, whatever was drawn before.
//!
//! G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", 2014.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes the bits of a word; a bijection.
pub(crate) fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// One key out of several words; their order matters.
pub(crate) fn key(parts: &[u64]) -> u64 {
    parts.iter().fold(0, |key, &part| mix(key.wrapping_add(GOLDEN) ^ part))
}

/// A key out of text.
pub(crate) fn text_key(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}

/// A generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(key: u64) -> Self {
        Self(key)
    }

    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number below `bound`, uniformly; `bound` is positive.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0, "nothing is below zero");
        let product = u128::from(self.word()) * u128::from(bound);
        u64::try_from(product >> 64).expect("the product is below bound times 2^64")
    }

    /// A rank below `bound` with a probability about proportional to 1/(rank + 1): a bit length
    /// uniformly, then a number of that length. This is Zipf's law without floating point.
    pub(crate) fn zipf(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0, "nothing is below zero");
        let lengths = u64::from(bound.ilog2()) + 1;
        loop {
            let top = 1 << self.below(lengths);
            let rank = top + self.below(top);
            if rank <= bound {
                return rank - 1;
            }
        }
    }

    /// An element, the earlier the likelier, after turning the list by `turn`.
    pub(crate) fn pick<'a>(&mut self, list: &[&'a str], turn: u64) -> &'a str {
        let length = u64::try_from(list.len()).expect("a list in memory");
        let rank = (self.zipf(length) + turn % length) % length;
        list[usize::try_from(rank).expect("below the list's length")]
    }
}
