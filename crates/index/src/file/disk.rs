//! All changes that this crate makes to the disk.
//!
//! What lives here: creating, locking, writing, syncing, renaming and removing. Calls are counted, so that a test
//! can make the *n*-th one fail. Reading does not live here.
//!
//! **Invariant.** A failed call has either done nothing or left files that no manifest names.

use crate::IndexError;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The disk. Tests set which calls fail; by default none does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    /// The calls that fail, counted from zero over all clones.
    pub(crate) failing: Range<u64>,
    /// Number of calls so far.
    pub(crate) calls: Arc<AtomicU64>,
}

impl Disk {
    pub(crate) fn create_folder(&self, path: &Path) -> Result<(), IndexError> {
        self.call(path, || fs::create_dir_all(path))
    }

    pub(crate) fn create_file(&self, path: &Path) -> Result<File, IndexError> {
        self.call(path, || File::create(path))
    }

    /// Opens or creates a file and locks it; `None` if another process holds the lock. The lock is released when
    /// the file is closed or the process ends.
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

    /// Syncs the contents of a file, or the names in a folder.
    pub(crate) fn sync(&self, path: &Path) -> Result<(), IndexError> {
        self.call(path, || File::open(path)?.sync_all())
    }

    /// Renames `from` to `to` atomically, replacing `to`.
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
