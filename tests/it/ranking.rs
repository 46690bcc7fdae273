//! Ranks from the command line and over HTTP: PageRank, topics, freshness.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::sandbox::{Sandbox, get};

/// Three pages with one word in common, equal lengths and different dates.
const PAGES: [(&str, &str, &str); 3] = [
    ("http://a.test/", "2026-01-01", "gardens with many roses"),
    ("http://b.test/", "2026-03-01", "gardens with some tulips"),
    ("http://c.test/", "2026-02-01", "gardens without any weeds"),
];

fn library() -> Sandbox {
    let sandbox = Sandbox::with_collection();
    let mut records = String::new();
    for (number, (url, day, text)) in (1..).zip(PAGES) {
        let body = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{text}</p>");
        write!(
            records,
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-00000000000{number}>\r\n\
             WARC-Date: {day}T00:00:00Z\r\nWARC-Target-URI: {url}\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        )
        .expect("memory");
    }
    fs::write(sandbox.path("pages.warc"), records).expect("a file");
    sandbox.done(&["import", "pages.warc", "--dir", "web"]);
    sandbox.done(&["index", "--dir", "web"]);
    sandbox
}

/// The letters of the result hosts, in order.
fn order(answer: &Value) -> String {
    let hits = answer["hits"].as_array().expect("hits");
    let letter = |hit: &Value| hit["url"].as_str().and_then(|url| url.chars().nth(7));
    hits.iter().filter_map(letter).collect()
}

fn search(sandbox: &Sandbox, flags: &[&str]) -> Value {
    let answer =
        sandbox.json(&[&["search", "--dir", "web", "gardens", "--explain"], flags].concat());
    for hit in answer["hits"].as_array().expect("hits") {
        assert_eq!(hit["explanation"]["value"], hit["score"], "{hit:#}");
        check_sums(&hit["explanation"]);
    }
    answer
}

/// Each score is the sum of its parts, to the last bit.
fn check_sums(part: &Value) {
    let value = |part: &Value| part["value"].as_f64().expect("a number");
    let parts = part["parts"].as_array().expect("parts");
    if !parts.is_empty() {
        let sum = parts.iter().fold(0.0, |sum, part| sum + value(part));
        assert_eq!(sum.to_bits(), value(part).to_bits(), "{part:#}");
    }
    parts.iter().for_each(check_sums);
}

#[test]
fn every_signal_moves_results_and_explains_itself() {
    let sandbox = library();
    assert_eq!(order(&search(&sandbox, &[])), "abc");
    let fresh = search(&sandbox, &["--set", "search.freshness_weight=0.5"]);
    assert_eq!(order(&fresh), "bca");
    fs::write(sandbox.path("visits.tsv"), "http://c.test/\t9\nhttp://x.test/\t1\n")
        .expect("a file");
    let ran = sandbox.run(&["rank", "import", "visits", "visits.tsv", "--dir", "web"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stderr.contains("Imported  2 values; 1 not in the collection"), "{ran:#?}");
    assert!(
        ran.stderr.contains("http://x.test/") && ran.stderr.contains("visits = 0.1"),
        "{ran:#?}"
    );
    let visited = search(&sandbox, &["--set", "search.ranks={ pagerank = 0.1, visits = 0.2 }"]);
    assert_eq!(order(&visited), "cab");
    let topics =
        "rank.topics={ bulbs = { pages = ['http://b.test/'] }, none = { sites = ['x.test'] } }";
    let ran = sandbox.run(&["rank", "--dir", "web", "--set", topics]);
    assert!(ran.stderr.contains("Topic     bulbs: ranked from 1 page\n"), "{ran:#?}");
    assert!(
        ran.stderr.contains("Topic     none: none of its pages is in the collection"),
        "{ran:#?}"
    );
    let of_topic = search(&sandbox, &["--topic", "bulbs"]);
    assert_eq!((order(&of_topic).as_str(), &of_topic["topic"]), ("bac", &"bulbs".into()));
    let status = sandbox.done(&["status", "--dir", "web"]);
    assert!(status.contains("Ranks     in-degree, pagerank, visits\n"), "{status}");
    assert!(status.contains("Topics    bulbs\n"), "{status}");
    // All at once: the explanation has each of them.
    let all = [
        "--topic=bulbs",
        "--set=search.freshness_weight=0.5",
        "--set=search.ranks={ pagerank = 0.1, in-degree = 0.3, visits = 0.2 }",
    ];
    let all = search(&sandbox, &all).to_string();
    for what in ["pagerank: ", "in-degree: ", "visits: ", "topic bulbs: ", "freshness, "] {
        assert!(all.contains(what), "{what}: {all}");
    }
}

#[test]
fn missing_ranks_and_topics_are_reported() {
    let sandbox = library();
    let run =
        |flags: &[&str]| sandbox.run(&[&["search", "--dir", "web", "gardens"], flags].concat());
    let ran = run(&["--set", "search.ranks={ pagerank = 0.1, visits = 0.2 }"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let said = "[search] gives the rank `visits` a weight, but this collection has no such rank; it has in-degree, pagerank";
    assert!(ran.stderr.contains(said), "{ran:#?}");
    assert!(!run(&["--set", "search.ranks={ visits = 0.0 }"]).stderr.contains("visits"));
    let ran = run(&["--topic", "bulbs"]);
    assert!(ran.code == 2 && ran.stderr.contains("there is no topic `bulbs`"), "{ran:#?}");
    let faults = [
        ("Visits", "http://a.test/\t1", 2, "cannot be the name of a rank"),
        ("pagerank", "http://a.test/\t1", 2, "choose another name"),
        ("visits", "http://a.test/ 1", 1, "v.tsv, line 1: there is no tab"),
        (
            "visits",
            "http://a.test/\t1\nhttp://b.test/\t-2",
            1,
            "v.tsv, line 2: \"-2\" is no number",
        ),
    ];
    for (name, lines, code, why) in faults {
        fs::write(sandbox.path("v.tsv"), lines).expect("a file");
        let ran = sandbox.run(&["rank", "import", name, "v.tsv", "--dir", "web"]);
        assert!(ran.code == code && ran.stderr.contains(why), "{ran:#?}");
    }
    let ran = sandbox.run(&["rank", "import", "visits", "nowhere.tsv", "--dir", "web"]);
    assert!(ran.code == 1 && ran.stderr.contains("nowhere.tsv"), "{ran:#?}");
}

#[test]
fn a_topic_can_be_chosen_in_page_and_api() {
    let sandbox = library();
    let file = sandbox.path("web/crivello.toml");
    let text = fs::read_to_string(&file).expect("text");
    let block = "\n[rank.topics.bulbs]\npages = [\"http://b.test/\"]\n";
    let text = text
        .replace("\ntopics = {}\n", "\n")
        .replace("\n[index]\n", &format!("{block}\n[index]\n"));
    fs::write(&file, text).expect("written");
    sandbox.done(&["config", "check", "--dir", "web"]);
    sandbox.done(&["rank", "--dir", "web"]);
    let mut server = sandbox.start(&["serve", "--dir", "web", "--listen", "127.0.0.1:0"]);
    let address = server.first_line();
    let api = |path: &str| -> Value { serde_json::from_str(&get(&address, path).1).expect("JSON") };
    assert_eq!(order(&api("/api/search?q=gardens")), "abc");
    assert_eq!(order(&api("/api/search?q=gardens&topic=")), "abc");
    for _ in 0..2 {
        let found = api("/api/search?q=gardens&topic=bulbs&explain=1");
        assert_eq!(order(&found), "bac");
        found["hits"]
            .as_array()
            .expect("hits")
            .iter()
            .for_each(|hit| check_sums(&hit["explanation"]));
    }
    let (status, body) = get(&address, "/api/search?q=gardens&topic=%22%3Cb%3E");
    assert!(status == 400 && body.contains("it has bulbs"), "{body}");
    let (_, home) = get(&address, "/");
    assert!(home.contains("<option value=\"bulbs\">bulbs</option>"), "{home}");
    let (_, page) = get(&address, "/search?q=gardens&topic=bulbs");
    assert!(page.contains("<option value=\"bulbs\" selected>bulbs</option>"), "{page}");
    assert!(page.contains("/search?q=gardens&amp;page=1&amp;topic=bulbs&amp;explain=1"), "{page}");
    assert!(page.find("http://b.test/") < page.find("http://a.test/"), "{page}");
    let (status, page) = get(&address, "/search?q=gardens&topic=%22%3Cb%3E");
    assert!(status == 400 && page.contains("it has bulbs") && !page.contains("\"<b>"), "{page}");
}

/// No stage can build imported ranks again, so the index does without them and says so.
#[test]
fn a_damaged_file_of_imported_ranks_is_renamed() {
    let sandbox = Sandbox::with_collection();
    fs::write(sandbox.path("d.jsonl"), r#"{"id":"a","text":"gardens"}"#).expect("a file");
    sandbox.done(&["import", "d.jsonl", "--dir", "web"]);
    sandbox.done(&["index", "--dir", "web"]);
    fs::write(sandbox.path("votes.tsv"), "urn:crivello:a\t2\n").expect("a file");
    sandbox.done(&["rank", "import", "votes", "votes.tsv", "--dir", "web"]);
    let path = sandbox.path("web/ranks/votes.values");
    let mut bytes = fs::read(&path).expect("the stored ranks");
    bytes[9] ^= 1;
    fs::write(&path, &bytes).expect("written");
    fs::write(sandbox.path("e.jsonl"), r#"{"id":"b","text":"gardens"}"#).expect("a file");
    sandbox.done(&["import", "e.jsonl", "--dir", "web"]);
    let ran = sandbox.run(&["index", "--dir", "web"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stderr.contains("votes.values is damaged"), "{ran:#?}");
    assert_eq!(fs::read(sandbox.path("web/ranks/votes.values.damaged")).expect("kept"), bytes);
    assert_eq!(sandbox.json(&["search", "--dir", "web", "gardens"])["total"], 2);
    sandbox.done(&["rank", "import", "votes", "votes.tsv", "--dir", "web"]);
    let ran = sandbox.run(&["index", "--dir", "web"]);
    assert!(ran.code == 0 && !ran.stderr.contains("damaged"), "{ran:#?}");
}

/// Documents from another engine have names and no links.
#[test]
fn an_imported_index_uses_ranks_imported_by_the_user() {
    let sandbox = Sandbox::with_collection();
    let documents = PAGES.map(|(url, _, text)| {
        serde_json::json!({ "id": url[7..8], "title": "", "text": text }).to_string()
    });
    fs::write(sandbox.path("d.jsonl"), documents.join("\n")).expect("a file");
    sandbox.done(&["import", "d.jsonl", "--dir", "web"]);
    sandbox.done(&["index", "--dir", "web"]);
    sandbox.done(&["index", "export", "web.ciff", "--dir", "web"]);
    sandbox.done(&["init", "other"]);
    sandbox.done(&["import", "web.ciff", "--dir", "other"]);
    let run = |flags: &[&str]| {
        sandbox.run(&[&["search", "--dir", "other", "gardens", "--json"], flags].concat())
    };
    let plain: Value = serde_json::from_str(&run(&[]).stdout).expect("JSON");
    assert_eq!(plain["notes"], serde_json::json!([]), "nobody asked for PageRank: {plain:#}");
    fs::write(sandbox.path("votes.tsv"), "c\t2\nb\t1\nx\t1\n").expect("a file");
    let told = sandbox.json(&["rank", "import", "votes", "votes.tsv", "--dir", "other"]);
    assert_eq!((&told["values"], &told["first_unknown"]), (&3.into(), &"x".into()), "{told:#}");
    let ran = run(&["--set", "search.ranks={ pagerank = 0.1, votes = 0.9 }"]);
    let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let urls: Vec<_> =
        answer["hits"].as_array().expect("hits").iter().map(|hit| &hit["url"]).collect();
    assert_eq!(urls, ["urn:crivello:c", "urn:crivello:b", "urn:crivello:a"]);
    let path = sandbox.path("other/ranks/votes.values");
    let mut bytes = fs::read(&path).expect("there");
    bytes[9] ^= 1;
    fs::write(&path, bytes).expect("written");
    let ran = sandbox.run(&["doctor", "--dir", "other"]);
    assert!(ran.code == 1 && ran.stdout.contains("votes.values is damaged"), "{ran:#?}");
}

#[test]
fn invalid_topic_settings_are_reported_with_a_remedy() {
    let sandbox = Sandbox::with_collection();
    let file = sandbox.path("web/crivello.toml");
    for (block, said) in [
        ("[rank.topics.a]\npages = ['a']", "topic `a`: \"a\" is no web address"),
        ("[rank.topics.a]\nsite = ['a.test']", "did you mean `sites`?"),
        (
            "[rank]\ntopics = {}\n[rank.topics.a]\npages = ['http://a.test/']",
            "put the block in the place",
        ),
        ("[search]\nfreshness_half_life = '3 months'", "such as \"30d\""),
    ] {
        fs::write(&file, format!("{block}\n")).expect("written");
        let ran = sandbox.run(&["config", "check", "--dir", "web"]);
        assert!(ran.code == 2 && ran.stderr.contains(said), "{block}: {ran:#?}");
    }
}
