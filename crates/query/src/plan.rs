//! A query whose words have become terms: what the lists of an index can answer.
//!
//! What lives here: analysis of a query's words by the chain that analysed the documents, and the special
//! terms of filters. What does not: the index. A plan is the same for every segment.
//!
//! A word that analyses to nothing (punctuation) is left out as if it had not been typed; one that analyses
//! to several terms (`state-of-the-art`, scripts without spaces) is a phrase of them.
//!
//! Of a text of which any words are searched for each term is by itself, and those that say little (`ignored.rs`) are
//! left out if others are left.
//!
//! **Filters.** Whoever builds the index puts into [`Field::Url`] of each document, besides the
//! analysed words of its address, these terms as they stand, not analysed: `site::HOST` for its host and
//! for each domain above that (`site::www.example.org`, `site::example.org`, `site::org`; lower case,
//! Punycode), and `lang::CODE` with its language, if that is known. A word may hold a colon between two
//! letters (WB6 of UAX #29), but never two in a row, so no address and no text can pass for a filter;
//! a test holds the analysis to that.
//!
//! **Invariant.** A plan has at most [`TERMS_MAX`] terms, every leaf at least one.

use std::collections::BTreeSet;

use index::Field;
use page::Analyzer;

use crate::language::{DEPTH_MAX, TERMS_MAX};
use crate::{Query, QueryError};

/// A level of parentheses parses to at most three levels of [`Query`]; the rest is room.
const TREE_DEPTH_MAX: usize = 4 * DEPTH_MAX;

#[derive(Debug)]
pub(crate) enum Plan {
    Words(Words),
    Filter(Words),
    And(Vec<Plan>),
    Or(Vec<Plan>),
    AndNot(Box<Plan>, Box<Plan>),
    Not(Box<Plan>),
}

/// A word or a phrase, in any of some fields.
#[derive(Debug)]
pub(crate) struct Words {
    /// As the query says it.
    pub(crate) what: String,
    pub(crate) fields: Vec<Field>,
    /// Each with its place in the phrase.
    pub(crate) terms: Vec<(u32, String)>,
}

impl Plan {
    /// `ignored` are the terms that say little where any of many words are searched for.
    pub(crate) fn build(
        query: &Query,
        analyzer: &Analyzer,
        ignored: &BTreeSet<String>,
    ) -> Result<Plan, QueryError> {
        let mut planner = Planner { analyzer, ignored, terms: 0 };
        let plan = planner.plan(query, 0)?.ok_or(QueryError::Empty)?;
        if planner.terms > TERMS_MAX {
            return Err(QueryError::TooManyTerms { found: planner.terms, max: TERMS_MAX });
        }
        Ok(plan)
    }

    /// Every word of the plan, negated or not, filters not.
    pub(crate) fn each_words<'p>(&'p self, visit: &mut dyn FnMut(&'p Words)) {
        match self {
            Plan::Words(words) => visit(words),
            Plan::Filter(_) => {}
            Plan::And(plans) | Plan::Or(plans) => {
                for plan in plans {
                    plan.each_words(visit);
                }
            }
            Plan::AndNot(wanted, unwanted) => {
                wanted.each_words(visit);
                unwanted.each_words(visit);
            }
            Plan::Not(plan) => plan.each_words(visit),
        }
    }

    /// The terms that a reader looks for: those that are not negated.
    pub(crate) fn wanted_terms(&self, terms: &mut BTreeSet<String>) {
        match self {
            Plan::Words(words) => terms.extend(words.terms.iter().map(|(_, term)| term.clone())),
            Plan::And(plans) | Plan::Or(plans) => {
                for plan in plans {
                    plan.wanted_terms(terms);
                }
            }
            Plan::AndNot(wanted, _) => wanted.wanted_terms(terms),
            Plan::Filter(_) | Plan::Not(_) => {}
        }
    }
}

struct Planner<'a> {
    analyzer: &'a Analyzer,
    ignored: &'a BTreeSet<String>,
    /// How many terms the plan has so far.
    terms: usize,
}

impl Planner<'_> {
    /// `None`: nothing is left of it.
    fn plan(&mut self, query: &Query, depth: usize) -> Result<Option<Plan>, QueryError> {
        if depth > TREE_DEPTH_MAX {
            return Err(QueryError::TooDeepTree { max: TREE_DEPTH_MAX });
        }
        Ok(match query {
            Query::Term { field, text } | Query::Phrase { field, text } => {
                self.words(query, *field, text)
            }
            Query::Site(host) => Some(self.filter(query, format!("site::{host}"))),
            Query::Language(code) => Some(self.filter(query, format!("lang::{code}"))),
            Query::And(queries) => one_or(self.plans(queries, depth)?, Plan::And),
            Query::Or(queries) => one_or(self.plans(queries, depth)?, Plan::Or),
            Query::AndNot(wanted, unwanted) => {
                let wanted = self.plan(wanted, depth + 1)?;
                let unwanted = self.plan(unwanted, depth + 1)?;
                match (wanted, unwanted) {
                    (Some(wanted), Some(unwanted)) => {
                        Some(Plan::AndNot(Box::new(wanted), Box::new(unwanted)))
                    }
                    (None, Some(unwanted)) => Some(Plan::Not(Box::new(unwanted))),
                    (wanted, None) => wanted,
                }
            }
            Query::Not(unwanted) => {
                let unwanted = self.plan(unwanted, depth + 1)?;
                unwanted.map(|plan| Plan::Not(Box::new(plan)))
            }
            Query::Any(text) => self.any(text),
        })
    }

    fn plans(&mut self, queries: &[Query], depth: usize) -> Result<Vec<Plan>, QueryError> {
        let mut plans = Vec::with_capacity(queries.len());
        for query in queries {
            plans.extend(self.plan(query, depth + 1)?);
        }
        Ok(plans)
    }

    fn words(&mut self, query: &Query, field: Option<Field>, text: &str) -> Option<Plan> {
        let mut terms: Vec<(u32, String)> = Vec::new();
        let mut begin = None;
        self.analyzer.each(text, &mut |token| {
            let begin = *begin.get_or_insert(token.position);
            terms.push((token.position.saturating_sub(begin), token.term.to_owned()));
        });
        self.terms = self.terms.saturating_add(terms.len());
        let fields = field.map_or_else(|| Field::ALL.to_vec(), |field| vec![field]);
        (!terms.is_empty()).then(|| Plan::Words(Words { what: query.to_string(), fields, terms }))
    }

    /// Each term of a text by itself, as often as it is there; those that say little only if there are no others. Of
    /// a text with too many of them the first count.
    fn any(&mut self, text: &str) -> Option<Plan> {
        let mut terms = self.analyzer.terms(text);
        if terms.iter().any(|term| !self.ignored.contains(term)) {
            terms.retain(|term| !self.ignored.contains(term));
        }
        terms.truncate(TERMS_MAX);
        self.terms = self.terms.saturating_add(terms.len());
        let words = |term: String| {
            let fields = Field::ALL.to_vec();
            Plan::Words(Words { what: term.clone(), fields, terms: vec![(0, term)] })
        };
        one_or(terms.into_iter().map(words).collect(), Plan::Or)
    }

    fn filter(&mut self, query: &Query, term: String) -> Plan {
        self.terms = self.terms.saturating_add(1);
        Plan::Filter(Words {
            what: query.to_string(),
            fields: vec![Field::Url],
            terms: vec![(0, term)],
        })
    }
}

fn one_or(mut plans: Vec<Plan>, many: fn(Vec<Plan>) -> Plan) -> Option<Plan> {
    if plans.len() > 1 { Some(many(plans)) } else { plans.pop() }
}
