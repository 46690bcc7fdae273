//! What a query's terms are worth, from the statistics of the whole index.
//!
//! What does not live here: the formula (`bm25.rs`).
//!
//! **Invariant.** Every term of the plan's words has its counts, also one that no document has.

use std::collections::BTreeMap;

use index::{Field, Index};

use crate::bm25::{Bm25, FieldScale};
use crate::plan::Plan;
use crate::{Config, QueryError};

/// Statistics of the fields, and of every term of a plan in each field, in the order of [`Field::ALL`].
pub(crate) struct Scorers<'p> {
    config: Config,
    documents: u64,
    scales: [FieldScale; Field::ALL.len()],
    containing: BTreeMap<&'p str, [u64; Field::ALL.len()]>,
}

impl<'p> Scorers<'p> {
    pub(crate) fn gather(
        plan: &'p Plan,
        index: &Index,
        config: &Config,
    ) -> Result<Scorers<'p>, QueryError> {
        let documents = index.doc_count();
        let scales = Field::ALL.map(|field| {
            let length_total = index.segments().iter().map(|segment| segment.length_total(field));
            FieldScale::new(config, field, documents, length_total.sum())
        });
        let mut terms = Vec::new();
        plan.each_term(&mut |term| terms.push(term));
        terms.sort_unstable();
        terms.dedup();
        let asked: Vec<(Field, &str)> =
            terms.iter().flat_map(|&term| Field::ALL.map(|field| (field, term))).collect();
        let mut containing = vec![0; asked.len()];
        for segment in index.segments() {
            for (count, more) in containing.iter_mut().zip(segment.doc_frequencies(&asked)?) {
                *count += u64::from(more);
            }
        }
        let (of_terms, _) = containing.as_chunks();
        let containing = terms.into_iter().zip(of_terms.iter().copied()).collect();
        Ok(Scorers { config: config.clone(), documents, scales, containing })
    }

    /// What occurrences count in a field.
    pub(crate) fn scale(&self, field: Field) -> FieldScale {
        self.scales[field as usize]
    }

    /// The scorer of a term that the plan has, in these fields. How many documents have it in fields that count
    /// for nothing does not matter, unless all do.
    pub(crate) fn of(&self, fields: &[Field], term: &str) -> Bm25 {
        let containing = &self.containing[term];
        let counts = |field: &&Field| self.config.weights.of(**field) > 0.0;
        let most = |fields: &mut dyn Iterator<Item = &Field>| {
            fields.map(|&field| containing[field as usize]).max()
        };
        let containing = most(&mut fields.iter().filter(counts)).or(most(&mut fields.iter()));
        Bm25::new(&self.config, self.documents, containing.unwrap_or(0))
    }

    /// The scorer of a word in several forms, in these fields: as if they were one term, which as many documents have as
    /// have any of them at the most.
    pub(crate) fn of_forms(&self, fields: &[Field], forms: &[String]) -> Bm25 {
        let counts = |field: &&Field| self.config.weights.of(**field) > 0.0;
        let most = |fields: &mut dyn Iterator<Item = &Field>| {
            let containing = |&field: &Field| -> u64 {
                forms.iter().map(|form| self.containing[form.as_str()][field as usize]).sum()
            };
            fields.map(containing).max()
        };
        let containing = most(&mut fields.iter().filter(counts)).or(most(&mut fields.iter()));
        let containing = containing.unwrap_or(0).min(self.documents);
        Bm25::new(&self.config, self.documents, containing)
    }
}
