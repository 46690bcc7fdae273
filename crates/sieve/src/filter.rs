//! [`Filter`]: a Bloom filter of signatures, over all its bits or over one cache line a key.
//!
//! What lives here: size and number of hashes from a capacity and a precision, the bits, and the
//! rates of false positives. What does not: keys and files; see `bloom.rs`.
//!
//! **Size.** A filter for *n* signatures and a precision *d* has *m* = 1.44·*d*·*n* bits and *d*
//! hashes. With *n* signatures its rate of false positives is 2^−*d*. It accepts more than *n*: the
//! rate grows.
//!
//! **Hashes.** The *i*-th hash is *a*·*i* + *b* modulo 2⁶⁴. The numbers *a* and *b* are made from
//! the signature. A filter over all bits scales the hash to *m*. In a block, its highest nine bits
//! choose one of 512 bits; the signature itself chooses the block.
//!
//! **Invariant.** The filter finds every inserted signature. No bit is ever cleared.
//!
//! **Reference.** B. H. Bloom, "Space/time trade-offs in hash coding with allowable errors", CACM
//! 13(7), 1970; A. Kirsch, M. Mitzenmacher, "Less hashing, same performance", ESA 2006, for *a*·*i* +
//! *b*; F. Putze, P. Sanders, J. Singler, "Cache-, hash- and space-efficient Bloom filters", WEA
//! 2007, for the blocks.

use crate::Signature;
use crate::header::Kind;

/// Words of a block: 64 bytes, one line of the processor's cache.
const BLOCK_WORDS: usize = 8;
const BLOCK_BITS: u64 = 512;
/// The most blocks from which the rate of the whole filter is estimated.
const SAMPLE_BLOCKS: usize = 1024;

/// How the bits of a key are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spread {
    /// Over the whole filter.
    Whole,
    /// Over one block of 512 bits.
    Blocks,
}

/// A Bloom filter of signatures.
#[derive(Debug)]
pub(crate) struct Filter {
    spread: Spread,
    capacity: u64,
    precision: u32,
    words: Vec<u64>,
    ones: u64,
}

impl Filter {
    /// An empty filter for `capacity` signatures.
    pub(crate) fn new(spread: Spread, capacity: u64, precision: u32) -> Self {
        let (capacity, precision) = (capacity.max(1), precision.max(1));
        let bits = capacity.saturating_mul(144 * u64::from(precision)).div_ceil(100);
        let words = usize::try_from(bits.div_ceil(64)).expect("a filter fits in memory");
        let words = words.next_multiple_of(BLOCK_WORDS);
        Self { spread, capacity, precision, words: vec![0; words], ones: 0 }
    }

    /// The filter with `words`, or an empty filter if `words` is empty. `None` if `capacity` or
    /// `precision` is 0, or if the number of words does not fit them.
    pub(crate) fn with_words(
        spread: Spread,
        capacity: u64,
        precision: u32,
        words: Vec<u64>,
    ) -> Option<Self> {
        let bits = u128::from(capacity) * u128::from(precision) * 144;
        let expected = bits.div_ceil(100).div_ceil(64).next_multiple_of(BLOCK_WORDS as u128);
        if capacity == 0 || precision == 0 {
            return None;
        }
        if words.is_empty() {
            return Some(Self::new(spread, capacity, precision));
        }
        if expected != words.len() as u128 {
            return None;
        }
        let ones = words.iter().map(|word| u64::from(word.count_ones())).sum();
        Some(Self { spread, capacity, precision, words, ones })
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    pub(crate) fn precision(&self) -> u32 {
        self.precision
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        size_of_val(self.words.as_slice()) as u64
    }

    /// The kind of the file that holds the filter.
    pub(crate) fn kind(&self) -> Kind {
        match self.spread {
            Spread::Whole => Kind::Bloom,
            Spread::Blocks => Kind::BlockedBloom,
        }
    }

    pub(crate) fn spread(&self) -> Spread {
        self.spread
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Inserts `signature`. Returns false if it was in the filter, or seemed to be.
    pub(crate) fn insert(&mut self, signature: Signature) -> bool {
        let ones = self.ones;
        for bit in self.bits_of(signature) {
            let word = &mut self.words[bit / 64];
            let mask = 1 << (bit % 64);
            self.ones += u64::from(*word & mask == 0);
            *word |= mask;
        }
        self.ones > ones
    }

    /// Returns whether `signature` is in the filter, or seems to be.
    pub(crate) fn has(&self, signature: Signature) -> bool {
        self.bits_of(signature).all(|bit| self.words[bit / 64] >> (bit % 64) & 1 == 1)
    }

    /// The bits of a signature.
    fn bits_of(&self, signature: Signature) -> impl Iterator<Item = usize> + use<> {
        let (a, mut hash) = hashes(signature.0);
        let (base, bits) = match self.spread {
            Spread::Whole => (0, self.words.len() as u64 * 64),
            Spread::Blocks => (self.block_of(signature.0) * BLOCK_WORDS * 64, BLOCK_BITS),
        };
        (0..self.precision).map(move |_| {
            let bit = base + scale(hash, bits);
            hash = hash.wrapping_add(a);
            bit
        })
    }

    fn block_of(&self, signature: u64) -> usize {
        scale(signature, (self.words.len() / BLOCK_WORDS) as u64)
    }

    /// The rate of false positives when `capacity` signatures are in, by the formula.
    pub(crate) fn planned_rate(&self) -> f64 {
        let (keys, hashes) = (float(self.capacity), f64::from(self.precision));
        match self.spread {
            Spread::Whole => {
                let bits = float(self.words.len() as u64 * 64);
                (1.0 - (-hashes * keys / bits).exp()).powf(hashes)
            }
            Spread::Blocks => blocks_rate(
                keys * float(BLOCK_WORDS as u64) / float(self.words.len() as u64),
                hashes,
            ),
        }
    }

    /// The rate of false positives now, estimated from the bits that are set.
    pub(crate) fn rate(&self) -> f64 {
        let hashes = f64::from(self.precision);
        match self.spread {
            Spread::Whole => (float(self.ones) / float(self.words.len() as u64 * 64)).powf(hashes),
            Spread::Blocks => {
                let blocks = self.words.len() / BLOCK_WORDS;
                let step = blocks.div_ceil(SAMPLE_BLOCKS);
                let (sampled, _) = self.words.as_chunks::<BLOCK_WORDS>();
                let rates = sampled.iter().step_by(step).map(|block| {
                    let ones: u32 = block.iter().map(|word| word.count_ones()).sum();
                    (f64::from(ones) / float(BLOCK_BITS)).powf(hashes)
                });
                rates.sum::<f64>() / float(blocks.div_ceil(step) as u64)
            }
        }
    }
}

/// The two numbers *a* and *b* of a signature; *a* is odd, so that no two hashes are equal.
fn hashes(signature: u64) -> (u64, u64) {
    (mix(signature) | 1, mix(signature ^ 0x9e37_79b9_7f4a_7c15))
}

/// The finisher of `SplitMix64`: all bits depend on all bits.
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// `hash` out of 2⁶⁴ as a number less than `limit`.
fn scale(hash: u64, limit: u64) -> usize {
    let scaled = (u128::from(hash) * u128::from(limit)) >> 64;
    usize::try_from(scaled).expect("less than a length in memory")
}

/// The rate of blocks that hold `load` keys on average: their number follows Poisson's law.
fn blocks_rate(load: f64, hashes: f64) -> f64 {
    let zero = 1.0 - 1.0 / float(BLOCK_BITS);
    let (mut rate, mut keys, mut probability) = (0.0, 0.0, (-load).exp());
    while keys < load + 12.0 * load.sqrt() + 12.0 {
        let fill: f64 = 1.0 - zero.powf(hashes * keys);
        rate += probability * fill.powf(hashes);
        keys += 1.0;
        probability *= load / keys;
    }
    rate
}

#[expect(clippy::cast_precision_loss, reason = "a rate: 53 bits are plenty")]
fn float(number: u64) -> f64 {
    number as f64
}
