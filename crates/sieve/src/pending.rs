//! [`PendingKeys`]: the set F, new keys that wait for a flush, in a file.
//!
//! What lives here: the file, the end of its emitted part, and the part that the last sync relies
//! on. What does not: the decision which keys are new.
//!
//! **Invariant.** The keys up to `emitted_end` were emitted in order, each once. Nothing before
//! `synced_end` is overwritten until a later sync makes it unnecessary. So keys that waited at the
//! last sync still wait after a crash.

use std::path::Path;

use crate::SieveError;
use crate::header::{self, Kind};
use crate::keys::KeyFile;

/// The name of the file in the folder of its sieve.
pub(crate) const NAME: &str = "pending.keys";

/// The keys that wait.
#[derive(Debug)]
pub(crate) struct PendingKeys {
    keys: KeyFile,
    emitted_end: u64,
    synced_end: u64,
}

/// The part of the file that waited at a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Span {
    /// Nothing waits.
    pub(crate) const EMPTY: Self = Self { start: header::LEN, end: header::LEN };
}

impl PendingKeys {
    /// Creates a frontier without keys. Keys of an earlier sieve in `dir` are lost.
    pub(crate) fn create(dir: &Path) -> Result<Self, SieveError> {
        let keys = KeyFile::create(dir.join(NAME), Kind::PendingKeys)?;
        Ok(Self { keys, emitted_end: header::LEN, synced_end: header::LEN })
    }

    /// Opens the keys in `dir` that waited at a sync. If no key waited, the file is emptied.
    pub(crate) fn open(dir: &Path, waiting: Span) -> Result<Self, SieveError> {
        if waiting == Span::EMPTY {
            return Self::create(dir);
        }
        let keys = KeyFile::open(dir.join(NAME), Kind::PendingKeys, waiting.start, waiting.end)?;
        Ok(Self { keys, emitted_end: waiting.start, synced_end: waiting.end })
    }

    pub(crate) fn append(&mut self, key: &[u8]) -> Result<(), SieveError> {
        self.keys.append(key).map(|_| ())
    }

    pub(crate) fn end(&self) -> u64 {
        self.keys.end()
    }

    /// Removes the keys that were appended from `end` on.
    pub(crate) fn truncate(&mut self, end: u64) {
        self.keys.truncate(end);
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        self.keys.memory_bytes()
    }

    /// Hands the waiting keys to `emit` and adds their number to `emitted`.
    pub(crate) fn emit(
        &mut self,
        emitted: &mut u64,
        emit: &mut dyn FnMut(&[u8]),
    ) -> Result<(), SieveError> {
        if self.emitted_end == self.keys.end() {
            return Ok(());
        }
        let mut keys = self.keys.reader(self.emitted_end)?;
        while let Some(key) = keys.next_key()? {
            emit(key);
            self.emitted_end = keys.position();
            *emitted += 1;
        }
        self.emitted_end = self.synced_end;
        if self.synced_end == header::LEN {
            return self.keys.clear();
        }
        self.keys.truncate(self.synced_end);
        Ok(())
    }

    /// Brings the waiting keys safely to disk and returns their part of the file. The caller writes
    /// a snapshot that names it, and then calls [`PendingKeys::synced`].
    pub(crate) fn sync(&mut self) -> Result<Span, SieveError> {
        if self.emitted_end == self.keys.end() {
            return Ok(Span::EMPTY);
        }
        self.keys.sync()?;
        Ok(Span { start: self.emitted_end, end: self.keys.end() })
    }

    /// Releases the part that only the snapshot before relied on. Call it once a snapshot names
    /// `waiting`.
    pub(crate) fn synced(&mut self, waiting: Span) -> Result<(), SieveError> {
        self.synced_end = waiting.end;
        if waiting == Span::EMPTY {
            self.emitted_end = header::LEN;
            self.keys.clear()?;
        }
        Ok(())
    }
}
