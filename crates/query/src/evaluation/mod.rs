//! How good the order of results is, by judgements of people.
//!
//! What lives here: [`Topics`], what was asked; [`Qrels`], which documents answer it; [`Run`], what an engine gave;
//! [`Measure`], the figures; [`compare`], whether two engines differ by more than chance. All are texts in the
//! formats of TREC. What does not: files, and searching.
//!
//! **Invariant.** The same run and judgements give the same figures as `ir_measures` and `trec_eval -c`: documents are
//! ordered by their score as a number of 32 bits, among equals by their name from above; a topic that is judged and
//! that the run does not have counts as 0, one that is not judged not at all.
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

/// A line of a file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadLine {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

impl BadLine {
    fn new(line: usize, what: impl Into<String>) -> BadLine {
        BadLine { line, what: what.into() }
    }
}

/// One figure: of each topic that is judged, and their mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// By topic.
    pub of_topics: BTreeMap<String, f64>,
    /// 0 if nothing is judged.
    pub mean: f64,
}

/// What `measure` says of a run.
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
