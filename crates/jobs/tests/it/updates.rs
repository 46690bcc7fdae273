//! An index that is brought up to date holds what one holds that is built from nothing.

use std::collections::BTreeMap;

use collection::{PageTable, Vector};
use index::{DocIterator, END, Field, Frequencies, Index, MergePolicy};
use jobs::Reuse;

use crate::small::{Small, html, prose};

/// For each URL its record, and its terms with how often they occur.
type Documents = BTreeMap<String, (index::DocRecord, BTreeMap<(Field, String), u32>)>;

/// The documents of the index that are not deleted.
fn documents(small: &Small) -> Documents {
    let index = Index::open(&small.collection.index_dir()).expect("an index");
    index.verify().expect("whole");
    let mut documents = Documents::new();
    for segment in index.segments() {
        let mut urls = BTreeMap::new();
        segment
            .each_record(|doc, record| {
                urls.insert(doc, record.url.clone());
                // The date of a visit that found nothing new is not the index's to know.
                let record = index::DocRecord { date_s: 0, ..record.clone() };
                let twice = documents.insert(record.url.clone(), (record, BTreeMap::new()));
                assert!(twice.is_none(), "{twice:?} is there twice");
            })
            .expect("records");
        for field in Field::ALL {
            for (term, _) in segment.terms(field, "").expect("terms") {
                let mut list = segment.postings(field, &term).expect("a list").expect("there");
                while list.doc() != END {
                    if let Some(url) = urls.get(&list.doc()) {
                        let terms = &mut documents.get_mut(url).expect("a record").1;
                        terms.insert((field, term.clone()), list.frequency());
                    }
                    list.next_doc();
                }
            }
        }
    }
    documents
}

fn page(number: u64, links: &str) -> String {
    html(&format!("<title>Page {number}</title>"), &format!("{links}{}", prose(number)))
}

/// Builds again from nothing, and compares.
fn check(small: &Small, config: &index::Config) {
    let updated = documents(small);
    let built = small.build_with(config, Reuse::Nothing);
    assert_eq!(updated, documents(small));
    assert_eq!((built.index.segments, built.index.removed), (1, 0));
    assert_eq!(built.index.added, updated.len() as u64);
}

#[test]
fn only_changed_pages_are_indexed() {
    for merge in [MergePolicy::One, MergePolicy::Tiered, MergePolicy::Never] {
        let config = index::Config { merge, ..index::Config::default() };
        let small = Small::new();
        let url = |number: usize| format!("http://{}.test/{number}", ["a", "b"][number % 2]);
        let urls: Vec<String> = (0..20).map(url).collect();
        let first: Vec<_> =
            (0..).zip(&urls).map(|(number, url)| (&**url, 10, page(number, ""))).collect();
        small.archive(&first);
        let built = small.build_with(&config, Reuse::Unchanged);
        assert_eq!((built.index.added, built.index.removed, built.index.segments), (20, 0, 1));

        // One changed, one gone, one new, one found as it was, one with another link to it.
        let link = format!("<a href={}>quitte</a>", urls[7]);
        small.archive(&[
            (&*urls[3], 20, page(103, "")),
            (&*urls[4], 20, "HTTP/1.1 410 Gone\r\n\r\n".to_owned()),
            ("http://c.test/", 20, page(200, &link)),
        ]);
        small.revisit(&urls[5], 20, &[("Crivello-Purpose", "page")]);
        let built = small.build_with(&config, Reuse::Unchanged);
        let index = built.index;
        assert_eq!((index.documents, index.added, index.removed), (20, 3, 3), "{merge:?}");
        let segments = if merge == MergePolicy::One { 1 } else { 2 };
        assert_eq!(index.segments, segments, "{merge:?}");
        let again = small.build_with(&config, Reuse::Unchanged).index;
        assert!(again.up_to_date && again.segments == segments, "{again:?}");
        let ranks = {
            let index = Index::open(&small.collection.index_dir()).expect("an index");
            let ranks = collection::document_ranks(&small.collection, &index, &Vector::pagerank());
            ranks.expect("ranks").expect("PageRank")
        };
        assert_eq!(ranks.len() as u64, segments, "every generation has its ranks");
        check(&small, &config);
    }
}

/// The damage is after the first 64 KiB of a file, which are verified when the index is opened.
#[test]
fn a_damaged_index_is_rebuilt_completely() {
    let long = |number: u64| {
        let words: Vec<String> = (0..20).map(|part| prose(100 * number + part)).collect();
        words.join(" ")
    };
    let urls: Vec<String> =
        (0..101).map(|n| format!("http://a.test/{}", long(n)[..2000].replace(' ', "/"))).collect();
    let pages = |range: std::ops::Range<usize>| -> Vec<(&str, i64, String)> {
        let numbered = (0..).zip(&urls).skip(range.start).take(range.len());
        numbered.map(|(n, url)| (&**url, 10, html("", &long(n)))).collect()
    };
    for (file, merge) in [("records", MergePolicy::Never), ("positions", MergePolicy::One)] {
        let config = index::Config { merge, ..index::Config::default() };
        let small = Small::new();
        small.archive(&pages(0..100));
        small.build_with(&config, Reuse::Unchanged);
        let path = small.collection.index_dir().join("segment-1-0").join(file);
        let mut bytes = std::fs::read(&path).expect("is there");
        bytes[70_000] ^= 1;
        std::fs::write(&path, bytes).expect("written");
        Index::open(&small.collection.index_dir()).expect("the damage is not at the beginning");
        small.archive(&pages(100..101));
        let built = small.build_with(&config, Reuse::Unchanged).index;
        assert_eq!((built.added, built.removed, built.segments), (101, 0, 1), "{file}");
        let fault = built.fault.expect("it was found");
        let wanted =
            format!("index file {} is damaged at byte 65536: the checksum", path.display());
        assert!(fault.starts_with(&wanted), "{fault}");
        check(&small, &config);
    }
}

#[test]
fn damaged_ranks_are_rewritten() {
    let small = Small::new();
    small.archive(&[("http://a.test/", 10, page(1, "")), ("http://b.test/", 10, page(2, ""))]);
    small.build();
    let index = Index::open(&small.collection.index_dir()).expect("an index");
    let path = small.collection.document_ranks_file(&index, &Vector::pagerank());
    let sound = std::fs::read(&path).expect("ranks");
    let mut bytes = sound.clone();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&path, bytes).expect("written");
    assert!(collection::document_ranks(&small.collection, &index, &Vector::pagerank()).is_err());
    assert!(small.build().index.up_to_date);
    assert_eq!(std::fs::read(&path).expect("ranks"), sound);
}

/// Only the date is new: no document is indexed, and the index knows that it is up to date.
#[test]
fn a_revisit_without_changes_changes_no_document() {
    let small = Small::new();
    small.archive(&[("http://a.test/", 10, page(1, "")), ("http://b.test/", 10, page(2, ""))]);
    let first = small.build().index;
    small.revisit("http://a.test/", 20, &[("Crivello-Purpose", "page")]);
    let second = small.build().index;
    assert_eq!((second.added, second.removed, second.segments), (0, 0, 1));
    assert!(second.generation > first.generation && !second.up_to_date);
    assert!(small.build().index.up_to_date);
}

#[test]
fn many_changes_or_new_settings_cause_a_full_rebuild() {
    let small = Small::new();
    let all = |base: u64| -> Vec<(String, i64, String)> {
        let date = 10 + i64::try_from(base).expect("small");
        (0..6).map(|n| (format!("http://a.test/{n}"), date, page(base + n, ""))).collect()
    };
    let archive = |pages: Vec<(String, i64, String)>| {
        let pages: Vec<_> =
            pages.iter().map(|(url, at, html)| (&**url, *at, html.clone())).collect();
        small.archive(&pages);
    };
    archive(all(0));
    small.build();
    archive(all(100).into_iter().take(5).collect());
    let index = small.build().index;
    assert_eq!((index.added, index.removed, index.segments), (6, 0, 1));
    let other = index::Config { docs_code: index::StreamCode::Gamma, ..index::Config::default() };
    let index = small.build_with(&other, Reuse::Unchanged).index;
    assert_eq!((index.added, index.removed, index.segments), (6, 0, 1));
}

/// A 304 may withhold a page. Only a later answer has the page itself.
#[test]
fn a_noindex_304_hides_a_page_until_later_response() {
    const NOINDEX: &str = "304 Not Modified\r\nX-Robots-Tag: noindex";
    let (small, config) = (Small::new(), index::Config::default());
    let of = |date| [("Crivello-Purpose", "page"), ("WARC-Refers-To-Date", date)];
    let first = of("1970-01-01T00:00:10Z");
    let url = |name: &str| format!("http://{name}.test/");
    let names = ["again", "answered", "closed", "other", "silent", "tied", "twice"];
    let urls = names.map(url);
    let pages: Vec<_> = (0..)
        .zip(&urls)
        .map(|(number, url)| (&**url, 10, html("<title>x</title>", &prose(number))))
        .collect();
    small.archive(&pages);
    let found = || -> Vec<String> {
        small.build_with(&config, Reuse::Unchanged);
        check(&small, &config);
        documents(&small).keys().map(|url| url[7..url.len() - 6].to_owned()).collect()
    };
    assert_eq!(found(), names);
    // Of two in one second the later one counts.
    small.revisit_with(&url("tied"), (20, 0), &first, "304 Not Modified");
    for name in ["again", "answered", "closed", "silent", "tied", "twice"] {
        small.revisit_with(&url(name), (20, 0), &first, NOINDEX);
    }
    let other = "304 Not Modified\r\nX-Robots-Tag: otherbot: noindex";
    small.revisit_with(&url("other"), (20, 0), &first, other);
    assert_eq!(found(), ["other"]);
    // Asked once more, in the same second; later with nothing to say of robots; and later with a page.
    small.revisit_with(&url("again"), (20, 0), &first, "200 OK");
    small.revisit_with(&url("silent"), (30, 0), &first, "304 Not Modified");
    small.archive(&[
        (&*url("answered"), 20, html("<title>x</title>", &prose(7))),
        (&*url("twice"), 30, html("<title>x</title>", &prose(8))),
    ]);
    assert_eq!(found(), ["again", "answered", "other", "silent", "twice"]);
    small.revisit_with(&url("twice"), (40, 0), &of("1970-01-01T00:00:30Z"), NOINDEX);
    assert_eq!(found(), ["again", "answered", "other", "silent"]);
    let table = PageTable::open(&small.collection.pages_dir()).expect("a table");
    let directory = table.directory();
    let entry = |name| &directory.entries()[directory.find(&url(name)).expect("a page")];
    assert_eq!((entry("twice").date_s, entry("closed").date_s), (40, 20));
    let (_, row) = table.page(entry("closed").pointer).expect("a table").expect("a row");
    assert!(row.text.contains(&prose(2)), "the page itself stays");
}

/// A 304 and the answer to the next request may be in two files, in any order, with dates in one second.
#[test]
fn the_later_capture_within_one_second_wins_across_files() {
    let noindex = "304 Not Modified\r\nX-Robots-Tag: noindex";
    let of = [("Crivello-Purpose", "page"), ("WARC-Refers-To-Date", "1970-01-01T00:00:10Z")];
    let url = "http://a.test/";
    for (heads, count) in [([noindex, "200 OK"], 1), (["200 OK", noindex], 0)] {
        for order in [[0, 1], [1, 0]] {
            let small = Small::new();
            small.archive(&[(url, 10, html("<title>x</title>", &prose(0)))]);
            for at in order {
                let date_us = [100, 200][at];
                small.revisit_with(url, (20, date_us), &of, heads[at]);
            }
            small.build();
            assert_eq!(documents(&small).len(), count, "{heads:?} {order:?}");
        }
    }
}

#[test]
fn a_noindex_304_applies_to_the_capture_it_names() {
    let noindex = "304 Not Modified\r\nX-Robots-Tag: noindex";
    for (named, count) in [
        ("1970-01-01T00:00:10.000500Z", 0),
        ("1970-01-01T00:00:10Z", 1),
        ("1970-01-01T00:00:10.000400Z", 1),
    ] {
        let small = Small::new();
        small.archive_at(&[("http://a.test/", (10, 500), html("<title>x</title>", &prose(0)))]);
        let of = [("Crivello-Purpose", "page"), ("WARC-Refers-To-Date", named)];
        small.revisit_with("http://a.test/", (20, 0), &of, noindex);
        small.build();
        assert_eq!(documents(&small).len(), count, "{named}");
    }
}
