//! The small file that records the state of a sieve at its last sync. It is always replaced as a
//! whole.
//!
//! What lives here: numbers of 64 bits in a checked file (`durable`). What does not: the meaning of
//! the numbers; see `offline.rs`, `bloom.rs` and `lsm.rs`.
//!
//! A new sieve writes this file before all others. So a folder with other files of a sieve but
//! without this one is damaged.
//!
//! **Invariant.** The file is always either the old one or the new one, and complete, also after a
//! crash of the process or the machine. Everything that it names was synced before.

use std::fs;
use std::io;
use std::path::Path;

use durable::Fault;

use crate::SieveError;
use crate::header::{Kind, OTHER_VERSION, damaged, io_failed, open_failed};
use crate::levels;
use crate::pending;

/// The name of the file in the folder of its sieve.
pub(crate) const NAME: &str = "sieve.state";

/// The position of the first number.
pub(crate) const START: u64 = 8;

const CHECKSUM_BYTES: u64 = 4;

/// The magic word and the version of a snapshot.
fn magic(kind: Kind) -> [u8; 8] {
    let mut magic = *b"CRVSIE?\x01";
    magic[6] = kind as u8;
    magic
}

/// Replaces the snapshot in `dir` and returns its length in bytes.
pub(crate) fn write(
    dir: &Path,
    kind: Kind,
    numbers: impl IntoIterator<Item = u64>,
) -> Result<u64, SieveError> {
    let path = dir.join(NAME);
    let content: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
    durable::write_checked(&path, magic(kind), &content).map_err(io_failed("write", &path))?;
    Ok(bytes(content.len() / 8))
}

/// The length in bytes of a snapshot of `count` numbers.
pub(crate) fn bytes(count: usize) -> u64 {
    START + 8 * count as u64 + CHECKSUM_BYTES
}

/// The numbers of the snapshot in `dir`; `None` if `dir` has no files of a sieve.
pub(crate) fn read(dir: &Path, kind: Kind) -> Result<Option<Vec<u64>>, SieveError> {
    let path = dir.join(NAME);
    let content = match durable::read_checked(&path, magic(kind)) {
        Ok(content) => content,
        Err(Fault::Io(error)) if error.kind() == io::ErrorKind::NotFound && !has_files(dir)? => {
            return Ok(None);
        }
        Err(Fault::Io(error)) => return Err(open_failed(error, &path)),
        Err(Fault::Damaged { offset, what }) => return Err(damaged(&path, offset, what)),
        Err(Fault::Version { .. }) => return Err(damaged(&path, 0, OTHER_VERSION)),
    };
    match content.as_chunks() {
        (numbers, []) => Ok(Some(numbers.iter().copied().map(u64::from_le_bytes).collect())),
        _ => Err(damaged(&path, START, "not a list of numbers")),
    }
}

/// Returns whether `dir` has files of a sieve other than the snapshot. All kinds with files have a
/// frontier, and the offline kind has runs.
fn has_files(dir: &Path) -> Result<bool, SieveError> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        entries => entries.map_err(io_failed("read", dir))?,
    };
    for entry in entries {
        let name = entry.map_err(io_failed("read", dir))?.file_name();
        if name == pending::NAME || levels::is_run(&name) {
            return Ok(true);
        }
    }
    Ok(false)
}
