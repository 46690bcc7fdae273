//! [`OrderedFunction`]: a static function of ordered keys for callers that know the bucket of a key.
//!
//! A short search in the sorted keys finds the bucket, the 512 keys that may contain a key; the caller does that.
//! Within a bucket, values need fewer bits, and the cells span fewer cache lines.
//!
//! **Invariant.** Each bucket is like a [`super::Function`] of its own.

use super::hash::Hash;
use super::header::{Bucket, Header};
use super::{Buckets, FunctionError};
use crate::fixed;
use crate::fsst::Needle;
use crate::prefetch::prefetch;

/// A static function whose buckets are in the order of its keys, read from its bytes.
#[derive(Debug, Clone)]
pub struct OrderedFunction<D> {
    header: Header,
    /// The decoded directory. A bucket needs two entries.
    entries: Box<[u64]>,
    bytes: D,
}

/// A lookup: the cells of a key, and its expected signature.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    vertices: [usize; 4],
    signature: u64,
}

impl<D: AsRef<[u8]>> OrderedFunction<D> {
    /// Reads and checks the header, and reads the directory. Does not read the cells.
    pub fn open(bytes: D) -> Result<Self, FunctionError> {
        let header = Header::read(bytes.as_ref())?;
        if header.in_buckets != Buckets::InOrder || header.scheme.cells_a_key() != 4 {
            return Err(FunctionError::Damaged { what: "other buckets", offset: 5 });
        }
        let entries = 0..=header.buckets as usize;
        let entries = entries.map(|bucket| header.entry(bytes.as_ref(), bucket)).collect();
        Ok(Self { header, entries, bytes })
    }

    /// Number of keys.
    pub fn len(&self) -> u64 {
        self.header.keys
    }

    /// Returns whether it has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Starts a lookup of `key` in a bucket.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a hot step of a lookup: a call would spill registers to memory"
    )]
    pub fn probe(&self, bucket: usize, key: Needle<'_>) -> Probe {
        let hash = Hash::of_needle(key, self.header.seed);
        // An invalid bucket gives any result.
        let entries = self.entries.get(bucket..).and_then(|entries| entries.first_chunk());
        let vertices = Bucket::new::<4>(*entries.unwrap_or(&[0; 2])).vertices(hash);
        Probe { vertices, signature: hash.signature(self.header.signature) }
    }

    /// Prefetches the memory that [`OrderedFunction::value`] reads for this probe.
    #[inline]
    pub fn prefetch(&self, probe: &Probe) {
        let width = (self.header.width + self.header.signature) as usize;
        let bytes = self.bytes.as_ref();
        for vertex in probe.vertices {
            let byte = vertex.saturating_mul(width) / 8;
            prefetch(bytes, self.header.cells_start.saturating_add(byte));
        }
    }

    /// The value; `None` if the bucket does not have the key, as far as the signature can tell.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a hot step of a lookup: a call would spill registers to memory"
    )]
    pub fn value(&self, probe: &Probe) -> Option<u64> {
        let Header { width, keys, .. } = self.header;
        let cell = self.header.sum(self.bytes.as_ref(), probe.vertices);
        let is_key = keys > 0 && cell.checked_shr(width).unwrap_or(0) == probe.signature;
        is_key.then_some(cell & fixed::mask(width))
    }
}
