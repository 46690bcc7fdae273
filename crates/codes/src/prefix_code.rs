//! A prefix code with codewords of given lengths.
//!
//! By Kraft and `McMillan` there is an instantaneous code with codewords of the lengths *l*₁, *l*₂, … if and only
//! if Σ 2^–*l* ≤ 1. No other uniquely decodable code does better. The code is complete if the sum is one: then no
//! codeword can be added. The codewords here are canonical: shorter ones come first, and those of equal length
//! ascend as binary numbers in the order given.
//!
//! **Invariant.** No codeword is a prefix of another. The Kraft sum is compared exactly.
//!
//! **Reference.** L. G. Kraft, *A device for quantizing, grouping, and coding amplitude-modulated
//! pulses*, MIT, 1949; B. `McMillan`, "Two inequalities implied by unique decipherability", IRE
//! Transactions on Information Theory 2(4), 1956; E. S. Schwartz, B. Kallick, "Generating a
//! canonical prefix encoding", Communications of the ACM 7(3), 1964.

use dsi_bitstream::traits::BitWrite;

use crate::Bits;

/// The longest codeword in bits.
pub const LENGTH_MAX: u32 = 64;

/// Why there is no prefix code with these lengths.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LengthsError {
    /// The Kraft inequality does not hold: some codewords must be longer.
    #[error("no prefix code has these lengths: their Kraft sum is {sum}, which is more than 1")]
    Kraft {
        /// Σ 2^–length, rounded.
        sum: f64,
    },
    /// A codeword would have more than [`LENGTH_MAX`] bits.
    #[error("a codeword cannot have {length} bits: the maximum is {LENGTH_MAX}")]
    TooLong {
        /// The length.
        length: u32,
    },
}

/// Returns the codewords of the canonical prefix code, in the order of `lengths`.
pub fn prefix_code(lengths: &[u32]) -> Result<Vec<Bits>, LengthsError> {
    /// In units of 2^–64.
    const ONE: u128 = 1 << LENGTH_MAX;
    if let Some(&length) = lengths.iter().find(|&&length| length > LENGTH_MAX) {
        return Err(LengthsError::TooLong { length });
    }
    let sum: u128 = lengths.iter().map(|length| ONE >> length).sum();
    if sum > ONE {
        #[expect(
            clippy::cast_precision_loss,
            reason = "for the message only; compared exactly above"
        )]
        return Err(LengthsError::Kraft { sum: sum as f64 / ONE as f64 });
    }
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&at| lengths[at]);
    let mut codewords = vec![Bits::default(); lengths.len()];
    // Each codeword is the start of an interval [next, next + 2^–length) of [0, 1). Lengths ascend, so the start
    // is always a multiple of the interval's size.
    let mut next = 0_u128;
    for at in order {
        let length = lengths[at];
        #[expect(clippy::cast_possible_truncation, reason = "less than one, so it fits")]
        let codeword = (next >> (LENGTH_MAX - length)) as u64;
        let Ok(_) = codewords[at].write_bits(codeword, length as usize);
        next += ONE >> length;
    }
    Ok(codewords)
}
