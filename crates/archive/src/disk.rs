//! The file system operations of the writer.
//!
//! What lives here: six operations and their implementation by the system. A trait lets the tests make the *n*-th
//! operation fail.
//!
//! **Invariant.** If no file descriptor is free and the caller needs the file, the operation waits instead of
//! failing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;

/// How long a wait for a descriptor is, and how many of them there are: a minute in all.
const WAIT: Duration = Duration::from_millis(50);
const WAITS_MAX: u32 = 1_200;

/// Returns whether the process or the system has no free file descriptor. Others may release theirs later.
pub fn is_exhausted(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::MFILE, Errno::NFILE].iter().any(|errno| code == Some(errno.raw_os_error()))
}

/// Does something again as long as no descriptor is left for it, but not for ever.
fn patiently<T>(mut act: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..WAITS_MAX {
        match act() {
            Err(error) if is_exhausted(&error) => thread::sleep(WAIT),
            result => return result,
        }
    }
    act()
}

pub(crate) trait Disk {
    /// Creates a file that does not exist, for appending and reading, or says at once why not.
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

    /// As [`Disk::create`], but waits for a descriptor.
    fn create_patiently(&mut self, path: &Path) -> io::Result<File> {
        patiently(|| self.create(path))
    }

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
        patiently(|| File::open(dir))?.sync_all()
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn only_the_want_of_descriptors_is_waited_out() {
        for (code, times) in [(24, 3), (23, 3), (28, 1), (2, 1)] {
            let asked = Cell::new(0);
            let result = patiently(|| {
                asked.set(asked.get() + 1);
                let error = io::Error::from_raw_os_error(code);
                if asked.get() < 3 { Err(error) } else { Ok(()) }
            });
            assert_eq!((asked.get(), result.is_ok()), (times, times == 3), "{code}");
        }
        assert!(!is_exhausted(&io::ErrorKind::TimedOut.into()));
    }
}
