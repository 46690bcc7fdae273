//! Small files that are replaced at once or not at all.
//!
//! What lives here: [`replace`], for all that the crawl notes in its folder. What does not: what stands in them, and the
//! checksum that most of them have (`sealed.rs`).
//!
//! **Invariant.** Under its name is what was there or what is new, whole, also after a power cut; when [`replace`] returns,
//! what is new. A kill leaves a file beside it that ends with `.tmp`, which the next one overwrites.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Puts `text` in the place of what the file says.
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
