//! Bytes as a script of damage: what is done to which file, where.
//!
//! An operation is five bytes: which one, on which file, where (two bytes, in 65536ths of the file, higher one
//! first), and an operand. What is left over at the end does nothing. So a script means about the same after the
//! format has changed.
//!
//! **Invariant.** Every script can be carried out, and no file becomes longer than [`FILE_BYTES_MAX`].

use super::files::Files;
use codes::vbyte;

/// How many operations of a script are carried out.
const OPERATIONS_MAX: usize = 24;
/// So that a script that adds cannot go on for long.
const FILE_BYTES_MAX: usize = 1 << 18;
/// Numbers at which something ends.
const NUMBERS: [u64; 12] = [
    0,
    1,
    127,
    128,
    1 << 14,
    (1 << 31) - 1,
    u32::MAX as u64,
    1 << 32,
    1 << 62,
    1 << 63,
    u64::MAX - 15,
    u64::MAX,
];

/// How many different operations there are.
pub(crate) const OPERATIONS: u8 = 11;
/// The one that puts another file in the place.
pub(crate) const REPLACE: u8 = 9;
/// The one that makes sums match.
pub(crate) const SEAL: u8 = 10;

/// Carries out a script.
pub(crate) fn run(script: &[u8], files: &mut Files) {
    let (operations, _) = script.as_chunks();
    for &[operation, file, high, low, operand] in operations.iter().take(OPERATIONS_MAX) {
        let file = files.choose(file);
        match operation % OPERATIONS {
            SEAL => files.seal(file),
            REPLACE => *files.bytes_mut(file) = files.sound(files.choose(operand)),
            operation => {
                let bytes = files.bytes_mut(file);
                let part = usize::from(u16::from_be_bytes([high, low]));
                let at = bytes.len() * part / 65_536;
                change(bytes, operation, at, operand);
                bytes.truncate(FILE_BYTES_MAX);
            }
        }
    }
}

/// Does something to bytes at a place, which is inside if there are any.
fn change(bytes: &mut Vec<u8>, operation: u8, at: usize, operand: u8) {
    let count = usize::from(operand) + 1;
    let end = bytes.len().min(at + count);
    match operation {
        // A bit.
        0 => bytes[at..].iter_mut().take(1).for_each(|byte| *byte ^= 1 << (operand % 8)),
        // A byte.
        1 => bytes[at..].iter_mut().take(1).for_each(|byte| *byte = operand),
        2 => bytes[at..].iter_mut().take(1).for_each(|byte| *byte = byte.wrapping_add(operand)),
        // Lengths.
        3 => bytes.truncate(at),
        4 => bytes.truncate(bytes.len().saturating_sub(count)),
        5 => drop(bytes.drain(at..end)),
        6 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        // What a disk loses or never had: the beginning, the middle or the end of a sector.
        7 => bytes[at..end].fill(if operand.is_multiple_of(2) { 0 } else { 0xff }),
        // One number in the place of another.
        _ => {
            let more = bytes[at..]
                .iter()
                .position(|&byte| byte < 128)
                .map_or(bytes.len() - at, |last| last + 1);
            let mut number = Vec::new();
            vbyte::write(&mut number, NUMBERS[usize::from(operand) % NUMBERS.len()]);
            bytes.splice(at..at + more, number);
        }
    }
}
