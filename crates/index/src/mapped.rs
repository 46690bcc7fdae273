//! A file of the index, mapped into memory and verified where it is touched.
//!
//! Opening reads the footer and the first chunk, whatever the size of the file; each further chunk
//! is verified before the first of its bytes is handed out, and never again. The layout is in
//! `envelope.rs`.
//!
//! A file that somebody cuts short or writes to while it is open changes under whoever reads it; what can no longer be
//! read are zeros (`faults.rs`). None of that is noticed by reading: it is asked for afterwards, of the length and the
//! date that the file has under its name ([`MappedFile::intact`]). A file that has been removed, or replaced by
//! another, is mapped as it was, and nobody asks any more whether it was written to before.
//!
//! **Invariant.** [`MappedFile::bytes`] hands out only bytes that are what was written, or else
//! [`MappedFile::intact`] fails from then on; what [`MappedFile::eight_verified_before`] has more than was asked for, its
//! caller masks.

use crate::IndexError;
use crate::envelope::{CHUNK_BYTES, HEADER_BYTES, Kind, MAGIC, Stamp, TAIL_BYTES, VERSION};
use crate::faults::Watched;
use codes::prefetch::prefetch;
use memmap2::Mmap;
use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Bytes of a line of memory, which are fetched together.
const LINE_BYTES: usize = 64;

/// One file, open for reading.
#[derive(Debug)]
pub(crate) struct MappedFile {
    path: PathBuf,
    map: Watched,
    body_bytes: usize,
    /// One bit a chunk: set once it has been verified.
    verified: Box<[AtomicU64]>,
    /// What it was when it was opened.
    opened: State,
    /// The first byte that is not as it was then, and what became of it, once that is known.
    change: OnceLock<(u64, &'static str)>,
}

/// What the system says of a file: another one as soon as anybody writes to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    /// Which file it is, whatever its name.
    file: FileId,
    bytes: u64,
    written: Option<SystemTime>,
}

/// Device and number on it.
type FileId = (u64, u64);

impl State {
    fn of(about: &Metadata) -> State {
        State { file: file_id(about), bytes: about.len(), written: about.modified().ok() }
    }
}

#[cfg(unix)]
fn file_id(about: &Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    (about.dev(), about.ino())
}

/// Where a file that is mapped can be neither cut nor replaced, there is only one.
#[cfg(not(unix))]
fn file_id(_: &Metadata) -> FileId {
    (0, 0)
}

impl MappedFile {
    /// Opens a file and checks that it is of that kind and of this version and, if a stamp is given, the one stamped.
    pub(crate) fn open(
        path: &Path,
        kind: Kind,
        stamp: Option<Stamp>,
    ) -> Result<MappedFile, IndexError> {
        let mapped = MappedFile::open_of_any_version(path, kind, stamp)?;
        let version = u32_at(&mapped.map, 12);
        if version != VERSION {
            return Err(IndexError::Version {
                file: path.to_path_buf(),
                found: version,
                expected: VERSION,
            });
        }
        Ok(mapped)
    }

    /// The same of any version: what the payload means is another matter.
    pub(crate) fn open_of_any_version(
        path: &Path,
        kind: Kind,
        stamp: Option<Stamp>,
    ) -> Result<MappedFile, IndexError> {
        let file = File::open(path).map_err(IndexError::io(path))?;
        let opened = State::of(&file.metadata().map_err(IndexError::io(path))?);
        let map = Watched::new(map(&file).map_err(IndexError::io(path))?);
        let damaged = |offset: usize, what| IndexError::Damaged {
            file: path.to_path_buf(),
            offset: offset as u64,
            what,
        };
        let footer = footer(&map).map_err(|(offset, what)| damaged(offset, what))?;
        let found = Stamp { file_bytes: map.len() as u64, footer_crc: footer.crc };
        if stamp.is_some_and(|stamp| stamp != found) {
            return Err(damaged(footer.body_bytes, "not the file that the manifest names"));
        }
        let words = footer.body_bytes.div_ceil(CHUNK_BYTES).div_ceil(64);
        let mapped = MappedFile {
            path: path.to_path_buf(),
            map,
            body_bytes: footer.body_bytes,
            verified: (0..words).map(|_| AtomicU64::new(0)).collect(),
            opened,
            change: OnceLock::new(),
        };
        mapped.verify_chunk(0)?;
        let header = &mapped.map[..HEADER_BYTES];
        if header[..8] != MAGIC || header[8..12] != kind.letters() {
            return Err(damaged(0, "another kind of file"));
        }
        Ok(mapped)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How long the payload is.
    pub(crate) fn payload_bytes(&self) -> usize {
        self.body_bytes - HEADER_BYTES
    }

    /// A part of the payload, verified.
    #[inline]
    pub(crate) fn bytes(&self, range: Range<usize>) -> Result<&[u8], IndexError> {
        if range.start > range.end || range.end > self.payload_bytes() {
            return Err(self.damaged(range.start, "the payload ends before what it should hold"));
        }
        let body = range.start + HEADER_BYTES..range.end + HEADER_BYTES;
        if !body.is_empty() {
            let (first, last) = (body.start / CHUNK_BYTES, (body.end - 1) / CHUNK_BYTES);
            if first != last || !self.is_verified(first) {
                self.verify_chunks(first, last)?;
            }
        }
        Ok(&self.map[body])
    }

    /// Asks for the memory of a part of the payload that will be wanted soon: of its first two lines and of its last,
    /// of which there are mostly no more. How many there are is not looked at, since that cannot be foreseen.
    #[inline]
    pub(crate) fn prefetch(&self, range: Range<usize>) {
        let first = range.start.saturating_add(HEADER_BYTES);
        let last = range.end.saturating_add(HEADER_BYTES - 1);
        for at in [first, first.saturating_add(LINE_BYTES), last] {
            prefetch(&self.map, at);
        }
    }

    /// Asks for the line of memory in which a byte of the payload lies.
    #[inline]
    pub(crate) fn prefetch_line(&self, at: usize) {
        prefetch(&self.map, at.saturating_add(HEADER_BYTES));
    }

    #[inline]
    fn is_verified(&self, chunk: usize) -> bool {
        // Relaxed: the bit says something about bytes that never change, and publishes nothing.
        self.verified[chunk / 64].load(Ordering::Relaxed) & 1 << (chunk % 64) != 0
    }

    /// Verifies the chunks from `first` to `last` that have not been, of which 64 are seen at a time.
    fn verify_chunks(&self, first: usize, last: usize) -> Result<(), IndexError> {
        for word in first / 64..=last / 64 {
            let from = first.max(word * 64);
            let to = last.min(word * 64 + 63);
            let asked = (u64::MAX >> (63 - (to - from))) << (from % 64);
            let mut left = asked & !self.verified[word].load(Ordering::Relaxed);
            while left != 0 {
                self.verify_chunk(word * 64 + left.trailing_zeros() as usize)?;
                left &= left - 1;
            }
        }
        Ok(())
    }

    /// A part of the payload that [`MappedFile::bytes`] has handed out before; empty if there is none.
    pub(crate) fn verified_before(&self, range: Range<usize>) -> &[u8] {
        let body = range.start + HEADER_BYTES..range.end + HEADER_BYTES;
        self.map[..self.body_bytes].get(body).unwrap_or_default()
    }

    /// The eight bytes from a place of the payload on, of which what counts was handed out before; zeros if there are
    /// none.
    #[inline]
    pub(crate) fn eight_verified_before(&self, at: usize) -> u64 {
        let rest = self.map.get(at.saturating_add(HEADER_BYTES)..);
        rest.and_then(|rest| rest.first_chunk()).map_or(0, |eight| u64::from_le_bytes(*eight))
    }

    /// Verifies the whole file.
    pub(crate) fn verify(&self) -> Result<(), IndexError> {
        self.bytes(0..self.payload_bytes()).map(|_| ())
    }

    /// Whether all that has been handed out was as it was written: fails if the file was cut short or written to since
    /// it was opened, or could not be read.
    pub(crate) fn intact(&self) -> Result<(), IndexError> {
        if self.change.get().is_none()
            && let Some(change) = self.look()?
        {
            // Another thread may have found another one, as good as this.
            let _ = self.change.set(change);
        }
        self.change.get().map_or(Ok(()), |&(offset, what)| {
            Err(IndexError::Damaged { file: self.path.clone(), offset, what })
        })
    }

    /// Whether this and another one are the same file on disk.
    pub(crate) fn is_same_file(&self, other: &MappedFile) -> bool {
        self.opened.file == other.opened.file
    }

    /// What has become of the file since it was opened.
    fn look(&self) -> Result<Option<(u64, &'static str)>, IndexError> {
        let now = match fs::metadata(&self.path) {
            Ok(about) => Some(State::of(&about)).filter(|now| now.file == self.opened.file),
            // A part of the path may be a file by now, too.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                None
            }
            Err(error) => return Err(IndexError::io(&self.path)(error)),
        };
        // A file that was removed or replaced is nobody's any more, and what is mapped of it stays.
        let now = now.unwrap_or(self.opened);
        let lost = self.map.lost().map(|at| at as u64);
        Ok(if now.bytes < self.opened.bytes {
            Some((now.bytes, "it was cut short while it was open"))
        } else if let Some(at) = lost {
            Some((at, "what is here could not be read, or was cut off for a while"))
        } else if now != self.opened {
            let chunks = 0..self.body_bytes.div_ceil(CHUNK_BYTES);
            let mut read = chunks.filter(|&chunk| self.is_verified(chunk));
            let first = read.find(|&chunk| !self.is_as_written(chunk)).unwrap_or(0);
            Some(((first * CHUNK_BYTES) as u64, "it was written to while it was open"))
        } else {
            None
        })
    }

    /// The error for what is wrong at a byte of the payload.
    pub(crate) fn damaged(&self, payload_offset: usize, what: &'static str) -> IndexError {
        let offset = (payload_offset as u64).saturating_add(HEADER_BYTES as u64);
        IndexError::Damaged { file: self.path.clone(), offset, what }
    }

    fn verify_chunk(&self, chunk: usize) -> Result<(), IndexError> {
        if self.is_verified(chunk) {
            return Ok(());
        }
        if !self.is_as_written(chunk) {
            return Err(IndexError::Damaged {
                file: self.path.clone(),
                offset: (chunk * CHUNK_BYTES) as u64,
                what: "the checksum of this chunk does not match",
            });
        }
        self.verified[chunk / 64].fetch_or(1 << (chunk % 64), Ordering::Relaxed);
        Ok(())
    }

    /// Whether the sum of a chunk is that of its bytes.
    fn is_as_written(&self, chunk: usize) -> bool {
        let start = chunk * CHUNK_BYTES;
        let bytes = &self.map[start..self.body_bytes.min(start + CHUNK_BYTES)];
        crc32fast::hash(bytes) == u32_at(&self.map, self.body_bytes + 4 * chunk)
    }
}

#[expect(unsafe_code, reason = "a mapping is what makes opening instant; there is no safe one")]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: a file of the index is written once, under a name that no reader knows before the
    // manifest is renamed into place, and afterwards only ever unlinked, which leaves mappings
    // whole. If someone else changes the file in place, bytes change under whoever reads them, and
    // a page that is gone becomes zeros (`faults.rs`): no unsafe code relies on what a byte says, only
    // on how many there are (text is made of copies), and answers are given only after `intact`.
    unsafe { Mmap::map(file) }
}

struct Footer {
    body_bytes: usize,
    crc: u32,
}

/// Reads and checks the footer; the error is an offset and what is wrong there.
fn footer(file: &[u8]) -> Result<Footer, (usize, &'static str)> {
    let short = (file.len(), "the file is too short to be one of an index");
    let tail = file.len().checked_sub(TAIL_BYTES).ok_or(short)?;
    let stated = u64::from_le_bytes(std::array::from_fn(|i| file[tail + i]));
    let crc = u32_at(file, tail + 8);
    let wrong =
        (tail, "the length in the footer does not match the file: cut short or overwritten");
    let body_bytes = usize::try_from(stated).map_err(|_| wrong)?;
    let table_bytes = body_bytes.div_ceil(CHUNK_BYTES) * 4;
    if body_bytes < HEADER_BYTES || body_bytes.checked_add(table_bytes) != Some(tail) {
        return Err(wrong);
    }
    if crc32fast::hash(&file[body_bytes..tail + 8]) != crc {
        return Err((body_bytes, "the checksum of the footer does not match"));
    }
    Ok(Footer { body_bytes, crc })
}

/// The number at `at`, which must lie inside.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}
