//! Boldi–Vigna ζ with parameter *k*: the unary code of *h* = ⌊log₂(*n* + 1) / *k*⌋, then the
//! minimal binary code of *n* + 1 – 2ʰᵏ in an interval of 2⁽ʰ⁺¹⁾ᵏ – 2ʰᵏ numbers.
//!
//! **Implied distribution.** ≈ 1/*x*^(1 + 1/*k*): a power law, as are the gaps of web graphs.
//! **Range.** [0 . . 2⁶⁴ – 1), for *k* in [1 . . 8).
//! **Length.** *h* + 1 and that of the minimal binary part, (*h* + 1)*k* – 1 or (*h* + 1)*k*.
//! Complete. ζ₁ is γ.
//! **Reference.** P. Boldi, S. Vigna, "Codes for the World Wide Web", Internet Mathematics 2(4),
//! 2005. Code by `dsi-bitstream`.

use dsi_bitstream::codes::len_zeta;
use dsi_bitstream::codes::zeta::{ZetaReadParam, ZetaWriteParam};

use crate::{Bits, Code, Reader, check_range};

/// Boldi–Vigna ζ; `Zeta<3>` is the one for web graphs.
#[derive(Debug, Clone, Copy)]
pub struct Zeta<const K: usize>;

impl<const K: usize> Code for Zeta<K> {
    const NAME: &'static str = const {
        match K {
            1 => "zeta1",
            2 => "zeta2",
            3 => "zeta3",
            4 => "zeta4",
            5 => "zeta5",
            6 => "zeta6",
            7 => "zeta7",
            _ => panic!("the parameter of a zeta code is from 1 to 7"),
        }
    };

    fn len(n: u64) -> usize {
        check_range::<Self>(n);
        len_zeta(n, K)
    }

    #[inline]
    fn write(out: &mut Bits, n: u64) {
        check_range::<Self>(n);
        let Ok(_) =
            if K == 3 { out.write_zeta3_param::<true>(n) } else { out.write_zeta_param(n, K) };
    }

    #[inline]
    fn read(input: &mut Reader<'_>) -> Option<u64> {
        const { assert!(K >= 1 && K < 8, "the parameter of a zeta code is from 1 to 7") };
        // The decoder would shift by h times k: the product must be less than 64.
        if input.ahead().leading_zeros() as usize * K >= 64 {
            return None;
        }
        input.decode(|stream| {
            if K == 3 { stream.read_zeta3_param::<true>() } else { stream.read_zeta_param(K) }
        })
    }
}
