//! Import of JSONL documents: compressed, with errors, and found by search.

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
    let sandbox = Sandbox::with_collection();
    fs::write(sandbox.path("two.jsonl.zst"), zstd(TWO)).expect("a file");
    assert_eq!(sandbox.json(&["import", "two.jsonl.zst", "--dir", "web"])["records"], 2);
    // The first bytes decide the format, not the name.
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
fn a_bad_line_is_reported_with_place_and_suggestion() {
    let sandbox = Sandbox::with_collection();
    for (line, words) in [
        (r#"{"id":"1","text":"ok","tilte":"x"}"#, &["\"tilte\"", "did you mean \"title\"?"][..]),
        (r#"{"id":"1","body":"ok"}"#, &["needs a \"text\""]),
        (r#"{"id":"1","id":"2","text":"x"}"#, &["\"id\" is there twice"]),
        (r#"{"id":"1","text":"x"} 5"#, &["something follows the object"]),
        (r#"{"text":"ok"}"#, &["needs an \"id\" or a \"url\""]),
        (
            r#"{"id":"1","text":5}"#,
            &["the field \"text\" is a number, and must be a string", "write {"],
        ),
        ("bad", &["this is not JSON, at byte 1: write {"]),
        (r#"{"url":"foo bar","text":"t"}"#, &["\"foo bar\" is not a web address"]),
    ] {
        fs::write(sandbox.path("d.jsonl"), format!("{{\"id\":\"0\",\"text\":\"t\"}}\n{line}\n"))
            .expect("a file");
        let ran = sandbox.run(&["import", "d.jsonl", "--dir", "web"]);
        let is_placed = ran.stderr.contains("nothing was imported: d.jsonl:2: ");
        assert!(ran.code == 1 && is_placed, "{line}: {ran:#?}");
        assert!(words.iter().all(|word| ran.stderr.contains(word)), "{line}: {ran:#?}");
        assert!(!ran.stderr.contains("at line 1"), "{line}: {ran:#?}");
    }
    // An unknown field is no error, but reported, even if it resembles a missing field.
    let line = r#"{"url":"http://a/","text":"ok","index":1,"time":2,"uid":3}"#;
    fs::write(sandbox.path("d.jsonl"), format!("{line}\n")).expect("a file");
    let ran = sandbox.run(&["import", "d.jsonl", "--dir", "web"]);
    assert!(ran.code == 0 && ran.stderr.contains("index 1, time 1, uid 1"), "{ran:#?}");
}

/// Errors that are not JSON syntax.
#[test]
fn an_unusable_line_is_reported_with_its_place() {
    let sandbox = Sandbox::with_collection();
    let named =
        |id: usize| format!("{{\"id\":\"{}\",\"text\":\"t\"}}", "x".repeat(id)).into_bytes();
    let placed = format!("{{\"url\":\"http://a/{}\",\"text\":\"t\"}}", "x".repeat(3_000));
    for (line, words) in [
        (b" \r".to_vec(), "the line is empty; delete it"),
        (b"{\"id\":\"2\",\"text\":\"caf\xe9\"}".to_vec(), "byte 22 (E9) is not UTF-8"),
        (b"\xff\xfe{\0\"\0".to_vec(), "byte 1 (FF) is not UTF-8"),
        (named(40_000), "the \"id\" has 40000 bytes, at most 32768"),
        (placed.into_bytes(), "the \"url\" has 3009 bytes, at most 2048"),
    ] {
        let lines = [b"{\"id\":\"0\",\"text\":\"t\"}\n", &line[..], b"\n"].concat();
        fs::write(sandbox.path("d.jsonl"), lines).expect("a file");
        let ran = sandbox.run(&["import", "d.jsonl", "--dir", "web"]);
        let is_placed = ran.stderr.contains("nothing was imported: d.jsonl:2: ");
        assert!(ran.code == 1 && is_placed && ran.stderr.len() < 300, "{words:?}: {ran:#?}");
        assert!(ran.stderr.contains(words), "{words:?}: {ran:#?}");
    }
    fs::write(sandbox.path("d.jsonl"), named(32_768)).expect("a file");
    assert_eq!(sandbox.json(&["import", "d.jsonl", "--dir", "web"])["records"], 1);
}

/// The same limit applies to pages and to documents.
#[test]
fn index_and_why_report_overlong_texts() {
    let sandbox = Sandbox::with_collection();
    let text = |bytes: usize| "roses ".repeat(bytes / 6 + 1)[..bytes].to_owned();
    let most = 1 << 20;
    let document =
        |id: &str, bytes: usize| format!("{{\"id\":\"{id}\",\"text\":\"{}\"}}\n", text(bytes));
    let lines = [("most", most), ("long", most + 1), ("longer", 2 * most)];
    let lines: String = lines.iter().map(|&(id, bytes)| document(id, bytes)).collect();
    fs::write(sandbox.path("d.jsonl"), lines).expect("a file");
    let html = format!("<title>Long</title><p>{}", text(most + 2));
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{html}");
    let warc = format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/long\r\n\
         WARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:1>\r\n\
         Content-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n{answer}\r\n\r\n",
        answer.len()
    );
    fs::write(sandbox.path("d.warc"), warc).expect("a file");
    sandbox.done(&["import", "d.jsonl", "d.warc", "--dir", "web"]);
    let ran = sandbox.run(&["index", "--dir", "web"]);
    let told = "Cut       3 pages: only the first 1,048,576 bytes of text are searched: \
                http://a/long, urn:crivello:long, urn:crivello:longer\n";
    assert!(ran.code == 0 && ran.stderr.contains(told), "{ran:#?}");
    for (url, is_cut) in [
        ("urn:crivello:most", false),
        ("urn:crivello:long", true),
        ("urn:crivello:longer", true),
        ("http://a/long", true),
    ] {
        let why = sandbox.json(&["why", url, "--dir", "web"]);
        let said = why["cuts"].to_string().contains("only the first 1048576 bytes of its text");
        assert_eq!(said, is_cut, "{url}: {why:#}");
    }
    assert!(!sandbox.run(&["index", "--dir", "web"]).stderr.contains("Cut "), "nothing was read");
}

/// Records that differ in one number or character are all found. Equal ones are folded if that is configured.
#[test]
fn every_record_is_found_by_its_unique_text() {
    let sandbox = Sandbox::with_collection();
    let kept = "A part for the old pump in the cellar, to be ordered from the office before noon on weekdays, with a \
                seal of rubber and two screws, for all pumps that were built in the same works.";
    let differing = [
        ("part", format!("{kept} BM1690")),
        ("part", format!("{kept} BM1691")),
        ("", "Revenue 2019".to_owned()),
        ("", "Revenue 2020".to_owned()),
        ("", "Invoice of 1200".to_owned()),
        ("", "Invoice of 3400".to_owned()),
        ("C language", kept.to_owned()),
        ("C++ language", kept.to_owned()),
        ("C++ language", kept.to_owned()),
    ];
    let lines = differing.iter().zip(1..).map(|((title, text), id)| {
        format!("{{\"id\":{id},\"title\":\"{title}\",\"text\":\"{text}\"}}\n")
    });
    fs::write(sandbox.path("parts.jsonl"), lines.collect::<String>()).expect("a file");
    sandbox.done(&["import", "parts.jsonl", "--dir", "web"]);
    sandbox.done(&["index", "--dir", "web"]);
    for (query, id) in [
        ("BM1690", 1),
        ("BM1691", 2),
        ("+revenue +2019", 3),
        ("+revenue +2020", 4),
        ("1200", 5),
        ("3400", 6),
    ] {
        let found = sandbox.json(&["search", query, "--dir", "web"]);
        assert_eq!(found["total"], 1, "{query}");
        assert_eq!(found["hits"][0]["url"], format!("urn:crivello:{id}"), "{query}");
    }
    let folded = |set: &[&str]| {
        sandbox.done(&[&["index", "--dir", "web"], set].concat());
        sandbox.json(&[&["status", "--dir", "web"], set].concat())["duplicates"]["folded"].clone()
    };
    assert_eq!(folded(&[]), 0);
    assert_eq!(folded(&["--set", "dedup.fold_records=true"]), 1);
    let why = sandbox.json(&["why", "urn:crivello:9", "--dir", "web"]);
    assert_eq!(why["folded_behind"], "urn:crivello:8", "{why:#}");
    assert_eq!(why["similarity"], 1.0, "{why:#}");
    assert_eq!(folded(&["--set", "dedup.fold_records=true", "--set", "dedup.fold=off"]), 0);
}

const TREC: &str = "
<DOC>
<DOCNO> FT911-3 </DOCNO>
<PROFILE>_AN-BENBQAC8FT</PROFILE>
<HEADLINE>
FT  14 MAY 91 / Okapi
 shares <b>rise</b>
</HEADLINE>
<TEXT>
<!-- a comment about wombats -->
Analysts &amp; zebras, a &lt; b.
<P>Second.</P>
</TEXT>
<TEXT>More of it</TEXT>
</DOC>
<doc><docno>B</docno><body>what else is <i>quaggas</i></body></doc>
<DOC>
<DOCNO>WTX1-B01-2</DOCNO>
<DOCHDR>
http://trec.example:80/deep/ 127.0.0.1 19970101013145 text/html 440
HTTP/1.0 200 OK
Content-type: text/html; charset=latin1
</DOCHDR>
<html><title>Web page</title><body>tapirs <a href=/other>elsewhere</a></body></html>
</DOC>
";

#[test]
fn trec_documents_are_found_by_title_and_text_and_pages_by_their_address() {
    let sandbox = Sandbox::with_collection();
    // By its name, and by its first bytes.
    for name in ["ft.trectext.zst", "ft911_1"] {
        let bytes = if name == "ft911_1" { TREC.as_bytes().to_vec() } else { long_zstd(TREC) };
        fs::write(sandbox.path(name), bytes).expect("a file");
        assert_eq!(sandbox.json(&["import", name, "--dir", "web"])["records"], 3);
    }
    sandbox.done(&["index", "--dir", "web"]);
    for (query, url) in [
        ("title:okapi title:rise zebras", "urn:crivello:FT911-3"),
        ("second more", "urn:crivello:FT911-3"),
        ("quaggas", "urn:crivello:B"),
        ("title:web tapirs", "http://trec.example/deep/"),
    ] {
        let found = sandbox.json(&["search", query, "--dir", "web"]);
        assert_eq!(
            (&found["total"], &found["hits"][0]["url"]),
            (&1.into(), &url.into()),
            "{query}"
        );
    }
    assert_eq!(sandbox.run(&["search", "wombats OR BENBQAC8FT", "--dir", "web"]).code, 3);
    let kept =
        sandbox.done(&["archive", "get", "--headers", "http://trec.example/deep/", "--dir", "web"]);
    assert!(kept.contains("charset=latin1") && kept.contains("<title>Web page"), "{kept}");
}

/// Like [`zstd`], for any length.
fn long_zstd(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).expect("a short text");
    let block = (length << 3 | 1).to_le_bytes();
    let head = [&[0x28, 0xb5, 0x2f, 0xfd, 0xa0][..], &length.to_le_bytes()].concat();
    [&head[..], &block[..3], text.as_bytes()].concat()
}

#[test]
fn bad_trec_documents_are_reported_with_their_byte_offset() {
    let sandbox = Sandbox::with_collection();
    let good = "<DOC><DOCNO>1</DOCNO>x</DOC>\n";
    for (text, said) in [
        ("<DOC><DOCNO>2</DOCNO>", "the document at byte 29: has no </DOC>"),
        ("<DOC>x</DOC>", "byte 29: has no <DOCNO>"),
        ("<DOC><DOCNO> </DOCNO></DOC>", "byte 29: has an empty <DOCNO>"),
        ("<DOC><DOCNO>2</DOCNO><DOCHDR>no where</DOCHDR></DOC>", "\"no\" is not a web address"),
    ] {
        fs::write(sandbox.path("d.trec"), format!("{good}{text}")).expect("a file");
        let ran = sandbox.run(&["import", "d.trec", "--dir", "web"]);
        let told =
            ran.stderr.contains("nothing was imported: d.trec: ") && ran.stderr.contains(said);
        assert!(ran.code == 1 && told, "{text}: {ran:#?}");
    }
    fs::write(sandbox.path("d.trec"), "nothing of the kind").expect("a file");
    let ran = sandbox.run(&["import", "d.trec", "--dir", "web"]);
    assert!(ran.code == 1 && ran.stderr.contains("has nothing to import"), "{ran:#?}");
    fs::write(sandbox.path("d.trec"), format!("{good}<DOG>lost</DOC>\n{good}")).expect("a file");
    let ran = sandbox.run(&["import", "d.trec", "--dir", "web"]);
    let told = ran.stderr.contains("has 15 bytes outside of documents, the first at byte 29");
    assert!(ran.code == 0 && told, "{ran:#?}");
}
