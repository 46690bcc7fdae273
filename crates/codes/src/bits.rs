//! [`Bits`]: a growable bit buffer.
//!
//! It implements [`BitWrite`] of `dsi-bitstream`, whose coders append to it. Unlike a buffering bit writer, it can
//! be read between two codewords.
//!
//! **Invariant.** Bit `i` is bit `7 - i % 8` of byte `i / 8` (most significant first). `bytes.len()` is `len`
//! divided by eight, rounded up. The bits after the last one are zero.

use std::convert::Infallible;

use dsi_bitstream::traits::{BE, BitWrite};

/// A growable sequence of bits, most significant first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bits {
    bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    /// Starts with the bits of whole bytes.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        let len = bytes.len() * 8;
        Self { bytes, len }
    }

    /// The number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bits, padded with zeros to whole bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bits, padded with zeros to whole bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Removes every bit and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.len = 0;
    }

    /// Parses the letters `0` and `1`; `None` if there is any other letter.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut bits = Self::default();
        for letter in text.bytes() {
            let bit = letter.checked_sub(b'0').filter(|&bit| bit <= 1)?;
            let Ok(_) = bits.write_bits(u64::from(bit), 1);
        }
        Some(bits)
    }

    /// The bits as the letters `0` and `1`, without the padding.
    pub fn to_text(&self) -> String {
        let bit = |at: usize| self.bytes[at / 8] >> (7 - at % 8) & 1;
        (0..self.len).map(|at| if bit(at) == 1 { '1' } else { '0' }).collect()
    }
}

impl BitWrite<BE> for Bits {
    type Error = Infallible;

    #[inline]
    fn write_bits(&mut self, value: u64, width: usize) -> Result<usize, Infallible> {
        assert!(width <= 64, "a number of {width} bits");
        if width == 0 {
            return Ok(0);
        }
        let mut rest = value << (64 - width);
        let free = self.bytes.len() * 8 - self.len;
        if free > 0
            && let Some(last) = self.bytes.last_mut()
        {
            *last |= rest.to_be_bytes()[0] >> (8 - free);
            rest <<= free;
        }
        if width > free {
            let whole = (width - free).div_ceil(8);
            self.bytes.extend_from_slice(&rest.to_be_bytes()[..whole]);
        }
        self.len += width;
        Ok(width)
    }

    #[inline]
    fn write_unary(&mut self, n: u64) -> Result<usize, Infallible> {
        let zeros = usize::try_from(n).expect("a run of zeros that fits in memory");
        self.len += zeros;
        self.bytes.resize(self.len.div_ceil(8), 0);
        self.write_bits(1, 1)?;
        Ok(zeros + 1)
    }

    fn flush(&mut self) -> Result<usize, Infallible> {
        Ok(0)
    }
}
