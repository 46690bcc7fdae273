//! Evaluation of rankings by human judgements.
//!
//! What lives here: [`Topics`] (queries), [`Qrels`] (relevant documents), [`Run`] (results of an engine),
//! [`Measure`] (figures) and [`compare`] (a significance test of two engines), all as texts in the formats of TREC.
//! What does not: files, and searching.
//!
//! **Invariant.** The figures are those of `ir_measures` and `trec_eval -c`. Documents are ordered by falling 32-bit
//! score, ties by falling name. A judged topic that is missing from the run counts as 0. A topic without judgements
//! does not count.
//!
//! **Reference.** C. Buckley, `trec_eval`; K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR
//! techniques", ACM TOIS 20(4), 2002.

mod measure;
mod qrels;
mod run;
mod significance;
mod topics;

pub use measure::{Measure, UnknownMeasure};
pub use qrels::Qrels;
pub use run::{Run, RunLine};
pub use significance::{Comparison, compare};
pub use topics::{Topic, Topics};

use std::collections::BTreeMap;

/// A line of a file that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadLine {
    /// Its number, from 1.
    pub line: usize,
    /// The error.
    pub what: String,
}

impl BadLine {
    fn new(line: usize, what: impl Into<String>) -> BadLine {
        BadLine { line, what: what.into() }
    }
}

/// A figure of each judged topic, and the mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// By topic.
    pub of_topics: BTreeMap<String, f64>,
    /// 0 without judgements.
    pub mean: f64,
}

/// Evaluates a run with `measure`.
pub fn evaluate(measure: Measure, run: &Run, qrels: &Qrels) -> Figures {
    let of_topic = |topic: &str| measure.of(run.ranking(topic), qrels.of(topic));
    let of_topics: BTreeMap<String, f64> =
        qrels.topics().map(|topic| (topic.to_owned(), of_topic(topic))).collect();
    let sum: f64 = of_topics.values().sum();
    let mean = if of_topics.is_empty() { 0.0 } else { sum / real(of_topics.len()) };
    Figures { of_topics, mean }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
fn real(count: usize) -> f64 {
    count as f64
}
