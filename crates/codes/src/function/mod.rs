//! Static functions: from *n* byte strings to numbers of *b* bits, without the byte strings.
//!
//! What lives here: [`build`], which makes the bytes of a function from its keys and values;
//! [`Function`], which reads them where they lie, in memory or in a mapped file; [`Ranks`], the
//! function from a sorted list of terms to their places in it; [`build_ordered`] and [`OrderedFunction`], which
//! is asked within 512 neighbouring keys. What does not: files and checksums
//! (the caller's), and the keys: asked for a byte string that is no key, a function answers anything,
//! unless it is signed.
//!
//! **How.** A key is hashed to *k* cells of an array, and its value is the exclusive or of what they
//! hold. To find contents for which that is true is to solve *n* linear equations over the field of
//! two elements; each key is an edge of *k* vertices in a random hypergraph. If some edge has a vertex
//! that no other edge has, that cell can make its equation true whatever the others hold: the edge
//! is set aside, which may free others (peeling, `peel.rs`). Where edges are left that peeling does not
//! reach, their equations are eliminated by Gauss (`gauss.rs`). A system without solution is tried
//! again with the next seed.
//!
//! | [`Scheme`] | *k* | cells a key | by | at most solvable at |
//! |---|---|---|---|---|
//! | `Peeled2` | 2 | 2.09 | peeling | 2 |
//! | `Peeled3` | 3 | 1.23 | peeling | 1.222 |
//! | `Gauss4` | 4 | 1.04 | peeling, then elimination, in buckets of some 512 keys | 1.024 |
//!
//! A cell has *b* bits. The buckets of `Gauss4` keep elimination, which is cubic, cheap; each of them
//! has a seed of its own.
//!
//! **Signed.** With *s* further bits a cell, a hash of the key stands beside its value. A byte string
//! that is no key is then taken for one with probability 2^–*s*. With *b* = 0 that is a set.
//!
//! **Invariant.** For the keys it was built from, a function gives their values. Bytes that [`build`]
//! did not write are refused or give some answers, and never a panic.
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

/// The most keys.
pub const KEYS_MAX: u64 = 1 << 30;
/// The most bits of a signature.
pub const SIGNATURE_MAX: u32 = 32;

/// How many keys a bucket has, on the average or in order, if there is more than one: where elimination and the
/// directory cost about as little as they can together.
pub const BUCKET_KEYS: usize = 512;

/// How the equations are made and solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Two cells a key, 2.09 times the space of the values: the simplest.
    Peeled2,
    /// Three cells a key, 1.23 times the space: the quickest to build.
    Peeled3,
    /// Four cells a key, 1.04 times the space: the smallest, and quick to ask, since the cells of a
    /// key lie close together.
    Gauss4,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Peeled2, Self::Peeled3, Self::Gauss4];

    /// *k*, which is also the number of the scheme in the format.
    const fn cells_a_key(self) -> u8 {
        match self {
            Self::Peeled2 => 2,
            Self::Peeled3 => 3,
            Self::Gauss4 => 4,
        }
    }

    /// How many buckets `keys` keys, of which there are at most [`KEYS_MAX`], are spread over.
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

/// Which bucket a key is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Buckets {
    /// That of its hash.
    ByHash,
    /// That of its place in the order of the keys, which whoever asks must know.
    InOrder,
}

/// Why there is no such function.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FunctionError {
    /// A key has one value.
    #[error("duplicate key at position {position}, counted from zero")]
    Duplicate {
        /// Which key, in the order given.
        position: u64,
    },
    /// Ranks are of terms in ascending order of bytes.
    #[error("term {position}, counted from zero, is not greater than the previous one")]
    Unsorted {
        /// Which term.
        position: u64,
    },
    /// Split the keys.
    #[error("more than {KEYS_MAX} keys")]
    TooManyKeys,
    /// Smaller values, or a shorter signature.
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
    /// No seed gives equations with a solution. That does not happen by chance.
    #[error("no seed fits these keys")]
    NoSeed,
    /// These bytes were not written by [`build`], or not by this version.
    #[error("not a static function: {what} at byte {offset}")]
    Damaged {
        /// What is not as it should be.
        what: &'static str,
        /// Where.
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
    /// Reads and checks the header; the rest is not touched, however long.
    pub fn open(bytes: D) -> Result<Self, FunctionError> {
        let header = Header::read(bytes.as_ref())?;
        if header.in_buckets != Buckets::ByHash {
            return Err(FunctionError::Damaged { what: "buckets in the order of keys", offset: 5 });
        }
        Ok(Self { header, bytes })
    }

    /// The value of `key`. `None` if it is no key, as far as a signature can tell; a function without
    /// signature gives some value for everything.
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

    /// How many keys it was built from.
    pub fn len(&self) -> u64 {
        self.header.keys
    }

    /// Whether it was built from no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bits of a value.
    pub fn width(&self) -> u32 {
        self.header.width
    }

    /// The bits of a signature, 0 if there is none.
    pub fn signature(&self) -> u32 {
        self.header.signature
    }

    /// How it was built.
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
