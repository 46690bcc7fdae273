//! The part of the frontier on disk: queues, and the rules of robots.txt.
//!
//! What lives here: [`Spill`], blocks of bytes in a few append-only files, each block with the place of the next
//! one of its queue. A queue stores two places, however long it is. What does not: the contents of a block
//! (`queue.rs`, `host/robots.rs`).
//!
//! A file is `frontier/queue-N.spill`: blocks of `next: u64, length: u32, bytes`, little endian. It is temporary:
//! every run creates its own files, and removes a file when its last block is taken.
//!
//! **Invariant.** An appended block is taken once. At most [`OPEN_MAX`] files are open, and at most
//! [`PENDING_BYTES_MAX`] bytes and one block wait in memory to be written.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crate::error::CrawlError;

/// The size of a file beyond which the next one begins.
const FILE_BYTES_MAX: usize = 32 << 20;
/// Maximum number of open files.
const OPEN_MAX: usize = 16;
/// Bytes buffered before they are written.
pub(super) const PENDING_BYTES_MAX: usize = 256 << 10;
const HEADER_BYTES: usize = 12;
/// The ratio of file size to used bytes at which the files are rewritten.
const WASTE_MAX: u64 = 4;

/// The place of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u64);

impl Place {
    /// No block.
    pub(super) const NONE: Place = Place(u64::MAX);

    fn new(file: u32, offset: usize) -> Place {
        Place(u64::from(file) << 32 | offset as u64)
    }

    fn file(self) -> u32 {
        u32::try_from(self.0 >> 32).expect("32 bits are left")
    }

    fn offset(self) -> usize {
        usize::try_from(self.0 & u64::from(u32::MAX)).expect("a file is short")
    }
}

pub(super) struct Spill {
    dir: PathBuf,
    files: BTreeMap<u32, Segment>,
    /// The file that is being appended to.
    current: u32,
    /// Its end, not written yet.
    pending: Vec<u8>,
    /// The open files, the last used one at the end.
    open: Vec<(u32, File)>,
    used_bytes: u64,
}

/// One file.
#[derive(Debug, Default)]
struct Segment {
    /// Number of blocks not taken yet.
    blocks: u32,
    /// Bytes written.
    bytes: usize,
}

impl Spill {
    /// Creates an empty spill; removes the files of an earlier run in `dir`.
    pub(super) fn create(dir: &Path) -> Result<Spill, CrawlError> {
        let failed = |source| CrawlError::Io { path: dir.to_path_buf(), source };
        for entry in fs::read_dir(dir).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.starts_with("queue-") && path.extension().is_some_and(|end| end == "spill") {
                fs::remove_file(&path).map_err(|source| CrawlError::Io { path, source })?;
            }
        }
        let files = BTreeMap::from([(0, Segment::default())]);
        let (pending, open) = (Vec::new(), Vec::new());
        Ok(Spill { dir: dir.to_path_buf(), files, current: 0, pending, open, used_bytes: 0 })
    }

    /// Returns the bytes of blocks not taken yet.
    pub(super) fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    /// Returns whether most of the files is taken blocks.
    pub(super) fn is_wasteful(&self) -> bool {
        let held: usize = self.files.values().map(|segment| segment.bytes).sum();
        held as u64 > self.used_bytes * WASTE_MAX + 4 * FILE_BYTES_MAX as u64
    }

    /// Appends a block that is followed by `next`.
    pub(super) fn append(&mut self, next: Place, bytes: &[u8]) -> Result<Place, CrawlError> {
        if self.segment(self.current).bytes + self.pending.len() > FILE_BYTES_MAX {
            self.write_pending()?;
            let full = self.current;
            self.current += 1;
            self.files.insert(self.current, Segment::default());
            self.drop_if_empty(full)?;
        } else if self.pending.len() > PENDING_BYTES_MAX {
            self.write_pending()?;
        }
        let place = Place::new(self.current, self.segment(self.current).bytes + self.pending.len());
        let length = u32::try_from(bytes.len()).expect("a block is short");
        self.pending.extend_from_slice(&next.0.to_le_bytes());
        self.pending.extend_from_slice(&length.to_le_bytes());
        self.pending.extend_from_slice(bytes);
        self.segment(self.current).blocks += 1;
        self.used_bytes += (HEADER_BYTES + bytes.len()) as u64;
        Ok(place)
    }

    /// Sets the block that follows the one at `place`.
    pub(super) fn link(&mut self, place: Place, next: Place) -> Result<(), CrawlError> {
        let next = next.0.to_le_bytes();
        if let Some(at) = self.pending_at(place) {
            self.pending[at..at + next.len()].copy_from_slice(&next);
            return Ok(());
        }
        self.with_file(place.file(), |file| {
            file.seek(SeekFrom::Start(place.offset() as u64))?;
            file.write_all(&next)
        })
    }

    /// Takes a block out; returns its bytes and the place of the next one.
    pub(super) fn take(&mut self, place: Place) -> Result<(Vec<u8>, Place), CrawlError> {
        let (header, bytes) = if let Some(at) = self.pending_at(place) {
            let header = header_of(&self.pending[at..]);
            let start = at + HEADER_BYTES;
            (header, self.pending[start..start + header.1].to_vec())
        } else {
            self.with_file(place.file(), |file| {
                file.seek(SeekFrom::Start(place.offset() as u64))?;
                let mut header = [0; HEADER_BYTES];
                file.read_exact(&mut header)?;
                let header = header_of(&header);
                if header.1 > FILE_BYTES_MAX {
                    return Err(io::Error::other("a block of a queue or of rules is damaged"));
                }
                let mut bytes = vec![0; header.1];
                file.read_exact(&mut bytes)?;
                Ok((header, bytes))
            })?
        };
        self.used_bytes -= (HEADER_BYTES + bytes.len()) as u64;
        self.segment(place.file()).blocks -= 1;
        self.drop_if_empty(place.file())?;
        Ok((bytes, header.0))
    }

    fn segment(&mut self, file: u32) -> &mut Segment {
        self.files.get_mut(&file).expect("a file with blocks is known")
    }

    /// Returns the offset of a block in the unwritten buffer.
    fn pending_at(&mut self, place: Place) -> Option<usize> {
        if place.file() != self.current {
            return None;
        }
        place.offset().checked_sub(self.segment(self.current).bytes)
    }

    fn write_pending(&mut self) -> Result<(), CrawlError> {
        let pending = std::mem::take(&mut self.pending);
        let start = self.segment(self.current).bytes;
        self.with_file(self.current, |file| {
            file.seek(SeekFrom::Start(start as u64))?;
            file.write_all(&pending)
        })?;
        self.segment(self.current).bytes += pending.len();
        self.pending = pending;
        self.pending.clear();
        Ok(())
    }

    fn drop_if_empty(&mut self, file: u32) -> Result<(), CrawlError> {
        let is_empty = self.files.get(&file).is_some_and(|segment| segment.blocks == 0);
        if !is_empty || file == self.current {
            return Ok(());
        }
        self.files.remove(&file);
        self.open.retain(|(open, _)| *open != file);
        let path = self.path(file);
        fs::remove_file(&path).map_err(|source| CrawlError::Io { path, source })
    }

    fn path(&self, file: u32) -> PathBuf {
        self.dir.join(format!("queue-{file:05}.spill"))
    }

    /// Calls `act` with a file, which is opened if necessary; another one may be closed for it.
    fn with_file<R>(
        &mut self,
        number: u32,
        act: impl FnOnce(&mut File) -> io::Result<R>,
    ) -> Result<R, CrawlError> {
        let path = self.path(number);
        let failed = |source| CrawlError::Io { path, source };
        let at = self.open.iter().position(|(open, _)| *open == number);
        let opened = if let Some(at) = at {
            self.open.remove(at).1
        } else {
            let mut options = File::options();
            options.read(true).write(true).create(true).truncate(false);
            match options.open(self.path(number)) {
                Ok(file) => file,
                Err(source) => return Err(failed(source)),
            }
        };
        if self.open.len() >= OPEN_MAX {
            self.open.remove(0);
        }
        self.open.push((number, opened));
        let (_, file) = self.open.last_mut().expect("one was pushed");
        act(file).map_err(failed)
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        for &file in self.files.keys() {
            // The file is temporary; the next run removes it.
            let _ = fs::remove_file(self.path(file));
        }
    }
}

fn header_of(bytes: &[u8]) -> (Place, usize) {
    let (next, rest) = bytes.split_first_chunk::<8>().expect("a header is whole");
    let (length, _) = rest.split_first_chunk::<4>().expect("a header is whole");
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    (Place(u64::from_le_bytes(*next)), length)
}
