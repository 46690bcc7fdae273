//! Proximity: the score of neighbouring query words that are near each other in a document.
//!
//! ```text
//! proximity(d)  = Σ_pairs proximity_weight · W(pair, d)
//! nearness_f    = Σ 1 / distance²   over all positions of both words in field f that are at most 5 apart
//! ```
//!
//! Here W is the score (`bm25.rs`, `tf_idf.rs`) of an imaginary word with frequency `nearness_f` in each field. Its
//! document frequency is that of the more common word of the pair. So its idf is the lesser of both, and its score
//! saturates. With BM25F a pair adds at most `proximity_weight · idf · (k1 + 1)`.
//!
//! Pairs are plain words next to each other in a query, ignoring filters. A pair counts in the fields in which
//! both words are searched.
//!
//! Elsewhere: the choice of pairs (`plan.rs`). Without `proximity_weight`, or if a segment has no positions, there
//! are no pairs.
//!
//! **Invariant.** A proximity score is finite and not negative, and does not change which documents match.
//!
//! Y. Rasolofo, J. Savoy, "Term proximity scoring for keyword-based retrieval systems", ECIR 2003: the nearness of
//! pairs within five words under the saturation of BM25, and the lesser of both weights. The sum over fields is ours.

use std::collections::BTreeMap;

use index::{DocId, DocIterator, Field, Positions, Postings, Segment};

use crate::plan::{Pair, Plan};
use crate::scorers::Scorers;
use crate::stop::Until;
use crate::weighting::{FieldWeighting, TermWeighting};
use crate::{Explanation, QueryError};

/// Maximum distance that counts.
const DISTANCE_MAX: u32 = 5;

/// Pairs of words in one segment.
pub(crate) struct Proximity<'a> {
    weight: f64,
    lists: Vec<Places<'a>>,
    pairs: Vec<Near<'a>>,
}

/// A pair of words.
struct Near<'a> {
    what: &'a str,
    weighting: TermWeighting,
    /// Each field with the numbers of the lists of both words.
    fields: Vec<(Field, FieldWeighting<'a>, [usize; 2])>,
}

impl<'a> Proximity<'a> {
    pub(crate) fn build(
        pairs: &'a [Pair],
        segment: &'a Segment,
        scorers: &Scorers<'a>,
    ) -> Result<Proximity<'a>, QueryError> {
        let mut lists = Vec::new();
        let mut numbers: BTreeMap<(&str, Field), Option<usize>> = BTreeMap::new();
        let mut number = |term: &'a str, field: Field| -> Result<Option<usize>, QueryError> {
            if let Some(&known) = numbers.get(&(term, field)) {
                return Ok(known);
            }
            let postings = segment.postings(field, term)?;
            let number = postings.map(|postings| {
                let postings = Until::new(postings, scorers.stop);
                lists.push(Places { postings, read: None, positions: Vec::new() });
                lists.len() - 1
            });
            numbers.insert((term, field), number);
            Ok(number)
        };
        let mut nears = Vec::with_capacity(pairs.len());
        for Pair { what, terms: [one, other], fields: asked } in pairs {
            let mut fields = Vec::new();
            for &field in asked {
                if let (Some(one), Some(other)) = (number(one, field)?, number(other, field)?) {
                    fields.push((field, scorers.in_field(field, segment)?, [one, other]));
                }
            }
            let weighting = scorers.of_pair(asked, [one, other]);
            nears.push(Near { what, weighting, fields });
        }
        Ok(Proximity { weight: scorers.proximity_weight(), lists, pairs: nears })
    }

    /// The score of all pairs in a document. Documents must not descend.
    pub(crate) fn score(&mut self, doc: DocId) -> f64 {
        let mut sum = 0.0;
        for pair in &self.pairs {
            let scaled = pair.each_field(&mut self.lists, doc, |_, _, _| {});
            sum += self.weight * pair.weighting.score(scaled);
        }
        sum
    }

    /// Explains the score. Returns `None` if no words are near each other.
    pub(crate) fn explain(&mut self, doc: DocId) -> Option<Explanation> {
        let mut parts = Vec::new();
        for pair in &self.pairs {
            let mut told = Vec::new();
            let scaled = pair.each_field(&mut self.lists, doc, |field, weighting, nearness| {
                let nearness = format!("{nearness:.4}");
                told.push(weighting.explain(field, &nearness, doc));
            });
            if !told.is_empty() {
                let what = pair.weighting.explain(pair.what, scaled, &told);
                let value = self.weight * pair.weighting.score(scaled);
                let what = format!("weight {} × ({what})", self.weight);
                parts.push(Explanation { what, value, parts: Vec::new() });
            }
        }
        (!parts.is_empty()).then(|| Explanation::sum("proximity".to_owned(), parts))
    }
}

impl Near<'_> {
    /// Returns the scaled nearness, summed over all fields. Calls `visit` for each field with any.
    fn each_field(
        &self,
        lists: &mut [Places<'_>],
        doc: DocId,
        mut visit: impl FnMut(Field, &FieldWeighting<'_>, f64),
    ) -> f64 {
        let mut scaled = 0.0;
        for (field, weighting, [one, other]) in &self.fields {
            if !lists[*one].read(doc) || !lists[*other].read(doc) {
                continue;
            }
            let nearness = nearness(&lists[*one].positions, &lists[*other].positions);
            if nearness > 0.0 {
                scaled += weighting.scaled(nearness, doc);
                visit(*field, weighting, nearness);
            }
        }
        scaled
    }
}

/// The positions of a word in a field.
struct Places<'a> {
    postings: Until<'a, Postings<'a>>,
    /// The document of `positions`.
    read: Option<DocId>,
    positions: Vec<u32>,
}

impl Places<'_> {
    /// Returns whether the word is in a document, and reads its positions.
    fn read(&mut self, doc: DocId) -> bool {
        if self.postings.skip_to(doc) != doc {
            return false;
        }
        if self.read != Some(doc) {
            self.postings.positions(&mut self.positions);
            self.read = Some(doc);
        }
        true
    }
}

/// Σ 1 / distance² over all pairs of positions. Both lists ascend.
fn nearness(one: &[u32], other: &[u32]) -> f64 {
    let (mut sum, mut from) = (0.0, 0);
    for &place in one {
        while other.get(from).is_some_and(|&there| there.saturating_add(DISTANCE_MAX) < place) {
            from += 1;
        }
        let near = other[from..].iter().map(|&there| (there, there.abs_diff(place)));
        let near = near.take_while(|&(there, distance)| there < place || distance <= DISTANCE_MAX);
        // Both words at one position are the same word.
        for (_, distance) in near.filter(|&(_, distance)| distance > 0) {
            sum += 1.0 / f64::from(distance * distance);
        }
    }
    sum
}

/// An upper bound of the proximity score of a plan, with BM25F.
pub(crate) fn most(plan: &Plan, scorers: &Scorers<'_>) -> f64 {
    match plan {
        Plan::Close(plan, pairs) => {
            let add = |sum, Pair { terms: [one, other], fields, .. }: &Pair| {
                sum + scorers.proximity_weight() * scorers.most_of_pair(fields, [one, other])
            };
            pairs.iter().fold(most(plan, scorers), add)
        }
        Plan::And(plans) | Plan::Or(plans) => plans.iter().map(|plan| most(plan, scorers)).sum(),
        Plan::AndNot(wanted, _) => most(wanted, scorers),
        Plan::Words(_) | Plan::Near(_) | Plan::Filter(_) | Plan::Not(_) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::nearness;

    #[test]
    fn nearness_equals_the_sum_over_all_position_pairs() {
        let naive = |one: &[u32], other: &[u32]| {
            let pairs = one.iter().flat_map(|&a| other.iter().map(move |&b| a.abs_diff(b)));
            let near = pairs.filter(|distance| (1..=5).contains(distance));
            near.fold(0.0, |sum, distance| sum + 1.0 / f64::from(distance * distance))
        };
        assert!((nearness(&[3], &[4]) - 1.0).abs() < 1e-15);
        assert!((nearness(&[3, 20], &[5, 8, 9, 20]) - (0.25 + 0.04)).abs() < 1e-15);
        let mut state = 7_u64;
        let mut places = || {
            let mut next = |bound: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                u32::try_from((state >> 33) % bound).expect("below the bound")
            };
            let mut places: Vec<u32> = (0..next(30)).map(|_| next(90)).collect();
            if next(9) == 0 {
                places.extend([u32::MAX - 3, u32::MAX]);
            }
            places.sort_unstable();
            places
        };
        for _ in 0..2000 {
            let (one, other) = (places(), places());
            let (found, expected) = (nearness(&one, &other), naive(&one, &other));
            assert!(found.to_bits() == expected.to_bits(), "{one:?} {other:?}");
        }
    }
}
