//! TF.IDF against three documents calculated by hand.
//!
//! ```text
//! 0  solar panel solar roof     max f = 2     N = 3
//! 1  solar wind wind wind       max f = 3     solar: n = 2, idf = log2(3 / 2) = 0.584963
//! 2  farm sea                   max f = 1     farm:  n = 1, idf = log2(3 / 1) = 1.584963
//!
//! solar in 0:  2/2 · 0.584963      solar in 1:  1/3 · 0.584963      farm in 2:  1/1 · 1.584963
//! ```

use std::sync::Arc;

use index::{DocId, DocRecord, Field, Index, IndexWriter, MergePolicy};
use page::{AnalysisConfig, Analyzer};
use query::tf_idf::{TfIdf, share};
use query::{Config, Query, Searcher, parse};

use crate::search::check_sums;

/// Documents of a title and a text each. `together` documents form a segment.
fn searcher(
    documents: &[(&str, &str)],
    config: &str,
    together: usize,
) -> (tempfile::TempDir, Searcher) {
    let dir = tempfile::tempdir().expect("a folder");
    let settings = index::Config { merge: MergePolicy::Never, ..index::Config::default() };
    for documents in documents.chunks(together) {
        let writer = match Index::open(dir.path()) {
            Ok(_) => IndexWriter::update(dir.path(), &settings),
            Err(_) => IndexWriter::create(dir.path(), &settings),
        };
        let mut writer = writer.expect("begun");
        for (title, text) in documents {
            writer.add(&DocRecord::default()).expect("added");
            for (field, text) in [(Field::Title, title), (Field::Body, text)] {
                for (position, word) in (0..).zip(text.split_whitespace()) {
                    writer.term(field, word, position);
                }
            }
        }
        writer.commit("test").expect("committed");
    }
    let index = Arc::new(Index::open(dir.path()).expect("opened"));
    let analysis = AnalysisConfig { stemmer: "none".to_owned(), ..AnalysisConfig::default() };
    let analyzer = Analyzer::build(&analysis).expect("no stemmer");
    let config: Config = toml::from_str(config).expect("a configuration");
    (dir, Searcher::new(index, analyzer, config, Vec::new()).expect("ready"))
}

const DOCUMENTS: [(&str, &str); 3] =
    [("", "solar panel solar roof"), ("", "solar wind wind wind"), ("", "farm sea")];

/// The scores of all documents, in their order.
fn scores(searcher: &Searcher, text: &str) -> Vec<f64> {
    let query: Query = parse(text).expect("a query");
    let mut hits = searcher.best(&query, 0, 100).expect("answered");
    for hit in &hits {
        let explanation = searcher.explain(&query, hit.segment, hit.doc).expect("found");
        check_sums(&explanation);
        assert_eq!(explanation.value.to_bits(), hit.score.to_bits(), "{explanation}");
    }
    hits.sort_by_key(|hit| (hit.segment, hit.doc));
    hits.into_iter().map(|hit| hit.score).collect()
}

fn check(found: &[f64], expected: &[f64]) {
    let near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-14);
    assert!(near && found.len() == expected.len(), "{found:?}, by hand {expected:?}");
}

#[test]
fn scores_of_three_documents_match_hand_computation() {
    let (two_thirds, third) = (0.584_962_500_721_156_2, 1.584_962_500_721_156);
    for together in [1, 2, 3] {
        let (_dir, searcher) = searcher(&DOCUMENTS, "model = 'tf-idf'", together);
        check(&scores(&searcher, "solar"), &[two_thirds, two_thirds / 3.0]);
        check(&scores(&searcher, "farm"), &[third]);
        check(&scores(&searcher, "+solar +panel"), &[two_thirds + third / 2.0]);
        check(&scores(&searcher, "solar | farm"), &[two_thirds, two_thirds / 3.0, third]);
    }
    let (_dir, searcher) = searcher(&DOCUMENTS, "model = 'tf-idf'", 3);
    let told = searcher.explain(&parse("solar").expect("a word"), 0, DocId(1)).expect("found");
    let told = told.to_string();
    let expected =
        "solar: tf 0.3333 × idf 0.5850; f 1 of max f 3 in body (weight 1); idf = log2(N 3 / n 2)";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn field_scores_are_summed_by_weight() {
    let documents = [("solar", "solar wind wind"), ("", "sea"), ("", "sea"), ("", "sea")];
    let config = "model = 'tf-idf'\nweights = { title = 3.0, body = 2.0 }";
    let (_dir, searcher) = searcher(&documents, config, 4);
    check(&scores(&searcher, "solar"), &[(3.0 + 2.0 / 2.0) * 2.0]);
    check(&scores(&searcher, "body:solar"), &[2.0 / 2.0 * 2.0]);
}

/// Of three words "su…" and two others, the most frequent term is the word in both forms: N = 4, n = 2.
#[test]
fn several_forms_of_a_word_are_one_term() {
    let documents = [("", "sun sun sub wind wind"), ("", "sea"), ("", "sea"), ("", "sea")];
    let (_dir, searcher) = searcher(&documents, "model = 'tf-idf'", 4);
    check(&scores(&searcher, "sun"), &[2.0 / 2.0 * 2.0]);
    check(&scores(&searcher, "sub"), &[1.0 / 2.0 * 2.0]);
    check(&scores(&searcher, "su*"), &[3.0 / 3.0 * 1.0]);
}

/// For any statistics, the score is a number and not negative.
#[test]
fn odd_statistics_give_finite_scores() {
    for (documents, containing) in [(0, 0), (0, 1), (1, 0), (1, 1), (1, 9), (u64::MAX, 1)] {
        for (frequency, peak) in [(0.0, 0), (1.0, 0), (1.0, u32::MAX), (7.0, 2)] {
            let tf = share(1e6, frequency, peak);
            assert!((0.0..=1e6).contains(&tf), "{tf}");
            let score = TfIdf::new(documents, containing).score(tf);
            assert!(score.is_finite() && score >= 0.0, "{score}");
        }
    }
}
