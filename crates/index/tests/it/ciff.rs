//! Exports and imports CIFF files. An invalid file is reported with an offset and changes nothing.

use crate::contents::{Contents, Doc, Random, build, random_docs};
use index::{
    CiffFile, CiffImport, Config, DocId, DocIterator, DocRecord, END, Field, Frequencies, Index,
    IndexError, IndexWriter, MergePolicy, export_ciff,
};
use proptest::prelude::*;
use std::io::{Cursor, Read};
use std::path::Path;

const FILE: &str = "some.ciff";

fn export(dir: &Path, field: Field) -> Vec<u8> {
    let (index, mut bytes) = (Index::open(dir).expect("opens"), Vec::new());
    let name = |record: &DocRecord| record.url.clone();
    export_ciff(&index, field, "of a test", name, Path::new(FILE), &mut bytes).expect("exports");
    bytes
}

fn import(bytes: &[u8], dir: &Path) -> Result<CiffImport, IndexError> {
    let open = || Ok(Box::new(Cursor::new(bytes.to_vec())) as Box<dyn Read>);
    let file = CiffFile::open(Path::new(FILE), &open)?;
    let record = |name: &str| {
        let filters =
            vec!["kind::every".to_owned(), format!("name::{name}"), "no filter".to_owned()];
        (DocRecord { url: name.to_owned(), ..DocRecord::default() }, filters)
    };
    file.import(dir, &Config::default(), "imported", record)
}

/// The offset and the message of the error for an invalid file.
fn fault(bytes: &[u8]) -> (u64, String) {
    let dir = tempfile::tempdir().expect("a folder");
    let inside = dir.path().join("index");
    match import(bytes, &inside).expect_err("is no such file") {
        IndexError::Ciff { file, offset, what } => {
            assert_eq!(file, Path::new(FILE));
            assert!(!inside.exists(), "something was written: {what}");
            (offset, what)
        }
        other => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn an_export_round_trips_without_positions(
        seed in any::<u64>(), count in 1..400_u32, vocabulary in 1..120_u32, field in 0..5_usize,
    ) {
        let docs = random_docs(seed, count, vocabulary);
        let (dir, back) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        build(dir.path(), 256 << 20, &docs, "");
        let field = Field::ALL[field];
        let bytes = export(dir.path(), field);
        let report = import(&bytes, back.path()).expect("imports");
        let model = Contents::of(&docs);
        let lists: Vec<_> = model.lists.iter().filter(|((of, _), _)| *of == field).collect();
        prop_assert_eq!((report.documents, report.terms), (u64::from(count), lists.len() as u64));
        let index = Index::open(back.path()).expect("opens");
        index.verify().expect("is sound");
        let segment = &index.segments()[0];
        prop_assert!(!segment.has_positions());
        for (number, doc) in (0..).zip(&docs) {
            prop_assert_eq!(&segment.record(DocId(number)).expect("reads").url, &doc.record.url);
            let length = segment.length(Field::Body, DocId(number));
            prop_assert_eq!(length, model.lengths[number as usize][field as usize]);
            let peak = segment.max_frequencies(Field::Body).expect("reads").get(DocId(number));
            prop_assert_eq!(peak, model.peaks[number as usize][field as usize]);
        }
        for ((_, term), list) in lists {
            let mut cursor = segment.postings(Field::Body, term).expect("reads").expect("is there");
            for (doc, positions) in list {
                prop_assert_eq!((cursor.doc(), cursor.frequency() as usize), (DocId(*doc), positions.len()));
                cursor.next_doc();
            }
            prop_assert_eq!(cursor.doc(), END);
        }
        let every = segment.doc_frequency(Field::Url, "kind::every").expect("reads");
        prop_assert_eq!(every, count);
        prop_assert_eq!(segment.doc_frequency(Field::Url, "no filter").expect("reads"), 0);
        let name = format!("name::{}", docs[0].record.url);
        let named = segment.postings(Field::Url, &name).expect("reads").expect("is there");
        prop_assert_eq!(named.doc(), DocId(0));
        // An export after the import gives the same bytes.
        prop_assert_eq!(export(back.path(), Field::Body), bytes);
    }

    #[test]
    fn a_changed_file_is_refused_or_imports_soundly(seed in any::<u64>()) {
        let mut random = Random(seed);
        let (dir, back) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        build(dir.path(), 256 << 20, &random_docs(seed, 150, 12), "");
        let whole = export(dir.path(), Field::Body);
        for _ in 0..40 {
            let mut bytes = whole.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(u32::try_from(bytes.len()).expect("small")) as usize;
                match random.below(4) {
                    0 => bytes[at] ^= 1 << random.below(8),
                    1 => bytes.truncate(at.max(1)),
                    2 => drop(bytes.splice(at..at, [0x80; 9])),
                    _ => drop(bytes.drain(at..(at + 5).min(bytes.len() - 1).max(at))),
                }
            }
            match import(&bytes, back.path()) {
                Ok(_) => Index::open(back.path()).expect("opens").verify().expect("is sound"),
                Err(IndexError::Ciff { offset, .. }) => prop_assert!(offset <= bytes.len() as u64),
                Err(other) => panic!("{other}"),
            }
        }
    }
}

/// Several segments are exported as one index, without deleted documents.
#[test]
fn deleted_documents_are_not_exported() {
    let docs = random_docs(11, 200, 60);
    let config = Config { merge: MergePolicy::Never, ..Config::default() };
    let (dir, fresh) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let add = |writer: &mut IndexWriter, docs: &[Doc]| {
        for doc in docs {
            writer.add(&doc.record).expect("takes it");
            doc.terms
                .iter()
                .for_each(|(field, term, position)| writer.term(*field, term, *position));
        }
    };
    let mut writer = IndexWriter::create(dir.path(), &config).expect("begins");
    add(&mut writer, &docs[..150]);
    writer.commit("").expect("is built");
    let mut writer = IndexWriter::update(dir.path(), &config).expect("begins");
    let is_kept = |number: &u32| number % 4 == 1;
    for number in (0..150).filter(|number| !is_kept(number)) {
        writer.delete(0, DocId(number)).expect("is there");
    }
    add(&mut writer, &docs[150..]);
    writer.commit("").expect("is built");
    let kept = (0..).zip(&docs).filter(|(number, _)| *number >= 150 || is_kept(number));
    let kept: Vec<Doc> = kept.map(|(_, doc)| doc.clone()).collect();
    build(fresh.path(), 256 << 20, &kept, "");
    for field in Field::ALL {
        assert_eq!(export(dir.path(), field), export(fresh.path(), field), "{field:?}");
    }
}

#[test]
fn exported_bytes_match_the_published_schema() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer = IndexWriter::create(dir.path(), &Config::default()).expect("begins");
    for (url, text) in [("d0", "a b a"), ("d1", "b")] {
        writer.add(&DocRecord { url: url.to_owned(), ..DocRecord::default() }).expect("takes it");
        for (position, term) in (0..).zip(text.split(' ')) {
            writer.term(Field::Body, term, position);
        }
    }
    writer.commit("").expect("is built");
    let mut expected = Vec::new();
    // Header: version 1, 2 lists, 2 documents, 2, 2, 4 terms, average 2.0, "of a test".
    let header =
        b"\x08\x01\x10\x02\x18\x02\x20\x02\x28\x02\x30\x04\x39\0\0\0\0\0\0\0\x40\x42\x09of a test";
    expected.push(u8::try_from(header.len()).expect("short"));
    expected.extend(header);
    // "a": 1 document, 2 occurrences; document 0, which is omitted, twice.
    expected.extend(b"\x0b\x0a\x01a\x10\x01\x18\x02\x22\x02\x10\x02");
    // "b": 2 documents, 2 occurrences; document 0 once, the next one after it once.
    expected.extend(b"\x11\x0a\x01b\x10\x02\x18\x02\x22\x02\x10\x01\x22\x04\x08\x01\x10\x01");
    expected.extend(b"\x06\x12\x02d0\x18\x03\x08\x08\x01\x12\x02d1\x18\x01");
    assert_eq!(export(dir.path(), Field::Body), expected);
}

/// A message preceded by its length.
fn message(fields: &[&[u8]]) -> Vec<u8> {
    let fields = fields.concat();
    let length = u8::try_from(fields.len()).expect("short");
    assert!(length < 128);
    [&[length][..], &fields].concat()
}

/// A file with one list and two documents.
fn file(list: &[&[u8]], documents: &[&[u8]]) -> Vec<u8> {
    let header = message(&[b"\x08\x01\x10\x01\x18\x02"]);
    let documents = documents.iter().flat_map(|document| message(&[document]));
    [header, message(list)].concat().into_iter().chain(documents).collect()
}

const DOCUMENTS: [&[u8]; 2] = [b"\x12\x01x", b"\x08\x01\x12\x01y\x18\x05"];

#[test]
fn fields_may_be_in_any_order_or_unknown() {
    let dir = tempfile::tempdir().expect("a folder");
    let list: [&[u8]; 5] =
        [b"\x22\x07\x10\x03\x3d\0\0\0\0", b"\x18\x03", b"\x10\x01", b"\x0a\x01t", b"\x7a\x02zz"];
    let report = import(&file(&list, &DOCUMENTS), dir.path()).expect("imports");
    assert_eq!((report.documents, report.terms, report.postings), (2, 1, 1));
    let index = Index::open(dir.path()).expect("opens");
    let mut list =
        index.segments()[0].postings(Field::Body, "t").expect("reads").expect("is there");
    assert_eq!((list.doc(), list.frequency()), (DocId(0), 3));
}

#[test]
fn errors_are_reported_with_their_offset() {
    let postings: [&[u8]; 4] = [b"\x0a\x01t", b"\x10\x02", b"\x18\x02", b"\x22\x02\x10\x01"];
    let wrong = |list: &[&[u8]], documents: &[&[u8]]| fault(&file(list, documents));
    let with = |last: &[u8]| {
        let mut list = postings.to_vec();
        list.push(last);
        fault(&file(&list, &DOCUMENTS))
    };
    for (found, offset, said) in [
        (with(b"\x22\x02\x10\x01"), 20, "the documents of a list do not ascend"),
        (with(b"\x22\x04\x08\x02\x10\x01"), 20, "document 2, and there are 2"),
        (with(b"\x22\x02\x08\x01"), 20, "a document in which the term occurs 0 times"),
        (with(b"\x22\x0f\x08\x01"), 20, "15 bytes, more than there can be"),
        (
            with(b"\x22\x0d\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01"),
            22,
            "the distance of two documents is -1",
        ),
        (wrong(&postings, &DOCUMENTS), 7, "says 2 documents with 2 occurrences, and has 1 with 1"),
        (wrong(&[b"\x0a\x01t"], &DOCUMENTS), 7, "and has 0 with 0"),
    ] {
        assert_eq!(found.0, offset, "{found:?}");
        assert!(found.1.contains(said), "{found:?}");
    }
    let whole: [&[u8]; 4] = [b"\x0a\x01t", b"\x10\x01", b"\x18\x01", b"\x22\x02\x10\x01"];
    for (documents, said) in [
        ([DOCUMENTS[1], DOCUMENTS[0]], "document 1 stands where document 0 should"),
        ([DOCUMENTS[0], b"\x08\x01"], "document 1 has no name"),
        ([DOCUMENTS[0], b"\x08\x01\x12\x01\xff"], "a text that is not UTF-8"),
    ] {
        let (_, what) = wrong(&whole, &documents);
        assert!(what.contains(said), "{what}");
    }
    let good = file(&whole, &DOCUMENTS);
    let (offset, what) = fault(&[&good[..], b"\0"].concat());
    assert_eq!((offset, what.as_str()), (good.len() as u64, "bytes after the last document"));
    let lists: [&[u8]; 2] = [
        b"\x0a\x01b\x10\x01\x18\x01\x22\x02\x10\x01",
        b"\x0a\x01a\x10\x01\x18\x01\x22\x02\x10\x01",
    ];
    let header = message(&[b"\x08\x01\x10\x02\x18\x02"]);
    let unsorted = [header, message(&lists[..1]), message(&lists[1..])].concat();
    assert!(fault(&unsorted).1.contains("\"a\" comes after that of \"b\""));
    assert!(fault(&message(&[b"\x08\x02"])).1.contains("version 2 of the format"));
}

/// Document 0 has `s::x` three times and `t` twice, document 1 has neither.
#[test]
fn a_filter_term_does_not_count_as_peak() {
    let dir = tempfile::tempdir().expect("a folder");
    let header = message(&[b"\x08\x01\x10\x02\x18\x02"]);
    let marked = message(&[b"\x0a\x04s::x\x10\x01\x18\x03\x22\x02\x10\x03"]);
    let word = message(&[b"\x0a\x01t\x10\x01\x18\x02\x22\x02\x10\x02"]);
    let documents = DOCUMENTS.map(|document| message(&[document])).concat();
    import(&[header, marked, word, documents].concat(), dir.path()).expect("imports");
    let index = Index::open(dir.path()).expect("opens");
    index.verify().expect("is sound");
    let peaks = index.segments()[0].max_frequencies(Field::Body).expect("reads");
    assert_eq!([0, 1].map(|doc| peaks.get(DocId(doc))), [2, 0]);
}

#[test]
fn a_truncated_file_changes_nothing() {
    let (dir, old) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    build(dir.path(), 256 << 20, &random_docs(3, 20, 6), "");
    build(old.path(), 256 << 20, &random_docs(4, 9, 6), "old");
    let bytes = export(dir.path(), Field::Body);
    for length in 0..bytes.len() {
        match import(&bytes[..length], old.path()) {
            Err(IndexError::Ciff { offset, .. }) => assert!(offset <= length as u64),
            other => panic!("{length}: {other:?}"),
        }
    }
    assert_eq!(Index::open(old.path()).expect("opens").source(), "old");
}
