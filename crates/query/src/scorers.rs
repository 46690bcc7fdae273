//! What a query's terms are worth in each field, from the statistics of the whole index.
//!
//! What does not live here: the formula (`bm25.rs`).
//!
//! **Invariant.** Every term of the plan's words has a scorer, also one that no document has.

use std::collections::BTreeMap;

use index::{Field, Index};

use crate::bm25::Bm25;
use crate::plan::Plan;
use crate::{Config, QueryError};

/// For every term of a plan its scorer in each field, in the order of [`Field::ALL`].
pub(crate) struct Scorers<'p> {
    by_term: BTreeMap<&'p str, [Bm25; Field::ALL.len()]>,
}

impl<'p> Scorers<'p> {
    pub(crate) fn gather(
        plan: &'p Plan,
        index: &Index,
        config: &Config,
    ) -> Result<Scorers<'p>, QueryError> {
        let length_totals = Field::ALL.map(|field| {
            index.segments().iter().map(|segment| segment.length_total(field)).sum::<u64>()
        });
        let mut terms = Vec::new();
        plan.each_words(&mut |words| terms.extend(words.terms.iter().map(|(_, term)| &**term)));
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
        let (by_field, _) = containing.as_chunks();
        let by_term = terms.into_iter().zip(by_field).map(|(term, containing)| {
            let containing: &[u64; Field::ALL.len()] = containing;
            let scorer = |field: Field| {
                let at = field as usize;
                Bm25::new(config, field, index.doc_count(), length_totals[at], containing[at])
            };
            (term, Field::ALL.map(scorer))
        });
        Ok(Scorers { by_term: by_term.collect() })
    }

    /// The scorer of a term that the plan has.
    pub(crate) fn of(&self, field: Field, term: &str) -> Bm25 {
        self.by_term[term][field as usize]
    }
}
