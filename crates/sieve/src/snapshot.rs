//! The small file that says what a sieve was at its last sync, replaced as a whole.
//!
//! What lives here: a header, numbers of 64 bits and their CRC-32, written beside and renamed.
//! What does not: what the numbers mean; see `offline.rs` and `bloom.rs`.
//!
//! **Invariant.** At any moment the file is the old one or the new one, whole, also after the
//! process was killed or the power failed; what it speaks of was synced before.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use crate::SieveError;
use crate::header::{self, Kind, damaged, io_failed, read_failed};

/// The name of the file in the folder of its sieve.
pub(crate) const NAME: &str = "sieve.state";
const DRAFT: &str = "sieve.state.new";

/// Replaces the snapshot in `dir`.
pub(crate) fn write(
    dir: &Path,
    kind: Kind,
    numbers: impl IntoIterator<Item = u64>,
) -> Result<(), SieveError> {
    let draft = dir.join(DRAFT);
    let file = File::create(&draft).map_err(io_failed("create", &draft))?;
    write_to(file, kind, numbers).map_err(io_failed("write", &draft))?;
    fs::rename(&draft, dir.join(NAME)).map_err(io_failed("rename", &draft))?;
    sync_dir(dir)
}

fn write_to(file: File, kind: Kind, numbers: impl IntoIterator<Item = u64>) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    let mut checksum = crc32fast::Hasher::new();
    out.write_all(&header::encode(kind))?;
    for number in numbers {
        checksum.update(&number.to_le_bytes());
        out.write_all(&number.to_le_bytes())?;
    }
    out.write_all(&checksum.finalize().to_le_bytes())?;
    out.into_inner()?.sync_all()
}

/// The numbers of the snapshot in `dir`; `None` if there is none.
pub(crate) fn read(dir: &Path, kind: Kind) -> Result<Option<Vec<u64>>, SieveError> {
    let path = dir.join(NAME);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_failed("open", &path)(error)),
    };
    let bytes = file.metadata().map_err(io_failed("read", &path))?.len();
    let count = bytes.saturating_sub(header::LEN + 4) / 8;
    let mut input = BufReader::with_capacity(1 << 16, file);
    header::check(&mut input, kind, &path)?;
    let mut fill = |bytes: &mut [u8]| {
        input.read_exact(bytes).map_err(|error| read_failed(error, &path, header::LEN))
    };
    let mut checksum = crc32fast::Hasher::new();
    let mut numbers = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    for _ in 0..count {
        let mut number = [0; 8];
        fill(&mut number)?;
        checksum.update(&number);
        numbers.push(u64::from_le_bytes(number));
    }
    let mut expected = [0; 4];
    fill(&mut expected)?;
    let whole = header::LEN + 8 * count + 4 == bytes;
    if !whole || checksum.finalize() != u32::from_le_bytes(expected) {
        return Err(damaged(&path, header::LEN, "the checksum of the state does not match"));
    }
    Ok(Some(numbers))
}

/// Removes the snapshot in `dir`, if there is one: the sieve begins from nothing.
pub(crate) fn remove(dir: &Path) -> Result<(), SieveError> {
    for name in [NAME, DRAFT] {
        let path = dir.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io_failed("remove", &path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Makes the names in `dir` durable.
fn sync_dir(dir: &Path) -> Result<(), SieveError> {
    let synced = File::open(dir).and_then(|dir| dir.sync_all());
    synced.map_err(io_failed("sync", dir))
}
