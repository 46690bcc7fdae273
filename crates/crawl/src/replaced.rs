//! Atomic replacement of small files.
//!
//! What lives here: [`replace`], for every small state file of the crawl. What does not: the contents, and the
//! checksum that most of the files have (`sealed.rs`).
//!
//! **Invariant.** The file has its old or its new contents in full, also after a power cut; after [`replace`]
//! returns, the new contents. A kill may leave a `.tmp` file beside it, which the next call overwrites.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Atomically replaces the contents of the file at `path` with `text`.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".tmp");
    let beside = PathBuf::from(beside);
    let mut file = File::create(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    File::open(path.parent().unwrap_or(path))?.sync_all()
}
