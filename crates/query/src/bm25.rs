//! BM25, the score of a word in a field of a document.
//!
//! ```text
//! score(d)   = Σ_words Σ_fields weight_f · BM25_f(t, d)  +  rank_weight · ln(1 + n · PageRank(d))
//!
//! BM25_f(t, d) = idf_f(t) · tf · (k1 + 1) / (tf + k1 · (1 - b + b · len_f(d) / avg_f))
//! idf_f(t)     = ln(1 + (N - n_f(t) + 0.5) / (n_f(t) + 0.5))
//! ```
//!
//! where `tf` is how often term `t` stands in field `f` of document `d`, `len_f(d)` the number of terms in
//! that field, `avg_f` its average over all N documents (those without the field count with length 0),
//! and `n_f(t)` how many documents have `t` in `f`. N, `avg_f` and `n_f` are of the whole index, not of a
//! segment, so a score does not depend on how documents are spread over segments. With 1 + … inside
//! the logarithm no idf is negative.
//!
//! The sums go over what matched: a word counts in every field where it stands; a phrase counts in
//! every field where the whole phrase stands, there with the sum of its terms; of `a OR b` the branches
//! that match; nothing that is negated; `site:` and `lang:` choose pages but are worth nothing.
//!
//! **Invariant.** The numbers are `f64` and summed in the order of the query, then of the fields,
//! so equal documents have equal scores, and an explanation adds up exactly.
//!
//! S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.

use index::Field;

use crate::{Config, Explanation};

/// The score of one term in one field, all but what the document says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    k1: f64,
    b: f64,
    weight: f64,
    documents: u64,
    containing: u64,
    average_length: f64,
    idf: f64,
}

impl Bm25 {
    /// For a term that `containing` of all `documents` have in `field`, which has `length_total`
    /// terms in all documents together.
    pub fn new(
        config: &Config,
        field: Field,
        documents: u64,
        length_total: u64,
        containing: u64,
    ) -> Bm25 {
        Bm25 {
            k1: config.k1,
            b: config.b,
            weight: config.weights.of(field),
            documents,
            containing,
            average_length: real(length_total) / real(documents.max(1)),
            idf: idf(documents, containing),
        }
    }

    /// In a document that has the term `frequency` times among `length` terms.
    pub fn score(&self, frequency: u32, length: u32) -> f64 {
        self.weight * self.idf * self.saturation(frequency, length)
    }

    /// The same, in words.
    pub(crate) fn explain(&self, what: &str, frequency: u32, length: u32) -> Explanation {
        let what = format!(
            "{what}: weight {} × idf {:.4} × tf {:.4}; {frequency} of {length} terms \
             (average {:.1}), in {} of {} documents",
            self.weight,
            self.idf,
            self.saturation(frequency, length),
            self.average_length,
            self.containing,
            self.documents,
        );
        Explanation { what, value: self.score(frequency, length), parts: Vec::new() }
    }

    fn saturation(&self, frequency: u32, length: u32) -> f64 {
        // A field without any terms has no postings either; 1 is as good as any.
        let relative_length =
            if self.average_length > 0.0 { f64::from(length) / self.average_length } else { 1.0 };
        let tf = f64::from(frequency);
        tf * (self.k1 + 1.0) / (tf + self.k1 * (1.0 - self.b + self.b * relative_length))
    }
}

fn idf(documents: u64, containing: u64) -> f64 {
    let without = documents.saturating_sub(containing);
    (1.0 + (real(without) + 0.5) / (real(containing) + 0.5)).ln()
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 documents or terms")]
fn real(count: u64) -> f64 {
    count as f64
}
