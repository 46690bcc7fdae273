//! [`OfflineSieve`]: only sorted files on disk, and a buffer of fixed size in memory.
//!
//! What lives here: the three sets of S5 and the way between them. *Z*, the seen: immutable sorted
//! runs of signatures (`levels.rs`), and in memory the *young* ones, which are in no run yet. *A*,
//! the encountered since the last merge: their keys in a file (`keys.rs`), in memory signature and
//! position. *F*, the frontier: new keys that wait for a flush, in a file (`frontier.rs`).
//!
//! **The way of a key.** If there are no runs, the young are all: a small sieve answers at once
//! and writes nothing but what is new. Otherwise the key joins A until the next merge.
//!
//! **A merge** sorts A by signature and leaves of equal ones the first encountered; strikes out the
//! young, and what the runs hold, each read once from front to end and only where it can matter;
//! then copies the keys that are left, in order of first encounter, from A to F, and counts their
//! signatures among the young. It takes place when the buffer is full and at each flush. When the
//! young fill more than half of the buffer, they become a run. A merge looks nothing up at random, neither
//! on disk nor in memory: runs are read and the young are walked through in the order of the signatures,
//! since a miss of the processor's cache costs more than a place in a sort. Only as long as there are no
//! runs is each key looked up by itself, among the young, in memory.
//!
//! **Memory.** Buffer and young share the `buffer_keys`: sixteen bytes for each key of A and eleven to
//! sixteen for each young signature; eight for each new key while it is copied; sixteen for each 4096
//! signatures of Z, and about a megabyte at most for files being read and written.
//!
//! **Durability.** [`Sieve::sync`] turns the young into a run, brings runs and F to disk and then
//! replaces `sieve.state`, which names them. [`OfflineSieve::open`] finds the sieve exactly as it
//! was at the last sync, whenever the process or the machine died.
//!
//! **Invariant.** A signature is young or in a run, never both, if and only if its key is in F or was
//! emitted. A merge that fails changes neither what Z holds nor F, and leaves A, less the repetitions, to
//! the next one; but if only giving back the disk of A fails, the merge is done, and the error says that the
//! file is longer than it need be.
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
use crate::set::SignatureSet;
use crate::{Sieve, SieveError, Signature, Stats, expected_collisions, radix, snapshot};

/// A sieve that keeps on disk all but a buffer of fixed size.
#[derive(Debug)]
pub struct OfflineSieve {
    dir: PathBuf,
    buffer_keys: usize,
    /// Known, and in no run yet.
    young: SignatureSet,
    /// The keys of A.
    buffer: Vec<Entry>,
    encountered: KeyFile,
    seen: Levels,
    frontier: Frontier,
    offered: u64,
    emitted: u64,
    state_bytes: u64,
}

impl OfflineSieve {
    /// An empty sieve with its files in `dir`, which is made if it is not there. Files that an earlier
    /// sieve left there are removed, others are not touched. A merge takes place every
    /// `buffer_keys` offers at the latest (at least one), and costs some forty bytes of memory for
    /// each of them.
    pub fn create(dir: &Path, buffer_keys: usize) -> Result<Self, SieveError> {
        fs::create_dir_all(dir).map_err(io_failed("create", dir))?;
        let numbers = [0, 0, Span::EMPTY.start, Span::EMPTY.end, 0];
        let state_bytes = snapshot::write(dir, Kind::Offline, numbers)?;
        let (seen, frontier) = (Levels::create(dir)?, Frontier::create(dir)?);
        Ok(Self { state_bytes, ..Self::with(dir, buffer_keys, seen, frontier)? })
    }

    /// The sieve in `dir` as it was at its last sync, empty if that never was; a new one if there is
    /// none.
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
        let state_bytes = snapshot::bytes(numbers.len());
        Ok(Self { offered: *offered, emitted: *emitted, state_bytes, ..sieve })
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
            state_bytes: 0,
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

    /// Makes a run of the young signatures, all of which are new.
    fn age(&mut self) -> Result<(), SieveError> {
        if self.young.is_empty() {
            return Ok(());
        }
        self.seen.add(self.young.iter())?;
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
        if self.young.len() + self.buffer.len() >= self.buffer_keys {
            self.merge()?;
            // Repetitions have left. A run is worth its merges only if it is not small.
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
