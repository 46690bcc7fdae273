//! [`Plan`]: the kind and size of a sieve, and the one place where sieves are made.
//!
//! What lives here: the kinds by their names in a configuration, and the options of each. What does
//! not: the sieves.
//!
//! **Invariant.** Every kind can be made here, with or without the cache in front.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{BloomSieve, MemorySieve, OfflineSieve, RecentSieve, Sieve, SieveError};

/// The way in which a sieve remembers seen keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SieveKind {
    /// Signatures in memory, eleven bytes and more a key.
    Memory,
    /// A Bloom filter of fixed size, which loses a few keys.
    Bloom,
    /// A Bloom filter with the bits of a key in one cache line: faster, less precise.
    BlockedBloom,
    /// Signatures in an embedded LSM-tree store on disk.
    Lsm,
    /// Sorted signatures on disk, memory flat.
    #[default]
    Offline,
}

impl SieveKind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Memory, Self::Bloom, Self::BlockedBloom, Self::Lsm, Self::Offline];

    /// The name in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Bloom => "bloom",
            Self::BlockedBloom => "blocked-bloom",
            Self::Lsm => "lsm",
            Self::Offline => "offline",
        }
    }

    /// Returns whether this program was built with this kind.
    pub fn is_built(self) -> bool {
        self != Self::Lsm || cfg!(feature = "lsm")
    }

    /// Returns whether synced keys outlive the process.
    pub fn is_durable(self) -> bool {
        self != Self::Memory
    }
}

/// The kind and size of a sieve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The kind of the sieve.
    pub kind: SieveKind,
    /// Keys that an offline or LSM sieve gathers in memory.
    pub buffer_keys: usize,
    /// Keys that a Bloom filter is planned for.
    pub capacity: u64,
    /// The rate of false positives of a Bloom filter at capacity is 2^−`precision`.
    pub precision: u32,
    /// Signatures in the cache in front of the sieve; 0 for no cache.
    pub cache_keys: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            kind: SieveKind::default(),
            buffer_keys: 1 << 20,
            capacity: 10_000_000,
            precision: 20,
            cache_keys: 1 << 16,
        }
    }
}

impl Plan {
    /// Creates an empty sieve with its files in `dir`. Files of an earlier sieve of this kind are
    /// removed.
    pub fn create(&self, dir: &Path) -> Result<Box<dyn Sieve + Send>, SieveError> {
        let Self { buffer_keys, capacity, precision, .. } = *self;
        Ok(self.behind_cache(match self.kind {
            SieveKind::Memory => Box::new(MemorySieve::new()),
            SieveKind::Bloom => Box::new(BloomSieve::create(dir, capacity, precision)?),
            SieveKind::BlockedBloom => {
                Box::new(BloomSieve::create_blocked(dir, capacity, precision)?)
            }
            #[cfg(feature = "lsm")]
            SieveKind::Lsm => Box::new(crate::LsmSieve::create(dir, buffer_keys)?),
            #[cfg(not(feature = "lsm"))]
            SieveKind::Lsm => return Err(SieveError::NotBuilt { kind: "lsm" }),
            SieveKind::Offline => Box::new(OfflineSieve::create(dir, buffer_keys)?),
        }))
    }

    /// Opens the sieve in `dir` as it was at its last sync. If `dir` has no sieve, a new one is
    /// created.
    pub fn open(&self, dir: &Path) -> Result<Box<dyn Sieve + Send>, SieveError> {
        let Self { buffer_keys, capacity, precision, .. } = *self;
        Ok(self.behind_cache(match self.kind {
            SieveKind::Memory => Box::new(MemorySieve::new()),
            SieveKind::Bloom => Box::new(BloomSieve::open(dir, capacity, precision)?),
            SieveKind::BlockedBloom => {
                Box::new(BloomSieve::open_blocked(dir, capacity, precision)?)
            }
            #[cfg(feature = "lsm")]
            SieveKind::Lsm => Box::new(crate::LsmSieve::open(dir, buffer_keys)?),
            #[cfg(not(feature = "lsm"))]
            SieveKind::Lsm => return Err(SieveError::NotBuilt { kind: "lsm" }),
            SieveKind::Offline => Box::new(OfflineSieve::open(dir, buffer_keys)?),
        }))
    }

    fn behind_cache(&self, sieve: Box<dyn Sieve + Send>) -> Box<dyn Sieve + Send> {
        if self.cache_keys == 0 {
            return sieve;
        }
        Box::new(RecentSieve::new(self.cache_keys, sieve))
    }
}
