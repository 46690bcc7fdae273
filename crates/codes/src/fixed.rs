//! Packed numbers of equal width, from 0 to 64 bits.
//!
//! **Implied distribution.** Uniform up to 2 to the width.
//! **Range.** All numbers that fit the width; the caller stores count and width.
//! **Layout.** Lowest bit first, from the lowest bit of the first byte on. The unused bits of the last byte are
//! zero.
//!
//! **Invariant.** [`read`] accepts exactly the output of [`write()`] for the same count and width. [`get`] reads
//! one number at random.

/// The length in bytes of `count` numbers of `width` bits.
pub fn bytes(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

/// The least width that holds `n`.
pub fn width(n: u64) -> u32 {
    u64::BITS - n.leading_zeros()
}

/// Appends `numbers`, each of `width` bits.
///
/// # Panics
/// If a number does not fit.
pub fn write(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = u64>, width: u32) {
    let (mut held, mut bits) = (0_u128, 0);
    for n in numbers {
        assert!(self::width(n) <= width, "{n} has more than {width} bits");
        held |= u128::from(n) << bits;
        bits += width;
        if bits >= u64::BITS {
            out.extend_from_slice(&held.to_le_bytes()[..8]);
            held >>= u64::BITS;
            bits -= u64::BITS;
        }
    }
    out.extend_from_slice(&held.to_le_bytes()[..bits.div_ceil(8) as usize]);
}

/// Passes `count` numbers of `width` bits to `take`, in order. Returns `None` if `input` is not exactly those
/// numbers; then `take` has received none or all of them.
pub fn read(input: &[u8], count: usize, width: u32, mut take: impl FnMut(u64)) -> Option<()> {
    if width > u64::BITS || input.len() != bytes(count, width) {
        return None;
    }
    let mask = mask(width);
    let mut bit = 0;
    if width <= EIGHT_MAX {
        for _ in 0..count {
            take(eight(input, bit / 8) >> (bit % 8) & mask);
            bit += width as usize;
        }
    } else {
        for _ in 0..count {
            let window = sixteen(input, bit / 8) >> (bit % 8);
            take(low(window) & mask);
            bit += width as usize;
        }
    }
    let rest = input.last().is_some_and(|last| bit % 8 != 0 && last >> (bit % 8) != 0);
    (!rest).then_some(())
}

/// Fills `out` with numbers of `width` bits, at most 32. Bits after the end of `input` are zeros; other bytes
/// after the numbers are ignored.
pub(crate) fn unpack(input: &[u8], width: u32, out: &mut [u32]) {
    let (mask, width) = (mask(width.min(u32::BITS)), width.min(u32::BITS) as usize);
    // Numbers that can be read with a load of eight bytes.
    let bits = input.len().saturating_sub(7) * 8;
    let whole = if width == 0 { 0 } else { bits.div_ceil(width).min(out.len()) };
    let (whole, rest) = out.split_at_mut(whole);
    let mut bit = 0;
    for number in whole {
        let eight = input[bit / 8..].first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight));
        *number = low_half(eight >> (bit % 8) & mask);
        bit += width;
    }
    for number in rest {
        *number = low_half(eight(input, bit / 8) >> (bit % 8) & mask);
        bit += width;
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "at most 32 bits")]
fn low_half(number: u64) -> u32 {
    number as u32
}

/// Number `at` of those of `width` bits, counted from zero; bits after the end of `input` are zeros.
#[inline]
pub fn get(input: &[u8], at: usize, width: u32) -> u64 {
    let bit = at * width as usize;
    let window = if width <= EIGHT_MAX {
        eight(input, bit / 8) >> (bit % 8)
    } else {
        low(sixteen(input, bit / 8) >> (bit % 8))
    };
    window & mask(width)
}

/// The lowest `width` bits.
#[inline]
pub(crate) fn mask(width: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS - width).unwrap_or(0)
}

/// Numbers of this width fit into eight bytes, at any bit offset in the first byte.
pub(crate) const EIGHT_MAX: u32 = u64::BITS - 7;

/// The eight bytes from `at` on, padded with zeros.
#[inline]
pub fn eight(input: &[u8], at: usize) -> u64 {
    let rest = input.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(whole) => u64::from_le_bytes(*whole),
        None => fewer_than_eight(rest),
    }
}

/// Less than eight bytes as a number, by overlapping loads.
#[inline]
fn fewer_than_eight(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let [first, last] = [first, last].map(|four| u64::from(u32::from_le_bytes(*four)));
        return first | last << (8 * (length - 4));
    }
    match bytes {
        [] => 0,
        [first, ..] => {
            let at = |place: usize| u64::from(bytes[place]) << (8 * place);
            u64::from(*first) | at(length / 2) | at(length - 1)
        }
    }
}

/// The sixteen bytes from `at` on, padded with zeros.
#[inline(never)]
fn sixteen(input: &[u8], at: usize) -> u128 {
    if let Some(whole) = input.get(at..).and_then(|rest| rest.first_chunk()) {
        return u128::from_le_bytes(*whole);
    }
    let rest = input.get(at..).unwrap_or_default();
    let mut padded = [0; 16];
    padded[..rest.len()].copy_from_slice(rest);
    u128::from_le_bytes(padded)
}

#[expect(clippy::cast_possible_truncation, reason = "only the lower half is needed")]
fn low(window: u128) -> u64 {
    window as u64
}
