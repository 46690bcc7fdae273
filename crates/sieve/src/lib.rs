//! Sieves: a key goes in any number of times and comes out once, in order of first appearance.
//!
//! What lives here: the [`Sieve`] trait and its kinds. [`MemorySieve`] keeps all keys in memory.
//! [`BloomSieve`] takes a fixed memory and loses a few keys. [`LsmSieve`] uses an embedded store
//! (feature `lsm`). [`OfflineSieve`] keeps all but a buffer of fixed size on disk.
//!
//! [`RecentSieve`] puts the cache [`Recent`] in front of any of them. [`Plan`] makes sieves.
//! [`Repeats`] finds repeated signatures. Every kind recognises a key by its [`Signature`]. What
//! does not: URLs, hosts, politeness, priorities. A sieve sees bytes.
//!
//! **Invariant.** Over the life of a sieve, the emitted keys are the offered keys, each once, in
//! the order of their first offer. Collisions are the exception: of two keys with one signature
//! only the first comes out. [`Stats::expected_collisions`] estimates the number of such pairs. A
//! [`BloomSieve`] loses further keys, at the rate [`Stats::false_positive_rate`].
//!
//! ```
//! use sieve::{MemorySieve, Sieve};
//!
//! let mut sieve = MemorySieve::new();
//! for key in ["b", "a", "b"] {
//!     sieve.offer(key.as_bytes())?;
//! }
//! let mut out = Vec::new();
//! sieve.flush(&mut |key| out.push(key.to_vec()))?;
//! assert_eq!(out, [b"b", b"a"]);
//! # Ok::<(), sieve::SieveError>(())
//! ```

#![forbid(unsafe_code)]

mod block;
mod bloom;
mod error;
mod filter;
mod header;
mod keys;
mod levels;
#[cfg(feature = "lsm")]
mod lsm;
mod memory;
mod offline;
mod pending;
mod plan;
mod radix;
mod recent;
mod repeats;
mod run;
mod set;
mod signature;
mod snapshot;

use std::sync::Arc;

pub use bloom::BloomSieve;
pub use error::SieveError;
#[cfg(feature = "lsm")]
pub use lsm::LsmSieve;
pub use memory::MemorySieve;
pub use offline::OfflineSieve;
pub use plan::{Plan, SieveKind};
pub use recent::{Recent, RecentSieve};
pub use repeats::Repeats;
pub use signature::{Signature, expected_collisions, signature};

/// The length of the longest key in bytes.
pub const KEY_BYTES_MAX: usize = 1 << 16;

/// Lets each key through once.
pub trait Sieve {
    /// Offers `key`; the next `flush` emits it if it is new. If the call fails, the sieve does not
    /// hold the key, and the key may be offered again.
    fn offer(&mut self, key: &[u8]) -> Result<(), SieveError> {
        if key.len() > KEY_BYTES_MAX {
            return Err(SieveError::KeyTooLong { len: key.len(), max: KEY_BYTES_MAX });
        }
        self.offer_signed(signature(key), key)
    }

    /// Offers `key` with a `signature` that the caller has computed. The key must be at most
    /// [`KEY_BYTES_MAX`] bytes long. The signature may cover a part of the key only. Keys with one
    /// signature count as one key, and the first of them comes out.
    fn offer_signed(&mut self, signature: Signature, key: &[u8]) -> Result<(), SieveError>;

    /// Offers a key like [`Sieve::offer_signed`], but leaves the cache in front unchanged.
    fn offer_uncached(&mut self, signature: Signature, key: &[u8]) -> Result<(), SieveError> {
        self.offer_signed(signature, key)
    }

    /// Hands every key that is new since the last flush to `emit`, in order of first offer. After
    /// an error, the next flush continues with the first key that was not yet handed out.
    fn flush(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), SieveError>;

    /// Returns whether a flush would cost next to nothing now, so that there is no reason to wait.
    fn is_prompt(&self) -> bool;

    /// The cache in front, if there is one. A key in it need not be offered.
    fn recent(&self) -> Option<Arc<Recent>> {
        None
    }

    /// Brings offered and emitted keys safely to disk. After a crash of the process or the machine,
    /// the sieve opens in its state at the last sync that returned, or a later one.
    ///
    /// Keys offered before that sync are kept, and keys emitted before it are not emitted again.
    /// Keys offered after it must be offered again. A [`MemorySieve`] has no files, so the call
    /// does nothing.
    fn sync(&mut self) -> Result<(), SieveError>;

    /// The counters of the sieve.
    fn stats(&self) -> Stats;
}

/// The counters of a sieve.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stats {
    /// Keys offered, repetitions included.
    pub offered: u64,
    /// Keys handed out.
    pub emitted: u64,
    /// Different signatures known, without the keys that an [`OfflineSieve`] has not merged yet.
    pub seen: u64,
    /// Repetitions that the cache in front caught.
    pub cache_hits: u64,
    /// Expected number of keys lost to a collision of signatures: `seen`² / 2⁶⁴.
    pub expected_collisions: f64,
    /// The rate of false positives of a Bloom filter that holds the planned number of keys; 0 for
    /// other kinds.
    pub planned_false_positive_rate: f64,
    /// The current rate of false positives of a Bloom filter, estimated from the bits that are set;
    /// 0 for other kinds.
    pub false_positive_rate: f64,
    /// Bytes of memory that grow with the keys, buffers included.
    pub memory_bytes: u64,
    /// Bytes of the files.
    pub disk_bytes: u64,
}

impl Stats {
    /// The share of the keys offered that the cache in front caught.
    #[expect(clippy::cast_precision_loss, reason = "a share: 53 bits are plenty")]
    pub fn cache_hit_rate(&self) -> f64 {
        if self.offered == 0 { 0.0 } else { self.cache_hits as f64 / self.offered as f64 }
    }
}
