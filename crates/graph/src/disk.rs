//! Whole files: written beside, synced, renamed into place.
//!
//! **Invariant.** A file written here is either the old one or the new one, never a part of one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::GraphError;

/// How the file that is still being written ends.
pub(crate) const BESIDE: &str = ".tmp";

/// Writes `bytes` beside `path`, syncs, and renames into place.
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
        // Best effort: what matters is the error that is on its way up.
        drop(fs::remove_file(beside));
        GraphError::Io { path: path.to_owned(), source }
    })
}

/// Returns when the names in a folder are on the disk.
pub(crate) fn sync_folder(path: &Path) -> Result<(), GraphError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(GraphError::io(path))
}

/// Reads a whole file.
pub(crate) fn read_whole(path: &Path) -> Result<Vec<u8>, GraphError> {
    fs::read(path).map_err(GraphError::io(path))
}
