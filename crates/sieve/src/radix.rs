//! A radix sort in place, most significant digit first.
//!
//! What lives here: sorting by a number of 64 bits. What does not: the items. Signatures are
//! random, so a digit divides them evenly. Two or three digits leave parts of a few hundred.
//!
//! **Invariant.** The items are the same as before, in ascending order of their number.
//!
//! **Reference.** P. M. `McIlroy`, K. Bostic, M. D. `McIlroy`, "Engineering radix sort", Computing
//! Systems 6(1), 1993: the American flag sort.

/// Parts no longer than this are left to the sort of the standard library.
const SMALL: usize = 256;
const DIGIT_BITS: u32 = 8;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Sorts `items` by `number`; equal ones in any order.
pub(crate) fn sort<T: Copy>(items: &mut [T], number: impl Fn(&T) -> u64 + Copy) {
    let greatest = items.iter().map(number).max().unwrap_or(0);
    let bits = u64::BITS - greatest.leading_zeros();
    sort_below(items, number, bits);
}

/// Sorts items whose numbers agree but for the lowest `bits`.
fn sort_below<T: Copy>(items: &mut [T], number: impl Fn(&T) -> u64 + Copy, bits: u32) {
    if items.len() <= SMALL || bits == 0 {
        items.sort_unstable_by_key(number);
        return;
    }
    let shift = bits.saturating_sub(DIGIT_BITS);
    let digit = |item: &T| usize::from((number(item) >> shift).to_le_bytes()[0]);
    let mut ends = [0; DIGITS];
    for item in &*items {
        ends[digit(item)] += 1;
    }
    let mut total = 0;
    let mut next = [0; DIGITS];
    for (next, end) in next.iter_mut().zip(&mut ends) {
        *next = total;
        total += *end;
        *end = total;
    }
    let starts = next;
    for part in 0..DIGITS {
        while next[part] < ends[part] {
            let home = digit(&items[next[part]]);
            items.swap(next[part], next[home]);
            next[home] += 1;
        }
    }
    for (&start, &end) in starts.iter().zip(&ends) {
        if end - start > 1 {
            sort_below(&mut items[start..end], number, shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sort;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn sorting_matches_the_standard_library(
            mut numbers in vec(any::<u64>(), 0..3_000),
            shift in 0..64_u32,
            copies in 1..4_usize,
        ) {
            for number in &mut numbers {
                *number >>= shift;
            }
            let mut numbers = numbers.repeat(copies);
            let mut expected = numbers.clone();
            expected.sort_unstable();
            sort(&mut numbers, |&number| number);
            prop_assert_eq!(numbers, expected);
        }
    }
}
