//! Bit sets of ascending numbers: sets bits and counts set bits. Numbers that are close together are processed
//! sixteen at a time.
//!
//! Blocks that are stored as bits are in [`unary_block`](crate::unary_block).
//!
//! The lowest bit of the first word belongs to `start`. Numbers before `start` or after the words are ignored.
//! Results do not depend on the instruction set.

/// Sets the bit of each of some ascending numbers.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn set(numbers: &[u32], start: u32, words: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    if avx512::is_there() {
        // SAFETY: the processor has these instructions.
        return unsafe { avx512::set(numbers, start, words) };
    }
    set_anyhow(numbers, start, words);
}

/// Counts the numbers whose bit is set.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn count(numbers: &[u32], start: u32, words: &[u64]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if avx512::is_there() {
        // SAFETY: the processor has these instructions.
        return unsafe { avx512::count(numbers, start, words) };
    }
    count_each(numbers, start, words)
}

/// Neighbours often share a word, and wait for each other's store. So this processes one number of each quarter at
/// a time.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the CPU features of its caller")]
fn set_anyhow(numbers: &[u32], start: u32, words: &mut [u64]) {
    let quarter = numbers.len() / 4;
    let (near, far) = numbers.split_at(2 * quarter);
    let (a, b) = near.split_at(quarter);
    let (c, d) = far.split_at(quarter);
    for (((&a, &b), &c), &d) in a.iter().zip(b).zip(c).zip(d) {
        for number in [a, b, c, d] {
            set_one(number, start, words);
        }
    }
    // A remainder after four quarters.
    d.iter().skip(quarter).for_each(|&number| set_one(number, start, words));
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the CPU features of its caller")]
fn set_one(number: u32, start: u32, words: &mut [u64]) {
    let at = number.wrapping_sub(start);
    if let Some(word) = words.get_mut(at as usize / 64) {
        *word |= 1 << (at % 64);
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the CPU features of its caller")]
fn count_each(numbers: &[u32], start: u32, words: &[u64]) -> u32 {
    let bit = |&number: &u32| {
        let at = number.wrapping_sub(start);
        words.get(at as usize / 64).map_or(0, |word| u32::from(word >> (at % 64) & 1 != 0))
    };
    numbers.iter().map(bit).sum()
}

/// Sixteen numbers at a time, if most groups of sixteen are close together.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "sixteen numbers are read at once; bench/query")]
mod avx512 {
    use super::{count_each, set_anyhow, set_one};
    use crate::unary_block::has_bit_counts;
    use std::arch::x86_64::{
        __m256i, _mm256_loadu_si256, _mm512_cvtepu32_epi64, _mm512_or_si512,
        _mm512_reduce_or_epi64, _mm512_set1_epi64, _mm512_sllv_epi64, _mm512_sub_epi64,
    };

    pub(super) fn is_there() -> bool {
        is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("bmi2") && has_bit_counts()
    }

    /// Returns whether the last number is less than 64 after the first.
    #[inline]
    fn is_close(sixteen: &[u32; 16]) -> bool {
        sixteen[15].wrapping_sub(sixteen[0]) < 64
    }

    /// Returns the bits of the numbers relative to the first; `None` if they span more than 64 or begin before
    /// `start`.
    #[inline]
    #[target_feature(enable = "avx512f,bmi2,popcnt,bmi1")]
    #[expect(clippy::cast_ptr_alignment, reason = "these instructions take any address")]
    fn close(sixteen: &[u32; 16], start: u32) -> Option<u64> {
        let first = sixteen[0];
        if first < start || !is_close(sixteen) {
            return None;
        }
        let (halves, _) = sixteen.as_chunks::<8>();
        let base = _mm512_set1_epi64(i64::from(first));
        let bits = |half: &[u32; 8]| {
            // SAFETY: eight numbers have 32 bytes.
            let half = unsafe { _mm256_loadu_si256(half.as_ptr().cast::<__m256i>()) };
            let behind = _mm512_sub_epi64(_mm512_cvtepu32_epi64(half), base);
            _mm512_sllv_epi64(_mm512_set1_epi64(1), behind)
        };
        let all = _mm512_or_si512(bits(&halves[0]), bits(&halves[1]));
        Some(_mm512_reduce_or_epi64(all).cast_unsigned())
    }

    #[target_feature(enable = "avx512f,bmi2,popcnt,bmi1")]
    pub(super) fn set(numbers: &[u32], start: u32, words: &mut [u64]) {
        let (sixteens, rest) = numbers.as_chunks::<16>();
        if 2 * sixteens.iter().filter(|sixteen| is_close(sixteen)).count() < sixteens.len() {
            return set_anyhow(numbers, start, words);
        }
        for sixteen in sixteens {
            let Some(bits) = close(sixteen, start) else {
                for &number in sixteen {
                    set_one(number, start, words);
                }
                continue;
            };
            let at = sixteen[0] - start;
            let (word, shift) = (at as usize / 64, at % 64);
            if let Some(word) = words.get_mut(word) {
                *word |= bits << shift;
            }
            if let Some(next) = words.get_mut(word + 1) {
                // Two shifts, because a shift by 64 bits is not allowed.
                *next |= bits >> 1 >> (63 - shift);
            }
        }
        for &number in rest {
            set_one(number, start, words);
        }
    }

    #[target_feature(enable = "avx512f,bmi2,popcnt,bmi1")]
    pub(super) fn count(numbers: &[u32], start: u32, words: &[u64]) -> u32 {
        let (sixteens, rest) = numbers.as_chunks::<16>();
        let mut count = count_each(rest, start, words);
        for sixteen in sixteens {
            let Some(bits) = close(sixteen, start) else {
                count += count_each(sixteen, start, words);
                continue;
            };
            let at = sixteen[0] - start;
            let (word, shift) = (at as usize / 64, at % 64);
            let word_at = |at: usize| words.get(at).copied().unwrap_or(0);
            let there = word_at(word) >> shift | word_at(word + 1) << 1 << (63 - shift);
            count += (bits & there).count_ones();
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bit_operations_match_each_number(
            gaps in prop_oneof![vec(1..3_u32, 0..140), vec(1..9_u32, 0..140), vec(1..90_u32, 0..140)],
            (first, start) in (0..200_u32, 0..200_u32),
            high in any::<bool>(),
            words in vec(any::<u64>(), 0..20),
        ) {
            // Near zero, or near the greatest numbers.
            let base = if high { u32::MAX - 200 - 90 * 140 } else { 0 };
            let start = base + start;
            let numbers: Vec<u32> = gaps.iter().scan(base + first, |next, gap| {
                *next += gap;
                Some(*next)
            }).collect();
            let mut expected = words.clone();
            let mut there = 0;
            for &number in numbers.iter().filter(|&&number| number >= start) {
                let at = (number - start) as usize;
                if let Some(word) = expected.get_mut(at / 64) {
                    *word |= 1 << (at % 64);
                    there += u32::from(words[at / 64] >> (at % 64) & 1 == 1);
                }
            }
            let [mut found, mut plain] = [words.clone(), words.clone()];
            set(&numbers, start, &mut found);
            set_anyhow(&numbers, start, &mut plain);
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(&plain, &expected);
            prop_assert_eq!(count(&numbers, start, &words), there);
            prop_assert_eq!(count_each(&numbers, start, &words), there);
        }
    }
}
