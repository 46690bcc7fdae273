//! Splits ASCII text into words. Few rules of UAX #29 apply to ASCII.
//!
//! Letters, digits and underscores join (WB5 and WB8 to WB10, `WB13a`, `WB13b`). A full stop or an apostrophe joins two
//! letters (WB6, WB7) or two digits (WB11, WB12). A colon joins two letters, as in Swedish `EU:s`. A comma or a
//! semicolon joins two digits.
//!
//! The module computes this for 64 bytes at a time, with a bit for each byte. A word is a run of ones, which may span
//! several blocks.
//!
//! **Invariant.** The words are those that ICU finds.
//!
//! [`codes::byte_classes`] classifies the bytes.

use codes::byte_classes::{self, BLOCK};

/// Passes the bounds of every word in `bytes[from..to]` to `emit`, in order. These bytes must be ASCII.
#[inline]
pub(super) fn each(bytes: &[u8], from: usize, to: usize, emit: &mut impl FnMut(usize, usize)) {
    let bytes = &bytes[..to];
    // The start of the last word, and whether the byte before the block belongs to a word.
    let (mut start, mut before) = (from, 0);
    // If the last block is full, one empty block follows, so that the last word always ends.
    for base in (from..=to).step_by(BLOCK) {
        let sticking = sticking(bytes, base, before);
        let mut edges = sticking ^ (sticking << 1 | before);
        let mut is_open = before != 0;
        before = sticking >> (BLOCK - 1);
        while edges != 0 {
            let edge = base + edges.trailing_zeros() as usize;
            edges &= edges - 1;
            if is_open {
                emit_word(bytes, start, edge, emit);
            } else {
                start = edge;
            }
            is_open = !is_open;
        }
    }
}

#[inline]
fn emit_word(bytes: &[u8], start: usize, end: usize, emit: &mut impl FnMut(usize, usize)) {
    // Underscores alone are not a word.
    if bytes[start] != b'_' || bytes[start..end].iter().any(|&byte| byte != b'_') {
        emit(start, end);
    }
}

/// A bit for each of the 64 bytes from `base`: whether the byte belongs to a word. `before` is the bit of the byte
/// before them.
#[inline]
fn sticking(bytes: &[u8], base: usize, before: u64) -> u64 {
    let rest = &bytes[base..];
    let (ones, marks) = if let Some(block) = rest.first_chunk() {
        byte_classes::letters_and_marks(block)
    } else {
        let mut block = [0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        byte_classes::letters_and_marks(&block)
    };
    // Marks with a one on both sides. The byte after the last one is unknown, so the last one is kept for [`joins`].
    let mut joints = marks & !ones & (ones << 1 | before) & (ones >> 1 | 1 << (BLOCK - 1));
    let mut sticking = ones;
    while joints != 0 {
        let joint = joints.trailing_zeros();
        sticking |= u64::from(joins(bytes, base + joint as usize)) << joint;
        joints &= joints - 1;
    }
    sticking
}

/// Returns whether the byte at `middle` joins the bytes on both sides of it.
#[inline]
fn joins(bytes: &[u8], middle: usize) -> bool {
    let Some(&[before, joint, after]) = bytes.get(middle - 1..middle + 2) else { return false };
    let kind = |byte: u8| KINDS[usize::from(byte)];
    kind(joint) >> JOINS & kind(before) & kind(after) != 0
}

/// The kind of a byte. The bits from [`JOINS`] on are the kinds that the byte joins.
static KINDS: [u8; 256] = {
    let (mut kinds, mut byte) = ([0; 256], 0_u8);
    while byte < 128 {
        kinds[byte as usize] = match byte {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            // `MidNumLetQ`
            b'.' | b'\'' => (LETTER | DIGIT) << JOINS,
            // `MidLetter`
            b':' => LETTER << JOINS,
            // `MidNum`
            b',' | b';' => DIGIT << JOINS,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const JOINS: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares texts of all lengths with a reference that reads single bytes. Words and joints cross block edges.
    #[test]
    fn words_equal_those_of_a_bytewise_reference() {
        let mut state = 1_u32;
        for length in (0..400).chain(0..400) {
            let text: Vec<u8> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    b"abcXYZ019__.':,; -abcdefghijklmnopqrstuvwxyz"[(state >> 16) as usize % 44]
                })
                .collect();
            for from in [0, length / 3] {
                let (mut expected, mut found, mut at) = (Vec::new(), Vec::new(), from);
                let is_one = |at: usize| {
                    text.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                };
                while at < length {
                    let start = at;
                    while is_one(at) || (at > start && joins(&text, at)) {
                        at += 1;
                    }
                    if text[start..at].iter().any(u8::is_ascii_alphanumeric) {
                        expected.push((start, at));
                    }
                    at += 1;
                }
                each(&text, from, length, &mut |start, end| found.push((start, end)));
                assert_eq!(found, expected, "{}", String::from_utf8_lossy(&text));
            }
        }
    }
}
