//! Atomic writing of files: write to a temporary file, sync, and rename.
//!
//! **Invariant.** A path written here has either the old or the new file, never a partial one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::GraphError;

/// The suffix of the temporary file.
pub(crate) const BESIDE: &str = ".tmp";

/// Writes `bytes` to a temporary file next to `path`, syncs it, and renames it to `path`.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), GraphError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(BESIDE);
    let beside = Path::new(&beside);
    let write = || -> io::Result<()> {
        let mut file = File::create(beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(beside, path)
    };
    write().map_err(|source| {
        // Best effort: the caller gets the error of the write.
        drop(fs::remove_file(beside));
        GraphError::Io { path: path.to_owned(), source }
    })
}

/// Syncs the directory entries of a folder to disk.
pub(crate) fn sync_folder(path: &Path) -> Result<(), GraphError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(GraphError::io(path))
}

/// Reads a whole file.
pub(crate) fn read_whole(path: &Path) -> Result<Vec<u8>, GraphError> {
    fs::read(path).map_err(GraphError::io(path))
}
