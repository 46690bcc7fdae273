//! The minimal binary code of the numbers below a bound *u*: with *s* = ⌈log₂ *u*⌉, the first
//! 2ˢ – *u* numbers in *s* – 1 bits, the others, from there on, in *s* bits.
//!
//! **Implied distribution.** Uniform on the numbers below *u*.
//! **Range.** [0 . . *u*), for *u* in [1 . . 2⁶⁴). With *u* = 1 the codeword of 0 is empty.
//! **Length.** *s* – 1 if *n* < 2ˢ – *u*, else *s*. Complete.
//! **Invariant.** A codeword has `len` bits, and the decoder restores the number. Decoding any bits does not
//! panic.
//! **Reference.** Also "truncated binary"; I. H. Witten, A. Moffat, T. C. Bell, *Managing
//! Gigabytes*, 2nd ed., 1999, § 3.3. Code by `dsi-bitstream`.

use dsi_bitstream::codes::len_minimal_binary;
use dsi_bitstream::codes::minimal_binary::{MinimalBinaryRead, MinimalBinaryWrite};

use crate::{Bits, Code, Reader, check_range};

/// The minimal binary code of the numbers below a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinimalBinary {
    bound: u64,
}

impl MinimalBinary {
    /// The code of the numbers below `bound`.
    ///
    /// # Panics
    /// If `bound` is zero: there is no number to be coded.
    pub const fn new(bound: u64) -> Self {
        assert!(bound > 0, "the bound of a minimal binary code is greater than 0");
        Self { bound }
    }
}

impl Code for MinimalBinary {
    fn name(&self) -> &'static str {
        "minimal-binary"
    }

    fn parameter(&self) -> Option<u64> {
        Some(self.bound)
    }

    fn max(&self) -> u64 {
        self.bound - 1
    }

    fn len(&self, n: u64) -> usize {
        check_range(self, n);
        len_minimal_binary(n, self.bound)
    }

    #[inline]
    fn write(&self, out: &mut Bits, n: u64) {
        check_range(self, n);
        let Ok(_) = out.write_minimal_binary(n, self.bound);
    }

    #[inline]
    fn read(&self, input: &mut Reader<'_>) -> Option<u64> {
        // Every bit sequence begins with a codeword, so the decoder cannot fail.
        input.decode(|stream| stream.read_minimal_binary(self.bound))
    }
}
