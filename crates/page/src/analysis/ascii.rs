//! Where words begin and end in text of ASCII alone: UAX #29 has few rules there.
//!
//! Letters, digits and underscores stick together (WB5 and WB8 to WB10, `WB13a`, `WB13b`); a full stop or
//! an apostrophe between two letters (WB6, WB7) or two digits does too, and so does a colon between two
//! letters, as in Swedish `EU:s`, and a comma or a semicolon between two digits (WB11, WB12).
//!
//! Which bytes stick together is found out for 64 at a time, as the bits of a number; a word is then a
//! run of ones, however long.
//!
//! **Invariant.** The words are those that ICU finds.
//!
//! What does not live here: what each byte is ([`codes::classes`]).

use codes::classes::{self, BLOCK};

/// Hands the bounds of every word in `bytes[from..to]`, which are ASCII, to `emit`, in order.
#[inline]
pub(super) fn each(bytes: &[u8], from: usize, to: usize, emit: &mut impl FnMut(usize, usize)) {
    let bytes = &bytes[..to];
    // Where the last word began, and whether the byte before the block sticks.
    let (mut start, mut before) = (from, 0);
    // A block more than there are, if the last is full: there the last word ends at the latest.
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
    // Underscores alone are no word.
    if bytes[start] != b'_' || bytes[start..end].iter().any(|&byte| byte != b'_') {
        emit(start, end);
    }
}

/// A bit for each of the 64 bytes from `base` on: whether it belongs to a word. `before` is that of the byte
/// before them.
#[inline]
fn sticking(bytes: &[u8], base: usize, before: u64) -> u64 {
    let rest = &bytes[base..];
    let (ones, marks) = if let Some(block) = rest.first_chunk() {
        classes::letters_and_marks(block)
    } else {
        let mut block = [0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        classes::letters_and_marks(&block)
    };
    // A mark with a one on both sides; what is on the other side of the last is not known yet.
    let mut joints = marks & !ones & (ones << 1 | before) & (ones >> 1 | 1 << (BLOCK - 1));
    let mut sticking = ones;
    while joints != 0 {
        let joint = joints.trailing_zeros();
        sticking |= u64::from(joins(bytes, base + joint as usize)) << joint;
        joints &= joints - 1;
    }
    sticking
}

/// Whether the byte at `middle` sticks to what is on both sides of it.
#[inline]
fn joins(bytes: &[u8], middle: usize) -> bool {
    let Some(&[before, joint, after]) = bytes.get(middle - 1..middle + 2) else { return false };
    let kind = |byte: u8| KINDS[usize::from(byte)];
    kind(joint) >> JOINS & kind(before) & kind(after) != 0
}

/// What a byte is, and behind [`JOINS`] bits what it joins.
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

    /// Texts of all lengths, so that words and joints lie across the edges of blocks, against a byte at a time.
    #[test]
    fn words_are_those_of_a_look_at_every_byte() {
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
