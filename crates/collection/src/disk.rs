//! Small whole files: written to a temporary file, synced, renamed, and checked when read.
//!
//! **Invariant.** A file is either the old version or the new one, never a part. [`read_sealed`] returns the bytes
//! that [`write_sealed`] wrote.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::CollectionError;

/// Bytes of magic, version and checksum around the content.
const SEAL_BYTES: usize = 12;

/// Writes the magic word, `content`, and a CRC-32 of both.
pub(crate) fn write_sealed(
    path: &Path,
    magic: [u8; 8],
    content: &[u8],
) -> Result<(), CollectionError> {
    let mut bytes = Vec::with_capacity(content.len() + SEAL_BYTES);
    bytes.extend_from_slice(&magic);
    bytes.extend_from_slice(content);
    let sum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    write_whole(path, &bytes)
}

/// Reads the content of a file that [`write_sealed`] wrote. Returns `None` if the file does not exist.
pub(crate) fn read_sealed(path: &Path, magic: [u8; 8]) -> Result<Option<Vec<u8>>, CollectionError> {
    let mut bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(CollectionError::io(path)(error)),
    };
    let damaged = |offset: usize, what: &'static str| CollectionError::Damaged {
        path: path.to_owned(),
        offset: offset as u64,
        what: what.into(),
    };
    let Some(end) = bytes.len().checked_sub(4).filter(|&end| end >= magic.len()) else {
        return Err(damaged(bytes.len(), "cut short"));
    };
    if bytes[..magic.len()] != magic {
        let what = "not the magic word of this program";
        return Err(other_version(path, &bytes, magic).unwrap_or_else(|| damaged(0, what)));
    }
    if bytes[end..] != crc32fast::hash(&bytes[..end]).to_le_bytes() {
        return Err(damaged(end, "the checksum does not match"));
    }
    bytes.truncate(end);
    bytes.drain(..magic.len());
    Ok(Some(bytes))
}

/// Returns the version error of a file whose magic word differs from `magic` in the last byte, the version.
pub(crate) fn other_version(path: &Path, bytes: &[u8], magic: [u8; 8]) -> Option<CollectionError> {
    let [word @ .., expected] = magic;
    let (&found, path) = (bytes.get(word.len())?, path.to_owned());
    (bytes.starts_with(&word) && found != expected).then_some(CollectionError::Version {
        path,
        found,
        expected,
    })
}

/// Replaces a version error by the default value, because the stage rebuilds the file.
pub fn made_again<T: Default>(read: Result<T, CollectionError>) -> Result<T, CollectionError> {
    match read {
        Err(CollectionError::Version { .. }) => Ok(T::default()),
        read => read,
    }
}

/// Writes to a temporary file next to `path`, syncs it, and renames it.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), CollectionError> {
    let beside = path.with_extension("tmp");
    let write = || -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write().map_err(|source| {
        // Best effort: the caller needs the first error.
        drop(fs::remove_file(&beside));
        CollectionError::Io { path: path.to_owned(), source }
    })
}

/// Removes a file if it exists.
pub(crate) fn remove(path: &Path) -> Result<(), CollectionError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(CollectionError::io(path)(error)),
        _ => Ok(()),
    }
}
