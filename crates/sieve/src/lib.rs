//! Every key in as often as you like, out once, in order of first appearance.
//!
//! What lives here: the [`Sieve`] trait and its kinds. [`MemorySieve`], for what fits in memory;
//! [`BloomSieve`], of fixed memory and a little lossy; [`LsmSieve`], on an embedded store (feature
//! `lsm`); [`OfflineSieve`], which keeps on disk all but a buffer of fixed size; [`RecentSieve`], a
//! cache in front of any of them, and [`Recent`], the cache; [`Plan`], which makes them; [`Repeats`], which tells what came twice; the [`Signature`] by which all know a
//! key again. What does not: URLs, hosts, politeness, priorities. A sieve sees bytes.
//!
//! **Invariant.** Over the life of a sieve the keys emitted are exactly the keys offered, each
//! once, in the order of their first offer, up to collisions of signatures: of two different keys
//! with one signature only the first comes out. [`Stats::expected_collisions`] says how many such
//! pairs to expect. A [`BloomSieve`] loses some more, at [`Stats::false_positive_rate`].
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
mod frontier;
mod header;
mod keys;
mod levels;
#[cfg(feature = "lsm")]
mod lsm;
mod memory;
mod offline;
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
    /// Puts `key` in. Cheap; the answer comes with the next `flush`. After an error the key is not
    /// in, and may be offered again.
    fn offer(&mut self, key: &[u8]) -> Result<(), SieveError> {
        if key.len() > KEY_BYTES_MAX {
            return Err(SieveError::KeyTooLong { len: key.len(), max: KEY_BYTES_MAX });
        }
        self.offer_signed(signature(key), key)
    }

    /// The same for a key of allowed length whose signature is known already. It may be that of a part of the
    /// key only; then keys that agree in it are one, and come out as the first of them.
    fn offer_signed(&mut self, signature: Signature, key: &[u8]) -> Result<(), SieveError>;

    /// The same for a key that the cache in front, if there is one, is not to know of.
    fn offer_uncached(&mut self, signature: Signature, key: &[u8]) -> Result<(), SieveError> {
        self.offer_signed(signature, key)
    }

    /// Hands every key that is new since the last flush to `emit`, in order of first offer. After
    /// an error the next flush goes on with the first key that was not yet handed out.
    fn flush(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), SieveError>;

    /// Whether a flush would cost next to nothing now, so that there is no reason to wait.
    fn is_prompt(&self) -> bool;

    /// The cache in front, if there is one: what it has need not be offered.
    fn recent(&self) -> Option<Arc<Recent>> {
        None
    }

    /// Brings what was offered and what was emitted safely to disk. Whenever the process is killed
    /// or the power fails, the sieve opens again as it was at the last sync that returned, or
    /// later: no key offered before it is lost, no key emitted before it comes again. Keys offered
    /// after it must be offered again. Does nothing for a [`MemorySieve`], which has no files.
    fn sync(&mut self) -> Result<(), SieveError>;

    /// What went in, what came out, and what it costs.
    fn stats(&self) -> Stats;
}

/// The counters of a sieve.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stats {
    /// Keys offered, repetitions included.
    pub offered: u64,
    /// Keys handed out.
    pub emitted: u64,
    /// Different signatures known; what an [`OfflineSieve`] has not merged yet is not among them.
    pub seen: u64,
    /// Repetitions that the cache in front caught.
    pub cache_hits: u64,
    /// Expected number of keys lost to a collision of signatures: `seen`² / 2⁶⁴.
    pub expected_collisions: f64,
    /// The rate at which a Bloom filter takes a new key for a known one when it holds the keys it
    /// was planned for; 0 for the others.
    pub planned_false_positive_rate: f64,
    /// The same now, estimated from the bits that are set.
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
