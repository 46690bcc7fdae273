//! Scripts of damage, from bytes.
//!
//! An operation has five bytes: its number, the file, the place (two bytes, big-endian, in 65536ths of the file) and
//! an operand. Bytes left at the end are ignored. So a script keeps its effect when the format changes.
//!
//! **Invariant.** Every script can be run, and no file grows beyond [`FILE_BYTES_MAX`].

use super::files::Files;
use codes::vbyte;

/// Maximum number of operations that are run.
const OPERATIONS_MAX: usize = 24;
/// Limits scripts that insert bytes.
const FILE_BYTES_MAX: usize = 1 << 18;
/// Boundary values.
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

/// Number of operations.
pub(crate) const OPERATIONS: u8 = 11;
/// Replaces a file by another one.
pub(crate) const REPLACE: u8 = 9;
/// Updates the checksums.
pub(crate) const SEAL: u8 = 10;

/// Runs a script.
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

/// Changes bytes at a place, which is inside the file unless that is empty.
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
        // Bytes that a disk lost: the beginning, the middle or the end of a sector.
        7 => bytes[at..end].fill(if operand.is_multiple_of(2) { 0 } else { 0xff }),
        // Replaces one number by another.
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
