//! Classifies 64 bytes at once, for loops over text that jump from one edge to the next.
//!
//! Each function returns two bit sets with one bit per byte, the first byte lowest. [`letters_and_marks`] returns
//! ASCII letters, digits and underscores, and all bytes greater than the space. [`spaces_and_breaks`] returns
//! spaces, and bytes that are less than a space or may begin U+00A0. Callers define words and white space.
//!
//! Reference: L. Lamport, "Multiple byte processing with full-word instructions", CACM 18(8), 1975.

/// Number of bytes classified together.
pub const BLOCK: usize = 64;

/// Returns the letters, digits and underscores, and the bytes greater than the space.
#[inline]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn letters_and_marks(block: &[u8; BLOCK]) -> (u64, u64) {
    #[cfg(target_arch = "x86_64")]
    if is_wide() {
        // SAFETY: the processor has these instructions.
        return unsafe { wide_marks(block) };
    }
    plain_marks(block)
}

/// Returns the spaces, and the bytes that are ASCII controls or may begin U+00A0 in UTF-8.
#[inline]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls a function compiled for more CPU features")
)]
pub fn spaces_and_breaks(block: &[u8; BLOCK]) -> (u64, u64) {
    #[cfg(target_arch = "x86_64")]
    if is_wide() {
        // SAFETY: the processor has these instructions.
        return unsafe { wide_breaks(block) };
    }
    plain_breaks(block)
}

/// Returns whether the processor can classify all bytes at once.
#[cfg(target_arch = "x86_64")]
#[inline]
fn is_wide() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
}

/// First byte of U+00A0 in UTF-8.
const LEAD: u8 = 0xc2;

fn plain_breaks(block: &[u8; BLOCK]) -> (u64, u64) {
    // Without branches, so that the compiler vectorises it.
    let spaces = block.map(|byte| u8::from(byte == b' '));
    let breaks = block.map(|byte| u8::from(byte < b' ') | u8::from(byte == LEAD));
    (gather(&spaces), gather(&breaks))
}

fn plain_marks(block: &[u8; BLOCK]) -> (u64, u64) {
    let letters = block.map(|byte| {
        let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let is_digit = byte.wrapping_sub(b'0') < 10;
        u8::from(is_letter) | u8::from(is_digit) | u8::from(byte == b'_')
    });
    let marks = block.map(|byte| u8::from(byte > b' '));
    (gather(&letters), gather(&marks))
}

/// Packs bytes that are 0 or 1 into bits.
#[inline]
fn gather(bytes: &[u8; BLOCK]) -> u64 {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().rev().fold(0, |bits, &word| {
        // The lowest bit of byte i times 2^(56 - 7i) is bit 56 + i; no two products meet.
        bits << 8 | u64::from_le_bytes(word).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

/// All bytes at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
#[expect(unsafe_code, reason = "64 bytes are read at once; bench/index")]
fn wide_marks(block: &[u8; BLOCK]) -> (u64, u64) {
    use std::arch::x86_64::{
        _mm512_cmpeq_epi8_mask, _mm512_cmpgt_epu8_mask, _mm512_cmplt_epu8_mask, _mm512_loadu_si512,
        _mm512_or_si512, _mm512_set1_epi8, _mm512_sub_epi8,
    };
    let all = |byte: u8| _mm512_set1_epi8(byte.cast_signed());
    // SAFETY: there are 64 bytes, which need not be aligned.
    let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    let small = _mm512_or_si512(bytes, all(0x20));
    let letters = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(small, all(b'a')), all(26));
    let digits = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, all(b'0')), all(10));
    let underscores = _mm512_cmpeq_epi8_mask(bytes, all(b'_'));
    let marks = _mm512_cmpgt_epu8_mask(bytes, all(b' '));
    (letters | digits | underscores, marks)
}

/// All bytes at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
#[expect(unsafe_code, reason = "64 bytes are read at once; bench/crawl")]
fn wide_breaks(block: &[u8; BLOCK]) -> (u64, u64) {
    use std::arch::x86_64::{
        _mm512_cmpeq_epi8_mask, _mm512_cmplt_epu8_mask, _mm512_loadu_si512, _mm512_set1_epi8,
    };
    let all = |byte: u8| _mm512_set1_epi8(byte.cast_signed());
    // SAFETY: there are 64 bytes, which need not be aligned.
    let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    let breaks =
        _mm512_cmplt_epu8_mask(bytes, all(b' ')) | _mm512_cmpeq_epi8_mask(bytes, all(LEAD));
    (_mm512_cmpeq_epi8_mask(bytes, all(b' ')), breaks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_classified_at_every_position() {
        let is_one = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        for byte in 0..=u8::MAX {
            for filling in [0, b'_', b'~', 0x7f, b'/', b'@', b' ', 0x80, 0xc1, 0xc2, 0xff] {
                for place in 0..BLOCK {
                    let mut block = [filling; BLOCK];
                    block[place] = byte;
                    let bits = |is_so: &dyn Fn(u8) -> bool| {
                        let others = if is_so(filling) { u64::MAX } else { 0 };
                        others & !(1 << place) | u64::from(is_so(byte)) << place
                    };
                    let expected = (bits(&is_one), bits(&|byte| byte > b' '));
                    for found in [letters_and_marks(&block), plain_marks(&block)] {
                        assert_eq!(found, expected, "{byte} at {place} among {filling}");
                    }
                    let is_break = |byte: u8| byte < b' ' || byte == 0xc2;
                    let expected = (bits(&|byte| byte == b' '), bits(&is_break));
                    for found in [spaces_and_breaks(&block), plain_breaks(&block)] {
                        assert_eq!(found, expected, "{byte} at {place} among {filling}");
                    }
                }
            }
        }
    }

    #[test]
    fn both_classifiers_agree_on_any_bytes() {
        let mut state = 1_u32;
        for _ in 0..20_000 {
            let block: [u8; BLOCK] = std::array::from_fn(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state.to_be_bytes()[0]
            });
            assert_eq!(letters_and_marks(&block), plain_marks(&block), "{block:?}");
            assert_eq!(spaces_and_breaks(&block), plain_breaks(&block), "{block:?}");
        }
    }
}
