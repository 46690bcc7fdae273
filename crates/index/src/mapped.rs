//! A file of the index, mapped into memory and verified where it is touched.
//!
//! Opening reads the footer and the first chunk, whatever the size of the file; each further chunk
//! is verified before the first of its bytes is handed out, and never again. The layout is in
//! `envelope.rs`.
//!
//! **Invariant.** [`MappedFile::bytes`] hands out only bytes that are what was written; what
//! [`MappedFile::eight_verified_before`] has more than was asked for, its caller masks.

use crate::IndexError;
use crate::envelope::{CHUNK_BYTES, HEADER_BYTES, Kind, MAGIC, Stamp, TAIL_BYTES, VERSION};
use codes::prefetch::prefetch;
use memmap2::Mmap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a line of memory, which are fetched together.
const LINE_BYTES: usize = 64;

/// One file, open for reading.
#[derive(Debug)]
pub(crate) struct MappedFile {
    path: PathBuf,
    map: Mmap,
    body_bytes: usize,
    /// One bit a chunk: set once it has been verified.
    verified: Box<[AtomicU64]>,
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
        let map = map(&file).map_err(IndexError::io(path))?;
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

    /// The error for what is wrong at a byte of the payload.
    pub(crate) fn damaged(&self, payload_offset: usize, what: &'static str) -> IndexError {
        let offset = (payload_offset as u64).saturating_add(HEADER_BYTES as u64);
        IndexError::Damaged { file: self.path.clone(), offset, what }
    }

    fn verify_chunk(&self, chunk: usize) -> Result<(), IndexError> {
        if self.is_verified(chunk) {
            return Ok(());
        }
        let start = chunk * CHUNK_BYTES;
        let bytes = &self.map[start..self.body_bytes.min(start + CHUNK_BYTES)];
        if crc32fast::hash(bytes) != u32_at(&self.map, self.body_bytes + 4 * chunk) {
            return Err(IndexError::Damaged {
                file: self.path.clone(),
                offset: start as u64,
                what: "the checksum of this chunk does not match",
            });
        }
        self.verified[chunk / 64].fetch_or(1 << (chunk % 64), Ordering::Relaxed);
        Ok(())
    }
}

#[expect(unsafe_code, reason = "a mapping is what makes opening instant; there is no safe one")]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: a file of the index is written once, under a name that no reader knows before the
    // manifest is renamed into place, and afterwards only ever unlinked, which leaves mappings
    // whole. A mapping is undefined if someone else rewrites the file in place while we read; the
    // index folder is documented as ours alone.
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
