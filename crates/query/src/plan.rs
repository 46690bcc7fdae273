//! The plan of a query: its words are replaced by index terms.
//!
//! What lives here: the analysis of query words, by the same chain as for documents, and the special terms of
//! filters. What does not: posting lists. A plan is valid for every segment.
//!
//! In a sequence, a document must contain everything that is required and at least one of the plain words.
//! Function words (`stop_words.rs`) are dropped if other words remain.
//!
//! Punctuation has no terms and is dropped. `state-of-the-art`, or a text in a script without spaces, has several
//! terms. Among other plain words, each of them is a plain word. Alone, required or negated, they are a phrase;
//! but a text without spaces alone is several plain words.
//!
//! A prefix or a fuzzy word is one word with several *forms*: the matching index terms (`expansion.rs`). A prefix
//! is compared with terms without stemming; in addition it matches its own term as a whole word. A fuzzy word is
//! compared as a term.
//!
//! If proximity counts, neighbouring words of the query are pairs (`proximity.rs`).
//!
//! **Filters.** The field [`Field::Url`] of each document contains, besides the words of its address, special
//! terms that are not analysed ([`Filter`]). No address and no text has such a term; a test checks the analysis.
//!
//! **Invariant.** A plan has at most [`TERMS_MAX`] words, and every leaf has at least one. A word has at least one
//! term, or forms that are missing from the index.

use std::collections::BTreeSet;

use index::{Field, Index, Segment};
use page::{Analyzer, Filter, Limits, normalise};

use crate::expansion::{Expander, Pattern};
use crate::language::{DEPTH_MAX, TERMS_MAX};
use crate::{Config, Match, Query, QueryError, Stop};

/// A level of parentheses becomes at most three levels of [`Query`]; the rest is a margin.
const TREE_DEPTH_MAX: usize = 4 * DEPTH_MAX;

#[derive(Debug)]
pub(crate) enum Plan {
    Words(Words),
    /// Words in several forms, and windows.
    Near(Near),
    Filter(Words),
    And(Vec<Plan>),
    Or(Vec<Plan>),
    AndNot(Box<Plan>, Box<Plan>),
    Not(Box<Plan>),
    /// A plan whose score includes the proximity of these pairs.
    Close(Box<Plan>, Vec<Pair>),
}

/// Two neighbouring words of a query.
#[derive(Debug)]
pub(crate) struct Pair {
    /// Text for explanations.
    pub(crate) what: String,
    pub(crate) terms: [String; 2],
    /// The fields in which both words are searched, at least one.
    pub(crate) fields: Vec<Field>,
}

/// A word or a phrase, in any of some fields.
#[derive(Debug)]
pub(crate) struct Words {
    /// The text in the query.
    pub(crate) what: String,
    pub(crate) fields: Vec<Field>,
    /// The terms, each with its offset in the phrase.
    pub(crate) terms: Vec<(u32, String)>,
    /// Whether these are the terms of the query itself, without expansion.
    pub(crate) is_plain: bool,
}

/// A part with positions, in any of some fields.
#[derive(Debug)]
pub(crate) struct Near {
    /// The text in the query.
    pub(crate) what: String,
    /// The fields in which it can occur.
    pub(crate) fields: Vec<Field>,
    pub(crate) part: Part,
}

/// A part of a query that has positions in a text.
#[derive(Debug)]
pub(crate) enum Part {
    /// Words next to each other.
    Words { field: Option<Field>, words: Vec<Word> },
    /// A disjunction.
    Either(Vec<Part>),
    /// All parts within `width` positions, in this order or in any order.
    Window { ordered: bool, width: u32, parts: Vec<Part> },
}

/// A word, possibly in several forms.
#[derive(Debug)]
pub(crate) struct Word {
    /// The text in the query.
    pub(crate) what: String,
    /// Its offset in the phrase.
    pub(crate) shift: u32,
    /// The terms that match it.
    pub(crate) forms: Vec<String>,
}

impl Part {
    /// Visits all words, in the order of the query.
    pub(crate) fn each_word<'p>(&'p self, visit: &mut dyn FnMut(&'p Word)) {
        match self {
            Part::Words { words, .. } => words.iter().for_each(visit),
            Part::Either(parts) | Part::Window { parts, .. } => {
                for part in parts {
                    part.each_word(visit);
                }
            }
        }
    }

    /// Returns whether it can occur in a field.
    fn fits(&self, field: Field) -> bool {
        match self {
            Part::Words { field: wanted, .. } => wanted.is_none_or(|wanted| wanted == field),
            Part::Either(parts) => parts.iter().any(|part| part.fits(field)),
            Part::Window { parts, .. } => parts.iter().all(|part| part.fits(field)),
        }
    }

    /// Returns whether matching it needs positions.
    pub(crate) fn needs_positions(&self) -> bool {
        match self {
            Part::Words { words, .. } => words.len() > 1,
            Part::Either(parts) => parts.iter().any(Part::needs_positions),
            Part::Window { .. } => true,
        }
    }
}

/// The plan of a query, with notes for the user.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    /// The plan with all plain words required. `None` if it is the same.
    pub(crate) with_all: Option<Plan>,
    /// Reports of omitted terms, and of filters that the index lacks.
    pub(crate) notes: Vec<String>,
}

impl Plan {
    /// Builds the plan. `ignored` are the terms of function words. `config` defines which words are required and
    /// whether proximity counts. After `stop`, words have only the forms found so far.
    pub(crate) fn build(
        query: &Query,
        analyzer: &Analyzer,
        ignored: &BTreeSet<String>,
        index: &Index,
        config: &Config,
        stop: &Stop,
    ) -> Result<Planned, QueryError> {
        let mut planner = Planner {
            analyzer,
            ignored,
            index,
            expander: Expander::new(index, expanding(query), stop),
            absent: Vec::new(),
            pairing: config.proximity_weight > 0.0,
            unplaced: false,
            terms: 0,
            matching: config.matching,
            combine: Plan::Or,
            is_optional: false,
        };
        let plan = planner.wanted(query, 0)?.ok_or(QueryError::Empty)?;
        if planner.terms > TERMS_MAX {
            return Err(QueryError::TooManyTerms { found: planner.terms, max: TERMS_MAX });
        }
        let notes = planner.expander.notes.len();
        let with_all = if planner.is_optional {
            planner.combine = Plan::And;
            planner.wanted(query, 0)?
        } else {
            None
        };
        let mut notes = planner.expander.notes.drain(..notes).collect::<Vec<_>>();
        notes.extend(planner.absent.into_iter().map(absence));
        if planner.unplaced {
            let what = "proximity is ignored: this index has no positions";
            notes.push(what.to_owned());
        }
        Ok(Planned { plan, with_all, notes })
    }

    /// Visits every term of the plan's words, also negated ones but no filters, with the fields in which it is
    /// searched.
    pub(crate) fn each_term<'p>(&'p self, visit: &mut dyn FnMut(&'p str, &'p [Field])) {
        match self {
            Plan::Words(words) => {
                words.terms.iter().for_each(|(_, term)| visit(term, &words.fields));
            }
            Plan::Near(near) => near.part.each_word(&mut |word| {
                word.forms.iter().for_each(|term| visit(term, &near.fields));
            }),
            Plan::Filter(_) => {}
            Plan::And(plans) | Plan::Or(plans) => {
                for plan in plans {
                    plan.each_term(visit);
                }
            }
            Plan::AndNot(wanted, unwanted) => {
                wanted.each_term(visit);
                unwanted.each_term(visit);
            }
            Plan::Not(plan) | Plan::Close(plan, _) => plan.each_term(visit),
        }
    }

    /// Collects the terms to highlight: those that are not negated.
    pub(crate) fn wanted_terms(&self, terms: &mut BTreeSet<String>) {
        match self {
            Plan::Words(_) | Plan::Near(_) => {
                self.each_term(&mut |term, _| {
                    terms.insert(term.to_owned());
                });
            }
            Plan::And(plans) | Plan::Or(plans) => {
                for plan in plans {
                    plan.wanted_terms(terms);
                }
            }
            Plan::AndNot(wanted, _) | Plan::Close(wanted, _) => wanted.wanted_terms(terms),
            Plan::Filter(_) | Plan::Not(_) => {}
        }
    }
}

/// Returns whether a text has words without anything between them.
fn is_unspaced(analyzer: &Analyzer, text: &str) -> bool {
    let (mut found, mut end) = (false, None);
    analyzer.each(text, &mut |token| {
        found |= end == Some(token.start);
        end = Some(token.end);
    });
    found
}

/// The note for an index without filters of a kind.
fn absence(kind: Filter) -> String {
    let (name, what) = match kind {
        Filter::Site => ("site:", "page addresses"),
        Filter::Language => ("lang:", "page languages"),
        Filter::FileType => ("filetype:", "page addresses"),
        Filter::Link => ("link:", "links"),
        Filter::Date => ("date:", "page dates"),
    };
    format!("`{name}` matches nothing: this index has no {what}")
}

/// The number of prefixes and fuzzy words in a query.
fn expanding(query: &Query) -> usize {
    let all = |queries: &[Query]| queries.iter().map(expanding).sum();
    match query {
        Query::Prefix { .. } | Query::Fuzzy { .. } => 1,
        Query::Phrase { text, .. } | Query::Within { text, .. } => text.matches('*').count(),
        Query::Sequence(queries)
        | Query::And(queries)
        | Query::Or(queries)
        | Query::Near { parts: queries, .. } => all(queries),
        Query::Required(part) => expanding(part),
        Query::AndNot(wanted, unwanted) => expanding(wanted) + expanding(unwanted),
        Query::Not(unwanted) => expanding(unwanted),
        _ => 0,
    }
}

struct Planner<'a> {
    analyzer: &'a Analyzer,
    ignored: &'a BTreeSet<String>,
    index: &'a Index,
    expander: Expander<'a>,
    /// Kinds of filters in the query that the index lacks.
    absent: Vec<Filter>,
    /// Whether proximity counts.
    pairing: bool,
    /// Whether proximity was dropped because the index has no positions.
    unplaced: bool,
    /// The number of words in the plan so far.
    terms: usize,
    matching: Match,
    /// The operator that combines the plain words of a sequence.
    combine: fn(Vec<Plan>) -> Plan,
    /// Whether a match may lack a plain word.
    is_optional: bool,
}

/// Which words of a text are prefixes or fuzzy words.
#[derive(Clone, Copy)]
enum Forms {
    None,
    /// Words directly followed by `*`.
    Starred,
    /// The last word.
    Beginning,
    /// All words, within this edit distance.
    Fuzzy(u32),
}

impl Planner<'_> {
    /// Plans a query. Returns `None` if nothing is left of it.
    fn plan(&mut self, query: &Query, depth: usize) -> Result<Option<Plan>, QueryError> {
        if depth > TREE_DEPTH_MAX {
            return Err(QueryError::TooDeepTree { max: TREE_DEPTH_MAX });
        }
        Ok(match query {
            Query::Term { .. }
            | Query::Phrase { .. }
            | Query::Prefix { .. }
            | Query::Fuzzy { .. }
            | Query::Within { .. }
            | Query::Near { .. } => {
                let part = self.part(query, u32::MAX, depth)?;
                part.map(|part| leaf(query.to_string(), part))
            }
            Query::Site(host) => {
                self.filters(query, Filter::Site, vec![Filter::Site.term(host)])?
            }
            Query::Language(code) => {
                self.filters(query, Filter::Language, vec![Filter::Language.term(code)])?
            }
            Query::FileType(ending) => {
                self.filters(query, Filter::FileType, vec![Filter::FileType.term(ending)])?
            }
            Query::Link(url) => self.filters(query, Filter::Link, link_terms(url))?,
            Query::Date(range) => self.filters(query, Filter::Date, range.terms())?,
            Query::Sequence(parts) if self.matching == Match::Any => self.sequence(parts, depth)?,
            Query::And(parts) | Query::Sequence(parts) => {
                let plans = self.plans(parts, depth)?;
                let pairs = self.pairs(plans.iter());
                close(one_or(plans, Plan::And), pairs)
            }
            Query::Required(part) => self.plan(part, depth + 1)?,
            Query::Or(queries) => one_or(self.plans(queries, depth)?, Plan::Or),
            Query::AndNot(wanted, unwanted) => {
                let wanted = self.wanted(wanted, depth + 1)?;
                let unwanted = self.unwanted(unwanted, depth + 1)?;
                match (wanted, unwanted) {
                    (Some(wanted), Some(unwanted)) => {
                        Some(Plan::AndNot(Box::new(wanted), Box::new(unwanted)))
                    }
                    (None, Some(unwanted)) => Some(Plan::Not(Box::new(unwanted))),
                    (wanted, None) => wanted,
                }
            }
            Query::Not(unwanted) => {
                let unwanted = self.unwanted(unwanted, depth + 1)?;
                unwanted.map(|plan| Plan::Not(Box::new(plan)))
            }
        })
    }

    /// Plans a query or a part that is not negated.
    fn wanted(&mut self, query: &Query, depth: usize) -> Result<Option<Plan>, QueryError> {
        match query {
            Query::Term { field: None, text }
                if self.matching == Match::Any && is_unspaced(self.analyzer, text) =>
            {
                self.sequence(std::slice::from_ref(query), depth)
            }
            _ => self.plan(query, depth),
        }
    }

    /// Plans a sequence: all required parts, and at least one of the plain words.
    fn sequence(&mut self, parts: &[Query], depth: usize) -> Result<Option<Plan>, QueryError> {
        let mut plans = Vec::with_capacity(parts.len());
        let mut left: Vec<&Query> = parts.iter().rev().collect();
        while let Some(part) = left.pop() {
            match part {
                Query::Sequence(inner) if part.is_plain() => left.extend(inner.iter().rev()),
                Query::Term { field: None, text } => {
                    plans.extend(self.plain(text).into_iter().map(|plan| (plan, true)));
                }
                part => {
                    let plan = self.plan(part, depth + 1)?;
                    plans.extend(plan.map(|plan| (plan, part.is_plain())));
                }
            }
        }
        let ignored = self.ignored;
        let joins = |(plan, is_plain): &(Plan, bool)| match plan {
            Plan::Words(Words { terms, .. }) => {
                *is_plain && matches!(&terms[..], [(_, term)] if ignored.contains(term))
            }
            _ => false,
        };
        if plans.iter().any(|part| !joins(part) && !is_filter(&part.0)) {
            plans.retain(|part| !joins(part));
        }
        let pairs = self.pairs(plans.iter().map(|(plan, _)| plan));
        let (mut wanted, mut required) = (Vec::new(), Vec::new());
        for (plan, is_plain) in plans {
            if is_plain { wanted.push(plan) } else { required.push(plan) }
        }
        self.is_optional |= wanted.len() > 1;
        required.extend(one_or(wanted, self.combine));
        Ok(close(one_or(required, Plan::And), pairs))
    }

    /// The terms of a plain word in a sequence.
    fn plain(&mut self, text: &str) -> Vec<Plan> {
        let words = |term: String| Words {
            what: term.clone(),
            fields: Field::ALL.to_vec(),
            terms: vec![(0, term)],
            is_plain: true,
        };
        let terms = self.analyzer.terms(text);
        self.terms = self.terms.saturating_add(terms.len());
        terms.into_iter().map(|term| Plan::Words(words(term))).collect()
    }

    /// Plans a negated part. It has no score, and it excludes the same documents whichever words are required.
    fn unwanted(&mut self, query: &Query, depth: usize) -> Result<Option<Plan>, QueryError> {
        let pairing = std::mem::replace(&mut self.pairing, false);
        let combine = std::mem::replace(&mut self.combine, Plan::Or);
        let is_optional = self.is_optional;
        let plan = self.plan(query, depth);
        (self.pairing, self.combine, self.is_optional) = (pairing, combine, is_optional);
        plan
    }

    /// The pairs of neighbouring words, if proximity counts.
    fn pairs<'p>(&mut self, plans: impl Iterator<Item = &'p Plan>) -> Vec<Pair> {
        let mut pairs = if self.pairing { pairs(plans) } else { Vec::new() };
        if !pairs.is_empty() && !self.index.segments().iter().all(Segment::has_positions) {
            pairs.clear();
            self.unplaced = true;
        }
        pairs
    }

    fn plans(&mut self, queries: &[Query], depth: usize) -> Result<Vec<Plan>, QueryError> {
        let mut plans = Vec::with_capacity(queries.len());
        for query in queries {
            plans.extend(self.plan(query, depth + 1)?);
        }
        Ok(plans)
    }

    /// Plans a part with positions, in a window of `width` positions. Returns `None` if nothing is left of it.
    fn part(
        &mut self,
        query: &Query,
        width: u32,
        depth: usize,
    ) -> Result<Option<Part>, QueryError> {
        if depth > TREE_DEPTH_MAX {
            return Err(QueryError::TooDeepTree { max: TREE_DEPTH_MAX });
        }
        let (field, text, forms) = match query {
            Query::Term { field, text } => (field, text, Forms::None),
            Query::Prefix { field, text } => (field, text, Forms::Beginning),
            Query::Fuzzy { field, text, distance } => (field, text, Forms::Fuzzy(*distance)),
            Query::Phrase { field, text } => (field, text, Forms::Starred),
            Query::Within { field, text, width } => {
                let words = self.words(*field, text, Forms::Starred)?.into_iter();
                let alone = |word: Word| Part::Words {
                    field: *field,
                    words: vec![Word { shift: 0, ..word }],
                };
                return Ok(window(true, *width, words.map(alone).collect()));
            }
            Query::Or(queries) => {
                return Ok(one_or(self.parts(queries, width, depth)?, Part::Either));
            }
            // A window inside a wider window.
            Query::And(parts) | Query::Sequence(parts) => {
                let parts = self.parts(parts, width, depth)?;
                return Ok(window(false, width, parts));
            }
            Query::Near { ordered, width, parts } => {
                let parts = self.parts(parts, *width, depth)?;
                return Ok(window(*ordered, *width, parts));
            }
            Query::Required(part) => return self.part(part, width, depth + 1),
            other => return Err(QueryError::InWindowTree { what: other.to_string() }),
        };
        let words = self.words(*field, text, forms)?;
        Ok((!words.is_empty()).then_some(Part::Words { field: *field, words }))
    }

    fn parts(
        &mut self,
        queries: &[Query],
        width: u32,
        depth: usize,
    ) -> Result<Vec<Part>, QueryError> {
        let mut parts = Vec::with_capacity(queries.len());
        for query in queries {
            parts.extend(self.part(query, width, depth + 1)?);
        }
        Ok(parts)
    }

    fn words(
        &mut self,
        field: Option<Field>,
        text: &str,
        forms: Forms,
    ) -> Result<Vec<Word>, QueryError> {
        let mut tokens: Vec<(u32, &str, String, bool)> = Vec::new();
        self.analyzer.each(text, &mut |token| {
            let starred = text[token.end..]
                .strip_prefix('*')
                .is_some_and(|rest| !rest.starts_with(|c: char| !c.is_whitespace()));
            let word = &text[token.start..token.end];
            tokens.push((token.position, word, token.term.to_owned(), starred));
        });
        self.terms = self.terms.saturating_add(tokens.len());
        let begin = tokens.first().map_or(0, |&(position, ..)| position);
        let (fields, count) = (fields_of(field), tokens.len());
        let mut words = Vec::with_capacity(count);
        for (number, (position, word, term, starred)) in tokens.into_iter().enumerate() {
            let is_beginning = match forms {
                Forms::Starred => starred,
                Forms::Beginning => number + 1 == count,
                Forms::None | Forms::Fuzzy(_) => false,
            };
            let (what, forms) = match forms {
                Forms::Fuzzy(distance) => {
                    let what = format!("{word}~{distance}");
                    let pattern = Pattern::Near(term, distance);
                    let forms = self.expander.expand(&what, &fields, pattern)?;
                    (what, forms)
                }
                _ if is_beginning => {
                    let what = format!("{word}*");
                    let forms = self.beginning(&what, &fields, word, term)?;
                    (what, forms)
                }
                _ => (term.clone(), vec![term]),
            };
            words.push(Word { what, shift: position.saturating_sub(begin), forms });
        }
        Ok(words)
    }

    /// The terms with the prefix `word`, and its own term `term`.
    fn beginning(
        &mut self,
        what: &str,
        fields: &[Field],
        word: &str,
        term: String,
    ) -> Result<Vec<String>, QueryError> {
        let beginning = self.analyzer.without_stemmer().terms(word).concat();
        if beginning.is_empty() {
            return Ok(vec![term]);
        }
        let mut forms = self.expander.expand(what, fields, Pattern::Beginning(beginning))?;
        if let Err(place) = forms.binary_search(&term) {
            forms.insert(place, term);
        }
        Ok(forms)
    }

    /// A disjunction of filters of one kind.
    fn filters(
        &mut self,
        query: &Query,
        kind: Filter,
        terms: Vec<String>,
    ) -> Result<Option<Plan>, QueryError> {
        self.terms = self.terms.saturating_add(1);
        if !self.absent.contains(&kind) && !self.knows(kind, &terms)? {
            self.absent.push(kind);
        }
        let filter = |term| {
            let (what, fields) = (query.to_string(), vec![Field::Url]);
            Plan::Filter(Words { what, fields, terms: vec![(0, term)], is_plain: true })
        };
        Ok(one_or(terms.into_iter().map(filter).collect(), Plan::Or))
    }

    /// Returns whether any document has one of these filters, or any other of this kind. An empty index needs no
    /// note.
    fn knows(&self, kind: Filter, terms: &[String]) -> Result<bool, QueryError> {
        let asked: Vec<(Field, &str)> = terms.iter().map(|term| (Field::Url, &**term)).collect();
        for segment in self.index.segments() {
            if segment.doc_frequencies(&asked)?.iter().any(|&documents| documents > 0) {
                return Ok(true);
            }
        }
        for segment in self.index.segments() {
            if segment.terms(Field::Url, kind.beginning())?.advance()? {
                return Ok(true);
            }
        }
        Ok(self.index.segments().is_empty())
    }
}

/// The pairs of neighbouring words, each once.
fn pairs<'p>(plans: impl Iterator<Item = &'p Plan>) -> Vec<Pair> {
    let (mut pairs, mut known) = (Vec::new(), BTreeSet::new());
    let mut last: Option<(&str, &[Field])> = None;
    for plan in plans.filter(|plan| !is_filter(plan)) {
        let word = match plan {
            Plan::Words(Words { terms, fields, is_plain: true, .. }) => match &terms[..] {
                [(_, term)] => Some((term.as_str(), &fields[..])),
                _ => None,
            },
            _ => None,
        };
        if let (Some((one, fields)), Some((other, asked))) = (last, word) {
            let fields: Vec<Field> =
                fields.iter().copied().filter(|field| asked.contains(field)).collect();
            let is_new = one != other
                && !fields.is_empty()
                && known.insert((one.min(other), one.max(other), fields.clone()));
            if is_new {
                let what = format!("{one} near {other}");
                let terms = [one, other].map(str::to_owned);
                pairs.push(Pair { what, terms, fields });
            }
        }
        last = word;
    }
    pairs
}

/// Returns whether a plan has no score.
fn is_filter(plan: &Plan) -> bool {
    match plan {
        Plan::Filter(_) | Plan::Not(_) => true,
        Plan::And(plans) | Plan::Or(plans) => plans.iter().all(is_filter),
        Plan::AndNot(wanted, _) => is_filter(wanted),
        Plan::Words(_) | Plan::Near(_) | Plan::Close(..) => false,
    }
}

/// The filters of a link. Without a scheme, they are for both http and https.
fn link_terms(url: &str) -> Vec<String> {
    if url.starts_with("http://") || url.starts_with("https://") {
        return vec![Filter::of_link(url)];
    }
    let of_scheme = |scheme| {
        let url = normalise(&format!("{scheme}://{url}"), None, &Limits::default());
        Some(Filter::of_link(url.ok()?.as_str()))
    };
    ["http", "https"].into_iter().filter_map(of_scheme).collect()
}

/// Makes a phrase of words with one form each, and a part with positions otherwise.
fn leaf(what: String, part: Part) -> Plan {
    match part {
        Part::Words { field, words } if words.iter().all(|word| word.forms.len() == 1) => {
            let is_plain = words.iter().all(|word| word.forms[0] == word.what);
            let term = |word: Word| word.forms.into_iter().map(move |form| (word.shift, form));
            let terms = words.into_iter().flat_map(term).collect();
            Plan::Words(Words { what, fields: fields_of(field), terms, is_plain })
        }
        part => {
            let fields = Field::ALL.into_iter().filter(|&field| part.fits(field)).collect();
            Plan::Near(Near { what, fields, part })
        }
    }
}

/// Makes a window. A single word needs none.
fn window(ordered: bool, width: u32, mut parts: Vec<Part>) -> Option<Part> {
    match &parts[..] {
        [] => None,
        [Part::Words { words, .. }] if words.len() == 1 => parts.pop(),
        _ => Some(Part::Window { ordered, width, parts }),
    }
}

fn fields_of(field: Option<Field>) -> Vec<Field> {
    field.map_or_else(|| Field::ALL.to_vec(), |field| vec![field])
}

fn close(plan: Option<Plan>, pairs: Vec<Pair>) -> Option<Plan> {
    let plan = plan?;
    Some(if pairs.is_empty() { plan } else { Plan::Close(Box::new(plan), pairs) })
}

fn one_or<T>(mut parts: Vec<T>, many: fn(Vec<T>) -> T) -> Option<T> {
    if parts.len() > 1 { Some(many(parts)) } else { parts.pop() }
}
