//! Weighted sums of byte columns. A column belongs to a word and has a byte for each document.
//!
//! Only rows without a zero count. Callers define the meaning of a byte. Results do not depend on the instruction
//! set.

/// Number of rows summed together.
pub const SIDE_BY_SIDE: usize = 32;

/// Number of rows counted together; the count must fit into a byte.
const AT_ONCE: usize = 64;

/// A column and the weight of its bytes, in 256ths.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// One byte for each row.
    pub bytes: &'a [u8],
    /// Weight in 256ths.
    pub weight: u16,
}

/// Number of column rows that can be summed in the time of one posting of a list, measured on the queries of
/// `bench/query`. With AVX2 it is so low that columns pay only for a word in nearly every document.
#[must_use]
pub fn rows_a_posting() -> u64 {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        return 32;
    }
    1
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl")
}

/// Computes the sum of each row: byte · weight / 256, rounded down, for each column; saturating. A sum is at least
/// 1, but 0 if any column has a zero. Returns the greatest sum for each row number modulo 32.
///
/// # Panics
///
/// If a column does not have as many rows as `sums`.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn sum(columns: &[Column<'_>], sums: &mut [u16]) -> [u16; SIDE_BY_SIDE] {
    for column in columns {
        assert_eq!(column.bytes.len(), sums.len(), "rows of a column");
    }
    let mut greatest = [0; SIDE_BY_SIDE];
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        // SAFETY: the processor has these instructions.
        unsafe { sum_avx512(columns, sums, &mut greatest) };
        return greatest;
    }
    sum_anyhow(columns, sums, &mut greatest);
    greatest
}

/// Thirty-two rows at a time.
fn sum_anyhow(columns: &[Column<'_>], sums: &mut [u16], greatest: &mut [u16; SIDE_BY_SIDE]) {
    let whole = sums.len() / SIDE_BY_SIDE * SIDE_BY_SIDE;
    let (wide, _) = sums.as_chunks_mut::<SIDE_BY_SIDE>();
    for (number, sums) in wide.iter_mut().enumerate() {
        let (mut sum, mut least) = ([0_u16; SIDE_BY_SIDE], [u8::MAX; SIDE_BY_SIDE]);
        for column in columns {
            let (rows, _) = column.bytes.as_chunks::<SIDE_BY_SIDE>();
            for ((sum, least), &byte) in sum.iter_mut().zip(&mut least).zip(&rows[number]) {
                *least = (*least).min(byte);
                *sum = sum.saturating_add(share(byte, column.weight));
            }
        }
        for (((to, sum), least), greatest) in
            sums.iter_mut().zip(sum).zip(least).zip(&mut *greatest)
        {
            *to = if least > 0 { sum.max(1) } else { 0 };
            *greatest = (*greatest).max(*to);
        }
    }
    sum_rest(whole, columns, sums, greatest);
}

/// One row at a time, from row `from` on, which must be a multiple of thirty-two.
fn sum_rest(
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

/// Returns byte · weight / 256, rounded down, which is less than the weight. The upper half of a 16-bit product is
/// one instruction.
#[inline]
fn share(byte: u8, weight: u16) -> u16 {
    ((u32::from(u16::from(byte) << 8) * u32::from(weight)) >> 16) as u16
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
            // SAFETY: the slice has thirty-two bytes.
            let rows = unsafe { _mm256_loadu_si256(rows.as_ptr().cast::<__m256i>()) };
            let rows = _mm512_slli_epi16::<8>(_mm512_cvtepu8_epi16(rows));
            let weight = _mm512_set1_epi16(column.weight.cast_signed());
            is_whole = _mm512_mask_test_epi16_mask(is_whole, rows, rows);
            sum = _mm512_adds_epu16(sum, _mm512_mulhi_epu16(rows, weight));
        }
        let sum: __m512i = _mm512_maskz_max_epu16(is_whole, sum, one);
        most = _mm512_max_epu16(most, sum);
        // SAFETY: the chunk has room for thirty-two numbers.
        unsafe { _mm512_storeu_epi16(sums.as_mut_ptr().cast::<i16>(), sum) };
    }
    // SAFETY: the array has thirty-two numbers.
    let before = unsafe { _mm512_loadu_epi16(greatest.as_ptr().cast::<i16>()) };
    let most = _mm512_max_epu16(most, before);
    // SAFETY: the array has room for thirty-two numbers.
    unsafe { _mm512_storeu_epi16(greatest.as_mut_ptr().cast::<i16>(), most) };
    sum_rest(whole, columns, sums, greatest);
}

/// Counts the rows without a zero in any column.
///
/// # Panics
/// If the columns have different lengths.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn count_whole(columns: &[&[u8]]) -> u64 {
    let rows = columns.first().map_or(0, |column| column.len());
    assert!(columns.iter().all(|column| column.len() == rows), "rows of a column");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions.
        return unsafe { count_whole_avx2(columns, rows) };
    }
    count_whole_anyhow(columns, rows)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn count_whole_avx2(columns: &[&[u8]], rows: usize) -> u64 {
    count_whole_anyhow(columns, rows)
}

/// Sixty-four rows at a time, compiled for the features of the caller.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the CPU features of its caller")]
fn count_whole_anyhow(columns: &[&[u8]], rows: usize) -> u64 {
    let mut count = 0;
    for number in 0..rows / AT_ONCE {
        let mut least = [u8::MAX; AT_ONCE];
        for column in columns {
            let (wide, _) = column.as_chunks::<AT_ONCE>();
            least
                .iter_mut()
                .zip(&wide[number])
                .for_each(|(least, &byte)| *least = (*least).min(byte));
        }
        count += u64::from(least.iter().map(|&least| u8::from(least > 0)).sum::<u8>());
    }
    let is_whole = |&row: &usize| columns.iter().all(|column| column[row] > 0);
    count + (rows / AT_ONCE * AT_ONCE..rows).filter(is_whole).count() as u64
}

/// Visits the rows whose sums are at least `least`, in order.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn reaching(sums: &[u16], least: u16, visit: impl FnMut(usize)) {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        // SAFETY: the processor has these instructions.
        return unsafe { reaching_avx512(sums, least, visit) };
    }
    reaching_anyhow(sums, least, visit, |sums| reached(sums, least));
}

/// Returns which of thirty-two sums are at least `least`.
#[inline]
fn reached(sums: &[u16; SIDE_BY_SIDE], least: u16) -> u32 {
    (0..).zip(sums).fold(0, |those, (at, &sum)| those | u32::from(sum >= least) << at)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512bw")]
#[expect(unsafe_code, reason = "thirty-two sums are read at once; bench/query")]
fn reaching_avx512(sums: &[u16], least: u16, visit: impl FnMut(usize)) {
    use std::arch::x86_64::{_mm512_cmpge_epu16_mask, _mm512_loadu_epi16, _mm512_set1_epi16};
    let wanted = _mm512_set1_epi16(least.cast_signed());
    reaching_anyhow(sums, least, visit, |sums| {
        // SAFETY: the array has thirty-two numbers.
        let sums = unsafe { _mm512_loadu_epi16(sums.as_ptr().cast::<i16>()) };
        _mm512_cmpge_epu16_mask(sums, wanted)
    });
}

/// `those` returns which of thirty-two sums are at least `least`, one bit each.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the CPU features of its caller")]
fn reaching_anyhow(
    sums: &[u16],
    least: u16,
    mut visit: impl FnMut(usize),
    those: impl Fn(&[u16; SIDE_BY_SIDE]) -> u32,
) {
    let (wide, rest) = sums.as_chunks();
    for (number, sums) in wide.iter().enumerate() {
        let mut those = those(sums);
        while those != 0 {
            visit(number * SIDE_BY_SIDE + those.trailing_zeros() as usize);
            those &= those - 1;
        }
    }
    let behind = sums.len() - rest.len();
    let those = rest.iter().enumerate().filter(|&(_, &sum)| sum >= least);
    those.for_each(|(at, _)| visit(behind + at));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Results of every implementation that the processor supports.
    #[cfg_attr(
        target_arch = "x86_64",
        expect(unsafe_code, reason = "calls a function compiled for more CPU features")
    )]
    fn by_each_way(columns: &[Column<'_>], rows: usize) -> Vec<(Vec<u16>, [u16; SIDE_BY_SIDE])> {
        let made = |way: &dyn Fn(&mut [u16], &mut [u16; SIDE_BY_SIDE])| {
            let (mut sums, mut greatest) = (vec![7; rows], [0; SIDE_BY_SIDE]);
            way(&mut sums, &mut greatest);
            (sums, greatest)
        };
        let mut all = vec![made(&|sums, greatest| sum_anyhow(columns, sums, greatest))];
        #[cfg(target_arch = "x86_64")]
        if has_avx512() {
            // SAFETY: the processor has these instructions.
            all.push(made(&|sums, greatest| unsafe { sum_avx512(columns, sums, greatest) }));
        }
        all
    }

    proptest! {
        #[test]
        fn column_sums_match_each_row(
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
            for other in by_each_way(&columns, rows) {
                prop_assert_eq!(other, (sums.clone(), expected));
            }
            let plain: Vec<&[u8]> = columns.iter().map(|column| column.bytes).collect();
            let whole = sums.iter().filter(|&&sum| sum > 0).count() as u64;
            prop_assert_eq!(count_whole(&plain), whole);
            prop_assert_eq!(count_whole_anyhow(&plain, rows), whole);
            let least = if rows == 0 { 1 } else { sums[least.index(rows)] };
            let [mut found, mut others] = [Vec::new(), Vec::new()];
            reaching(&sums, least, |row| found.push(row));
            reaching_anyhow(&sums, least, |row| others.push(row), |sums| reached(sums, least));
            let reach: Vec<usize> = (0..rows).filter(|&row| sums[row] >= least).collect();
            prop_assert_eq!(&found, &reach);
            prop_assert_eq!(&others, &reach);
        }
    }
}
