//! TF.IDF, the classic score of a word in the fields of a document.
//!
//! ```text
//! TF.IDF(t, d) = tf · idf(t)
//! tf           = Σ_fields weight_f · f / max f
//! idf(t)       = log2(N / n(t))
//! ```
//!
//! where `f` is how often term `t` stands in a field of document `d` and `max f` how often the most frequent term of that
//! field of that document does; N and n(t) are counted as for [`crate::bm25`], and so is what the sums go over.
//!
//! A word in several forms is one term. If all forms together are more frequent than any other term, `max f` is how often
//! they stand there: no tf is greater than the sum of the weights.
//!
//! What does not live here: lists, and which of the two scores counts (`weighting.rs`).
//!
//! **Invariant.** A score is a finite number and not negative, whatever the statistics are.
//!
//! G. Salton, C. Buckley, "Term-weighting approaches in automatic text retrieval", 1988; J. Leskovec, A. Rajaraman,
//! J. Ullman, "Mining of Massive Datasets", 1.3.1.

use index::Field;

/// The score of one term, all but what the document says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TfIdf {
    documents: u64,
    containing: u64,
    idf: f64,
}

impl TfIdf {
    /// For a term that `containing` of all `documents` have.
    pub fn new(documents: u64, containing: u64) -> TfIdf {
        TfIdf { documents, containing, idf: idf(documents, containing) }
    }

    /// In a document in which its shares of all fields add up to `tf`.
    pub fn score(&self, tf: f64) -> f64 {
        tf * self.idf
    }

    /// The same, in words.
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

/// What `frequency` occurrences count in a field of that weight whose most frequent term stands there `peak` times.
pub fn share(weight: f64, frequency: f64, peak: u32) -> f64 {
    if frequency > 0.0 { weight * frequency / f64::from(peak).max(frequency) } else { 0.0 }
}

/// The same, in words.
pub(crate) fn explain_share(weight: f64, frequency: &str, peak: u32, field: Field) -> String {
    format!("f {frequency} of max f {peak} in {} (weight {weight})", field.name())
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 documents")]
fn idf(documents: u64, containing: u64) -> f64 {
    // A term that no document has stands nowhere.
    if containing == 0 { 0.0 } else { (documents as f64 / containing as f64).log2().max(0.0) }
}
