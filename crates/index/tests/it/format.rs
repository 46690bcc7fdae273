//! The bytes on the page `docs/formats/index.md` are those that are written.

use crate::contents::{Doc, build};
use index::{DocRecord, Field};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The example of the page: two documents, "a rose is a rose" and "a rose".
fn example() -> Vec<Doc> {
    [("http://a.example/", "a rose is a rose"), ("http://b.example/", "a rose")]
        .map(|(url, text)| Doc {
            record: DocRecord {
                url: url.to_owned(),
                title: "Rose".to_owned(),
                language: "en".to_owned(),
                date_s: -1,
                content: 300,
                copies: 2,
            },
            terms: (0..)
                .zip(text.split(' '))
                .map(|(position, term)| (Field::Body, term.to_owned(), position))
                .collect(),
        })
        .to_vec()
}

#[test]
fn written_bytes_match_the_documentation_example() {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 256 << 20, &example(), "example");
    let page = fs::read_to_string(page()).expect("the page");
    let files = ["docs", "freqs", "positions", "skips", "lengths", "lexicon", "records"];
    let paths = files.map(|name| format!("segment-1-0/{name}"));
    let mut blocks = String::new();
    for name in paths.iter().map(String::as_str).chain(["manifest"]) {
        let dump = dump(&dir.path().join(name));
        write!(blocks, "\n`{name}`\n\n```text\n{dump}```\n").expect("a string");
    }
    assert!(page.contains(&blocks), "the page should have\n{blocks}");
}

/// Sixteen bytes a line, in hexadecimal and as letters.
fn dump(path: &Path) -> String {
    let mut out = String::new();
    for (line, bytes) in fs::read(path).expect("is there").chunks(16).enumerate() {
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let letters: String = bytes
            .iter()
            .map(|&byte| if byte.is_ascii_graphic() { char::from(byte) } else { '.' })
            .collect();
        writeln!(out, "{:04x}  {:<47}  {letters}", 16 * line, hex.join(" ")).expect("a string");
    }
    out
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/index.md")
}
