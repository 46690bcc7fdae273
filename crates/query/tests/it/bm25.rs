//! BM25F against three documents calculated by hand.
//!
//! ```text
//! 0  solar panel                N = 3, lengths 2, 4, 3, average 3; k1 = 1.2, b = 0.75
//! 1  solar solar wind roof      solar: n = 2, idf = ln(1 + 1.5 / 2.5) = ln 1.6 = 0.470004
//! 2  wind farm sea              farm:  n = 1, idf = ln(1 + 2.5 / 1.5) = ln 8/3 = 0.980829
//!
//! solar in 0:  1 · 2.2 / (1 + 1.2 · (0.25 + 0.75 · 2/3)) = 2.2 / 1.9
//! solar in 1:  2 · 2.2 / (2 + 1.2 · (0.25 + 0.75 · 4/3)) = 4.4 / 3.5
//! farm  in 2:  1 · 2.2 / (1 + 1.2 · (0.25 + 0.75 · 3/3)) = 2.2 / 2.2
//! ```

use index::Field;
use query::Config;
use query::bm25::{Bm25, FieldScale};

fn config(text: &str) -> Config {
    toml::from_str(text).expect("within the limits")
}

#[test]
fn scores_of_three_documents_match_hand_computation() {
    let config = config("k1 = 1.2\nb = 0.75\nweights = { body = 1.0 }");
    let body = FieldScale::new(&config, Field::Body, 3, 9);
    let (solar, farm) = (Bm25::new(&config, 3, 2), Bm25::new(&config, 3, 1));
    let table = [
        (solar.score(body.scaled(1, 2)), 0.544_214_728_600_325_4),
        (solar.score(body.scaled(2, 4)), 0.590_861_705_337_496_2),
        (farm.score(body.scaled(1, 3)), 0.980_829_253_011_726_2),
    ];
    for (score, expected) in table {
        assert!((score - expected).abs() < 1e-14, "{score}, by hand {expected}");
    }
}

#[test]
fn a_weight_multiplies_occurrences_before_they_saturate() {
    let config = config("weights = { title = 3.0, body = 1.0 }");
    let body = FieldScale::new(&config, Field::Body, 10, 40);
    let title = FieldScale::new(&config, Field::Title, 10, 40);
    assert!((title.scaled(2, 5) - body.scaled(6, 5)).abs() < 1e-14);
    let term = Bm25::new(&config, 10, 3);
    let (once, twice) = (term.score(body.scaled(1, 4)), term.score(body.scaled(2, 4)));
    assert!(once < twice && twice < 2.0 * once, "{once}, {twice}");
}

/// For any statistics, the score is a number and not negative.
#[test]
fn odd_statistics_give_finite_scores() {
    for (documents, length_total, containing) in [(0, 0, 0), (1, 0, 1), (1, 1, 9), (u64::MAX, 1, 0)]
    {
        for text in [
            "",
            "k1 = 0",
            "k1 = 1e6\nb = 1",
            "b = 0\nweights = { body = 1e6 }",
            "weights = { body = 0 }",
        ] {
            let config = config(text);
            let body = FieldScale::new(&config, Field::Body, documents, length_total);
            let term = Bm25::new(&config, documents, containing);
            for (frequency, length) in [(1, 0), (1, u32::MAX), (u32::MAX, 1)] {
                let score = term.score(body.scaled(frequency, length));
                assert!(score.is_finite() && score >= 0.0, "{score} with {text}");
            }
        }
    }
}
