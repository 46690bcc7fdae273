//! What we write, judged by the tool of the trade: `warcio`, from `WARCIO` or the path.

use std::env;
use std::path::Path;
use std::process::Command;

use archive::WriterOptions;

use crate::drafts::{of_every_kind, resource, response, write_all};

fn warcio(args: &[&str], file: &Path) -> (bool, String) {
    let tool = env::var_os("WARCIO").unwrap_or_else(|| "warcio".into());
    let output = Command::new(&tool).args(args).arg(file).output();
    let output = output.unwrap_or_else(|error| panic!("cannot run {}: {error}", tool.display()));
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    (output.status.success(), text)
}

#[test]
fn needs_warcio_every_record_kind_passes_its_check() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut drafts = of_every_kind();
    drafts.push(response("http://empty.example/", b""));
    drafts.push(resource("http://big.example/", &"large ".repeat(100_000)));
    for gzip_level in [0, 1, 9] {
        let folder = dir.path().join(gzip_level.to_string());
        write_all(&folder, WriterOptions { gzip_level, ..WriterOptions::default() }, &drafts);
        let file = folder.join("crivello-00001.warc.gz");
        let (passed, text) = warcio(&["check", "-v"], &file);
        assert!(passed, "{text}");
        let count = |what: &str| text.lines().filter(|line| line.contains(what)).count();
        assert_eq!(count("offset "), 1 + drafts.len(), "{text}");
        for kind in ["warcinfo", "request", "response", "metadata", "revisit", "resource"] {
            assert!(count(kind) > 0, "no {kind} in {text}");
        }
        assert_eq!(count("fail"), 0, "{text}");
    }
}

/// Its index names the same places as ours.
#[test]
fn needs_warcio_its_index_agrees_with_our_places() {
    let dir = tempfile::tempdir().expect("a folder");
    let drafts = of_every_kind();
    let places = write_all(dir.path(), WriterOptions::default(), &drafts);
    let file = dir.path().join("crivello-00001.warc.gz");
    let fields = "offset,length,warc-type,warc-target-uri";
    let (passed, text) = warcio(&["index", "-f", fields], &file);
    assert!(passed, "{text}");
    let ours: Vec<_> = places
        .iter()
        .zip(&drafts)
        .map(|(place, draft)| {
            let (offset, length) = (place.offset, place.length);
            let target = draft.target.as_deref().expect("each has one");
            format!(
                r#"{{"offset": "{offset}", "length": "{length}", "warc-type": "{}", "warc-target-uri": "{target}"}}"#,
                draft.kind
            )
        })
        .collect();
    assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), ours);
}
