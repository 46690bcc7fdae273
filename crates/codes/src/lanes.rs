//! Inner loops over blocks of 128 numbers, with SIMD instructions where available. A mask has one bit for each
//! number.
//!
//! Results do not depend on the instruction set.

#[cfg(target_arch = "x86_64")]
use crate::unary_block::has_bit_counts;

/// Numbers per block.
pub const LANES: usize = 128;

/// The lowest `count` bits.
#[inline]
pub fn first(count: usize) -> u128 {
    if count < LANES { (1 << count) - 1 } else { u128::MAX }
}

/// Visits the ones of a mask in ascending order.
#[inline]
pub fn each(mask: u128, mut visit: impl FnMut(usize)) {
    for (half, start) in halves(mask).into_iter().zip([0, 64]) {
        let mut rest = half;
        while rest != 0 {
            visit(start + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

/// The lower 64 bits, and the higher.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "splits the mask into halves")]
fn halves(mask: u128) -> [u64; 2] {
    [mask as u64, (mask >> 64) as u64]
}

/// Joins two halves of a mask.
#[inline]
pub(crate) fn whole([lower, upper]: [u64; 2]) -> u128 {
    u128::from(upper) << 64 | u128::from(lower)
}

/// Joins the masks of sixteen lanes each.
#[inline]
fn join(parts: [u16; LANES / 16]) -> u128 {
    let half = |parts: &[u16]| parts.iter().rev().fold(0, |all, &part| all << 16 | u64::from(part));
    whole([half(&parts[..4]), half(&parts[4..])])
}

/// Returns which scores are at least `least`.
#[inline]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn reaching(scores: &[f32; LANES], least: f32) -> u128 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has these instructions.
        return unsafe { avx512::reaching(scores, least) };
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has SSE2.
    return unsafe { sse2::reaching(scores, least) };
    #[cfg(not(target_arch = "x86_64"))]
    test(scores, |score| score >= least)
}

/// Returns which numbers are at most `last`.
#[inline]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn up_to(numbers: &[u32; LANES], last: u32) -> u128 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has these instructions.
        return unsafe { avx512::up_to(numbers, last) };
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has SSE2.
    return unsafe { sse2::up_to(numbers, last) };
    #[cfg(not(target_arch = "x86_64"))]
    test(numbers, |number| number <= last)
}

/// Applies `update` to the score and numbers of each lane in a mask. Other scores may be updated too. `update`
/// should be plain arithmetic.
#[inline]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn update(
    scores: &mut [f32; LANES],
    numbers: (&[u32; LANES], &[u32; LANES]),
    mask: u128,
    update: impl Fn(f32, u32, u32) -> f32,
) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has these instructions.
        return unsafe { avx512::update(scores, numbers, mask, update) };
    }
    update_anyhow(scores, numbers, mask, update);
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the CPU features of its caller")]
fn update_anyhow(
    scores: &mut [f32; LANES],
    (first, second): (&[u32; LANES], &[u32; LANES]),
    mask: u128,
    update: impl Fn(f32, u32, u32) -> f32,
) {
    let (scores, _) = scores.as_chunks_mut::<16>();
    let (first, _) = first.as_chunks::<16>();
    let (second, _) = second.as_chunks::<16>();
    let mut rest = mask;
    for ((scores, first), second) in scores.iter_mut().zip(first).zip(second) {
        if rest & 0xffff != 0 {
            for ((score, &first), &second) in scores.iter_mut().zip(first).zip(second) {
                *score = update(*score, first, second);
            }
        }
        rest >>= 16;
    }
}

/// Returns the lanes where `is_so` holds.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn test<T: Copy>(lanes: &[T; LANES], is_so: impl Fn(T) -> bool) -> u128 {
    let (parts, _) = lanes.as_chunks::<16>();
    let mut masks = [0_u16; LANES / 16];
    for (mask, part) in masks.iter_mut().zip(parts) {
        *mask = (0..).zip(part).fold(0, |mask, (bit, &lane)| mask | u16::from(is_so(lane)) << bit);
    }
    join(masks)
}

/// For each lane in `asked`, sets `out` to the column's byte at that number; zero after the end of the column.
/// Returns the lanes with a nonzero byte.
#[inline]
pub fn look_up(column: &[u8], numbers: &[u32; LANES], asked: u128, out: &mut [u32; LANES]) -> u128 {
    let mut found = [0_u64; 2];
    each(asked, |lane| {
        let byte = column.get(numbers[lane] as usize).copied().unwrap_or(0);
        out[lane] = u32::from(byte);
        found[lane / 64] |= u64::from(byte > 0) << (lane % 64);
    });
    whole(found)
}

/// Returns which numbers of the lanes in `asked` are in a block. Both must be ascending. Sets `places` to the
/// index in the block for each number found.
///
/// # Panics
/// If the block has more than 128 numbers.
#[inline]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn find(block: &[u32], numbers: &[u32; LANES], asked: u128, places: &mut [u8; LANES]) -> u128 {
    assert!(block.len() <= LANES, "a block of {} numbers", block.len());
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && has_bit_counts() {
        // SAFETY: the processor has these instructions.
        return unsafe { avx512::find(block, numbers, asked, places) };
    }
    find_anyhow(block, numbers, asked, places)
}

#[expect(clippy::cast_possible_truncation, reason = "there are 128 places")]
fn find_anyhow(
    block: &[u32],
    numbers: &[u32; LANES],
    asked: u128,
    places: &mut [u8; LANES],
) -> u128 {
    let mut found = [0_u64; 2];
    let mut rest = block;
    each(asked, |lane| {
        let number = numbers[lane];
        rest = &rest[rest.partition_point(|&one| one < number)..];
        places[lane] = (block.len() - rest.len()) as u8;
        found[lane / 64] |= u64::from(rest.first() == Some(&number)) << (lane % 64);
    });
    whole(found)
}

/// Four lanes at a time.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "four numbers are read at once; bench/query")]
mod sse2 {
    use super::{LANES, join};
    use std::arch::x86_64::{
        __m128, __m128i, _mm_castsi128_ps, _mm_cmpge_ps, _mm_cmpgt_epi32, _mm_loadu_ps,
        _mm_loadu_si128, _mm_movemask_ps, _mm_set1_epi32, _mm_set1_ps, _mm_xor_si128,
    };

    /// The mask of `test`, applied to four lanes at a time.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn masks<T>(lanes: &[T; LANES], test: impl Fn(&[T; 4]) -> __m128) -> u128 {
        let (parts, _) = lanes.as_chunks::<16>();
        let mut masks = [0; LANES / 16];
        for (mask, part) in masks.iter_mut().zip(parts) {
            let (quads, _) = part.as_chunks::<4>();
            for (quad, shift) in quads.iter().zip([0, 4, 8, 12]) {
                let [four, ..] = _mm_movemask_ps(test(quad)).to_le_bytes();
                *mask |= u16::from(four) << shift;
            }
        }
        join(masks)
    }

    #[target_feature(enable = "sse2")]
    pub(super) fn reaching(scores: &[f32; LANES], least: f32) -> u128 {
        let least = _mm_set1_ps(least);
        // SAFETY: the chunk has four numbers.
        masks(scores, |quad| _mm_cmpge_ps(unsafe { _mm_loadu_ps(quad.as_ptr()) }, least))
    }

    #[target_feature(enable = "sse2")]
    #[expect(clippy::cast_ptr_alignment, reason = "these instructions take any address")]
    pub(super) fn up_to(numbers: &[u32; LANES], last: u32) -> u128 {
        // These comparisons are signed.
        let flip = _mm_set1_epi32(i32::MIN);
        let last = _mm_xor_si128(_mm_set1_epi32(last.cast_signed()), flip);
        !masks(numbers, |quad| {
            // SAFETY: four numbers have 16 bytes.
            let quad = unsafe { _mm_loadu_si128(quad.as_ptr().cast::<__m128i>()) };
            _mm_castsi128_ps(_mm_cmpgt_epi32(_mm_xor_si128(quad, flip), last))
        })
    }
}

/// Sixteen lanes at a time.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "sixteen numbers are read and written at once; bench/query")]
mod avx512 {
    use super::{LANES, each, join, update_anyhow, whole};
    use std::arch::x86_64::{
        __m512i, _CMP_GE_OQ, _mm512_cmp_ps_mask, _mm512_cmpeq_epi32_mask, _mm512_cmple_epu32_mask,
        _mm512_cmplt_epu32_mask, _mm512_loadu_epi32, _mm512_loadu_ps, _mm512_set1_epi32,
        _mm512_set1_ps,
    };
    use std::array;

    #[target_feature(enable = "avx512f")]
    fn load(numbers: &[u32; 16]) -> __m512i {
        // SAFETY: the array has sixteen numbers.
        unsafe { _mm512_loadu_epi32(numbers.as_ptr().cast::<i32>()) }
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn reaching(scores: &[f32; LANES], least: f32) -> u128 {
        let least = _mm512_set1_ps(least);
        let (parts, _) = scores.as_chunks::<16>();
        let mut masks = [0; LANES / 16];
        for (mask, part) in masks.iter_mut().zip(parts) {
            // SAFETY: the chunk has sixteen numbers.
            let part = unsafe { _mm512_loadu_ps(part.as_ptr()) };
            *mask = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(part, least);
        }
        join(masks)
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn up_to(numbers: &[u32; LANES], last: u32) -> u128 {
        let last = _mm512_set1_epi32(last.cast_signed());
        let (parts, _) = numbers.as_chunks::<16>();
        let mut masks = [0; LANES / 16];
        for (mask, part) in masks.iter_mut().zip(parts) {
            *mask = _mm512_cmple_epu32_mask(load(part), last);
        }
        join(masks)
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn update(
        scores: &mut [f32; LANES],
        numbers: (&[u32; LANES], &[u32; LANES]),
        mask: u128,
        update: impl Fn(f32, u32, u32) -> f32,
    ) {
        update_anyhow(scores, numbers, mask, update);
    }

    /// Compares with the last numbers of the parts of the block to select the part that may contain a number.
    #[target_feature(enable = "avx512f,popcnt,bmi1")]
    pub(super) fn find(
        block: &[u32],
        numbers: &[u32; LANES],
        asked: u128,
        places: &mut [u8; LANES],
    ) -> u128 {
        let (count, mut padded) = (block.len(), [u32::MAX; LANES]);
        let block = block.first_chunk().unwrap_or_else(|| {
            padded[..block.len()].copy_from_slice(block);
            &padded
        });
        let (parts, _) = block.as_chunks::<16>();
        let lasts: [u32; 16] = array::from_fn(|at| block[(16 * at + 15) % LANES]);
        let lasts = load(&lasts);
        let mut found = [0_u64; 2];
        each(asked, |lane| {
            let number = _mm512_set1_epi32(numbers[lane].cast_signed());
            // The second half of `lasts` repeats the first.
            let before = _mm512_cmplt_epu32_mask(lasts, number).count_ones() as usize / 2;
            let part = before.min(parts.len() - 1);
            let equal = u32::from(_mm512_cmpeq_epi32_mask(load(&parts[part]), number));
            // The padding of a short block is not a match.
            let place = 16 * part + equal.trailing_zeros() as usize;
            [places[lane], ..] = place.to_le_bytes();
            found[lane / 64] |= u64::from(equal != 0 && place < count) << (lane % 64);
        });
        whole(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn lanes<T: Copy>(some: &[T], fill: T) -> [T; LANES] {
        std::array::from_fn(|at| some.get(at).copied().unwrap_or(fill))
    }

    /// Many or few bits in each group of sixteen.
    fn mask() -> impl Strategy<Value = u128> {
        let sixteen = prop_oneof![Just(0_u16), any::<u16>(), (0..16).prop_map(|bit| 1_u16 << bit)];
        vec(sixteen, 8).prop_map(|parts| join(std::array::from_fn(|at| parts[at])))
    }

    proptest! {
        #[test]
        fn masks_match_a_test_of_each_number(
            scores in vec(prop_oneof![-9.0..9.0_f32, Just(f32::NAN), Just(f32::INFINITY)], 128),
            numbers in vec(prop_oneof![0..9_u32, any::<u32>()], 128),
            least in 0..128_usize,
        ) {
            let (scores, numbers) = (lanes(&scores, 0.0), lanes(&numbers, 0));
            let (least, last) = (scores[least], numbers[least]);
            let (reach, low) = (reaching(&scores, least), up_to(&numbers, last));
            prop_assert_eq!(reach, test(&scores, |score| score >= least));
            prop_assert_eq!(low, test(&numbers, |number| number <= last));
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "every processor of this architecture has SSE2")]
            {
                // SAFETY: every processor of this architecture has SSE2.
                prop_assert_eq!(reach, unsafe { sse2::reaching(&scores, least) });
                // SAFETY: every processor of this architecture has SSE2.
                prop_assert_eq!(low, unsafe { sse2::up_to(&numbers, last) });
            }
            for lane in 0..LANES {
                prop_assert_eq!(reach >> lane & 1 == 1, scores[lane] >= least);
                prop_assert_eq!(low >> lane & 1 == 1, numbers[lane] <= last);
            }
        }

        #[test]
        fn only_lanes_in_the_mask_are_updated(numbers in vec(0..99_u32, 128), mask in mask()) {
            let mut scores: [f32; LANES] = std::array::from_fn(|at| f32::from(u8::try_from(at).expect("few")));
            let numbers = lanes(&numbers, 0);
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let share = |score: f32, a: u32, b: u32| score + a as f32 / (b as f32 + 1.5);
            let before = scores;
            let other = std::array::from_fn(|at| numbers[LANES - 1 - at]);
            update(&mut scores, (&numbers, &other), mask, share);
            for lane in 0..LANES {
                let expected = share(before[lane], numbers[lane], other[lane]);
                if mask >> lane & 1 == 1 {
                    prop_assert_eq!(scores[lane].to_bits(), expected.to_bits());
                }
                if (mask >> (lane / 16 * 16)).trailing_zeros() >= 16 {
                    prop_assert_eq!(scores[lane].to_bits(), before[lane].to_bits());
                }
            }
        }

        #[test]
        fn column_bytes_are_looked_up(
            column in vec(0..3_u8, 0..200),
            numbers in vec(0..250_u32, 128),
            asked in mask(),
        ) {
            let (numbers, mut out) = (lanes(&numbers, 0), [9; LANES]);
            let found = look_up(&column, &numbers, asked, &mut out);
            for lane in 0..LANES {
                let byte = column.get(numbers[lane] as usize).map_or(0, |&byte| u32::from(byte));
                let is_asked = asked >> lane & 1 == 1;
                prop_assert_eq!(out[lane], if is_asked { byte } else { 9 });
                prop_assert_eq!(found >> lane & 1 == 1, is_asked && byte > 0);
            }
        }

        #[test]
        fn set_bits_are_visited_in_order(mask in any::<u128>(), count in 0..=LANES) {
            let (mut seen, mut before) = (0, None);
            each(mask, |lane| {
                assert!(before < Some(lane));
                before = Some(lane);
                seen |= 1 << lane;
            });
            prop_assert_eq!(seen, mask);
            prop_assert_eq!((first(count).count_ones(), first(count).trailing_ones() as usize), (u32::try_from(count).expect("small"), count));
        }

        #[test]
        fn numbers_are_found_at_their_positions(
            (block, numbers) in (vec(1..4_u32, 0..=LANES), vec(1..4_u32, 0..=LANES)),
            asked in mask(),
            high in any::<bool>(),
        ) {
            // Near zero, or near the greatest document number.
            let first_of = if high { u32::MAX - 3 * 128 - 1 } else { 0 };
            let sums = |gaps: Vec<u32>| gaps.iter().scan(first_of, |sum, gap| {
                *sum += gap;
                Some(*sum)
            }).collect::<Vec<u32>>();
            let (block, numbers) = (sums(block), sums(numbers));
            let asked = asked & first(numbers.len());
            // Also look up the greatest number of all, which is never in the block.
            let asked = asked | u128::from(numbers.len() < LANES) << (LANES - 1);
            let numbers = lanes(&numbers, u32::MAX);
            let [mut places, mut others] = [[9; LANES]; 2];
            let found = find(&block, &numbers, asked, &mut places);
            prop_assert_eq!(found, find_anyhow(&block, &numbers, asked, &mut others));
            for lane in 0..LANES {
                let place = block.binary_search(&numbers[lane]).ok().filter(|_| asked >> lane & 1 == 1);
                let is_found = found >> lane & 1 == 1;
                prop_assert_eq!(is_found.then_some(usize::from(places[lane])), place);
                prop_assert_eq!(is_found.then_some(usize::from(others[lane])), place);
            }
        }
    }
}
