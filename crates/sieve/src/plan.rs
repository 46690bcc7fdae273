//! [`Plan`]: which sieve, how large, and the one place where they are made.
//!
//! What lives here: the kinds by their names in a configuration, and what is chosen about each.
//! What does not: the sieves.
//!
//! **Invariant.** Every kind can be made here, with or without the cache in front.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{BloomSieve, MemorySieve, OfflineSieve, RecentSieve, Sieve, SieveError};

/// How seen keys are remembered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SieveKind {
    /// Signatures in memory, eleven bytes and more a key.
    Memory,
    /// A Bloom filter of fixed size, which loses a few keys.
    Bloom,
    /// The same with one cache line a key: faster, less precise.
    BlockedBloom,
    /// Signatures in an embedded LSM-tree store on disk.
    Lsm,
    /// Sorted signatures on disk, memory flat.
    #[default]
    Offline,
}

impl SieveKind {
    /// All of them.
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

    /// Whether this program was built with it.
    pub fn is_built(self) -> bool {
        self != Self::Lsm || cfg!(feature = "lsm")
    }

    /// Whether what was synced outlives the process.
    pub fn is_durable(self) -> bool {
        self != Self::Memory
    }
}

/// Which sieve, and how large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The kind.
    pub kind: SieveKind,
    /// Keys that an offline or LSM sieve gathers in memory.
    pub buffer_keys: usize,
    /// Keys that a Bloom filter is made for.
    pub capacity: u64,
    /// Its false positives at capacity are 2^−`precision`.
    pub precision: u32,
    /// Signatures in the cache in front; 0 for none.
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
    /// An empty sieve with its files in `dir`; those of an earlier one of this kind are removed.
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

    /// The sieve in `dir` as it was at its last sync; an empty one if there was none.
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
