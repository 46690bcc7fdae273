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
//! Reference: L. Lamport, "Multiple byte processing with full-word instructions", CACM 18(8), 1975.

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

/// How many bytes are looked at together.
const BLOCK: usize = 64;

/// A bit for each of the 64 bytes from `base` on: whether it belongs to a word. `before` is that of the byte
/// before them.
#[inline]
fn sticking(bytes: &[u8], base: usize, before: u64) -> u64 {
    let rest = &bytes[base..];
    let (ones, marks) = if let Some(block) = rest.first_chunk() {
        bits_of_block(block)
    } else {
        let mut block = [0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        bits_of_block(&block)
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

/// Two bits for each byte: whether it is a letter, a digit or an underscore, and whether it is beyond the
/// space, as all of these and all marks are.
#[inline]
fn bits_of_block(block: &[u8; BLOCK]) -> (u64, u64) {
    // Without branches, so that many bytes are looked at by one instruction.
    let ones = block.map(|byte| {
        let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let is_digit = byte.wrapping_sub(b'0') < 10;
        u8::from(is_letter) | u8::from(is_digit) | u8::from(byte == b'_')
    });
    let marks = block.map(|byte| u8::from(byte > b' '));
    (gather(&ones), gather(&marks))
}

/// Bytes that are 0 or 1 as bits.
#[inline]
fn gather(bytes: &[u8; BLOCK]) -> u64 {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().rev().fold(0, |bits, &word| {
        // The lowest bit of byte i times 2^(56 - 7i) is bit 56 + i; no two products meet.
        bits << 8 | u64::from_le_bytes(word).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
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

    #[test]
    fn every_byte_at_every_place_is_what_it_is() {
        for byte in 0..128_u8 {
            let sticks = byte.is_ascii_alphanumeric() || byte == b'_';
            for filling in [0, b'_', b'~', 0x7f, b'/', b'@'] {
                for place in 0..64 {
                    let mut block = [filling; 64];
                    block[place] = byte;
                    let (ones, marks) = bits_of_block(&block);
                    assert_eq!(marks >> place & 1 == 1, byte > b' ', "{byte} at {place}");
                    let found = ones >> place & 1 == 1;
                    assert_eq!(found, sticks, "{byte} at {place} among {filling}");
                    let others = ones | 1 << place;
                    let expected = if filling == b'_' { u64::MAX } else { 1 << place };
                    assert_eq!(others, expected, "{byte} at {place} among {filling}");
                }
            }
        }
    }

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
