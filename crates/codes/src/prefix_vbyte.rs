//! Variable-length bytes with all continuation bits in the first byte. A codeword of *k* bytes begins with *k* – 1
//! ones and a zero (nine bytes with eight ones). Its other bits are the number, highest bit first, minus the count
//! of numbers with shorter codewords.
//!
//! | numbers | codewords |
//! |---|---|
//! | 0 – 127 | 0xxxxxxx |
//! | 128 – 16,511 | 10xxxxxx xxxxxxxx |
//! | 16,512 – 2,113,663 | 110xxxxx xxxxxxxx xxxxxxxx |
//!
//! The first byte gives the length, and one load of eight bytes gives the number: no loop, and no branch per byte.
//! Codewords compare as bytes like their numbers.
//!
//! **Implied distribution.** ≈ 1/*x*^(8/7), in steps.
//! **Range.** All of [0 . . 2⁶⁴), in one to nine bytes.
//! **Length.** The least *k* with *n* < 2⁷ + 2¹⁴ + … + 2⁷ᵏ, in bytes. Complete except for the last length, where
//! numbers beyond 2⁶⁴ – 1 are refused.
//! **Reference.** J. Dean, "Challenges in building large-scale information retrieval systems", WSDM 2009; J.
//! Plaisance, N. Kurz, D. Lemire, "Vectorized `VByte` decoding", 2015, for the comparison.
//!
//! **Invariant.** Numbers and codewords correspond one to one.

use dsi_bitstream::traits::{BitRead, BitWrite};

use crate::reader::NoCodeword;
use crate::{Bits, Code, Reader};

/// The length of the longest codeword in bytes.
pub const BYTES_MAX: usize = 9;

/// The first number of each length in bytes.
const FIRST: [u64; BYTES_MAX + 1] = {
    let mut first = [0; BYTES_MAX + 1];
    let mut bytes = 2;
    while bytes <= BYTES_MAX {
        first[bytes] = first[bytes - 1] + (1 << (7 * (bytes - 1)));
        bytes += 1;
    }
    first
};

/// The code on bits, for streams that mix codes; [`write()`] and [`read`] work on bytes.
#[derive(Debug, Clone, Copy)]
pub struct PrefixVByte;

/// The length of the codeword of `n` in bytes.
pub fn bytes(n: u64) -> usize {
    (1..BYTES_MAX).find(|&bytes| n < FIRST[bytes + 1]).unwrap_or(BYTES_MAX)
}

/// Appends the codeword of `n`.
pub fn write(out: &mut Vec<u8>, n: u64) {
    let bytes = bytes(n);
    let rest = n - FIRST[bytes];
    if bytes == BYTES_MAX {
        out.push(u8::MAX);
        out.extend_from_slice(&rest.to_be_bytes());
    } else {
        // One bit for each byte that follows, above the zero and the number.
        let ones = ((1 << (bytes - 1)) - 1) << (7 * bytes + 1);
        out.extend_from_slice(&(ones | rest).to_be_bytes()[8 - bytes..]);
    }
}

/// Reads a codeword and advances `input`. Returns `None`, and leaves `input` unchanged, if the input ends early or
/// the number exceeds 64 bits.
#[inline]
pub fn read(input: &mut &[u8]) -> Option<u64> {
    if let Some(word) = input.first_chunk::<8>()
        && word[0] != u8::MAX
    {
        let word = u64::from_be_bytes(*word);
        let bytes = word.leading_ones() as usize + 1;
        *input = &input[bytes..];
        return Some(FIRST[bytes] + (word << bytes >> (64 - 7 * bytes)));
    }
    read_at_the_end(input)
}

/// [`read`] with less than eight bytes left, or for a codeword of nine bytes.
#[cold]
fn read_at_the_end(input: &mut &[u8]) -> Option<u64> {
    let bytes = input.first()?.leading_ones() as usize + 1;
    let (codeword, rest) = input.split_at_checked(bytes)?;
    let mut nine = [0; BYTES_MAX];
    nine[BYTES_MAX - bytes..].copy_from_slice(codeword);
    let [_, low @ ..] = nine;
    let kept = if bytes == BYTES_MAX { u64::MAX } else { (1 << (7 * bytes)) - 1 };
    let n = FIRST[bytes].checked_add(u64::from_be_bytes(low) & kept)?;
    *input = rest;
    Some(n)
}

impl Code for PrefixVByte {
    fn name(&self) -> &'static str {
        "prefix-vbyte"
    }

    fn max(&self) -> u64 {
        u64::MAX
    }

    fn len(&self, n: u64) -> usize {
        bytes(n) * 8
    }

    fn write(&self, out: &mut Bits, n: u64) {
        let bytes = bytes(n);
        let ones = if bytes == BYTES_MAX { 8 } else { bytes };
        let Ok(_) = out.write_bits(((1 << bytes) - 2) >> (bytes - ones), ones);
        let Ok(_) = out.write_bits(n - FIRST[bytes], bytes * 8 - ones);
    }

    fn read(&self, input: &mut Reader<'_>) -> Option<u64> {
        input.decode(|stream| {
            let mut ones = 0;
            while ones < 8 && stream.read_bits(1)? == 1 {
                ones += 1;
            }
            let bytes = ones + 1;
            let rest = stream.read_bits(if bytes == BYTES_MAX { 64 } else { 7 * bytes })?;
            FIRST[bytes].checked_add(rest).ok_or(NoCodeword)
        })
    }
}
