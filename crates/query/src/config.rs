//! Ranking parameters.
//!
//! **Invariant.** In a configuration from a file no number is negative, and the parameters of scores are at most
//! [`VALUE_MAX`]. So every score is finite and not negative.

use std::collections::BTreeMap;

use index::Field;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{HalfLife, Weighting};

/// Upper limit of parameters. Products of a few of them are still finite.
const VALUE_MAX: f64 = 1e6;

/// Maximum memory for tables.
const TABLE_BYTES_MAX: u64 = 1 << 40;

/// The longest time limit: an hour.
const TIME_MS_MAX: u64 = 3_600_000;

/// The rank that counts by default.
const PAGERANK: &str = "pagerank";

/// How results are scored; the formulas are in the headers of [`crate::bm25`] and [`crate::tf_idf`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which plain words of a query a page must contain.
    #[serde(rename = "match")]
    pub matching: Match,
    /// The term weighting model.
    pub model: Weighting,
    /// How slowly the score saturates with more occurrences of a word: 0 is at the first one, a large value never.
    #[serde(deserialize_with = "not_negative")]
    pub k1: f64,
    /// Strength of length normalization in fields, from 0 to 1.
    #[serde(deserialize_with = "fraction")]
    pub b: f64,
    /// Weight of a word in each field.
    pub weights: FieldWeights,
    /// Weight of the proximity of words that are neighbours in the query. 0 disables it.
    #[serde(deserialize_with = "not_negative")]
    pub proximity_weight: f64,
    /// Weights of ranks of pages, by name. Ranks without a weight do not count.
    #[serde(deserialize_with = "not_negative_each")]
    pub ranks: BTreeMap<String, f64>,
    /// Weight of the rank in a topic, for searches with a topic.
    #[serde(deserialize_with = "not_negative")]
    pub topic_weight: f64,
    /// Freshness score of the newest page.
    #[serde(deserialize_with = "not_negative")]
    pub freshness_weight: f64,
    /// The difference in age that halves the freshness score.
    pub freshness_half_life: HalfLife,
    /// Maximum memory for tables of frequent words.
    #[serde(deserialize_with = "bytes")]
    pub table_bytes: u64,
    /// Time limit of a search, 0 for none. The caller enforces it with [`crate::Stop`].
    #[serde(deserialize_with = "milliseconds")]
    pub time_ms_max: u64,
}

impl Config {
    /// Every key that is a number, with its value, minimum and maximum.
    #[expect(clippy::cast_precision_loss, reason = "what is beyond 2^53 is out of bounds")]
    pub fn ranges(&self) -> [(&'static str, f64, f64, f64); 13] {
        let FieldWeights { title, headings, body, url, anchor } = self.weights;
        [
            ("k1", self.k1, VALUE_MAX),
            ("b", self.b, 1.0),
            ("proximity_weight", self.proximity_weight, VALUE_MAX),
            ("ranks.pagerank", self.ranks.get(PAGERANK).copied().unwrap_or(0.0), VALUE_MAX),
            ("topic_weight", self.topic_weight, VALUE_MAX),
            ("freshness_weight", self.freshness_weight, VALUE_MAX),
            ("weights.title", title, VALUE_MAX),
            ("weights.headings", headings, VALUE_MAX),
            ("weights.body", body, VALUE_MAX),
            ("weights.url", url, VALUE_MAX),
            ("weights.anchor", anchor, VALUE_MAX),
            ("table_bytes", self.table_bytes as f64, TABLE_BYTES_MAX as f64),
            ("time_ms_max", self.time_ms_max as f64, TIME_MS_MAX as f64),
        ]
        .map(|(key, value, most)| (key, value, 0.0, most))
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            matching: Match::default(),
            model: Weighting::default(),
            k1: 1.2,
            b: 0.5,
            weights: FieldWeights::default(),
            proximity_weight: 0.0,
            ranks: BTreeMap::from([(PAGERANK.to_owned(), 0.1)]),
            topic_weight: 0.5,
            freshness_weight: 0.0,
            freshness_half_life: HalfLife::default(),
            table_bytes: 128 << 20,
            time_ms_max: 2000,
        }
    }
}

/// Which plain words of a query a page must contain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// At least one. Function words (`the`, `of`) count only in queries of function words alone.
    #[default]
    Any,
    /// All, including function words.
    All,
}

/// Weight of a word in each field. In a field of weight 0 a word still matches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FieldWeights {
    /// In the title.
    #[serde(deserialize_with = "not_negative")]
    pub title: f64,
    /// In the headings.
    #[serde(deserialize_with = "not_negative")]
    pub headings: f64,
    /// In the text.
    #[serde(deserialize_with = "not_negative")]
    pub body: f64,
    /// In the address.
    #[serde(deserialize_with = "not_negative")]
    pub url: f64,
    /// In the text of links to the page.
    #[serde(deserialize_with = "not_negative")]
    pub anchor: f64,
}

impl Default for FieldWeights {
    fn default() -> FieldWeights {
        FieldWeights { title: 5.0, headings: 1.5, body: 1.0, url: 0.5, anchor: 2.0 }
    }
}

impl FieldWeights {
    /// The weight of `field`.
    pub fn of(&self, field: Field) -> f64 {
        match field {
            Field::Title => self.title,
            Field::Headings => self.headings,
            Field::Body => self.body,
            Field::Url => self.url,
            Field::Anchor => self.anchor,
        }
    }
}

fn not_negative<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    within(input, VALUE_MAX, "a number from 0 to 1000000")
}

fn not_negative_each<'de, D: Deserializer<'de>>(
    input: D,
) -> Result<BTreeMap<String, f64>, D::Error> {
    #[derive(Deserialize)]
    struct Weight(#[serde(deserialize_with = "not_negative")] f64);
    let weights = BTreeMap::<String, Weight>::deserialize(input)?;
    Ok(weights.into_iter().map(|(name, Weight(weight))| (name, weight)).collect())
}

fn bytes<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
    at_most(input, TABLE_BYTES_MAX, "a number from 0 to 1099511627776")
}

fn milliseconds<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
    at_most(input, TIME_MS_MAX, "a number from 0 to 3600000")
}

fn at_most<'de, D: Deserializer<'de>>(input: D, max: u64, expected: &str) -> Result<u64, D::Error> {
    let value = u64::deserialize(input)?;
    if value <= max {
        Ok(value)
    } else {
        let found = serde::de::Unexpected::Unsigned(value);
        Err(serde::de::Error::invalid_value(found, &expected))
    }
}

fn fraction<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    within(input, 1.0, "a number from 0 to 1")
}

fn within<'de, D: Deserializer<'de>>(input: D, max: f64, expected: &str) -> Result<f64, D::Error> {
    let value = f64::deserialize(input)?;
    if (0.0..=max).contains(&value) {
        Ok(value)
    } else {
        let found = serde::de::Unexpected::Float(value);
        Err(serde::de::Error::invalid_value(found, &expected))
    }
}
