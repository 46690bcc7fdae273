//! Small whole files: written beside, synced, renamed into place, and checked when read.
//!
//! **Invariant.** A file written here is either the old one or the new one, never a part; what
//! [`read_sealed`] returns is what [`write_sealed`] was given.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::JobsError;

/// Bytes of magic, version and checksum around the content.
const SEAL_BYTES: usize = 12;

/// Writes `content` behind a magic word and in front of a CRC-32 of both.
pub(crate) fn write_sealed(path: &Path, magic: [u8; 8], content: &[u8]) -> Result<(), JobsError> {
    let mut bytes = Vec::with_capacity(content.len() + SEAL_BYTES);
    bytes.extend_from_slice(&magic);
    bytes.extend_from_slice(content);
    let sum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    write_whole(path, &bytes)
}

/// Reads what [`write_sealed`] wrote; `None` where there is no such file.
pub(crate) fn read_sealed(path: &Path, magic: [u8; 8]) -> Result<Option<Vec<u8>>, JobsError> {
    let mut bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(JobsError::io(path)(error)),
    };
    let damaged = |offset: usize, what: &'static str| JobsError::Damaged {
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

/// The error of a file that begins with `magic` but for the last byte of that, which is its version.
pub(crate) fn other_version(path: &Path, bytes: &[u8], magic: [u8; 8]) -> Option<JobsError> {
    let [word @ .., expected] = magic;
    let (&found, path) = (bytes.get(word.len())?, path.to_owned());
    (bytes.starts_with(&word) && found != expected).then_some(JobsError::Version {
        path,
        found,
        expected,
    })
}

/// What a stage makes again is as good as absent.
pub(crate) fn made_again<T: Default>(read: Result<T, JobsError>) -> Result<T, JobsError> {
    match read {
        Err(JobsError::Version { .. }) => Ok(T::default()),
        read => read,
    }
}

/// Writes beside `path`, syncs, and renames into place.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), JobsError> {
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
        // Best effort: what matters is the error that is on its way up.
        drop(fs::remove_file(&beside));
        JobsError::Io { path: path.to_owned(), source }
    })
}

/// Removes a file that may not be there.
pub(crate) fn remove(path: &Path) -> Result<(), JobsError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(JobsError::io(path)(error)),
        _ => Ok(()),
    }
}
