//! What a term is worth in a document, by the score that the configuration chooses.
//!
//! What lives here: the choice. What does not: the formulas (`bm25.rs`, `tf_idf.rs`), and the statistics that they take
//! (`scorers.rs`). Evaluation by block maxima knows BM25F alone.
//!
//! **Invariant.** Occurrences in all fields are added up by [`FieldWeighting::scaled`] before [`TermWeighting::score`]
//! makes a score of them, whichever it is.

use index::{DocId, Field, Lengths, Peaks};
use serde::{Deserialize, Serialize};

use crate::bm25::{Bm25, FieldScale};
use crate::tf_idf::{self, TfIdf};

/// How words are weighed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weighting {
    /// [`crate::bm25`].
    #[default]
    Bm25f,
    /// [`crate::tf_idf`].
    TfIdf,
}

/// The score of one term, all but what the document says.
#[derive(Clone, Copy)]
pub(crate) enum TermWeighting {
    Bm25(Bm25),
    TfIdf(TfIdf),
}

impl TermWeighting {
    /// In a document whose occurrences of the term add up to `scaled` in all fields.
    pub(crate) fn score(&self, scaled: f64) -> f64 {
        match self {
            TermWeighting::Bm25(bm25) => bm25.score(scaled),
            TermWeighting::TfIdf(tf_idf) => tf_idf.score(scaled),
        }
    }

    /// The same, in words.
    pub(crate) fn explain(&self, term: &str, scaled: f64, fields: &[String]) -> String {
        match self {
            TermWeighting::Bm25(bm25) => bm25.explain(term, scaled, fields),
            TermWeighting::TfIdf(tf_idf) => tf_idf.explain(term, scaled, fields),
        }
    }
}

/// What an occurrence of any term counts in one field of a segment.
#[derive(Clone, Copy)]
pub(crate) enum FieldWeighting<'a> {
    Bm25 { scale: FieldScale, lengths: Lengths<'a> },
    TfIdf { weight: f64, peaks: Peaks<'a> },
}

impl FieldWeighting<'_> {
    /// What `frequency` occurrences count in a document.
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

    /// The same, in words.
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
