//! [`Recent`], a cache of the last offered signatures, and [`RecentSieve`], a sieve with that cache
//! in front.
//!
//! What lives here: a cache that stops repeated keys before they reach the sieve. Other threads can
//! also ask the cache before they offer a key. What does not: a decision about new keys; a key that
//! the cache does not know goes to the sieve.
//!
//! The cache has sets of eight signatures. A set is one line of the processor's cache and begins
//! with the most recent signature. A new signature replaces the least recent one of its set.
//! Signatures are compared whole, so a hit is certain. Only the sieve writes. A concurrent reader
//! may miss a signature that is being moved, and then offers its key once more.
//!
//! **Invariant.** Every signature in the cache was offered to the sieve, and the sieve took it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Sieve, SieveError, Signature, Stats};

/// Signatures in a set, which together take 64 bytes.
const WAYS: usize = 8;
/// The value of a free place. The key with this signature is never cached.
const VACANT: u64 = 0;

/// A cache of the last offered signatures, which any thread can read.
#[derive(Debug)]
pub struct Recent {
    sets: Vec<[AtomicU64; WAYS]>,
    hits: AtomicU64,
}

impl Recent {
    fn new(keys: usize) -> Self {
        let sets = keys.div_ceil(WAYS).max(1);
        let vacant = || std::array::from_fn(|_| AtomicU64::new(VACANT));
        Self { sets: std::iter::repeat_with(vacant).take(sets).collect(), hits: AtomicU64::new(0) }
    }

    /// Returns whether the key with this signature is known to have been offered.
    pub fn has(&self, signature: Signature) -> bool {
        self.place(signature.0).is_some()
    }

    /// Counts keys that were not offered because the cache [has](Self::has) them.
    pub fn count_hits(&self, hits: u64) {
        self.hits.fetch_add(hits, Ordering::Relaxed);
    }

    /// The set where `signature` belongs, by its highest bits.
    fn set_of(&self, signature: u64) -> &[AtomicU64; WAYS] {
        let at = (u128::from(signature) * self.sets.len() as u128) >> u64::BITS;
        &self.sets[usize::try_from(at).expect("less than the number of sets")]
    }

    fn place(&self, signature: u64) -> Option<usize> {
        let held = self.set_of(signature).iter().map(|held| held.load(Ordering::Relaxed));
        held.into_iter().position(|held| held == signature && held != VACANT)
    }

    /// Makes `signature` the most recent of its set, and moves the signatures before `place` back
    /// by one.
    fn bring_forward(&self, signature: u64, place: usize) {
        let set = self.set_of(signature);
        for at in (0..place).rev() {
            set[at + 1].store(set[at].load(Ordering::Relaxed), Ordering::Relaxed);
        }
        set[0].store(signature, Ordering::Relaxed);
    }
}

/// A cache of recent signatures in front of a sieve.
pub struct RecentSieve {
    recent: Arc<Recent>,
    sieve: Box<dyn Sieve + Send>,
}

impl RecentSieve {
    /// Puts a cache of about `keys` signatures, at least eight, in front of `sieve`.
    pub fn new(keys: usize, sieve: Box<dyn Sieve + Send>) -> Self {
        Self { recent: Arc::new(Recent::new(keys)), sieve }
    }
}

impl Sieve for RecentSieve {
    fn offer_signed(&mut self, signature: Signature, key: &[u8]) -> Result<(), SieveError> {
        if let Some(place) = self.recent.place(signature.0) {
            self.recent.bring_forward(signature.0, place);
            self.recent.count_hits(1);
            return Ok(());
        }
        self.sieve.offer_signed(signature, key)?;
        self.recent.bring_forward(signature.0, WAYS - 1);
        Ok(())
    }

    fn offer_uncached(&mut self, signature: Signature, key: &[u8]) -> Result<(), SieveError> {
        self.sieve.offer_signed(signature, key)
    }

    fn flush(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), SieveError> {
        self.sieve.flush(emit)
    }

    fn is_prompt(&self) -> bool {
        self.sieve.is_prompt()
    }

    fn recent(&self) -> Option<Arc<Recent>> {
        Some(Arc::clone(&self.recent))
    }

    fn sync(&mut self) -> Result<(), SieveError> {
        self.sieve.sync()
    }

    fn stats(&self) -> Stats {
        let stats = self.sieve.stats();
        let hits = self.recent.hits.load(Ordering::Relaxed);
        Stats {
            offered: stats.offered + hits,
            cache_hits: stats.cache_hits + hits,
            memory_bytes: stats.memory_bytes + size_of_val(self.recent.sets.as_slice()) as u64,
            ..stats
        }
    }
}
