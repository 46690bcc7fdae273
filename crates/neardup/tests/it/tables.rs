//! The pairs of the permuted tables, checked by comparing all pairs.

use std::collections::BTreeSet;

use neardup::PermutedTables;
use proptest::collection::vec;
use proptest::prelude::*;

/// Checks that the tables find the same pairs of positions as a comparison of all pairs.
fn check_pairs(fingerprints: &[u64], distance_max: u32) {
    let tables = PermutedTables::build(fingerprints, distance_max);
    let mut found = Vec::new();
    for class in tables.classes() {
        for (i, &a) in class.iter().enumerate() {
            found.extend(class[i + 1..].iter().map(|&b| (a, b)));
        }
    }
    tables.pairs(&mut |these, those| {
        found.extend(these.iter().flat_map(|&a| those.iter().map(move |&b| (a.min(b), a.max(b)))));
    });
    let count = found.len();
    let found: BTreeSet<(u32, u32)> = found.into_iter().collect();
    assert_eq!(found.len(), count, "a pair came twice");

    let mut expected = BTreeSet::new();
    for (i, a) in (0..).zip(fingerprints) {
        for (j, b) in (0..i).zip(fingerprints) {
            if (a ^ b).count_ones() <= distance_max {
                expected.insert((j, i));
            }
        }
    }
    assert_eq!(found, expected);
}

/// A set with many close pairs: a few random fingerprints, and variants with a few flipped bits.
fn planted() -> impl Strategy<Value = Vec<u64>> {
    let flips = vec((0..4_usize, vec(0..64_u32, 0..5)), 0..150);
    (vec(any::<u64>(), 4), vec(any::<u64>(), 0..150), flips).prop_map(|(roots, mut all, flips)| {
        all.extend(
            flips.into_iter().map(|(root, bits)| {
                bits.into_iter().fold(roots[root], |value, bit| value ^ 1 << bit)
            }),
        );
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn planted_pairs_are_found(fingerprints in planted(), distance_max in 0..6_u32) {
        check_pairs(&fingerprints, distance_max);
    }

    /// Fingerprints that vary in few bits, so that many share every block.
    #[test]
    fn crowded_pairs_are_found(
        fingerprints in vec(0..512_u64, 0..300),
        shift in 0..56_u32,
        distance_max in 0..12_u32,
    ) {
        let spread: Vec<u64> = fingerprints.iter().map(|value| value << shift).collect();
        check_pairs(&spread, distance_max);
    }
}

#[test]
fn extreme_distances_give_the_right_pairs() {
    let fingerprints: Vec<u64> =
        (0..100_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    for distance_max in [0, 1, 31, 32, 62, 63, 64, 65, u32::MAX] {
        check_pairs(&fingerprints, distance_max);
    }
    check_pairs(&[], 3);
    check_pairs(&[7], 3);
}

/// A hundred thousand equal fingerprints, and many that vary only in twenty bits. Comparing all pairs would take
/// minutes.
#[test]
fn crowded_fingerprints_are_not_compared_pairwise() {
    let equal = vec![42; 100_000];
    let tables = PermutedTables::build(&equal, 3);
    assert_eq!(tables.classes().count(), 1);
    tables.pairs(&mut |_, _| panic!("no two classes"));

    // The multiples of 15 = 0b1111 in 20 bits: 69,906 values that share many blocks.
    let crowded: Vec<u64> = (0..1 << 20).filter(|value| value % 15 == 0).collect();
    let tables = PermutedTables::build(&crowded, 1);
    let mut pairs = 0_u64;
    tables.pairs(&mut |_, _| pairs += 1);
    assert_eq!(pairs, 0, "a power of two is no multiple of 15");
}
