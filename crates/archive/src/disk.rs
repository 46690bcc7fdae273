//! New files, if file descriptors are scarce.
//!
//! **Invariant.** If no file descriptor is free and the caller needs the file, the operation waits instead of
//! failing.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use durable::Disk;
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
pub(crate) fn patiently<T>(mut act: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..WAITS_MAX {
        match act() {
            Err(error) if is_exhausted(&error) => thread::sleep(WAIT),
            result => return result,
        }
    }
    act()
}

/// Creates a file that does not exist, for appending and reading.
pub(crate) fn create(disk: &Disk, path: &Path) -> io::Result<File> {
    disk.call(|| OpenOptions::new().append(true).read(true).create_new(true).open(path))
}

/// As [`create`], but waits for a descriptor.
pub(crate) fn create_patiently(disk: &Disk, path: &Path) -> io::Result<File> {
    patiently(|| create(disk, path))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn only_exhausted_descriptors_are_retried() {
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
