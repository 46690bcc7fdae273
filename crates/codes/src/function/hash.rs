//! What becomes of a key: its bucket, its edge and its signature.
//!
//! A key is hashed once, to 128 bits. The highest 32 tell the bucket, so that hashes in ascending order
//! are in the order of their buckets; the 32 in the middle are the signature; the edge comes from all
//! of them and the seed of the bucket.
//!
//! The vertices of an edge lie in *k* parts of equal size, one in each, and so are different.
//!
//! **Invariant.** The same on every machine: what is stored relies on it.
//!
//! **Reference.** Y. Collet, *XXH3*, <https://github.com/Cyan4973/xxHash>; D. Lemire, "Fast random
//! integer generation in an interval", ACM TOMACS 29(1), 2019 (multiplying instead of dividing).

use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::fixed;

/// The hash of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hash(u128);

impl Hash {
    #[inline]
    pub(super) fn of(key: &[u8], seed: u64) -> Self {
        Self(xxh3_128_with_seed(key, seed))
    }

    /// The bucket, of so many.
    #[inline]
    pub(super) fn bucket(self, buckets: u32) -> u32 {
        scale(high(self.halves().0), buckets)
    }

    /// A signature of so many bits, at most 32.
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

    /// Something that all of the keys have a part in.
    pub(super) fn digest(hashes: impl Iterator<Item = Self>) -> u64 {
        hashes.fold(0, |sum, hash| sum.wrapping_add(hash.halves().1))
    }

    /// Four random numbers.
    #[inline]
    fn random(self, seed: u64) -> [u32; 4] {
        /// Odd numbers without pattern: digits of the golden ratio, π and e.
        const PHI: u64 = 0x9E37_79B9_7F4A_7C15;
        const PI: u64 = 0x243F_6A88_85A3_08D3;
        const E: u64 = 0xB7E1_5162_8AED_2A6B;
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
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
fn low(n: u64) -> u32 {
    n as u32
}

/// A random number below `bound`.
#[inline]
fn scale(random: u32, bound: u32) -> u32 {
    high(u64::from(random) * u64::from(bound))
}
