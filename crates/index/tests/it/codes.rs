//! The contents of an index do not depend on the codes of its streams or on merges.

use crate::contents::{Contents, Doc, Random, contents_of, random_docs, write_docs};
use index::{Config, DocId, DocIterator, END, Field, Index, StreamCode};
use std::path::Path;

/// Memory limits: a segment for each document, for several, for all.
const MEMORY: [usize; 3] = [0, 24 << 10, 256 << 20];

fn build(dir: &Path, codes: [StreamCode; 3], memory_bytes: usize, docs: &[Doc]) {
    let [docs_code, freqs_code, positions_code] = codes;
    let config =
        Config { memory_bytes, docs_code, freqs_code, positions_code, ..Config::default() };
    write_docs(dir, &config, docs, "codes").expect("the index is built");
}

/// All pairs of codes of documents and frequencies. They include all pairs of frequencies and positions, and of
/// documents and positions.
fn every_pair() -> impl Iterator<Item = [StreamCode; 3]> {
    let all = StreamCode::ALL;
    let places = (0..all.len()).flat_map(move |a| (0..all.len()).map(move |b| (a, b)));
    places.map(move |(a, b)| [all[a], all[b], all[(a + b) % all.len()]])
}

#[test]
fn an_index_round_trips_under_every_code_pair() {
    let docs = random_docs(42, 150, 10);
    let expected = Contents::of(&docs);
    for (number, codes) in every_pair().enumerate() {
        let dir = tempfile::tempdir().expect("a folder");
        // Merging from single documents takes longest, so only every ninth index does.
        let memory_bytes = if number % 9 == 0 { MEMORY[0] } else { MEMORY[1 + number % 2] };
        build(dir.path(), codes, memory_bytes, &docs);
        let index = Index::open(dir.path()).expect("opens");
        assert_eq!(index.segments()[0].codes(), (codes[0], codes[1], Some(codes[2])));
        index.verify().unwrap_or_else(|error| panic!("{codes:?}: {error}"));
        assert_eq!(Contents::read(&index).expect("reads"), expected, "{codes:?}");
    }
}

/// A thousand walks through lists with skips and positions, compared with the model.
#[test]
fn random_walks_are_equal_under_every_code() {
    let docs = random_docs(43, 1000, 8);
    let model = Contents::of(&docs);
    let lists: Vec<_> = model.lists.iter().collect();
    let list_count = u32::try_from(lists.len()).expect("few");
    for code in StreamCode::ALL {
        let dir = tempfile::tempdir().expect("a folder");
        build(dir.path(), [code; 3], MEMORY[1], &docs);
        let index = Index::open(dir.path()).expect("opens");
        let (mut random, mut positions) = (Random(9), Vec::new());
        for _ in 0..1000 {
            let &(&(field, ref term), list) = &lists[random.below(list_count) as usize];
            let mut cursor = index.segments()[0].postings(field, term).expect("reads").expect("is");
            let (mut at, reach) = (0, 1 + random.below(400));
            while let Some((doc, expected)) = list.get(at) {
                assert_eq!(cursor.doc(), DocId(*doc), "{code:?} {term}");
                if random.below(3) == 0 {
                    index::Positions::positions(&mut cursor, &mut positions);
                    assert_eq!(positions, *expected, "{code:?} {term} {doc}");
                }
                let target = doc + 1 + random.below(reach);
                at += list[at..].partition_point(|(doc, _)| *doc < target);
                cursor.skip_to(DocId(target));
            }
            assert_eq!(cursor.doc(), END);
        }
    }
}

/// A document with many occurrences among others, so that blocks have one or many chunks of positions.
#[test]
fn positions_of_few_and_many_occurrences_round_trip() {
    let mut random = Random(5);
    let docs: Vec<Doc> = (0..700)
        .map(|_| {
            let mut doc = Doc::default();
            let count = [1, 2, 130, 1000, 5][random.below(5) as usize];
            let mut position = 0;
            for _ in 0..count {
                let reach = 1 << random.below(20);
                position += random.below(reach);
                doc.terms.push((Field::Body, "x".to_owned(), position));
            }
            doc
        })
        .collect();
    let expected = Contents::of(&docs);
    for code in StreamCode::ALL {
        let dir = tempfile::tempdir().expect("a folder");
        build(dir.path(), [code; 3], 256 << 20, &docs);
        assert_eq!(contents_of(dir.path()).expect("reads"), expected, "{code:?}");
        // Skip many chunks at once, with lengths of several bytes.
        let index = Index::open(dir.path()).expect("opened");
        let mut cursor =
            index.segments()[0].postings(Field::Body, "x").expect("sound").expect("it is there");
        let mut positions = Vec::new();
        while let DocId(doc) = cursor.doc()
            && cursor.doc() != END
        {
            index::Positions::positions(&mut cursor, &mut positions);
            let of_doc = docs[doc as usize].terms.iter().map(|(_, _, position)| *position);
            assert_eq!(positions, of_doc.collect::<Vec<u32>>(), "{code:?} {doc}");
            cursor.skip_to(DocId(doc + 1 + random.below(60)));
        }
    }
}
