//! [`OrderedFunction`]: a static function of keys in order, of which whoever asks knows where about they would be.
//!
//! Among sorted keys a short search tells the 512 that a key may be one of. A function that is asked within these
//! alone needs fewer bits for its values, and its cells lie in fewer lines of memory.
//!
//! What does not live here: the search.
//!
//! **Invariant.** As for [`super::Function`], for each bucket by itself.

use super::hash::Hash;
use super::header::Header;
use super::{Buckets, FunctionError};
use crate::fixed;
use crate::prefetch::prefetch;

/// A static function whose buckets are in the order of its keys, read from its bytes.
#[derive(Debug, Clone, Copy)]
pub struct OrderedFunction<D> {
    header: Header,
    bytes: D,
}

/// A question: the cells of a key, and the signature that they should have.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    vertices: [usize; 4],
    signature: u64,
}

impl<D: AsRef<[u8]>> OrderedFunction<D> {
    /// Reads and checks the header; the rest is not touched, however long.
    pub fn open(bytes: D) -> Result<Self, FunctionError> {
        let header = Header::read(bytes.as_ref())?;
        if header.in_buckets != Buckets::InOrder || header.scheme.cells_a_key() != 4 {
            return Err(FunctionError::Damaged { what: "other buckets", offset: 5 });
        }
        Ok(Self { header, bytes })
    }

    /// How many keys it was built from.
    pub fn len(&self) -> u64 {
        self.header.keys
    }

    /// Whether it was built from no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the value of `key` is, if it is a key of that bucket.
    #[inline]
    pub fn probe(&self, bucket: usize, key: &[u8]) -> Probe {
        let hash = Hash::of(key, self.header.seed);
        // What is no bucket leads anywhere.
        let bucket = bucket.min(self.header.buckets as usize);
        let vertices = self.header.vertices(self.bytes.as_ref(), bucket, hash);
        Probe { vertices, signature: hash.signature(self.header.signature) }
    }

    /// Asks for the memory that [`OrderedFunction::value`] of the same probe reads.
    #[inline]
    pub fn prefetch(&self, probe: &Probe) {
        let width = (self.header.width + self.header.signature) as usize;
        for vertex in probe.vertices {
            let byte = vertex.saturating_mul(width) / 8;
            prefetch(self.bytes.as_ref(), self.header.cells_start.saturating_add(byte));
        }
    }

    /// The value; `None` if the key is none of its bucket, as far as the signature can tell.
    #[inline]
    pub fn value(&self, probe: &Probe) -> Option<u64> {
        let Header { width, keys, .. } = self.header;
        let cell = self.header.sum(self.bytes.as_ref(), probe.vertices);
        let is_key = keys > 0 && cell.checked_shr(width).unwrap_or(0) == probe.signature;
        is_key.then_some(cell & fixed::mask(width))
    }
}
