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
//! where `proximity` is what words near each other add, if that counts (`proximity.rs`), `prior` what a document is worth
//! before any question (`prior.rs`), `tf_f` is how often term `t` stands in field `f` of document `d`, `len_f(d)` the number of terms in
//! that field, `avg_f` its average over all N documents (those without the field count with length 0),
//! and `n(t)` how many documents have `t` in that one of the fields asked in which most have it (fields of weight 0 are
//! left out if others are left). N, `avg_f` and
//! `n` are of the whole index, not of a segment, so a score does not depend on how documents are spread over
//! segments. With 1 + … inside the logarithm no idf is negative. In one field with weight 1 this is BM25.
//!
//! Occurrences in all fields are added up before they saturate: a word that is in the title, the headings and the
//! text is one piece of evidence and not three.
//!
//! The sums go over what matched: a word counts in every field where it stands; a phrase counts in
//! every field where the whole phrase stands, there with each of its terms; of `a OR b` the branches
//! that match; nothing that is negated; `site:` and `lang:` choose pages but are worth nothing.
//!
//! **Invariant.** The numbers are `f64` and summed in the order of the query, the fields of a word in theirs,
//! so equal documents have equal scores, and an explanation adds up exactly.
//!
//! S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; S. Robertson,
//! H. Zaragoza, M. Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004.

use index::Field;

use crate::Config;

/// What an occurrence of any term counts in one field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldScale {
    weight: f64,
    b: f64,
    average_length: f64,
}

impl FieldScale {
    /// In `field`, which has `length_total` terms in all `documents` together.
    pub fn new(config: &Config, field: Field, documents: u64, length_total: u64) -> FieldScale {
        FieldScale {
            weight: config.weights.of(field),
            b: config.b,
            average_length: real(length_total) / real(documents.max(1)),
        }
    }

    /// What `frequency` occurrences among `length` terms count.
    #[inline]
    pub fn scaled(&self, frequency: u32, length: u32) -> f64 {
        self.scaled_real(f64::from(frequency), length)
    }

    /// The same of what need not be a whole number.
    #[inline]
    pub(crate) fn scaled_real(&self, frequency: f64, length: u32) -> f64 {
        // A field without any terms has no postings either; 1 is as good as any.
        let relative_length =
            if self.average_length > 0.0 { f64::from(length) / self.average_length } else { 1.0 };
        let norm = 1.0 - self.b + self.b * relative_length;
        // With b = 1 an empty field would divide by nothing; it has no occurrences to divide.
        if norm > 0.0 { self.weight * frequency / norm } else { 0.0 }
    }

    /// Weight, slope *b* and average length, for whoever bounds scores.
    pub(crate) fn parameters(&self) -> (f64, f64, f64) {
        (self.weight, self.b, self.average_length)
    }

    /// The same, in words.
    pub(crate) fn explain(&self, field: Field, frequency: &str, length: u32) -> String {
        let name = field.name();
        format!(
            "{frequency} of {length} in {name} (average {:.1}, weight {})",
            self.average_length, self.weight
        )
    }
}

/// The score of one term, all but what the document says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    k1: f64,
    documents: u64,
    containing: u64,
    idf: f64,
}

impl Bm25 {
    /// For a term that `containing` of all `documents` have.
    pub fn new(config: &Config, documents: u64, containing: u64) -> Bm25 {
        Bm25 { k1: config.k1, documents, containing, idf: idf(documents, containing) }
    }

    /// In a document whose occurrences of the term add up to `scaled` in all fields.
    #[inline]
    pub fn score(&self, scaled: f64) -> f64 {
        self.idf * self.saturation(scaled)
    }

    /// What no document reaches, and *k1*: how soon it comes near.
    pub(crate) fn parameters(&self) -> (f64, f64) {
        (self.idf * (self.k1 + 1.0), self.k1)
    }

    /// The same, in words.
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
