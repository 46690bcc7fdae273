//! Small files with a checksum: seven bytes of magic word and one of version, the content, and the CRC-32 of all bytes
//! before it, little-endian.
//!
//! **Invariant.** [`read_checked`] returns the content given to [`write_checked`], or a [`Fault`].

use std::path::Path;
use std::{fs, io};

const MAGIC_BYTES: usize = 8;
const SUM_BYTES: usize = 4;

/// The reason why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The file is missing, or the system cannot read it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file has unexpected bytes.
    #[error("damaged at byte {offset}: {what}")]
    Damaged {
        /// The position of the damage.
        offset: u64,
        /// A description of the damage.
        what: &'static str,
    },
    /// Another version of the program wrote the file.
    #[error("format version {found}, expected {expected}")]
    Version {
        /// The version in the file.
        found: u8,
        /// The version that this program reads.
        expected: u8,
    },
}

/// Replaces a file by the magic word, `content` and their checksum.
pub fn write_checked(path: &Path, magic: [u8; MAGIC_BYTES], content: &[u8]) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(MAGIC_BYTES + content.len() + SUM_BYTES);
    bytes.extend_from_slice(&magic);
    bytes.extend_from_slice(content);
    let sum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    crate::replace(path, bytes)
}

/// Reads the content of a file that [`write_checked`] wrote.
pub fn read_checked(path: &Path, magic: [u8; MAGIC_BYTES]) -> Result<Vec<u8>, Fault> {
    let mut bytes = fs::read(path)?;
    let damaged = |offset: usize, what| Err(Fault::Damaged { offset: offset as u64, what });
    if let Some(found) = other_version(&bytes, magic) {
        return Err(Fault::Version { found, expected: magic[MAGIC_BYTES - 1] });
    }
    let Some(end) = bytes.len().checked_sub(SUM_BYTES).filter(|&end| end >= MAGIC_BYTES) else {
        return damaged(bytes.len(), "cut short");
    };
    if !bytes.starts_with(&magic) {
        return damaged(0, "not the magic word of this kind of file");
    }
    if bytes[end..] != crc32fast::hash(&bytes[..end]).to_le_bytes() {
        return damaged(end, "the checksum does not match");
    }
    bytes.truncate(end);
    bytes.drain(..MAGIC_BYTES);
    Ok(bytes)
}

/// Returns the version of a file that begins with `magic` except for its last byte, the version.
pub fn other_version(bytes: &[u8], magic: [u8; MAGIC_BYTES]) -> Option<u8> {
    let [word @ .., expected] = magic;
    let found = *bytes.strip_prefix(&word)?.first()?;
    (found != expected).then_some(found)
}
