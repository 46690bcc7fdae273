//! [`Frontier`]: the set F, new keys that wait for a flush, in a file.
//!
//! What lives here: the file, how far it was emitted, and which part of it the last sync relies on.
//! What does not: which keys are new.
//!
//! **Invariant.** Emitted are the keys up to `emitted_end`, in order, each once. Nothing before
//! `synced_end` is written over until a later sync no longer needs it: after a kill the keys that
//! waited at the last sync still wait.

use std::path::Path;

use crate::SieveError;
use crate::header::{self, Kind};
use crate::keys::KeyFile;

/// The name of the file in the folder of its sieve.
pub(crate) const NAME: &str = "frontier.keys";

/// The keys that wait.
#[derive(Debug)]
pub(crate) struct Frontier {
    keys: KeyFile,
    emitted_end: u64,
    synced_end: u64,
}

/// Which part of the file waited at a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Span {
    /// Nothing waits.
    pub(crate) const EMPTY: Self = Self { start: header::LEN, end: header::LEN };
}

impl Frontier {
    /// No keys; those of an earlier sieve in `dir` are gone.
    pub(crate) fn create(dir: &Path) -> Result<Self, SieveError> {
        let keys = KeyFile::create(dir.join(NAME), Kind::Frontier)?;
        Ok(Self { keys, emitted_end: header::LEN, synced_end: header::LEN })
    }

    /// The keys in `dir` that waited at a sync. If none did, what the file holds is of no use.
    pub(crate) fn open(dir: &Path, waiting: Span) -> Result<Self, SieveError> {
        if waiting == Span::EMPTY {
            return Self::create(dir);
        }
        let keys = KeyFile::open(dir.join(NAME), Kind::Frontier, waiting.start, waiting.end)?;
        Ok(Self { keys, emitted_end: waiting.start, synced_end: waiting.end })
    }

    pub(crate) fn append(&mut self, key: &[u8]) -> Result<(), SieveError> {
        self.keys.append(key).map(|_| ())
    }

    pub(crate) fn end(&self) -> u64 {
        self.keys.end()
    }

    /// Takes back what was appended from `end` on.
    pub(crate) fn truncate(&mut self, end: u64) {
        self.keys.truncate(end);
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        self.keys.memory_bytes()
    }

    /// Hands the keys out that wait, and counts them.
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

    /// Brings what waits safely to disk. A snapshot that names the answer may be written next, and
    /// then [`Frontier::synced`] is called.
    pub(crate) fn sync(&mut self) -> Result<Span, SieveError> {
        if self.emitted_end == self.keys.end() {
            return Ok(Span::EMPTY);
        }
        self.keys.sync()?;
        Ok(Span { start: self.emitted_end, end: self.keys.end() })
    }

    /// A snapshot names `waiting`, so what the one before relied on is free.
    pub(crate) fn synced(&mut self, waiting: Span) -> Result<(), SieveError> {
        self.synced_end = waiting.end;
        if waiting == Span::EMPTY {
            self.emitted_end = header::LEN;
            self.keys.clear()?;
        }
        Ok(())
    }
}
