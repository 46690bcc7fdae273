//! What documents are worth before any question: their ranks, their topic, how new they are.
//!
//! > prior(d) = Σ_ranks weight · ln(1 + rank(d)) + topic_weight · ln(1 + topic(d)) + freshness_weight · 2^(–age(d)/h)
//!
//! with ranks of which 1 is the average, in the order of their names; the age is that beside the newest document of the
//! index, so that nothing changes as time goes by, and *h* the half-life.
//!
//! **Invariant.** What [`Prior::explain`] says of a document is, to the last bit, what its static score is: both add up
//! the same numbers in the same order. No number is negative.

use std::sync::Arc;

use index::{DocId, Index, IndexError};
use page::Day;

use crate::block_max::StaticScores;
use crate::{Config, Explanation};

/// For each segment and each document a rank, 1 being the average; what is missing, negative or not a number counts as
/// 0.
pub type RankValues = Vec<Vec<f32>>;

/// All that is known of documents before any question.
#[derive(Clone)]
pub(crate) struct Prior {
    signals: Vec<Signal>,
    /// Of each segment.
    statics: Arc<Vec<StaticScores>>,
}

/// One number for each document, and what is made of it.
#[derive(Clone)]
struct Signal {
    what: String,
    weight: f64,
    curve: Curve,
    values: Arc<RankValues>,
}

/// What a number is worth.
#[derive(Clone, Copy)]
enum Curve {
    /// ln(1 + x): ten times as much is not ten times as good.
    Logarithm,
    /// Itself.
    Line,
}

impl Prior {
    /// `ranks` are those that there are, by their names; they count as `config` says.
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

    /// The same with the rank in a topic.
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

    /// By segment.
    pub(crate) fn statics(&self) -> &[StaticScores] {
        &self.statics
    }

    /// The static score of a document as a sum; nothing if nothing counts.
    pub(crate) fn explain(&self, segment: usize, doc: DocId) -> Option<Explanation> {
        let parts: Vec<_> =
            self.signals.iter().map(|signal| signal.explain(segment, doc)).collect();
        let what = "the page before any question".to_owned();
        (!parts.is_empty()).then(|| Explanation::sum(what, parts))
    }
}

/// From the left, as [`Explanation::sum`] adds.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

impl Signal {
    /// `None` if it counts for nothing.
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

/// From 1 for the newest document that is not deleted, halved with every half-life that one is older; 0 without a date
/// that a query could name.
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
