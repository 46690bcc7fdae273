//! [`KeyFile`]: keys on disk, in the order in which they were appended.
//!
//! What lives here: the file of A and the file of F (S5 of the specification), each key with its
//! length and checksum. What does not: signatures; a key is found by its position only.
//!
//! **Invariant.** The file is its first `written` bytes and then `pending`; what the disk holds
//! after `written` is nobody's. A failed write changes neither, so it can be tried again.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::header::{self, Kind, damaged, io_failed, read_failed};
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
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .map_err(io_failed("create", &path))?;
        file.write_all(&header::encode(kind)).map_err(io_failed("write", &path))?;
        Ok(Self { path, kind, file, written: header::LEN, pending: Vec::new() })
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
        self.truncate(header::LEN);
        self.file.set_len(header::LEN).map_err(io_failed("write", &self.path))
    }

    /// Reads the keys that are there now.
    pub(crate) fn reader(&mut self) -> Result<KeyReader<'_>, SieveError> {
        self.write_out()?;
        let mut input = BufReader::with_capacity(PENDING_BYTES_MAX, &self.file);
        input.seek(SeekFrom::Start(0)).map_err(io_failed("read", &self.path))?;
        header::check(&mut input, self.kind, &self.path)?;
        let end = self.written;
        Ok(KeyReader { path: &self.path, input, position: header::LEN, end, key: Vec::new() })
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

/// Reads keys forwards.
#[derive(Debug)]
pub(crate) struct KeyReader<'a> {
    path: &'a Path,
    input: BufReader<&'a File>,
    position: u64,
    end: u64,
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
        self.input.seek_relative(distance).map_err(io_failed("read", self.path))?;
        self.position = position;
        Ok(())
    }

    /// The next key, or `None` at the end.
    pub(crate) fn next_key(&mut self) -> Result<Option<&[u8]>, SieveError> {
        if self.position == self.end {
            return Ok(None);
        }
        let start = self.position;
        let mut head = [0; HEAD_BYTES];
        self.fill(&mut head)?;
        let [l0, l1, l2, l3, c0, c1, c2, c3] = head;
        let len = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        if len > KEY_BYTES_MAX {
            return Err(damaged(self.path, start, "a key too long to be one"));
        }
        let mut key = std::mem::take(&mut self.key);
        key.resize(len, 0);
        self.fill(&mut key)?;
        self.key = key;
        if checksum([l0, l1, l2, l3], &self.key) != u32::from_le_bytes([c0, c1, c2, c3]) {
            return Err(damaged(self.path, start, "the checksum of the key does not match"));
        }
        self.position = start + (HEAD_BYTES + len) as u64;
        Ok(Some(&self.key))
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), SieveError> {
        self.input.read_exact(bytes).map_err(|error| read_failed(error, self.path, self.position))
    }
}

fn checksum(len: [u8; 4], key: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&len);
    hasher.update(key);
    hasher.finalize()
}
