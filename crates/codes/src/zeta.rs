//! Boldi–Vigna ζ with parameter *k*: the unary code of *h* = ⌊log₂(*n* + 1) / *k*⌋, then the
//! minimal binary code of *n* + 1 – 2ʰᵏ in an interval of 2⁽ʰ⁺¹⁾ᵏ – 2ʰᵏ numbers.
//!
//! **Implied distribution.** ≈ 1/*x*^(1 + 1/*k*): a power law, as are the gaps of web graphs.
//! **Range.** [0 . . 2⁶⁴ – 1), for *k* in [1 . . 8).
//! **Length.** *h* + 1 and that of the minimal binary part, (*h* + 1)*k* – 1 or (*h* + 1)*k*.
//! Complete. ζ₁ is γ.
//! **Invariant.** A codeword has `len` bits, and the decoder restores the number. Decoding any bits does not
//! panic.
//! **Reference.** P. Boldi, S. Vigna, "Codes for the World Wide Web", Internet Mathematics 2(4),
//! 2005. Code by `dsi-bitstream`.

use dsi_bitstream::codes::len_zeta;
use dsi_bitstream::codes::zeta::{ZetaReadParam, ZetaWriteParam};

use crate::{Bits, Code, Reader, check_range};

/// Boldi–Vigna ζ; the parameter 3 suits web graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zeta {
    k: usize,
}

impl Zeta {
    /// The greatest parameter.
    pub const K_MAX: usize = 7;

    /// The code with parameter `k`.
    ///
    /// # Panics
    /// If `k` is not in [1 . . 8).
    pub const fn new(k: usize) -> Self {
        assert!(k >= 1 && k <= Self::K_MAX, "the parameter of a zeta code is from 1 to 7");
        Self { k }
    }
}

impl Code for Zeta {
    fn name(&self) -> &'static str {
        "zeta"
    }

    fn parameter(&self) -> Option<u64> {
        Some(self.k as u64)
    }

    fn len(&self, n: u64) -> usize {
        check_range(self, n);
        len_zeta(n, self.k)
    }

    #[inline]
    fn write(&self, out: &mut Bits, n: u64) {
        check_range(self, n);
        let Ok(_) = if self.k == 3 {
            out.write_zeta3_param::<true>(n)
        } else {
            out.write_zeta_param(n, self.k)
        };
    }

    #[inline]
    fn read(&self, input: &mut Reader<'_>) -> Option<u64> {
        // The decoder would shift by h times k: the product must be less than 64.
        if input.ahead().leading_zeros() as usize * self.k >= 64 {
            return None;
        }
        input.decode(|stream| {
            if self.k == 3 {
                stream.read_zeta3_param::<true>()
            } else {
                stream.read_zeta_param(self.k)
            }
        })
    }
}
