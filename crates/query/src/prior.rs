//! Static (query-independent) scores of documents: ranks, topic, freshness.
//!
//! > prior(d) = Σ_ranks weight · ln(1 + rank(d)) + topic_weight · ln(1 + topic(d)) + freshness_weight · 2^(–age(d)/h)
//!
//! The average of each rank is 1, and ranks are added in the order of their names. The age is relative to the
//! newest document of the index, so scores do not change with time. *h* is the half-life.
//!
//! **Invariant.** The sum of [`Prior::explain`] is equal to the static score in every bit: both add the same
//! numbers in the same order. No number is negative.

use std::sync::Arc;

use index::{DocId, Index, IndexError};
use page::Day;

use crate::block_max::StaticScores;
use crate::{Config, Explanation};

/// A rank for each document of each segment, with average 1. Missing, negative and undefined values count as 0.
pub type RankValues = Vec<Vec<f32>>;

/// All static signals of documents.
#[derive(Clone)]
pub(crate) struct Prior {
    signals: Vec<Signal>,
    /// Scores of each segment.
    statics: Arc<Vec<StaticScores>>,
}

/// A signal: a number for each document, with a weight and a curve.
#[derive(Clone)]
struct Signal {
    what: String,
    weight: f64,
    curve: Curve,
    values: Arc<RankValues>,
}

/// The function from a number to a score.
#[derive(Clone, Copy)]
enum Curve {
    /// ln(1 + x), so that tenfold ranks do not give tenfold scores.
    Logarithm,
    /// The number itself.
    Line,
}

impl Prior {
    /// Takes the available ranks with their names. `config` sets their weights.
    pub(crate) fn new(
        index: &Index,
        config: &Config,
        mut ranks: Vec<(String, RankValues)>,
    ) -> Result<Prior, IndexError> {
        ranks.sort_by(|one, other| one.0.cmp(&other.0));
        let mut signals = Vec::new();
        for (name, values) in ranks {
            let weight = config.ranks.get(&name).copied().unwrap_or(0.0);
            signals.extend(Signal::new(name, weight, Curve::Logarithm, values));
        }
        if config.freshness_weight > 0.0 {
            let values = freshness(index, config)?;
            let what = format!("freshness, half after {}", config.freshness_half_life);
            signals.extend(Signal::new(what, config.freshness_weight, Curve::Line, values));
        }
        Ok(Prior::of(signals, index))
    }

    /// Adds the rank in a topic.
    pub(crate) fn with_topic(
        &self,
        index: &Index,
        config: &Config,
        topic: &str,
        values: RankValues,
    ) -> Prior {
        let what = format!("topic {topic}");
        let topic = Signal::new(what, config.topic_weight, Curve::Logarithm, values);
        let before_freshness =
            self.signals.iter().take_while(|signal| matches!(signal.curve, Curve::Logarithm));
        let at = before_freshness.count();
        let mut signals = self.signals.clone();
        signals.splice(at..at, topic);
        Prior::of(signals, index)
    }

    fn of(signals: Vec<Signal>, index: &Index) -> Prior {
        let weigh = |(number, segment): (usize, &index::Segment)| {
            if signals.is_empty() {
                return StaticScores::default();
            }
            let score = |doc| sum(signals.iter().map(|signal| signal.score(number, DocId(doc))));
            StaticScores::new((0..segment.doc_count()).map(score).collect())
        };
        let statics = index.segments().iter().enumerate().map(weigh).collect();
        Prior { signals, statics: Arc::new(statics) }
    }

    pub(crate) fn statics(&self) -> &[StaticScores] {
        &self.statics
    }

    /// Explains the static score of a document. Returns `None` without signals.
    pub(crate) fn explain(&self, segment: usize, doc: DocId) -> Option<Explanation> {
        let parts: Vec<_> =
            self.signals.iter().map(|signal| signal.explain(segment, doc)).collect();
        let what = "static score of the page".to_owned();
        (!parts.is_empty()).then(|| Explanation::sum(what, parts))
    }
}

/// Adds from the left, as [`Explanation::sum`] does.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

impl Signal {
    /// Returns `None` if the weight is 0.
    fn new(what: String, weight: f64, curve: Curve, values: RankValues) -> Option<Signal> {
        (weight > 0.0).then(|| Signal { what, weight, curve, values: Arc::new(values) })
    }

    fn value(&self, segment: usize, doc: DocId) -> f64 {
        let value = self.values.get(segment).and_then(|values| values.get(doc.0 as usize));
        value.copied().filter(|value| value.is_finite() && *value > 0.0).map_or(0.0, f64::from)
    }

    fn score(&self, segment: usize, doc: DocId) -> f64 {
        let value = self.value(segment, doc);
        self.weight
            * match self.curve {
                Curve::Logarithm => value.ln_1p(),
                Curve::Line => value,
            }
    }

    fn explain(&self, segment: usize, doc: DocId) -> Explanation {
        let (what, weight, value) = (&self.what, self.weight, self.value(segment, doc));
        let what = match self.curve {
            Curve::Logarithm => format!("{what}: weight {weight} × ln(1 + {value})"),
            Curve::Line => format!("{what}: weight {weight} × {value}"),
        };
        Explanation { what, value: self.score(segment, doc), parts: Vec::new() }
    }
}

/// Freshness: 1 for the newest document that is not deleted, halved with every half-life of age. 0 if the date is
/// missing or outside the range of queries.
fn freshness(index: &Index, config: &Config) -> Result<RankValues, IndexError> {
    let mut dates: Vec<Vec<Option<i64>>> = Vec::new();
    for segment in index.segments() {
        let mut of_segment = vec![None; segment.doc_count() as usize];
        segment.each_record(|doc, record| {
            if let Some(date_s) = of_segment.get_mut(doc.0 as usize) {
                *date_s = Day::of_second(record.date_s).map(|_| record.date_s);
            }
        })?;
        dates.push(of_segment);
    }
    let newest_s = dates.iter().flatten().copied().flatten().max().unwrap_or(0);
    #[expect(clippy::cast_possible_truncation, reason = "a freshness needs no 53 bits")]
    let value = |date_s: Option<i64>| {
        let age_s = date_s.map(|date_s| newest_s.abs_diff(date_s));
        age_s.map_or(0.0, |age_s| config.freshness_half_life.left_after(age_s) as f32)
    };
    Ok(dates.into_iter().map(|dates| dates.into_iter().map(value).collect()).collect())
}
