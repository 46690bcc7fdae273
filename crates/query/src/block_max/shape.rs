//! The words of a plan that bounds can prune: a conjunction of groups, each a disjunction of words, without the
//! documents of excluded words.
//!
//! **Invariant.** A document matches the plan if it contains a word of each group and no excluded word. Its text
//! score without proximity (`proximity.rs`) is the sum over groups of the sum over their words.

use index::Field;

use crate::plan::Plan;

/// A word in some fields.
pub(crate) struct Wanted<'p> {
    pub(crate) fields: &'p [Field],
    pub(crate) term: &'p str,
    /// Whether it contributes to the score. A filter does not.
    pub(crate) is_scored: bool,
}

/// The words that a plan requires and excludes.
#[derive(Default)]
pub(crate) struct Shape<'p> {
    /// A conjunction of groups; a group is a disjunction of words.
    pub(crate) groups: Vec<Vec<Wanted<'p>>>,
    /// Words that a match must not contain.
    pub(crate) unwanted: Vec<Wanted<'p>>,
    /// Whether proximity counts.
    pub(crate) is_close: bool,
}

impl<'p> Shape<'p> {
    /// Returns the shape of a plan, or `None` if the plan has another form.
    pub(crate) fn of(plan: &'p Plan) -> Option<Shape<'p>> {
        let mut shape = Shape::default();
        shape.require(plan)?;
        (!shape.groups.is_empty()).then_some(shape)
    }

    /// All words of the groups in their order, then the excluded words.
    pub(crate) fn words(&self) -> impl Iterator<Item = &Wanted<'p>> {
        self.groups.iter().flatten().chain(&self.unwanted)
    }

    fn require(&mut self, plan: &'p Plan) -> Option<()> {
        match plan {
            // Sums of sums have other rounding errors than one sum.
            Plan::And(plans) if plans.iter().any(is_sum) => return None,
            Plan::And(plans) => plans.iter().try_for_each(|plan| self.require(plan))?,
            Plan::Or(plans) => {
                self.groups.push(plans.iter().map(single).collect::<Option<Vec<_>>>()?);
            }
            Plan::Close(plan, _) => {
                self.is_close = true;
                self.require(plan)?;
            }
            Plan::AndNot(wanted, unwanted) => {
                self.unwanted.extend(any_of(unwanted)?);
                self.require(wanted)?;
            }
            Plan::Not(unwanted) => self.unwanted.extend(any_of(unwanted)?),
            plan => self.groups.push(vec![single(plan)?]),
        }
        Some(())
    }
}

/// Returns whether the score of a plan is a sum over subplans.
fn is_sum(plan: &Plan) -> bool {
    match plan {
        Plan::And(_) => true,
        Plan::AndNot(wanted, _) => is_sum(wanted),
        _ => false,
    }
}

/// Returns the word if the plan is a single word.
fn single(plan: &Plan) -> Option<Wanted<'_>> {
    let (Plan::Words(words) | Plan::Filter(words)) = plan else { return None };
    let [(_, term)] = &words.terms[..] else { return None };
    let is_scored = matches!(plan, Plan::Words(_));
    Some(Wanted { fields: &words.fields, term, is_scored })
}

/// Returns the words if the plan is a disjunction of single words.
fn any_of(plan: &Plan) -> Option<Vec<Wanted<'_>>> {
    match plan {
        Plan::Or(plans) => {
            let words = plans.iter().map(any_of).collect::<Option<Vec<_>>>()?;
            Some(words.into_iter().flatten().collect())
        }
        plan => Some(vec![single(plan)?]),
    }
}
