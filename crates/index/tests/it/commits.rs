//! Successive generations: what readers see meanwhile, and which files remain.

use crate::contents::{Contents, Doc, build, contents_of, random_docs};
use index::{Config, DocRecord, Field, Index, IndexError, IndexWriter};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The names in a folder, sorted.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().into_string().expect("a name of ours")).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_reader_keeps_its_generation_despite_later_commits() {
    let dir = tempfile::tempdir().expect("a folder");
    let (first, second) = (random_docs(1, 200, 12), random_docs(2, 100, 12));
    assert_eq!(build(dir.path(), 0, &first, "first"), 1);
    let old = Index::open(dir.path()).expect("opens");
    assert_eq!(build(dir.path(), 0, &second, "second"), 2);
    assert!(!names(dir.path()).contains(&"manifest.tmp".to_owned()));
    let new = Index::open(dir.path()).expect("opens");
    // Start the third generation: the files of the first are removed, because no manifest names them.
    let writer = IndexWriter::create(dir.path(), &Config::default()).expect("created");
    let left = names(dir.path());
    assert!(!left.iter().any(|name| name.starts_with("segment-1-")), "{left:?}");
    assert_eq!((old.generation(), old.source()), (1, "first"));
    assert_eq!(Contents::read(&old).expect("still mapped"), Contents::of(&first));
    old.verify().expect("still mapped");
    assert_eq!((new.generation(), new.source()), (2, "second"));
    assert_eq!(Contents::read(&new).expect("reads"), Contents::of(&second));
    assert_eq!(writer.commit("third").expect("committed"), 3);
    assert_eq!(contents_of(dir.path()).expect("reads"), Contents::default());
}

#[test]
fn uncommitted_files_are_ignored_and_removed() {
    let dir = tempfile::tempdir().expect("a folder");
    let docs = random_docs(1, 30, 8);
    build(dir.path(), 1 << 20, &docs, "committed");
    let before = names(dir.path());
    let mut writer =
        IndexWriter::create(dir.path(), &Config { memory_bytes: 0, ..Config::default() })
            .expect("created");
    for doc in random_docs(2, 20, 8) {
        writer.add(&doc.record).expect("added");
    }
    assert_ne!(names(dir.path()), before);
    drop(writer);
    assert_eq!(names(dir.path()), before, "what was written is gone with its writer");
    let garbage = dir.path().join("segment-99-3");
    fs::create_dir(&garbage).expect("made");
    fs::write(garbage.join("lexicon"), "half a lexicon").expect("written");
    fs::write(dir.path().join("segment-99-4"), "not even a folder").expect("written");
    fs::write(dir.path().join("manifest.tmp"), "half a manifest").expect("written");
    fs::create_dir(dir.path().join("segment-007-0")).expect("not a name of ours");
    fs::write(dir.path().join("notes.txt"), "somebody else's").expect("written");
    assert_eq!(contents_of(dir.path()).expect("reads"), Contents::of(&docs));
    drop(IndexWriter::create(dir.path(), &Config::default()).expect("created"));
    let mut after = before;
    after.extend(["notes.txt".to_owned(), "segment-007-0".to_owned()]);
    after.sort_unstable();
    assert_eq!(names(dir.path()), after);
    assert_eq!(contents_of(dir.path()).expect("reads"), Contents::of(&docs));
    assert_eq!(build(dir.path(), 0, &docs, ""), 2);
}

#[test]
fn the_first_build_removes_files_of_a_stopped_build() {
    let dir = tempfile::tempdir().expect("a folder");
    let inner = dir.path().join("deep/er");
    let mut writer = IndexWriter::create(&inner, &Config { memory_bytes: 0, ..Config::default() })
        .expect("created");
    for doc in random_docs(2, 5, 8) {
        writer.add(&doc.record).expect("added");
    }
    drop(writer);
    assert!(matches!(Index::open(&inner), Err(IndexError::NotAnIndex { .. })));
    assert_eq!(build(&inner, 1 << 20, &random_docs(1, 3, 3), ""), 1);
    assert_eq!(names(&inner), ["lock", "manifest", "segment-1-0"]);
}

/// The number of segments before the commit shows how much memory the build used.
#[test]
fn the_memory_limit_decides_when_postings_are_written() {
    let docs = random_docs(3, 4000, 30);
    let occurrences: usize = docs.iter().map(|doc| doc.terms.len()).sum();
    let segments = [16 << 20, 400 << 10, 200 << 10].map(|memory_bytes| {
        let dir = tempfile::tempdir().expect("a folder");
        let mut writer =
            IndexWriter::create(dir.path(), &Config { memory_bytes, ..Config::default() })
                .expect("created");
        for doc in &docs {
            writer.add(&doc.record).expect("added");
            for (field, term, position) in &doc.terms {
                writer.term(*field, term, *position);
            }
        }
        names(dir.path()).iter().filter(|name| name.starts_with("segment-")).count()
    });
    assert_eq!(segments[0], 1);
    assert!(segments[1] > 1 && segments[2] > segments[1], "{segments:?}");
    // An occurrence takes at least a byte, which limits the size of a segment.
    assert!(segments[2] > occurrences / (200 << 10), "{segments:?}, {occurrences} occurrences");
}

#[test]
fn an_index_has_one_writer_at_a_time() {
    let dir = tempfile::tempdir().expect("a folder");
    let writer = IndexWriter::create(dir.path(), &Config::default()).expect("created");
    let second = IndexWriter::create(dir.path(), &Config::default());
    assert!(matches!(second.err(), Some(IndexError::Locked { path }) if path == dir.path()));
    writer.commit("").expect("committed");
    IndexWriter::create(dir.path(), &Config::default()).expect("the lock is free again");
}

#[test]
fn a_build_replaces_a_damaged_manifest() {
    let dir = tempfile::tempdir().expect("a folder");
    let docs = random_docs(1, 30, 8);
    build(dir.path(), 1 << 20, &docs, "one");
    build(dir.path(), 1 << 20, &docs, "two");
    let path = dir.path().join("manifest");
    let sound = fs::read(&path).expect("is there");
    fs::write(&path, &sound[1..]).expect("written");
    assert!(matches!(Index::open(dir.path()), Err(IndexError::Damaged { .. })));
    // The manifest is damaged but may be repaired, so all segments are kept.
    drop(IndexWriter::create(dir.path(), &Config::default()).expect("created"));
    fs::write(&path, &sound).expect("written");
    assert_eq!(contents_of(dir.path()).expect("reads"), Contents::of(&docs));
    fs::write(&path, &sound[1..]).expect("written");
    assert_eq!(build(dir.path(), 1 << 20, &docs[1..], "three"), 3);
    assert_eq!(contents_of(dir.path()).expect("reads"), Contents::of(&docs[1..]));
    drop(IndexWriter::create(dir.path(), &Config::default()).expect("created"));
    assert_eq!(names(dir.path()), ["lock", "manifest", "segment-3-0"]);
}

/// A reader that opens repeatedly during commits always sees a complete generation, and never an older one.
#[test]
fn readers_open_while_writers_commit() {
    let dir = tempfile::tempdir().expect("a folder");
    let docs: Vec<Doc> = (0..40)
        .map(|number| Doc {
            record: DocRecord { content: number, ..DocRecord::default() },
            terms: vec![(Field::Body, "all".to_owned(), 0), (Field::Url, number.to_string(), 1)],
        })
        .collect();
    build(dir.path(), 1 << 20, &docs[..1], "1");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    let index = Index::open(dir.path()).expect("there is always an index");
                    let count: usize = index.source().parse().expect("a number");
                    assert_eq!(index.generation(), count as u64);
                    assert!(count >= last, "{count} after {last}");
                    assert_eq!(
                        Contents::read(&index).expect("reads"),
                        Contents::of(&docs[..count])
                    );
                    last = count;
                }
            });
        }
        for count in 2..=docs.len() {
            build(dir.path(), 1 << 20, &docs[..count], &count.to_string());
        }
        done.store(true, Ordering::Relaxed);
    });
}
