//! [`OfflineSieve`]: only sorted files on disk, and a buffer of fixed size in memory.
//!
//! What lives here: the three sets of S5 and the way between them. *Z*, the seen: immutable sorted
//! runs of signatures (`levels.rs`), and in memory the *young* ones, which are in no run yet. *A*,
//! the encountered since the last merge: their keys in a file (`keys.rs`), in memory signature and
//! position. *F*, the frontier: new keys that wait for a flush, in a file (`frontier.rs`).
//!
//! **The way of a key.** If its signature is young, it is a repetition. If there are no runs, it is
//! new: a small sieve answers at once and writes nothing. Otherwise its key joins A, and its
//! signature the young, until the next merge.
//!
//! **A merge** sorts A by signature; strikes out what the runs hold, each read once from front to
//! end and only where it can matter; then sorts by position and copies the keys, in order of first
//! encounter, from A to F. It takes place when the buffer is full and at each flush. When the
//! buffer is full of young signatures, they are sorted and become a run.
//!
//! **Memory.** Sixteen bytes for each key of the buffer and nine to twenty-one for each young
//! signature, of which there are as many; twice eight while a run is written; sixteen for each 4096
//! signatures of Z, and about a megabyte at most for files being read and written.
//!
//! **Durability.** [`Sieve::sync`] turns the young into a run, brings runs and F to disk and then
//! replaces `sieve.state`, which names them. [`OfflineSieve::open`] finds the sieve exactly as it
//! was at the last sync, whenever the process or the machine died.
//!
//! **Invariant.** A signature is young or in a run, never both, if and only if its key is in A, in F
//! or was emitted. A merge that fails changes neither Z nor F, and leaves A to the next one.
//!
//! **Reference.** A. Heydon, M. Najork, "Mercator: a scalable, extensible web crawler", World Wide
//! Web 2(4), 1999; P. Boldi et al., "`BUbiNG`: massive crawling for the masses", ACM Transactions
//! on the Web 12(2), 2018, for the order of first encounter.

use std::fs;
use std::path::{Path, PathBuf};

use crate::frontier::{Frontier, Span};
use crate::header::{self, Kind, damaged, io_failed};
use crate::keys::KeyFile;
use crate::levels::{Levels, Names};
use crate::run::Entry;
use crate::set::{self, SignatureSet};
use crate::{Sieve, SieveError, Signature, Stats, expected_collisions, radix, snapshot};

/// A sieve that keeps on disk all but a buffer of fixed size.
#[derive(Debug)]
pub struct OfflineSieve {
    dir: PathBuf,
    buffer_keys: usize,
    young: SignatureSet,
    /// The young whose keys are in A, in order of position; while they are merged, of signature.
    buffer: Vec<Entry>,
    encountered: KeyFile,
    seen: Levels,
    frontier: Frontier,
    offered: u64,
    emitted: u64,
}

impl OfflineSieve {
    /// An empty sieve with its files in `dir`, which is made if it is not there. Files that an earlier
    /// sieve left there are removed, others are not touched. A merge takes place every
    /// `buffer_keys` offers at the latest (at least one), and costs some forty bytes of memory for
    /// each of them.
    pub fn create(dir: &Path, buffer_keys: usize) -> Result<Self, SieveError> {
        fs::create_dir_all(dir).map_err(io_failed("create", dir))?;
        snapshot::remove(dir)?;
        let (seen, frontier) = (Levels::create(dir)?, Frontier::create(dir)?);
        Self::with(dir, buffer_keys, seen, frontier)
    }

    /// The sieve in `dir` as it was at its last sync; an empty one if there was none.
    pub fn open(dir: &Path, buffer_keys: usize) -> Result<Self, SieveError> {
        let Some(numbers) = snapshot::read(dir, Kind::Offline)? else {
            return Self::create(dir, buffer_keys);
        };
        let torn = || damaged(&dir.join(snapshot::NAME), header::LEN, "it is not a state");
        let [offered, emitted, start, end, next, runs @ ..] = numbers.as_slice() else {
            return Err(torn());
        };
        let (runs, []) = runs.as_chunks() else { return Err(torn()) };
        let named = |&[level, number]: &[u64; 2]| Some((usize::try_from(level).ok()?, number));
        let runs: Option<Vec<_>> = runs.iter().map(named).collect();
        let runs = runs.filter(|runs| runs.iter().all(|&(level, _)| level < LEVELS_MAX));
        let names = Names { next: *next, runs: runs.ok_or_else(torn)? };
        let seen = Levels::open(dir, &names)?;
        let frontier = Frontier::open(dir, Span { start: *start, end: *end })?;
        let sieve = Self::with(dir, buffer_keys, seen, frontier)?;
        Ok(Self { offered: *offered, emitted: *emitted, ..sieve })
    }

    fn with(
        dir: &Path,
        buffer_keys: usize,
        seen: Levels,
        frontier: Frontier,
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
        })
    }

    /// Finds out which keys of A are new, and lets them through to F.
    fn merge(&mut self) -> Result<(), SieveError> {
        // What an earlier merge had to leave, so that a level never grows past its runs.
        self.seen.merge()?;
        if self.buffer.is_empty() {
            return Ok(());
        }
        radix::sort(&mut self.buffer, |entry| entry.signature);
        self.seen.mark_seen(&mut self.buffer)?;
        let young = &mut self.young;
        self.buffer.retain(|entry| {
            let is_new = entry.position != Entry::SEEN;
            is_new || !young.remove(&Signature(entry.signature))
        });
        radix::sort(&mut self.buffer, |entry| entry.position);
        let frontier_end = self.frontier.end();
        if let Err(error) = copy_keys(&self.buffer, &mut self.encountered, &mut self.frontier) {
            self.frontier.truncate(frontier_end);
            return Err(error);
        }
        self.buffer.clear();
        self.encountered.clear()
    }

    /// Makes a run of the young signatures, all of which are new.
    fn age(&mut self) -> Result<(), SieveError> {
        assert!(self.buffer.is_empty(), "the young are merged before they age");
        if self.young.is_empty() {
            return Ok(());
        }
        let mut signatures: Vec<_> = self.young.iter().map(|signature| signature.0).collect();
        radix::sort(&mut signatures, |&signature| signature);
        self.seen.add(&signatures)?;
        self.young.clear();
        self.seen.merge()
    }

    /// Makes room for one more entry without ever reserving more than the buffer may take.
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
        if self.young.len() >= self.buffer_keys {
            self.merge()?;
            // Repetitions have left. A run is worth its merges only if it is not small.
            if self.young.len() > self.buffer_keys / 2 {
                self.age()?;
            }
        }
        if !self.young.insert(signature) {
            self.offered += 1;
            return Ok(());
        }
        let appended = if self.seen.is_empty() {
            self.frontier.append(key)
        } else {
            self.reserve();
            let position = self.encountered.append(key);
            position.map(|position| self.buffer.push(Entry { signature: signature.0, position }))
        };
        if appended.is_err() {
            self.young.remove(&signature);
        } else {
            self.offered += 1;
        }
        appended
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
        snapshot::write(&self.dir, Kind::Offline, numbers.into_iter().chain(runs))?;
        self.seen.synced()?;
        self.frontier.synced(waiting)
    }

    fn stats(&self) -> Stats {
        let seen = self.seen.total() + (self.young.len() - self.buffer.len()) as u64;
        let buffer_bytes = (self.buffer.capacity() * size_of::<Entry>()) as u64;
        Stats {
            offered: self.offered,
            emitted: self.emitted,
            seen,
            expected_collisions: expected_collisions(seen),
            memory_bytes: buffer_bytes
                + set::bytes(&self.young)
                + self.encountered.memory_bytes()
                + self.frontier.memory_bytes()
                + self.seen.memory_bytes(),
            disk_bytes: self.encountered.end() + self.frontier.end() + self.seen.disk_bytes(),
            ..Stats::default()
        }
    }
}

/// Appends the keys of `entries`, sorted by position, to `target`.
fn copy_keys(
    entries: &[Entry],
    source: &mut KeyFile,
    target: &mut Frontier,
) -> Result<(), SieveError> {
    let mut keys = source.reader(header::LEN)?;
    for entry in entries {
        keys.skip_to(entry.position)?;
        let key = keys.next_key()?.expect("the buffer holds positions of keys in A");
        target.append(key)?;
    }
    Ok(())
}
