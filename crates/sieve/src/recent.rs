//! [`RecentSieve`]: the signatures offered last, in front of any sieve (S6).
//!
//! What lives here: a cache in which repeated links end before they reach the sieve behind it.
//! What does not: an answer of its own; what it does not know goes through.
//!
//! The cache has sets of eight signatures, each one line of the processor's cache, with the most
//! recent first: the least recent of a set gives way. Signatures are compared whole, so a hit is
//! certain.
//!
//! **Invariant.** Every signature in the cache was offered to the sieve behind, which took it.

use crate::{Sieve, SieveError, Signature, Stats};

/// Signatures a set: 64 bytes of them.
const WAYS: usize = 8;
/// What a place holds before its first signature; the key with this signature is never cached.
const VACANT: u64 = 0;

/// A cache of recent signatures and the sieve behind it.
pub struct RecentSieve {
    sets: Vec<[u64; WAYS]>,
    hits: u64,
    sieve: Box<dyn Sieve + Send>,
}

impl RecentSieve {
    /// Puts a cache of about `keys` signatures, at least eight, in front of `sieve`.
    pub fn new(keys: usize, sieve: Box<dyn Sieve + Send>) -> Self {
        let sets = vec![[VACANT; WAYS]; keys.div_ceil(WAYS).max(1)];
        Self { sets, hits: 0, sieve }
    }

    /// The set where `signature` belongs, by its highest bits.
    fn set_of(&mut self, signature: u64) -> &mut [u64; WAYS] {
        let at = (u128::from(signature) * self.sets.len() as u128) >> u64::BITS;
        &mut self.sets[usize::try_from(at).expect("less than the number of sets")]
    }
}

impl Sieve for RecentSieve {
    fn offer_signed(&mut self, signature: Signature, key: &[u8]) -> Result<(), SieveError> {
        let set = self.set_of(signature.0);
        let found = set.iter().position(|&held| held == signature.0 && held != VACANT);
        if let Some(at) = found {
            set[..=at].rotate_right(1);
            self.hits += 1;
            return Ok(());
        }
        self.sieve.offer_signed(signature, key)?;
        let set = self.set_of(signature.0);
        set.rotate_right(1);
        set[0] = signature.0;
        Ok(())
    }

    fn flush(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), SieveError> {
        self.sieve.flush(emit)
    }

    fn is_prompt(&self) -> bool {
        self.sieve.is_prompt()
    }

    fn sync(&mut self) -> Result<(), SieveError> {
        self.sieve.sync()
    }

    fn stats(&self) -> Stats {
        let stats = self.sieve.stats();
        Stats {
            offered: stats.offered + self.hits,
            cache_hits: stats.cache_hits + self.hits,
            memory_bytes: stats.memory_bytes + size_of_val(self.sets.as_slice()) as u64,
            ..stats
        }
    }
}
