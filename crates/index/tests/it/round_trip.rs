//! Reads what was written: indexes of random documents against [`Contents`], in one segment and merged from many.

use crate::contents::{Contents, Doc, Random, build, contents_of, random_docs, read_list, term};
use index::{DocId, DocRecord, Field, Index, IndexError};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_index_holds_the_added_documents(
        seed in any::<u64>(), count in 0..400_u32, vocabulary in 1..120_u32, memory_kib in 64..400_usize,
    ) {
        let docs = random_docs(seed, count, vocabulary);
        let dir = tempfile::tempdir().expect("a folder");
        build(dir.path(), memory_kib << 10, &docs, "random");
        let index = Index::open(dir.path()).expect("opens");
        index.verify().expect("is sound");
        prop_assert_eq!(index.source(), "random");
        prop_assert_eq!(index.segments().len(), usize::from(count > 0));
        prop_assert_eq!(Contents::read(&index).expect("reads"), Contents::of(&docs));
    }

    #[test]
    fn a_prefix_lists_exactly_its_terms(
        seed in any::<u64>(), vocabulary in 1..300_u32, rank in 0..300_u32, cut in 0..12_usize,
        other in "[a-r01é]{0,3}",
    ) {
        let docs = random_docs(seed, 60, vocabulary);
        let dir = tempfile::tempdir().expect("a folder");
        build(dir.path(), 256 << 20, &docs, "");
        let index = Index::open(dir.path()).expect("opens");
        let segment = &index.segments()[0];
        let model = Contents::of(&docs).lists;
        let whole = term(rank);
        let cut = whole.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(whole.len());
        for prefix in [&whole[..cut], &other, "", "pre"] {
            for field in Field::ALL {
                let expected: Vec<(String, u32)> = model
                    .iter()
                    .filter(|((of, term), _)| *of == field && term.starts_with(prefix))
                    .map(|((_, term), list)| (term.clone(), u32::try_from(list.len()).expect("few")))
                    .collect();
                let found: Vec<_> = segment.terms(field, prefix).expect("reads").collect();
                prop_assert_eq!(found, expected, "{:?} {:?}", field, prefix);
            }
        }
        for field in Field::ALL {
            let list = read_list(segment, field, &whole).expect("reads");
            prop_assert_eq!(list.as_ref(), model.get(&(field, whole.clone())));
            let absent = format!("{other}?");
            prop_assert_eq!(read_list(segment, field, &absent).expect("reads"), None);
        }
    }
}

/// With a memory limit of zero every document is a segment. There are more than 16 × 16, so segments are merged on
/// three levels.
#[test]
fn merged_segments_have_the_bytes_of_one_segment() {
    let docs = random_docs(7, 290, 40);
    let (one, many) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    build(one.path(), 256 << 20, &docs, "same");
    build(many.path(), 0, &docs, "same");
    let (segment_of_one, segment_of_many) =
        (segment_folder(one.path()), segment_folder(many.path()));
    assert!(segment_of_many.keys().eq(segment_of_one.keys()));
    for (name, bytes) in &segment_of_one {
        assert!(segment_of_many[name] == *bytes, "file {name} differs");
    }
    assert_eq!(contents_of(many.path()).expect("reads"), Contents::of(&docs));
}

#[test]
fn the_same_documents_produce_the_same_bytes() {
    let docs = random_docs(11, 150, 60);
    let folders = [(); 2].map(|()| {
        let dir = tempfile::tempdir().expect("a folder");
        build(dir.path(), 400 << 10, &docs, "same");
        let mut files = segment_folder(dir.path());
        files.insert("manifest".into(), fs::read(dir.path().join("manifest")).expect("is there"));
        files
    });
    assert!(folders[0] == folders[1]);
    assert_eq!(folders[0].len(), 8);
}

#[test]
fn lists_of_lengths_around_a_block_round_trip() {
    let counts = [1, 2, 127, 128, 129, 255, 256, 257, 383, 384, 500];
    let mut random = Random(3);
    let docs: Vec<Doc> = (0..500_u32)
        .map(|number| {
            let mut doc = Doc::default();
            for count in counts {
                // The last `count` documents, so that lists begin at different documents.
                if number >= 500 - count {
                    for position in 0..=random.below(3) {
                        doc.terms.push((Field::Body, count.to_string(), 5 * position));
                    }
                }
            }
            doc
        })
        .collect();
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 256 << 20, &docs, "");
    assert_eq!(contents_of(dir.path()).expect("reads"), Contents::of(&docs));
}

#[test]
fn an_empty_index_has_no_segments() {
    let dir = tempfile::tempdir().expect("a folder");
    assert_eq!(build(dir.path(), 0, &[], "nothing"), 1);
    let index = Index::open(dir.path()).expect("opens");
    assert_eq!((index.generation(), index.source(), index.doc_count()), (1, "nothing", 0));
    assert!(index.segments().is_empty());
    index.verify().expect("is sound");
}

#[test]
fn a_missing_document_has_no_length_or_record() {
    let docs = random_docs(5, 3, 5);
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 0, &docs, "");
    let index = Index::open(dir.path()).expect("opens");
    let segment = &index.segments()[0];
    for doc in [3, 4, u32::MAX - 1, u32::MAX].map(DocId) {
        for field in Field::ALL {
            assert_eq!(segment.length(field, doc), 0);
            assert_eq!(segment.lengths(field).expect("reads").get(doc), 0);
            assert_eq!(segment.max_frequencies(field).expect("reads").get(doc), 0);
        }
        let record = segment.record(doc);
        assert!(matches!(record, Err(IndexError::NoDocument { doc_count: 3, .. })), "{record:?}");
    }
}

#[test]
fn filters_are_not_counted_in_lengths_or_peaks() {
    let doc = |terms: &[&str]| Doc {
        record: DocRecord::default(),
        terms: (0..).zip(terms).map(|(at, term)| (Field::Url, (*term).to_owned(), at)).collect(),
    };
    let docs =
        [doc(&["a", "b", "k::v", "a", "k::v", "k::v"]), doc(&["k::v"]), doc(&["b", "b", "b"])];
    let dir = tempfile::tempdir().expect("a folder");
    for memory_bytes in [0, 256 << 20] {
        build(dir.path(), memory_bytes, &docs, "");
        let index = Index::open(dir.path()).expect("opens");
        index.verify().expect("is sound");
        let segment = &index.segments()[0];
        let peaks = segment.max_frequencies(Field::Url).expect("reads");
        assert_eq!([0, 1, 2].map(|doc| peaks.get(DocId(doc))), [2, 0, 3]);
        assert_eq!([0, 1, 2].map(|doc| segment.length(Field::Url, DocId(doc))), [3, 0, 3]);
    }
}

#[test]
fn reported_sizes_match_the_files() {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 1 << 20, &random_docs(2, 200, 30), "");
    let sizes = Index::open(dir.path()).expect("opens").segments()[0].sizes();
    let files = segment_folder(dir.path());
    let found = [
        ("docs", sizes.docs),
        ("freqs", sizes.freqs),
        ("lengths", sizes.lengths),
        ("lexicon", sizes.lexicon),
        ("positions", sizes.positions),
        ("records", sizes.records),
        ("skips", sizes.skips),
    ];
    let expected: Vec<_> =
        files.iter().map(|(name, file)| (&name[..], file.len() as u64)).collect();
    assert_eq!(found.to_vec(), expected);
}

/// The files of the one segment in the folder, by name.
fn segment_folder(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry").path());
    let folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    assert_eq!(folders.len(), 1, "{folders:?}");
    let files = fs::read_dir(&folders[0]).expect("a folder").map(|file| file.expect("an entry"));
    files
        .map(|file| {
            let name = file.file_name().into_string().expect("a name of ours");
            (name, fs::read(file.path()).expect("is there"))
        })
        .collect()
}
