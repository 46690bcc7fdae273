//! Reads the numbers of one list in one stream: full blocks of 128 packed, the rest in bytes.
//!
//! **Invariant.** On any bytes: no panic, and no more numbers than the list is said to have.

use codes::packed::{self, BLOCK};
use codes::vbyte;

/// Decodes the numbers of block `block` of a list of `count` numbers, which begin `bytes`, and
/// returns how many they are and what follows them; `None` if the bytes are not such a block.
pub(crate) fn read_block<'a>(
    bytes: &'a [u8],
    count: u64,
    block: usize,
    out: &mut [u32; BLOCK],
) -> Option<(usize, &'a [u8])> {
    let mut rest = bytes;
    let left = count.checked_sub(block as u64 * BLOCK as u64)?;
    if left >= BLOCK as u64 {
        packed::read(&mut rest, out)?;
        return Some((BLOCK, rest));
    }
    let left = usize::try_from(left).ok()?;
    for slot in &mut out[..left] {
        *slot = u32::try_from(vbyte::read(&mut rest)?).ok()?;
    }
    Some((left, rest))
}

/// A cursor over the numbers of a list that can leap over those it is not asked for.
#[derive(Clone, Debug)]
pub(crate) struct Numbers<'a> {
    bytes: &'a [u8],
    count: u64,
    /// The number that comes next, counted from the start of the list.
    next: u64,
    /// The block that `rest` begins with, or that is in `buffer` and which `rest` follows.
    block: usize,
    rest: &'a [u8],
    buffer: [u32; BLOCK],
    /// How many numbers of `block` are in the buffer: none as long as it is not decoded.
    buffered: usize,
}

impl<'a> Numbers<'a> {
    /// Stands before the first of `count` numbers.
    pub(crate) fn new(bytes: &'a [u8], count: u64) -> Numbers<'a> {
        Numbers { bytes, count, next: 0, block: 0, rest: bytes, buffer: [0; BLOCK], buffered: 0 }
    }

    /// Stands before number `next`; its block begins at `offset`.
    pub(crate) fn seek(&mut self, next: u64, offset: u64) {
        self.next = next;
        let block = usize::try_from(next / BLOCK as u64).unwrap_or(usize::MAX);
        if block != self.block || self.buffered == 0 {
            let offset = usize::try_from(offset).unwrap_or(usize::MAX);
            self.block = block;
            self.rest = self.bytes.get(offset..).unwrap_or_default();
            self.buffered = 0;
        }
    }

    /// Leaps over `n` numbers.
    pub(crate) fn skip(&mut self, n: u64) {
        self.next = self.next.saturating_add(n);
    }

    /// Hands the next `n` numbers to `emit`, or fewer where the list ends.
    pub(crate) fn read(&mut self, n: u64, mut emit: impl FnMut(u32)) -> Option<()> {
        let end = self.next.checked_add(n)?.min(self.count);
        while self.next < end {
            self.load()?;
            let block_start = self.block as u64 * BLOCK as u64;
            let from = usize::try_from(self.next - block_start).ok()?;
            let to = usize::try_from((end - block_start).min(self.buffered as u64)).ok()?;
            self.buffer.get(from..to)?.iter().for_each(|&number| emit(number));
            self.next = block_start + to as u64;
        }
        Some(())
    }

    /// Puts the block of the next number in the buffer.
    fn load(&mut self) -> Option<()> {
        let target = usize::try_from(self.next / BLOCK as u64).ok()?;
        if self.block == target && self.buffered > 0 {
            return Some(());
        }
        while self.block < target {
            if self.buffered == 0 {
                packed::skip(&mut self.rest)?;
            }
            self.buffered = 0;
            self.block += 1;
        }
        let (buffered, rest) = read_block(self.rest, self.count, target, &mut self.buffer)?;
        (self.buffered, self.rest) = (buffered, rest);
        Some(())
    }
}
