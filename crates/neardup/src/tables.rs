//! Permuted tables (provisional).

/// Finds all close pairs of fingerprints.
#[derive(Debug)]
pub struct PermutedTables {
    pairs: Vec<(u32, u32)>,
}

impl PermutedTables {
    /// Prepares the search for pairs within `distance_max`.
    pub fn build(fingerprints: &[u64], distance_max: u32) -> PermutedTables {
        let mut pairs = Vec::new();
        for (i, a) in (0_u32..).zip(fingerprints) {
            for (j, b) in (0_u32..).zip(fingerprints).skip(i as usize + 1) {
                if (a ^ b).count_ones() <= distance_max {
                    pairs.push((i, j));
                }
            }
        }
        PermutedTables { pairs }
    }

    /// Hands each pair of positions within the distance to `emit`.
    pub fn pairs(&self, emit: &mut dyn FnMut(u32, u32)) {
        for &(i, j) in &self.pairs {
            emit(i, j);
        }
    }
}
