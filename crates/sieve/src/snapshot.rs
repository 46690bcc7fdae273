//! The small file that records the state of a sieve at its last sync. It is always replaced as a
//! whole.
//!
//! What lives here: a header, numbers of 64 bits and their CRC-32, written to a second file that is
//! then renamed. What does not: the meaning of the numbers; see `offline.rs`, `bloom.rs` and
//! `lsm.rs`.
//!
//! A new sieve writes this file before all others. So a folder with other files of a sieve but
//! without this one is damaged.
//!
//! **Invariant.** The file is always either the old one or the new one, and complete, also after a
//! crash of the process or the machine. Everything that it names was synced before.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use crate::SieveError;
use crate::frontier;
use crate::header::{self, Kind, damaged, io_failed, open_failed, read_failed};
use crate::levels;

/// The name of the file in the folder of its sieve.
pub(crate) const NAME: &str = "sieve.state";
const DRAFT: &str = "sieve.state.new";

const CHECKSUM_BYTES: u64 = 4;

/// Replaces the snapshot in `dir` and returns its length in bytes.
pub(crate) fn write(
    dir: &Path,
    kind: Kind,
    numbers: impl IntoIterator<Item = u64>,
) -> Result<u64, SieveError> {
    let draft = dir.join(DRAFT);
    let file = File::create(&draft).map_err(io_failed("create", &draft))?;
    let bytes = write_to(file, kind, numbers).map_err(io_failed("write", &draft))?;
    fs::rename(&draft, dir.join(NAME)).map_err(io_failed("rename", &draft))?;
    sync_dir(dir)?;
    Ok(bytes)
}

fn write_to(file: File, kind: Kind, numbers: impl IntoIterator<Item = u64>) -> io::Result<u64> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    let mut checksum = crc32fast::Hasher::new();
    let mut count = 0;
    out.write_all(&header::encode(kind))?;
    for number in numbers {
        checksum.update(&number.to_le_bytes());
        out.write_all(&number.to_le_bytes())?;
        count += 1;
    }
    out.write_all(&checksum.finalize().to_le_bytes())?;
    out.into_inner()?.sync_all()?;
    Ok(bytes(count))
}

/// The length in bytes of a snapshot of `count` numbers.
pub(crate) fn bytes(count: usize) -> u64 {
    header::LEN + 8 * count as u64 + CHECKSUM_BYTES
}

/// The numbers of the snapshot in `dir`; `None` if `dir` has no files of a sieve.
pub(crate) fn read(dir: &Path, kind: Kind) -> Result<Option<Vec<u64>>, SieveError> {
    let path = dir.join(NAME);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !has_files(dir)? => {
            return Ok(None);
        }
        Err(error) => return Err(open_failed(error, &path)),
    };
    let file_bytes = file.metadata().map_err(io_failed("read", &path))?.len();
    let count = file_bytes.saturating_sub(header::LEN + CHECKSUM_BYTES) / 8;
    let count = usize::try_from(count).map_err(|_| damaged(&path, 0, "the file is too long"))?;
    let mut input = BufReader::with_capacity(1 << 16, file);
    header::check(&mut input, kind, &path)?;
    let mut fill = |bytes: &mut [u8]| {
        input.read_exact(bytes).map_err(|error| read_failed(error, &path, header::LEN))
    };
    let mut checksum = crc32fast::Hasher::new();
    let mut numbers = Vec::with_capacity(count);
    for _ in 0..count {
        let mut number = [0; 8];
        fill(&mut number)?;
        checksum.update(&number);
        numbers.push(u64::from_le_bytes(number));
    }
    let mut expected = [0; 4];
    fill(&mut expected)?;
    if bytes(count) != file_bytes || checksum.finalize() != u32::from_le_bytes(expected) {
        return Err(damaged(&path, header::LEN, "the checksum of the state does not match"));
    }
    Ok(Some(numbers))
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
        if name == frontier::NAME || levels::is_run(&name) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes the names in `dir` durable.
fn sync_dir(dir: &Path) -> Result<(), SieveError> {
    let synced = File::open(dir).and_then(|dir| dir.sync_all());
    synced.map_err(io_failed("sync", dir))
}
