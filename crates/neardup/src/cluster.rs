//! Clusters of near-duplicates (provisional).

use crate::{Config, Fingerprint, PermutedTables};

/// For each page the smallest index of its cluster.
pub fn fold(fingerprints: &[Fingerprint], config: &Config) -> Vec<u32> {
    let hashes: Vec<u64> = fingerprints.iter().map(|print| print.simhash).collect();
    let mut cluster: Vec<u32> = (0..).take(fingerprints.len()).collect();
    PermutedTables::build(&hashes, config.distance_max).pairs(&mut |i, j| {
        let (a, b) = (&fingerprints[i as usize], &fingerprints[j as usize]);
        if a.digest == b.digest || a.words.min(b.words) >= config.words_min {
            let (from, to) = (cluster[j as usize], cluster[i as usize]);
            cluster.iter_mut().filter(|c| **c == from.max(to)).for_each(|c| *c = from.min(to));
        }
    });
    cluster
}
