//! Blocks of 128 numbers, all in the width of the greatest.
//!
//! A block is one byte, the width *w* from 0 to 32, and then 16·*w* bytes: four interleaved lanes
//! of 32 numbers, lane *i* holding the numbers *i*, *i* + 4, *i* + 8, …, each lane in 32-bit
//! little-endian words filled from the lowest bit.
//!
//! What does not live here: fewer than 128 numbers; whoever has them takes another code.
//!
//! **Invariant.** The length of a block follows from its first byte.
//!
//! **Implied distribution.** Uniform in [0 . . 2ʷ), with *w* chosen a block.
//! **Range.** [0 . . 2³²).
//! **Reference.** D. Lemire, L. Boytsov, "Decoding billions of integers per second through
//! vectorization", Software: Practice and Experience 45(1), 2015. Code by `bitpacking`.

use bitpacking::{BitPacker, BitPacker4x};

/// How many numbers a block holds.
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

/// Reads one block and advances `input` behind it. `None`, and both arguments as they were, if the
/// bytes are too few or the width is not one.
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

/// Advances `input` behind one block without decoding it; `None` as in [`read`].
pub fn skip(input: &mut &[u8]) -> Option<()> {
    let (_, _, rest) = split(input)?;
    *input = rest;
    Some(())
}

/// The width of the first block, its packed numbers, and what follows it.
fn split(input: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&width, rest) = input.split_first()?;
    if width > 32 {
        return None;
    }
    let (packed, rest) = rest.split_at_checked(BitPacker4x::compressed_block_size(width))?;
    Some((width, packed, rest))
}
