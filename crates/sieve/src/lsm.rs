//! [`LsmSieve`]: signatures in an embedded LSM-tree store on disk, and a queue on disk (S4).
//!
//! What lives here: the sieve around the store `fjall`, whose own are the levels, the Bloom filter a
//! level, the sparse index and the tombstones. What does not: the store's files, in the folder
//! `lsm`.
//!
//! Signatures that are new gather in memory and go to the store together, in one batch that also
//! says which part of the queue waits: a *commit*. It takes place when they are as many as the
//! buffer may hold, and at each sync.
//!
//! **Memory.** The store's cache and its write buffers, both limited, its indexes, and up to
//! twenty-one bytes for each signature of the buffer.
//!
//! **Durability.** A commit is synced and atomic. [`LsmSieve::open`] finds the sieve exactly as it
//! was at the last commit, which is the last sync or later, whenever the process or the machine
//! died.
//!
//! **Invariant.** A signature is in the buffer or in the store if and only if its key waits or was
//! emitted. The store knows a signature only together with the part of the queue that holds its
//! key.
//!
//! **Reference.** P. O'Neil et al., "The log-structured merge-tree", Acta Informatica 33(4), 1996.

use std::fs;
use std::path::{Path, PathBuf};

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use crate::frontier::{Frontier, Span};
use crate::header::{damaged, io_failed};
use crate::set::{self, SignatureSet};
use crate::{Sieve, SieveError, Signature, Stats, expected_collisions};

/// A commit takes memory for each signature, so it has no more than these.
const COMMIT_KEYS_MAX: usize = 1 << 16;
const CACHE_BYTES: u64 = 32 << 20;
const MEMTABLE_BYTES: u64 = 16 << 20;
const JOURNAL_BYTES_MAX: u64 = 128 << 20;
const STATE_KEY: &[u8] = b"state";
const STATE_NUMBERS: usize = 5;

/// A sieve on an LSM-tree store.
pub struct LsmSieve {
    path: PathBuf,
    store: Database,
    seen: Keyspace,
    state: Keyspace,
    commit_keys: usize,
    /// New since the last commit.
    young: SignatureSet,
    frontier: Frontier,
    offered: u64,
    emitted: u64,
    known: u64,
}

impl LsmSieve {
    /// An empty sieve with its files in `dir`; those of an earlier one are removed. A commit takes
    /// place every `buffer_keys` new keys at the latest.
    pub fn create(dir: &Path, buffer_keys: usize) -> Result<Self, SieveError> {
        let path = dir.join("lsm");
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(io_failed("remove", &path)(error))
            }
            _ => Self::open(dir, buffer_keys),
        }
    }

    /// The sieve in `dir` as it was at its last commit; an empty one if there was none.
    pub fn open(dir: &Path, buffer_keys: usize) -> Result<Self, SieveError> {
        let path = dir.join("lsm");
        fs::create_dir_all(dir).map_err(io_failed("create", dir))?;
        let failed = || failed("open", &path);
        let store = Database::builder(&path)
            .cache_size(CACHE_BYTES)
            .max_journaling_size(JOURNAL_BYTES_MAX)
            .worker_threads(1)
            .open()
            .map_err(failed())?;
        let options = || KeyspaceCreateOptions::default().max_memtable_size(MEMTABLE_BYTES);
        let seen = store.keyspace("seen", options).map_err(failed())?;
        let state = store.keyspace("state", options).map_err(failed())?;
        let mut numbers = [0; STATE_NUMBERS];
        let frontier = match state.get(STATE_KEY).map_err(failed())? {
            Some(bytes) => {
                numbers = decode_state(&bytes)
                    .ok_or_else(|| damaged(&path, 0, "the state in the store is not one"))?;
                let [_, _, _, start, end] = numbers;
                Frontier::open(dir, Span { start, end })?
            }
            None => Frontier::create(dir)?,
        };
        let [offered, emitted, known, ..] = numbers;
        let commit_keys = buffer_keys.clamp(1, COMMIT_KEYS_MAX);
        let young = SignatureSet::default();
        Ok(Self { path, store, seen, state, commit_keys, young, frontier, offered, emitted, known })
    }

    fn commit(&mut self) -> Result<(), SieveError> {
        let waiting = self.frontier.sync()?;
        let mut batch = self.store.batch().durability(Some(PersistMode::SyncAll));
        for signature in &self.young {
            batch.insert(&self.seen, signature.0.to_be_bytes(), []);
        }
        let numbers: [u64; STATE_NUMBERS] =
            [self.offered, self.emitted, self.known, waiting.start, waiting.end];
        batch.insert(&self.state, STATE_KEY, numbers.map(u64::to_le_bytes).concat());
        batch.commit().map_err(failed("write", &self.path))?;
        self.young.clear();
        self.frontier.synced(waiting)
    }
}

impl Sieve for LsmSieve {
    fn offer_signed(&mut self, signature: Signature, key: &[u8]) -> Result<(), SieveError> {
        if self.young.len() >= self.commit_keys {
            self.commit()?;
        }
        let known = self.young.contains(&signature)
            || self
                .seen
                .contains_key(signature.0.to_be_bytes())
                .map_err(failed("read", &self.path))?;
        if !known {
            self.frontier.append(key)?;
            self.young.insert(signature);
            self.known += 1;
        }
        self.offered += 1;
        Ok(())
    }

    fn flush(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), SieveError> {
        self.frontier.emit(&mut self.emitted, emit)
    }

    fn is_prompt(&self) -> bool {
        true
    }

    fn sync(&mut self) -> Result<(), SieveError> {
        self.commit()
    }

    fn stats(&self) -> Stats {
        Stats {
            offered: self.offered,
            emitted: self.emitted,
            seen: self.known,
            expected_collisions: expected_collisions(self.known),
            memory_bytes: set::bytes(&self.young)
                + self.frontier.memory_bytes()
                + self.store.cache_size()
                + self.store.write_buffer_size(),
            disk_bytes: self.frontier.end() + self.store.disk_space().unwrap_or(0),
            ..Stats::default()
        }
    }
}

/// The numbers of a commit.
fn decode_state(bytes: &[u8]) -> Option<[u64; STATE_NUMBERS]> {
    let (numbers, []) = bytes.as_chunks() else { return None };
    let numbers: [[u8; 8]; STATE_NUMBERS] = numbers.try_into().ok()?;
    Some(numbers.map(u64::from_le_bytes))
}

/// The error for what the store refused.
fn failed(action: &'static str, path: &Path) -> impl FnOnce(fjall::Error) -> SieveError {
    let path = path.to_path_buf();
    move |source| SieveError::Store { action, path, source: Box::new(source) }
}
