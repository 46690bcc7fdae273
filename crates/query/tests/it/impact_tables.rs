//! Queries for frequent words, repeated until the words get tables. The results are those of exhaustive evaluation,
//! equal in every bit, with and without memory for tables. Counts are equal as well.
//!
//! The index has a segment of more than two windows, one of a few thousand documents with deletions, and a small
//! one. Words are in half of the documents to almost none, some hundreds of times, in one field or several.

use std::path::Path;
use std::sync::Arc;
use std::thread;

use index::{DocId, DocRecord, Field, Index, IndexWriter, MergePolicy};
use page::{AnalysisConfig, Analyzer};
use query::{Config, FieldWeights, Query, RankValues, Searcher};

use crate::damage::Random;

/// Documents of each segment: more than two windows, enough for tables, too few for them.
const DOCUMENTS: [u32; 3] = [70_000, 5_000, 300];
const WORDS: u32 = 9;
/// Maximum number of words for which tables are used.
const TOGETHER: usize = 16;
/// Enough repetitions to build all tables.
const TIMES: usize = 6;

/// Word n is in about one of n + 2 documents of a segment, half as many before the middle. The last two are rare.
fn write(dir: &Path, random: &mut Random) {
    let config = index::Config { merge: MergePolicy::Never, ..index::Config::default() };
    for (segment, documents) in DOCUMENTS.into_iter().enumerate() {
        let mut writer = match segment {
            0 => IndexWriter::create(dir, &config).expect("begun"),
            _ => IndexWriter::update(dir, &config).expect("begun"),
        };
        (0..documents).for_each(|doc| write_document(&mut writer, random, doc < documents / 2));
        writer.commit("test").expect("committed");
    }
    let mut writer = IndexWriter::update(dir, &config).expect("begun");
    for doc in (0..DOCUMENTS[1]).step_by(7) {
        writer.delete(1, DocId(doc)).expect("deleted");
    }
    writer.commit("test").expect("committed");
}

fn write_document(writer: &mut IndexWriter, random: &mut Random, is_early: bool) {
    writer.add(&DocRecord::default()).expect("added");
    let mut position = 0;
    for word in 0..WORDS {
        let sparse = if word < WORDS - 2 { word + 2 } else { 20 * word };
        if random.below(if is_early { 2 * sparse } else { sparse }) > 0 {
            continue;
        }
        let often = match random.below(900) {
            0 => 250 + random.below(200),
            few => 1 + few % 5,
        };
        for _ in 0..often {
            writer.term(Field::Body, &format!("w{word}"), position);
            position += 1;
        }
    }
    if random.below(3) == 0 {
        writer.term(Field::Title, &format!("w{}", random.below(WORDS)), 0);
    }
    // In every document, a filter and enough words for a query of many.
    writer.term(Field::Url, "site::a", 900);
    (0..=TOGETHER).for_each(|n| writer.term(Field::Headings, &format!("h{n}"), position));
}

fn question(random: &mut Random) -> Query {
    let field = [None, Some(Field::Body)][random.below(2) as usize];
    let mut word = || Query::Term { field, text: format!("w{}", random.below(WORDS)) };
    let words: Vec<Query> = [word(), word(), word(), word()].into();
    let count = 2 + random.below(3) as usize;
    let mut all: Vec<Query> = words.into_iter().take(count).collect();
    if random.below(4) == 0 {
        let unwanted = Query::Term { field: None, text: format!("w{}", random.below(WORDS)) };
        all.push(Query::Not(Box::new(unwanted)));
    }
    Query::And(all)
}

fn words_of(field: Field, terms: impl Iterator<Item = String>) -> Query {
    Query::And(terms.map(|text| Query::Term { field: Some(field), text }).collect())
}

fn searcher(index: &Arc<Index>, config: Config, random: &mut Random) -> Searcher {
    let analysis = AnalysisConfig { stemmer: "none".to_owned(), ..AnalysisConfig::default() };
    let mut rank = |_| [0.0, 0.1, 7.0][random.below(3) as usize];
    let ranks: RankValues = index
        .segments()
        .iter()
        .map(|segment| (0..segment.doc_count()).map(&mut rank).collect())
        .collect();
    let analyzer = Analyzer::build(&analysis).expect("no stemmer");
    Searcher::new(Arc::clone(index), analyzer, config, vec![("pagerank".to_owned(), ranks)])
        .expect("ready")
}

fn check(searcher: &Searcher, query: &Query) {
    let all = searcher.exhaustive(query, 0, usize::MAX).expect("answered");
    for _ in 0..TIMES {
        for k in [1, 10, 20, 300] {
            let best = searcher.best(query, 0, k).expect("answered");
            assert_eq!(best, all[..k.min(all.len())], "{query}, the best {k}");
        }
        let page = searcher.search(query, 0, 10).expect("answered");
        assert_eq!(page.total, all.len() as u64, "{query}");
        assert_eq!(searcher.count(query).expect("counted"), all.len() as u64, "{query}");
    }
}

#[test]
fn tables_do_not_change_results() {
    let (dir, mut random) = (tempfile::tempdir().expect("a folder"), Random(5));
    write(dir.path(), &mut random);
    let index = Arc::new(Index::open(dir.path()).expect("opened"));
    let body = FieldWeights { title: 0.0, headings: 0.0, body: 1.0, url: 0.0, anchor: 0.0 };
    let plain = Config { ranks: [].into(), ..Config::default() };
    // Memory for no table, for two of one list, for all.
    for (table_bytes, tables) in
        [(0, 0..=0), (4 * u64::from(DOCUMENTS[0]), 2..=20), (1 << 30, 8..=99)]
    {
        for config in [
            Config::default(),
            plain.clone(),
            Config { weights: body.clone(), b: 0.0, k1: 90.0, ..plain.clone() },
            // The weight of titles is almost 0, and k1 = 0 gives every occurrence the full score.
            Config {
                weights: FieldWeights { title: 1e-31, ..body.clone() },
                k1: 0.0,
                ..plain.clone()
            },
        ] {
            let searcher = searcher(&index, Config { table_bytes, ..config }, &mut random);
            for _ in 0..12 {
                check(&searcher, &question(&mut random));
            }
            let report = searcher.tables();
            assert!(tables.contains(&report.count) && report.bytes <= table_bytes, "{report:?}");
        }
    }
}

#[test]
fn tables_are_built_for_at_most_sixteen_words() {
    let (dir, mut random) = (tempfile::tempdir().expect("a folder"), Random(6));
    write(dir.path(), &mut random);
    let index = Arc::new(Index::open(dir.path()).expect("opened"));
    for count in [TOGETHER, TOGETHER + 1] {
        let searcher = searcher(&index, Config::default(), &mut random);
        let query = words_of(Field::Headings, (0..count).map(|n| format!("h{n}")));
        // A query builds at most one table.
        (0..2 * TOGETHER).for_each(|_| drop(searcher.best(&query, 0, 10).expect("answered")));
        check(&searcher, &query);
        let expected = if count == TOGETHER { 2 * TOGETHER as u64 } else { 0 };
        assert_eq!(searcher.tables().count, expected, "{count} words");
    }
}

#[test]
fn tables_are_shared_by_concurrent_queries() {
    let (dir, mut random) = (tempfile::tempdir().expect("a folder"), Random(7));
    write(dir.path(), &mut random);
    let index = Arc::new(Index::open(dir.path()).expect("opened"));
    let searcher = searcher(&index, Config::default(), &mut random);
    let words = |of: [u32; 2]| words_of(Field::Body, of.into_iter().map(|n| format!("w{n}")));
    thread::scope(|scope| {
        for of in [[0, 1], [1, 2], [0, 2], [0, 1]] {
            let (searcher, query) = (&searcher, words(of));
            scope.spawn(move || check(searcher, &query));
        }
    });
    // Three words, in two segments.
    assert_eq!(searcher.tables().count, 6);
}

#[test]
fn the_last_document_can_be_the_best() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer = IndexWriter::create(dir.path(), &index::Config::default()).expect("begun");
    // Two windows, with nearly equal scores in all documents.
    for doc in 1..=DOCUMENTS[0] / 2 {
        writer.add(&DocRecord::default()).expect("added");
        let often = 20 + u32::from(doc == DOCUMENTS[0] / 2);
        for position in 0..often {
            writer.term(Field::Body, "w0", 2 * position);
            writer.term(Field::Body, "w1", 2 * position + 1);
        }
    }
    writer.commit("test").expect("committed");
    let index = Arc::new(Index::open(dir.path()).expect("opened"));
    let config = Config { ranks: [].into(), b: 0.0, ..Config::default() };
    let searcher = searcher(&index, config, &mut Random(8));
    check(&searcher, &words_of(Field::Body, ["w0", "w1"].map(str::to_owned).into_iter()));
    assert_eq!(searcher.tables().count, 2);
}
