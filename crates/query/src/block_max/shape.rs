//! The words that a plan requires: a conjunction of alternatives with excluded words, or any other nesting.
//!
//! **Invariant.** Every document that matches the plan contains a word of each group, or fulfils the nested needs.
//! The sum of its word scores is an upper bound of its text score without proximity (`proximity.rs`).

use std::ops::Range;

use index::Field;

use super::Word;
use crate::plan::{Part, Plan, Words};

/// Words with more forms are not pruned, since their bounds are too loose.
const FORMS_MAX: usize = 16;

/// A word in some fields.
pub(crate) struct Wanted<'p> {
    pub(crate) fields: &'p [Field],
    pub(crate) forms: Forms<'p>,
    /// Whether it contributes to the score. A filter does not.
    pub(crate) is_scored: bool,
}

/// The terms that match a word.
#[derive(Clone, Copy)]
pub(crate) enum Forms<'p> {
    One(&'p str),
    Many(&'p [String]),
}

impl<'p> Forms<'p> {
    pub(crate) fn terms(self) -> impl Iterator<Item = &'p str> {
        let (one, many) = match self {
            Forms::One(term) => (Some(term), &[][..]),
            Forms::Many(terms) => (None, terms),
        };
        one.into_iter().chain(many.iter().map(String::as_str))
    }
}

/// The words that a document must contain.
pub(crate) enum Need {
    /// The word of the group with this number.
    Word(usize),
    All(Vec<Need>),
    Any(Vec<Need>),
}

impl Need {
    fn is_nothing(&self) -> bool {
        matches!(self, Need::All(needs) if needs.is_empty())
    }

    /// Estimates an upper bound of the number of documents that fulfil it.
    pub(super) fn cost(&self, groups: &[Vec<Word<'_>>]) -> u64 {
        let costs = |needs: &[Need]| needs.iter().map(|need| need.cost(groups)).collect::<Vec<_>>();
        match self {
            Need::Word(at) => groups[*at].iter().map(Word::cost).sum(),
            Need::All(needs) => costs(needs).into_iter().min().unwrap_or(0),
            Need::Any(needs) => costs(needs).into_iter().sum(),
        }
    }
}

/// The words that a plan requires.
pub(crate) struct Shape<'p> {
    /// A conjunction of groups; a group is a disjunction of words. If `nested` is set, that applies instead.
    pub(crate) groups: Vec<Vec<Wanted<'p>>>,
    /// The nesting of groups of one word each, if the plan is not a conjunction.
    pub(crate) nested: Option<Need>,
    /// Groups whose scores are added up before they are added to the total.
    pub(crate) units: Vec<Range<usize>>,
    /// Phrases: the number of a unit, and its words.
    pub(crate) phrases: Vec<(usize, &'p Words)>,
    /// Words that a match must not contain.
    pub(crate) unwanted: Vec<Wanted<'p>>,
    /// Whether the plan has conditions that are not in this shape.
    pub(crate) is_partial: bool,
    /// Whether proximity counts.
    pub(crate) is_close: bool,
}

impl<'p> Shape<'p> {
    /// Returns the shape of a plan, or `None` if only exhaustive evaluation is possible.
    pub(crate) fn of(plan: &'p Plan) -> Option<Shape<'p>> {
        Shape::conjunction(plan).or_else(|| Shape::nesting(plan))
    }

    fn empty() -> Shape<'p> {
        Shape {
            groups: Vec::new(),
            nested: None,
            units: Vec::new(),
            phrases: Vec::new(),
            unwanted: Vec::new(),
            is_partial: false,
            is_close: false,
        }
    }

    /// Handles any plan that requires words.
    fn nesting(plan: &'p Plan) -> Option<Shape<'p>> {
        let mut shape = Shape::empty();
        let need = shape.need(plan).filter(|need| !need.is_nothing())?;
        Some(Shape { nested: Some(need), is_partial: true, ..shape })
    }

    /// The words that a matching document must contain, an empty conjunction if it need not contain any. Returns
    /// `None` if they do not bound its score.
    fn need(&mut self, plan: &'p Plan) -> Option<Need> {
        match plan {
            Plan::Words(words) => Some(self.all(terms(words, true))),
            Plan::Filter(words) => Some(self.all(terms(words, false))),
            Plan::Near(near) => self.need_part(&near.part, &near.fields),
            Plan::And(plans) => {
                let needs = plans.iter().map(|plan| self.need(plan)).collect::<Option<Vec<_>>>()?;
                Some(Need::All(needs.into_iter().filter(|need| !need.is_nothing()).collect()))
            }
            Plan::Or(plans) => {
                let needs = plans.iter().map(|plan| self.need(plan)).collect::<Option<Vec<_>>>()?;
                needs.iter().all(|need| !need.is_nothing()).then_some(Need::Any(needs))
            }
            Plan::AndNot(wanted, _) => self.need(wanted),
            Plan::Not(_) => Some(Need::All(Vec::new())),
            Plan::Close(plan, _) => {
                self.is_close = true;
                self.need(plan)
            }
        }
    }

    /// Handles a part of a proximity operator. Its words count in all fields, also in those without a match of the
    /// part.
    fn need_part(&mut self, part: &'p Part, fields: &'p [Field]) -> Option<Need> {
        match part {
            Part::Words { words, .. } => {
                let is_few = words.iter().all(|word| word.forms.len() <= FORMS_MAX);
                let forms = words.iter().map(|word| Forms::Many(&word.forms));
                let wanted = forms.map(|forms| Wanted { fields, forms, is_scored: true });
                is_few.then(|| self.all(wanted))
            }
            Part::Either(parts) => {
                let needs = parts.iter().map(|part| self.need_part(part, fields));
                Some(Need::Any(needs.collect::<Option<Vec<_>>>()?))
            }
            Part::Window { parts, .. } => {
                let needs = parts.iter().map(|part| self.need_part(part, fields));
                Some(Need::All(needs.collect::<Option<Vec<_>>>()?))
            }
        }
    }

    fn all(&mut self, words: impl Iterator<Item = Wanted<'p>>) -> Need {
        let before = self.groups.len();
        self.groups.extend(words.map(|word| vec![word]));
        Need::All((before..self.groups.len()).map(Need::Word).collect())
    }

    /// Returns `None` if the plan is not a conjunction.
    fn conjunction(plan: &'p Plan) -> Option<Shape<'p>> {
        let mut shape = Shape::empty();
        match plan {
            Plan::And(plans) => {
                for plan in plans {
                    // Sums of sums have other rounding errors than one sum.
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
            // The scores of its words depend on positions.
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
    match plan {
        Plan::Words(words) if words.terms.len() == 1 => terms(words, true).next(),
        Plan::Filter(words) if words.terms.len() == 1 => terms(words, false).next(),
        _ => None,
    }
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

fn terms(words: &Words, is_scored: bool) -> impl Iterator<Item = Wanted<'_>> {
    let fields = &words.fields[..];
    words.terms.iter().map(move |(_, term)| Wanted { fields, forms: Forms::One(term), is_scored })
}
