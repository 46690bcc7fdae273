//! TF.IDF, the classic score of a word in the fields of a document.
//!
//! ```text
//! TF.IDF(t, d) = tf · idf(t)
//! tf           = Σ_fields weight_f · f / max f
//! idf(t)       = log2(N / n(t))
//! ```
//!
//! Here `f` is the frequency of term `t` in a field of document `d`, and `max f` the frequency of the most
//! frequent term in that field. N, n(t) and the parts that count are defined as in [`crate::bm25`].
//!
//! A word in several forms is one term. If all its forms together are more frequent than any other term, `max f`
//! is their frequency. So no tf exceeds the sum of the weights.
//!
//! Elsewhere: lists, and the choice between the two scores (`weighting.rs`).
//!
//! **Invariant.** A score is finite and not negative, for any statistics.
//!
//! G. Salton, C. Buckley, "Term-weighting approaches in automatic text retrieval", 1988; J. Leskovec, A. Rajaraman,
//! J. Ullman, "Mining of Massive Datasets", 1.3.1.

use index::Field;

/// The document-independent part of the score of a term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TfIdf {
    documents: u64,
    containing: u64,
    idf: f64,
}

impl TfIdf {
    /// The score of a term that `containing` of all `documents` contain.
    pub fn new(documents: u64, containing: u64) -> TfIdf {
        TfIdf { documents, containing, idf: idf(documents, containing) }
    }

    /// The score in a document; `tf` is the sum of the shares of all fields.
    pub fn score(&self, tf: f64) -> f64 {
        tf * self.idf
    }

    /// Explains the score in words.
    pub(crate) fn explain(&self, term: &str, tf: f64, fields: &[String]) -> String {
        format!(
            "{term}: tf {tf:.4} × idf {:.4}; {}; idf = log2(N {} / n {})",
            self.idf,
            fields.join(", "),
            self.documents,
            self.containing,
        )
    }
}

/// The share of `frequency` occurrences in a field of that weight, where the most frequent term has frequency `peak`.
pub fn share(weight: f64, frequency: f64, peak: u32) -> f64 {
    if frequency > 0.0 { weight * frequency / f64::from(peak).max(frequency) } else { 0.0 }
}

/// Explains a share in words.
pub(crate) fn explain_share(weight: f64, frequency: &str, peak: u32, field: Field) -> String {
    format!("f {frequency} of max f {peak} in {} (weight {weight})", field.name())
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 documents")]
fn idf(documents: u64, containing: u64) -> f64 {
    // A term without documents never matches.
    if containing == 0 { 0.0 } else { (documents as f64 / containing as f64).log2().max(0.0) }
}
