//! Every key in as often as you like, out once, in order of first appearance.
//!
//! What lives here: the [`Sieve`] trait; [`MemorySieve`], for what fits in memory;
//! [`OfflineSieve`], which keeps on disk all but a buffer of fixed size; the [`Signature`] by which
//! both know a key again. What does not: URLs, hosts, politeness, priorities, threads. A sieve sees
//! bytes.
//!
//! **Invariant.** Over the life of a sieve the keys emitted are exactly the keys offered, each
//! once, in the order of their first offer, up to collisions of signatures: of two different keys
//! with one signature only the first comes out. [`Stats::expected_collisions`] says how many such
//! pairs to expect.
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
mod error;
mod header;
mod keys;
mod memory;
mod offline;
mod run;
mod signature;

pub use error::SieveError;
pub use memory::MemorySieve;
pub use offline::OfflineSieve;
pub use signature::{Signature, expected_collisions, signature};

/// The length of the longest key in bytes.
pub const KEY_BYTES_MAX: usize = 1 << 16;

/// Lets each key through once.
pub trait Sieve {
    /// Puts `key` in. Cheap; the answer comes with the next `flush`. After an error the key is not
    /// in, and may be offered again.
    fn offer(&mut self, key: &[u8]) -> Result<(), SieveError>;

    /// Hands every key that is new since the last flush to `emit`, in order of first offer. After
    /// an error the next flush goes on with the first key that was not yet handed out.
    fn flush(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), SieveError>;

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
    /// Expected number of keys lost to a collision of signatures: `seen`² / 2⁶⁴.
    pub expected_collisions: f64,
    /// Bytes of memory that grow with the keys, buffers included.
    pub memory_bytes: u64,
    /// Bytes of the files.
    pub disk_bytes: u64,
}
