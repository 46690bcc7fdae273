//! Golomb with modulus *b*: the unary code of ⌊*n* / *b*⌋, then the minimal binary code of
//! *n* mod *b* below *b*.
//!
//! **Implied distribution.** Geometric, ≈ 1/*r*ˣ with *r* the *b*-th root of 2: the gaps of a random set.
//! [`Golomb::for_mean`] chooses *b* by Gallager and van Voorhis. Their choice is optimal for a geometric
//! distribution: the least *b* with θᵇ + θᵇ⁺¹ ≤ 1, where θ = *m* / (1 + *m*) for the mean *m*; about 0.69 *m*.
//! **Range.** Quotients below 2³², as in the unary code: [0 . . 2³²*b*), but at most 2⁶⁴ – 2.
//! **Length.** ⌊*n* / *b*⌋ + 1 plus the minimal binary part. Complete. With *b* = 1 it is the unary code.
//! **Invariant.** A codeword has `len` bits, and the decoder restores the number. Decoding any bits does not
//! panic.
//! **Reference.** S. W. Golomb, "Run-length encodings", IEEE Transactions on Information Theory 12(3), 1966; R. G.
//! Gallager, D. C. van Voorhis, "Optimal source codes for geometrically distributed integer alphabets", the same
//! 21(2), 1975. Code by `dsi-bitstream`.

use dsi_bitstream::codes::golomb::GolombWrite;
use dsi_bitstream::codes::len_golomb;
use dsi_bitstream::codes::minimal_binary::MinimalBinaryRead;
use dsi_bitstream::traits::BitRead;

use crate::reader::NoCodeword;
use crate::{Bits, Code, Reader, check_range};

/// The greatest mean that a modulus is chosen for: numbers have at most 64 bits.
const MEAN_MAX: f64 = 18_446_744_073_709_551_616.0;

/// The Golomb code with a modulus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Golomb {
    modulus: u64,
}

impl Golomb {
    /// The code with modulus `modulus`.
    ///
    /// # Panics
    /// If the modulus is zero.
    pub const fn new(modulus: u64) -> Self {
        assert!(modulus > 0, "the modulus of a Golomb code is greater than 0");
        Self { modulus }
    }

    /// The best code for numbers, from zero, of a geometric distribution with this mean.
    pub fn for_mean(mean: f64) -> Self {
        if mean.is_nan() || mean <= 0.0 {
            return Self::new(1);
        }
        let mean = mean.min(MEAN_MAX);
        // θ = m / (1 + m): log(1 + θ) / -log θ, in a form that is precise for a great mean.
        let modulus = (mean / (1.0 + mean)).ln_1p() / (1.0 / mean).ln_1p();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below 0.7·2⁶⁴"
        )]
        let modulus = modulus.ceil().max(1.0) as u64;
        Self::new(modulus)
    }

    /// The code for the mean of `numbers`.
    pub fn fitting<N: Copy + Into<u64>>(numbers: &[N]) -> Self {
        let sum: u128 = numbers.iter().map(|&n| u128::from(n.into())).sum();
        #[expect(clippy::cast_precision_loss, reason = "a mean need not be exact")]
        Self::for_mean(sum as f64 / numbers.len().max(1) as f64)
    }
}

impl Code for Golomb {
    fn name(&self) -> &'static str {
        "golomb"
    }

    fn parameter(&self) -> Option<u64> {
        Some(self.modulus)
    }

    fn max(&self) -> u64 {
        self.modulus.saturating_mul(1 << 32) - 1
    }

    fn len(&self, n: u64) -> usize {
        check_range(self, n);
        len_golomb(n, self.modulus)
    }

    #[inline]
    fn write(&self, out: &mut Bits, n: u64) {
        check_range(self, n);
        let Ok(_) = out.write_golomb(n, self.modulus);
    }

    #[inline]
    fn read(&self, input: &mut Reader<'_>) -> Option<u64> {
        // The remaining bits bound a run of zeros, but not its product with the modulus.
        input.decode(|stream| {
            let quotient = stream.read_unary()?;
            let whole = quotient.checked_mul(self.modulus).ok_or(NoCodeword)?;
            let n = whole.checked_add(stream.read_minimal_binary(self.modulus)?);
            n.filter(|&n| n <= self.max()).ok_or(NoCodeword)
        })
    }
}
