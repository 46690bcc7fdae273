//! Variable-length bytes: seven bits of the number in each byte, lowest first. The highest bit of a byte says
//! whether another byte follows.
//!
//! **Implied distribution.** ≈ 1/*x*^(8/7), in steps.
//! **Range.** All of [0 . . 2⁶⁴), in one to ten bytes.
//! **Length.** ⌈log₂(*n* + 1) / 7⌉ bytes, one at least. Not complete: a codeword that ends with a zero byte is
//! never used.
//! **Reference.** The "continuation bit a byte" of H. E. Williams, J. Zobel, "Compressing integers for fast file
//! access", The Computer Journal 42(3), 1999; the bytes are those of LEB128.
//!
//! **Invariant.** A number has one codeword, the shortest; the decoder refuses longer ones.

use dsi_bitstream::traits::{BitRead, BitWrite};

use crate::reader::NoCodeword;
use crate::{Bits, Code, Reader};

/// The length of the longest codeword in bytes.
pub const BYTES_MAX: usize = 10;

/// The code on bits, for streams that mix codes; [`write()`] and [`read`] work on bytes.
#[derive(Debug, Clone, Copy)]
pub struct VByte;

/// The length of the codeword of `n` in bytes.
pub fn bytes(n: u64) -> usize {
    (u64::BITS - (n | 1).leading_zeros()).div_ceil(7) as usize
}

/// Appends the codeword of `n`.
pub fn write(out: &mut Vec<u8>, n: u64) {
    let mut rest = n;
    while rest >= 0x80 {
        out.push(rest.to_le_bytes()[0] | 0x80);
        rest >>= 7;
    }
    out.push(rest.to_le_bytes()[0]);
}

/// Reads a codeword and advances `input`. Returns `None`, and leaves `input` unchanged, if the input ends early,
/// the number exceeds 64 bits, or the codeword is not the shortest.
#[inline]
pub fn read(input: &mut &[u8]) -> Option<u64> {
    if let Some((&byte, rest)) = input.split_first()
        && byte < 0x80
    {
        *input = rest;
        return Some(u64::from(byte));
    }
    read_longer(input)
}

/// [`read`] for a codeword of more than one byte.
fn read_longer(input: &mut &[u8]) -> Option<u64> {
    let mut n = 0;
    for (at, &byte) in input.iter().take(BYTES_MAX).enumerate() {
        n |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            let too_long = byte == 0 && at > 0;
            let too_great = at == BYTES_MAX - 1 && byte > 1;
            if too_long || too_great {
                return None;
            }
            *input = &input[at + 1..];
            return Some(n);
        }
    }
    None
}

impl Code for VByte {
    fn name(&self) -> &'static str {
        "vbyte"
    }

    fn max(&self) -> u64 {
        u64::MAX
    }

    fn len(&self, n: u64) -> usize {
        bytes(n) * 8
    }

    fn write(&self, out: &mut Bits, n: u64) {
        let last = bytes(n) - 1;
        for at in 0..=last {
            let more = u64::from(at < last) << 7;
            let Ok(_) = out.write_bits(n >> (7 * at) & 0x7f | more, 8);
        }
    }

    fn read(&self, input: &mut Reader<'_>) -> Option<u64> {
        input.decode(|stream| {
            let (mut codeword, mut len) = ([0; BYTES_MAX], 0);
            for byte in &mut codeword {
                *byte = stream.read_bits(8)?.to_le_bytes()[0];
                len += 1;
                if *byte & 0x80 == 0 {
                    break;
                }
            }
            read(&mut &codeword[..len]).ok_or(NoCodeword)
        })
    }
}
