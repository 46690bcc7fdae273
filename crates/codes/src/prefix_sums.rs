//! Prefix sums: from gaps to numbers.
//!
//! [`add_up`] uses SIMD instructions if available. It is the slowest part of decoding a block of documents.
//!
//! **Invariant.** The sums are strictly ascending; otherwise there is an error.

/// Replaces each gap `g` by a number: the first by `first` + `g`, each other one by the previous number + `g` + 1.
/// Returns the number after the last. Returns `None`, with anything in `gaps`, if that exceeds 32 bits.
#[inline]
pub fn add_up(first: u32, gaps: &mut [u32]) -> Option<u32> {
    let (mut last, mut all, rest) = sum_whole(first.wrapping_sub(1), gaps);
    for gap in rest {
        all |= *gap;
        last = last.wrapping_add(gap.wrapping_add(1));
        *gap = last;
    }
    // The fast check: the gaps are too small to overflow. Almost every run passes it.
    let most = u64::from(first) + (u64::from(all) + 1) * gaps.len() as u64;
    let small = u32::try_from(most).is_ok();
    let ascend =
        || gaps.first().is_none_or(|&lowest| lowest >= first) && gaps.is_sorted_by(|a, b| a < b);
    if small || ascend() {
        last.checked_add(1).or((gaps.is_empty() && first == 0).then_some(0))
    } else {
        None
    }
}

/// Adds up whole SIMD groups. Returns the last sum, the bitwise or of all gaps, and the rest of the gaps.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "calls a function compiled for certain CPU features")]
#[inline]
fn sum_whole(last: u32, gaps: &mut [u32]) -> (u32, u32, &mut [u32]) {
    if gaps.len() >= 16 && is_x86_feature_detected!("avx512f") {
        let (sixteens, rest) = gaps.as_chunks_mut::<16>();
        // SAFETY: the processor has these instructions.
        let (last, all) = unsafe { sum_sixteens(last, sixteens) };
        return (last, all, rest);
    }
    let (quads, rest) = gaps.as_chunks_mut::<4>();
    // SAFETY: every processor of this architecture has SSE2.
    let (last, all) = unsafe { sum_quads(last, quads) };
    (last, all, rest)
}

/// Sums each group of sixteen on its own; only the total is carried over.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "sixteen numbers are read and written at once; bench/query")]
#[target_feature(enable = "avx512f")]
fn sum_sixteens(last: u32, sixteens: &mut [[u32; 16]]) -> (u32, u32) {
    use std::arch::x86_64::{
        _mm_cvtsi128_si32, _mm512_add_epi32, _mm512_alignr_epi32, _mm512_castsi512_si128,
        _mm512_loadu_epi32, _mm512_or_si512, _mm512_permutexvar_epi32, _mm512_reduce_or_epi32,
        _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_epi32,
    };
    let (ones, zeros, top) = (_mm512_set1_epi32(1), _mm512_setzero_si512(), _mm512_set1_epi32(15));
    let mut before = _mm512_set1_epi32(last.cast_signed());
    let mut all = zeros;
    for sixteen in sixteens {
        // SAFETY: the array has sixteen numbers.
        let gaps = unsafe { _mm512_loadu_epi32(sixteen.as_ptr().cast::<i32>()) };
        all = _mm512_or_si512(all, gaps);
        let steps = _mm512_add_epi32(gaps, ones);
        let pairs = _mm512_add_epi32(steps, _mm512_alignr_epi32::<15>(steps, zeros));
        let quads = _mm512_add_epi32(pairs, _mm512_alignr_epi32::<14>(pairs, zeros));
        let eights = _mm512_add_epi32(quads, _mm512_alignr_epi32::<12>(quads, zeros));
        let sums = _mm512_add_epi32(eights, _mm512_alignr_epi32::<8>(eights, zeros));
        let out = _mm512_add_epi32(sums, before);
        before = _mm512_add_epi32(before, _mm512_permutexvar_epi32(top, sums));
        // SAFETY: the array has room for sixteen numbers.
        unsafe { _mm512_storeu_epi32(sixteen.as_mut_ptr().cast::<i32>(), out) };
    }
    let last = _mm_cvtsi128_si32(_mm512_castsi512_si128(before));
    (last.cast_unsigned(), _mm512_reduce_or_epi32(all).cast_unsigned())
}

/// Sums each group of four on its own; only the total is carried over, which keeps the dependency chain short.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "four numbers are read and written at once; bench/query")]
#[expect(clippy::cast_ptr_alignment, reason = "these instructions take any address")]
#[target_feature(enable = "sse2")]
#[inline]
fn sum_quads(last: u32, quads: &mut [[u32; 4]]) -> (u32, u32) {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_or_si128, _mm_set1_epi32,
        _mm_setzero_si128, _mm_shuffle_epi32, _mm_slli_si128, _mm_storeu_si128, _mm_unpackhi_epi64,
    };
    let ones = _mm_set1_epi32(1);
    let mut before = _mm_set1_epi32(last.cast_signed());
    let mut all = _mm_setzero_si128();
    for quad in quads {
        // SAFETY: four numbers have 16 bytes.
        let gaps = unsafe { _mm_loadu_si128(quad.as_ptr().cast::<__m128i>()) };
        all = _mm_or_si128(all, gaps);
        let steps = _mm_add_epi32(gaps, ones);
        let pairs = _mm_add_epi32(steps, _mm_slli_si128::<4>(steps));
        let sums = _mm_add_epi32(pairs, _mm_slli_si128::<8>(pairs));
        let out = _mm_add_epi32(sums, before);
        before = _mm_add_epi32(before, _mm_shuffle_epi32::<0xff>(sums));
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(quad.as_mut_ptr().cast::<__m128i>(), out) };
    }
    let halves = _mm_or_si128(all, _mm_unpackhi_epi64(all, all));
    let all = _mm_or_si128(halves, _mm_shuffle_epi32::<1>(halves));
    (_mm_cvtsi128_si32(before).cast_unsigned(), _mm_cvtsi128_si32(all).cast_unsigned())
}

#[cfg(not(target_arch = "x86_64"))]
fn sum_whole(last: u32, gaps: &mut [u32]) -> (u32, u32, &mut [u32]) {
    (last, 0, gaps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gaps_are_summed(
            first in any::<u32>(),
            shifts in (0..32_u32, 0..32_u32),
            gaps in vec(any::<u32>(), 0..130),
        ) {
            let first = first >> shifts.0;
            let mut gaps: Vec<u32> = gaps.iter().map(|gap| gap >> shifts.1).collect();
            let mut next = u64::from(first);
            let expected: Vec<u64> = gaps.iter().map(|&gap| {
                next += u64::from(gap) + 1;
                next - 1
            }).collect();
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "every processor of this architecture has SSE2")]
            {
                let (mut fours, mut whole) = (gaps.clone(), gaps.clone());
                fours.truncate(gaps.len() / 16 * 16);
                // SAFETY: as said.
                let (last, all) = unsafe { sum_quads(first, fours.as_chunks_mut().0) };
                whole.truncate(fours.len());
                let (same, bits, rest) = sum_whole(first, &mut whole);
                prop_assert_eq!((last, all, 0), (same, bits, rest.len()));
                prop_assert_eq!(fours, whole);
            }
            let behind = add_up(first, &mut gaps);
            prop_assert_eq!(behind, u32::try_from(next).ok());
            if behind.is_some() {
                prop_assert_eq!(gaps.iter().map(|&n| u64::from(n)).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn sums_that_overflow_are_refused() {
        assert_eq!(add_up(0, &mut []), Some(0));
        assert_eq!(add_up(7, &mut []), Some(7));
        let mut gaps = [u32::MAX - 1];
        assert_eq!((add_up(0, &mut gaps), gaps), (Some(u32::MAX), [u32::MAX - 1]));
        assert_eq!(add_up(0, &mut [u32::MAX]), None);
        assert_eq!(add_up(1, &mut [0, u32::MAX, 0, 5]), None);
    }
}
