//! Variable-length bytes: seven bits of the number in each byte, the lowest first; the highest bit
//! of a byte says that another follows.
//!
//! **Implied distribution.** ≈ 1/*x*^(8/7), in steps.
//! **Range.** All of [0 . . 2⁶⁴), in one to ten bytes.
//! **Reference.** The "continuation bit a byte" of H. E. Williams, J. Zobel, "Compressing integers
//! for fast file access", The Computer Journal 42(3), 1999; the bytes are those of LEB128.
//!
//! **Invariant.** A number has one codeword, the shortest; the decoder refuses longer ones.

/// The length of the longest codeword in bytes.
pub const BYTES_MAX: usize = 10;

/// Appends the codeword of `n`.
pub fn write(out: &mut Vec<u8>, n: u64) {
    let mut rest = n;
    while rest >= 0x80 {
        out.push(rest.to_le_bytes()[0] | 0x80);
        rest >>= 7;
    }
    out.push(rest.to_le_bytes()[0]);
}

/// Reads one codeword and advances `input` behind it. `None`, and `input` as it was, if the bytes
/// end before the codeword does, if the number exceeds 64 bits, or if the codeword is not the
/// shortest.
pub fn read(input: &mut &[u8]) -> Option<u64> {
    let mut n = 0;
    for (at, &byte) in input.iter().take(BYTES_MAX).enumerate() {
        n |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            let too_long = byte == 0 && at > 0;
            let too_great = at == BYTES_MAX - 1 && byte > 1;
            if too_long || too_great {
                return None;
            }
            *input = &input[at + 1..];
            return Some(n);
        }
    }
    None
}
