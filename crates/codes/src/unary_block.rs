//! Blocks of numbers in unary code: the gaps of a set, stored as the bit set.
//!
//! Number *n* is *n* zeros and a one, from the lowest bit of the first byte on; the last byte is padded with
//! zeros. So bit *i* says whether *i* is in the set whose gaps are coded. It can be tested without decoding. The
//! caller stores the count of numbers and the length in bytes.
//!
//! **Implied distribution.** 1/2ⁿ⁺¹.
//! **Invariant.** On any bytes: no panic. A read succeeds only if the count of ones is the count of numbers.

use crate::fixed;
use crate::lanes::{self, LANES};

/// Length of the coded numbers in bytes.
pub fn bytes(numbers: &[u32]) -> u64 {
    numbers.iter().map(|&n| u64::from(n) + 1).sum::<u64>().div_ceil(8)
}

/// Appends `numbers`.
pub fn write(numbers: &[u32], out: &mut Vec<u8>) {
    let (start, mut bit) = (out.len(), 0_usize);
    let length = numbers.iter().map(|&n| n as usize + 1).sum::<usize>().div_ceil(8);
    out.resize(start + length, 0);
    let bits = &mut out[start..];
    for &n in numbers {
        bit += n as usize;
        bits[bit / 8] |= 1 << (bit % 8);
        bit += 1;
    }
}

/// Reads numbers into `out`. Returns `None`, with anything in `out`, if `bits` has another count of ones, or ends
/// with a zero byte.
pub fn read(bits: &[u8], out: &mut [u32]) -> Option<()> {
    places(bits, 0, out)?;
    let mut next = 0;
    for place in out {
        let at = *place;
        *place = at - next;
        next = at + 1;
    }
    Some(())
}

/// Stores the members of the set in `out`; `first` is the number of the first bit. Returns the number after the
/// last member. Returns `None` as in [`read`], or if that exceeds 32 bits.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn places(bits: &[u8], first: u32, out: &mut [u32]) -> Option<u32> {
    #[cfg(target_arch = "x86_64")]
    if bits.len() <= DENSE && is_x86_feature_detected!("avx512f") && has_bit_counts() {
        // SAFETY: the processor has these instructions.
        return unsafe { places_compressed(bits, first, out) };
    }
    #[cfg(target_arch = "x86_64")]
    if has_bit_counts() {
        // SAFETY: the processor has these instructions.
        return unsafe { places_counted(bits, first, out) };
    }
    places_anyhow(bits, first, out)
}

/// Sets of at most this size have several ones in sixteen bits.
#[cfg(target_arch = "x86_64")]
const DENSE: usize = 64;

/// [`places`], sixteen bits at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt,bmi1")]
#[expect(unsafe_code, reason = "sixteen numbers are written at once; bench/query")]
fn places_compressed(bits: &[u8], first: u32, out: &mut [u32]) -> Option<u32> {
    use std::arch::x86_64::{
        _mm512_add_epi32, _mm512_mask_storeu_epi32, _mm512_maskz_compress_epi32, _mm512_set1_epi32,
        _mm512_setr_epi32, _mm512_storeu_epi32,
    };
    const LANES: usize = 16;
    let behind = u32::try_from(u64::from(first) + 8 * bits.len() as u64).ok()?;
    let step = _mm512_set1_epi32(16);
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let mut numbers = _mm512_add_epi32(lanes, _mm512_set1_epi32(first.cast_signed()));
    let (pairs, rest) = bits.as_chunks::<2>();
    let last = [rest.first().copied().unwrap_or(0), 0];
    let mut found = 0;
    for &pair in pairs.iter().chain([&last]) {
        // Read once: another process may write to these bytes, but mask and count must agree.
        let mask = u16::from_le_bytes(pair);
        let ones = _mm512_maskz_compress_epi32(mask, numbers);
        let count = mask.count_ones();
        let room = out.get_mut(found..).filter(|room| room.len() >= count as usize)?;
        found += count as usize;
        if room.len() >= LANES {
            // SAFETY: there is room for all lanes; those after the ones are overwritten later.
            unsafe { _mm512_storeu_epi32(room.as_mut_ptr().cast::<i32>(), ones) };
        } else {
            let those = u16::try_from((1_u32 << count) - 1).unwrap_or(u16::MAX);
            // SAFETY: there is room for all ones, and no more lanes are written.
            unsafe { _mm512_mask_storeu_epi32(room.as_mut_ptr().cast::<i32>(), those, ones) };
        }
        numbers = _mm512_add_epi32(numbers, step);
    }
    if found < out.len() || bits.last() == Some(&0) {
        return None;
    }
    out.last().map_or(Some(first), |&last| last.checked_add(1)).filter(|&next| next <= behind)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1")]
fn places_counted(bits: &[u8], first: u32, out: &mut [u32]) -> Option<u32> {
    places_anyhow(bits, first, out)
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the CPU features of its caller")]
fn places_anyhow(bits: &[u8], first: u32, out: &mut [u32]) -> Option<u32> {
    let behind = u32::try_from(u64::from(first) + 8 * bits.len() as u64).ok()?;
    let (words, rest) = bits.as_chunks();
    let mut tail = [0; 8];
    tail[..rest.len()].copy_from_slice(rest);
    let (mut base, mut found) = (first, 0);
    for bytes in words.iter().chain([&tail]) {
        let mut word = u64::from_le_bytes(*bytes);
        let ones = word.count_ones() as usize;
        let places = out.get_mut(found..found + ones)?;
        for place in places {
            *place = base.wrapping_add(word.trailing_zeros());
            word &= word.wrapping_sub(1);
        }
        found += ones;
        base = base.wrapping_add(64);
    }
    if found < out.len() || bits.last() == Some(&0) {
        return None;
    }
    out.last().map_or(Some(first), |&last| last.checked_add(1)).filter(|&next| next <= behind)
}

/// Counts the ones.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn ones(bits: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if has_bit_counts() {
        // SAFETY: the processor has these instructions.
        return unsafe { ones_counted(bits) };
    }
    ones_anyhow(bits)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1")]
fn ones_counted(bits: &[u8]) -> u32 {
    ones_anyhow(bits)
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the CPU features of its caller")]
fn ones_anyhow(bits: &[u8]) -> u32 {
    let (words, rest) = bits.as_chunks();
    let ones: u32 = words.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum();
    ones + fixed::eight(rest, 0).count_ones()
}

/// Counts the ones that are also ones of `words`. Bit `ahead` of `words` corresponds to bit `at` of `bits`.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn common(bits: &[u8], at: u32, ahead: u32, words: &[u64]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if has_bit_counts() {
        // SAFETY: the processor has these instructions.
        return unsafe { common_counted(bits, at, ahead, words) };
    }
    common_anyhow(bits, at, ahead, words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1")]
fn common_counted(bits: &[u8], at: u32, ahead: u32, words: &[u64]) -> u32 {
    common_anyhow(bits, at, ahead, words)
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the CPU features of its caller")]
fn common_anyhow(bits: &[u8], at: u32, ahead: u32, words: &[u64]) -> u32 {
    let Some((first, others)) = words.split_first() else { return 0 };
    let mut ones = (word(bits, at).checked_shl(ahead).unwrap_or(0) & first).count_ones();
    let mut at = u64::from(at) + 64 - u64::from(ahead.min(64));
    for other in others {
        let Ok(bit) = u32::try_from(at) else { return ones };
        ones += (word(bits, bit) & other).count_ones();
        at += 64;
    }
    ones
}

/// Words of the longest set that a byte can count, and a word of zeros for everything after it.
const WORDS: usize = 33;

/// Looks up the numbers of the lanes in `asked`; the first bit of the set is `first`. Returns the lanes whose
/// number is in the set, and sets `ranks` to the count of ones before each number. Finds nothing in a set of more
/// than 255 bytes.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn find(
    bits: &[u8],
    first: u32,
    numbers: &[u32; LANES],
    asked: u128,
    ranks: &mut [u8; LANES],
) -> u128 {
    #[cfg(target_arch = "x86_64")]
    if has_bit_counts() {
        // SAFETY: the processor has these instructions.
        return unsafe { find_counted(bits, first, numbers, asked, ranks) };
    }
    find_anyhow(bits, first, numbers, asked, ranks)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1")]
fn find_counted(
    bits: &[u8],
    first: u32,
    numbers: &[u32; LANES],
    asked: u128,
    ranks: &mut [u8; LANES],
) -> u128 {
    find_anyhow(bits, first, numbers, asked, ranks)
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the CPU features of its caller")]
fn find_anyhow(
    bits: &[u8],
    first: u32,
    numbers: &[u32; LANES],
    asked: u128,
    ranks: &mut [u8; LANES],
) -> u128 {
    let (mut words, mut before) = ([0_u64; WORDS], [0_u32; WORDS]);
    let (whole, rest) = bits.as_chunks();
    if whole.len() + 2 > WORDS {
        return 0;
    }
    let mut ones = 0;
    for (at, word) in whole.iter().enumerate() {
        (words[at], before[at]) = (u64::from_le_bytes(*word), ones);
        ones += words[at].count_ones();
    }
    (words[whole.len()], before[whole.len()]) = (fixed::eight(rest, 0), ones);
    let mut found = [0_u64; 2];
    lanes::each(asked, |lane| {
        let at = numbers[lane].wrapping_sub(first);
        let (word, bit) = ((at as usize / 64).min(WORDS - 1), at % 64);
        let ahead = before[word] + (words[word] & ((1 << bit) - 1)).count_ones();
        [ranks[lane], ..] = ahead.to_le_bytes();
        found[lane / 64] |= (words[word] >> bit & 1) << (lane % 64);
    });
    lanes::whole(found)
}

/// Returns whether the processor has instructions that count ones and find the lowest one.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn has_bit_counts() -> bool {
    is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("bmi1")
}

/// Returns whether bit `at` is a one; zeros follow the last byte.
#[inline]
pub fn contains(bits: &[u8], at: u32) -> bool {
    bits.get(at as usize / 8).is_some_and(|byte| byte >> (at % 8) & 1 != 0)
}

/// The 64 bits from `at` on; zeros follow the last byte.
#[inline]
pub fn word(bits: &[u8], at: u32) -> u64 {
    let (byte, shift) = (at as usize / 8, at % 8);
    let ninth = bits.get(byte + 8).copied().unwrap_or(0);
    // Two shifts, because a shift by 64 bits is not allowed.
    fixed::eight(bits, byte) >> shift | u64::from(ninth) << 56 << (8 - shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_round_trip_and_bits_encode_the_set(numbers in vec(0..40_u32, 0..140), first in 0..99_u32) {
            let mut bits = Vec::new();
            write(&numbers, &mut bits);
            prop_assert_eq!(bits.len() as u64, bytes(&numbers));
            let mut read_back = vec![9; numbers.len()];
            prop_assert_eq!(read(&bits, &mut read_back), Some(()));
            prop_assert_eq!(&read_back, &numbers);
            let mut set = vec![0; numbers.len()];
            let behind = places(&bits, first, &mut set);
            let sums = numbers.iter().scan(first, |next, &n| {
                *next += n + 1;
                Some(*next - 1)
            });
            prop_assert_eq!(&set, &sums.collect::<Vec<_>>());
            prop_assert_eq!(behind, Some(set.last().map_or(first, |last| last + 1)));
            let asked: Vec<u32> = (0..8 * u32::try_from(bits.len()).expect("short") + 200).collect();
            for asked in asked.chunks(LANES) {
                let numbers = std::array::from_fn(|at| asked.get(at).copied().unwrap_or(0));
                // Every third lane is not asked for.
                let wanted = lanes::first(asked.len()) & (0..LANES).fold(0, |all, at| all | u128::from(at % 3 > 0) << at);
                let [mut ranks, mut others] = [[7; LANES]; 2];
                let found = find(&bits, first, &numbers, wanted, &mut ranks);
                prop_assert_eq!(find_anyhow(&bits, first, &numbers, wanted, &mut others), found);
                for (place, number) in asked.iter().enumerate() {
                    let expected = set.binary_search(number).ok().filter(|_| bits.len() <= 255 && place % 3 > 0);
                    prop_assert_eq!((found >> place & 1 == 1).then_some(usize::from(ranks[place])), expected);
                    prop_assert!(expected.is_none() || others[place] == ranks[place]);
                }
            }
            for at in 0..8 * u32::try_from(bits.len()).expect("short") + 20 {
                prop_assert_eq!(contains(&bits, at), set.contains(&(at + first)));
                let ahead = |bit: u32| u64::from(contains(&bits, at + bit)) << bit;
                prop_assert_eq!(word(&bits, at), (0..64).map(ahead).sum::<u64>());
            }
            prop_assert_eq!(ones(&bits) as usize, numbers.len());
            // One number more, or one less.
            prop_assert_eq!(read(&bits, &mut vec![0; numbers.len() + 1]), None);
            if let Some(fewer) = numbers.len().checked_sub(1) {
                prop_assert_eq!(read(&bits, &mut vec![0; fewer]), None);
            }
        }

        #[test]
        fn every_instruction_set_counts_the_same_ones(
            bits in vec(any::<u8>(), 0..60),
            at in 0..500_u32,
            ahead in 0..64_u32,
            words in vec(any::<u64>(), 0..9),
        ) {
            let count = bits.iter().map(|byte| byte.count_ones()).sum::<u32>();
            prop_assert_eq!((ones(&bits), ones_anyhow(&bits)), (count, count));
            let is_common = |bit: u32| {
                let below = bit.checked_sub(ahead).is_some_and(|bit| contains(&bits, at + bit));
                below && words[bit as usize / 64] >> (bit % 64) & 1 != 0
            };
            // Bits of the first word before `ahead` must be ignored for any `at`.
            let bits_of_words = 64 * u32::try_from(words.len()).expect("few");
            let expected = (0..bits_of_words).filter(|&bit| is_common(bit)).count();
            prop_assert_eq!(common(&bits, at, ahead, &words) as usize, expected);
            prop_assert_eq!(common_anyhow(&bits, at, ahead, &words) as usize, expected);
            let [mut docs, mut others] = [0, 0].map(|_| vec![0; count as usize]);
            let found = (places(&bits, at, &mut docs), places_anyhow(&bits, at, &mut others));
            prop_assert_eq!(found.0, found.1);
            prop_assert_eq!(docs, others);
        }

        #[test]
        fn any_bytes_are_read_without_panic(bits in vec(any::<u8>(), 0..60), count in 0..200_usize, first in any::<u32>()) {
            let _ = read(&bits, &mut vec![0; count]);
            let _ = places(&bits, first, &mut vec![0; count]);
            let numbers = std::array::from_fn(|at| first.wrapping_mul(u32::try_from(at).unwrap_or(0)));
            let _ = find(&bits, first, &numbers, u128::MAX, &mut [0; LANES]);
            let _ = (contains(&bits, first), word(&bits, first), common(&bits, first, first, &[7; 3]));
        }
    }
}
