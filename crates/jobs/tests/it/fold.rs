//! Which pages are folded: pairs judged by hand, chains, settings, and random collections against the definition.

use std::collections::HashSet;

use archive::{Draft, Kind, WarcWriter, WriterOptions};
use collection::{Clusters, PageTable};
use jobs::{ExtractOptions, Fold, FoldConfig};
use proptest::prelude::*;

use crate::small::{Small, html, silent};

/// Finds many candidates, so that the comparison has to decide.
fn keen() -> FoldConfig {
    FoldConfig { distance_max: 16, ..FoldConfig::default() }
}

/// The URL of every folded page and of its representative.
fn folds(small: &Small, config: &FoldConfig) -> Vec<(String, String)> {
    jobs::extract(&small.collection, &ExtractOptions::default(), &silent).expect("extracted");
    jobs::fold(&small.collection, config, &silent).expect("folded");
    let table = PageTable::open(&small.collection.pages_dir()).expect("a table");
    let entries = table.directory().entries();
    let folding = Clusters::open(&small.collection, table.directory()).expect("readable");
    let folding = folding.expect("clusters");
    let head = |place: usize| folding.representative(place).filter(|&head| head != place);
    let pair = |place: usize| Some((entries[place].url.clone(), entries[head(place)?].url.clone()));
    (0..entries.len()).filter_map(pair).collect()
}

fn page(title: &str, text: &str) -> String {
    html(&format!("<title>{title}</title>"), text)
}

/// Returns whether the first of two pages represents the second.
fn is_one(config: &FoldConfig, a: &str, b: &str) -> bool {
    let small = Small::new();
    small.archive(&[("http://a.test/", 1, a.to_owned()), ("https://a.test/", 1, b.to_owned())]);
    let folds = folds(&small, config);
    let expected = ("https://a.test/".to_owned(), "http://a.test/".to_owned());
    assert!(folds.is_empty() || folds == [expected], "{folds:?}");
    !folds.is_empty()
}

/// Sixty words of letters.
fn prose(number: u64) -> String {
    let letter = |c: char| if c.is_ascii_digit() { char::from(c as u8 - b'0' + b'm') } else { c };
    crate::small::prose(number).chars().map(letter).collect()
}

/// Sixty words and what differs.
fn text(differs: &str) -> String {
    let words = prose(1);
    let (start, end) = words.split_at(words.len() / 2);
    format!("{start} {differs} {end}")
}

#[test]
fn only_equal_content_is_folded() {
    let one = |a: &str, b: &str| is_one(&keen(), &page("t", a), &page("t", b));
    assert!(one(&text("x"), &text("x")), "the same under http and https");
    assert!(one("three words only", "three words only"));
    assert!(one(&text("on 2019-11-18"), &text("on 3 March 2020")));
    assert!(one(&text("Mar 13, 2026 (12:17 UTC)"), &text("Feb 02, 2031 (02:02 UTC)")));
    for (a, b) in [
        ("Revenue 2019", "Revenue 2020"),
        ("KEY_m", "KEY_M"),
        ("C", "C++"),
        ("1200", "3400"),
        ("0199-1234", "0199-5678"),
    ] {
        assert!(!one(a, b), "{a}, {b}");
        assert!(!one(&text(a), &text(b)), "{a}, {b} in a text");
    }
    assert!(!one("", ""), "pages without text have nothing in common");
}

#[test]
fn titles_of_folded_pages_differ_only_in_dates() {
    let one = |a: &str, b: &str| is_one(&keen(), &page(a, &prose(1)), &page(b, &prose(1)));
    assert!(one("News of 18 November 2019", "News of 2019-11-19"));
    for (a, b) in [("Revenue 2019", "Revenue 2020"), ("KEY_m", "KEY_M"), ("C", "C++"), ("a", "")] {
        assert!(!one(a, b), "{a}, {b}");
    }
}

/// Four hundred words, some of which are others.
fn edited(edits: &[usize]) -> String {
    let text = (1..8).map(prose).collect::<Vec<_>>().join(" ");
    let words = text.split(' ').take(400).enumerate();
    let words = words.map(|(at, word)| if edits.contains(&at) { "edited" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_chain_of_small_changes_is_not_one_cluster() {
    let small = Small::new();
    small.archive(&[
        ("http://a.test/", 1, page("t", &edited(&[]))),
        ("http://b.test/2", 1, page("t", &edited(&[50, 150]))),
        ("http://c.test/33", 1, page("t", &edited(&[50, 150, 250, 350]))),
    ]);
    let [a, b, c] = ["http://a.test/", "http://b.test/2", "http://c.test/33"].map(str::to_owned);
    assert_eq!(folds(&small, &keen()), [(b.clone(), a)]);
    // One in the middle may represent both ends.
    small.archive(&[("http://b.test/", 1, page("t", &edited(&[50, 150])))]);
    small.archive(&[("http://a.test/", 2, page("other", "gone"))]);
    let middle = "http://b.test/".to_owned();
    assert_eq!(folds(&small, &keen()), [(b, middle.clone()), (c, middle)]);
}

#[test]
fn a_page_folds_into_the_most_similar_representative() {
    let small = Small::new();
    small.archive(&[
        ("http://a.test/", 1, page("t", &edited(&[50]))),
        ("http://a.test/22", 1, page("t", &edited(&[250, 350]))),
        ("http://a.test/333", 1, page("t", &edited(&[250]))),
    ]);
    let behind = ("http://a.test/333".to_owned(), "http://a.test/22".to_owned());
    assert_eq!(folds(&small, &keen()), [behind]);
}

#[test]
fn equal_pages_fold_among_many_equal_fingerprints() {
    let small = Small::new();
    let pages = (0..100).flat_map(|number| {
        let page = page("Build log", &format!("build log with number {number} of today"));
        ["http", "https"].map(|scheme| (format!("{scheme}://a.test/{number}"), page.clone()))
    });
    let pages: Vec<_> = pages.collect();
    let answers: Vec<_> = pages.iter().map(|(url, page)| (url.as_str(), 1, page.clone())).collect();
    small.archive(&answers);
    let folds = folds(&small, &FoldConfig::default());
    assert_eq!(folds.len(), 100);
    for (url, head) in folds {
        assert_eq!(url.replace("https", "http"), head);
    }
}

#[test]
fn fold_modes_fold_none_identical_or_near_pages() {
    let one = |fold, a: &str, b: &str| {
        is_one(&FoldConfig { fold, ..keen() }, &page("t", a), &page("t", b))
    };
    let dated = [text("on 2019-11-18"), text("on 2019-11-19")];
    let (long, other) = (edited(&[]), edited(&[200]));
    for (fold, equal, date, word) in [
        (Fold::Off, false, false, false),
        (Fold::Identical, true, false, false),
        (Fold::Near, true, true, true),
    ] {
        assert_eq!(one(fold, &dated[0], &dated[0]), equal, "{fold:?}");
        assert_eq!(one(fold, &dated[0], &dated[1]), date, "{fold:?}");
        assert_eq!(one(fold, &long, &other), word, "{fold:?}");
    }
    let canonical = "<title>t</title><link rel=canonical href=http://a.test/>";
    let off = FoldConfig { fold: Fold::Off, ..keen() };
    assert!(!is_one(&off, &page("t", &long), &html(canonical, &long)));
}

/// A page may name as canonical what it is not.
#[test]
fn canonical_pages_are_folded_only_if_similar() {
    let canonical = "<title>t</title><link rel=canonical href=http://a.test/>";
    let exact = FoldConfig { distance_max: 0, ..FoldConfig::default() };
    assert!(is_one(&exact, &page("t", &edited(&[])), &html(canonical, &edited(&[50, 150]))));
    assert!(!is_one(&exact, &page("t", &edited(&[])), &html(canonical, &prose(9))));
}

#[test]
fn records_are_folded_only_if_configured() {
    let small = Small::new();
    let mut writer =
        WarcWriter::create(&small.collection.archive_dir(), WriterOptions::default()).expect("one");
    for url in ["urn:crivello:1", "urn:crivello:22", "http://a.test/333"] {
        let block = format!("{{\"title\": \"t\", \"text\": \"{}\"}}", prose(1));
        let draft = Draft {
            kind: Kind::Resource,
            date_s: 1,
            date_us: 0,
            target: Some(url),
            content_type: "application/json",
            extra: &[],
            block: block.as_bytes(),
            payload_offset: 0,
        };
        writer.write(&draft).expect("written");
    }
    writer.finish().expect("finished");
    small.archive(&[
        ("http://b.test/page", 1, page("t", &prose(1))),
        ("http://b.test/page2", 1, page("t", &prose(1))),
    ]);
    let page = ("http://b.test/page2".to_owned(), "http://b.test/page".to_owned());
    assert_eq!(folds(&small, &FoldConfig::default()), [page]);
    let config = FoldConfig { fold_records: true, ..FoldConfig::default() };
    assert_eq!(folds(&small, &config).len(), 4, "they are folded as pages are");
    let config = FoldConfig { fold: Fold::Off, ..config };
    assert_eq!(folds(&small, &config), []);
}

/// The definition, for texts without dates.
fn jaccard(a: &str, b: &str) -> f64 {
    let [a, b] = [a, b].map(|text| {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.windows(words.len().min(5)).map(<[&str]>::to_vec).collect::<HashSet<_>>()
    });
    let count = |set: usize| f64::from(u32::try_from(set).expect("few"));
    count(a.intersection(&b).count()) / count(a.union(&b).count())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_fold_is_verified(
        pages in prop::collection::vec((0..2_usize, prop::collection::vec(0..400_usize, 0..4)), 2..30),
    ) {
        let small = Small::new();
        let texts: Vec<String> = pages.iter().map(|(_, edits)| edited(edits)).collect();
        let urls: Vec<String> = (0..pages.len()).map(|at| format!("http://a.test/{at}")).collect();
        let titles = ["one", "other"];
        let answers = pages.iter().zip(&urls).zip(&texts);
        let answers: Vec<_> = answers
            .map(|(((title, _), url), text)| (url.as_str(), 1, page(titles[*title], text)))
            .collect();
        small.archive(&answers);
        let folds = folds(&small, &keen());
        let place = |url: &str| urls.iter().position(|other| other == url).expect("known");
        for (url, head) in &folds {
            let [page, other] = [place(url), place(head)];
            prop_assert_eq!(pages[page].0, pages[other].0, "{} and {} have other titles", url, head);
            prop_assert!(jaccard(&texts[page], &texts[other]) >= 0.95, "{} and {} differ", url, head);
            prop_assert!(folds.iter().all(|(url, _)| url != head), "{} is folded itself", head);
        }
        // Equal pages are always folded.
        let heads: Vec<usize> = (0..urls.len())
            .filter(|&at| folds.iter().all(|(url, _)| *url != urls[at]))
            .collect();
        for (at, &a) in heads.iter().enumerate() {
            for &b in &heads[..at] {
                prop_assert!(pages[a].0 != pages[b].0 || texts[a] != texts[b]);
            }
        }
    }
}
