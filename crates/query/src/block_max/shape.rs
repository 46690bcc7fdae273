//! Which plans can be pruned: conjunctions of alternatives of words, without what has certain others.
//!
//! **Invariant.** Every document that matches the plan has a word of each group, and what its words add up to is not
//! less than its text score, without what words near each other add to that (`proximity.rs`).

use std::ops::Range;

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
    /// Which groups are scored together before they are added to the others.
    pub(crate) units: Vec<Range<usize>>,
    /// Units whose words must stand in place, each with its number.
    pub(crate) phrases: Vec<(usize, &'p Words)>,
    /// Of these words none may be there.
    pub(crate) unwanted: Vec<Wanted<'p>>,
    /// Whether the plan asks for more than all that.
    pub(crate) is_partial: bool,
    /// Whether words near each other count, too.
    pub(crate) is_close: bool,
}

impl<'p> Shape<'p> {
    /// `None`: only exhaustive evaluation will do.
    pub(crate) fn of(plan: &'p Plan) -> Option<Shape<'p>> {
        let mut shape = Shape {
            groups: Vec::new(),
            units: Vec::new(),
            phrases: Vec::new(),
            unwanted: Vec::new(),
            is_partial: false,
            is_close: false,
        };
        match plan {
            Plan::And(plans) => {
                for plan in plans {
                    // Sums of sums are rounded otherwise than one long sum.
                    shape.is_partial |= is_sum(plan);
                    shape.require(plan)?;
                }
            }
            plan => shape.require(plan)?,
        }
        (!shape.groups.is_empty()).then_some(shape)
    }

    fn require(&mut self, plan: &'p Plan) -> Option<()> {
        let before = self.groups.len();
        match plan {
            Plan::Words(words) => {
                if words.terms.len() > 1 {
                    self.phrases.push((self.units.len(), words));
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
                return Some(());
            }
            Plan::Or(plans) => {
                self.groups.push(plans.iter().map(single).collect::<Option<Vec<_>>>()?);
            }
            Plan::Close(plan, _) => {
                self.is_close = true;
                return self.require(plan);
            }
            Plan::AndNot(wanted, unwanted) => {
                self.refuse(unwanted);
                return self.require(wanted);
            }
            Plan::Not(unwanted) => {
                self.refuse(unwanted);
                return Some(());
            }
        }
        self.units.push(before..self.groups.len());
        Some(())
    }

    fn refuse(&mut self, plan: &'p Plan) {
        match any_of(plan) {
            Some(words) => self.unwanted.extend(words),
            None => self.is_partial = true,
        }
    }
}

/// Whether a plan's score is a sum of those of others.
fn is_sum(plan: &Plan) -> bool {
    match plan {
        Plan::And(_) => true,
        Plan::AndNot(wanted, _) => is_sum(wanted),
        _ => false,
    }
}

/// A word by itself.
fn single(plan: &Plan) -> Option<Wanted<'_>> {
    match plan {
        Plan::Words(words) if words.terms.len() == 1 => terms(words, true).next(),
        Plan::Filter(words) if words.terms.len() == 1 => terms(words, false).next(),
        _ => None,
    }
}

/// The words of a plan that matches what has any of them.
fn any_of(plan: &Plan) -> Option<Vec<Wanted<'_>>> {
    match plan {
        Plan::Or(plans) => {
            let words = plans.iter().map(any_of).collect::<Option<Vec<_>>>()?;
            Some(words.into_iter().flatten().collect())
        }
        plan => Some(vec![single(plan)?]),
    }
}

fn terms(words: &Words, is_scored: bool) -> impl Iterator<Item = Wanted<'_>> {
    let fields = &words.fields[..];
    words.terms.iter().map(move |(_, term)| Wanted { fields, term, is_scored })
}
