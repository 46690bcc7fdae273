//! [`MemorySieve`]: a set of signatures and a queue of keys, both in memory.
//!
//! What lives here: the sieve for crawls of some ten million keys, and the plainest one, against
//! which the others are compared. What does not: a limit; its memory grows with the keys.
//!
//! **Invariant.** A key is in the queue if and only if its signature is in the set and it was not
//! emitted yet; the queue is in order of first offer.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::{KEY_BYTES_MAX, Sieve, SieveError, Signature, Stats, expected_collisions, signature};

/// A sieve that keeps everything in memory.
#[derive(Debug, Default)]
pub struct MemorySieve {
    seen: HashSet<Signature, BuildHasherDefault<Verbatim>>,
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
    fn offer(&mut self, key: &[u8]) -> Result<(), SieveError> {
        if key.len() > KEY_BYTES_MAX {
            return Err(SieveError::KeyTooLong { len: key.len(), max: KEY_BYTES_MAX });
        }
        self.offered += 1;
        if self.seen.insert(signature(key)) {
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

    fn stats(&self) -> Stats {
        let seen = self.seen.len() as u64;
        // A slot of the set is a signature and a control byte, and one in eight stays empty.
        let set_bytes = self.seen.capacity() / 7 * 8 * (size_of::<Signature>() + 1);
        let queue_bytes = self.keys.capacity() + self.ends.capacity() * size_of::<usize>();
        Stats {
            offered: self.offered,
            emitted: self.emitted,
            seen,
            expected_collisions: expected_collisions(seen),
            memory_bytes: (set_bytes + queue_bytes) as u64,
            disk_bytes: 0,
        }
    }
}

/// The hash of a signature is the signature: it is one already.
#[derive(Debug, Default)]
struct Verbatim(u64);

impl Hasher for Verbatim {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("a signature is hashed as one number");
    }
}
