//! The sixteen bytes with which every sieve file begins, except the snapshot.
//!
//! What lives here: magic, kind, version and their checksum, and the errors of a file. What does
//! not: the contents after the header; see `run.rs` and `keys.rs`. The exact bytes are in `docs/formats/sieve.md`.
//!
//! **Invariant.** A file of another kind, of another version or of another program is refused by
//! its header.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use crate::SieveError;

/// The length of the header in bytes: where the contents begin.
pub(crate) const LEN: u64 = BYTES as u64;

const BYTES: usize = 16;
const MAGIC: [u8; 8] = *b"cr-sieve";
const VERSION: u8 = 3;

/// The description of a file of another version.
pub(crate) const OTHER_VERSION: &str = "another version of the program wrote it";

/// The contents of a file. The letters A, F and Z are those of `docs/formats/sieve.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Keys encountered since the last merge.
    Encountered = b'A' as isize,
    /// A Bloom filter and the state of its sieve.
    Bloom = b'B' as isize,
    /// A blocked Bloom filter and the state of its sieve.
    BlockedBloom = b'L' as isize,
    /// New keys that wait for a flush.
    PendingKeys = b'F' as isize,
    /// The number of commits that the store of an LSM sieve must have.
    #[cfg(feature = "lsm")]
    Lsm = b'M' as isize,
    /// The names of the runs of an offline sieve, and the rest of its state.
    Offline = b'O' as isize,
    /// Sorted signatures of the keys seen.
    Seen = b'Z' as isize,
}

/// The header of a file of this kind.
pub(crate) fn encode(kind: Kind) -> [u8; BYTES] {
    encode_version(kind, VERSION)
}

fn encode_version(kind: Kind, version: u8) -> [u8; BYTES] {
    let mut header = [0; BYTES];
    header[..8].copy_from_slice(&MAGIC);
    header[8] = kind as u8;
    header[9] = version;
    let checksum = crc32fast::hash(&header[..12]);
    header[12..].copy_from_slice(&checksum.to_le_bytes());
    header
}

/// Creates a file of this kind without contents. An earlier file at `path` is lost.
pub(crate) fn create(kind: Kind, path: &Path) -> Result<File, SieveError> {
    let mut options = File::options();
    let options = options.read(true).write(true).create(true).truncate(true);
    let mut file = options.open(path).map_err(io_failed("create", path))?;
    file.write_all(&encode(kind)).map_err(io_failed("write", path))?;
    Ok(file)
}

/// Reads the header of the file at `path` from `input` and checks that it is of this kind.
pub(crate) fn check(input: &mut impl io::Read, kind: Kind, path: &Path) -> Result<(), SieveError> {
    let mut found = [0; BYTES];
    input.read_exact(&mut found).map_err(|error| read_failed(error, path, 0))?;
    if found == encode(kind) {
        return Ok(());
    }
    if found == encode_version(kind, found[9]) {
        return Err(damaged(path, 0, OTHER_VERSION));
    }
    Err(damaged(path, 0, "the header is not that of this kind of file"))
}

/// The error for a file with wrong contents.
pub(crate) fn damaged(path: &Path, offset: u64, what: &'static str) -> SieveError {
    SieveError::Damaged { path: path.to_path_buf(), offset, what }
}

/// The error for a read that failed at `offset`. A file that is too short counts as damaged.
pub(crate) fn read_failed(error: io::Error, path: &Path, offset: u64) -> SieveError {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return damaged(path, offset, "the file ends too early");
    }
    io_failed("read", path)(error)
}

/// The error for a file that could not be opened. A missing file counts as damaged.
pub(crate) fn open_failed(error: io::Error, path: &Path) -> SieveError {
    if error.kind() == io::ErrorKind::NotFound {
        return damaged(path, 0, "the file is missing");
    }
    io_failed("open", path)(error)
}

/// The error for anything else that the operating system refused.
pub(crate) fn io_failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SieveError {
    let path = path.to_path_buf();
    move |source| SieveError::Io { action, path, source }
}
