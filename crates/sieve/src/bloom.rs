//! [`BloomSieve`]: a Bloom filter of fixed size in memory, and a queue on disk.
//!
//! What lives here: the sieve around the two filters of `filter.rs`. What does not: exactness. A new
//! key that seems to be known is lost, at the rate that [`Stats::false_positive_rate`] estimates.
//!
//! **Memory.** The sieve holds the filter and a buffer of 64 KiB. Capacity and precision determine
//! the size of the filter. More keys than planned make the sieve less precise, not larger.
//!
//! **Durability.** [`Sieve::sync`] brings the queue to disk. It then writes the whole filter to a
//! second file and renames that file over the old one. After a crash of the process or the machine,
//! [`BloomSieve::open`] restores the sieve as it was at the last sync.
//!
//! **Invariant.** A key is in the queue if and only if it changed the filter and was not emitted
//! yet. The queue is in order of first offer. No key is emitted twice.

use std::fs;
use std::path::{Path, PathBuf};

use crate::filter::{Filter, Spread};
use crate::header::{damaged, io_failed};
use crate::pending::{PendingKeys, Span};
use crate::{Sieve, SieveError, Signature, Stats, expected_collisions, snapshot};

/// A sieve of fixed memory that loses a few keys.
#[derive(Debug)]
pub struct BloomSieve {
    dir: PathBuf,
    filter: Filter,
    frontier: PendingKeys,
    offered: u64,
    emitted: u64,
    seen: u64,
    state_bytes: u64,
}

impl BloomSieve {
    /// Creates an empty sieve for `capacity` keys. Its rate of false positives at capacity is
    /// 2^−`precision`. Its files are in `dir`; files of an earlier sieve there are removed.
    pub fn create(dir: &Path, capacity: u64, precision: u32) -> Result<Self, SieveError> {
        Self::begin(dir, Filter::new(Spread::Whole, capacity, precision))
    }

    /// Creates an empty sieve like [`BloomSieve::create`], but with the bits of a key in one cache
    /// line. It is faster, and less precise in the same memory.
    pub fn create_blocked(dir: &Path, capacity: u64, precision: u32) -> Result<Self, SieveError> {
        Self::begin(dir, Filter::new(Spread::Blocks, capacity, precision))
    }

    /// Opens the sieve in `dir` as it was at its last sync. A stored sieve keeps its own capacity
    /// and precision. If `dir` has no sieve, a new one with the given values is created.
    pub fn open(dir: &Path, capacity: u64, precision: u32) -> Result<Self, SieveError> {
        Self::resume(dir, Filter::new(Spread::Whole, capacity, precision))
    }

    /// Opens a sieve like [`BloomSieve::open`], for sieves made by [`BloomSieve::create_blocked`].
    pub fn open_blocked(dir: &Path, capacity: u64, precision: u32) -> Result<Self, SieveError> {
        Self::resume(dir, Filter::new(Spread::Blocks, capacity, precision))
    }

    fn begin(dir: &Path, filter: Filter) -> Result<Self, SieveError> {
        fs::create_dir_all(dir).map_err(io_failed("create", dir))?;
        let Span { start, end } = Span::EMPTY;
        let (capacity, precision) = (filter.capacity(), u64::from(filter.precision()));
        let numbers: [u64; STATE_NUMBERS] = [0, 0, 0, start, end, capacity, precision];
        let state_bytes = snapshot::write(dir, filter.kind(), numbers)?;
        let frontier = PendingKeys::create(dir)?;
        let dir = dir.to_path_buf();
        Ok(Self { dir, filter, frontier, offered: 0, emitted: 0, seen: 0, state_bytes })
    }

    fn resume(dir: &Path, empty: Filter) -> Result<Self, SieveError> {
        let Some(mut numbers) = snapshot::read(dir, empty.kind())? else {
            return Self::begin(dir, empty);
        };
        let torn = || damaged(&dir.join(snapshot::NAME), snapshot::START, "it is not a filter");
        let state_bytes = snapshot::bytes(numbers.len());
        let words = numbers.split_off(numbers.len().min(STATE_NUMBERS));
        let &[offered, emitted, seen, start, end, capacity, precision] = numbers.as_slice() else {
            return Err(torn());
        };
        let precision = u32::try_from(precision).map_err(|_| torn())?;
        let filter = Filter::with_words(empty.spread(), capacity, precision, words);
        let filter = filter.ok_or_else(torn)?;
        let frontier = PendingKeys::open(dir, Span { start, end })?;
        let dir = dir.to_path_buf();
        Ok(Self { dir, filter, frontier, offered, emitted, seen, state_bytes })
    }
}

/// How many numbers a snapshot holds before the words of the filter. The first snapshot of a sieve
/// has no words.
const STATE_NUMBERS: usize = 7;

impl Sieve for BloomSieve {
    fn offer_signed(&mut self, signature: Signature, key: &[u8]) -> Result<(), SieveError> {
        // The queue comes first: if it cannot take the key, the filter must not know the key.
        let end = self.frontier.end();
        self.frontier.append(key)?;
        self.offered += 1;
        if self.filter.insert(signature) {
            self.seen += 1;
        } else {
            self.frontier.truncate(end);
        }
        Ok(())
    }

    fn flush(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), SieveError> {
        self.frontier.emit(&mut self.emitted, emit)
    }

    fn is_prompt(&self) -> bool {
        true
    }

    fn sync(&mut self) -> Result<(), SieveError> {
        let Span { start, end } = self.frontier.sync()?;
        let Self { offered, emitted, seen, .. } = *self;
        let (capacity, precision) = (self.filter.capacity(), u64::from(self.filter.precision()));
        let numbers: [u64; STATE_NUMBERS] =
            [offered, emitted, seen, start, end, capacity, precision];
        let words = self.filter.words().iter().copied();
        self.state_bytes =
            snapshot::write(&self.dir, self.filter.kind(), numbers.into_iter().chain(words))?;
        self.frontier.synced(Span { start, end })
    }

    fn stats(&self) -> Stats {
        Stats {
            offered: self.offered,
            emitted: self.emitted,
            seen: self.seen,
            expected_collisions: expected_collisions(self.seen),
            planned_false_positive_rate: self.filter.planned_rate(),
            false_positive_rate: self.filter.rate(),
            memory_bytes: self.filter.memory_bytes() + self.frontier.memory_bytes(),
            disk_bytes: self.frontier.end() + self.state_bytes,
            ..Stats::default()
        }
    }
}
