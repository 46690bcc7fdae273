//! [`OfflineSieve`]: only sorted files on disk, and a buffer of fixed size in memory.
//!
//! What lives here: three sets and the way of a key between them. *Z* holds the seen signatures, in
//! immutable sorted runs (`levels.rs`). Signatures of Z that are in no run yet are *young* and stay
//! in memory. *A* holds the keys encountered since the last merge: the keys in a file (`keys.rs`),
//! signature and position in memory. *F*, the frontier, holds new keys that wait for a flush, in a
//! file (`pending.rs`).
//!
//! **The way of a key.** Without runs, the young signatures are all seen signatures. A small sieve
//! therefore decides at once and writes only new keys. With runs, a key joins A until the next
//! merge.
//!
//! **A merge** sorts A by signature and keeps the first encountered of equal ones. It drops the
//! young signatures and those in runs. It reads each run once from front to end, and only blocks
//! that can matter. It then copies the remaining keys to F, in order of first encounter, and makes
//! their signatures young.
//!
//! A merge takes place when the buffer is full, and at each flush. If the buffer was full and the
//! young fill more than half of it after the merge, they become a run. A merge makes no random
//! lookups on disk: runs are read in the order of the signatures. It also walks through the young
//! in that order, since a cache miss costs more than a place in a sort. Only a sieve without runs
//! looks up each key by itself, among the young.
//!
//! **Memory.** A and the young together have at most `buffer_keys` entries. Each key of A takes
//! sixteen bytes, and each young signature eleven to sixteen. Each new key takes eight bytes while
//! it is copied. Each 4096 signatures of Z take sixteen bytes. Buffers for files take about a
//! megabyte at most.
//!
//! **Durability.** [`Sieve::sync`] turns the young into a run and brings runs and F to disk. It
//! then replaces `sieve.state`, which names them. After a crash of the process or the machine,
//! [`OfflineSieve::open`] restores the sieve as it was at the last sync.
//!
//! **Invariant.** A signature is young or in a run, never both, if and only if its key is in F or
//! was emitted. A failed merge changes neither the signatures of Z nor F. It leaves A, without the
//! repetitions, to the next merge. One error comes after a complete merge: the disk space of A
//! could not be released, and the file is longer than necessary.
//!
//! **Reference.** A. Heydon, M. Najork, "Mercator: a scalable, extensible web crawler", World Wide
//! Web 2(4), 1999; P. Boldi et al., "`BUbiNG`: massive crawling for the masses", ACM Transactions
//! on the Web 12(2), 2018, for the order of first encounter.

use std::fs;
use std::path::{Path, PathBuf};

use crate::header::{self, Kind, damaged, io_failed};
use crate::keys::KeyFile;
use crate::levels::{Levels, Names};
use crate::pending::{PendingKeys, Span};
use crate::run::Entry;
use crate::set::SignatureSet;
use crate::{Sieve, SieveError, Signature, Stats, expected_collisions, radix, snapshot};

/// A sieve that keeps on disk all but a buffer of fixed size.
#[derive(Debug)]
pub struct OfflineSieve {
    dir: PathBuf,
    buffer_keys: usize,
    /// Known signatures that are in no run yet.
    young: SignatureSet,
    /// The keys of A.
    buffer: Vec<Entry>,
    encountered: KeyFile,
    seen: Levels,
    frontier: PendingKeys,
    offered: u64,
    emitted: u64,
    state_bytes: u64,
}

impl OfflineSieve {
    /// Creates an empty sieve with its files in `dir`. The folder is created if it is missing.
    /// Files of an earlier sieve there are removed, other files stay. A merge takes place after at
    /// most `buffer_keys` offers (at least one). Each of them costs about forty bytes of memory.
    pub fn create(dir: &Path, buffer_keys: usize) -> Result<Self, SieveError> {
        fs::create_dir_all(dir).map_err(io_failed("create", dir))?;
        let numbers = [0, 0, Span::EMPTY.start, Span::EMPTY.end, 0];
        let state_bytes = snapshot::write(dir, Kind::Offline, numbers)?;
        let (seen, frontier) = (Levels::create(dir)?, PendingKeys::create(dir)?);
        Ok(Self { state_bytes, ..Self::with(dir, buffer_keys, seen, frontier)? })
    }

    /// Opens the sieve in `dir` as it was at its last sync; a sieve that was never synced is empty.
    /// If `dir` has no sieve, a new one is created.
    pub fn open(dir: &Path, buffer_keys: usize) -> Result<Self, SieveError> {
        let Some(numbers) = snapshot::read(dir, Kind::Offline)? else {
            return Self::create(dir, buffer_keys);
        };
        let torn = || damaged(&dir.join(snapshot::NAME), snapshot::START, "it is not a state");
        let [offered, emitted, start, end, next, runs @ ..] = numbers.as_slice() else {
            return Err(torn());
        };
        let (runs, []) = runs.as_chunks() else { return Err(torn()) };
        let named = |&[level, number]: &[u64; 2]| Some((usize::try_from(level).ok()?, number));
        let runs: Option<Vec<_>> = runs.iter().map(named).collect();
        let runs = runs.filter(|runs| runs.iter().all(|&(level, _)| level < LEVELS_MAX));
        let names = Names { next: *next, runs: runs.ok_or_else(torn)? };
        let seen = Levels::open(dir, &names)?;
        let frontier = PendingKeys::open(dir, Span { start: *start, end: *end })?;
        let sieve = Self::with(dir, buffer_keys, seen, frontier)?;
        let state_bytes = snapshot::bytes(numbers.len());
        Ok(Self { offered: *offered, emitted: *emitted, state_bytes, ..sieve })
    }

    fn with(
        dir: &Path,
        buffer_keys: usize,
        seen: Levels,
        frontier: PendingKeys,
    ) -> Result<Self, SieveError> {
        Ok(Self {
            dir: dir.to_path_buf(),
            buffer_keys: buffer_keys.max(1),
            young: SignatureSet::default(),
            buffer: Vec::new(),
            encountered: KeyFile::create(dir.join("encountered.keys"), Kind::Encountered)?,
            seen,
            frontier,
            offered: 0,
            emitted: 0,
            state_bytes: 0,
        })
    }

    /// Finds the new keys of A and appends them to F.
    fn merge(&mut self) -> Result<(), SieveError> {
        // If an earlier merge failed, its level still has too many runs.
        self.seen.merge()?;
        if self.buffer.is_empty() {
            return Ok(());
        }
        radix::sort(&mut self.buffer, |entry| entry.signature);
        self.buffer.dedup_by(|next, first| {
            let repeats = next.signature == first.signature;
            if repeats {
                first.position = first.position.min(next.position);
            }
            repeats
        });
        self.buffer.retain(|entry| !self.young.contains(Signature(entry.signature)));
        self.seen.mark_seen(&mut self.buffer)?;
        self.buffer.retain(|entry| entry.position != Entry::SEEN);
        let frontier_end = self.frontier.end();
        if let Err(error) = self.copy_keys() {
            self.frontier.truncate(frontier_end);
            return Err(error);
        }
        for entry in self.buffer.drain(..) {
            self.young.insert(Signature(entry.signature));
        }
        self.encountered.clear()
    }

    /// Appends the keys of the buffer to F, in order of first encounter.
    fn copy_keys(&mut self) -> Result<(), SieveError> {
        let mut positions: Vec<_> = self.buffer.iter().map(|entry| entry.position).collect();
        radix::sort(&mut positions, |&position| position);
        let mut keys = self.encountered.reader(header::LEN)?;
        for position in positions {
            keys.skip_to(position)?;
            let key = keys.next_key()?.expect("the buffer holds positions of keys in A");
            self.frontier.append(key)?;
        }
        Ok(())
    }

    /// Makes a run of the young signatures; no run has any of them yet.
    fn age(&mut self) -> Result<(), SieveError> {
        if self.young.is_empty() {
            return Ok(());
        }
        self.seen.add(self.young.iter())?;
        self.young.clear();
        self.seen.merge()
    }

    /// Makes room for one more entry, and never reserves more than `buffer_keys` entries.
    fn reserve(&mut self) {
        if self.buffer.len() == self.buffer.capacity() {
            let more = self.buffer.len().max(64).min(self.buffer_keys - self.buffer.len());
            self.buffer.reserve_exact(more);
        }
    }
}

/// More levels than any disk has room for.
const LEVELS_MAX: usize = 64;

impl Sieve for OfflineSieve {
    fn offer_signed(&mut self, signature: Signature, key: &[u8]) -> Result<(), SieveError> {
        if self.young.len() + self.buffer.len() >= self.buffer_keys {
            self.merge()?;
            // The merge has removed repetitions. A small run is not worth its merges.
            if self.young.len() > self.buffer_keys / 2 {
                self.age()?;
            }
        }
        if !self.seen.is_empty() {
            self.reserve();
            let position = self.encountered.append(key)?;
            self.buffer.push(Entry { signature: signature.0, position });
        } else if !self.young.contains(signature) {
            self.frontier.append(key)?;
            self.young.insert(signature);
        }
        self.offered += 1;
        Ok(())
    }

    fn flush(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), SieveError> {
        self.merge()?;
        self.frontier.emit(&mut self.emitted, emit)
    }

    fn is_prompt(&self) -> bool {
        self.buffer.is_empty()
    }

    fn sync(&mut self) -> Result<(), SieveError> {
        self.merge()?;
        self.age()?;
        let names = self.seen.sync()?;
        let waiting = self.frontier.sync()?;
        let numbers = [self.offered, self.emitted, waiting.start, waiting.end, names.next];
        let runs = names.runs.iter().flat_map(|&(level, number)| [level as u64, number]);
        self.state_bytes =
            snapshot::write(&self.dir, Kind::Offline, numbers.into_iter().chain(runs))?;
        self.seen.synced()?;
        self.frontier.synced(waiting)
    }

    fn stats(&self) -> Stats {
        let seen = self.seen.total() + self.young.len() as u64;
        let buffer_bytes = (self.buffer.capacity() * size_of::<Entry>()) as u64;
        Stats {
            offered: self.offered,
            emitted: self.emitted,
            seen,
            expected_collisions: expected_collisions(seen),
            memory_bytes: buffer_bytes
                + self.young.bytes()
                + self.encountered.memory_bytes()
                + self.frontier.memory_bytes()
                + self.seen.memory_bytes(),
            disk_bytes: self.encountered.end()
                + self.frontier.end()
                + self.seen.disk_bytes()
                + self.state_bytes,
            ..Stats::default()
        }
    }
}
