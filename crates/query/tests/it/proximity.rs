//! Proximity: orders that it reverses, scores by hand, and an index without positions.

use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use index::{CiffFile, DocId, DocRecord, Field, Index, IndexWriter, export_ciff};
use page::{AnalysisConfig, Analyzer};
use query::{Config, Query, Searcher, parse};

use crate::search::check_sums;

/// An index of texts, each the body of a document of one host with the title "title".
fn build(dir: &Path, texts: &[&str]) {
    let mut writer = IndexWriter::create(dir, &index::Config::default()).expect("created");
    for (number, text) in texts.iter().enumerate() {
        let record = DocRecord { url: number.to_string(), ..DocRecord::default() };
        writer.add(&record).expect("added");
        writer.term(Field::Title, "title", 0);
        writer.term(Field::Url, "site::a.example", 0);
        for (position, word) in (0..).zip(text.split_whitespace()) {
            writer.term(Field::Body, word, position);
        }
    }
    writer.commit("test").expect("committed");
}

fn open(dir: &Path, config: &str) -> Searcher {
    let index = Arc::new(Index::open(dir).expect("opened"));
    let analysis = AnalysisConfig { stemmer: "none".to_owned(), ..AnalysisConfig::default() };
    let analyzer = Analyzer::build(&analysis).expect("no stemmer");
    let config: Config = toml::from_str(config).expect("a configuration");
    Searcher::new(index, analyzer, config, Vec::new()).expect("ready")
}

fn of_texts(texts: &[&str], config: &str) -> (tempfile::TempDir, Searcher) {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), texts);
    let searcher = open(dir.path(), config);
    (dir, searcher)
}

/// Documents in the order of results. Checks that every explanation is a sum.
fn order(searcher: &Searcher, query: &Query) -> Vec<u32> {
    let hits = searcher.best(query, 0, 100).expect("answered");
    assert_eq!(hits, searcher.exhaustive(query, 0, 100).expect("answered"));
    for hit in &hits {
        let explanation = searcher.explain(query, 0, hit.doc).expect("found");
        check_sums(&explanation);
        assert_eq!(explanation.value.to_bits(), hit.score.to_bits(), "{explanation}");
    }
    hits.into_iter().map(|hit| hit.doc.0).collect()
}

/// The texts have equal lengths and word frequencies, so without proximity their scores are equal.
const TEXTS: [&str; 6] = [
    "city x x x x x hall x x x", // 0: six apart
    "x city x x x hall x x x x", // 1: four
    "x x x hall city x x x x x", // 2: one, the other way round
    "x x city x hall x x x x x", // 3: two
    "x x x x x x x x x x",
    "city x x x x x x x x x",
];

#[test]
fn proximity_weight_ranks_nearer_words_first() {
    let query = |text: &str| parse(text).expect("a query");
    for model in ["bm25f", "tf-idf"] {
        let (_dir, without) = of_texts(&TEXTS, &format!("model = '{model}'"));
        let with = format!("model = '{model}'\nproximity_weight = 0.5");
        let (_dir, with) = of_texts(&TEXTS, &with);
        for text in ["city hall", "hall city", "city site:a.example hall", "title city hall"] {
            assert_eq!(order(&without, &query(text))[..4], [0, 1, 2, 3], "{text}");
            assert_eq!(order(&with, &query(text))[..4], [2, 3, 1, 0], "{text}");
        }
        assert_eq!(order(&with, &query("city hall")), [2, 3, 1, 0, 5], "{model}");
        assert_eq!(order(&with, &query("city AND hall")), [2, 3, 1, 0], "{model}");
        // Words that are no neighbours, are searched in different fields, or are no plain words.
        for text in [
            "city title hall",
            "title:title city -hall",
            "city title:title hall",
            "city | hall",
            "city (hall | none)",
            "city hal*",
        ] {
            assert_eq!(order(&with, &query(text)), order(&without, &query(text)), "{text}");
        }
        // Words of a phrase are no pairs.
        assert_eq!(order(&with, &query("\"hall city\"")), [2]);
        let phrase =
            |searcher: &Searcher| searcher.best(&query("\"hall city\" x"), 0, 9).expect("answered");
        assert_eq!(phrase(&with), phrase(&without));
    }
}

/// Two documents of four terms. "a" and "b" are one apart, and another "b" is two after "a". N = 2, n = 1 and 2, so
/// idf = ln(1 + 0.5 / 2.5).
#[test]
fn the_pair_score_matches_hand_computation() {
    let config = "k1 = 1.2\nb = 0.75\nproximity_weight = 2.0\nranks = {}";
    let (_dir, searcher) = of_texts(&["b a x b", "b x x x"], config);
    let query = parse("a b").expect("two words");
    let explanation = searcher.explain(&query, 0, DocId(0)).expect("found");
    check_sums(&explanation);
    let nearness = 1.0 + 0.25;
    let expected = 2.0 * 1.2_f64.ln() * nearness * 2.2 / (nearness + 1.2);
    let added = &explanation.parts[0].parts[1];
    assert!((added.value - expected).abs() < 1e-14, "{explanation}");
    let told = explanation.to_string();
    assert!(
        told.contains("weight 2 × (a near b: idf 0.1823 × tf 1.1224; 1.2500 of 4 in body"),
        "{told}"
    );
}

#[test]
fn an_index_without_positions_reports_it() {
    let (from, to) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    build(from.path(), &TEXTS);
    let mut bytes = Vec::new();
    let index = Index::open(from.path()).expect("opened");
    let name = |record: &DocRecord| record.url.clone();
    export_ciff(&index, Field::Body, "", name, Path::new("x"), &mut bytes).expect("exported");
    let open_bytes = || Ok(Box::new(Cursor::new(bytes.clone())) as Box<dyn Read>);
    let file = CiffFile::open(Path::new("x"), &open_bytes).expect("is whole");
    let record =
        |name: &str| (DocRecord { url: name.to_owned(), ..DocRecord::default() }, Vec::new());
    file.import(to.path(), &index::Config::default(), "", record).expect("imported");
    let (with, without) = (open(to.path(), "proximity_weight = 1.0"), open(to.path(), ""));
    for (text, is_told) in [("city hall", true), ("city", false), ("city | hall", false)] {
        let query = parse(text).expect("a query");
        let (answer, other) = (with.search(&query, 0, 10), without.search(&query, 0, 10));
        let (answer, other) = (answer.expect("answered"), other.expect("answered"));
        assert_eq!((answer.hits, answer.total), (other.hits, other.total), "{text}");
        let said = "proximity is ignored: this index has no positions";
        let expected: &[&str] = if is_told { &[said] } else { &[] };
        assert_eq!(answer.notes, expected, "{text}");
    }
    // The frequency of the most frequent term is known without positions.
    let tf_idf = open(to.path(), "model = 'tf-idf'");
    let told =
        tf_idf.explain(&parse("city").expect("a word"), 0, DocId(0)).expect("found").to_string();
    assert!(told.contains("f 1 of max f 8 in body"), "{told}");
}
