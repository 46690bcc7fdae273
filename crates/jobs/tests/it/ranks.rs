//! Named ranks: what is computed, of which topics, what users bring, and which document has which.
#![expect(clippy::float_cmp, reason = "equal means equal")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use collection::Vector;
use index::{DocId, Index, MergePolicy};
use jobs::{JobsError, RankConfig, RankImport, RankReport, Reuse, Topic};

use crate::small::{Small, html, prose, silent};

fn link(to: &str) -> String {
    format!("<a href=\"{to}\">link</a> ")
}

/// Two sites: the hub links to all of `a`, which link to the last of them; `sub.b` to `b`; an address that has moved.
fn small() -> Small {
    let small = Small::new();
    let page = |number, links: &[&str]| {
        let links: String = links.iter().map(|to| link(to)).collect();
        html("", &format!("{links}{}", prose(number)))
    };
    small.archive(&[
        ("http://a.test/1", 1, page(1, &["/3"])),
        ("http://a.test/2", 1, page(2, &["/3"])),
        ("http://a.test/3", 1, page(3, &[])),
        ("http://hub.test/", 1, page(4, &["http://a.test/1", "http://a.test/2"])),
        ("http://sub.b.test/", 1, page(5, &["http://b.test/"])),
        ("http://b.test/", 1, page(6, &[])),
        ("http://a.test/old", 1, "HTTP/1.1 301 Moved\r\nLocation: /1\r\n\r\n".to_owned()),
    ]);
    small
}

/// A vector by URL.
fn ranks(small: &Small, vector: &Vector) -> Option<BTreeMap<String, f32>> {
    let index = Index::open(&small.collection.index_dir()).expect("an index");
    let ranks = collection::document_ranks(&small.collection, &index, vector).expect("whole")?;
    assert_eq!(ranks.len(), index.segments().len());
    let mut by_url = BTreeMap::new();
    for (segment, ranks) in index.segments().iter().zip(ranks) {
        assert_eq!(ranks.len(), segment.doc_count() as usize);
        let deleted = segment.deleted().expect("readable");
        for (doc, rank) in (0..).map(DocId).zip(ranks).filter(|(doc, _)| !deleted.contains(*doc)) {
            by_url.insert(segment.record(doc).expect("a record").url, rank);
        }
    }
    Some(by_url)
}

fn vectors(small: &Small) -> Vec<Vector> {
    let index = Index::open(&small.collection.index_dir()).expect("an index");
    collection::document_vectors(&small.collection, &index).into_iter().map(|(it, _)| it).collect()
}

fn of_name(name: &str) -> Vector {
    Vector::Rank(name.to_owned())
}

fn rank(small: &Small, topics: &[(&str, &[&str], &[&str])]) -> RankReport {
    let own = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    let topics = topics.iter().map(|&(name, pages, sites)| {
        (name.to_owned(), Topic { pages: own(pages), sites: own(sites) })
    });
    let config = RankConfig { topics: topics.collect(), ..RankConfig::default() };
    config.check().expect("right");
    jobs::rank(&small.collection, &config, &silent).expect("ranked")
}

fn import(small: &Small, name: &str, lines: &str) -> Result<RankImport, JobsError> {
    jobs::import_ranks(&small.collection, name, Path::new("mine.tsv"), &mut lines.as_bytes())
}

#[test]
fn in_degree_ranks_are_multiples_of_the_average() {
    let small = small();
    let built = small.build();
    assert_eq!(built.rank.ranks, ["pagerank", "in-degree"]);
    assert_eq!(vectors(&small), [of_name("in-degree"), of_name("pagerank")]);
    let ranks = ranks(&small, &of_name("in-degree")).expect("computed");
    // Five links to six pages.
    let times = |links: f32| links * 6.0 / 5.0;
    assert_eq!(ranks["http://a.test/3"], times(2.0));
    assert_eq!(ranks["http://a.test/1"], times(1.0));
    assert_eq!(ranks["http://hub.test/"], 0.0);
}

#[test]
fn a_topic_is_ranked_from_its_pages_and_sites() {
    let small = small();
    small.build();
    let pages: &[&str] = &["HTTP://A.test:80/old", "http://gone.test/"];
    let report = rank(&small, &[("first", pages, &[]), ("second", &[], &["B.test", "c.test"])]);
    let told = |at: usize| (report.topics[at].pages, report.topics[at].missing.clone());
    assert_eq!(told(0), (1, vec!["http://gone.test/".to_owned()]), "the old address is page 1");
    assert_eq!(told(1), (2, vec!["c.test".to_owned()]), "a host below is of the site");
    let topic = |name: &str| ranks(&small, &Vector::Topic(name.to_owned()));
    let first = topic("first").expect("computed");
    assert!(first["http://a.test/1"] > first["http://a.test/3"], "{first:?}");
    assert!(first["http://a.test/3"] > 0.0 && first["http://a.test/2"] == 0.0, "{first:?}");
    assert!((first.values().sum::<f32>() - 6.0).abs() < 1e-5, "{first:?}");
    let second = topic("second").expect("computed");
    assert!(second["http://b.test/"] > second["http://sub.b.test/"], "{second:?}");
    assert_eq!(second["http://a.test/3"], 0.0);

    // Removed topics lose their ranks. Topics without pages get none.
    let report = rank(&small, &[("second", &[], &["b.test"]), ("third", &["http://x.test/"], &[])]);
    assert_eq!(report.topics[1].pages, 0);
    assert!(topic("first").is_none() && topic("third").is_none() && topic("second").is_some());
    assert!(small.build().rank.up_to_date, "without topics nothing is computed");
    assert_eq!(vectors(&small), [of_name("in-degree"), of_name("pagerank")]);
}

/// The file of a vector is written again only if it must be.
#[test]
fn adding_a_vector_does_not_rewrite_the_others() {
    let small = small();
    small.build();
    let written =
        || fs::metadata(small.collection.ranks_file()).expect("there").modified().expect("a time");
    let before = written();
    let topics: [(&str, &[&str], &[&str]); 1] = [("t", &["http://a.test/1"], &[])];
    assert!(!rank(&small, &topics).up_to_date);
    assert!(rank(&small, &topics).up_to_date);
    assert_eq!(written(), before);
    let other: [(&str, &[&str], &[&str]); 1] = [("t", &["http://a.test/2"], &[])];
    assert!(!rank(&small, &other).up_to_date, "the topic is another");
    let topic = ranks(&small, &Vector::Topic("t".to_owned())).expect("computed");
    assert!(topic["http://a.test/2"] > 0.0 && topic["http://a.test/1"] == 0.0, "{topic:?}");
}

/// A kill between a vector by page and the same by document: the next run writes what is missing.
#[test]
fn an_interrupted_ranking_is_completed_by_the_next_run() {
    let small = small();
    small.build();
    import(&small, "mine", "http://a.test/1\t1\nhttp://a.test/2\t3\n").expect("read");
    let index = Index::open(&small.collection.index_dir()).expect("an index");
    let graph = small.collection.graph_dir();
    let by_document = |name: &str| small.collection.document_ranks_file(&index, &of_name(name));
    let old = ["mine", "pagerank"].map(|name| (name, fs::read(by_document(name)).expect("there")));
    import(&small, "mine", "http://a.test/1\t3\nhttp://a.test/2\t1\n").expect("read");
    let config = RankConfig { damping: 0.5, ..RankConfig::default() };
    let rank = || jobs::rank(&small.collection, &config, &silent).expect("ranked");
    rank();
    assert!(!graph.join("stale").exists(), "all is done");
    let new = ["mine", "pagerank"].map(|name| (name, fs::read(by_document(name)).expect("there")));
    assert_ne!(old, new);
    for (name, bytes) in &old {
        fs::write(by_document(name), bytes).expect("written");
    }
    fs::write(graph.join("stale"), "").expect("written");
    assert!(rank().up_to_date);
    for (name, bytes) in &new {
        assert_eq!(&fs::read(by_document(name)).expect("there"), bytes, "{name}");
    }
    assert!(!graph.join("stale").exists());
}

#[test]
fn invalid_topics_are_refused() {
    for (name, pages, sites, why) in [
        ("a.b", &["http://a.test/"][..], &[][..], "small letters"),
        ("", &["http://a.test/"], &[], "small letters"),
        ("documents-1", &["http://a.test/"], &[], "documents-"),
        ("t", &[], &[], "neither"),
        ("t", &["a.test"], &[], "is no web address"),
        ("t", &[], &["http://a.test/"], "is no host"),
        ("t", &[], &["a.test:80"], "is no host"),
        ("t", &[], &[""], "is no host"),
    ] {
        let own = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let topic = Topic { pages: own(pages), sites: own(sites) };
        let topics = [(name.to_owned(), topic)].into();
        let said = RankConfig { topics, ..RankConfig::default() }.check().expect_err("wrong");
        assert!(said.contains(why) && said.contains(&format!("`{name}`")), "{said}");
    }
}

#[test]
fn imported_values_apply_to_pages_and_survive_rebuilds() {
    let small = small();
    // Before there is anything that they could be of.
    let first = import(&small, "early", "http://a.test/1\t3\n").expect("read");
    assert_eq!((first.values, first.unknown), (1, 1));
    small.build();
    assert_eq!(ranks(&small, &of_name("early")).expect("imported")["http://a.test/1"], 1.0);
    let lines = "HTTP://a.test:80/2\t1\r\n\n  http://a.test/old \t 2e0 \nhttp://gone.test/\t0\n\
                 http://b.test/\t0.5\nhttp://hub.test/\t1.5";
    let report = import(&small, "mine", lines).expect("read");
    assert_eq!((report.values, report.unknown), (5, 1));
    assert_eq!(report.first_unknown.as_deref(), Some("http://gone.test/"));
    let expected = [("http://a.test/2", 1.0), ("http://a.test/1", 2.0), ("http://b.test/", 0.5)];
    let check = || {
        let ranks = ranks(&small, &of_name("mine")).expect("imported");
        for (url, value) in expected {
            assert_eq!(ranks[url], value, "{url}");
        }
        assert_eq!(ranks["http://a.test/3"], 0.0);
    };
    check();
    // Whatever happens to the graph and the index.
    fs::remove_dir_all(small.collection.graph_dir()).expect("removed");
    small.build();
    check();
    small.archive(&[("http://gone.test/", 2, html("", &prose(9)))]);
    let config = index::Config { merge: MergePolicy::Never, ..index::Config::default() };
    small.build_with(&config, Reuse::Unchanged);
    check();
    // The value for a page's own URL has precedence over the value for a redirect to it.
    let both = "http://a.test/1\t1\nhttp://a.test/old\t3\n";
    assert_eq!(import(&small, "mine", both).expect("read").unknown, 0);
    assert_eq!(ranks(&small, &of_name("mine")).expect("imported")["http://a.test/1"], 0.5);
    // Taken away by hand.
    fs::remove_file(small.collection.root().join("ranks/mine.values")).expect("removed");
    small.build();
    assert!(ranks(&small, &of_name("mine")).is_none());
    assert!(ranks(&small, &of_name("early")).is_some());
}

#[test]
fn an_unreadable_line_is_reported_and_changes_nothing() {
    let small = small();
    small.build();
    let sound = "http://a.test/1\t1\n";
    import(&small, "mine", sound).expect("read");
    let long = format!("{}\t1\n", "x".repeat(70_000));
    for (second, line, why) in [
        ("http://a.test/2 1\n", 2, "there is no tab"),
        ("\n\nhttp://a.test/2\tx\n", 4, "is no number from 0 to 1e15"),
        ("http://a.test/2\t\n", 2, "is no number"),
        ("http://a.test/2\t-1\n", 2, "is no number"),
        ("http://a.test/2\tnan\n", 2, "is no number"),
        ("http://a.test/2\t1e16\n", 2, "is no number"),
        ("http://a.test/2\t1\t2\n", 2, "is no number"),
        ("\t1\n", 2, "no URL"),
        ("http://A.test:80/1\t2\n", 2, "http://a.test/1 stands in line 1 already"),
        (&*long, 2, "more than 65536 bytes"),
    ] {
        let error = import(&small, "mine", &format!("{sound}{second}")).expect_err("wrong");
        let said = error.to_string();
        assert!(said.starts_with(&format!("mine.tsv, line {line}: ")), "{said}");
        assert!(said.contains(why), "{said}");
    }
    let bytes = &mut &b"http://a.test/1\t1\n\xff\t1\n"[..];
    let error = jobs::import_ranks(&small.collection, "mine", Path::new("m"), bytes);
    assert!(error.expect_err("wrong").to_string().starts_with("m, line 2: it is no UTF-8"));
    assert!(import(&small, "mine", "\n").expect_err("empty").to_string().contains("no value"));
    for name in ["", "Mine", "a/b", "..", "pagerank", "in-degree", "documents-1", "a.b"] {
        let error = import(&small, name, sound).expect_err("no name");
        assert!(matches!(error, JobsError::RankName { .. }), "{name}: {error}");
    }
    assert_eq!(ranks(&small, &of_name("mine")).expect("imported")["http://a.test/1"], 1.0);
}

#[test]
fn a_damaged_user_file_is_reported_with_a_remedy() {
    let small = small();
    small.build();
    import(&small, "mine", "http://a.test/1\t1\n").expect("read");
    let path = small.collection.root().join("ranks/mine.values");
    let sound = fs::read(&path).expect("there");
    for at in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[at] ^= 1;
        fs::write(&path, bytes).expect("written");
        let said = collection::verify_ranks(&small.collection).expect_err("damaged").to_string();
        assert!(said.contains("`crivello rank import`"), "{said}");
    }
    fs::write(&path, sound).expect("written");
    collection::verify_ranks(&small.collection).expect("whole");
}

/// The bytes on the page `docs/formats/graph.md` are those that are written.
#[test]
fn the_format_documentation_shows_the_bytes_of_a_file() {
    let small = small();
    import(&small, "mine", "http://a.test/1\t3\n").expect("read");
    let bytes = fs::read(small.collection.root().join("ranks/mine.values")).expect("there");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/graph.md");
    let page = fs::read_to_string(page).expect("the page");
    let (_, example) = page.split_once("## Values of users").expect("a section");
    let block = example.split("```").nth(1).expect("an example").trim_start_matches("text");
    let byte = |digits: &str| u8::from_str_radix(digits, 16).expect("a byte");
    assert_eq!(block.split_whitespace().map(byte).collect::<Vec<_>>(), bytes);
}
