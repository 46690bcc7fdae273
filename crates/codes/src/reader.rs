//! [`Reader`]: reads codewords from a slice of bytes.
//!
//! The decoders of `dsi-bitstream` trust their input. Here they run only inside [`Reader::decode`], which checks
//! the result. Each code first looks [ahead](Reader::ahead) and refuses bits that its decoder cannot handle.
//!
//! **Invariant.** The position is never past the end. A failed read does not move it.

use dsi_bitstream::impls::BufBitReader;
use dsi_bitstream::traits::{BE, BitRead, BitSeek, WordRead, WordSeek};

/// Reads codewords from bytes, most significant bit first.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    stream: Stream<'a>,
    bytes: &'a [u8],
}

/// The bits as the decoders see them.
pub(crate) type Stream<'a> = BufBitReader<BE, Words<'a>>;

impl<'a> Reader<'a> {
    /// A reader at the first bit of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { stream: BufBitReader::new(Words { bytes, next: 0 }), bytes }
    }

    /// Number of bits before the position.
    pub fn position(&self) -> usize {
        position_of(&mut self.stream.clone())
    }

    /// Number of bits left, including the padding of the last byte.
    pub fn remaining(&self) -> usize {
        self.bytes.len() * 8 - self.position()
    }

    /// The next 64 bits, padded with zeros. If the first 32 are not all zero, the second 32 are zeros.
    #[inline]
    pub(crate) fn ahead(&mut self) -> u64 {
        match self.stream.peek_bits(32) {
            Ok(bits) if bits != 0 => bits << 32,
            _ => self.far_ahead(),
        }
    }

    /// The next 64 bits, padded with zeros.
    fn far_ahead(&self) -> u64 {
        let position = self.position();
        let (rest, shift) = (&self.bytes[position / 8..], position % 8);
        let mut nine = [0; 9];
        let len = rest.len().min(nine.len());
        nine[..len].copy_from_slice(&rest[..len]);
        let [eight @ .., ninth] = nine;
        u64::from_be_bytes(eight) << shift | u64::from(ninth) >> (8 - shift)
    }

    /// Runs a decoder, and rejects its result if it read past the end.
    #[inline]
    pub(crate) fn decode(
        &mut self,
        decoder: impl FnOnce(&mut Stream<'a>) -> Result<u64, NoCodeword>,
    ) -> Option<u64> {
        let start = position_of(&mut self.stream);
        let outcome = decoder(&mut self.stream);
        if let Ok(n) = outcome
            && position_of(&mut self.stream) <= self.bytes.len() * 8
        {
            return Some(n);
        }
        self.stream.set_bit_pos(start as u64).expect("the stream was there before");
        None
    }
}

#[inline]
fn position_of(stream: &mut Stream<'_>) -> usize {
    let position = stream.bit_pos().expect("words in memory know where they are");
    usize::try_from(position).expect("the position was reached in memory")
}

/// Bytes as 32-bit words; the last one is padded with zeros.
#[derive(Debug, Clone)]
pub(crate) struct Words<'a> {
    bytes: &'a [u8],
    next: usize,
}

/// The input ends inside a codeword, or has no valid codeword here.
#[derive(Debug, thiserror::Error)]
#[error("no complete codeword at this position")]
pub(crate) struct NoCodeword;

impl WordRead for Words<'_> {
    type Error = NoCodeword;
    type Word = u32;

    #[inline]
    fn read_word(&mut self) -> Result<u32, NoCodeword> {
        self.read_word_opt().ok_or(NoCodeword)
    }

    #[inline]
    fn read_word_opt(&mut self) -> Option<u32> {
        let rest = self.bytes.get(self.next * 4..)?;
        let word = if let Some(word) = rest.first_chunk() {
            u32::from_ne_bytes(*word)
        } else if rest.is_empty() {
            return None;
        } else {
            let mut word = [0; 4];
            word[..rest.len()].copy_from_slice(rest);
            u32::from_ne_bytes(word)
        };
        self.next += 1;
        Some(word)
    }
}

impl WordSeek for Words<'_> {
    type Error = NoCodeword;

    #[inline]
    fn word_pos(&mut self) -> Result<u64, NoCodeword> {
        Ok(self.next as u64)
    }

    #[inline]
    fn set_word_pos(&mut self, position: u64) -> Result<(), NoCodeword> {
        self.next = usize::try_from(position).map_err(|_| NoCodeword)?;
        Ok(())
    }
}
