//! A prefix code made to measure: codewords of given lengths, if there are such.
//!
//! By Kraft and `McMillan` there is an instantaneous code with codewords of the lengths *l*₁, *l*₂, …
//! if and only if Σ 2^–*l* ≤ 1, and no other uniquely decodable code does better; it is complete,
//! that is, no codeword can be added, if the sum is one. The codewords here are the canonical ones:
//! those of equal length ascend as binary numbers in the order given, and the shorter ones come
//! first.
//!
//! **Invariant.** No codeword begins another. The sum is compared exactly.
//!
//! **Reference.** L. G. Kraft, *A device for quantizing, grouping, and coding amplitude-modulated
//! pulses*, MIT, 1949; B. `McMillan`, "Two inequalities implied by unique decipherability", IRE
//! Transactions on Information Theory 2(4), 1956; E. S. Schwartz, B. Kallick, "Generating a
//! canonical prefix encoding", Communications of the ACM 7(3), 1964.

use dsi_bitstream::traits::BitWrite;

use crate::Bits;

/// The longest codeword in bits.
pub const LENGTH_MAX: u32 = 64;

/// Why no prefix code has these lengths.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LengthsError {
    /// Make some of the codewords longer.
    #[error("no prefix code has these lengths: their Kraft sum is {sum}, which is more than 1")]
    Kraft {
        /// Σ 2^–length, to as many digits as there are.
        sum: f64,
    },
    /// Codewords of more than [`LENGTH_MAX`] bits are not made here.
    #[error("a codeword of {length} bits; the longest have {LENGTH_MAX}")]
    TooLong {
        /// The length.
        length: u32,
    },
}

/// The codewords of the canonical prefix code with these lengths, in their order.
pub fn prefix_code(lengths: &[u32]) -> Result<Vec<Bits>, LengthsError> {
    /// In units of 2^–64.
    const ONE: u128 = 1 << LENGTH_MAX;
    if let Some(&length) = lengths.iter().find(|&&length| length > LENGTH_MAX) {
        return Err(LengthsError::TooLong { length });
    }
    let sum: u128 = lengths.iter().map(|length| ONE >> length).sum();
    if sum > ONE {
        #[expect(clippy::cast_precision_loss, reason = "said to people; compared exactly above")]
        return Err(LengthsError::Kraft { sum: sum as f64 / ONE as f64 });
    }
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&at| lengths[at]);
    let mut codewords = vec![Bits::default(); lengths.len()];
    // Each codeword is where the interval [next, next + 2^–length) of [0, 1) begins: the lengths
    // ascend, so that it is always a multiple of its own size.
    let mut next = 0_u128;
    for at in order {
        let length = lengths[at];
        #[expect(clippy::cast_possible_truncation, reason = "less than one: it has as many bits")]
        let codeword = (next >> (LENGTH_MAX - length)) as u64;
        let Ok(_) = codewords[at].write_bits(codeword, length as usize);
        next += ONE >> length;
    }
    Ok(codewords)
}
