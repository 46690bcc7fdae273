//! The plan of a query on one segment: operators over posting lists, with scores.
//!
//! What lives here: the lists of the operators, and the sum of the scores of matching parts. What does not: the
//! operators (`operators`), term weights (`weighting.rs`), proximity (`proximity.rs`).
//!
//! **Invariant.** [`Tree::score`] and [`Tree::explain`] add the same numbers in the same order.

use index::{DocId, DocIterator, Field, Frequencies, Postings, Segment};

use crate::operators::{And, AndNot, Not, Occurring, Or, Phrase};
use crate::plan::{Near, Plan, Words};
use crate::proximity::Proximity;
use crate::scorers::Scorers;
use crate::spans::Spans;
use crate::stop::Until;
use crate::weighting::{FieldWeighting, TermWeighting};
use crate::{Explanation, QueryError};

/// The documents of one segment that match a plan.
pub(crate) struct Tree<'a> {
    node: Node<'a>,
    /// An upper bound of the number of documents, from the sizes of the lists.
    cost: u64,
}

enum Node<'a> {
    Words(Leaf<'a, Phrase<Until<'a, Postings<'a>>>>),
    Near(Leaf<'a, Occurring<Spans<'a>>>),
    And(And<Tree<'a>>),
    Or(Or<Tree<'a>>),
    AndNot(Box<AndNot<Tree<'a>, Tree<'a>>>),
    Not(Box<Not<Tree<'a>>>),
    Close(Box<(Tree<'a>, Proximity<'a>)>),
}

impl<'a> Tree<'a> {
    pub(crate) fn build(
        plan: &'a Plan,
        segment: &'a Segment,
        scorers: &Scorers<'a>,
    ) -> Result<Tree<'a>, QueryError> {
        let build = |plan| Tree::build(plan, segment, scorers);
        let everything = u64::from(segment.doc_count());
        let (node, cost) = match plan {
            Plan::Words(words) => leaf(words, segment, scorers, true)?,
            Plan::Near(near) => near_leaf(near, segment, scorers)?,
            Plan::Filter(words) => leaf(words, segment, scorers, false)?,
            Plan::And(plans) => {
                let trees = plans.iter().map(build).collect::<Result<Vec<_>, _>>()?;
                let cost = trees.iter().map(|tree| tree.cost).min().unwrap_or(0);
                (Node::And(And::new(trees, |tree| tree.cost)), cost)
            }
            Plan::Or(plans) => {
                let trees = plans.iter().map(build).collect::<Result<Vec<_>, _>>()?;
                let cost = trees.iter().map(|tree| tree.cost).sum();
                (Node::Or(Or::new(trees)), cost)
            }
            Plan::AndNot(wanted, unwanted) => {
                let wanted = build(wanted)?;
                let cost = wanted.cost;
                (Node::AndNot(Box::new(AndNot::new(wanted, build(unwanted)?))), cost)
            }
            Plan::Not(unwanted) => {
                let not = Not::complement(build(unwanted)?, segment.doc_count());
                (Node::Not(Box::new(not)), everything)
            }
            Plan::Close(plan, pairs) => {
                let (tree, proximity) = (build(plan)?, Proximity::build(pairs, segment, scorers)?);
                let cost = tree.cost;
                (Node::Close(Box::new((tree, proximity))), cost)
            }
        };
        Ok(Tree { node, cost: cost.min(everything) })
    }

    /// The text score of the current document.
    pub(crate) fn score(&mut self) -> f64 {
        let mut sum = 0.0;
        match &mut self.node {
            Node::Words(leaf) => sum += leaf.score(),
            Node::Near(leaf) => sum += leaf.score(),
            Node::And(and) => and.lists_mut().iter_mut().for_each(|tree| sum += tree.score()),
            Node::Or(or) => or.for_each_matched(|tree| sum += tree.score()),
            Node::AndNot(and_not) => sum += and_not.wanted_mut().score(),
            Node::Not(_) => {}
            Node::Close(close) => {
                let (tree, proximity) = &mut **close;
                sum += tree.score();
                sum += proximity.score(tree.doc());
            }
        }
        sum
    }

    /// Explains the text score of the current document.
    pub(crate) fn explain(&mut self) -> Explanation {
        let mut parts = Vec::new();
        let what = match &mut self.node {
            Node::Words(leaf) => {
                parts = leaf.explain();
                leaf.what.to_owned()
            }
            Node::Near(leaf) => {
                parts = leaf.explain();
                leaf.what.to_owned()
            }
            Node::And(and) => {
                parts.extend(and.lists_mut().iter_mut().map(Tree::explain));
                "all of".to_owned()
            }
            Node::Or(or) => {
                or.for_each_matched(|tree| parts.push(tree.explain()));
                "any of".to_owned()
            }
            Node::AndNot(and_not) => {
                parts.push(and_not.wanted_mut().explain());
                "not excluded".to_owned()
            }
            Node::Not(_) => "every page that is not excluded".to_owned(),
            Node::Close(close) => {
                let (tree, proximity) = &mut **close;
                parts.push(tree.explain());
                parts.extend(proximity.explain(tree.doc()));
                "words and proximity".to_owned()
            }
        };
        Explanation::sum(what, parts)
    }
}

impl DocIterator for Tree<'_> {
    fn doc(&self) -> DocId {
        match &self.node {
            Node::Words(leaf) => leaf.fields.doc(),
            Node::Near(leaf) => leaf.fields.doc(),
            Node::And(and) => and.doc(),
            Node::Or(or) => or.doc(),
            Node::AndNot(and_not) => and_not.doc(),
            Node::Not(not) => not.doc(),
            Node::Close(close) => close.0.doc(),
        }
    }

    fn next_doc(&mut self) -> DocId {
        match &mut self.node {
            Node::Words(leaf) => leaf.fields.next_doc(),
            Node::Near(leaf) => leaf.fields.next_doc(),
            Node::And(and) => and.next_doc(),
            Node::Or(or) => or.next_doc(),
            Node::AndNot(and_not) => and_not.next_doc(),
            Node::Not(not) => not.next_doc(),
            Node::Close(close) => close.0.next_doc(),
        }
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        match &mut self.node {
            Node::Words(leaf) => leaf.fields.skip_to(target),
            Node::Near(leaf) => leaf.fields.skip_to(target),
            Node::And(and) => and.skip_to(target),
            Node::Or(or) => or.skip_to(target),
            Node::AndNot(and_not) => and_not.skip_to(target),
            Node::Not(not) => not.skip_to(target),
            Node::Close(close) => close.0.skip_to(target),
        }
    }
}

/// Builds a word or a phrase in the fields that contain all its terms. Only words with `is_scored` get a score.
fn leaf<'a>(
    words: &'a Words,
    segment: &'a Segment,
    scorers: &Scorers<'a>,
    is_scored: bool,
) -> Result<(Node<'a>, u64), QueryError> {
    let stop = scorers.stop;
    let scorers = is_scored.then_some(scorers);
    let (mut fields, mut cost) = (Vec::new(), 0);
    if words.terms.len() > 1 && !segment.has_positions() {
        return Err(QueryError::NoPositions { what: words.what.clone() });
    }
    for &field in &words.fields {
        let mut lists = Vec::with_capacity(words.terms.len());
        for (shift, term) in &words.terms {
            let Some(postings) = segment.postings(field, term)? else { break };
            lists.push((*shift, Until::new(postings, stop)));
        }
        if lists.len() < words.terms.len() {
            continue;
        }
        cost += lists.iter().map(|(_, list)| size(list)).min().unwrap_or(0);
        let weighting = scorers.map(|scorers| scorers.in_field(field, segment)).transpose()?;
        fields.push(InField { field, words: Phrase::new(lists, size), weighting });
    }
    let terms = words.terms.iter().map(|(_, term)| term.as_str());
    let of_terms = |scorers: &Scorers<'a>| {
        terms.map(|term| (term, scorers.of(&words.fields, term))).collect::<Vec<_>>()
    };
    let scorers = scorers.map(of_terms).unwrap_or_default();
    let scaled = vec![0.0; scorers.len()];
    let leaf = Leaf { what: &words.what, fields: Or::new(fields), scorers, scaled };
    Ok((Node::Words(leaf), cost))
}

fn size(list: &Until<'_, Postings<'_>>) -> u64 {
    u64::from(list.list().doc_frequency())
}

/// Builds a window or a word in several forms.
fn near_leaf<'a>(
    near: &'a Near,
    segment: &'a Segment,
    scorers: &Scorers<'a>,
) -> Result<(Node<'a>, u64), QueryError> {
    if near.part.needs_positions() && !segment.has_positions() {
        return Err(QueryError::NoPositions { what: near.what.clone() });
    }
    let (mut fields, mut cost) = (Vec::new(), 0);
    for &field in &near.fields {
        let spans = Spans::build(&near.part, segment, field, scorers.stop, &mut 0)?;
        if spans.cost == 0 {
            continue;
        }
        cost += spans.cost;
        let weighting = Some(scorers.in_field(field, segment)?);
        fields.push(InField { field, words: Occurring::of(spans), weighting });
    }
    let mut of_words = Vec::new();
    near.part.each_word(&mut |word| {
        of_words.push((word.what.as_str(), scorers.of_forms(&near.fields, &word.forms)));
    });
    let scaled = vec![0.0; of_words.len()];
    let leaf = Leaf { what: &near.what, fields: Or::new(fields), scorers: of_words, scaled };
    Ok((Node::Near(leaf), cost))
}

/// Words in any of some fields.
struct Leaf<'a, W> {
    what: &'a str,
    fields: Or<InField<'a, W>>,
    /// The weighting of each word. Empty for a filter.
    scorers: Vec<(&'a str, TermWeighting)>,
    /// The scaled occurrences of each word. A buffer.
    scaled: Vec<f64>,
}

impl<W: EachFrequency> Leaf<'_, W> {
    fn score(&mut self) -> f64 {
        self.add_up();
        let scored = self.scorers.iter().zip(&self.scaled);
        scored.fold(0.0, |sum, ((_, scorer), &scaled)| sum + scorer.score(scaled))
    }

    fn explain(&mut self) -> Vec<Explanation> {
        self.add_up();
        let mut told = vec![Vec::new(); self.scorers.len()];
        self.fields.for_each_matched(|field| {
            let doc = field.words.doc();
            let Some(weighting) = field.weighting else { return };
            field.words.each_frequency(|word, frequency| {
                told[word].push(weighting.explain(field.field, &frequency.to_string(), doc));
            });
        });
        let mut parts = Vec::with_capacity(self.scorers.len());
        for (((term, scorer), &scaled), told) in self.scorers.iter().zip(&self.scaled).zip(&told) {
            let what = scorer.explain(term, scaled, told);
            parts.push(Explanation { what, value: scorer.score(scaled), parts: Vec::new() });
        }
        parts
    }

    /// Adds up the occurrences of each word in the fields that have the current document.
    fn add_up(&mut self) {
        self.scaled.fill(0.0);
        let scaled = &mut self.scaled;
        self.fields.for_each_matched(|field| field.add(scaled));
    }
}

/// Gives the frequency of each word in the current document.
trait EachFrequency: DocIterator {
    /// Calls `visit` with the number and frequency of each word.
    fn each_frequency(&mut self, visit: impl FnMut(usize, u32));
}

impl EachFrequency for Phrase<Until<'_, Postings<'_>>> {
    fn each_frequency(&mut self, mut visit: impl FnMut(usize, u32)) {
        for (number, word) in self.words_mut().iter_mut().enumerate() {
            visit(number, word.frequency());
        }
    }
}

impl EachFrequency for Occurring<Spans<'_>> {
    fn each_frequency(&mut self, mut visit: impl FnMut(usize, u32)) {
        self.inner_mut().each_frequency(&mut visit);
    }
}

/// Words in one field.
struct InField<'a, W> {
    field: Field,
    words: W,
    /// `None` for a filter.
    weighting: Option<FieldWeighting<'a>>,
}

impl<W: EachFrequency> InField<'_, W> {
    fn add(&mut self, scaled: &mut [f64]) {
        let Some(weighting) = self.weighting else { return };
        let doc = self.words.doc();
        self.words.each_frequency(|word, frequency| {
            scaled[word] += weighting.scaled(f64::from(frequency), doc);
        });
    }
}

impl<W: DocIterator> DocIterator for InField<'_, W> {
    fn doc(&self) -> DocId {
        self.words.doc()
    }

    fn next_doc(&mut self) -> DocId {
        self.words.next_doc()
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        self.words.skip_to(target)
    }
}
