//! Writes many Rice codewords at once, each with its own parameter.
//!
//! With AVX-512, sixteen numbers are coded together, and two neighbouring codewords are joined and appended at
//! once. If the two are too long for one word, they are appended one after the other. The output does not depend
//! on the processor.

use super::{PARAMETER_MAX, Writer, parameter};

/// Largest number of bits appended together: with seven held bits, they still fit into a word.
#[cfg(target_arch = "x86_64")]
const PUT_BITS_MAX: u32 = 56;

/// Computes the [`parameter`] of each group of numbers; `mean` returns the sum and the count of a group.
#[inline]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn parameters<T>(groups: &[T], mean: impl Fn(&T) -> (u32, u32), out: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
        // SAFETY: the processor has these instructions.
        return unsafe { parameters_wide(groups, mean, out) };
    }
    parameters_anyhow(groups, mean, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn parameters_wide<T>(groups: &[T], mean: impl Fn(&T) -> (u32, u32), out: &mut [u8]) {
    parameters_anyhow(groups, mean, out);
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the CPU features of its caller")]
fn parameters_anyhow<T>(groups: &[T], mean: impl Fn(&T) -> (u32, u32), out: &mut [u8]) {
    for (k, group) in out.iter_mut().zip(groups) {
        let (sum, count) = mean(group);
        [*k, ..] = parameter(sum, count).to_le_bytes();
    }
}

impl Writer<'_> {
    /// Appends each number under its parameter; only the five lowest bits of a parameter count.
    ///
    /// # Panics
    /// If there are not as many parameters as numbers.
    #[cfg_attr(
        target_arch = "x86_64",
        expect(unsafe_code, reason = "calls a function compiled for more CPU features")
    )]
    pub fn write_each(&mut self, numbers: &[u32], parameters: &[u8]) {
        assert_eq!(numbers.len(), parameters.len(), "parameters of numbers");
        self.make_room(numbers.len());
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("bmi2")
        {
            // SAFETY: the processor has these instructions.
            return unsafe { self.put_each_wide(numbers, parameters) };
        }
        self.put_each(numbers, parameters);
    }

    fn put_each(&mut self, numbers: &[u32], parameters: &[u8]) {
        for (&n, &k) in numbers.iter().zip(parameters) {
            self.put_number(n, u32::from(k) & PARAMETER_MAX);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    fn put_each_wide(&mut self, numbers: &[u32], parameters: &[u8]) {
        for (numbers, parameters) in numbers.chunks(16).zip(parameters.chunks(16)) {
            let (words, widths) = pairs(numbers, parameters);
            let both = words.into_iter().zip(widths);
            let own = numbers.chunks(2).zip(parameters.chunks(2));
            for ((word, width), (numbers, parameters)) in both.zip(own) {
                if width <= PUT_BITS_MAX {
                    self.put(word, width);
                } else {
                    self.put_each(numbers, parameters);
                }
            }
        }
    }
}

/// Codes at most sixteen numbers. Returns the codewords of each pair of numbers, joined, and their total width.
/// Words with too great a width are invalid.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
#[inline]
#[expect(unsafe_code, reason = "sixteen numbers are read and coded at once; bench/index")]
fn pairs(numbers: &[u32], parameters: &[u8]) -> ([u64; 8], [u32; 8]) {
    use super::{QUOTIENT_MAX, low};
    use std::arch::x86_64::{
        _mm_maskz_loadu_epi8, _mm256_storeu_epi32, _mm512_add_epi32, _mm512_add_epi64,
        _mm512_and_si512, _mm512_andnot_si512, _mm512_cmpge_epu32_mask, _mm512_cvtepi64_epi32,
        _mm512_cvtepu8_epi32, _mm512_mask_mov_epi32, _mm512_maskz_loadu_epi32,
        _mm512_maskz_mov_epi32, _mm512_maskz_or_epi32, _mm512_or_si512, _mm512_set1_epi32,
        _mm512_set1_epi64, _mm512_slli_epi32, _mm512_sllv_epi32, _mm512_sllv_epi64,
        _mm512_srli_epi64, _mm512_srlv_epi32, _mm512_storeu_epi64,
    };
    let missing = 16_usize.saturating_sub(numbers.len().min(parameters.len()));
    let there = u16::MAX.checked_shr(low(missing as u64)).unwrap_or(0);
    // SAFETY: the mask selects existing numbers only.
    let n = unsafe { _mm512_maskz_loadu_epi32(there, numbers.as_ptr().cast()) };
    // SAFETY: the mask selects existing bytes only.
    let k = unsafe { _mm_maskz_loadu_epi8(there, parameters.as_ptr().cast()) };
    let [five, most, too_wide] =
        [PARAMETER_MAX, QUOTIENT_MAX, PUT_BITS_MAX + 1].map(|n| _mm512_set1_epi32(n.cast_signed()));
    let one = _mm512_set1_epi32(1);
    let k = _mm512_and_si512(_mm512_cvtepu8_epi32(k), five);
    let quotient = _mm512_srlv_epi32(n, k);
    let is_long = _mm512_cmpge_epu32_mask(quotient, most);
    // The lower bits, and the one before them; the zeros of the quotient come first.
    let lower = _mm512_andnot_si512(_mm512_sllv_epi32(_mm512_set1_epi32(-1), k), n);
    let rest = _mm512_maskz_or_epi32(there, _mm512_slli_epi32::<1>(lower), one);
    let width = _mm512_add_epi32(_mm512_add_epi32(quotient, k), one);
    let width = _mm512_mask_mov_epi32(width, is_long, too_wide);
    let width = _mm512_maskz_mov_epi32(there, width);
    // The first number of each pair is the lower half of 64 bits.
    let half = _mm512_set1_epi64(0xffff_ffff);
    let first = _mm512_sllv_epi64(_mm512_and_si512(rest, half), _mm512_and_si512(quotient, half));
    let second =
        _mm512_sllv_epi64(_mm512_srli_epi64::<32>(rest), _mm512_srli_epi64::<32>(quotient));
    let first_width = _mm512_and_si512(width, half);
    let word = _mm512_or_si512(first, _mm512_sllv_epi64(second, first_width));
    let width = _mm512_add_epi64(first_width, _mm512_srli_epi64::<32>(width));
    let width = _mm512_cvtepi64_epi32(width);
    let (mut words, mut widths) = ([0; 8], [0; 8]);
    // SAFETY: the array has room for eight words.
    unsafe { _mm512_storeu_epi64(words.as_mut_ptr().cast(), word) };
    // SAFETY: the array has room for eight widths.
    unsafe { _mm256_storeu_epi32(widths.as_mut_ptr().cast(), width) };
    (words, widths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(state: &mut u32) -> u32 {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *state >> 8
    }

    /// Writes after some bytes and some held bits, and returns all bytes.
    fn written(before: u32, write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut out = vec![0xa5; 3];
        let mut writer = Writer::new(&mut out);
        writer.write(before, 0);
        write(&mut writer);
        writer.write(5, 2);
        writer.finish();
        out
    }

    /// Runs of all lengths up to some groups of sixteen, with short and long codewords, from any bit offset.
    #[test]
    fn reading_many_matches_reading_one_by_one() {
        let mut state = 1;
        for round in 0..30_000_usize {
            let count = round % 70;
            let kind = random(&mut state) % 4;
            let (mut numbers, mut parameters) = (Vec::new(), Vec::new());
            for _ in 0..count {
                let k = random(&mut state) % if kind == 0 { 32 } else { 9 };
                let wide = random(&mut state) << 8 | random(&mut state) & 0xff;
                // Quotients near the limit, and pairs of codewords with 56 or 57 bits.
                let quotient =
                    [random(&mut state) % 4, random(&mut state) % 26, 19, 24][kind as usize];
                let n = if random(&mut state).is_multiple_of(60) {
                    wide
                } else {
                    quotient << k | wide & ((1 << k) - 1)
                };
                numbers.push(n);
                parameters.push(k.to_le_bytes()[0] | if round % 3 == 0 { 0xe0 } else { 0 });
            }
            let before = random(&mut state) % 8;
            let expected = written(before, |writer| {
                for (&n, &k) in numbers.iter().zip(&parameters) {
                    writer.write(n, u32::from(k % 32));
                }
            });
            let found = written(before, |writer| writer.write_each(&numbers, &parameters));
            assert_eq!(found, expected, "{numbers:?} under {parameters:?}");
            let plain = written(before, |writer| {
                writer.make_room(count);
                writer.put_each(&numbers, &parameters);
            });
            assert_eq!(plain, expected, "{numbers:?} under {parameters:?}");
        }
    }

    #[test]
    fn parameters_match_those_of_each_group() {
        let mut state = 1;
        for count in (0..40).cycle().take(4000) {
            let mut any = || random(&mut state) << 8 >> (random(&mut state) % 33).min(31);
            let groups: Vec<(u32, u32)> = (0..count).map(|_| (any(), any())).collect();
            let mut out = vec![77; 41];
            parameters(&groups, |&group| group, &mut out);
            let expected: Vec<u32> =
                groups.iter().map(|&(sum, count)| parameter(sum, count)).collect();
            assert!(out.iter().map(|&k| u32::from(k)).take(count).eq(expected), "{groups:?}");
            assert!(out[count..].iter().all(|&k| k == 77));
        }
    }
}
