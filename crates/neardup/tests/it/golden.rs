//! `SimHash` compared with the published example and with a bitwise count. Fingerprints compared with stored values.

use neardup::{Fingerprint, fingerprint, simhash};
use proptest::collection::vec;
use proptest::prelude::*;

#[test]
fn simhash_matches_the_specification() {
    assert_eq!(simhash([0b10110, 0b01001, 0b01011].into_iter(), 5), 0b01011);
}

#[test]
fn ties_and_empty_input_give_zero_bits() {
    assert_eq!(simhash([0b1100, 0b1010].into_iter(), 4), 0b1000);
    assert_eq!(simhash([].into_iter(), 64), 0);
    assert_eq!(simhash([u64::MAX].into_iter(), 0), 0);
    assert_eq!(simhash([u64::MAX].into_iter(), 64), u64::MAX);
}

proptest! {
    #[test]
    fn simhash_is_the_majority_of_each_bit(
        features in vec(any::<u64>(), 0..70),
        bits in 0..=64_u32,
    ) {
        let expected = (0..bits).fold(0, |all, bit| {
            let ones = features.iter().filter(|&feature| feature >> bit & 1 == 1).count();
            if ones > features.len() - ones { all | 1 << bit } else { all }
        });
        prop_assert_eq!(simhash(features.iter().copied(), bits), expected);
    }

    #[test]
    fn any_text_has_a_fingerprint(text in "\\PC{0,60}") {
        let print = fingerprint("t", &text);
        prop_assert_eq!(fingerprint("t", &format!(" {text}…")), print);
        prop_assert_eq!(fingerprint("t", &text.replace(' ', " \n 12 May ")), print);
    }
}

/// Stored files contain these values. A change of one needs a higher `ROWS_VERSION` in `jobs`.
#[test]
fn fingerprints_are_stable() {
    let table = [
        ("", 0, 0x2d06_8005_38d3_94c2),
        ("Page 7, 3 May 2024", 0x0769_f76d_9b2c_865c, 0xf20d_b177_6345_c402),
        ("The quick brown fox", 0x28c5_1188_4ca8_1349, 0x91e4_4e6d_237d_7e95),
        ("東京都", 0x0782_2979_aa61_6f30, 0xad19_e577_aea6_6601),
        ("プログラムです", 0x9a17_0215_27d7_3bef, 0x717b_a107_7d37_ec23),
    ];
    for (text, simhash, digest) in table {
        let expected = Fingerprint { simhash, digest, identity: 0 };
        assert_eq!(fingerprint("", text), expected, "fingerprint of {text:?}");
    }
    assert_eq!(fingerprint("", "pump BM1690, v2.3").identity, 0x59ff_a8c3_2cc8_79fe);
}

#[test]
fn white_space_changes_no_digest() {
    let print = |text| fingerprint("", text);
    assert_eq!(print("foo bar").digest, print("foobar").digest);
    assert_ne!(print("foo bar").digest, print("foo baz").digest);
    assert_ne!(print("foo bar").simhash, print("bar foo").simhash);
}

/// A search for a part number must find the page of each part, even if the pages are very similar.
#[test]
fn pages_of_different_parts_have_different_identities() {
    let identity = |number: &str| {
        let text = format!("Number {number}; seen 1234 times, last on 3 May 2024 for 9.90");
        fingerprint("A part", &text).identity
    };
    assert_eq!(identity("BM1690"), identity("bm1690"));
    assert_ne!(identity("BM1690"), identity("BM1691"));
    assert_ne!(identity("BM-1690"), identity("BM-1691"));
    assert_ne!(identity("v2.3"), identity("v2.4"));
    // A bare number may be a counter.
    assert_eq!(identity("1690"), identity("1691"));
}

#[test]
fn pages_with_different_titles_have_different_identities() {
    let identity = |title: &str| fingerprint(title, "text").identity;
    assert_eq!(identity("News of 18 November 2019"), identity("News of 2 December 2020"));
    assert_eq!(identity("Two  words"), identity("Two\nwords"));
    for (a, b) in [("Revenue 2019", "Revenue 2020"), ("C", "C++"), ("KEY_m", "KEY_M"), ("", "x")] {
        assert_ne!(identity(a), identity(b), "{a:?}, {b:?}");
    }
}
