//! Arrays of numbers of equal width: the least number of whole bytes that holds their bound.
//!
//! For tables with random access: block starts, skips, document lengths. Reader and writer know the bound from
//! elsewhere, so the width is not stored. Codes of variable width are in the crate `codes`.

/// The least number of bytes that hold every number up to `bound`; zero bytes hold zero.
pub(crate) fn width(bound: u64) -> usize {
    (u64::BITS - bound.leading_zeros()).div_ceil(8) as usize
}

/// Appends `n` in `width` bytes, lowest first.
pub(crate) fn put(out: &mut Vec<u8>, n: u64, width: usize) {
    debug_assert!(self::width(n) <= width, "{n} in {width} bytes");
    out.extend_from_slice(&n.to_le_bytes()[..width]);
}

/// The mask of each width.
const MASKS: [u64; 9] = [
    0,
    0xff,
    0xffff,
    0xff_ffff,
    u32::MAX as u64,
    (1 << 40) - 1,
    (1 << 48) - 1,
    (1 << 56) - 1,
    u64::MAX,
];

/// Returns the number in the `width` bytes from `at` on; `None` past the end.
#[inline]
pub(crate) fn get(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let rest = bytes.get(at..)?;
    if let Some(eight) = rest.first_chunk::<8>() {
        let mask = MASKS[width];
        return Some(u64::from_le_bytes(*eight) & mask);
    }
    let mut word = [0; 8];
    word[..width].copy_from_slice(rest.get(..width)?);
    Some(u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_at_every_width_and_position() {
        for bits in 0..=64 {
            let bound = u64::MAX.checked_shr(64 - bits).unwrap_or(0);
            let width = width(bound);
            assert_eq!(width, bits.div_ceil(8) as usize);
            let numbers = [bound, 0, bound / 2, bound, bound / 3];
            let mut bytes = Vec::new();
            for n in numbers {
                put(&mut bytes, n, width);
            }
            for (i, &n) in numbers.iter().enumerate() {
                assert_eq!(get(&bytes, i * width, width), Some(n), "{bits} bits, number {i}");
            }
            assert_eq!(get(&bytes, 5 * width + 1, width), None);
            if width > 0 {
                assert_eq!(get(&bytes, 4 * width + 1, width), None);
            }
        }
    }
}
