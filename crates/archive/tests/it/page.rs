//! The examples on the page about the format are what the writer writes.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use archive::{CdxLine, Location, WriterOptions};
use flate2::read::MultiGzDecoder;

use crate::drafts::{of_every_kind, write_all};

/// The blocks of the page that are marked as `kind`.
fn examples(kind: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/archive.md");
    let page = fs::read_to_string(&page).expect("the page about the format");
    let mark = format!("```{kind}\n");
    let blocks = page.split(&mark).skip(1);
    let blocks: Vec<_> =
        blocks.filter_map(|rest| rest.split("```").next().map(str::to_owned)).collect();
    assert!(!blocks.is_empty(), "no example of {kind}");
    blocks
}

#[test]
fn records_match_the_documentation_page() {
    let dir = tempfile::tempdir().expect("a folder");
    write_all(dir.path(), WriterOptions::default(), &of_every_kind());
    let file = File::open(dir.path().join("crivello-00001.warc.gz")).expect("opened");
    let mut text = String::new();
    MultiGzDecoder::new(file).read_to_string(&mut text).expect("text");
    let text = text.replace("\r\n", "\n");
    for example in examples("warc") {
        assert!(text.contains(&example), "not written:\n{example}\nbut:\n{text}");
    }
    assert_eq!(examples("warc").len(), 6, "one of every kind");
}

#[test]
fn cdxj_lines_match_the_documentation_page() {
    let dir = tempfile::tempdir().expect("a folder");
    write_all(dir.path(), WriterOptions::default(), &of_every_kind());
    let text = fs::read_to_string(dir.path().join("crivello-00001.warc.gz.cdxj")).expect("text");
    // Places depend on the compressor.
    let lines = |text: &str| -> Vec<_> {
        let lines = text.lines().skip(1).map(|line| {
            let line = CdxLine::parse(line).expect("a line");
            let location = Location { offset: 0, length: 0, ..line.location };
            CdxLine { location, ..line }
        });
        lines.collect()
    };
    let [example] = examples("cdxj").try_into().expect("one example");
    assert_eq!(lines(&example), lines(&text));
    assert!(example.starts_with("!meta {\"version\":4,\"filename\":\"crivello-00001.warc.gz\""));
}
