//! Which plans can be pruned: conjunctions of alternatives of words.
//!
//! **Invariant.** Every document that matches the plan has a word of each group, and what its words add up to is not
//! less than its text score.

use index::Field;

use crate::plan::{Plan, Words};

/// A word in some fields.
pub(crate) struct Wanted<'p> {
    pub(crate) fields: &'p [Field],
    pub(crate) term: &'p str,
    /// Whether it counts, or only chooses documents.
    pub(crate) is_scored: bool,
}

/// What a plan asks of the lists.
pub(crate) struct Shape<'p> {
    /// Of each group at least one word must be there.
    pub(crate) groups: Vec<Vec<Wanted<'p>>>,
    /// Whether the plan asks for more than the groups do.
    pub(crate) is_partial: bool,
    /// A phrase, if there is one.
    pub(crate) phrase: Option<&'p str>,
}

impl<'p> Shape<'p> {
    /// `None`: only exhaustive evaluation will do.
    pub(crate) fn of(plan: &'p Plan) -> Option<Shape<'p>> {
        let mut shape = Shape { groups: Vec::new(), is_partial: false, phrase: None };
        match plan {
            Plan::And(plans) => {
                for plan in plans {
                    // Sums of sums are rounded otherwise than one long sum.
                    shape.is_partial |= matches!(plan, Plan::And(_));
                    shape.require(plan)?;
                }
            }
            plan => shape.require(plan)?,
        }
        (!shape.groups.is_empty()).then_some(shape)
    }

    fn require(&mut self, plan: &'p Plan) -> Option<()> {
        match plan {
            Plan::Words(words) => {
                if words.terms.len() > 1 {
                    self.is_partial = true;
                    self.phrase = Some(&words.what);
                }
                self.groups.extend(terms(words, true).map(|word| vec![word]));
            }
            // What its words are worth depends on where they stand.
            Plan::Near(_) => return None,
            Plan::Filter(words) => self.groups.extend(terms(words, false).map(|word| vec![word])),
            Plan::And(plans) => {
                for plan in plans {
                    self.require(plan)?;
                }
            }
            Plan::Or(plans) => {
                let single = |plan: &'p Plan| match plan {
                    Plan::Words(words) if words.terms.len() == 1 => terms(words, true).next(),
                    Plan::Filter(words) if words.terms.len() == 1 => terms(words, false).next(),
                    _ => None,
                };
                self.groups.push(plans.iter().map(single).collect::<Option<Vec<_>>>()?);
            }
            Plan::AndNot(wanted, _) => {
                self.is_partial = true;
                self.require(wanted)?;
            }
            Plan::Not(_) => self.is_partial = true,
        }
        Some(())
    }
}

fn terms(words: &Words, is_scored: bool) -> impl Iterator<Item = Wanted<'_>> {
    let fields = &words.fields[..];
    words.terms.iter().map(move |(_, term)| Wanted { fields, term, is_scored })
}
