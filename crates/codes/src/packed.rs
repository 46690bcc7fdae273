//! Blocks of 128 numbers in the width of the greatest.
//!
//! A block is one byte, the width *w* from 0 to 32, and then 16·*w* bytes: four interleaved lanes of 32 numbers.
//! Lane *i* has the numbers *i*, *i* + 4, *i* + 8, … in 32-bit little-endian words filled from the lowest bit.
//! Shorter blocks need another code.
//!
//! **Invariant.** The first byte gives the length of a block.
//!
//! **Implied distribution.** Uniform in [0 . . 2ʷ), with *w* chosen per block.
//! **Range.** [0 . . 2³²).
//! **Reference.** D. Lemire, L. Boytsov, "Decoding billions of integers per second through
//! vectorization", Software: Practice and Experience 45(1), 2015. Code by `bitpacking`.

use bitpacking::{BitPacker, BitPacker4x};

/// Numbers per block.
pub const BLOCK: usize = BitPacker4x::BLOCK_LEN;

/// The length of the longest block in bytes.
pub const BYTES_MAX: usize = 1 + 32 * BLOCK / 8;

/// Appends `values` as one block.
pub fn write(values: &[u32; BLOCK], out: &mut Vec<u8>) {
    let packer = BitPacker4x::new();
    let width = packer.num_bits(values);
    out.push(width);
    if width > 0 {
        let start = out.len();
        out.resize(start + BitPacker4x::compressed_block_size(width), 0);
        packer.compress(values, &mut out[start..], width);
    }
}

/// Reads a block and advances `input`. Returns `None`, and changes nothing, if there are too few bytes or the
/// width is invalid.
pub fn read(input: &mut &[u8], out: &mut [u32; BLOCK]) -> Option<()> {
    let (width, packed, rest) = split(input)?;
    if width == 0 {
        out.fill(0);
    } else {
        BitPacker4x::new().decompress(packed, out, width);
    }
    *input = rest;
    Some(())
}

/// Skips a block without decoding it; returns `None` as in [`read`].
pub fn skip(input: &mut &[u8]) -> Option<()> {
    let (_, _, rest) = split(input)?;
    *input = rest;
    Some(())
}

/// The width of the first block, its packed numbers, and the rest of the input.
fn split(input: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&width, rest) = input.split_first()?;
    if width > 32 {
        return None;
    }
    let (packed, rest) = rest.split_at_checked(BitPacker4x::compressed_block_size(width))?;
    Some((width, packed, rest))
}
