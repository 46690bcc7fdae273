//! A thousand queries have the answers of the model, for every coding, build and merge of an index.

use std::path::Path;
use std::sync::Arc;

use index::{DocOrder, Index, IndexWriter, MergePolicy, StreamCode};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use query::{Hit, Query, QueryError, Searcher};

use super::model::{Document, Model};
use super::{analyzer, any_query, document, put, strict};

const QUERIES: usize = 1000;
/// Enough for full blocks and a last one.
const DOCUMENTS: usize = 170;
const POLICIES: [MergePolicy; 3] = [MergePolicy::One, MergePolicy::Tiered, MergePolicy::Never];

/// A value of a strategy.
fn draw<S: Strategy>(strategy: &S, runner: &mut TestRunner) -> S::Value {
    strategy.new_tree(runner).expect("nothing is rejected").current()
}

/// Appends documents to the index of a folder.
fn add(dir: &Path, config: &index::Config, documents: &[Document]) {
    let writer = match Index::open(dir) {
        Ok(_) => IndexWriter::update(dir, config).expect("begun"),
        Err(_) => IndexWriter::create(dir, config).expect("begun"),
    };
    put(writer, documents);
    index::merge(dir, config).expect("merged");
}

/// Ranks for each segment, from those of all documents.
fn split(index: &Index, ranks: &[f32]) -> Vec<Vec<f32>> {
    let mut rest = ranks;
    let part = |segment: &index::Segment| {
        let (mine, others) = rest.split_at(segment.doc_count() as usize);
        rest = others;
        mine.to_vec()
    };
    index.segments().iter().map(part).collect()
}

/// The answer with documents numbered across segments.
fn answer(searcher: &Searcher, index: &Index, query: &Query) -> Option<Vec<Hit>> {
    let found = match searcher.search(query, 0, usize::MAX) {
        Err(QueryError::Empty) => return None,
        found => found.expect("answered"),
    };
    let base = |segment: usize| -> u32 {
        index.segments()[..segment].iter().map(index::Segment::doc_count).sum()
    };
    assert_eq!(found.total, found.hits.len() as u64);
    let through = |hit: Hit| Hit {
        segment: 0,
        doc: index::DocId(base(hit.segment) + hit.doc.0),
        score: hit.score,
    };
    Some(found.hits.into_iter().map(through).collect())
}

/// Each code of documents has its own collection and queries. Frequencies and positions use all codes in turn, and
/// so do merge policies.
#[test]
fn codes_and_merge_policies_do_not_change_results() {
    let mut runner = TestRunner::deterministic();
    let mut segments_seen = [0; POLICIES.len()];
    for (number, docs_code) in StreamCode::ALL.into_iter().enumerate() {
        let documents: Vec<Document> =
            (0..DOCUMENTS).map(|_| draw(&document(), &mut runner)).collect();
        let ranks: Vec<f32> = (0..DOCUMENTS).map(|_| draw(&(0.0..9.0_f32), &mut runner)).collect();
        let queries: Vec<Query> = (0..QUERIES).map(|_| draw(&any_query(), &mut runner)).collect();
        let model = Model { documents: &documents, ranks: &ranks, config: strict() };
        let expected: Vec<_> = queries.iter().map(|query| model.answer(query)).collect();
        for (other, freqs_code) in StreamCode::ALL.into_iter().enumerate() {
            let positions_code = StreamCode::ALL[(number + other) % StreamCode::ALL.len()];
            let turn = |policy: &usize| other == number || (number + other) % 3 == *policy;
            for policy in (0..POLICIES.len()).filter(turn) {
                let merge = POLICIES[policy];
                let memory_bytes = [10 << 10, 1 << 20][(other + policy) % 2];
                let config = index::Config {
                    memory_bytes,
                    docs_code,
                    freqs_code,
                    positions_code,
                    merge,
                    ..index::Config::default()
                };
                let dir = tempfile::tempdir().expect("a folder");
                let cuts = [0, 140, 150, DOCUMENTS];
                for cut in cuts.windows(2) {
                    add(dir.path(), &config, &documents[cut[0]..cut[1]]);
                }
                let index = Arc::new(Index::open(dir.path()).expect("opened"));
                segments_seen[policy] = index.segments().len().max(segments_seen[policy]);
                let ranks = vec![("pagerank".to_owned(), split(&index, &ranks))];
                let searcher = Searcher::new(Arc::clone(&index), analyzer("none"), strict(), ranks)
                    .expect("ready");
                for (query, expected) in queries.iter().zip(&expected) {
                    let found = answer(&searcher, &index, query);
                    assert_eq!(&found, expected, "{query} {config:?}");
                }
            }
        }
    }
    assert!(segments_seen[0] == 1 && segments_seen[1] == 3 && segments_seen[2] > 3);
}

/// Deleted documents are missing from answers and, after a merge, from the statistics.
#[test]
fn deleted_documents_are_not_found() {
    let mut runner = TestRunner::deterministic();
    let documents: Vec<Document> = (0..DOCUMENTS).map(|_| draw(&document(), &mut runner)).collect();
    let queries: Vec<Query> = (0..300).map(|_| draw(&any_query(), &mut runner)).collect();
    let is_left = |place: &usize| place % 5 != 2;
    let left: Vec<Document> =
        (0..DOCUMENTS).filter(is_left).map(|place| documents[place].clone()).collect();
    let dir = tempfile::tempdir().expect("a folder");
    let never = index::Config { merge: MergePolicy::Never, ..index::Config::default() };
    add(dir.path(), &never, &documents[..100]);
    add(dir.path(), &never, &documents[100..]);
    let mut writer = IndexWriter::update(dir.path(), &never).expect("begun");
    for place in (0..DOCUMENTS).filter(|place| !is_left(place)) {
        let (segment, base) = if place < 100 { (0, 0) } else { (1, 100) };
        let doc = index::DocId(u32::try_from(place - base).expect("few"));
        writer.delete(segment, doc).expect("deleted");
    }
    writer.commit("test").expect("committed");
    let model = Model { documents: &left, ranks: &[], config: strict() };
    let places = |index: &Index| -> Vec<u32> {
        let mut places = Vec::new();
        for segment in index.segments() {
            let deleted = segment.deleted().expect("reads");
            for doc in 0..segment.doc_count() {
                let next = places.iter().max().map_or(0, |last| last + 1);
                let gone = deleted.contains(index::DocId(doc));
                places.push(if gone { 0 } else { next });
            }
        }
        places
    };
    for merged in [false, true] {
        if merged {
            let one = index::Config { merge: MergePolicy::One, ..index::Config::default() };
            index::merge(dir.path(), &one).expect("merged").expect("something");
        }
        let index = Arc::new(Index::open(dir.path()).expect("opened"));
        let places = places(&index);
        let searcher = Searcher::new(Arc::clone(&index), analyzer("none"), strict(), Vec::new())
            .expect("ready");
        for query in &queries {
            let expected = model.answer(query);
            let found = answer(&searcher, &index, query);
            if merged {
                assert_eq!(found, expected, "{query}");
                continue;
            }
            // Statistics still count deleted documents: the same documents, in another order.
            let sorted = |hits: Option<Vec<Hit>>, place: &dyn Fn(u32) -> u32| {
                let mut docs: Vec<u32> =
                    hits.into_iter().flatten().map(|hit| place(hit.doc.0)).collect();
                docs.sort_unstable();
                docs
            };
            let found = sorted(found, &|doc| places[doc as usize]);
            assert_eq!(found, sorted(expected, &|doc| doc), "{query}");
        }
    }
    let gone = Index::open(dir.path()).expect("opened");
    assert_eq!(gone.live_count(), left.len() as u64);
}

/// The order of documents changes their numbers, but not the results.
#[test]
fn document_order_does_not_change_scores() {
    let mut runner = TestRunner::deterministic();
    let documents: Vec<Document> = (0..DOCUMENTS).map(|_| draw(&document(), &mut runner)).collect();
    let queries: Vec<Query> = (0..300).map(|_| draw(&any_query(), &mut runner)).collect();
    let model = Model { documents: &documents, ranks: &[], config: strict() };
    let dir = tempfile::tempdir().expect("a folder");
    let config = index::Config { order: DocOrder::Bisection, ..index::Config::default() };
    add(dir.path(), &config, &documents);
    let index = Arc::new(Index::open(dir.path()).expect("opened"));
    let searcher =
        Searcher::new(Arc::clone(&index), analyzer("none"), strict(), Vec::new()).expect("ready");
    let scores = |hits: Option<Vec<Hit>>| -> Option<Vec<u64>> {
        Some(hits?.into_iter().map(|hit| hit.score.to_bits()).collect())
    };
    for query in &queries {
        let found = answer(&searcher, &index, query);
        assert_eq!(scores(found), scores(model.answer(query)), "{query}");
    }
}
