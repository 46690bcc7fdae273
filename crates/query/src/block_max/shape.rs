//! What a plan asks of the lists: a conjunction of alternatives of words, without what has certain others; or any other
//! nesting of words.
//!
//! **Invariant.** Every document that matches the plan has a word of each group, or what it needs if the words are nested,
//! and what its words add up to is not less than its text score, without what words near each other add to that
//! (`proximity.rs`).

use std::ops::Range;

use index::Field;

use super::Word;
use crate::plan::{Part, Plan, Words};

/// A word of more forms is bounded by hardly anything.
const FORMS_MAX: usize = 16;

/// A word in some fields.
pub(crate) struct Wanted<'p> {
    pub(crate) fields: &'p [Field],
    pub(crate) forms: Forms<'p>,
    /// Whether it counts, or only chooses documents.
    pub(crate) is_scored: bool,
}

/// The terms that a word stands for.
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

/// What a document must have.
pub(crate) enum Need {
    /// The word of a group.
    Word(usize),
    All(Vec<Need>),
    Any(Vec<Need>),
}

impl Need {
    fn is_nothing(&self) -> bool {
        matches!(self, Need::All(needs) if needs.is_empty())
    }

    /// How many documents have it at most, about.
    pub(super) fn cost(&self, groups: &[Vec<Word<'_>>]) -> u64 {
        let costs = |needs: &[Need]| needs.iter().map(|need| need.cost(groups)).collect::<Vec<_>>();
        match self {
            Need::Word(at) => groups[*at].iter().map(Word::cost).sum(),
            Need::All(needs) => costs(needs).into_iter().min().unwrap_or(0),
            Need::Any(needs) => costs(needs).into_iter().sum(),
        }
    }
}

/// What a plan asks of the lists.
pub(crate) struct Shape<'p> {
    /// Of each group at least one word must be there, unless they are nested.
    pub(crate) groups: Vec<Vec<Wanted<'p>>>,
    /// How groups of one word each are nested, if a document need not have all of them.
    pub(crate) nested: Option<Need>,
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

    /// Of any plan that asks for words.
    fn nesting(plan: &'p Plan) -> Option<Shape<'p>> {
        let mut shape = Shape::empty();
        let need = shape.need(plan).filter(|need| !need.is_nothing())?;
        Some(Shape { nested: Some(need), is_partial: true, ..shape })
    }

    /// What a document must have to match, all of nothing if that need not be any word; `None` if what it is worth is not
    /// bounded by that.
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

    /// The same of what stands somewhere: its words count in fields where it does not stand, too.
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

    /// `None`: the plan is none.
    fn conjunction(plan: &'p Plan) -> Option<Shape<'p>> {
        let mut shape = Shape::empty();
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
    words.terms.iter().map(move |(_, term)| Wanted { fields, forms: Forms::One(term), is_scored })
}
