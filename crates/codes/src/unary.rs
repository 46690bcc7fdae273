//! The unary code: *n* zeros and a one.
//!
//! **Implied distribution.** 1/2ⁿ⁺¹: each number half as likely as the one before.
//! **Range.** [0 . . 2³²): a greater number would be half a gigabyte of zeros.
//! **Length.** *n* + 1. Complete.
//! **Invariant.** A codeword has `len` bits, and the decoder restores the number. Decoding any bits does not
//! panic.
//! **Reference.** I. H. Witten, A. Moffat, T. C. Bell, *Managing Gigabytes*, 2nd ed., 1999, § 3.3.

use dsi_bitstream::traits::{BitRead, BitWrite};

use crate::reader::NoCodeword;
use crate::{Bits, Code, Reader, check_range};

/// The unary code.
#[derive(Debug, Clone, Copy)]
pub struct Unary;

impl Code for Unary {
    fn name(&self) -> &'static str {
        "unary"
    }

    fn max(&self) -> u64 {
        u64::from(u32::MAX)
    }

    fn len(&self, n: u64) -> usize {
        check_range(self, n);
        usize::try_from(n).expect("checked to fit 32 bits") + 1
    }

    #[inline]
    fn write(&self, out: &mut Bits, n: u64) {
        check_range(self, n);
        let Ok(_) = out.write_unary(n);
    }

    #[inline]
    fn read(&self, input: &mut Reader<'_>) -> Option<u64> {
        // The remaining bits bound a run of zeros: at the end the stream returns an error.
        input.decode(|stream| match stream.read_unary()? {
            n if n <= self.max() => Ok(n),
            _ => Err(NoCodeword),
        })
    }
}
