//! The numbers that decide the order of results.
//!
//! **Invariant.** A configuration that was read from a file holds numbers that are neither negative nor
//! greater than [`VALUE_MAX`], so every score is finite and not negative.

use index::Field;
use serde::{Deserialize, Deserializer, Serialize};

/// The greatest number that makes any sense, by far: products of a few of them are still finite.
const VALUE_MAX: f64 = 1e6;

/// How results are scored; the formula is in the header of [`crate::bm25`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How soon more occurrences of a word stop to count more: 0 at the first, large never.
    #[serde(deserialize_with = "not_negative")]
    pub k1: f64,
    /// How much a field that is longer than the average is held against it, from 0 to 1.
    #[serde(deserialize_with = "fraction")]
    pub b: f64,
    /// What a word is worth in each field.
    pub weights: FieldWeights,
    /// What the links that lead to a page are worth beside its words.
    #[serde(deserialize_with = "not_negative")]
    pub rank_weight: f64,
}

impl Config {
    /// Every key that is a number, with its value, and the least and the most that it may be.
    pub fn ranges(&self) -> [(&'static str, f64, f64, f64); 8] {
        let FieldWeights { title, headings, body, url, anchor } = self.weights;
        [
            ("k1", self.k1, VALUE_MAX),
            ("b", self.b, 1.0),
            ("rank_weight", self.rank_weight, VALUE_MAX),
            ("weights.title", title, VALUE_MAX),
            ("weights.headings", headings, VALUE_MAX),
            ("weights.body", body, VALUE_MAX),
            ("weights.url", url, VALUE_MAX),
            ("weights.anchor", anchor, VALUE_MAX),
        ]
        .map(|(key, value, most)| (key, value, 0.0, most))
    }
}

impl Default for Config {
    fn default() -> Config {
        Config { k1: 1.2, b: 0.5, weights: FieldWeights::default(), rank_weight: 0.1 }
    }
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
