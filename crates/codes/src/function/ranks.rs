//! The places of terms in their sorted list, as a static function.
//!
//! What does not live here: the list itself, from which terms of a prefix or a range come.
//!
//! **Invariant.** A rank is below the number of terms; term *i* of the list has rank *i*.
//!
//! **Reference.** D. Belazzougui, P. Boldi, R. Pagh, S. Vigna, "Monotone minimal perfect hashing:
//! searching a sorted table with O(1) accesses", SODA 2009.

use super::{Function, FunctionError, Scheme, build};

/// From terms to their ranks in lexicographic order.
#[derive(Debug, Clone, Copy)]
pub struct Ranks<D>(Function<D>);

impl Ranks<Vec<u8>> {
    /// The bytes for terms that ascend strictly, with signatures of `signature` bits or, if 0,
    /// without. They are those of the [`Function`] from terms to places.
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

    /// How many terms come before this one. `None` if it is no term, as far as can be told: without
    /// a signature, almost every byte string gets some rank.
    #[inline]
    pub fn rank(&self, term: &[u8]) -> Option<u64> {
        self.0.get(term).filter(|&rank| rank < self.0.len())
    }

    /// How many terms there are.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
