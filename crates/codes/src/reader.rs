//! [`Reader`]: a position in a slice of bytes, from which codewords are read.
//!
//! What lives here: the position, its two ends, and its side of `dsi-bitstream`, whose decoders
//! read from anything that is [`BitRead`]. What does not: any codeword. Those decoders trust their
//! input; here they run only behind [`Reader::decode`], which does not, and each code first looks at
//! the [window](Reader::window) to refuse what would lead its decoder astray.
//!
//! **Invariant.** The position is never past the end. A read that fails leaves it where it was.

use dsi_bitstream::traits::{BE, BitRead};

/// Reads codewords from bytes, most significant bit first.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    stream: Stream<'a>,
}

impl<'a> Reader<'a> {
    /// A reader at the first bit of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { stream: Stream { bytes, position: 0 } }
    }

    /// How many bits lie before the next one to be read.
    pub fn position(&self) -> usize {
        self.stream.position
    }

    /// How many bits are left, the padding of the last byte included.
    pub fn remaining(&self) -> usize {
        self.stream.bytes.len() * 8 - self.stream.position
    }

    /// The next 64 bits, with zeros past the end.
    pub(crate) fn window(&self) -> u64 {
        self.stream.window()
    }

    /// Runs a decoder, and takes its word only if it stayed inside the bytes.
    pub(crate) fn decode(
        &mut self,
        decoder: impl FnOnce(&mut Stream<'a>) -> Result<u64, NoCodeword>,
    ) -> Option<u64> {
        let start = self.stream.position;
        let outcome = decoder(&mut self.stream);
        if let Ok(n) = outcome
            && self.stream.position <= self.stream.bytes.len() * 8
        {
            return Some(n);
        }
        self.stream.position = start;
        None
    }
}

/// The bits as the decoders of `dsi-bitstream` see them: a peek goes on with zeros past the end,
/// and a skip may lead there.
#[derive(Debug, Clone)]
pub(crate) struct Stream<'a> {
    bytes: &'a [u8],
    position: usize,
}

/// The input ends inside a codeword, or begins none.
#[derive(Debug, thiserror::Error)]
#[error("no whole codeword here")]
pub(crate) struct NoCodeword;

impl Stream<'_> {
    fn window(&self) -> u64 {
        let rest = self.bytes.get(self.position / 8..).unwrap_or_default();
        let shift = self.position % 8;
        if let Some((word, rest)) = rest.split_first_chunk() {
            let ninth = rest.first().copied().unwrap_or_default();
            u64::from_be_bytes(*word) << shift | u64::from(ninth) >> (8 - shift)
        } else {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            u64::from_be_bytes(word) << shift
        }
    }
}

impl BitRead<BE> for Stream<'_> {
    type Error = NoCodeword;
    type PeekWord = u64;
    const PEEK_BITS: usize = 64;

    fn read_bits(&mut self, width: usize) -> Result<u64, NoCodeword> {
        assert!(width <= 64, "a number of {width} bits");
        if width == 0 {
            return Ok(0);
        }
        let value = self.window() >> (64 - width);
        self.position += width;
        if self.position <= self.bytes.len() * 8 { Ok(value) } else { Err(NoCodeword) }
    }

    fn peek_bits(&mut self, width: usize) -> Result<u64, NoCodeword> {
        assert!((1..=64).contains(&width), "a peek at {width} bits");
        Ok(self.window() >> (64 - width))
    }

    fn skip_bits(&mut self, count: usize) -> Result<(), NoCodeword> {
        self.position = self.position.saturating_add(count);
        if self.position <= self.bytes.len() * 8 { Ok(()) } else { Err(NoCodeword) }
    }

    fn skip_bits_after_peek(&mut self, count: usize) {
        self.position += count;
    }

    fn read_unary(&mut self) -> Result<u64, NoCodeword> {
        let start = self.position;
        while self.position < self.bytes.len() * 8 {
            let window = self.window();
            if window != 0 {
                self.position += window.leading_zeros() as usize;
                let zeros = self.position - start;
                self.position += 1;
                return Ok(zeros as u64);
            }
            self.position += 64;
        }
        Err(NoCodeword)
    }
}
