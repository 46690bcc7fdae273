//! Scorers of query terms, from the statistics of the whole index.
//!
//! Elsewhere: the formulas (`bm25.rs`, `tf_idf.rs`).
//!
//! **Invariant.** Every term of the plan has counts in the fields in which it is searched, also a term without
//! documents.

use std::collections::BTreeMap;

use index::{Field, Index, Segment};

use crate::bm25::{Bm25, FieldScale};
use crate::plan::Plan;
use crate::tf_idf::TfIdf;
use crate::weighting::{FieldWeighting, TermWeighting};
use crate::{Config, QueryError, Stop, Weighting};

/// Number of terms that are looked up between two checks of a [`Stop`].
pub(crate) const TOGETHER: usize = 1024;

/// Statistics that all terms share.
pub(crate) struct Statistics {
    config: Config,
    documents: u64,
    /// In the order of [`Field::ALL`].
    scales: [FieldScale; Field::ALL.len()],
}

/// Document frequencies of a term in each field, in the order of [`Field::ALL`].
pub(crate) type Containing = [u64; Field::ALL.len()];

impl Statistics {
    pub(crate) fn new(index: &Index, config: &Config) -> Statistics {
        let documents = index.doc_count();
        let scales = Field::ALL.map(|field| {
            let length_total = index.segments().iter().map(|segment| segment.length_total(field));
            FieldScale::new(config, field, documents, length_total.sum())
        });
        Statistics { config: config.clone(), documents, scales }
    }

    pub(crate) fn scale(&self, field: Field) -> FieldScale {
        self.scales[field as usize]
    }

    /// Returns whether a frequency near 0 gives a score near 0.
    pub(crate) fn is_gradual(&self) -> bool {
        self.config.k1 > 1e-6
    }

    /// The scorer of a term that is searched in `fields`.
    pub(crate) fn scorer(&self, fields: &[Field], containing: &Containing) -> Bm25 {
        Bm25::new(&self.config, self.documents, self.containing(fields, containing))
    }

    /// The weighting of a term with this document frequency.
    fn weighting(&self, containing: u64) -> TermWeighting {
        match self.config.model {
            Weighting::Bm25f => {
                TermWeighting::Bm25(Bm25::new(&self.config, self.documents, containing))
            }
            Weighting::TfIdf => TermWeighting::TfIdf(TfIdf::new(self.documents, containing)),
        }
    }

    /// The document frequency of a term that is searched in `fields`: the greatest in any of them. Fields of
    /// weight 0 do not count, unless all have weight 0.
    fn containing(&self, fields: &[Field], containing: &Containing) -> u64 {
        let counts = |field: &&Field| self.config.weights.of(**field) > 0.0;
        let most = |fields: &mut dyn Iterator<Item = &Field>| {
            fields.map(|&field| containing[field as usize]).max()
        };
        let containing = most(&mut fields.iter().filter(counts)).or(most(&mut fields.iter()));
        containing.unwrap_or(0)
    }
}

/// The statistics, and the document frequencies of every term of a plan.
pub(crate) struct Scorers<'p> {
    statistics: &'p Statistics,
    containing: BTreeMap<&'p str, Containing>,
    /// Stops the search.
    pub(crate) stop: &'p Stop,
}

impl<'p> Scorers<'p> {
    pub(crate) fn gather(
        plan: &'p Plan,
        index: &Index,
        statistics: &'p Statistics,
        stop: &'p Stop,
    ) -> Result<Scorers<'p>, QueryError> {
        let mut asked: Vec<(Field, &str)> = Vec::new();
        let mut containing: BTreeMap<&str, Containing> = BTreeMap::new();
        plan.each_term(&mut |term, fields| {
            // A term may be searched in no field, as in a window over different ones.
            containing.insert(term, Containing::default());
            asked.extend(fields.iter().map(|&field| (field, term)));
        });
        asked.sort_unstable_by_key(|&(field, term)| (term, field as usize));
        asked.dedup();
        for segment in index.segments() {
            for asked in asked.chunks(TOGETHER).take_while(|_| !stop.is_set()) {
                for (&(field, term), found) in asked.iter().zip(segment.doc_frequencies(asked)?) {
                    let counts = containing.entry(term).or_default();
                    counts[field as usize] += u64::from(found);
                }
            }
        }
        Ok(Scorers { statistics, containing, stop })
    }

    /// The weighting of occurrences in a field of a segment.
    pub(crate) fn in_field<'a>(
        &self,
        field: Field,
        segment: &'a Segment,
    ) -> Result<FieldWeighting<'a>, QueryError> {
        Ok(match self.statistics.config.model {
            Weighting::Bm25f => {
                let (scale, lengths) = (self.statistics.scale(field), segment.lengths(field)?);
                FieldWeighting::Bm25 { scale, lengths }
            }
            Weighting::TfIdf => {
                let weight = self.statistics.config.weights.of(field);
                FieldWeighting::TfIdf { weight, peaks: segment.max_frequencies(field)? }
            }
        })
    }

    pub(crate) fn of(&self, fields: &[Field], term: &str) -> TermWeighting {
        self.statistics.weighting(self.statistics.containing(fields, &self.containing[term]))
    }

    /// The weighting of a pair of words: that of a word with the document frequency of the more common one.
    pub(crate) fn of_pair(&self, fields: &[Field], terms: [&str; 2]) -> TermWeighting {
        self.statistics.weighting(self.more_common(fields, terms))
    }

    /// An upper bound of the score of a pair with BM25F.
    pub(crate) fn most_of_pair(&self, fields: &[Field], terms: [&str; 2]) -> f64 {
        let Statistics { config, documents, .. } = self.statistics;
        let (most, _) = Bm25::new(config, *documents, self.more_common(fields, terms)).parameters();
        most
    }

    fn more_common(&self, fields: &[Field], [one, other]: [&str; 2]) -> u64 {
        let containing = |term: &str| self.statistics.containing(fields, &self.containing[term]);
        containing(one).max(containing(other))
    }

    pub(crate) fn proximity_weight(&self) -> f64 {
        self.statistics.config.proximity_weight
    }

    /// The weighting of a word in several forms, in these fields: that of one term whose document frequency is the
    /// sum over all forms.
    pub(crate) fn of_forms(&self, fields: &[Field], forms: &[String]) -> TermWeighting {
        let mut sums = Containing::default();
        for form in forms {
            for (sum, containing) in sums.iter_mut().zip(&self.containing[form.as_str()]) {
                *sum = sum.saturating_add(*containing).min(self.statistics.documents);
            }
        }
        self.statistics.weighting(self.statistics.containing(fields, &sums))
    }
}
