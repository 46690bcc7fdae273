//! Columns of bytes, one for each of some words, with a byte for each document: what they add up to, each weighed.
//!
//! What lives here: sums of columns where none of them has a zero, thirty-two rows at a time where the processor can. What
//! does not: what a byte means.
//!
//! **Invariant.** Sums are the same with any instructions; the tests compare those that their processor has.

/// How many rows are summed up side by side.
pub const SIDE_BY_SIDE: usize = 32;

/// A column, and what a byte of it counts, in 256ths.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// A byte for each row.
    pub bytes: &'a [u8],
    /// What 256 times a byte of one counts.
    pub weight: u16,
}

/// Makes `sums` those of as many rows: for each column byte · weight / 256, rounded down, and no more than fits; 1 at least,
/// but 0 where any column has a zero. The greatest of every thirty-second row are returned.
///
/// # Panics
/// If a column has not as many rows.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calling what is compiled for more")
)]
pub fn sum(columns: &[Column<'_>], sums: &mut [u16]) -> [u16; SIDE_BY_SIDE] {
    for column in columns {
        assert_eq!(column.bytes.len(), sums.len(), "rows of a column");
    }
    let mut greatest = [0; SIDE_BY_SIDE];
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl") {
        // SAFETY: the processor has these instructions.
        unsafe { sum_avx512(columns, sums, &mut greatest) };
        return greatest;
    }
    sum_from(0, columns, sums, &mut greatest);
    greatest
}

/// The same of the rows from one on that begins thirty-two.
fn sum_from(
    from: usize,
    columns: &[Column<'_>],
    sums: &mut [u16],
    greatest: &mut [u16; SIDE_BY_SIDE],
) {
    for (row, sum) in sums.iter_mut().enumerate().skip(from) {
        let mut is_whole = true;
        *sum = columns.iter().fold(0_u16, |sum, column| {
            let byte = column.bytes[row];
            is_whole &= byte > 0;
            sum.saturating_add(share(byte, column.weight))
        });
        *sum = if is_whole { (*sum).max(1) } else { 0 };
        let greatest = &mut greatest[row % SIDE_BY_SIDE];
        *greatest = (*greatest).max(*sum);
    }
}

/// byte · weight / 256, rounded down: less than a weight.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "it is less than a weight")]
pub fn share(byte: u8, weight: u16) -> u16 {
    (u32::from(byte) * u32::from(weight) / 256) as u16
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512bw,avx512vl")]
#[expect(unsafe_code, reason = "thirty-two rows are read and written at once; bench/query")]
#[expect(clippy::cast_ptr_alignment, reason = "these instructions take any address")]
fn sum_avx512(columns: &[Column<'_>], sums: &mut [u16], greatest: &mut [u16; SIDE_BY_SIDE]) {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_loadu_si256, _mm512_adds_epu16, _mm512_cvtepu8_epi16,
        _mm512_loadu_epi16, _mm512_mask_test_epi16_mask, _mm512_maskz_max_epu16, _mm512_max_epu16,
        _mm512_mulhi_epu16, _mm512_set1_epi16, _mm512_setzero_si512, _mm512_slli_epi16,
        _mm512_storeu_epi16,
    };
    let one = _mm512_set1_epi16(1);
    let mut most = _mm512_setzero_si512();
    let whole = sums.len() / SIDE_BY_SIDE * SIDE_BY_SIDE;
    let (wide, _) = sums.as_chunks_mut::<SIDE_BY_SIDE>();
    for (number, sums) in wide.iter_mut().enumerate() {
        let (mut sum, mut is_whole) = (_mm512_setzero_si512(), u32::MAX);
        for column in columns {
            let rows = &column.bytes[number * SIDE_BY_SIDE..(number + 1) * SIDE_BY_SIDE];
            // SAFETY: there are thirty-two.
            let rows = unsafe { _mm256_loadu_si256(rows.as_ptr().cast::<__m256i>()) };
            let rows = _mm512_slli_epi16::<8>(_mm512_cvtepu8_epi16(rows));
            let weight = _mm512_set1_epi16(column.weight.cast_signed());
            is_whole = _mm512_mask_test_epi16_mask(is_whole, rows, rows);
            sum = _mm512_adds_epu16(sum, _mm512_mulhi_epu16(rows, weight));
        }
        let sum: __m512i = _mm512_maskz_max_epu16(is_whole, sum, one);
        most = _mm512_max_epu16(most, sum);
        // SAFETY: there is room for thirty-two.
        unsafe { _mm512_storeu_epi16(sums.as_mut_ptr().cast::<i16>(), sum) };
    }
    // SAFETY: there are thirty-two.
    let before = unsafe { _mm512_loadu_epi16(greatest.as_ptr().cast::<i16>()) };
    let most = _mm512_max_epu16(most, before);
    // SAFETY: there is room for thirty-two.
    unsafe { _mm512_storeu_epi16(greatest.as_mut_ptr().cast::<i16>(), most) };
    sum_from(whole, columns, sums, greatest);
}

/// Visits the rows whose sums are `least` or more, in their order.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calling what is compiled for more")
)]
pub fn reaching(sums: &[u16], least: u16, visit: impl FnMut(usize)) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512bw") {
        // SAFETY: the processor has these instructions.
        return unsafe { reaching_avx512(sums, least, visit) };
    }
    reaching_from(0, sums, least, visit);
}

fn reaching_from(from: usize, sums: &[u16], least: u16, mut visit: impl FnMut(usize)) {
    for (row, &sum) in sums.iter().enumerate().skip(from) {
        if sum >= least {
            visit(row);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512bw")]
#[expect(unsafe_code, reason = "thirty-two sums are read at once; bench/query")]
fn reaching_avx512(sums: &[u16], least: u16, mut visit: impl FnMut(usize)) {
    use std::arch::x86_64::{_mm512_cmpge_epu16_mask, _mm512_loadu_epi16, _mm512_set1_epi16};
    let wanted = _mm512_set1_epi16(least.cast_signed());
    let (wide, _) = sums.as_chunks::<SIDE_BY_SIDE>();
    for (number, sums) in wide.iter().enumerate() {
        // SAFETY: there are thirty-two.
        let sums = unsafe { _mm512_loadu_epi16(sums.as_ptr().cast::<i16>()) };
        let mut those = _mm512_cmpge_epu16_mask(sums, wanted);
        while those != 0 {
            visit(number * SIDE_BY_SIDE + those.trailing_zeros() as usize);
            those &= those - 1;
        }
    }
    reaching_from(wide.len() * SIDE_BY_SIDE, sums, least, visit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_are_those_of_each_row(
            rows in 0..150_usize,
            bytes in vec(prop_oneof![0..3_u8, any::<u8>()], 600),
            weights in vec(prop_oneof![0..300_u16, any::<u16>()], 1..4),
            least in any::<prop::sample::Index>(),
        ) {
            let columns: Vec<Column<'_>> = weights
                .iter()
                .zip(bytes.chunks(150))
                .map(|(&weight, bytes)| Column { bytes: &bytes[..rows], weight })
                .collect();
            let mut sums = vec![7; rows];
            let greatest = sum(&columns, &mut sums);
            let mut expected = [0; SIDE_BY_SIDE];
            for (row, &sum) in sums.iter().enumerate() {
                let of = |column: &Column<'_>| u64::from(column.bytes[row]) * u64::from(column.weight) / 256;
                let total = columns.iter().map(of).sum::<u64>().clamp(1, u64::from(u16::MAX));
                let is_whole = columns.iter().all(|column| column.bytes[row] > 0);
                prop_assert_eq!(u64::from(sum), if is_whole { total } else { 0 });
                expected[row % SIDE_BY_SIDE] = sum.max(expected[row % SIDE_BY_SIDE]);
            }
            prop_assert_eq!(greatest, expected);
            let mut others = vec![7; rows];
            sum_from(0, &columns, &mut others, &mut [0; SIDE_BY_SIDE]);
            prop_assert_eq!(&others, &sums);
            let least = if rows == 0 { 1 } else { sums[least.index(rows)] };
            let [mut found, mut others] = [Vec::new(), Vec::new()];
            reaching(&sums, least, |row| found.push(row));
            reaching_from(0, &sums, least, |row| others.push(row));
            let reach: Vec<usize> = (0..rows).filter(|&row| sums[row] >= least).collect();
            prop_assert_eq!(&found, &reach);
            prop_assert_eq!(&others, &reach);
        }
    }
}
