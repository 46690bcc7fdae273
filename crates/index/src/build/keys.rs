//! A hash table from a key (field and term) to the number of its list.
//!
//! Open addressing: a slot holds 32 bits of the hash and the number. The table is split into parts that grow
//! separately, so growing needs little extra memory. The table does not store keys; callers compare them.
//!
//! **Invariant.** A lookup finds a number if and only if it was inserted for that key. [`KeyTable::memory_bytes`]
//! is the size of the table.

use codes::prefetch::prefetch;
use xxhash_rust::xxh3::xxh3_64;

/// Number of parts, as a power of two.
const PARTS_LOG2: u32 = 6;
#[derive(Debug, Default)]
pub(crate) struct KeyTable {
    parts: Vec<Part>,
}

/// Slots, a power of two and never full. A slot is the hash in the upper half and the number plus one in the
/// lower, or zero.
#[derive(Clone, Debug, Default)]
struct Part {
    slots: Vec<u64>,
    taken: usize,
}

impl KeyTable {
    pub(crate) fn memory_bytes(&self) -> usize {
        let slots: usize = self.parts.iter().map(|part| part.slots.len()).sum();
        slots * size_of::<u64>()
    }

    /// The list that probably belongs to this hash; keys are not compared.
    #[inline]
    pub(crate) fn guess(&self, hash: u64) -> Option<u32> {
        let part = self.parts.get(part_of(hash))?;
        let slot = *part.slots.get(part.first(hash))?;
        (slot != 0 && (slot ^ hash) >> 32 == 0).then(|| narrow(slot - 1))
    }

    /// Prefetches the slot that [`KeyTable::guess`] reads.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        if let Some(part) = self.parts.get(part_of(hash)) {
            prefetch(&part.slots, part.first(hash));
        }
    }

    /// Returns the list of the key with this hash, as confirmed by `is_it`. If it is missing, inserts the
    /// list that `make` returns, unless that is `None`. Both closures get `lists`. The number 2³² – 1 is reserved.
    pub(crate) fn find_or_make<L>(
        &mut self,
        hash: u64,
        lists: &mut L,
        is_it: impl Fn(&L, u32) -> bool,
        make: impl FnOnce(&mut L) -> Option<u32>,
    ) -> Option<u32> {
        if self.parts.is_empty() {
            self.parts = vec![Part::default(); 1 << PARTS_LOG2];
        }
        let part = &mut self.parts[part_of(hash)];
        if 4 * (part.taken + 1) > 3 * part.slots.len() {
            part.grow();
        }
        let mut slot = part.first(hash);
        while part.slots[slot] != 0 {
            let list = narrow(part.slots[slot] - 1);
            if (part.slots[slot] ^ hash) >> 32 == 0 && is_it(lists, list) {
                return Some(list);
            }
            slot = part.after(slot);
        }
        let list = make(lists)?;
        part.slots[slot] = hash >> 32 << 32 | (u64::from(list) + 1);
        part.taken += 1;
        Some(list)
    }
}

impl Part {
    /// The first slot of a hash. It depends on the upper half only, which the slot stores for growing.
    fn first(&self, hash: u64) -> usize {
        (hash >> 32) as usize & self.slots.len().wrapping_sub(1)
    }

    fn after(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    fn grow(&mut self) {
        let count = (2 * self.slots.len()).max(8);
        let old = std::mem::replace(&mut self.slots, vec![0; count]);
        for taken in old.into_iter().filter(|&slot| slot != 0) {
            let mut slot = self.first(taken);
            while self.slots[slot] != 0 {
                slot = self.after(slot);
            }
            self.slots[slot] = taken;
        }
    }
}

#[inline]
pub(crate) fn hash(key: &[u8]) -> u64 {
    xxh3_64(key)
}

fn part_of(hash: u64) -> usize {
    narrow(hash) as usize % (1 << PARTS_LOG2)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "only the lower half is needed")]
fn narrow(n: u64) -> u32 {
    n as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn every_key_has_a_unique_number() {
        let (mut table, mut keys, mut model) =
            (KeyTable::default(), Vec::<String>::new(), HashMap::new());
        let (mut state, mut guessed) = (1_u32, 0);
        for _ in 0..200_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let key = format!("{}", state >> 12 & 0x3_ffff);
            let count = u32::try_from(keys.len()).unwrap();
            let expected = model.get(&key).copied();
            let hash = hash(key.as_bytes());
            let guess = table.guess(hash);
            guessed += usize::from(guess.is_some() && guess == expected);
            let is_it = |keys: &Vec<String>, list: u32| keys[list as usize] == key;
            let none = table.find_or_make(hash, &mut keys, is_it, |_| None);
            assert_eq!(none, expected, "{key}");
            let found = table.find_or_make(hash, &mut keys, is_it, |keys| {
                keys.push(key.clone());
                Some(count)
            });
            assert_eq!(found, Some(expected.unwrap_or(count)), "{key}");
            model.insert(key.clone(), expected.unwrap_or(count));
        }
        assert!(keys.len() > 10_000);
        assert!(guessed > (200_000 - keys.len()) / 2, "{guessed} guesses were right");
        let most = keys.len() * 8 * 4;
        assert!(table.memory_bytes() <= most, "{} for {}", table.memory_bytes(), keys.len());
    }
}
