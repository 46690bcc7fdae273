//! Atomic replacement of a file, and a disk that fails on request.
//!
//! **Invariant.** [`Disk::publish`] renames a file only after its content is synced.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most bytes that a disk with failing calls writes in one call.
const PIECE_BYTES: usize = 200;

/// The file system. Clones share the count of calls.
///
/// Every operation that changes the disk is a call. A test chooses the calls that fail, and then checks the files.
/// A disk with failing calls does not sync, because a test does not need a medium.
#[derive(Clone, Debug)]
pub struct Disk {
    failing: Range<u64>,
    error: fn() -> io::Error,
    calls: Arc<AtomicU64>,
}

impl Default for Disk {
    /// A disk without failing calls.
    fn default() -> Self {
        Disk::failing(0..0)
    }
}

impl Disk {
    /// Creates a disk that is full during the given calls, counted from zero.
    pub fn failing(calls: Range<u64>) -> Self {
        Disk::failing_with(calls, || io::ErrorKind::StorageFull.into())
    }

    /// Creates a disk on which the given calls return an error, counted from zero.
    pub fn failing_with(calls: Range<u64>, error: fn() -> io::Error) -> Self {
        Disk { failing: calls, error, calls: Arc::default() }
    }

    /// The number of calls so far.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Performs one operation, or fails in its place.
    pub fn call<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        if self.failing.contains(&call) { Err((self.error)()) } else { act() }
    }

    /// Creates an empty file, or empties an existing one.
    pub fn create(&self, path: &Path) -> io::Result<File> {
        self.call(|| File::create(path))
    }

    /// Appends bytes to a file. If the call fails, a part of the bytes is written.
    pub fn write_all(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        if self.failing.is_empty() {
            return file.write_all(bytes);
        }
        bytes.chunks(PIECE_BYTES).try_for_each(|piece| {
            self.call(|| Ok(())).or_else(|error| {
                file.write_all(&piece[..piece.len() / 2])?;
                Err(error)
            })?;
            file.write_all(piece)
        })
    }

    /// Syncs a file, or the names in a folder.
    pub fn sync(&self, path: &Path) -> io::Result<()> {
        self.call(|| if self.failing.is_empty() { File::open(path)?.sync_all() } else { Ok(()) })
    }

    /// Syncs the content of an open file.
    pub fn sync_data(&self, file: &File) -> io::Result<()> {
        self.call(|| if self.failing.is_empty() { file.sync_data() } else { Ok(()) })
    }

    /// Renames a file, and replaces the file at `to`.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(|| fs::rename(from, to))
    }

    /// Syncs a finished temporary file, renames it to `path`, and syncs the folder. Removes it on error.
    pub fn publish(&self, temporary: &Path, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let published = self
            .sync(temporary)
            .and_then(|()| self.rename(temporary, path))
            .and_then(|()| self.sync(folder.unwrap_or(Path::new("."))));
        published.inspect_err(|_| self.remove(temporary))
    }

    /// Replaces a file by the bytes that `write` writes. Removes the temporary file on error.
    pub fn replace_with<T, E: From<io::Error>>(
        &self,
        path: &Path,
        write: impl FnOnce(&mut File) -> Result<T, E>,
    ) -> Result<T, E> {
        let temporary = beside(path);
        let mut file = self.create(&temporary)?;
        let value = write(&mut file).inspect_err(|_| self.remove(&temporary))?;
        self.publish(&temporary, path)?;
        Ok(value)
    }

    /// Removes a temporary file after an error. The caller returns that error, not one of the removal.
    fn remove(&self, temporary: &Path) {
        drop(self.call(|| fs::remove_file(temporary)));
    }
}

/// The name of the temporary file for `path`: its name and `.tmp`.
pub fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".tmp");
    name.into()
}

/// Replaces a file by the bytes that `write` writes, as [`Disk::replace_with`] does.
pub fn replace_with<T, E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, E> {
    Disk::default().replace_with(path, write)
}

/// Replaces a file by `bytes`.
pub fn replace(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    replace_with(path, |file| file.write_all(bytes.as_ref()))
}
