//! What the writer asks of the file system.
//!
//! What lives here: six operations and the system's own way of doing them. They are behind a trait so
//! that the tests can make the *n*-th of them fail; nothing else implements it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

pub(crate) trait Disk {
    /// Creates a file that does not exist, for appending and reading.
    fn create(&mut self, path: &Path) -> io::Result<File>;
    /// Appends some of `bytes` and says how many.
    fn append(&mut self, file: &mut File, bytes: &[u8]) -> io::Result<usize>;
    /// Cuts the file to `length` bytes.
    fn cut(&mut self, file: &File, length: u64) -> io::Result<()>;
    /// Returns when the file's bytes are on the medium.
    fn sync(&mut self, file: &File) -> io::Result<()>;
    /// Returns when the folder's names are on the medium.
    fn sync_dir(&mut self, dir: &Path) -> io::Result<()>;
    /// Puts `from` in the place of `to`, at once.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;

    /// Appends all of `bytes`, in one piece if the system takes it.
    fn append_all(&mut self, file: &mut File, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.append(file, bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The system's file system.
pub(crate) struct System;

impl Disk for System {
    fn create(&mut self, path: &Path) -> io::Result<File> {
        OpenOptions::new().append(true).read(true).create_new(true).open(path)
    }

    fn append(&mut self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        file.write(bytes)
    }

    fn cut(&mut self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }

    fn sync(&mut self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    fn sync_dir(&mut self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
}
