//! JSONL documents on their way in: compressed or not, misspelt, and found again by what only they say.

use std::fs;

use crate::sandbox::Sandbox;

const TWO: &str = "{\"id\": \"7\", \"title\": \"Seven\", \"text\": \"zebras\"}\n{\"id\": 8, \"text\": \"okapis\"}\n";

/// A frame of zstd with one raw block; at most 255 bytes.
fn zstd(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).expect("a short text");
    let block = (u32::from(length) << 3 | 1).to_le_bytes();
    let head = [0x28, 0xb5, 0x2f, 0xfd, 0x20, length];
    [&head[..], &block[..3], text.as_bytes()].concat()
}

#[test]
fn documents_may_be_compressed() {
    let sandbox = Sandbox::new();
    sandbox.done(&["init", "web"]);
    fs::write(sandbox.path("two.jsonl.zst"), zstd(TWO)).expect("a file");
    assert_eq!(sandbox.json(&["import", "two.jsonl.zst", "--dir", "web"])["records"], 2);
    // What it is stands in its first bytes.
    fs::write(sandbox.path("plain.jsonl.gz"), TWO).expect("a file");
    assert_eq!(sandbox.json(&["import", "plain.jsonl.gz", "--dir", "web"])["records"], 2);
    sandbox.done(&["index", "--dir", "web"]);
    assert!(sandbox.done(&["search", "okapis", "--dir", "web"]).contains("urn:crivello:8"));
    let mut torn = zstd(TWO);
    torn.truncate(60);
    fs::write(sandbox.path("torn.jsonl.zst"), torn).expect("a file");
    let ran = sandbox.run(&["import", "torn.jsonl.zst", "--dir", "web"]);
    assert!(ran.code == 1 && ran.stderr.contains("torn.jsonl.zst"), "{ran:#?}");
}

#[test]
fn a_bad_line_is_told_with_its_place_and_what_was_meant() {
    let sandbox = Sandbox::new();
    sandbox.done(&["init", "web"]);
    for (line, words) in [
        (r#"{"id":"1","text":"ok","tilte":"x"}"#, &["\"tilte\"", "did you mean \"title\"?"][..]),
        (r#"{"id":"1","Text":"ok"}"#, &["\"Text\"", "did you mean \"text\"?"]),
        (r#"{"id":"1","body":"ok"}"#, &["needs a \"text\""]),
        (r#"{"text":"ok"}"#, &["needs an \"id\" or a \"url\""]),
        (
            r#"{"id":"1","text":5}"#,
            &["the field \"text\" is a number, and must be a string", "write {"],
        ),
        ("bad", &["this is no JSON, at byte 1: write {"]),
        (r#"{"url":"foo bar","text":"t"}"#, &["\"foo bar\" is no web address"]),
    ] {
        fs::write(sandbox.path("d.jsonl"), format!("{{\"id\":\"0\",\"text\":\"t\"}}\n{line}\n"))
            .expect("a file");
        let ran = sandbox.run(&["import", "d.jsonl", "--dir", "web"]);
        let is_placed = ran.stderr.contains("nothing was imported: d.jsonl:2: ");
        assert!(ran.code == 1 && is_placed, "{line}: {ran:#?}");
        assert!(words.iter().all(|word| ran.stderr.contains(word)), "{line}: {ran:#?}");
        assert!(!ran.stderr.contains("at line 1"), "{line}: {ran:#?}");
    }
    // A field of somebody else's is no fault, but told; also where it is like one of ours that is missing.
    let line = r#"{"url":"http://a/","text":"ok","index":1,"time":2,"uid":3}"#;
    fs::write(sandbox.path("d.jsonl"), format!("{line}\n")).expect("a file");
    let ran = sandbox.run(&["import", "d.jsonl", "--dir", "web"]);
    assert!(ran.code == 0 && ran.stderr.contains("index 1, time 1, uid 1"), "{ran:#?}");
    let many: Vec<String> = (0..90).map(|n| format!("\"x{n}\":{n}")).collect();
    let line = format!(r#"{{"id":"1","text":"ok",{}}}"#, many.join(","));
    fs::write(sandbox.path("d.jsonl"), format!("{line}\n")).expect("a file");
    let ran = sandbox.run(&["import", "d.jsonl", "--dir", "web"]);
    assert!(ran.code == 0 && ran.stderr.contains("and others 70"), "{ran:#?}");
    let line = r#"{"id":"1","title":"x","text":"ok","author":"me","when":"now"}"#;
    fs::write(sandbox.path("d.jsonl"), format!("{line}\n{line}\n")).expect("a file");
    let ran = sandbox.run(&["import", "d.jsonl", "--dir", "web"]);
    let note = "fields that are not kept, and in how many documents: author 2, when 2";
    assert!(ran.code == 0 && ran.stderr.contains(note), "{ran:#?}");
}

/// Pages of a catalogue that differ in the number of the part alone: a search for a number finds its page.
#[test]
fn every_part_of_a_catalogue_is_found_by_its_number() {
    let sandbox = Sandbox::new();
    sandbox.done(&["init", "web"]);
    let kept = "A part for the old pump in the cellar, to be ordered from the office before noon on weekdays, with a \
                seal of rubber and two screws, for all pumps that were built in the same works.";
    let page = |id: &str, number: &str, seen: u32| {
        format!(
            "{{\"id\":\"{id}\",\"title\":\"Part {number}\",\"text\":\"{kept} {number}, seen {seen} times\"}}\n"
        )
    };
    let pages = [
        page("a", "BM1690", 1),
        page("b", "BM1691", 2),
        page("c", "BM-1700", 3),
        page("d", "bm1691", 44),
    ];
    fs::write(sandbox.path("parts.jsonl"), pages.concat()).expect("a file");
    sandbox.done(&["import", "parts.jsonl", "--dir", "web"]);
    sandbox.done(&["index", "--dir", "web"]);
    for (query, found) in [("BM1690", "urn:crivello:a"), ("BM-1700", "urn:crivello:c")] {
        assert!(sandbox.done(&["search", query, "--dir", "web"]).contains(found), "{query}");
    }
    assert!(sandbox.done(&["search", "BM1691", "--dir", "web"]).contains("urn:crivello:"));
    // The two that differ in the counter alone are one.
    assert_eq!(sandbox.json(&["status", "--dir", "web"])["duplicates"]["folded"], 1);
}
