//! [`SignatureSet`]: a set of signatures in memory, in their order.
//!
//! What lives here: an ordered hash table. What does not: files, keys.
//!
//! A signature is random, so its highest bits choose a slot: its *home*. The signature is in its
//! home or, if earlier ones took that place, a few slots later. All signatures are in ascending
//! order. A new signature moves the greater ones up to the next vacant slot. Signatures that do not
//! fit before the end of the table extend it.
//!
//! Home grows with the signature, so a batch in ascending order walks through memory forwards. With
//! millions of signatures, that is several times faster than random order.
//!
//! An attacker who chooses keys whose signatures agree in their highest bits makes the table slow,
//! not wrong.
//!
//! **Memory.** A slot takes eight bytes. When three of four slots are taken, the table grows by
//! half. So a signature takes eleven to sixteen bytes, and as much again while the table grows.
//!
//! **Invariant.** The slots that are not vacant ascend strictly. No slot between a signature and
//! its home is vacant.
//!
//! **Reference.** O. Amble, D. E. Knuth, "Ordered hash tables", The Computer Journal 17(2), 1974.

use crate::Signature;

/// The value of a vacant slot. The signature with this value is stored in a flag.
const VACANT: u64 = 0;
/// The fewest homes of a table that has any.
const HOMES_MIN: usize = 64;
/// Slots reserved after the last home. The overflow hardly ever needs more.
const TAIL: usize = 64;

/// A set of signatures.
#[derive(Debug, Default)]
pub(crate) struct SignatureSet {
    /// One slot for each home, then the signatures that overflowed the end.
    slots: Vec<u64>,
    homes: usize,
    /// The number of taken slots.
    taken: usize,
    /// Whether the set has the signature that equals `VACANT`.
    holds_vacant: bool,
}

impl SignatureSet {
    pub(crate) fn len(&self) -> usize {
        self.taken + usize::from(self.holds_vacant)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of memory of the table.
    pub(crate) fn bytes(&self) -> u64 {
        (self.slots.capacity() * size_of::<u64>()) as u64
    }

    pub(crate) fn contains(&self, signature: Signature) -> bool {
        if signature.0 == VACANT {
            return self.holds_vacant;
        }
        self.homes > 0 && self.slots.get(self.place_of(signature.0)) == Some(&signature.0)
    }

    /// Inserts `signature`. Returns false if the set had it already.
    pub(crate) fn insert(&mut self, signature: Signature) -> bool {
        let signature = signature.0;
        if signature == VACANT {
            return !std::mem::replace(&mut self.holds_vacant, true);
        }
        if self.taken >= self.homes / 4 * 3 {
            self.grow();
        }
        let place = self.place_of(signature);
        if self.slots.get(place) == Some(&signature) {
            return false;
        }
        self.put(place, signature);
        true
    }

    /// All signatures, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Signature> {
        let taken = self.slots.iter().copied().filter(|&slot| slot != VACANT);
        self.holds_vacant.then_some(VACANT).into_iter().chain(taken).map(Signature)
    }

    /// Removes all signatures. The table keeps its size.
    pub(crate) fn clear(&mut self) {
        self.slots.truncate(self.homes);
        self.slots.fill(VACANT);
        self.taken = 0;
        self.holds_vacant = false;
    }

    /// The slot where `signature` is or should be: the first one from its home on that is vacant or
    /// holds no smaller signature. This may be the end of the table.
    fn place_of(&self, signature: u64) -> usize {
        let home = (u128::from(signature) * self.homes as u128) >> u64::BITS;
        let home = usize::try_from(home).expect("less than the number of homes");
        let smaller = |&&slot: &&u64| slot != VACANT && slot < signature;
        home + self.slots[home..].iter().take_while(smaller).count()
    }

    /// Puts `signature` at `place`, and moves the signatures from there to the next vacant slot up
    /// by one.
    fn put(&mut self, place: usize, signature: u64) {
        let mut carried = signature;
        for slot in &mut self.slots[place..] {
            std::mem::swap(slot, &mut carried);
            if carried == VACANT {
                break;
            }
        }
        if carried != VACANT {
            self.slots.reserve_exact(1);
            self.slots.push(carried);
        }
        self.taken += 1;
    }

    fn grow(&mut self) {
        let homes = (self.homes / 2 * 3).max(HOMES_MIN);
        let mut slots = vec![VACANT; homes + TAIL];
        slots.truncate(homes);
        let old = std::mem::replace(&mut self.slots, slots);
        (self.homes, self.taken) = (homes, 0);
        for signature in old.into_iter().filter(|&slot| slot != VACANT) {
            let place = self.place_of(signature);
            self.put(place, signature);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::SignatureSet;
    use crate::{Signature, signature};
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Signatures that crowd at both ends and in few places between.
    fn crowded() -> impl Strategy<Value = u64> {
        prop_oneof![
            any::<u64>(),
            0..40_u64,
            (0..40_u64).prop_map(|below| u64::MAX - below),
            (0..4_u64, 0..40_u64).prop_map(|(place, low)| (place << 62) | low),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_set_matches_a_tree_in_order(
            batches in vec(vec(crowded(), 0..400), 1..4),
            probes in vec(crowded(), 0..100),
        ) {
            let mut set = SignatureSet::default();
            for batch in &batches {
                set.clear();
                let mut expected = BTreeSet::new();
                for &signature in batch {
                    prop_assert_eq!(set.insert(Signature(signature)), expected.insert(signature));
                }
                prop_assert_eq!(set.len(), expected.len());
                let found: Vec<_> = set.iter().map(|signature| signature.0).collect();
                prop_assert_eq!(found, expected.iter().copied().collect::<Vec<_>>());
                for probe in probes.iter().chain(batch) {
                    let found = set.contains(Signature(*probe));
                    prop_assert_eq!(found, expected.contains(probe));
                }
            }
        }
    }

    #[test]
    fn set_memory_is_bounded_per_key() {
        let mut set = SignatureSet::default();
        for number in 1..100_000_u64 {
            set.insert(signature(&number.to_le_bytes()));
            let limit = 16 * set.len() as u64 + 1_024;
            assert!(set.bytes() <= limit, "{} of {limit} bytes", set.bytes());
        }
    }
}
