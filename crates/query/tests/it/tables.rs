//! Questions for words that many documents have, asked so often that the words get tables: what is found is what looking at
//! every document finds, to the last bit, and what is found where there is no room for tables.
//!
//! Words are in a half to a sixtieth of the documents, some of them hundreds of times, in one field or several.

use std::path::Path;
use std::sync::Arc;

use index::{DocRecord, Field, Index, IndexWriter};
use page::{AnalysisConfig, Analyzer};
use query::{Config, FieldWeights, Query, RankValues, Searcher};

use crate::damage::Random;

/// More than two windows of documents.
const DOCUMENTS: u32 = 70_000;
const WORDS: u32 = 9;
/// As often as makes all words known, and more.
const TIMES: usize = 6;

/// Word n is in about one of n + 2 documents, twice as many behind the middle; the last two are rare.
fn write(dir: &Path, random: &mut Random) {
    let mut writer = IndexWriter::create(dir, &index::Config::default()).expect("begun");
    for doc in 0..DOCUMENTS {
        writer.add(&DocRecord::default()).expect("added");
        let mut position = 0;
        for word in 0..WORDS {
            let sparse = if word < WORDS - 2 { word + 2 } else { 20 * word };
            if random.below(if doc < DOCUMENTS / 2 { 2 * sparse } else { sparse }) > 0 {
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
    }
    writer.commit("test").expect("committed");
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
        for k in [1, 10, 40, 300] {
            let best = searcher.best(query, 0, k).expect("answered");
            assert_eq!(best, all[..k.min(all.len())], "{query}, the best {k}");
        }
    }
}

#[test]
fn tables_change_nothing() {
    let (dir, mut random) = (tempfile::tempdir().expect("a folder"), Random(5));
    write(dir.path(), &mut random);
    let index = Arc::new(Index::open(dir.path()).expect("opened"));
    let body = FieldWeights { title: 0.0, headings: 0.0, body: 1.0, url: 0.0, anchor: 0.0 };
    let plain = Config { ranks: [].into(), ..Config::default() };
    // Room for none, for two of one list, for all.
    for table_bytes in [0, 4 * u64::from(DOCUMENTS), 1 << 30] {
        for config in [
            Config::default(),
            plain.clone(),
            Config { weights: body.clone(), b: 0.0, k1: 90.0, ..plain.clone() },
        ] {
            let searcher = searcher(&index, Config { table_bytes, ..config }, &mut random);
            for _ in 0..12 {
                check(&searcher, &question(&mut random));
            }
        }
    }
}
