//! [`Repeats`]: finds repeated signatures, in a few bytes a signature.
//!
//! What lives here: Bloom filters, each of twice the size of the one before. What does not:
//! exactness. About one in a hundred signatures that come once is taken for a repetition. A caller
//! that needs certainty checks those again.
//!
//! **Memory.** Two to four bytes a signature.
//!
//! **Invariant.** Every signature that was recorded before is reported as a repetition.

use crate::Signature;
use crate::filter::{Filter, Spread};

/// The capacity of the first filter in signatures.
const FIRST: u64 = 1 << 12;
/// A filter takes one of 2^10 new signatures for a known one.
const PRECISION: u32 = 10;

/// A set of the recorded signatures, with false positives.
#[derive(Debug, Default)]
pub struct Repeats {
    filters: Vec<Filter>,
    /// How many more signatures the last filter has room for.
    room: u64,
}

impl Repeats {
    /// Records a signature. Returns whether it was recorded before, or seems to have been.
    pub fn note(&mut self, signature: Signature) -> bool {
        if self.filters.iter().any(|filter| filter.has(signature)) {
            return true;
        }
        if self.room == 0 {
            self.room = self.filters.last().map_or(FIRST, |last| last.capacity() * 2);
            self.filters.push(Filter::new(Spread::Blocks, self.room, PRECISION));
        }
        self.room -= 1;
        self.filters.last_mut().is_some_and(|last| !last.insert(signature))
    }

    /// The bytes of memory of all filters.
    pub fn memory_bytes(&self) -> u64 {
        self.filters.iter().map(Filter::memory_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature;

    #[test]
    fn repeats_are_found_with_little_memory() {
        let keys = 300_000_u32;
        let mut repeats = Repeats::default();
        let mut note = |key: u32| repeats.note(signature(&key.to_le_bytes()));
        let wrong = (0..keys).filter(|&key| note(key)).count();
        assert!((0..keys).all(&mut note), "all of them were noted");
        assert!(wrong < 3_000, "{wrong} of {keys} came once");
        let bytes = repeats.memory_bytes();
        assert!(bytes < 4 * u64::from(keys), "{bytes} bytes");
    }
}
