//! A mapped index file, verified chunk by chunk on first use.
//!
//! Opening a file verifies the footer and the first chunk. Every other chunk is verified once, before its first
//! byte is returned. The layout is in `envelope.rs`.
//!
//! Another program may truncate or change an open file. Reads do not notice that; lost pages read as zeros
//! (`sigbus.rs`). Therefore callers check [`MappedFile::intact`] after reading. It compares the length, mtime and
//! ctime of the file with those of the last check. If they differ, it verifies the footer and every chunk read so
//! far again. If all checksums match, it remembers the new metadata. If the name is gone or belongs to another
//! file, the mapping stays valid. It is verified once more, and then not again unless the name comes back.
//!
//! On systems with a coarse clock, two writes within one clock step get the same date. So a date younger than a
//! step is not trusted, and the next check verifies again. A write during a check is found by the next one. These
//! changes are not found:
//!
//! - bytes changed and restored between two checks ([`MappedFile::untouched`] reports that somebody wrote),
//! - writes through a mapping, which update the date only occasionally,
//! - writes to a file that has lost its name,
//! - a disk that changes bytes by itself.
//!
//! **Invariant.** If [`MappedFile::bytes`] returned changed bytes, the next [`MappedFile::intact`] fails, and so
//! does every later one. The changes listed above are the only exceptions. [`MappedFile::eight_verified_before`]
//! may return unverified bytes after the requested ones; its caller masks them.

use crate::IndexError;
use crate::file::envelope::{CHUNK_BYTES, HEADER_BYTES, Kind, MAGIC, Stamp, TAIL_BYTES, VERSION};
use crate::file::sigbus::Watched;
use codes::prefetch::prefetch;
use memmap2::Mmap;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;
/// Longest step of the clock that a system dates its files with.
const TICK: Duration = Duration::from_millis(20);

/// One file, open for reading.
#[derive(Debug)]
pub(crate) struct MappedFile {
    path: PathBuf,
    map: Watched,
    footer: Footer,
    /// One bit per chunk, set once the chunk has been verified.
    verified: Box<[AtomicU64]>,
    /// Metadata when the file was opened.
    opened: State,
    /// Result of the last check; never locked during a read.
    seen: Mutex<Result<Look, Change>>,
    /// Locked while chunks are verified again.
    turn: Mutex<()>,
    /// How often all verified chunks have been verified again.
    sum_count: AtomicU64,
}

/// A successful check. The next one is compared with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    /// `None` if the path no longer names this file.
    state: Option<State>,
    /// Whether any later write gets a different date.
    is_settled: bool,
}

/// Offset of the first changed byte, and a description of the change.
type Change = (usize, &'static str);

/// Metadata that changes whenever the file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    /// Identifies the file, whatever its name.
    file: FileId,
    bytes: u64,
    /// The mtime, which a writer can set back.
    written: Option<SystemTime>,
    /// The ctime, which nobody can set.
    changed: Option<SystemTime>,
}

/// Device and inode number.
type FileId = (u64, u64);

impl State {
    fn of(about: &Metadata) -> State {
        State {
            file: file_id(about),
            bytes: about.len(),
            written: about.modified().ok(),
            changed: changed(about),
        }
    }

    /// Returns whether a write at `now` or later may get the same date.
    fn is_of(&self, now: SystemTime) -> bool {
        let apart = |date| now.duration_since(date).unwrap_or_else(|ahead| ahead.duration());
        self.changed.or(self.written).is_some_and(|date| apart(date) < TICK)
    }
}

#[cfg(unix)]
fn file_id(about: &Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    (about.dev(), about.ino())
}

#[cfg(unix)]
fn changed(about: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let (seconds, nanos) = (about.ctime().try_into().ok()?, about.ctime_nsec().try_into().ok()?);
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> Option<SystemTime> {
    None
}

/// One id is enough where a mapped file can be neither truncated nor replaced.
#[cfg(not(unix))]
fn file_id(_: &Metadata) -> FileId {
    (0, 0)
}

impl MappedFile {
    /// Opens a file and checks its kind, its version and, if given, its stamp.
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

    /// Opens a file of any format version. The caller must understand the payload.
    pub(crate) fn open_of_any_version(
        path: &Path,
        kind: Kind,
        stamp: Option<Stamp>,
    ) -> Result<MappedFile, IndexError> {
        let begun = now();
        let file = File::open(path).map_err(IndexError::io(path))?;
        let about = file.metadata().map_err(IndexError::io(path))?;
        if !about.is_file() {
            let what = "it is no file: remove what is in its place";
            return Err(IndexError::Damaged { file: path.to_path_buf(), offset: 0, what });
        }
        let opened = State::of(&about);
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
            footer,
            verified: (0..words).map(|_| AtomicU64::new(0)).collect(),
            opened,
            seen: Mutex::new(Ok(Look { state: Some(opened), is_settled: !opened.is_of(begun) })),
            turn: Mutex::default(),
            sum_count: AtomicU64::new(0),
        };
        mapped.verify_chunk(0)?;
        let header = &mapped.map[..HEADER_BYTES];
        if header[..8] != MAGIC || header[8..12] != kind.letters() {
            return Err(damaged(0, "another kind of file"));
        }
        Ok(mapped)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn payload_bytes(&self) -> usize {
        self.footer.body_bytes - HEADER_BYTES
    }

    /// Returns part of the payload, verified.
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

    /// Prefetches a part of the payload: its first two cache lines and its last one. Most parts are no longer. The
    /// real length is ignored, because a branch on it would be mispredicted.
    #[inline]
    pub(crate) fn prefetch(&self, range: Range<usize>) {
        let first = range.start.saturating_add(HEADER_BYTES);
        let last = range.end.saturating_add(HEADER_BYTES - 1);
        for at in [first, first.saturating_add(LINE_BYTES), last] {
            prefetch(&self.map, at);
        }
    }

    /// Prefetches the cache line of a byte of the payload.
    #[inline]
    pub(crate) fn prefetch_line(&self, at: usize) {
        prefetch(&self.map, at.saturating_add(HEADER_BYTES));
    }

    #[inline]
    fn is_verified(&self, chunk: usize) -> bool {
        // Relaxed: the bit describes bytes that never change, and publishes nothing.
        self.verified[chunk / 64].load(Ordering::Relaxed) & 1 << (chunk % 64) != 0
    }

    /// Verifies the chunks from `first` to `last` that are not verified yet, 64 per word of the bitmap.
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

    /// Returns part of the payload that [`MappedFile::bytes`] returned before; empty if out of range.
    pub(crate) fn verified_before(&self, range: Range<usize>) -> &[u8] {
        let body = range.start + HEADER_BYTES..range.end + HEADER_BYTES;
        self.map[..self.footer.body_bytes].get(body).unwrap_or_default()
    }

    /// Returns eight bytes of the payload. The bytes that the caller uses must have been verified before. Returns
    /// zeros at the end of the file.
    #[inline]
    pub(crate) fn eight_verified_before(&self, at: usize) -> u64 {
        let rest = self.map.get(at.saturating_add(HEADER_BYTES)..);
        rest.and_then(|rest| rest.first_chunk()).map_or(0, |eight| u64::from_le_bytes(*eight))
    }

    /// Verifies the whole file, including chunks verified before.
    pub(crate) fn verify(&self) -> Result<(), IndexError> {
        footer(&self.map).map_err(|(offset, what)| self.damaged_at(offset, what))?;
        (0..self.chunk_count()).try_for_each(|chunk| self.verify_anew(chunk))
    }

    /// Checks that all bytes returned so far were valid. Fails if the file was truncated, if returned bytes have
    /// changed, or if a page could not be read.
    pub(crate) fn intact(&self) -> Result<(), IndexError> {
        // Read the clock before the metadata: a later write then gets a date that differs from every date older
        // than a tick.
        let now = now();
        let state = self.state()?;
        if let Some(known) = self.known(state) {
            return self.told(known);
        }
        let _turn = self.turn();
        // Another thread may have finished the check while this one waited.
        let found = self.known(state).unwrap_or_else(|| self.look(state, now));
        self.told(self.keep(found))
    }

    /// Like [`MappedFile::intact`], but also fails if anybody touched the file since it was opened.
    pub(crate) fn untouched(&self) -> Result<(), IndexError> {
        self.intact()?;
        let is_same = self.seen().is_ok_and(|look| look.state == Some(self.opened));
        let touched = || IndexError::Touched { file: self.path.clone() };
        is_same.then_some(()).ok_or_else(touched)
    }

    /// Like [`MappedFile::intact`], but verifies again even if the metadata has not changed. For a file that
    /// another reader found damaged.
    pub(crate) fn doubted(&self) -> Result<(), IndexError> {
        self.intact()?;
        let _turn = self.turn();
        let seen = *self.seen();
        let is_there = seen.is_ok_and(|look| look.state.is_some());
        let found = if is_there { self.sum().map_or(seen, Err) } else { seen };
        self.told(self.keep(found))
    }

    /// Returns whether the file on disk is valid at an offset. Reads it through a new descriptor: a page that the
    /// disk fails to read would be lost in the mapping.
    pub(crate) fn is_whole_at(&self, offset: u64) -> bool {
        let body_bytes = self.footer.body_bytes;
        let chunk = usize::try_from(offset).unwrap_or(usize::MAX) / CHUNK_BYTES;
        let start = chunk.saturating_mul(CHUNK_BYTES);
        let sum_of_chunk = |bytes: Vec<u8>| crc32fast::hash(&bytes);
        let Ok(footer) = self.read_anew(body_bytes..self.map.len()) else { return false };
        let (sums, crc) = footer.split_at(footer.len() - size_of::<u32>());
        let is_footer =
            crc32fast::hash(sums) == self.footer.crc && u32_at(crc, 0) == self.footer.crc;
        let end = body_bytes.min(start.saturating_add(CHUNK_BYTES));
        is_footer
            && (start >= body_bytes
                || self.read_anew(start..end).map(sum_of_chunk).ok()
                    == Some(u32_at(sums, 4 * chunk)))
    }

    fn read_anew(&self, range: Range<usize>) -> io::Result<Vec<u8>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(range.start as u64))?;
        let mut bytes = vec![0; range.len()];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns whether both are the same file on disk, untouched between the two openings.
    pub(crate) fn is_same_file(&self, other: &MappedFile) -> bool {
        self.opened == other.opened
    }

    fn seen(&self) -> MutexGuard<'_, Result<Look, Change>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self, seen: Result<Look, Change>) -> Result<(), IndexError> {
        seen.map(|_| ()).map_err(|(offset, what)| self.damaged_at(offset, what))
    }

    /// Lets one thread at a time verify chunks again, once per change.
    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the result of a check. A failure found before is kept.
    fn keep(&self, found: Result<Look, Change>) -> Result<Look, Change> {
        let mut seen = self.seen();
        if seen.is_ok() {
            *seen = found;
        }
        *seen
    }

    /// Metadata of the file; `None` if the path no longer names it.
    fn state(&self) -> Result<Option<State>, IndexError> {
        match fs::metadata(&self.path) {
            Ok(about) => Ok(Some(State::of(&about)).filter(|state| state.file == self.opened.file)),
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => Err(IndexError::io(&self.path)(error)),
        }
    }

    /// Returns the result of the last check if it still applies.
    fn known(&self, state: Option<State>) -> Option<Result<Look, Change>> {
        let seen = *self.seen();
        let is_new =
            |look: Look| !look.is_settled || look.state != state || self.map.lost().is_some();
        Some(seen).filter(|seen| !seen.is_ok_and(is_new))
    }

    /// Checks the file again, given its metadata and the time before they were read.
    fn look(&self, state: Option<State>, now: SystemTime) -> Result<Look, Change> {
        if let Some(State { bytes, .. }) = state.filter(|state| state.bytes < self.opened.bytes) {
            let end = usize::try_from(bytes).unwrap_or(usize::MAX);
            return Err((end, "it was cut short while it was open"));
        }
        if let Some(at) = self.map.lost() {
            return Err((at, "what is here could not be read, or was cut off for a while"));
        }
        let is_settled = state.is_none_or(|state| !state.is_of(now));
        self.sum().map_or(Ok(Look { state, is_settled }), Err)
    }

    /// Verifies the footer and all verified chunks again; returns the first change.
    fn sum(&self) -> Option<Change> {
        let what = "it was written to while it was open";
        self.sum_count.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if footer(&self.map) != Ok(self.footer) {
            return Some((self.footer.body_bytes, what));
        }
        let mut read = (0..self.chunk_count()).filter(|&chunk| self.is_verified(chunk));
        let first = read.find(|&chunk| !self.is_as_written(chunk))?;
        Some((first * CHUNK_BYTES, what))
    }

    /// Error for damage at an offset of the payload.
    pub(crate) fn damaged(&self, payload_offset: usize, what: &'static str) -> IndexError {
        self.damaged_at(payload_offset.saturating_add(HEADER_BYTES), what)
    }

    /// Error for damage at an offset of the file.
    fn damaged_at(&self, offset: usize, what: &'static str) -> IndexError {
        IndexError::Damaged { file: self.path.clone(), offset: offset as u64, what }
    }

    fn chunk_count(&self) -> usize {
        self.footer.body_bytes.div_ceil(CHUNK_BYTES)
    }

    fn verify_chunk(&self, chunk: usize) -> Result<(), IndexError> {
        if self.is_verified(chunk) { Ok(()) } else { self.verify_anew(chunk) }
    }

    /// Verifies a chunk even if it was verified before.
    fn verify_anew(&self, chunk: usize) -> Result<(), IndexError> {
        let sum_count = self.sum_count.load(Ordering::SeqCst);
        if !self.is_as_written(chunk) {
            let what = "the checksum of this chunk does not match";
            return Err(self.damaged_at(chunk * CHUNK_BYTES, what));
        }
        self.verified[chunk / 64].fetch_or(1 << (chunk % 64), Ordering::SeqCst);
        // A concurrent `sum` may have missed this chunk.
        if self.sum_count.load(Ordering::SeqCst) == sum_count {
            Ok(())
        } else {
            self.verify_anew(chunk)
        }
    }

    /// Returns whether the checksum of a chunk matches.
    fn is_as_written(&self, chunk: usize) -> bool {
        let start = chunk * CHUNK_BYTES;
        let bytes = &self.map[start..self.footer.body_bytes.min(start + CHUNK_BYTES)];
        crc32fast::hash(bytes) == u32_at(&self.map, self.footer.body_bytes + 4 * chunk)
    }
}

#[expect(unsafe_code, reason = "mapping makes opening instant; there is no safe interface")]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: an index file is written once, under a name that no reader knows before the manifest is renamed into
    // place. Later it is only unlinked, which leaves mappings whole. If another program changes the file in place,
    // readers see changed bytes, and a lost page becomes zeros (`sigbus.rs`). Unsafe code relies only on the
    // number of bytes, never on their values: text is copied, and `codes::unary_block` takes the mask and the
    // count by which it writes from one local copy. Results are returned only after `intact`.
    unsafe { Mmap::map(file) }
}

#[expect(clippy::disallowed_methods, reason = "compared with file dates of the system")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Returns whether the path no longer names the file: the file was removed, here or on the file server, or a
/// parent folder is now a file.
fn is_gone(error: &io::Error) -> bool {
    use ErrorKind::{NotADirectory, NotFound, StaleNetworkFileHandle};
    matches!(error.kind(), NotFound | NotADirectory | StaleNetworkFileHandle)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Footer {
    body_bytes: usize,
    crc: u32,
}

/// Reads and checks the footer. An error is an offset and a description.
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

/// The number at `at`, which must be in bounds.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_not_found_errors_mean_a_missing_file() {
        let is_gone_with = |code| is_gone(&io::Error::from_raw_os_error(code));
        assert!([libc::ENOENT, libc::ENOTDIR, libc::ESTALE].into_iter().all(is_gone_with));
        assert!(![libc::EACCES, libc::EIO, libc::EMFILE].into_iter().any(is_gone_with));
    }
}
