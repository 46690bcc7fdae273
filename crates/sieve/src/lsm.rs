//! [`LsmSieve`]: signatures in an embedded LSM-tree store on disk, and a queue on disk.
//!
//! What lives here: the sieve around the store `fjall`. The store provides the levels, a Bloom
//! filter for each level, the sparse index and the tombstones. What does not: the files of the
//! store, in the folder `lsm`.
//!
//! New signatures gather in memory and go to the store together, in one batch. The batch also
//! records the part of the queue that waits. It is called a *commit*. A commit takes place when the
//! buffer is full, and at each sync.
//!
//! **Memory.** Each signature of the buffer takes sixteen bytes. It also takes half a kibibyte of
//! the cache of the store, and 128 bytes in each write buffer. One write buffer is open, and at
//! most four are on their way to disk. The cache and each write buffer have at least a mebibyte.
//! The indexes of the store take a few bits a key.
//!
//! **Durability.** A commit is synced, atomic and numbered. `sieve.state` holds the number of the
//! last one. After a crash of the process or the machine, [`LsmSieve::open`] restores the sieve as
//! it was at the last commit. That commit is the last sync or later. A store that lost a commit,
//! for example through a damaged journal, is refused.
//!
//! **Invariant.** A signature is in the buffer or in the store if and only if its key waits or was
//! emitted. One commit adds a signature to the store and records the part of the queue with its
//! key.
//!
//! **Reference.** P. O'Neil et al., "The log-structured merge-tree", Acta Informatica 33(4), 1996.

use std::fs;
use std::path::{Path, PathBuf};

use fjall::config::PartitioningPolicy;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use xxhash_rust::xxh3::xxh3_128;

use crate::header::{Kind, damaged, io_failed};
use crate::pending::{PendingKeys, Span};
use crate::set::SignatureSet;
use crate::{Sieve, SieveError, Signature, Stats, expected_collisions, snapshot};

/// The most signatures in a commit, because each takes memory.
const COMMIT_KEYS_MAX: usize = 1 << 16;
/// Bytes of the store's cache for each key of a commit.
const CACHE_BYTES_A_KEY: u64 = 512;
/// Bytes of a write buffer for each key of a commit. A write buffer has room for nearly two
/// commits.
const MEMTABLE_BYTES_A_KEY: u64 = 128;
const STORE_BYTES_MIN: u64 = 1 << 20;
const JOURNAL_BYTES_MAX: u64 = 128 << 20;
/// The folder of the store.
const STORE_NAME: &str = "lsm";
/// The key of the state, which is shorter than any signature. It is in one keyspace with the
/// signatures, so that the store cannot lose the state alone or the signatures alone.
const STATE_KEY: &[u8] = b"state";
const STATE_NUMBERS: usize = 6;
/// The state before the first commit.
const NO_COMMIT: [u64; STATE_NUMBERS] = [0, 0, 0, Span::EMPTY.start, Span::EMPTY.end, 0];

/// A sieve on an LSM-tree store.
pub struct LsmSieve {
    dir: PathBuf,
    path: PathBuf,
    store: Database,
    seen: Keyspace,
    commit_keys: usize,
    /// Signatures that are new since the last commit.
    young: SignatureSet,
    frontier: PendingKeys,
    offered: u64,
    emitted: u64,
    known: u64,
    /// The number of commits.
    commits: u64,
}

impl LsmSieve {
    /// Creates an empty sieve with its files in `dir`. Files of an earlier sieve there are removed.
    /// A commit takes place after at most `buffer_keys` new keys.
    pub fn create(dir: &Path, buffer_keys: usize) -> Result<Self, SieveError> {
        fs::create_dir_all(dir).map_err(io_failed("create", dir))?;
        // The store is removed first: an old state without its store is refused.
        let path = dir.join(STORE_NAME);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io_failed("remove", &path)(error));
            }
            _ => {}
        }
        snapshot::write(dir, Kind::Lsm, [0])?;
        Self::open(dir, buffer_keys)
    }

    /// Opens the sieve in `dir` as it was at its last commit; a sieve that never had a commit is
    /// empty. If `dir` has no sieve, a new one is created.
    pub fn open(dir: &Path, buffer_keys: usize) -> Result<Self, SieveError> {
        let Some(numbers) = snapshot::read(dir, Kind::Lsm)? else {
            return Self::create(dir, buffer_keys);
        };
        let &[commits_min] = numbers.as_slice() else {
            return Err(damaged(&dir.join(snapshot::NAME), snapshot::START, "it is not a state"));
        };
        let path = dir.join(STORE_NAME);
        let failed = || failed("open", &path);
        let commit_keys = buffer_keys.clamp(1, COMMIT_KEYS_MAX);
        let bytes = |a_key: u64| (commit_keys as u64 * a_key).max(STORE_BYTES_MIN);
        check_versions(&path)?;
        let store = Database::builder(&path)
            .cache_size(bytes(CACHE_BYTES_A_KEY))
            .max_journaling_size(JOURNAL_BYTES_MAX)
            .worker_threads(1)
            .open()
            .map_err(failed())?;
        let memtable_bytes = bytes(MEMTABLE_BYTES_A_KEY);
        // A filter in one piece does not fit in the cache, and each lookup would read it again.
        let options = || {
            KeyspaceCreateOptions::default()
                .max_memtable_size(memtable_bytes)
                .filter_block_partitioning_policy(PartitioningPolicy::all(true))
                .index_block_partitioning_policy(PartitioningPolicy::all(true))
        };
        let seen = store.keyspace("seen", options).map_err(failed())?;
        let bytes = seen.get(STATE_KEY).map_err(failed())?;
        let decoded = bytes.map_or(Some(NO_COMMIT), |bytes| decode_state(&bytes));
        let [offered, emitted, known, start, end, commits] =
            decoded.ok_or_else(|| damaged(&path, 0, "the state in the store is not one"))?;
        if commits < commits_min {
            return Err(damaged(&path, 0, "the store has forgotten a commit"));
        }
        let frontier = PendingKeys::open(dir, Span { start, end })?;
        let (dir, young) = (dir.to_path_buf(), SignatureSet::default());
        Ok(Self {
            dir,
            path,
            store,
            seen,
            commit_keys,
            young,
            frontier,
            offered,
            emitted,
            known,
            commits,
        })
    }

    fn commit(&mut self) -> Result<(), SieveError> {
        let waiting = self.frontier.sync()?;
        let mut batch = self.store.batch().durability(Some(PersistMode::SyncAll));
        for signature in self.young.iter() {
            batch.insert(&self.seen, signature.0.to_be_bytes(), []);
        }
        let numbers: [u64; STATE_NUMBERS] =
            [self.offered, self.emitted, self.known, waiting.start, waiting.end, self.commits + 1];
        batch.insert(&self.seen, STATE_KEY, numbers.map(u64::to_le_bytes).concat());
        batch.commit().map_err(failed("write", &self.path))?;
        self.young.clear();
        self.commits += 1;
        snapshot::write(&self.dir, Kind::Lsm, [self.commits])?;
        self.frontier.synced(waiting)
    }
}

impl Sieve for LsmSieve {
    fn offer_signed(&mut self, signature: Signature, key: &[u8]) -> Result<(), SieveError> {
        if self.young.len() >= self.commit_keys {
            self.commit()?;
        }
        let known = self.young.contains(signature)
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
            memory_bytes: self.young.bytes()
                + self.frontier.memory_bytes()
                + self.store.cache_size()
                + self.store.write_buffer_size(),
            disk_bytes: self.frontier.end()
                + snapshot::bytes(1)
                + self.store.disk_space().unwrap_or(0),
            ..Stats::default()
        }
    }
}

/// Decodes the numbers of a commit.
fn decode_state(bytes: &[u8]) -> Option<[u64; STATE_NUMBERS]> {
    let (numbers, []) = bytes.as_chunks() else { return None };
    let numbers: [[u8; 8]; STATE_NUMBERS] = numbers.try_into().ok()?;
    Some(numbers.map(u64::from_le_bytes))
}

/// The error for a call that the store refused.
fn failed(action: &'static str, path: &Path) -> impl FnOnce(fjall::Error) -> SieveError {
    let path = path.to_path_buf();
    move |source| SieveError::Store { action, path, source: Box::new(source) }
}

/// Compares the current version file of each keyspace with the checksum that the store keeps of it.
/// The store itself does not check it. Some damage in that file would make the store panic, at
/// opening and again when it is dropped.
fn check_versions(store: &Path) -> Result<(), SieveError> {
    let Ok(keyspaces) = fs::read_dir(store.join("keyspaces")) else { return Ok(()) };
    for keyspace in keyspaces.flatten() {
        // The store itself reports files that are missing or too short.
        let Ok(current) = fs::read(keyspace.path().join("current")) else { continue };
        let Some((number, rest)) = current.split_first_chunk() else { continue };
        let version = keyspace.path().join(format!("v{}", u64::from_le_bytes(*number)));
        let (Some(sum), Ok(bytes)) = (rest.first_chunk(), fs::read(&version)) else { continue };
        if xxh3_128(&bytes) != u128::from_le_bytes(*sum) {
            return Err(damaged(&version, 0, "it is not what the store has written"));
        }
    }
    Ok(())
}
