//! PFOR: blocks of 256 or 128 numbers in a width that most of them fit, followed by exceptions.
//!
//! A block of gaps under this code is what the literature calls PFOR-DELTA.
//!
//! | bytes | |
//! |---|---|
//! | 1 | the width *b*, from 0 to 32; 128 is added if there are exceptions |
//! | 32·*b* | the lower *b* bits of every number, in eight interleaved lanes: lane *i* has the numbers *i*, *i* + 8, *i* + 16, …, in 32-bit little-endian words filled from the lowest bit; for 128 numbers 16·*b* bytes and four lanes |
//! | 1 | if there are exceptions: their count *e*, less one |
//! | 1 | the width *h* of their higher bits, from 1 to 32 – *b* |
//! | *e* | the positions of the exceptions |
//! | ⌈*eh*/8⌉ | the higher bits of each exception, as in [`fixed`] |
//!
//! A block of any other size below 256, at the end of a list, has its lower bits as in [`fixed`]. All numbers are
//! unpacked at once without branches, with SIMD instructions if available. Then a loop over the tail patches the
//! exceptions.
//!
//! A block may instead be in unary code ([`Choice::OptimumOrUnary`]): a byte 64, its length in bytes, and
//! [`unary_block`]. Membership in such a block can be tested without decoding.
//!
//! The width is chosen by [`Choice`]: the least that a share of the numbers fits (the original method), or the one
//! that makes the block smallest.
//!
//! **Implied distribution.** Uniform in [0 . . 2ᵇ) for most numbers; some are much greater.
//! **Range.** [0 . . 2³²).
//! **Reference.** M. Zukowski, S. Héman, N. Nes, P. Boncz, "Super-scalar RAM-CPU cache compression", ICDE 2006; H.
//! Yan, S. Ding, T. Suel, "Inverted index compression and query processing with optimized document ordering", WWW
//! 2009, for storing only the higher bits of exceptions and for the best width. The packing is by `bitpacking`.
//!
//! **Invariant.** On any bytes: no panic, and no read beyond the length that the header gives.

use bitpacking::{BitPacker, BitPacker4x, BitPacker8x};

use crate::rice::log2;
use crate::{fixed, unary_block};

/// Numbers in a full block.
pub const BLOCK: usize = BitPacker8x::BLOCK_LEN;

/// Numbers in a half block, which is as fast.
pub const HALF_BLOCK: usize = BitPacker4x::BLOCK_LEN;

/// Set in the first byte if there are exceptions.
const EXCEPTIONS: u8 = 0x80;

/// The first byte of a block in unary.
const UNARY: u8 = 0x40;

/// A unary block may be longer by three quarters plus this number of bytes. Then half of the blocks of long lists
/// of a real index are unary. The docs stream grows by only 2%, because many blocks get shorter.
const UNARY_MORE: usize = 12;

/// How the width of a block is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The least width that a percentage of the numbers fits.
    Coverage {
        /// From 0 to 100; 90 in the literature.
        percent: u8,
    },
    /// The width that makes the block smallest.
    Optimum,
    /// The width that makes the block smallest, or unary code where that is not much longer.
    OptimumOrUnary,
}

impl Choice {
    /// The width, the count of exceptions, and the width of their higher bits.
    fn shape(self, numbers: &[u32]) -> (u32, usize, u32) {
        // Count the numbers of each width, then the wider numbers.
        let mut wider = [0_usize; 33];
        for n in numbers {
            wider[log2((2 * u64::from(*n)) | 1) as usize] += 1;
        }
        let mut left = numbers.len();
        for count in &mut wider {
            left -= *count;
            *count = left;
        }
        let widest = (0..=32).find(|&width| wider[width as usize] == 0).unwrap_or(32);
        let width = match self {
            Choice::Coverage { percent } => {
                let may = numbers.len() * (100 - usize::from(percent.min(100))) / 100;
                (0..=widest).find(|&width| wider[width as usize] <= may)
            }
            Choice::Optimum | Choice::OptimumOrUnary => {
                (0..=widest).min_by_key(|&w| bytes(numbers.len(), w, wider[w as usize], widest - w))
            }
        };
        let width = width.unwrap_or(widest);
        (width, wider[width as usize], widest - width)
    }
}

/// Length in bytes of a block of that shape.
fn bytes(count: usize, width: u32, exceptions: usize, high: u32) -> usize {
    let tail = if exceptions == 0 { 0 } else { 2 + exceptions + fixed::bytes(exceptions, high) };
    1 + fixed::bytes(count, width) + tail
}

/// Appends `numbers` as one block.
///
/// # Panics
/// If there are more than [`BLOCK`].
pub fn write(numbers: &[u32], choice: Choice, out: &mut Vec<u8>) {
    assert!(numbers.len() <= BLOCK, "a block of {} numbers", numbers.len());
    let (width, exceptions, high) = choice.shape(numbers);
    let length = bytes(numbers.len(), width, exceptions, high);
    if choice == Choice::OptimumOrUnary
        && let Ok(unary) = u8::try_from(unary_block::bytes(numbers))
        && usize::from(unary) + 2 <= length + length * 3 / 4 + UNARY_MORE
    {
        out.extend_from_slice(&[UNARY, unary]);
        return unary_block::write(numbers, out);
    }
    let kept = u32::MAX.checked_shr(u32::BITS - width).unwrap_or(0);
    let [width_byte, ..] = width.to_le_bytes();
    out.push(if exceptions > 0 { width_byte | EXCEPTIONS } else { width_byte });
    let start = out.len();
    if let Ok(full) = <&[u32; BLOCK]>::try_from(numbers) {
        out.resize(start + fixed::bytes(BLOCK, width), 0);
        BitPacker8x::new().compress(&full.map(|n| n & kept), &mut out[start..], width_byte);
    } else if let Ok(half) = <&[u32; HALF_BLOCK]>::try_from(numbers) {
        out.resize(start + fixed::bytes(HALF_BLOCK, width), 0);
        BitPacker4x::new().compress(&half.map(|n| n & kept), &mut out[start..], width_byte);
    } else {
        fixed::write(out, numbers.iter().map(|&n| u64::from(n & kept)), width);
    }
    if exceptions > 0 {
        let [count, ..] = (exceptions - 1).to_le_bytes();
        let [high_byte, ..] = high.to_le_bytes();
        out.extend_from_slice(&[count, high_byte]);
        let wide = (0..=u8::MAX).zip(numbers).filter(|&(_, &n)| n > kept);
        out.extend(wide.clone().map(|(at, _)| at));
        fixed::write(out, wide.map(|(_, &n)| u64::from(n) >> width), high);
    }
}

/// Reads a block that fills `out`, and advances `input`. Returns `None`, with `input` unchanged and anything in
/// `out`, if the bytes are not such a block.
///
/// # Panics
///
/// If `out` is longer than [`BLOCK`].
pub fn read(input: &mut &[u8], out: &mut [u32]) -> Option<()> {
    assert!(out.len() <= BLOCK, "a block of {} numbers", out.len());
    if let Some((bits, rest)) = split_unary(input) {
        unary_block::read(bits, out)?;
        *input = rest;
        return Some(());
    }
    let (&first, rest) = input.split_first()?;
    let width = u32::from(first & !EXCEPTIONS);
    if width > u32::BITS {
        return None;
    }
    let (packed, mut rest) = rest.split_at_checked(fixed::bytes(out.len(), width))?;
    if width == 0 {
        out.fill(0);
    } else if let Ok(full) = <&mut [u32; BLOCK]>::try_from(&mut *out) {
        BitPacker8x::new().decompress(packed, full, first & !EXCEPTIONS);
    } else if let Ok(half) = <&mut [u32; HALF_BLOCK]>::try_from(&mut *out) {
        BitPacker4x::new().decompress(packed, half, first & !EXCEPTIONS);
    } else {
        // Pass all of `input`: loads beyond the block are faster. The padding of the last byte must be zeros.
        fixed::unpack(&input[1..], width, out);
        let used = out.len() * width as usize;
        if !used.is_multiple_of(8) && packed.last().is_some_and(|last| last >> (used % 8) != 0) {
            return None;
        }
    }
    if first & EXCEPTIONS != 0 {
        rest = patch(rest, width, out)?;
    }
    *input = rest;
    Some(())
}

/// Splits off the bits of a unary block ([`unary_block`]); `None` if the bytes begin with another block.
#[inline]
pub fn split_unary(input: &[u8]) -> Option<(&[u8], &[u8])> {
    match input {
        &[UNARY, length, ref rest @ ..] => rest.split_at_checked(usize::from(length)),
        _ => None,
    }
}

/// Patches the exceptions, and returns the rest of the input.
fn patch<'a>(tail: &'a [u8], width: u32, out: &mut [u32]) -> Option<&'a [u8]> {
    let (&[count, high], rest) = tail.split_first_chunk()?;
    let (count, high) = (usize::from(count) + 1, u32::from(high));
    if high == 0 || width + high > u32::BITS {
        return None;
    }
    let (places, rest) = rest.split_at_checked(count)?;
    let bytes = fixed::bytes(count, high);
    let behind = rest.get(bytes..)?;
    // The padding of the last byte must be zeros.
    let used = count * high as usize;
    if !used.is_multiple_of(8) && rest[bytes - 1] >> (used % 8) != 0 {
        return None;
    }
    // Reading beyond the high bits and masking is faster than checking where they end.
    if used <= 64 {
        let (mut left, mask) = (fixed::eight(rest, 0), fixed::mask(high));
        for &place in places {
            *out.get_mut(usize::from(place))? |= narrow((left & mask) << width);
            left >>= high;
        }
        return Some(behind);
    }
    for (at, &place) in places.iter().enumerate() {
        *out.get_mut(usize::from(place))? |= narrow(fixed::get(rest, at, high) << width);
    }
    Some(behind)
}

/// A number whose width was checked.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "its width was checked")]
fn narrow(n: u64) -> u32 {
    n as u32
}
