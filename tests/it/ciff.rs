//! Export and import of indexes of other engines. Import refuses a file with missing data.

use std::fs;

use serde_json::Value;

use crate::sandbox::{Sandbox, files_below, get};

const DOCUMENTS: &str = r#"{"id": "D-1", "text": "zebras and okapis and zebras"}
{"id": "D-2", "text": "one okapi, two okapis, of the Ituri forest, where few have seen them"}
{"url": "http://zoo.example/", "title": "Zoo", "text": "zebras in the state-of-the-art forest of a zoo"}
{"id": "D-4", "text": "a forest without animals"}
"#;

/// Only words of the body count.
const BODY: [&str; 2] = [
    "--set=search.ranks={}",
    "--set=search.weights={ title = 0.0, headings = 0.0, url = 0.0, anchor = 0.0 }",
];

fn hits(sandbox: &Sandbox, dir: &str, query: &str) -> Vec<(String, f64)> {
    hits_with(sandbox, dir, query, &[])
}

fn hits_with(sandbox: &Sandbox, dir: &str, query: &str, flags: &[&str]) -> Vec<(String, f64)> {
    let found = sandbox.json(&[&["search", query, "--dir", dir][..], &BODY, flags].concat());
    let hits = found["hits"].as_array().expect("hits");
    let hit = |hit: &Value| {
        (hit["url"].as_str().expect("a URL").to_owned(), hit["score"].as_f64().expect("a score"))
    };
    hits.iter().map(hit).collect()
}

#[test]
fn an_exported_index_gives_the_same_scores_after_import() {
    let sandbox = Sandbox::of_documents(DOCUMENTS);
    for file in ["w.ciff", "w.ciff.gz"] {
        let report = sandbox.json(&["index", "export", file, "--dir", "web"]);
        assert_eq!(report["documents"], 4, "{report}");
        let back = format!("back-{file}");
        sandbox.done(&["init", &back]);
        let report = sandbox.json(&["import", file, "--dir", &back]);
        assert_eq!((&report["documents"], &report["analysis_stated"]), (&4.into(), &true.into()));
        for query in ["zebra", "okapis", "forest", "zebra OR okapi OR forest", "the -zoo"] {
            let found = hits(&sandbox, &back, query);
            assert!(!found.is_empty(), "{query}");
            assert_eq!(found, hits(&sandbox, "web", query), "{query}");
            let by_tf_idf = |dir| hits_with(&sandbox, dir, query, &["--set=search.model=tf-idf"]);
            assert_eq!(by_tf_idf(&back), by_tf_idf("web"), "{query}");
            assert_ne!(by_tf_idf(&back), found, "{query}");
        }
    }
    assert_ne!(fs::read(sandbox.path("w.ciff.gz")).expect("bytes")[..2], *b"\x08\x01");
    assert_eq!(
        files_below(&sandbox.path("")).iter().filter(|path| path.ends_with(".tmp")).count(),
        0
    );
    // Another field is another file.
    sandbox.done(&["index", "export", "titles.ciff", "--field", "title", "--dir", "web"]);
    let titles = fs::read(sandbox.path("titles.ciff")).expect("bytes");
    assert!(
        titles.windows(3).any(|bytes| bytes == b"zoo")
            && !titles.windows(5).any(|bytes| bytes == b"okapi")
    );
    for (arguments, said) in [
        (&["index", "export", "w.txt", "--dir", "web"][..], "must end with .ciff or .ciff.gz"),
        (&["index", "export", "w.ciff", "--field", "text", "--dir", "web"], "the fields are title"),
    ] {
        let ran = sandbox.run(arguments);
        assert!(ran.code == 2 && ran.stderr.contains(said), "{ran:#?}");
    }
}

#[test]
fn an_imported_index_reports_missing_proximity_scoring() {
    let sandbox = Sandbox::of_documents(DOCUMENTS);
    sandbox.done(&["index", "export", "w.ciff", "--dir", "web"]);
    sandbox.done(&["init", "back"]);
    sandbox.done(&["import", "w.ciff", "--dir", "back"]);
    fs::write(sandbox.path("topics.tsv"), "1\tokapis forest\n2\tforest animals\n").expect("a file");
    fs::write(sandbox.path("qrels.txt"), "1 0 D-2 1\n").expect("a file");
    let near = "--set=search.proximity_weight=1";
    let said = "proximity is ignored: this index has no positions";
    for (dir, is_told) in [("web", false), ("back", true)] {
        let search = sandbox.run(&["search", "okapis forest", "--dir", dir, near]);
        let files = ["--topics", "topics.tsv", "--qrels", "qrels.txt"];
        let eval = sandbox.run(&[&["eval", "--dir", dir, near][..], &files].concat());
        for ran in [search, eval] {
            let told = format!("{}{}", ran.stdout, ran.stderr);
            assert!(
                ran.code == 0 && told.matches(said).count() == usize::from(is_told),
                "{ran:#?}"
            );
        }
    }
}

#[test]
fn an_imported_index_has_no_phrases_no_text_and_no_pages() {
    let sandbox = Sandbox::of_documents(DOCUMENTS);
    sandbox.done(&["index", "export", "w.ciff", "--dir", "web"]);
    sandbox.done(&["init", "back"]);
    sandbox.done(&["import", "w.ciff", "--dir", "back"]);
    for query in ["\"Ituri forest\"", "+state-of-the-art a", "zebra -\"the forest\""] {
        let ran = sandbox.run(&["search", query, "--dir", "back"]);
        assert!(ran.code == 2 && ran.stderr.contains("needs word positions"), "{ran:#?}");
    }
    // A name that is a URL has a site; missing data is reported.
    let found = sandbox.json(&["search", "forest site:zoo.example filetype:html", "--dir", "back"]);
    assert_eq!((&found["total"], &found["notes"]), (&1.into(), &Value::Array(vec![])), "{found}");
    assert_eq!(hits(&sandbox, "back", "ok* date:2020..").len(), 2);
    let ran = sandbox.run(&["search", "forest lang:en", "--dir", "back"]);
    assert!(ran.code == 3 && ran.stderr.contains("`lang:` matches nothing"), "{ran:#?}");
    let found = sandbox.json(&["search", "okapi", "--dir", "back"]);
    let mut all = found["hits"].as_array().expect("hits").iter();
    let hit = all.find(|hit| hit["url"] == "urn:crivello:D-1").expect("it is found");
    assert_eq!(hit["cached"], false);
    assert_eq!(hit["snippet"], Value::Array(Vec::new()));
    let mut server = sandbox.start(&["serve", "--dir", "back", "--listen", "127.0.0.1:0"]);
    let address = server.first_line();
    let (status, page) = get(&address, "/search?q=okapi");
    assert!(status == 200 && page.contains("D-1") && !page.contains("/cached"), "{page}");
    assert_eq!(get(&address, "/search?q=%22Ituri+forest%22").0, 400);

    let status = sandbox.json(&["status", "--dir", "back"]);
    assert_eq!(
        (&status["index"]["imported"], &status["behind"]),
        (&true.into(), &Value::Array(vec![]))
    );
    let findings = sandbox.json(&["doctor", "--dir", "back"]);
    let states = findings["parts"].as_array().expect("parts").iter().map(|part| &part["state"]);
    assert!(states.into_iter().all(|state| state == "whole"), "{findings}");

    // Neither index replaces the other.
    let ran = sandbox.run(&["index", "--dir", "back"]);
    assert!(ran.code == 1 && ran.stderr.contains("was imported, and would be lost"), "{ran:#?}");
    let ran = sandbox.run(&["import", "w.ciff", "--dir", "web"]);
    assert!(ran.code == 1 && ran.stderr.contains("a collection of its own"), "{ran:#?}");
    let ran = sandbox.run(&["import", "w.ciff", "d.jsonl", "--dir", "back"]);
    assert!(ran.code == 2 && ran.stderr.contains("import it alone"), "{ran:#?}");
    assert_eq!(hits(&sandbox, "back", "okapi").len(), 2);
}

/// Only the imported file can rebuild such an index.
#[test]
fn an_unreadable_imported_index_is_not_rebuilt() {
    let sandbox = Sandbox::of_documents(DOCUMENTS);
    sandbox.done(&["index", "export", "w.ciff", "--dir", "web"]);
    sandbox.done(&["init", "back"]);
    sandbox.done(&["import", "w.ciff", "--dir", "back"]);
    let index = sandbox.path("back/index");
    let manifest = fs::read(index.join("manifest")).expect("bytes");
    let of_version = |version: u8| {
        let mut bytes = manifest.clone();
        bytes[12] = version;
        // The checksum of the only chunk comes after it, and a checksum of that at the end.
        let body = bytes.len() - 16;
        let sum = crc32fast::hash(&bytes[..body]);
        bytes[body..body + 4].copy_from_slice(&sum.to_le_bytes());
        let end = bytes.len() - 4;
        let sum = crc32fast::hash(&bytes[body..end]);
        bytes[end..].copy_from_slice(&sum.to_le_bytes());
        bytes
    };
    fs::write(index.join("manifest"), of_version(5)).expect("written");
    let ran = sandbox.run(&["search", "okapi", "--dir", "back"]);
    assert!(ran.code == 1 && ran.stderr.contains("has format version 5"), "{ran:#?}");
    let is_refused = || {
        let ran = sandbox.run(&["index", "--rebuild", "--dir", "back"]);
        let told = "was imported, and would be lost";
        assert!(ran.code == 1 && ran.stderr.contains(told), "{ran:#?}");
        assert!(ran.stderr.contains("made again by `crivello import`"), "{ran:#?}");
    };
    is_refused();
    fs::write(index.join("manifest"), of_version(manifest[12])).expect("written");
    assert_eq!(hits(&sandbox, "back", "okapi").len(), 2);
    let mut inside = fs::read_dir(&index).expect("a folder").flatten().map(|entry| entry.path());
    let segment = inside.find(|path| path.is_dir()).expect("a segment");
    fs::write(segment.join("lexicon"), "nothing").expect("written");
    is_refused();
    sandbox.done(&["import", "w.ciff", "--dir", "back"]);
    assert_eq!(hits(&sandbox, "back", "okapi").len(), 2);
}

#[test]
fn a_damaged_file_changes_nothing() {
    let sandbox = Sandbox::of_documents(DOCUMENTS);
    sandbox.done(&["index", "export", "w.ciff", "--dir", "web"]);
    sandbox.done(&["index", "export", "w.ciff.gz", "--dir", "web"]);
    let whole = fs::read(sandbox.path("w.ciff")).expect("bytes");
    let packed = fs::read(sandbox.path("w.ciff.gz")).expect("bytes");
    sandbox.done(&["init", "empty"]);
    sandbox.done(&["init", "back"]);
    sandbox.done(&["import", "w.ciff", "--dir", "back"]);
    let mut later = whole.clone();
    later[1] = 0x10;
    for (name, bytes, said) in [
        ("cut.ciff", &whole[..whole.len() / 2], "cut.ciff is damaged at byte "),
        ("tail.ciff", &[&whole[..], b"x"].concat(), "bytes after the last document"),
        ("other.ciff", b"WARC/1.1\r\n", "other.ciff is damaged at byte "),
        ("nothing.ciff", b"", "nothing.ciff is damaged at byte 0"),
        ("later.ciff", &later, "version "),
        ("cut.ciff.gz", &packed[..packed.len() - 9], "cut.ciff.gz"),
    ] {
        fs::write(sandbox.path(name), bytes).expect("a file");
        for dir in ["empty", "back"] {
            let ran = sandbox.run(&["import", name, "--dir", dir]);
            let told = ran.stderr.contains("nothing was imported") && ran.stderr.contains(said);
            assert!(ran.code == 1 && told, "{name}: {ran:#?}");
        }
    }
    assert!(!sandbox.path("empty/index").exists());
    sandbox.done(&["status", "--dir", "empty"]);
    assert_eq!(hits(&sandbox, "back", "okapi").len(), 2);
    // A valid index replaces it.
    sandbox.done(&["import", "w.ciff.gz", "--dir", "back"]);
    assert_eq!(hits(&sandbox, "back", "okapi").len(), 2);
}

/// The first byte is the length of the header: one of 40 bytes begins as a file of zstd does, one of 31 as one of gzip.
#[test]
fn a_plain_file_is_not_decompressed() {
    let sandbox = Sandbox::with_collection();
    for length in [31_u8, 40] {
        let counts = b"\x08\x01\x10\x01\x18\x01\x20\x01\x28\x01\x30\x01";
        let described = length - u8::try_from(counts.len() + 2).expect("few");
        let mut bytes = [&[length][..], counts, &[0x42, described]].concat();
        bytes.resize(usize::from(length) + 1, b'd');
        bytes.extend(b"\x0f\x0a\x05zebra\x10\x01\x18\x01\x22\x02\x10\x01\x07\x12\x03FT1\x18\x01");
        fs::write(sandbox.path("z.ciff"), bytes).expect("a file");
        let ran = sandbox.run(&["import", "z.ciff", "--dir", "web"]);
        assert!(ran.code == 0 && ran.stderr.contains("does not say how its terms"), "{ran:#?}");
        assert_eq!(hits(&sandbox, "web", "zebra").len(), 1);
    }
}
