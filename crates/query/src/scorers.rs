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
        let mut by_term = BTreeMap::new();
        for term in terms {
            let mut containing = [0; Field::ALL.len()];
            for segment in index.segments() {
                for (count, field) in containing.iter_mut().zip(Field::ALL) {
                    *count += u64::from(segment.doc_frequency(field, term)?);
                }
            }
            let scorer = |field: Field| {
                let at = field as usize;
                Bm25::new(config, field, index.doc_count(), length_totals[at], containing[at])
            };
            by_term.insert(term, Field::ALL.map(scorer));
        }
        Ok(Scorers { by_term })
    }

    /// The scorer of a term that the plan has.
    pub(crate) fn of(&self, field: Field, term: &str) -> Bm25 {
        self.by_term[term][field as usize]
    }
}
