//! Static scores: each signal alone reverses an order, and is explained.
#![expect(clippy::float_cmp, reason = "equal means equal")]

use std::sync::Arc;

use index::{DocId, DocRecord, Field, Index, IndexWriter};
use page::{AnalysisConfig, Analyzer};
use query::{Config, Query, Searcher};

use crate::search::check_sums;

const DAY_S: i64 = 86_400;

/// Equal documents with these dates, in one segment.
fn searcher(
    days: &[i64],
    config: Config,
    ranks: &[(&str, &[f32])],
) -> (tempfile::TempDir, Searcher) {
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer = IndexWriter::create(dir.path(), &index::Config::default()).expect("created");
    for day in days {
        writer.add(&DocRecord { date_s: day * DAY_S, ..DocRecord::default() }).expect("added");
        writer.term(Field::Body, "word", 0);
    }
    writer.commit("test").expect("committed");
    let index = Arc::new(Index::open(dir.path()).expect("opened"));
    let analyzer = Analyzer::build(&AnalysisConfig::default()).expect("the default chain");
    let ranks = ranks.iter().map(|(name, values)| ((*name).to_owned(), vec![values.to_vec()]));
    let searcher = Searcher::new(index, analyzer, config, ranks.collect()).expect("ready");
    (dir, searcher)
}

fn word() -> Query {
    Query::Term { field: None, text: "word".to_owned() }
}

/// Documents in the order of results. Checks that every explanation is a sum.
fn order(searcher: &Searcher) -> Vec<u32> {
    let hits = searcher.best(&word(), 0, 100).expect("answered");
    for hit in &hits {
        let explanation = searcher.explain(&word(), 0, hit.doc).expect("found");
        check_sums(&explanation);
        assert_eq!(explanation.value.to_bits(), hit.score.to_bits(), "{explanation}");
    }
    hits.into_iter().map(|hit| hit.doc.0).collect()
}

fn weights(ranks: &[(&str, f64)]) -> Config {
    let ranks = ranks.iter().map(|&(name, weight)| (name.to_owned(), weight)).collect();
    Config { ranks, ..Config::default() }
}

#[test]
fn each_rank_is_multiplied_by_its_weight() {
    let ranks: [(&str, &[f32]); 2] = [("pagerank", &[1.0, 2.0, 3.0]), ("mine", &[9.0, 1.0])];
    for (config, expected) in [
        (weights(&[]), [0, 1, 2]),
        (weights(&[("gone", 5.0)]), [0, 1, 2]),
        (weights(&[("pagerank", 0.1)]), [2, 1, 0]),
        (weights(&[("pagerank", 0.0), ("mine", 0.1)]), [0, 1, 2]),
        (weights(&[("pagerank", 0.1), ("mine", 0.1)]), [0, 1, 2]),
        (weights(&[("pagerank", 1.0), ("mine", 0.1)]), [2, 1, 0]),
    ] {
        let (_dir, searcher) = searcher(&[0, 0, 0], config.clone(), &ranks);
        assert_eq!(order(&searcher), expected, "{config:?}");
    }
}

#[test]
fn invalid_ranks_count_as_zero() {
    let values = [f32::NAN, -1.0, f32::INFINITY, 0.0, 0.5];
    let (_dir, searcher) =
        searcher(&[0; 6], weights(&[("pagerank", 1.0)]), &[("pagerank", &values)]);
    assert_eq!(order(&searcher), [4, 0, 1, 2, 3, 5]);
}

#[test]
fn a_topic_affects_only_searches_that_choose_it() {
    let config = Config { topic_weight: 0.5, ..weights(&[("pagerank", 0.1)]) };
    let (_dir, searcher) = searcher(&[0, 0], config, &[("pagerank", &[3.0, 1.0])]);
    assert_eq!(order(&searcher), [0, 1]);
    let of_topic = searcher.with_topic("zoo", vec![vec![0.0, 40.0]]);
    assert_eq!(order(&of_topic), [1, 0]);
    assert_eq!(order(&searcher), [0, 1], "the other is as it was");
    let said = of_topic.explain(&word(), 0, DocId(1)).expect("found").to_string();
    assert!(said.contains("pagerank: weight 0.1 × ln(1 + 1)"), "{said}");
    assert!(said.contains("topic zoo: weight 0.5 × ln(1 + 40)"), "{said}");
}

#[test]
fn freshness_halves_with_every_half_life_of_age() {
    let half_life = "10d".parse().expect("a time");
    let config = Config { freshness_weight: 0.8, freshness_half_life: half_life, ..weights(&[]) };
    // The date of the second one is outside the range of queries.
    let days = [80, -5, 100, 90];
    let (_dir, searcher) = searcher(&days, config, &[]);
    assert_eq!(order(&searcher), [2, 3, 0, 1]);
    let fresh = |doc| {
        let explanation = searcher.explain(&word(), 0, DocId(doc)).expect("found");
        explanation.parts[1].parts[0].value
    };
    let found = [0, 1, 2, 3].map(fresh);
    assert_eq!(found, [0.2, 0.0, 0.8, 0.4], "of {days:?}");
}
