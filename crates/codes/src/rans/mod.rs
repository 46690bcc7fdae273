//! Asymmetric numeral systems, in the range form (rANS).
//!
//! A symbol *s* with *f* of 2ᵈ slots, which start at *c*, is pushed on a number *x* by
//!
//! ```text
//! push(x, s) = (⌊x / f⌋ << d) + c + x mod f
//! pop(x)     = s, f · (x >> d) + (x mod 2ᵈ) – c      where x mod 2ᵈ is a slot of s
//! ```
//!
//! so that *x* grows by log₂(2ᵈ / *f*) bits, the information of *s*. Symbols are popped in reverse order.
//! [`Frequencies`] has the slots and these two functions. [`Model`] is a code for numbers built on them; its
//! states move 16 bits to the output before they would exceed 32 bits (`model.rs`).
//!
//! **Implied distribution.** Whatever the frequencies are.
//! **Reference.** J. Duda, "Asymmetric numeral systems: entropy coding combining speed of Huffman
//! coding with compression rate of arithmetic coding", 2013; A. Moffat, M. Petri, "Index compression
//! using byte-aligned ANS coding and two-dimensional contexts", WSDM 2018, for numbers as bucket and
//! lower bits; F. Giesen, "Interleaved entropy coders", 2014.
//!
//! **Invariant.** The frequencies of a table sum to 2ᵈ, and every symbol with a nonzero weight has a slot.

mod model;

pub use model::{INTERLEAVED_MIN, LOMAX_CLASS_MAX, Model};

/// Largest number of slots, as a power of two.
pub const BITS_MAX: u32 = 16;

/// Why weights have no frequencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrequenciesError {
    /// All weights are zero.
    #[error("no symbol has a weight")]
    NoWeight,
    /// There are more symbols than slots.
    #[error("{symbols} symbols need a slot each, but there are only {slots} slots")]
    TooFewSlots {
        /// Symbols with a weight.
        symbols: usize,
        /// 2ᵈ.
        slots: usize,
    },
    /// The table would have more than 2^[`BITS_MAX`] slots.
    #[error("2^{bits} slots are too many: the maximum is 2^{BITS_MAX}")]
    TooManySlots {
        /// *d*.
        bits: u32,
    },
}

/// The number of slots of each symbol, and its first slot, of 2ᵈ in total.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frequencies {
    bits: u32,
    slots: Vec<u32>,
    starts: Vec<u32>,
}

impl Frequencies {
    /// Distributes 2^`bits` slots among symbols in proportion to their weights, rounded to the nearest and at
    /// least one. Then slots are added or removed where that costs the fewest bits, until the sum is right. A
    /// symbol of weight zero gets no slot.
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

    /// The table of frequencies, which must sum to 2^`bits`.
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

    /// Number of slots of each symbol.
    pub fn frequencies(&self) -> &[u32] {
        &self.slots
    }

    /// The first slot of each symbol.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Pushes `symbol` onto `x`. Returns `None` if it has no slot, or if the result exceeds 64 bits.
    pub fn push(&self, x: u64, symbol: usize) -> Option<u64> {
        let frequency = u64::from(*self.slots.get(symbol)?);
        let start = u64::from(*self.starts.get(symbol)?);
        let quotient = x.checked_div(frequency)?;
        if quotient.leading_zeros() < self.bits {
            return None;
        }
        // The sum is below 2^d and fits into the bits that the shift cleared.
        Some((quotient << self.bits) + start + x % frequency)
    }

    /// Pops the symbol that was pushed last. Returns it and the value before the push.
    pub fn pop(&self, x: u64) -> (usize, u64) {
        let slot = x & ((1 << self.bits) - 1);
        // Of symbols with the same start, only the last has any slots.
        let symbol = self.starts.partition_point(|&start| u64::from(start) <= slot) - 1;
        let (frequency, start) = (self.slots[symbol], self.starts[symbol]);
        (symbol, u64::from(frequency) * (x >> self.bits) + slot - u64::from(start))
    }
}

/// Adds or removes slots one at a time until the sum is right.
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

/// The logarithm of `from` / `to`, which differ by one. Computed as 2 artanh((`from` – `to`) / (`from` + `to`))
/// with additions, multiplications and divisions only. Unlike a logarithm of the system, these give the same
/// result, and so the same files, on every machine.
fn log_ratio(from: u32, to: u32) -> f64 {
    let ratio = (f64::from(from) - f64::from(to)) / (f64::from(from) + f64::from(to));
    let (mut power, mut sum) = (ratio, 0.0);
    // At most (1/3)³⁷, negligible beside the first term.
    for odd in (1..=37_u32).step_by(2) {
        sum += power / f64::from(odd);
        power *= ratio * ratio;
    }
    2.0 * sum
}
