//! Hashes a key to its bucket, its edge and its signature.
//!
//! A key is hashed once, to 128 bits. A key of at most 32 bytes is hashed as four words by two multiplications,
//! without a branch on its length; a longer one by XXH3. The highest 32 bits give the bucket, so hashes in
//! ascending order are in bucket order. The middle 32 bits are the signature. The edge depends on all bits and on
//! the seed of the bucket.
//!
//! The vertices of an edge are in *k* parts of equal size, one in each, and therefore different.
//!
//! **Invariant.** Hashes are part of the stored format and are the same on every machine.
//!
//! **Reference.** Y. Collet, *XXH3*, <https://github.com/Cyan4973/xxHash>; Y. Wang, D. Diego Barrientos, W. Yi, *wyhash*,
//! <https://github.com/wangyi-fudan/wyhash> (multiplying words with each other); D. Lemire, "Fast random
//! integer generation in an interval", ACM TOMACS 29(1), 2019 (multiplying instead of dividing).

use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::fixed;
use crate::fsst::Needle;

/// Words of a short key.
pub(crate) const WORDS: usize = 4;

/// Odd numbers without pattern: digits of the golden ratio, π, e and √2.
const PHI: u64 = 0x9E37_79B9_7F4A_7C15;
const PI: u64 = 0x243F_6A88_85A3_08D3;
const E: u64 = 0xB7E1_5162_8AED_2A6B;
const ROOT: u64 = 0x6A09_E667_F3BC_C909;

/// The hash of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hash(u128);

impl Hash {
    #[inline]
    pub(super) fn of(key: &[u8], seed: u64) -> Self {
        if key.len() > 8 * WORDS {
            return Self::of_long(key, seed);
        }
        let words = std::array::from_fn(|word| fixed::eight(key, 8 * word));
        Self::of_words(words, key.len(), seed)
    }

    /// The hash of a padded key, without a branch on the end of its bytes.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a hot step of a lookup: a call would spill registers to memory"
    )]
    pub(super) fn of_needle(key: Needle<'_>, seed: u64) -> Self {
        match key.words() {
            Some(words) => Self::of_words(words, key.len(), seed),
            None => Self::of_long(key.as_bytes(), seed),
        }
    }

    /// The hash of a key of `length` bytes, given as words padded with zeros. Without the seed no factor is known.
    /// The length is added to a value that depends on the seed, so no two keys collide under every seed.
    #[inline]
    fn of_words(words: [u64; WORDS], length: usize, seed: u64) -> Self {
        let [a, b, c, d] = words;
        let first = (a ^ PHI.wrapping_add(seed), b ^ PI.wrapping_sub(seed));
        let first = fold(u128::from(first.0) * u128::from(first.1));
        let sized = first.wrapping_add((length as u64).wrapping_mul(E));
        let product = u128::from(c ^ sized) * u128::from(d ^ ROOT.wrapping_add(seed));
        // The upper half alone would be less than the second factor.
        Self(product ^ product << 64)
    }

    #[cold]
    fn of_long(key: &[u8], seed: u64) -> Self {
        Self(xxh3_128_with_seed(key, seed))
    }

    /// The bucket, out of `buckets`.
    #[inline]
    pub(super) fn bucket(self, buckets: u32) -> u32 {
        scale(high(self.halves().0), buckets)
    }

    /// A signature of `bits` bits, at most 32.
    #[inline]
    pub(super) fn signature(self, bits: u32) -> u64 {
        self.halves().0 & fixed::mask(bits)
    }

    /// The vertices of the edge among `K` parts of `part` vertices.
    #[inline]
    pub(super) fn edge<const K: usize>(self, seed: u64, part: u32) -> [u32; K] {
        const { assert!(K <= 4) };
        let random = self.random(seed);
        let mut vertices = [0; K];
        let mut start = 0_u32;
        for (vertex, random) in vertices.iter_mut().zip(random) {
            *vertex = start.wrapping_add(scale(random, part));
            start = start.wrapping_add(part);
        }
        vertices
    }

    /// A number that depends on all keys.
    pub(super) fn digest(hashes: impl Iterator<Item = Self>) -> u64 {
        hashes.fold(0, |sum, hash| sum.wrapping_add(hash.halves().1))
    }

    /// Four random numbers.
    #[inline]
    fn random(self, seed: u64) -> [u32; 4] {
        let (upper, lower) = self.halves();
        let seeded = upper ^ (seed + 1).wrapping_mul(PHI);
        let first = fold(u128::from(lower ^ PI) * u128::from(seeded));
        let second = fold(u128::from(first ^ PHI) * u128::from(E));
        [high(first), low(first), high(second), low(second)]
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "halves")]
    fn halves(self) -> (u64, u64) {
        ((self.0 >> 64) as u64, self.0 as u64)
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "halves")]
fn fold(product: u128) -> u64 {
    (product >> 64) as u64 ^ product as u64
}

#[inline]
fn high(n: u64) -> u32 {
    low(n >> 32)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "only the lower half is needed")]
fn low(n: u64) -> u32 {
    n as u32
}

/// A random number below `bound`.
#[inline]
fn scale(random: u32, bound: u32) -> u32 {
    high(u64::from(random) * u64::from(bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_padded_needle_hashes_like_its_key() {
        let letters: Vec<u8> = (1..=255).chain(0..=255).cycle().take(600).collect();
        for (length, seed) in
            (0..100).flat_map(|length| [0, 1, u64::MAX].map(|seed| (length, seed)))
        {
            for from in [0, 200, 255] {
                let padded = [&letters[from..from + length], &[0; Needle::PADDING]].concat();
                let needle = Needle::new(&padded, length).expect("it is padded");
                let wanted = Hash::of(&padded[..length], seed);
                assert_eq!(Hash::of_needle(needle, seed), wanted, "{length} from {from}");
            }
        }
    }

    #[test]
    fn keys_of_different_length_or_bits_hash_differently() {
        for seed in [0, 1, 1 << 63] {
            let mut seen = BTreeSet::new();
            for length in 0..=40 {
                assert!(seen.insert(Hash::of(&vec![0; length], seed)), "{length} zeros");
                for bit in 0..8 * length {
                    let mut key = vec![0; length];
                    key[bit / 8] |= 1 << (bit % 8);
                    assert!(seen.insert(Hash::of(&key, seed)), "bit {bit} of {length}");
                }
            }
        }
    }

    /// Buckets, signatures and vertices are as evenly distributed as random ones.
    #[test]
    fn words_and_numbers_hash_evenly() {
        for prefix in ["", "0123456789abcde", "0123456789abcdef01234567"] {
            let (mut buckets, mut signatures) = ([0_u32; 64], [0_u32; 64]);
            let mut vertices = [[0_u32; 64]; 4];
            for n in 0..64_000 {
                let hash = Hash::of(format!("{prefix}{n}").as_bytes(), 0);
                buckets[hash.bucket(64) as usize] += 1;
                signatures[usize::try_from(hash.signature(6)).expect("six bits")] += 1;
                for (part, vertex) in hash.edge::<4>(0, 64).into_iter().enumerate() {
                    vertices[part][vertex as usize - 64 * part] += 1;
                }
            }
            // A thousand each, within five times the deviation.
            let counts = buckets.into_iter().chain(signatures);
            for count in counts.chain(vertices.as_flattened().iter().copied()) {
                assert!((840..1160).contains(&count), "{count} behind {prefix}");
            }
        }
    }
}
