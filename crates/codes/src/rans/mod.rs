//! Asymmetric numeral systems, in the range form (rANS).
//!
//! A symbol *s* with *f* of 2ᵈ slots, which start at *c*, is pushed on a number *x* by
//!
//! ```text
//! push(x, s) = (⌊x / f⌋ << d) + c + x mod f
//! pop(x)     = s, f · (x >> d) + (x mod 2ᵈ) – c      where x mod 2ᵈ is a slot of s
//! ```
//!
//! so that *x* grows by log₂(2ᵈ / *f*) bits, the information of *s*, and what was pushed last is
//! popped first. [`Frequencies`] has the slots and the two functions, exactly as above; [`Model`]
//! is the code for numbers made of them, with states that give off 16 bits whenever they would
//! outgrow 32 (`model.rs`).
//!
//! **Implied distribution.** Whatever the frequencies are.
//! **Reference.** J. Duda, "Asymmetric numeral systems: entropy coding combining speed of Huffman
//! coding with compression rate of arithmetic coding", 2013; A. Moffat, M. Petri, "Index compression
//! using byte-aligned ANS coding and two-dimensional contexts", WSDM 2018, for numbers as bucket and
//! lower bits; F. Giesen, "Interleaved entropy coders", 2014.
//!
//! **Invariant.** The frequencies of a table sum to 2ᵈ, and a symbol that has a weight has a slot.

mod model;

pub use model::{INTERLEAVED_MIN, LOMAX_CLASS_MAX, Model};

/// The most slots, as a power of two.
pub const BITS_MAX: u32 = 16;

/// Why there are no frequencies for these weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrequenciesError {
    /// Nothing to be coded.
    #[error("no symbol has a weight")]
    NoWeight,
    /// Every symbol needs a slot.
    #[error("{symbols} symbols need a slot each, but there are only {slots} slots")]
    TooFewSlots {
        /// Symbols with a weight.
        symbols: usize,
        /// 2ᵈ.
        slots: usize,
    },
    /// More than [`BITS_MAX`] bits.
    #[error("2^{bits} slots are too many: the maximum is 2^{BITS_MAX}")]
    TooManySlots {
        /// *d*.
        bits: u32,
    },
}

/// How many of 2ᵈ slots each symbol has, and where they start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frequencies {
    bits: u32,
    slots: Vec<u32>,
    starts: Vec<u32>,
}

impl Frequencies {
    /// Shares 2^`bits` slots out among symbols in proportion to their weights: each to the nearest,
    /// but at least one; where the sum is then not right, slots are given or taken where that costs
    /// the fewest bits. A symbol of weight zero has none.
    pub fn quantise(weights: &[u64], bits: u32) -> Result<Self, FrequenciesError> {
        if bits > BITS_MAX {
            return Err(FrequenciesError::TooManySlots { bits });
        }
        let (slots, symbols) = (1 << bits, weights.iter().filter(|&&weight| weight > 0).count());
        if symbols == 0 {
            return Err(FrequenciesError::NoWeight);
        }
        if symbols > slots {
            return Err(FrequenciesError::TooFewSlots { symbols, slots });
        }
        let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
        let share = |&weight: &u64| {
            let nearest = ((u128::from(weight) << (bits + 1)) + total) / (2 * total);
            #[expect(clippy::cast_possible_truncation, reason = "a part of the slots")]
            let nearest = nearest as u32;
            nearest.max(u32::from(weight > 0))
        };
        let mut frequencies: Vec<u32> = weights.iter().map(share).collect();
        settle(weights, &mut frequencies, 1 << bits);
        Ok(Self::new(frequencies, bits))
    }

    /// The table of frequencies that sum to 2^`bits`.
    fn new(frequencies: Vec<u32>, bits: u32) -> Self {
        let mut next = 0;
        let start = |&frequency: &u32| {
            next += frequency;
            next - frequency
        };
        let starts = frequencies.iter().map(start).collect();
        debug_assert_eq!(next, 1 << bits);
        Self { bits, slots: frequencies, starts }
    }

    /// How many slots each symbol has.
    pub fn frequencies(&self) -> &[u32] {
        &self.slots
    }

    /// The first slot of each symbol.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Pushes `symbol` on `x`; `None` if it has no slot, or if the result exceeds 64 bits.
    pub fn push(&self, x: u64, symbol: usize) -> Option<u64> {
        let frequency = u64::from(*self.slots.get(symbol)?);
        let start = u64::from(*self.starts.get(symbol)?);
        let quotient = x.checked_div(frequency)?;
        if quotient.leading_zeros() < self.bits {
            return None;
        }
        // Below 2^d: it is in the lower bits, which the shift left free.
        Some((quotient << self.bits) + start + x % frequency)
    }

    /// The symbol that was pushed last to make `x`, and what it was pushed on.
    pub fn pop(&self, x: u64) -> (usize, u64) {
        let slot = x & ((1 << self.bits) - 1);
        // Of symbols that start at the same slot only the last one has any.
        let symbol = self.starts.partition_point(|&start| u64::from(start) <= slot) - 1;
        let (frequency, start) = (self.slots[symbol], self.starts[symbol]);
        (symbol, u64::from(frequency) * (x >> self.bits) + slot - u64::from(start))
    }
}

/// Gives or takes slots, one at a time, until there are as many as there should be.
fn settle(weights: &[u64], frequencies: &mut [u32], slots: u32) {
    #[expect(clippy::cast_precision_loss, reason = "to compare costs")]
    let cost = |at: usize, from: u32, to: u32| weights[at] as f64 * log_ratio(from, to);
    loop {
        let sum: u32 = frequencies.iter().sum();
        if sum == slots {
            return;
        }
        let (least, to): (u32, fn(u32) -> u32) =
            if sum < slots { (1, |f| f + 1) } else { (2, |f| f - 1) };
        let cheapest = (0..frequencies.len())
            .filter(|&at| frequencies[at] >= least)
            .min_by(|&a, &b| {
                let (f, g) = (frequencies[a], frequencies[b]);
                cost(a, f, to(f)).total_cmp(&cost(b, g, to(g)))
            })
            .expect("a symbol with more than one slot, as there are more slots than symbols");
        frequencies[cheapest] = to(frequencies[cheapest]);
    }
}

/// The logarithm of `from` / `to`, neighbours from 1 on. It is 2 artanh((`from` – `to`) / (`from` + `to`)), summed by
/// additions, multiplications and divisions alone: these, unlike a logarithm of the system, are the same on every
/// machine, and so are the files that depend on them.
fn log_ratio(from: u32, to: u32) -> f64 {
    let ratio = (f64::from(from) - f64::from(to)) / (f64::from(from) + f64::from(to));
    let (mut power, mut sum) = (ratio, 0.0);
    // At most 1/3 to the power of 37: nothing beside the first term.
    for odd in (1..=37_u32).step_by(2) {
        sum += power / f64::from(odd);
        power *= ratio * ratio;
    }
    2.0 * sum
}
