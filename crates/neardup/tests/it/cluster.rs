//! Clusters against the closure of all pairs compared, and against themselves in another order.

use neardup::{Config, Fingerprint, fold};
use proptest::collection::vec;
use proptest::prelude::*;

/// The definition: joined pairs, then labels that sink to the smallest until nothing changes.
fn closure(pages: &[Fingerprint], config: &Config) -> Vec<u32> {
    let joined = |a: &Fingerprint, b: &Fingerprint| {
        let words = a.words.min(b.words);
        let close = (a.simhash ^ b.simhash).count_ones() <= config.distance_max;
        let alike = a.identifiers == b.identifiers;
        alike && words > 0 && (a.digest == b.digest || words >= config.words_min && close)
    };
    let mut labels: Vec<u32> = (0..).take(pages.len()).collect();
    loop {
        let before = labels.clone();
        for i in 0..pages.len() {
            for j in 0..pages.len() {
                if joined(&pages[i], &pages[j]) {
                    labels[i] = labels[i].min(labels[j]);
                }
            }
        }
        if labels == before {
            return labels;
        }
    }
}

/// Few bits, digests and lengths, so that all kinds of neighbours occur.
fn pages() -> impl Strategy<Value = Vec<Fingerprint>> {
    let page = (vec(0..64_u32, 0..5), 0..40_u64, 0..40_u32, 0..2_u64);
    let page = page.prop_map(|(bits, digest, words, identifiers)| {
        let simhash = bits.into_iter().fold(0, |all, bit| all ^ 1 << bit);
        Fingerprint { simhash, digest, identifiers, words }
    });
    vec(page, 0..60)
}

fn config() -> impl Strategy<Value = Config> {
    (0..4_u32, 0..30_u32).prop_map(|(distance_max, words_min)| Config { distance_max, words_min })
}

proptest! {
    #[test]
    fn clusters_are_connected_components(pages in pages(), config in config()) {
        prop_assert_eq!(fold(&pages, &config), closure(&pages, &config));
    }

    #[test]
    fn clusters_do_not_depend_on_order(
        shuffled in pages().prop_flat_map(|pages| {
            let order: Vec<usize> = (0..pages.len()).collect();
            (Just(pages), Just(order).prop_shuffle())
        }),
        config in config(),
    ) {
        let (pages, order) = shuffled;
        let moved: Vec<Fingerprint> = order.iter().map(|&from| pages[from]).collect();
        let (straight, moved) = (fold(&pages, &config), fold(&moved, &config));
        for (i, &a) in order.iter().enumerate() {
            for (j, &b) in order.iter().enumerate() {
                prop_assert_eq!(moved[i] == moved[j], straight[a] == straight[b]);
            }
        }
    }
}

fn page(simhash: u64, digest: u64, words: u32) -> Fingerprint {
    Fingerprint { simhash, digest, identifiers: 0, words }
}

#[test]
fn short_pages_fold_on_equal_digests_only() {
    let config = Config { distance_max: 3, words_min: 20 };
    let check = |pages: &[Fingerprint], expected: &[u32]| {
        assert_eq!(fold(pages, &config), expected, "{pages:?}");
    };
    check(&[], &[]);
    check(&[page(0, 1, 19), page(0, 2, 500)], &[0, 1]);
    check(&[page(0, 1, 20), page(0b111, 2, 20)], &[0, 0]);
    check(&[page(0, 1, 20), page(0b1111, 2, 20)], &[0, 1]);
    check(&[page(0, 7, 1), page(u64::MAX, 7, 1)], &[0, 0]);
    // A chain: each within three bits of the next, the ends six apart.
    check(&[page(0, 1, 99), page(0b11_1111, 2, 99), page(0b111, 3, 99)], &[0, 0, 0]);
}

#[test]
fn pages_without_words_never_fold() {
    let config = Config { distance_max: 3, words_min: 0 };
    assert_eq!(fold(&[page(0, 1, 0); 3], &config), [0, 1, 2]);
}
