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
    let mut runs = Runs { bytes, base: from, ones: ones(bytes, from) };
    let mut at = from;
    loop {
        let start = runs.next(at, false);
        if start >= to {
            return;
        }
        let mut end = runs.next(start + 1, true);
        while joins(bytes, end) {
            end = runs.next(end + 2, true);
        }
        // Underscores alone are no word.
        if bytes[start] != b'_' || bytes[start..end].iter().any(|&byte| byte != b'_') {
            emit(start, end);
        }
        at = end + 1;
    }
}

/// The bytes from `base` on that stick together, as the ones of a number.
struct Runs<'a> {
    bytes: &'a [u8],
    base: usize,
    ones: u64,
}

impl Runs<'_> {
    /// The first byte from `at` on that sticks to others, or that does not if `is_end`; the end if there
    /// is none.
    #[inline]
    fn next(&mut self, mut at: usize, is_end: bool) -> usize {
        loop {
            if at >= self.base + 64 {
                if at >= self.bytes.len() {
                    return self.bytes.len();
                }
                self.base = at;
                self.ones = ones(self.bytes, at);
            }
            let wanted = if is_end { !self.ones } else { self.ones };
            let rest = wanted >> (at - self.base);
            if rest != 0 {
                return (at + rest.trailing_zeros() as usize).min(self.bytes.len());
            }
            at = self.base + 64;
        }
    }
}

/// The same byte, eight times.
const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// A bit for each of the 64 bytes from `at` on: whether it is a letter, a digit or an underscore.
#[inline]
fn ones(bytes: &[u8], at: usize) -> u64 {
    let rest = &bytes[at..];
    if let Some(block) = rest.first_chunk::<64>() {
        return ones_of_block(block);
    }
    let mut block = [0; 64];
    block[..rest.len()].copy_from_slice(rest);
    ones_of_block(&block)
}

#[inline]
fn ones_of_block(block: &[u8; 64]) -> u64 {
    let (words, _) = block.as_chunks::<8>();
    let bits = words.iter().map(|&word| ones_of_eight(u64::from_le_bytes(word)));
    bits.rev().fold(0, |ones, bits| ones << 8 | bits)
}

/// The bits of eight bytes. None has its highest bit set, so that sums do not carry: added to the
/// distance from a bound to 128, the highest bit says whether a byte reaches that bound.
#[inline]
fn ones_of_eight(word: u64) -> u64 {
    let within = |word: u64, first: u8, last: u8| {
        (word + eight(0x80 - first)) & !(word + eight(0x7f - last))
    };
    let letters = within(word | eight(0x20), b'a', b'z');
    let digits = within(word, b'0', b'9');
    let underscores = eight(0x80) - (word ^ eight(b'_'));
    let highest = (letters | digits | underscores) & eight(0x80);
    // The lowest bit of byte i times 2^(56 - 7i) is bit 56 + i; no two products meet.
    (highest >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
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
                    let found = ones_of_block(&block) >> place & 1 == 1;
                    assert_eq!(found, sticks, "{byte} at {place} among {filling}");
                    let others = ones_of_block(&block) | 1 << place;
                    let expected = if filling == b'_' { u64::MAX } else { 1 << place };
                    assert_eq!(others, expected, "{byte} at {place} among {filling}");
                }
            }
        }
    }
}
