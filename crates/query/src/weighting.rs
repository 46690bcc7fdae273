//! Term weighting by the model of the configuration.
//!
//! What lives here: the choice of the model. What does not: formulas (`bm25.rs`, `tf_idf.rs`) and statistics
//! (`scorers.rs`). Dynamic pruning supports BM25F only.
//!
//! **Invariant.** In every model, [`FieldWeighting::scaled`] is summed over all fields before
//! [`TermWeighting::score`] computes the score.

use index::{DocId, Field, Lengths, MaxFrequencies};
use serde::{Deserialize, Serialize};

use crate::bm25::{Bm25, FieldScale};
use crate::tf_idf::{self, TfIdf};

/// The term weighting model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weighting {
    /// [`crate::bm25`].
    #[default]
    Bm25f,
    /// [`crate::tf_idf`].
    TfIdf,
}

/// The document-independent part of the score of a term.
#[derive(Clone, Copy)]
pub(crate) enum TermWeighting {
    Bm25(Bm25),
    TfIdf(TfIdf),
}

impl TermWeighting {
    /// The score in a document; `scaled` is the sum over all fields.
    pub(crate) fn score(&self, scaled: f64) -> f64 {
        match self {
            TermWeighting::Bm25(bm25) => bm25.score(scaled),
            TermWeighting::TfIdf(tf_idf) => tf_idf.score(scaled),
        }
    }

    /// Explains the score in words.
    pub(crate) fn explain(&self, term: &str, scaled: f64, fields: &[String]) -> String {
        match self {
            TermWeighting::Bm25(bm25) => bm25.explain(term, scaled, fields),
            TermWeighting::TfIdf(tf_idf) => tf_idf.explain(term, scaled, fields),
        }
    }
}

/// The weighting of occurrences in one field of a segment.
#[derive(Clone, Copy)]
pub(crate) enum FieldWeighting<'a> {
    Bm25 { scale: FieldScale, lengths: Lengths<'a> },
    TfIdf { weight: f64, peaks: MaxFrequencies<'a> },
}

impl FieldWeighting<'_> {
    /// The scaled value of `frequency` occurrences in a document.
    pub(crate) fn scaled(&self, frequency: f64, doc: DocId) -> f64 {
        match self {
            FieldWeighting::Bm25 { scale, lengths } => {
                scale.scaled_real(frequency, lengths.get(doc))
            }
            FieldWeighting::TfIdf { weight, peaks } => {
                tf_idf::share(*weight, frequency, peaks.get(doc))
            }
        }
    }

    /// Explains the scaled value in words.
    pub(crate) fn explain(&self, field: Field, frequency: &str, doc: DocId) -> String {
        match self {
            FieldWeighting::Bm25 { scale, lengths } => {
                scale.explain(field, frequency, lengths.get(doc))
            }
            FieldWeighting::TfIdf { weight, peaks } => {
                tf_idf::explain_share(*weight, frequency, peaks.get(doc), field)
            }
        }
    }
}
