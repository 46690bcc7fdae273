//! Permuted tables: all pairs of close fingerprints, found without comparing all pairs.
//!
//! The bits are cut into *k* + 1 blocks. Two fingerprints that differ in at most *k* bits are equal in
//! at least one block (pigeonhole). For each block, the search sorts the fingerprints by that block and compares
//! those with an equal block. The paper permutes the bits so that the block comes first, then sorts. For *k* = 3
//! the blocks have 16 bits. Each of *n* random fingerprints is then compared with 4*n*/2¹⁶ others.
//!
//! Real fingerprints are not random, and many may share a block. A large group with a shared block is searched
//! recursively, with *k* + 1 blocks of the bits that still vary. Each step fixes at least one bit, so the depth is
//! at most 64. Equal fingerprints form one class, which appears in the tables once.
//!
//! A pair that is equal in several blocks is found only in the first of them: in later tables the earlier blocks
//! must be *apart*. The remaining work is proportional to the number of pairs found. For *k* = 3, a fingerprint
//! has at most 64 + 2016 + 41664 of them.
//!
//! **Invariant.** [`PermutedTables::pairs`] emits each pair of classes within the distance exactly once.
//!
//! **Reference.** G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web
//! crawling", WWW 2007, section 3.

/// In groups up to this size all pairs are compared, which is cheaper than sorting again.
const SCAN_MAX: usize = 32;

/// The distinct fingerprints of a set, with the positions of each.
#[derive(Debug, Clone)]
pub struct PermutedTables {
    /// Distinct, ascending.
    values: Vec<u64>,
    /// The class of `values[c]` is `members[ends[c - 1]..ends[c]]`; the first class starts at 0.
    ends: Vec<usize>,
    /// Positions in the set, ordered by fingerprint, then by position.
    members: Vec<u32>,
    distance_max: u32,
}

impl PermutedTables {
    /// Prepares the search for fingerprints that differ in at most `distance_max` bits.
    ///
    /// # Panics
    /// If there are 2³² fingerprints or more.
    pub fn build(fingerprints: &[u64], distance_max: u32) -> PermutedTables {
        let count = u32::try_from(fingerprints.len()).expect("fewer than 2^32 fingerprints");
        let mut sorted: Vec<(u64, u32)> = fingerprints.iter().copied().zip(0..count).collect();
        sorted.sort_unstable();
        let mut values = Vec::new();
        let mut ends = Vec::new();
        for class in sorted.chunk_by(|a, b| a.0 == b.0) {
            values.push(class[0].0);
            ends.push(ends.last().copied().unwrap_or(0) + class.len());
        }
        let members = sorted.into_iter().map(|(_, position)| position).collect();
        PermutedTables { values, ends, members, distance_max }
    }

    /// The classes of equal fingerprints, each as ascending positions.
    pub fn classes(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.values.len()).map(|class| self.class(class))
    }

    /// Passes each pair of different classes within the distance to `emit` once, in no particular order.
    pub fn pairs(&self, emit: &mut dyn FnMut(&[u32], &[u32])) {
        let mut search = Search {
            distance_max: self.distance_max,
            apart: Vec::new(),
            emit: &mut |a, b| emit(self.class_of(a), self.class_of(b)),
        };
        search.run(&mut self.values.clone());
    }

    fn class(&self, class: usize) -> &[u32] {
        let start = if class == 0 { 0 } else { self.ends[class - 1] };
        &self.members[start..self.ends[class]]
    }

    fn class_of(&self, value: u64) -> &[u32] {
        self.class(self.values.binary_search(&value).expect("a value of the tables"))
    }
}

struct Search<'a> {
    distance_max: u32,
    /// Blocks in which the members of a pair must differ.
    apart: Vec<u64>,
    emit: &'a mut dyn FnMut(u64, u64),
}

impl Search<'_> {
    /// Finds the close pairs in `group`, whose members are distinct.
    fn run(&mut self, group: &mut [u64]) {
        let varying = varying_bits(group);
        if self.apart.iter().any(|block| block & varying == 0) {
            return;
        }
        if group.len() <= SCAN_MAX || varying.count_ones() <= self.distance_max {
            return self.scan(group);
        }
        let outer = self.apart.len();
        for block in blocks(varying, self.distance_max + 1) {
            group.sort_unstable_by_key(|value| value & block);
            for run in group.chunk_by_mut(|a, b| (a ^ b) & block == 0) {
                if run.len() > 1 {
                    self.run(run);
                }
            }
            self.apart.push(block);
        }
        self.apart.truncate(outer);
    }

    fn scan(&mut self, group: &[u64]) {
        for (i, &a) in group.iter().enumerate() {
            for &b in &group[i + 1..] {
                let differing = a ^ b;
                if differing.count_ones() <= self.distance_max
                    && self.apart.iter().all(|block| differing & block != 0)
                {
                    (self.emit)(a, b);
                }
            }
        }
    }
}

/// The bits that differ between members of `group`.
fn varying_bits(group: &[u64]) -> u64 {
    let some = group.iter().fold(0, |some, value| some | value);
    let all = group.iter().fold(u64::MAX, |all, value| all & value);
    some & !all
}

/// Cuts the ones of `bits` into `count` blocks, from the lowest. `bits` has at least `count` ones.
fn blocks(bits: u64, count: u32) -> impl Iterator<Item = u64> {
    let ones = bits.count_ones();
    let mut rest = bits;
    (0..count).map(move |block| {
        let size = ones * (block + 1) / count - ones * block / count;
        let before = rest;
        for _ in 0..size {
            rest &= rest - 1;
        }
        before & !rest
    })
}

#[cfg(test)]
mod tests {
    //! The cutting of bits against its definition.

    use super::blocks;

    #[test]
    fn blocks_are_a_partition_of_about_equal_parts() {
        for bits in [u64::MAX, 0b1111, 0x8421_8421_8421_8421, 0xff00_0000_0000_0001] {
            for count in 1..=bits.count_ones() {
                let cut: Vec<u64> = blocks(bits, count).collect();
                assert_eq!(cut.len(), count as usize);
                assert_eq!(cut.iter().fold(0, |all, block| all ^ block), bits);
                let share = bits.count_ones() / count;
                assert!(cut.iter().all(|block| block.count_ones().abs_diff(share) <= 1));
            }
        }
    }
}
