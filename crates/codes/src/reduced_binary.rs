//! Reduced binary: *n* + 1 in binary, without its leading one.
//!
//! | *n* | codeword |
//! |---|---|
//! | 0 | (empty) |
//! | 1, 2 | 0, 1 |
//! | 3, 4, 5, 6 | 00, 01, 10, 11 |
//!
//! **It is not instantaneous**, nor even uniquely decodable: every codeword is a prefix of others, and a reader
//! must know its length. So it is not a [`Code`](crate::Code). Adding the length in front yields γ and δ.
//!
//! **Implied distribution.** None: the Kraft sum of the numbers below 2ʰ – 1 is *h*.
//! **Range.** [0 . . 2⁶⁴ – 1).
//! **Length.** λ = ⌊log₂(*n* + 1)⌋, the least possible: the codewords are distinct, and all bit strings of a
//! length are used.
//! **Invariant.** `number(&codeword(n)) == Some(n)` for every number that has a codeword.
//! **Reference.** P. Elias, "Universal codeword sets and representations of the integers", IEEE
//! Transactions on Information Theory 21(2), 1975.

use dsi_bitstream::traits::BitWrite;

use crate::Bits;

/// The greatest number that has a codeword.
pub const MAX: u64 = u64::MAX - 1;

/// The codeword of `n`.
///
/// # Panics
/// If `n` is greater than [`MAX`].
pub fn codeword(n: u64) -> Bits {
    assert!(n <= MAX, "{n} has no reduced binary codeword: the greatest is {MAX}");
    let mut bits = Bits::default();
    let lambda = (n + 1).ilog2();
    let Ok(_) = bits.write_bits((n + 1) - (1 << lambda), lambda as usize);
    bits
}

/// The number whose codeword is `bits`; `None` for more than 63 bits.
pub fn number(bits: &Bits) -> Option<u64> {
    if bits.len() > 63 {
        return None;
    }
    let mut eight = [0; 8];
    eight[..bits.as_bytes().len()].copy_from_slice(bits.as_bytes());
    let rest = u64::from_be_bytes(eight).checked_shr(64 - u32::try_from(bits.len()).ok()?);
    Some((1 << bits.len()) + rest.unwrap_or(0) - 1)
}
