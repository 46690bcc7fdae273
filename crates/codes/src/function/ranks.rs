//! The positions of terms in their sorted list, as a static function.
//!
//! The list itself, needed for prefixes and ranges, is not stored.
//!
//! **Invariant.** A rank is less than the number of terms; term *i* of the list has rank *i*.
//!
//! **Reference.** D. Belazzougui, P. Boldi, R. Pagh, S. Vigna, "Monotone minimal perfect hashing:
//! searching a sorted table with O(1) accesses", SODA 2009.

use super::{Function, FunctionError, Scheme, build};

/// Maps terms to their ranks in lexicographic order.
#[derive(Debug, Clone, Copy)]
pub struct Ranks<D>(Function<D>);

impl Ranks<Vec<u8>> {
    /// Builds the bytes of the [`Function`] from terms to positions. Terms must be strictly ascending. Signatures
    /// have `signature` bits; 0 means none.
    pub fn build<T: AsRef<[u8]>>(
        scheme: Scheme,
        signature: u32,
        terms: impl Iterator<Item = T> + Clone,
    ) -> Result<Vec<u8>, FunctionError> {
        let neighbours = terms.clone().zip(terms.clone().skip(1));
        for (position, (before, term)) in (1..).zip(neighbours) {
            if before.as_ref() >= term.as_ref() {
                return Err(FunctionError::Unsorted { position });
            }
        }
        build(scheme, signature, terms.zip(0..))
    }
}

impl<D: AsRef<[u8]>> Ranks<D> {
    /// Reads and checks the header.
    pub fn open(bytes: D) -> Result<Self, FunctionError> {
        Function::open(bytes).map(Self)
    }

    /// Number of terms before this one; `None` for an unknown term, as far as the signature can tell. Without
    /// signatures, almost every byte string gets some rank.
    #[inline]
    pub fn rank(&self, term: &[u8]) -> Option<u64> {
        self.0.get(term).filter(|&rank| rank < self.0.len())
    }

    /// Number of terms.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Returns whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
