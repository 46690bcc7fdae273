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
//! **Memory.** For each signature of the buffer sixteen bytes, and of the store: half a kibibyte of its
//! cache, and 128 bytes in each of its write buffers, one open and at most four on their way to disk.
//! The store has no less than a mebibyte for each. Its indexes come to a few bits a key.
//!
//! **Durability.** A commit is synced, atomic and numbered, and `sieve.state` says which the last one
//! was. [`LsmSieve::open`] finds the sieve exactly as it was at the last commit, which is the last
//! sync or later, whenever the process or the machine died. A store that forgot a commit, as one
//! does whose journal was damaged, is refused.
//!
//! **Invariant.** A signature is in the buffer or in the store if and only if its key waits or was
//! emitted. The store knows a signature only together with the part of the queue that holds its
//! key.
//!
//! **Reference.** P. O'Neil et al., "The log-structured merge-tree", Acta Informatica 33(4), 1996.

use std::fs;
use std::path::{Path, PathBuf};

use fjall::config::PartitioningPolicy;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use xxhash_rust::xxh3::xxh3_128;

use crate::frontier::{Frontier, Span};
use crate::header::{self, Kind, damaged, io_failed};
use crate::set::SignatureSet;
use crate::{Sieve, SieveError, Signature, Stats, expected_collisions, snapshot};

/// A commit takes memory for each signature, so it has no more than these.
const COMMIT_KEYS_MAX: usize = 1 << 16;
/// Of the store's cache for each key of a commit.
const CACHE_BYTES_A_KEY: u64 = 512;
/// Of a write buffer for each key of a commit: room for nearly two commits.
const MEMTABLE_BYTES_A_KEY: u64 = 128;
const STORE_BYTES_MIN: u64 = 1 << 20;
const JOURNAL_BYTES_MAX: u64 = 128 << 20;
/// The folder of the store.
const STORE_NAME: &str = "lsm";
/// Shorter than a signature; among them, so that the store cannot lose these without it.
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
    /// New since the last commit.
    young: SignatureSet,
    frontier: Frontier,
    offered: u64,
    emitted: u64,
    known: u64,
    /// How many commits there were.
    commits: u64,
}

impl LsmSieve {
    /// An empty sieve with its files in `dir`; those of an earlier one are removed. A commit takes
    /// place every `buffer_keys` new keys at the latest.
    pub fn create(dir: &Path, buffer_keys: usize) -> Result<Self, SieveError> {
        fs::create_dir_all(dir).map_err(io_failed("create", dir))?;
        // The store goes first: without it the state of before is refused.
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

    /// The sieve in `dir` as it was at its last commit, empty if that never was; a new one if there
    /// is none.
    pub fn open(dir: &Path, buffer_keys: usize) -> Result<Self, SieveError> {
        let Some(numbers) = snapshot::read(dir, Kind::Lsm)? else {
            return Self::create(dir, buffer_keys);
        };
        let &[commits_min] = numbers.as_slice() else {
            return Err(damaged(&dir.join(snapshot::NAME), header::LEN, "it is not a state"));
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
        // A filter in one piece does not fit in the cache, and would be read again for each lookup.
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
        let frontier = Frontier::open(dir, Span { start, end })?;
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

/// Holds what the store at a path has written of its keyspaces against the sums that it keeps of that and does not look at:
/// at some damage there it would panic, and again where it is dropped.
fn check_versions(store: &Path) -> Result<(), SieveError> {
    let Ok(keyspaces) = fs::read_dir(store.join("keyspaces")) else { return Ok(()) };
    for keyspace in keyspaces.flatten() {
        // What is not there, or too short, the store misses itself.
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
