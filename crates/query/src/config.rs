//! The numbers that decide the order of results.
//!
//! **Invariant.** A configuration that was read from a file holds numbers that are neither negative nor, where they count in
//! a score, greater than [`VALUE_MAX`], so every score is finite and not negative.

use std::collections::BTreeMap;

use index::Field;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{HalfLife, Weighting};

/// The greatest number that makes any sense, by far: products of a few of them are still finite.
const VALUE_MAX: f64 = 1e6;

/// The most that tables may take.
const TABLE_BYTES_MAX: u64 = 1 << 40;

/// The longest time limit: an hour.
const TIME_MS_MAX: u64 = 3_600_000;

/// The rank that counts unless told otherwise.
const PAGERANK: &str = "pagerank";

/// How results are scored; the formulas are in the headers of [`crate::bm25`] and [`crate::tf_idf`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which plain words of a query a page must have.
    #[serde(rename = "match")]
    pub matching: Match,
    /// How words are weighed.
    pub model: Weighting,
    /// How soon more occurrences of a word stop to count more: 0 at the first, large never.
    #[serde(deserialize_with = "not_negative")]
    pub k1: f64,
    /// How much a field that is longer than the average is held against it, from 0 to 1.
    #[serde(deserialize_with = "fraction")]
    pub b: f64,
    /// What a word is worth in each field.
    pub weights: FieldWeights,
    /// What words beside each other in a query are worth where they are near each other in a page; 0: nothing.
    #[serde(deserialize_with = "not_negative")]
    pub proximity_weight: f64,
    /// What the ranks of a page are worth beside its words, by their names; what is not named counts for nothing.
    #[serde(deserialize_with = "not_negative_each")]
    pub ranks: BTreeMap<String, f64>,
    /// What the rank of a page in a topic is worth, where a search chooses one.
    #[serde(deserialize_with = "not_negative")]
    pub topic_weight: f64,
    /// What it is worth to be as new as the newest page.
    #[serde(deserialize_with = "not_negative")]
    pub freshness_weight: f64,
    /// How much older than the newest page one is that is worth half as much for it.
    pub freshness_half_life: HalfLife,
    /// How much memory tables of frequent words may take.
    #[serde(deserialize_with = "bytes")]
    pub table_bytes: u64,
    /// How long the caller lets a search run; 0: as long as it takes. There is no clock in this crate: see [`crate::Stop`].
    #[serde(deserialize_with = "milliseconds")]
    pub time_ms_max: u64,
}

impl Config {
    /// Every key that is a number, with its value, and the least and the most that it may be.
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

/// Which plain words of a query a page must have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// At least one. Joining words (`the`, `of`) count only where a query has no other words.
    #[default]
    Any,
    /// All, joining words too.
    All,
}

/// What a word is worth in each field; 0: nothing, but it still matches there.
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
    /// In the text of the links that lead to the page.
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
