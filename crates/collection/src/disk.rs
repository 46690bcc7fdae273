//! The files of the stages that are read and written as a whole.
//!
//! **Invariant.** [`read_sealed`] returns the bytes that [`write_sealed`] wrote.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use durable::Fault;

use crate::CollectionError;

/// Replaces a file by the magic word, `content`, and a CRC-32 of both.
pub(crate) fn write_sealed(
    path: &Path,
    magic: [u8; 8],
    content: &[u8],
) -> Result<(), CollectionError> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| durable::write_checked(path, magic, content))
        .map_err(CollectionError::io(path))
}

/// Reads the content of a file that [`write_sealed`] wrote. Returns `None` if the file does not exist.
pub(crate) fn read_sealed(path: &Path, magic: [u8; 8]) -> Result<Option<Vec<u8>>, CollectionError> {
    let path_buf = path.to_owned();
    match durable::read_checked(path, magic) {
        Ok(content) => Ok(Some(content)),
        Err(Fault::Io(error)) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(Fault::Io(error)) => Err(CollectionError::io(path)(error)),
        Err(Fault::Damaged { offset, what }) => {
            Err(CollectionError::Damaged { path: path_buf, offset, what: what.into() })
        }
        Err(Fault::Version { found, expected }) => {
            Err(CollectionError::Version { path: path_buf, found, expected })
        }
    }
}

/// Replaces a version error by the default value, because the stage rebuilds the file.
pub fn made_again<T: Default>(read: Result<T, CollectionError>) -> Result<T, CollectionError> {
    match read {
        Err(CollectionError::Version { .. }) => Ok(T::default()),
        read => read,
    }
}

/// Removes a file if it exists.
pub(crate) fn remove(path: &Path) -> Result<(), CollectionError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(CollectionError::io(path)(error)),
        _ => Ok(()),
    }
}
