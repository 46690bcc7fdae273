//! Elias γ: the unary code of λ = ⌊log₂(*n* + 1)⌋, then the λ lower bits of *n* + 1.
//!
//! **Implied distribution.** ≈ 1/2*x*².
//! **Range.** [0 . . 2⁶⁴ – 1).
//! **Length.** 2λ + 1. Complete.
//! **Invariant.** A codeword has `len` bits, and the decoder restores the number. Decoding any bits does not
//! panic.
//! **Reference.** P. Elias, "Universal codeword sets and representations of the integers", IEEE
//! Transactions on Information Theory 21(2), 1975; here from zero. Code by `dsi-bitstream`.

use dsi_bitstream::codes::gamma::{GammaReadParam, GammaWriteParam};
use dsi_bitstream::codes::len_gamma;

use crate::{Bits, Code, Reader, check_range};

/// Elias γ.
#[derive(Debug, Clone, Copy)]
pub struct Gamma;

impl Code for Gamma {
    fn name(&self) -> &'static str {
        "gamma"
    }

    fn len(&self, n: u64) -> usize {
        check_range(self, n);
        len_gamma(n)
    }

    #[inline]
    fn write(&self, out: &mut Bits, n: u64) {
        check_range(self, n);
        let Ok(_) = out.write_gamma_param::<true>(n);
    }

    #[inline]
    fn read(&self, input: &mut Reader<'_>) -> Option<u64> {
        // The decoder would shift by the run of zeros: it must be shorter than 64.
        if input.ahead() == 0 {
            return None;
        }
        input.decode(GammaReadParam::read_gamma_param::<false>)
    }
}
