//! Elias δ: the γ code of λ = ⌊log₂(*n* + 1)⌋, then the λ lower bits of *n* + 1.
//!
//! **Implied distribution.** ≈ 1/2*x*(log *x*)².
//! **Range.** [0 . . 2⁶⁴ – 1).
//! **Length.** 2⌊log₂(λ + 1)⌋ + 1 + λ. Complete.
//! **Invariant.** A codeword has `len` bits, and the decoder restores the number. Decoding any bits does not
//! panic.
//! **Reference.** P. Elias, "Universal codeword sets and representations of the integers", IEEE
//! Transactions on Information Theory 21(2), 1975; here from zero. Code by `dsi-bitstream`.

use dsi_bitstream::codes::delta::{DeltaReadParam, DeltaWriteParam};
use dsi_bitstream::codes::len_delta;

use crate::{Bits, Code, Reader, check_range};

/// Elias δ.
#[derive(Debug, Clone, Copy)]
pub struct Delta;

impl Code for Delta {
    fn name(&self) -> &'static str {
        "delta"
    }

    fn len(&self, n: u64) -> usize {
        check_range(self, n);
        len_delta(n)
    }

    #[inline]
    fn write(&self, out: &mut Bits, n: u64) {
        check_range(self, n);
        let Ok(_) = out.write_delta_param::<true, true>(n);
    }

    #[inline]
    fn read(&self, input: &mut Reader<'_>) -> Option<u64> {
        // The decoder would shift by λ, so its γ codeword must be that of a number below 64. The longest of these
        // is that of 63: the seven bits 0000001 and then six zeros. Any other codeword with six or more leading
        // zeros encodes a greater λ.
        const OF_63: u64 = 1 << 6;
        let prefix = input.ahead() >> (64 - 13);
        if prefix < OF_63 * 2 && prefix != OF_63 {
            return None;
        }
        input.decode(DeltaReadParam::read_delta_param::<true, false>)
    }
}
