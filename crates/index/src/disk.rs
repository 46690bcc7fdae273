//! The one place from which the crate changes the disk.
//!
//! What lives here: creating, locking, writing, syncing, renaming and removing, each counted, so that a
//! test can make the *n*-th one fail and look at what is left. What does not: what the bytes mean
//! (`envelope.rs`), and reading.
//!
//! **Invariant.** A call that fails here has either done nothing or left something that no
//! manifest names.

use crate::IndexError;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The disk, and which of the calls to it shall fail: none, unless said otherwise.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    /// The calls that fail, counted from zero over all clones.
    pub(crate) failing: Range<u64>,
    /// How many there have been.
    pub(crate) calls: Arc<AtomicU64>,
}

impl Disk {
    pub(crate) fn create_folder(&self, path: &Path) -> Result<(), IndexError> {
        self.call(path, || fs::create_dir_all(path))
    }

    pub(crate) fn create_file(&self, path: &Path) -> Result<File, IndexError> {
        self.call(path, || File::create(path))
    }

    /// Opens a file, which need not be there before, and takes its lock; `None` if somebody else
    /// has it. The lock ends with the file, however the process ends.
    pub(crate) fn lock(&self, path: &Path) -> Result<Option<File>, IndexError> {
        self.call(path, || {
            let file = File::options().create(true).truncate(false).write(true).open(path)?;
            match file.try_lock() {
                Ok(()) => Ok(Some(file)),
                Err(TryLockError::WouldBlock) => Ok(None),
                Err(TryLockError::Error(error)) => Err(error),
            }
        })
    }

    pub(crate) fn write(
        &self,
        path: &Path,
        file: &mut File,
        bytes: &[u8],
    ) -> Result<(), IndexError> {
        self.call(path, || file.write_all(bytes))
    }

    /// Returns when the contents of a file, or the names in a folder, are on the disk.
    pub(crate) fn sync(&self, path: &Path) -> Result<(), IndexError> {
        self.call(path, || File::open(path)?.sync_all())
    }

    /// Puts `from` in the place of `to`, at once.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<(), IndexError> {
        self.call(to, || fs::rename(from, to))
    }

    /// Removes a file, or a folder with everything in it.
    pub(crate) fn remove(&self, path: &Path) -> Result<(), IndexError> {
        self.call(path, || {
            let is_folder = fs::symlink_metadata(path)?.is_dir();
            if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) }
        })
    }

    fn call<T>(&self, path: &Path, act: impl FnOnce() -> io::Result<T>) -> Result<T, IndexError> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let outcome =
            if self.failing.contains(&call) { Err(io::Error::other("set to fail")) } else { act() };
        outcome.map_err(IndexError::io(path))
    }
}
