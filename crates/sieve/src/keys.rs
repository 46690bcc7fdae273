//! [`KeyFile`]: keys on disk, in the order in which they were appended.
//!
//! What lives here: the file of A and the file of F (`docs/formats/sieve.md`), each key with its
//! length and checksum. What does not: signatures; a key is found by its position only.
//!
//! **Invariant.** The contents are the first `written` bytes of the file and then `pending`. Bytes
//! on disk after `written` are not part of them. A failed write changes neither, so it can be tried
//! again. Each key is either in the file or in `pending` as a whole.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::header::{self, Kind, damaged, io_failed, open_failed, read_failed};
use crate::{KEY_BYTES_MAX, SieveError};

/// Appended bytes wait in memory until they are this many.
const PENDING_BYTES_MAX: usize = 1 << 16;

/// Length and checksum before each key.
const HEAD_BYTES: usize = 8;

/// An append-only file of keys.
#[derive(Debug)]
pub(crate) struct KeyFile {
    path: PathBuf,
    kind: Kind,
    file: File,
    written: u64,
    pending: Vec<u8>,
}

impl KeyFile {
    /// A file without keys; what was at `path` is gone.
    pub(crate) fn create(path: PathBuf, kind: Kind) -> Result<Self, SieveError> {
        let file = header::create(kind, &path)?;
        Ok(Self { path, kind, file, written: header::LEN, pending: Vec::new() })
    }

    /// The file at `path` as it was when it was `end` bytes long; keys are read from `start` on.
    pub(crate) fn open(
        path: PathBuf,
        kind: Kind,
        start: u64,
        end: u64,
    ) -> Result<Self, SieveError> {
        let file = File::options().read(true).write(true).open(&path);
        let file = file.map_err(|error| open_failed(error, &path))?;
        header::check(&mut &file, kind, &path)?;
        let len = file.metadata().map_err(io_failed("read", &path))?.len();
        if len < end || start > end || start < header::LEN {
            return Err(damaged(&path, len.min(end), "the file ends too early"));
        }
        file.set_len(end).map_err(io_failed("write", &path))?;
        Ok(Self { path, kind, file, written: end, pending: Vec::new() })
    }

    /// Where the next key will begin: the length of the file.
    pub(crate) fn end(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        self.pending.capacity() as u64
    }

    /// Appends `key` and returns its position.
    pub(crate) fn append(&mut self, key: &[u8]) -> Result<u64, SieveError> {
        assert!(key.len() <= KEY_BYTES_MAX, "a key of {} bytes reached the disk", key.len());
        if self.pending.len() >= PENDING_BYTES_MAX {
            self.write_out()?;
        }
        let position = self.end();
        let len = u32::try_from(key.len()).expect("at most KEY_BYTES_MAX").to_le_bytes();
        self.pending.extend_from_slice(&len);
        self.pending.extend_from_slice(&checksum(len, key).to_le_bytes());
        self.pending.extend_from_slice(key);
        Ok(position)
    }

    /// Forgets what was appended from `end` on.
    pub(crate) fn truncate(&mut self, end: u64) {
        assert!((header::LEN..=self.end()).contains(&end), "a file cannot be cut at {end}");
        if let Some(pending) = end.checked_sub(self.written) {
            self.pending.truncate(usize::try_from(pending).expect("a part of `pending`"));
        } else {
            self.pending.clear();
            self.written = end;
        }
    }

    /// Forgets every key and gives the disk back.
    pub(crate) fn clear(&mut self) -> Result<(), SieveError> {
        let was_written = self.written > header::LEN;
        self.truncate(header::LEN);
        if was_written {
            self.file.set_len(header::LEN).map_err(io_failed("write", &self.path))?;
        }
        Ok(())
    }

    /// Brings all keys safely to disk.
    pub(crate) fn sync(&mut self) -> Result<(), SieveError> {
        self.write_out()?;
        self.file.sync_data().map_err(io_failed("sync", &self.path))
    }

    /// Reads the keys that are there now, from the one at `start` on.
    pub(crate) fn reader(&mut self, start: u64) -> Result<KeyReader<'_>, SieveError> {
        let mut input = None;
        if start < self.written {
            let mut file = &self.file;
            file.seek(SeekFrom::Start(0)).map_err(io_failed("read", &self.path))?;
            header::check(&mut file, self.kind, &self.path)?;
            let mut buffered = BufReader::with_capacity(PENDING_BYTES_MAX, file);
            buffered.seek(SeekFrom::Start(start)).map_err(io_failed("read", &self.path))?;
            input = Some(buffered);
        }
        let (path, written, pending) = (&*self.path, self.written, &*self.pending);
        Ok(KeyReader { path, input, written, pending, position: start, key: Vec::new() })
    }

    fn write_out(&mut self) -> Result<(), SieveError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.file
            .seek(SeekFrom::Start(self.written))
            .and_then(|_| self.file.write_all(&self.pending))
            .map_err(io_failed("write", &self.path))?;
        self.written = self.end();
        self.pending.clear();
        Ok(())
    }
}

/// Reads keys forwards: first those on disk, then those that are still in memory.
#[derive(Debug)]
pub(crate) struct KeyReader<'a> {
    path: &'a Path,
    /// The file at `position`, unless `position` is after its end.
    input: Option<BufReader<&'a File>>,
    written: u64,
    pending: &'a [u8],
    position: u64,
    key: Vec<u8>,
}

impl KeyReader<'_> {
    /// Where the next key begins.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Goes forward to the key at `position`.
    pub(crate) fn skip_to(&mut self, position: u64) -> Result<(), SieveError> {
        let distance = position.checked_sub(self.position).expect("keys are read forwards");
        let distance = i64::try_from(distance).expect("a file is shorter than 2⁶³ bytes");
        if let Some(input) = self.input.as_mut().filter(|_| position < self.written) {
            input.seek_relative(distance).map_err(io_failed("read", self.path))?;
        }
        self.position = position;
        Ok(())
    }

    /// The next key, or `None` at the end.
    pub(crate) fn next_key(&mut self) -> Result<Option<&[u8]>, SieveError> {
        if let Some(at) = self.position.checked_sub(self.written) {
            return Ok(self.next_pending(usize::try_from(at).expect("a part of `pending`")));
        }
        let start = self.position;
        let mut head = [0; HEAD_BYTES];
        self.fill(&mut head)?;
        let (len, expected) = split(head);
        let key_bytes = u32::from_le_bytes(len) as usize;
        if key_bytes > KEY_BYTES_MAX {
            return Err(damaged(self.path, start, "a key too long to be one"));
        }
        let mut key = std::mem::take(&mut self.key);
        key.resize(key_bytes, 0);
        self.fill(&mut key)?;
        self.key = key;
        if checksum(len, &self.key) != expected {
            return Err(damaged(self.path, start, "the checksum of the key does not match"));
        }
        self.position = start + (HEAD_BYTES + key_bytes) as u64;
        Ok(Some(&self.key))
    }

    /// The key at `at` in memory, which nobody can have damaged.
    fn next_pending(&mut self, at: usize) -> Option<&[u8]> {
        let (head, rest) = self.pending[at..].split_first_chunk()?;
        let (len, _) = split(*head);
        let key = &rest[..u32::from_le_bytes(len) as usize];
        self.position += (HEAD_BYTES + key.len()) as u64;
        Some(key)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), SieveError> {
        let input = self.input.as_mut().expect("a position in the file");
        input.read_exact(bytes).map_err(|error| read_failed(error, self.path, self.position))
    }
}

/// Length and checksum of a key.
fn split(head: [u8; HEAD_BYTES]) -> ([u8; 4], u32) {
    let [l0, l1, l2, l3, checksum @ ..] = head;
    ([l0, l1, l2, l3], u32::from_le_bytes(checksum))
}

fn checksum(len: [u8; 4], key: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&len);
    hasher.update(key);
    hasher.finalize()
}
