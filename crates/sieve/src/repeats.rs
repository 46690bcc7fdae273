//! [`Repeats`]: finds what comes twice, in a few bytes a signature.
//!
//! What lives here: Bloom filters, each of twice the size of the one before. What does not: exactness; about one in a
//! hundred that comes once is taken for one that came before. Whoever has to know looks at those again.
//!
//! **Memory.** Two to four bytes a signature.
//!
//! **Invariant.** Whatever was noted before is said to have been.

use crate::Signature;
use crate::filter::{Filter, Spread};

/// Signatures that the first filter has room for.
const FIRST: u64 = 1 << 12;
/// A filter is wrong about one of 2^10.
const PRECISION: u32 = 10;

/// The signatures that were noted, more or less.
#[derive(Debug, Default)]
pub struct Repeats {
    filters: Vec<Filter>,
    /// How many the last one has room for.
    room: u64,
}

impl Repeats {
    /// Takes note of a signature; whether it was noted before, or seems to have been.
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

    /// Bytes of memory.
    pub fn memory_bytes(&self) -> u64 {
        self.filters.iter().map(Filter::memory_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature;

    #[test]
    fn what_comes_twice_is_found_in_few_bytes() {
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
