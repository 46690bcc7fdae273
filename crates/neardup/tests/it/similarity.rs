//! The similarity of pages compared with a naive implementation and with pairs judged by hand.

use std::collections::HashSet;

use neardup::{Dates, PageWords};
use proptest::collection::vec;
use proptest::prelude::*;

fn similarity(a: (&str, &str), b: (&str, &str)) -> f64 {
    let [a, b] = [a, b].map(|(title, text)| PageWords::of(title, text, Dates::LeftOut));
    assert_eq!(a.similarity(&b).to_bits(), b.similarity(&a).to_bits(), "it is symmetric");
    assert_eq!(
        a.digest() == b.digest(),
        is_one(a.similarity(&b)),
        "equal words have equal digests"
    );
    a.similarity(&b)
}

fn is_one(similarity: f64) -> bool {
    similarity.total_cmp(&1.0).is_eq()
}

/// The definition, for texts without dates and in scripts with spaces.
fn naive(a: &str, b: &str) -> f64 {
    let [a, b] = [a, b].map(|text| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let size = words.len().min(5);
        words.windows(size).map(<[&str]>::to_vec).collect::<HashSet<_>>()
    });
    let shared = u32::try_from(a.intersection(&b).count()).expect("few");
    let either = u32::try_from(a.union(&b).count()).expect("few");
    f64::from(shared) / f64::from(either)
}

proptest! {
    #[test]
    fn similarity_is_the_jaccard_similarity_of_shingles(
        text in vec("[a-d]|C|C\\+\\+|2019", 1..40),
        edits in vec((any::<prop::sample::Index>(), "[a-d]{1,2}"), 0..4),
    ) {
        let mut edited = text.clone();
        for (at, word) in edits {
            *at.get_mut(&mut edited) = word;
        }
        let (a, b) = (text.join(" "), edited.join("\n"));
        let [these, those] = [&a, &b].map(|text| PageWords::of("t", text, Dates::LeftOut));
        prop_assert!((these.similarity(&those) - naive(&a, &b)).abs() < 1e-12);
    }
}

/// A text of ten words and the differing part.
fn text(differs: &str) -> String {
    format!("a part for the old pump {differs} in the cellar below")
}

#[test]
fn similarity_ignores_only_dates() {
    let check = |a: &str, b: &str, is_equal: bool| {
        let found = similarity(("t", &text(a)), ("t", &text(b)));
        assert_eq!(is_one(found), is_equal, "{a:?}, {b:?}: {found}");
        assert!(is_equal || found < 0.5, "{a:?}, {b:?}: {found}");
    };
    check("2019-11-18", "18 November 2019", true);
    check("11/18/2019 12:30:05", "on", false);
    check("(Mar 13, 2026 (12:17 UTC))", "Feb 02, 2031 (02:02 UTC)", true);
    check("2019年11月18日", "2020年1月2日", true);
    check("on Feb 02, 2031 (02:02 UTC)Found a bug?", "on October 07, 2026. Found a bug?", true);
    for (a, b) in [
        ("2019", "2020"),
        ("C", "C++"),
        ("C#", "C++"),
        ("KEY_m", "KEY_M"),
        ("1200", "3400"),
        ("12:30", "12:31"),
        ("November 2019", "December 2019"),
        ("东京", "北京"),
    ] {
        check(a, b, false);
    }
}

#[test]
fn titles_may_differ_in_a_date_only() {
    let of = |a, b| similarity((a, "the same text"), (b, "the same text"));
    assert!(is_one(of("News, 18 November 2019", "News, 2 May 2020")));
    assert!(of("News 2019", "News 2020") == 0.0);
    assert!(of("C", "C++") == 0.0);
    assert!(of("alpha", "") == 0.0);
}

#[test]
fn short_texts_have_one_shingle_and_empty_texts_mismatch() {
    let of = |a, b| similarity(("t", a), ("t", b));
    assert!(is_one(of("a b c d", "a  b c\nd")));
    assert!(of("a b c d", "a b c") == 0.0);
    assert!(of("a b c d", "a b c d e") == 0.0);
    let empty = PageWords::of("t", " ", Dates::LeftOut);
    assert!(empty.is_empty() && empty.similarity(&empty) == 0.0);
    // The text is only a date.
    assert!(PageWords::of("t", "18 November 2019", Dates::LeftOut).is_empty());
    assert!(!PageWords::of("t", "18 November 2019", Dates::Kept).is_empty());
}

/// In a script without spaces each character is a word.
#[test]
fn a_text_without_spaces_is_compared_by_characters() {
    for alphabet in [['東', '京', '都', '年'], ['ก', 'ข', 'ค', 'ง'], ['あ', 'い', 'う', 'え']]
    {
        let text = |edited: usize| -> String {
            let mut draw = 7_u32;
            let letters = (0..2_000).map(|at| {
                draw = draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                alphabet[(draw >> 30) as usize ^ usize::from(at == edited)]
            });
            letters.collect()
        };
        let found = similarity(("t", &text(0)), ("t", &text(1_000)));
        assert!((0.98..1.0).contains(&found), "{alphabet:?}: {found}");
    }
}

#[test]
fn kept_dates_count_as_words() {
    let [a, b] = ["2019-11-18", "2019-11-19"].map(|date| PageWords::of("t", date, Dates::Kept));
    assert!(a.similarity(&b) == 0.0 && a.digest() != b.digest());
}
