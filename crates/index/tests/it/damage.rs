//! Damaged files: every byte flipped, every length, missing and wrong files. Each must cause an error with the
//! file and offset, or make no difference.

use crate::contents::{Contents, Doc, List, Random, build, contents_of, random_docs, read_list};
use crate::envelope::{FILES, body, header, path_of, seal};
use index::{DocRecord, Field, Index, IndexError};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const ALL_FILES: [&str; 8] =
    ["manifest", "lexicon", "docs", "freqs", "positions", "skips", "lengths", "records"];

/// Checks that an error reports damage of that file, not after offset `at`.
fn check_damaged<T>(result: Result<T, IndexError>, path: &Path, at: usize) {
    match result {
        Err(IndexError::Damaged { file, offset, .. }) => {
            assert_eq!(file, path);
            let near = offset <= at as u64 && (at as u64) < offset + (1 << 16) + 12;
            assert!(near, "{}: byte {at} is wrong, said to be {offset}", path.display());
        }
        Err(error) => panic!("byte {at} of {}: {error:?}", path.display()),
        Ok(_) => panic!("byte {at} of {} is wrong and nobody noticed", path.display()),
    }
}

/// An index with one full block and little else.
fn small() -> Vec<Doc> {
    (0..130)
        .map(|number| {
            let mut doc = Doc::default();
            doc.record.content = number;
            doc.terms.push((Field::Body, "all".to_owned(), 3));
            if number % 40 == 0 {
                doc.terms.push((Field::Title, number.to_string(), 0));
            }
            doc
        })
        .collect()
}

#[test]
fn every_flipped_byte_of_a_small_index_is_detected() {
    let dir = tempfile::tempdir().expect("a folder");
    let docs = small();
    build(dir.path(), 1 << 20, &docs, "flips");
    let expected = Contents::of(&docs);
    for name in ALL_FILES {
        let path = path_of(dir.path(), name);
        let sound = fs::read(&path).expect("is there");
        assert!(sound.len() > 28 && sound.len() < 1 << 15, "{name}: {}", sound.len());
        for at in 0..sound.len() {
            let mut broken = sound.clone();
            broken[at] ^= 1 << (at % 8);
            fs::write(&path, &broken).expect("is written");
            check_damaged(contents_of(dir.path()), &path, at);
        }
        fs::write(&path, &sound).expect("is written");
        assert_eq!(contents_of(dir.path()).expect("is sound again"), expected);
    }
}

#[test]
fn every_wrong_file_length_is_detected() {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 1 << 20, &small(), "lengths");
    for name in ALL_FILES {
        let path = path_of(dir.path(), name);
        let sound = fs::read(&path).expect("is there");
        let longer = sound.iter().chain(&sound).copied().collect::<Vec<u8>>();
        let behind = [1, 4, 12, sound.len()].map(|more| sound.len() + more);
        for bytes in (0..sound.len()).chain(behind) {
            fs::write(&path, &longer[..bytes]).expect("is written");
            match contents_of(dir.path()) {
                Err(IndexError::Damaged { file, .. }) => assert_eq!(file, path),
                other => panic!("{name} of {bytes} bytes: {other:?}"),
            }
        }
        fs::write(&path, &sound).expect("is written");
    }
}

/// In files with many chunks, damage in one does not affect the others: every answer is right, or an error that
/// names the file.
#[test]
fn a_damaged_large_index_never_answers_wrongly() {
    let dir = tempfile::tempdir().expect("a folder");
    let docs = many_terms();
    build(dir.path(), 256 << 20, &docs, "large");
    let lists = Contents::of(&docs).lists;
    let (mut right, mut refused) = (0, 0);
    for name in FILES {
        let path = path_of(dir.path(), name);
        let sound = fs::read(&path).expect("is there");
        assert!(sound.len() > 1 << 16 || ["skips", "lengths"].contains(&name), "{}", sound.len());
        for at in (0..40).map(|part| part * (sound.len() - 1) / 39) {
            let mut broken = sound.clone();
            broken[at] ^= 0x10;
            fs::write(&path, &broken).expect("is written");
            let Ok(index) = Index::open(dir.path()) else {
                check_damaged(Index::open(dir.path()), &path, at);
                continue;
            };
            check_damaged(index.verify(), &path, at);
            for answer in ask(&index, &docs, &lists) {
                match answer {
                    Ok(()) => right += 1,
                    error => {
                        check_damaged(error, &path, at);
                        refused += 1;
                    }
                }
            }
        }
        fs::write(&path, &sound).expect("is written");
    }
    assert!(right > 1000 && refused > 10, "{right} right, {refused} refused");
}

/// Reads some lists and records, and compares those that can be read.
fn ask(
    index: &Index,
    docs: &[Doc],
    lists: &BTreeMap<(Field, String), List>,
) -> Vec<Result<(), IndexError>> {
    let segment = &index.segments()[0];
    let of_lists = lists.iter().step_by(997).map(|((field, term), expected)| {
        read_list(segment, *field, term).map(|list| assert_eq!(list.as_ref(), Some(expected)))
    });
    let of_records = (0..).zip(docs).step_by(997).map(|(number, doc)| {
        segment.record(index::DocId(number)).map(|record| assert_eq!(record, doc.record))
    });
    of_lists.chain(of_records).collect()
}

/// Thousands of documents and terms, so that all files except two have several chunks.
fn many_terms() -> Vec<Doc> {
    let mut random = Random(77);
    (0..9000)
        .map(|_| {
            let url =
                format!("{:x}", u64::from(random.below(u32::MAX)).wrapping_mul(0x1_2345_6789));
            let record = DocRecord {
                url,
                content: u64::from(random.below(u32::MAX)),
                ..DocRecord::default()
            };
            let mut terms: Vec<_> = (0..40).map(|_| random.below(20_000)).collect();
            terms.sort_unstable();
            terms.dedup();
            let mut doc = Doc { record, terms: Vec::new() };
            for term in terms {
                let name = format!("{}w{term}", term % 9);
                for place in 0..=random.below(4) {
                    let position = (place << 20) + random.below(1 << 20);
                    doc.terms.push((Field::Body, name.clone(), position));
                }
            }
            doc
        })
        .collect()
}

#[test]
fn missing_files_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 1 << 20, &random_docs(4, 40, 8), "missing");
    for name in FILES {
        let path = path_of(dir.path(), name);
        let away = dir.path().join("away");
        fs::rename(&path, &away).expect("moves");
        match Index::open(dir.path()) {
            Err(IndexError::Damaged { file, .. }) => assert_eq!(file, path),
            other => panic!("{name}: {other:?}"),
        }
        // A folder instead of the file.
        fs::create_dir(&path).expect("is made");
        check_damaged(Index::open(dir.path()), &path, 0);
        fs::remove_dir(&path).expect("is removed");
        fs::rename(&away, &path).expect("moves");
    }
    fs::remove_file(dir.path().join("manifest")).expect("is removed");
    let found = Index::open(dir.path());
    assert!(matches!(&found, Err(IndexError::NotAnIndex { path }) if path == dir.path()));
    let found = Index::open(&dir.path().join("nowhere"));
    assert!(matches!(found, Err(IndexError::NotAnIndex { .. })));
}

#[test]
fn a_file_of_another_segment_or_kind_is_refused() {
    let (dir, other) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    build(dir.path(), 1 << 20, &random_docs(1, 200, 8), "");
    build(other.path(), 1 << 20, &random_docs(2, 200, 8), "");
    for name in FILES {
        let path = path_of(dir.path(), name);
        let sound = fs::read(&path).expect("is there");
        fs::copy(path_of(other.path(), name), &path).expect("is copied");
        let found = Index::open(dir.path());
        assert!(matches!(&found, Err(IndexError::Damaged { file, .. }) if *file == path), "{name}");
        fs::write(&path, &sound).expect("is written");
    }
    fs::copy(path_of(dir.path(), "docs"), dir.path().join("manifest")).expect("is copied");
    check_damaged(Index::open(dir.path()), &dir.path().join("manifest"), 0);
}

#[test]
fn another_format_version_is_reported() {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 1 << 20, &random_docs(1, 20, 8), "");
    let path = dir.path().join("manifest");
    let file = fs::read(&path).expect("is there");
    let newer = [&header("mani", 11), &body(&file)[16..]].concat();
    fs::write(&path, seal(&newer)).expect("is written");
    let found = Index::open(dir.path());
    assert!(
        matches!(&found, Err(IndexError::Version { file, found: 11, expected: 10 }) if *file == path),
        "{found:?}"
    );
}
