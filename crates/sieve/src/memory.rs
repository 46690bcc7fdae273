//! [`MemorySieve`]: a set of signatures and a queue of keys, both in memory.
//!
//! What lives here: the sieve for crawls of some ten million keys. It is the simplest one, and
//! tests compare the others with it. What does not: a limit, since its memory grows with the keys;
//! and files, since nothing of it outlives the process.
//!
//! **Invariant.** A key is in the queue if and only if its signature is in the set and it was not
//! emitted yet. The queue is in order of first offer.

use crate::set::SignatureSet;
use crate::{Sieve, SieveError, Signature, Stats, expected_collisions};

/// A sieve that keeps everything in memory.
#[derive(Debug, Default)]
pub struct MemorySieve {
    seen: SignatureSet,
    /// The queued keys, one after the other, and where each of them ends.
    keys: Vec<u8>,
    ends: Vec<usize>,
    offered: u64,
    emitted: u64,
}

impl MemorySieve {
    /// An empty sieve.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Sieve for MemorySieve {
    fn offer_signed(&mut self, signature: Signature, key: &[u8]) -> Result<(), SieveError> {
        self.offered += 1;
        if self.seen.insert(signature) {
            self.keys.extend_from_slice(key);
            self.ends.push(self.keys.len());
        }
        Ok(())
    }

    fn flush(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), SieveError> {
        let mut start = 0;
        for &end in &self.ends {
            emit(&self.keys[start..end]);
            self.emitted += 1;
            start = end;
        }
        self.keys.clear();
        self.ends.clear();
        Ok(())
    }

    fn is_prompt(&self) -> bool {
        true
    }

    fn sync(&mut self) -> Result<(), SieveError> {
        Ok(())
    }

    fn stats(&self) -> Stats {
        let seen = self.seen.len() as u64;
        let queue_bytes = self.keys.capacity() + self.ends.capacity() * size_of::<usize>();
        Stats {
            offered: self.offered,
            emitted: self.emitted,
            seen,
            expected_collisions: expected_collisions(seen),
            memory_bytes: self.seen.bytes() + queue_bytes as u64,
            ..Stats::default()
        }
    }
}
