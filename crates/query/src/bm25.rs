//! BM25F, the score of a word in the fields of a document.
//!
//! ```text
//! score(d) = Σ_words BM25F(t, d)  +  proximity(d)  +  prior(d)
//!
//! BM25F(t, d) = idf(t) · x · (k1 + 1) / (x + k1)
//! x           = Σ_fields weight_f · tf_f / (1 - b + b · len_f(d) / avg_f)
//! idf(t)      = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))
//! ```
//!
//! Here `proximity` is the score of words near each other, if that is enabled (`proximity.rs`), and `prior` the
//! static score of a document (`prior.rs`). `tf_f` is the frequency of term `t` in field `f` of document `d`.
//! `len_f(d)` is the number of terms in that field, and `avg_f` its average over all N documents, with length 0
//! for a missing field.
//!
//! `n(t)` is the number of documents that contain `t`, in the requested field where that number is greatest. Fields
//! of weight 0 count only if all have weight 0. N, `avg_f` and `n` are those of the whole index, so a score does not
//! depend on segments. The 1 + … inside the logarithm keeps idf positive. In one field with weight 1 this is BM25.
//!
//! Occurrences in all fields are added up before saturation: a word in the title, the headings and the text is one
//! piece of evidence, not three.
//!
//! Only matching parts of a query count. A word counts in every field that contains it. A phrase counts in every
//! field that contains the whole phrase, there with each of its terms. In `a OR b`, the branches that match count.
//! Negated parts, `site:` and `lang:` have no score.
//!
//! **Invariant.** Scores are `f64` and added up in the order of the query, and the fields of a word in their
//! order. So equal documents have equal scores, and an explanation adds up exactly.
//!
//! S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; S. Robertson, H.
//! Zaragoza, M. Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004.

use index::Field;

use crate::Config;

/// The scale of occurrences in one field: weight and length normalization.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldScale {
    weight: f64,
    b: f64,
    average_length: f64,
}

impl FieldScale {
    /// The scale of `field`, which has `length_total` terms in all `documents` together.
    pub fn new(config: &Config, field: Field, documents: u64, length_total: u64) -> FieldScale {
        FieldScale {
            weight: config.weights.of(field),
            b: config.b,
            average_length: real(length_total) / real(documents.max(1)),
        }
    }

    /// The scaled value of `frequency` occurrences in a field of `length` terms.
    #[inline]
    pub fn scaled(&self, frequency: u32, length: u32) -> f64 {
        self.scaled_real(f64::from(frequency), length)
    }

    /// The scaled value of a frequency that need not be a whole number.
    #[inline]
    pub(crate) fn scaled_real(&self, frequency: f64, length: u32) -> f64 {
        // A field without terms has no postings; any value will do.
        let relative_length =
            if self.average_length > 0.0 { f64::from(length) / self.average_length } else { 1.0 };
        let norm = 1.0 - self.b + self.b * relative_length;
        // With b = 1 an empty field would divide by 0. It has no occurrences.
        if norm > 0.0 { self.weight * frequency / norm } else { 0.0 }
    }

    /// Weight, slope *b* and average length, for bounds of scores.
    pub(crate) fn parameters(&self) -> (f64, f64, f64) {
        (self.weight, self.b, self.average_length)
    }

    /// Explains the scaled value in words.
    pub(crate) fn explain(&self, field: Field, frequency: &str, length: u32) -> String {
        let name = field.name();
        format!(
            "{frequency} of {length} in {name} (average {:.1}, weight {})",
            self.average_length, self.weight
        )
    }
}

/// The document-independent part of the score of a term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    k1: f64,
    documents: u64,
    containing: u64,
    idf: f64,
}

impl Bm25 {
    /// The score of a term that `containing` of all `documents` contain.
    pub fn new(config: &Config, documents: u64, containing: u64) -> Bm25 {
        Bm25 { k1: config.k1, documents, containing, idf: idf(documents, containing) }
    }

    /// The score in a document; `scaled` is the sum of the scaled occurrences in all fields.
    #[inline]
    pub fn score(&self, scaled: f64) -> f64 {
        self.idf * self.saturation(scaled)
    }

    /// The least upper bound of all scores, and *k1*, the speed of saturation.
    pub(crate) fn parameters(&self) -> (f64, f64) {
        (self.idf * (self.k1 + 1.0), self.k1)
    }

    /// Explains the score in words.
    pub(crate) fn explain(&self, term: &str, scaled: f64, fields: &[String]) -> String {
        format!(
            "{term}: idf {:.4} × tf {:.4}; {}; in {} of {} documents",
            self.idf,
            self.saturation(scaled),
            fields.join(", "),
            self.containing,
            self.documents,
        )
    }

    #[inline]
    fn saturation(&self, scaled: f64) -> f64 {
        if scaled > 0.0 { scaled * (self.k1 + 1.0) / (scaled + self.k1) } else { 0.0 }
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
