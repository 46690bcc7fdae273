//! Static functions: from *n* byte strings to numbers of *b* bits, without the byte strings.
//!
//! What lives here: [`build`] creates the bytes of a function from its keys and values; [`Function`] reads them in
//! memory or in a mapped file; [`Ranks`] maps a sorted list of terms to their positions. [`build_ordered`] and
//! [`OrderedFunction`] look up a key among 512 neighbouring keys. Callers handle files and checksums. Keys are not
//! stored: for an unknown key a function returns anything, unless it is signed.
//!
//! **How.** A key is hashed to *k* cells of an array, and its value is the exclusive or of these cells. Finding
//! the contents means solving *n* linear equations over the field of two elements. Each key is an edge of *k*
//! vertices in a random hypergraph. If a vertex belongs to one edge only, its cell can satisfy that equation
//! whatever the others contain. The edge is removed, which may free others (peeling, `peel.rs`). Equations that
//! peeling does not reach are solved by Gaussian elimination (`gauss.rs`). If a system has no solution, the next
//! seed is tried.
//!
//! | [`Scheme`] | *k* | cells a key | by | at most solvable at |
//! |---|---|---|---|---|
//! | `Peeled2` | 2 | 2.09 | peeling | 2 |
//! | `Peeled3` | 3 | 1.23 | peeling | 1.222 |
//! | `Gauss4` | 4 | 1.04 | peeling, then elimination, in buckets of some 512 keys | 1.024 |
//!
//! A cell has *b* bits. Elimination is cubic; the buckets of `Gauss4`, each with its own seed, keep it cheap.
//!
//! **Signed.** With *s* further bits per cell, a hash of the key is stored beside its value. An unknown key is
//! then accepted with probability 2^–*s* only. With *b* = 0 the function is a set.
//!
//! **Invariant.** A function returns the values of the keys that it was built from. Bytes that [`build`] did not
//! write are refused or give some answer, without a panic.
//!
//! **Format.** `docs/formats/function.md`.
//!
//! **Reference.** B. S. Majewski, N. C. Wormald, G. Havas, Z. J. Czech, "A family of perfect hashing
//! methods", The Computer Journal 39(6), 1996 (peeling); D. Belazzougui, P. Boldi, R. Pagh, S. Vigna,
//! "Theory and practice of monotone minimal perfect hashing", ACM JEA 16, 2011 (signatures, ranks);
//! M. Genuzio, G. Ottaviano, S. Vigna, "Fast scalable construction of (minimal perfect hash)
//! functions", SEA 2016 (buckets, elimination); M. Dietzfelbinger, A. Goerdt, M. Mitzenmacher,
//! A. Montanari, R. Pagh, M. Rink, "Tight thresholds for cuckoo hashing via XORSAT", ICALP 2010.
//!
//! ```
//! use codes::function::{self, Function, Scheme};
//!
//! let pairs = [("one", 1), ("two", 2), ("three", 3)];
//! let bytes = function::build(Scheme::Gauss4, 16, pairs.into_iter())?;
//! let function = Function::open(&bytes[..])?;
//! assert_eq!(function.get(b"two"), Some(2));
//! assert_eq!(function.get(b"four"), None); // but for one byte string in 65536
//! # Ok::<(), function::FunctionError>(())
//! ```

mod build;
mod gauss;
mod hash;
mod header;
mod ordered;
mod peel;
mod ranks;

pub use build::{build, build_ordered};
pub use ordered::{OrderedFunction, Probe};
pub use ranks::Ranks;

use crate::fixed;
use hash::Hash;
use header::Header;

/// Largest number of keys.
pub const KEYS_MAX: u64 = 1 << 30;
/// Largest number of bits of a signature.
pub const SIGNATURE_MAX: u32 = 32;

/// Keys per bucket, on average or exactly in order, if there are several buckets. Chosen to minimise the total
/// cost of elimination and directory.
pub const BUCKET_KEYS: usize = 512;

/// How the equations are made and solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Two cells a key, 2.09 times the space of the values: the simplest.
    Peeled2,
    /// Three cells a key, 1.23 times the space: the quickest to build.
    Peeled3,
    /// Four cells a key, 1.04 times the space: the smallest, with fast lookups, because the cells of a key are
    /// close together.
    Gauss4,
}

impl Scheme {
    /// All schemes.
    pub const ALL: [Self; 3] = [Self::Peeled2, Self::Peeled3, Self::Gauss4];

    /// *k*, which is also the number of the scheme in the format.
    const fn cells_a_key(self) -> u8 {
        match self {
            Self::Peeled2 => 2,
            Self::Peeled3 => 3,
            Self::Gauss4 => 4,
        }
    }

    /// Number of buckets for at most [`KEYS_MAX`] keys.
    fn buckets(self, keys: u64) -> u32 {
        match self {
            Self::Peeled2 | Self::Peeled3 => 1,
            Self::Gauss4 => {
                let buckets = keys.div_ceil(BUCKET_KEYS as u64).max(1);
                u32::try_from(buckets).expect("at most KEYS_MAX")
            }
        }
    }
}

/// How keys are assigned to buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Buckets {
    /// By their hash.
    ByHash,
    /// By their position in order, which a lookup must know.
    InOrder,
}

/// Why a function cannot be built or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FunctionError {
    /// A key occurs twice.
    #[error("duplicate key at position {position}, counted from zero")]
    Duplicate {
        /// Position of the second occurrence.
        position: u64,
    },
    /// Terms must be strictly ascending as bytes.
    #[error("term {position}, counted from zero, is not greater than the previous one")]
    Unsorted {
        /// Position of the term.
        position: u64,
    },
    /// Split the keys.
    #[error("more than {KEYS_MAX} keys")]
    TooManyKeys,
    /// Use smaller values or a shorter signature.
    #[error(
        "values of {width} bits and signatures of {signature} bits are too wide: at most 64 bits \
         together, and {SIGNATURE_MAX} for signatures"
    )]
    TooWide {
        /// Bits of the greatest value.
        width: u32,
        /// Bits of a signature.
        signature: u32,
    },
    /// No seed gives solvable equations. This does not happen by chance.
    #[error("no seed fits these keys")]
    NoSeed,
    /// These bytes were not written by [`build`], or not by this version.
    #[error("not a static function: {what} at byte {offset}")]
    Damaged {
        /// The problem.
        what: &'static str,
        /// Offset in the bytes.
        offset: u64,
    },
}

/// A static function, read from its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Function<D> {
    header: Header,
    bytes: D,
}

impl<D: AsRef<[u8]>> Function<D> {
    /// Reads and checks the header only.
    pub fn open(bytes: D) -> Result<Self, FunctionError> {
        let header = Header::read(bytes.as_ref())?;
        if header.in_buckets != Buckets::ByHash {
            return Err(FunctionError::Damaged { what: "buckets in the order of keys", offset: 5 });
        }
        Ok(Self { header, bytes })
    }

    /// The value of `key`; `None` for an unknown key, as far as the signature can tell. Without signature, every
    /// key gets some value.
    #[inline]
    pub fn get(&self, key: &[u8]) -> Option<u64> {
        if self.header.keys == 0 {
            return None;
        }
        let hash = Hash::of(key, self.header.seed);
        let cell = match self.header.scheme {
            Scheme::Peeled2 => self.cell::<2>(hash),
            Scheme::Peeled3 => self.cell::<3>(hash),
            Scheme::Gauss4 => self.cell::<4>(hash),
        };
        let Header { width, signature, .. } = self.header;
        if cell.checked_shr(width).unwrap_or(0) != hash.signature(signature) {
            return None;
        }
        Some(cell & fixed::mask(width))
    }

    /// Number of keys.
    pub fn len(&self) -> u64 {
        self.header.keys
    }

    /// Returns whether it has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bits of a value.
    pub fn width(&self) -> u32 {
        self.header.width
    }

    /// Bits of a signature; 0 without signatures.
    pub fn signature(&self) -> u32 {
        self.header.signature
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.header.scheme
    }

    /// The exclusive or of the cells of a key.
    #[inline]
    fn cell<const K: usize>(&self, hash: Hash) -> u64 {
        let bucket = hash.bucket(self.header.buckets) as usize;
        let bytes = self.bytes.as_ref();
        self.header.sum(bytes, self.header.vertices::<K>(bytes, bucket, hash))
    }
}
