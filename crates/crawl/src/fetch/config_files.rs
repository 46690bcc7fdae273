//! Files that the configuration names: `tls_roots` and `cookies_file`.
//!
//! What lives here: reading such a file. What does not: its format.
//!
//! **Invariant.** Only a regular file is opened, and at most [`BYTES_MAX`] bytes of it are read. An endless file
//! or a pipe is refused at once. A byte-order mark is removed.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// Maximum bytes of such a file: hundreds of times the size of all root certificates of browsers.
const BYTES_MAX: u64 = 64 << 20;

/// The byte-order mark of UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a file in full; an error describes the reason.
pub(super) fn read_config_file(path: &Path) -> Result<Vec<u8>, String> {
    let name = path.display();
    let failed = |error: io::Error| format!("{name} cannot be read: {error}");
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(format!("{name} is no regular file"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(format!("{name} has more than {BYTES_MAX} bytes"));
    }
    if bytes.starts_with(MARK) {
        bytes.drain(..MARK.len());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_limited_size_are_read() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("file");
        for (bytes, wanted) in
            [(&b"text"[..], &b"text"[..]), (b"\xEF\xBB\xBFtext", b"text"), (b"", b"")]
        {
            fs::write(&path, bytes).expect("room for a file");
            assert_eq!(read_config_file(&path).as_deref(), Ok(wanted));
        }
        let file = File::create(&path).expect("a file");
        file.set_len(BYTES_MAX + 1).expect("it takes no room");
        assert!(read_config_file(&path).is_err_and(|why| why.contains("more than")));
        for (path, why) in [
            (Path::new("/dev/zero"), "is no regular file"),
            (dir.path(), "is no regular file"),
            (&dir.path().join("none"), "cannot be read"),
        ] {
            assert!(
                read_config_file(path).is_err_and(|said| said.contains(why)),
                "{}",
                path.display()
            );
        }
    }
}
