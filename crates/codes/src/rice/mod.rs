//! Rice: Golomb with a modulus of 2ᵏ, where both sides know the *k* of each number from the context.
//!
//! What lives here: a [`Writer`] and a [`Reader`] of one run of numbers, and [`parameter`], which chooses *k* for
//! a mean.
//!
//! A codeword is ⌊*n* / 2ᵏ⌋ zeros, a one, and the *k* lower bits of *n*. If there would be [`QUOTIENT_MAX`] or
//! more zeros, it is [`QUOTIENT_MAX`] zeros and all 32 bits of *n*. So no number takes more than 56 bits, even if
//! *k* is a bad choice. Bits are filled from the lowest of each byte, and the padding of the last byte is zero.
//!
//! **Implied distribution.** Geometric, with *k* chosen per number.
//! **Range.** [0 . . 2³²), with *k* from 0 to 31.
//! **Length.** ⌊*n* / 2ᵏ⌋ + 1 + *k*, or 56.
//! **Reference.** R. F. Rice, J. R. Plaunt, "Adaptive variable-length coding for efficient
//! compression of spacecraft television data", IEEE Transactions on Communication Technology 19(6),
//! 1971; S. W. Golomb, "Run-length encodings", IEEE Transactions on Information Theory 12(3), 1966.
//!
//! **Invariant.** One load of eight bytes contains a whole codeword. On any bytes: no panic, and a reader that
//! read past the end fails in [`Reader::finish`].

mod many;

pub use many::parameters;

use crate::fixed::{eight, mask};

/// This number of zeros marks a number stored as it is.
pub const QUOTIENT_MAX: u32 = 24;

/// The greatest parameter.
pub const PARAMETER_MAX: u32 = 31;

/// The parameter for a geometric distribution with the mean `sum` / `count`: the greatest *k* with 2ᵏ ≤ 0.693
/// times the mean, or 0.
#[inline]
pub fn parameter(sum: u32, count: u32) -> u32 {
    // 710 / 1024 is nearly ln 2. The logarithm of the quotient, without a division: the difference of the
    // logarithms, or one less.
    let (above, below) = (u64::from(sum) * 710, u64::from(count.max(1)) * 1024);
    let k = log2(above | 1).saturating_sub(log2(below));
    (k - u32::from(k > 0 && below << k > above)).min(PARAMETER_MAX)
}

/// The binary logarithm of a number from 1 to 2⁵² – 1, rounded down: the exponent of the number as a float. On
/// processors without a fast bit scan this is faster.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "52 bits are exact")]
pub(crate) fn log2(n: u64) -> u32 {
    debug_assert!(n > 0 && n >> 52 == 0, "the logarithm of {n}");
    ((n.cast_signed() as f64).to_bits() >> 52) as u32 - 1023
}

/// Appends codewords to bytes. The run is complete after [`Writer::finish`].
#[derive(Debug)]
pub struct Writer<'a> {
    /// Bytes from `at` on are scratch space, truncated at the end.
    out: &'a mut Vec<u8>,
    at: usize,
    /// Less than eight bits, to be written at `at`.
    held: u64,
    bits: u32,
}

/// Longest codeword in bytes.
const CODEWORD_BYTES_MAX: usize = 7;
/// Extra bytes allocated when the buffer grows.
const ROOM_BYTES: usize = 128;

impl<'a> Writer<'a> {
    /// Begins a run at the end of `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { at: out.len(), out, held: 0, bits: 0 }
    }

    /// Appends the codeword of `n` under parameter `k`.
    ///
    /// # Panics
    /// If `k` is greater than [`PARAMETER_MAX`].
    #[inline]
    pub fn write(&mut self, n: u32, k: u32) {
        self.write_all(&[n], k);
    }

    /// Appends the codewords of numbers under parameter `k`.
    ///
    /// # Panics
    /// If `k` is greater than [`PARAMETER_MAX`].
    #[inline]
    pub fn write_all(&mut self, numbers: &[u32], k: u32) {
        assert!(k <= PARAMETER_MAX, "a parameter of {k}");
        self.make_room(numbers.len());
        for &n in numbers {
            self.put_number(n, k);
        }
    }

    /// Makes room for this number of codewords, and for the eight bytes that `put` stores.
    #[inline]
    fn make_room(&mut self, codewords: usize) {
        let most = self.at + CODEWORD_BYTES_MAX * codewords + 8;
        if self.out.len() < most {
            self.out.resize(most + ROOM_BYTES, 0);
        }
    }

    /// Appends the codeword of `n` under parameter `k`. There must be room.
    #[inline]
    fn put_number(&mut self, n: u32, k: u32) {
        let (n, quotient) = (u64::from(n), n >> k);
        if quotient < QUOTIENT_MAX {
            self.put(1 << quotient | (n & mask(k)) << (quotient + 1), quotient + 1 + k);
        } else {
            self.put(n << QUOTIENT_MAX, QUOTIENT_MAX + u32::BITS);
        }
    }

    /// Appends at most 56 bits. There must be room for eight bytes. Always stores eight bytes, to avoid a branch.
    #[inline]
    fn put(&mut self, word: u64, width: u32) {
        let held = self.held | word << self.bits;
        let bits = self.bits + width;
        self.out[self.at..self.at + 8].copy_from_slice(&held.to_le_bytes());
        self.at += bits as usize / 8;
        self.held = held >> (bits & !7);
        self.bits = bits % 8;
    }

    /// Ends the run, padded to a whole byte.
    pub fn finish(self) {
        self.out.truncate(self.at);
        self.out.extend_from_slice(&self.held.to_le_bytes()[..self.bits.div_ceil(8) as usize]);
    }
}

/// Reads codewords from bytes.
#[derive(Debug, Clone, Default)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    bit: usize,
}

impl<'a> Reader<'a> {
    /// A reader of the run at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, bit: 0 }
    }

    /// Reads the next number under parameter `k`; past the end, any number.
    #[inline]
    pub fn read(&mut self, k: u32) -> u32 {
        let k = k & PARAMETER_MAX;
        let (n, width) = codeword(eight(self.bytes, self.bit / 8) >> (self.bit % 8), k);
        self.bit += width as usize;
        n
    }

    /// Passes the next `count` numbers, all under parameter `k`, to `visit`. Like [`Reader::read`], but one load
    /// serves several numbers.
    #[inline]
    pub fn each(&mut self, k: u32, count: usize, mut visit: impl FnMut(u32)) {
        let k = k & PARAMETER_MAX;
        let mut left = count;
        while left > 0 {
            let offset = low(self.bit as u64 % 8);
            let mut window = eight(self.bytes, self.bit / 8) >> offset;
            let mut held = u64::BITS - offset;
            while left > 0 {
                let (n, width) = codeword(window, k);
                // After the held bits there are only zeros.
                if width > held {
                    break;
                }
                window >>= width;
                held -= width;
                self.bit += width as usize;
                left -= 1;
                visit(n);
            }
        }
    }

    /// Returns whether it has not read past the end.
    #[inline]
    pub fn is_within(&self) -> bool {
        self.bit.div_ceil(8) <= self.bytes.len()
    }

    /// Number of bytes left, including a partly read one.
    #[inline]
    pub fn rest(&self) -> usize {
        self.bytes.len().saturating_sub(self.bit / 8)
    }

    /// Returns the rest of the input; `None` if the reader is past the end, or if the padding is not zero.
    pub fn finish(self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.bit.div_ceil(8)..)?;
        let padding = self.bytes.get(self.bit / 8).filter(|_| !self.bit.is_multiple_of(8));
        padding.is_none_or(|&last| last >> (self.bit % 8) == 0).then_some(rest)
    }
}

/// Decodes the codeword in the lowest bits of a window under parameter `k`. Returns the number and the width.
#[inline]
fn codeword(window: u64, k: u32) -> (u32, u32) {
    let quotient = (window | 1 << QUOTIENT_MAX).trailing_zeros();
    if quotient < QUOTIENT_MAX {
        let lower = window >> (quotient + 1) & mask(k);
        (low(u64::from(quotient) << k | lower), quotient + 1 + k)
    } else {
        (low(window >> QUOTIENT_MAX), QUOTIENT_MAX + u32::BITS)
    }
}

/// The lower half; the upper half is zero unless the input is invalid.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "only the lower half is needed")]
fn low(n: u64) -> u32 {
    n as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log2_matches_the_highest_bit() {
        for bits in 0..52_u32 {
            for n in [1_u64 << bits, (1 << bits) + 1, (2 << bits) - 1, (3 << bits) / 2] {
                assert_eq!(log2(n), n.ilog2(), "{n}");
            }
        }
    }

    #[test]
    fn codewords_match_the_module_header() {
        let word = |n, k| {
            let mut out = Vec::new();
            let mut writer = Writer::new(&mut out);
            writer.write(n, k);
            writer.finish();
            out
        };
        // From the lowest bit: 0 0 1, then 11.
        assert_eq!(word(11, 2), [0b11100]);
        assert_eq!(word(0, 0), [1]);
        assert_eq!(word(23, 0), [0, 0, 0x80]);
        assert_eq!(word(24, 0), [0, 0, 0, 24, 0, 0, 0]);
        assert_eq!(word(u32::MAX, 31), [0b1111_1110, 0xff, 0xff, 0xff, 1]);
    }

    #[test]
    fn the_parameter_rounds_down_the_golomb_modulus() {
        for (sum, count, k) in
            [(0, 1, 0), (1, 1, 0), (2, 1, 0), (3, 1, 1), (100, 1, 6), (100, 50, 0)]
        {
            assert_eq!(parameter(sum, count), k, "{sum} / {count}");
        }
        for (sum, count) in (0..3000).flat_map(|sum| (1..60).map(move |count| (sum, count))) {
            let (sum, count) = (sum * sum * 477, count * count);
            let modulus = u64::from(sum) * 710 / (u64::from(count) * 1024);
            let k = modulus.checked_ilog2().unwrap_or(0).min(PARAMETER_MAX);
            assert_eq!(parameter(sum, count), k, "{sum} / {count}");
        }
        assert_eq!(parameter(u32::MAX, 1), 31);
        assert_eq!(parameter(7, 0), 2);
    }

    #[test]
    fn numbers_round_trip_under_every_parameter() {
        let numbers: Vec<u32> =
            (0..32).flat_map(|bits| [1 << bits, (1 << bits) - 1, 3 << bits]).collect();
        for k in 0..=PARAMETER_MAX {
            let mut out = Vec::new();
            let mut writer = Writer::new(&mut out);
            for &n in &numbers {
                writer.write(n, k);
            }
            writer.finish();
            let mut reader = Reader::new(&out);
            let read: Vec<u32> = numbers.iter().map(|_| reader.read(k)).collect();
            assert_eq!((read, reader.finish()), (numbers.clone(), Some(&[][..])), "k = {k}");
            for first in [0, 1, 40, numbers.len()] {
                let (mut reader, mut read) = (Reader::new(&out), Vec::new());
                for count in [first, numbers.len() - first] {
                    reader.each(k, count, |n| read.push(n));
                }
                assert!(reader.is_within() && reader.rest() <= 1, "k = {k}");
                assert_eq!((read, reader.finish()), (numbers.clone(), Some(&[][..])), "k = {k}");
            }
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic() {
        let mut state = 1_u32;
        for length in 0..60 {
            let bytes: Vec<u8> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    if state >> 30 == 0 { 0 } else { state.to_be_bytes()[0] }
                })
                .collect();
            for k in [0, 1, 7, 31, 200] {
                let mut reader = Reader::new(&bytes);
                for _ in 0..600 {
                    reader.read(k);
                }
                let mut other = Reader::new(&bytes);
                other.each(k, 600, |_| {});
                assert_eq!(other.bit, reader.bit, "in one go as one by one");
                assert!(!other.is_within());
                assert_eq!(reader.finish(), None, "so many numbers need more bytes");
            }
        }
    }

    #[test]
    fn reading_past_the_end_is_refused() {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        for n in [5, 90, 0] {
            writer.write(n, 3);
        }
        writer.finish();
        let read = |bytes: &[u8], count: u32| {
            let mut reader = Reader::new(bytes);
            let numbers: Vec<u32> = (0..count).map(|_| reader.read(3)).collect();
            reader.finish().map(|rest| (numbers, rest.len()))
        };
        assert_eq!(read(&out, 3), Some((vec![5, 90, 0], 0)));
        assert_eq!(read(&[&out[..], &[7]].concat(), 3), Some((vec![5, 90, 0], 1)));
        assert_eq!(read(&out, 4), None);
        assert_eq!(read(&out[..out.len() - 1], 3), None);
        *out.last_mut().unwrap() |= 0x80;
        assert_eq!(read(&out, 3), None);
    }
}
