//! Checks our files with the tool `warcio`, from `WARCIO` or the path.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use archive::{Compression, WriterOptions};

use crate::drafts::{first_file, of_every_kind, resource, response, with, write_all};

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
    for level in [0, 1, 9] {
        let folder = dir.path().join(level.to_string());
        write_all(&folder, with(Compression::Gzip { level }), &drafts);
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

/// It reads no zstd, so it is given what our frames hold, unpacked by zstd itself.
#[test]
fn needs_warcio_zstd_records_pass_its_check() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut drafts = of_every_kind();
    drafts.push(resource("http://big.example/", &"large ".repeat(100_000)));
    for level in [1, 3, 19] {
        let (folder, compression) =
            (dir.path().join(level.to_string()), Compression::Zstd { level });
        write_all(&folder, with(compression), &drafts);
        let packed = fs::read(folder.join(first_file(compression))).expect("read");
        let mut plain = Vec::with_capacity(2 << 20);
        zstd_safe::decompress(&mut plain, &packed).expect("every frame is whole");
        let file = folder.join("plain.warc");
        fs::write(&file, plain).expect("written");
        let (passed, text) = warcio(&["check", "-v"], &file);
        assert!(passed, "{text}");
        let count = |what: &str| text.lines().filter(|line| line.contains(what)).count();
        assert_eq!((count("offset "), count("fail")), (1 + drafts.len(), 0), "{text}");
    }
}

/// Its index names the same places as ours.
#[test]
fn needs_warcio_its_index_matches_our_locations() {
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
