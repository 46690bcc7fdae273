//! Invalid or too great arguments. The next call that can fail returns an error, the writer refuses further calls,
//! and the index is unchanged.

use crate::contents::{Contents, build, contents_of, random_docs};
use index::{
    Config, DocRecord, Field, Index, IndexError, IndexWriter, RECORD_BYTES_MAX, TERM_BYTES_MAX,
};

/// Lets `act` make a mistake after a valid document, and checks that `add` and `commit` return the expected error.
fn check_refused(act: fn(&mut IndexWriter), expected: fn(&IndexError) -> bool) {
    let dir = tempfile::tempdir().expect("a folder");
    let docs = random_docs(1, 5, 5);
    build(dir.path(), 0, &docs, "old");
    let writer = || {
        let mut writer = IndexWriter::create(dir.path(), &Config::default()).expect("created");
        writer.add(&DocRecord::default()).expect("added");
        writer.term(Field::Body, "good", 7);
        act(&mut writer);
        writer.term(Field::Body, "ignored", 0);
        writer
    };
    let error = writer().commit("").expect_err("commit tells");
    assert!(expected(&error), "{error}");
    let mut writer = writer();
    let error = writer.add(&DocRecord::default()).expect_err("add tells");
    assert!(expected(&error), "{error}");
    let again = writer.add(&DocRecord::default()).expect_err("failed for good");
    assert!(matches!(again, IndexError::Misuse { .. }), "{again}");
    writer.commit("").expect_err("failed for good");
    assert_eq!(contents_of(dir.path()).expect("reads"), Contents::of(&docs));
}

#[test]
fn a_term_that_is_too_long_is_refused() {
    check_refused(
        |writer| writer.term(Field::Url, &"x".repeat(TERM_BYTES_MAX + 1), 0),
        |error| matches!(error, IndexError::Limit { found: 4097, max: 4096, .. }),
    );
}

#[test]
fn descending_positions_are_refused() {
    check_refused(
        |writer| writer.term(Field::Body, "good", 6),
        |error| matches!(error, IndexError::Misuse { doc: 0, .. }),
    );
}

#[test]
fn a_term_before_any_document_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer = IndexWriter::create(dir.path(), &Config::default()).expect("created");
    writer.term(Field::Body, "early", 0);
    assert!(matches!(writer.commit(""), Err(IndexError::Misuse { doc: 0, .. })));
    assert!(matches!(Index::open(dir.path()), Err(IndexError::NotAnIndex { .. })));
}

#[test]
fn a_record_that_is_too_long_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer = IndexWriter::create(dir.path(), &Config::default()).expect("created");
    let title = "x".repeat(RECORD_BYTES_MAX);
    let error = writer.add(&DocRecord { title, ..DocRecord::default() });
    assert!(matches!(error, Err(IndexError::Limit { max: 1_048_576, .. })), "{error:?}");
    writer.commit("").expect_err("failed for good");
}

#[test]
fn a_source_that_is_too_long_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let writer = IndexWriter::create(dir.path(), &Config::default()).expect("created");
    let error = writer.commit(&"x".repeat((1 << 20) + 1));
    assert!(matches!(error, Err(IndexError::Limit { .. })), "{error:?}");
    assert!(matches!(Index::open(dir.path()), Err(IndexError::NotAnIndex { .. })));
}

#[test]
fn the_largest_values_round_trip() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer = IndexWriter::create(dir.path(), &Config::default()).expect("created");
    let record = DocRecord {
        url: String::new(),
        title: "x".repeat(RECORD_BYTES_MAX - 40),
        language: String::new(),
        date_s: i64::MIN,
        content: u64::MAX,
        copies: u32::MAX,
    };
    writer.add(&record).expect("added");
    let term = "é".repeat(TERM_BYTES_MAX / 2);
    for position in [0, u32::MAX - 1, u32::MAX, u32::MAX] {
        writer.term(Field::Anchor, &term, position);
    }
    writer.commit(&"é".repeat(1 << 19)).expect("committed");
    let index = Index::open(dir.path()).expect("opens");
    assert_eq!(index.source().len(), 1 << 20);
    let contents = Contents::read(&index).expect("reads");
    assert_eq!(contents.records, [record]);
    let list = &contents.lists[&(Field::Anchor, term)];
    assert_eq!(list[..], [(0, vec![0, u32::MAX - 1, u32::MAX, u32::MAX])]);
}
