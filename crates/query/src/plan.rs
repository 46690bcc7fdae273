//! A query whose words have become terms: what the lists of an index can answer.
//!
//! What lives here: analysis of a query's words by the chain that analysed the documents, and the special
//! terms of filters. What does not: posting lists. A plan is the same for every segment.
//!
//! In a sequence a document must have everything that is required and at least one of the plain words. Joining words
//! (`ignored.rs`) are left out where other words are left.
//!
//! Punctuation analyses to nothing and is left out. `state-of-the-art`, or a text in a script without spaces, analyses to
//! several terms. Among other plain words each of them is a plain word. Alone, required or negated they are a phrase, but
//! a text without spaces is several plain words also if it is alone.
//!
//! A word of which only the beginning is given, or which may differ in some letters, is one word in several *forms*: the
//! terms of the index that it stands for (`expansion.rs`). A beginning is compared with terms as it is, without a
//! stemmer; besides, it stands for the term that it is itself as a whole word. A word that may differ is compared as a
//! term.
//!
//! Where words near each other count, words that stand beside each other in the query are pairs (`proximity.rs`).
//!
//! **Filters.** Whoever builds the index puts into [`Field::Url`] of each document, besides the
//! analysed words of its address, terms as they stand, not analysed ([`Filter`]). No address and no text can pass for
//! one; a test holds the analysis to that.
//!
//! **Invariant.** A plan has at most [`TERMS_MAX`] words, every leaf at least one. Each has at least one term, or
//! forms that the index lacks.

use std::collections::BTreeSet;

use index::{Field, Index, Segment};
use page::{Analyzer, Filter, Limits, normalise};

use crate::expansion::{Expander, Pattern};
use crate::language::{DEPTH_MAX, TERMS_MAX};
use crate::{Config, Match, Query, QueryError, Stop};

/// A level of parentheses parses to at most three levels of [`Query`]; the rest is room.
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
    /// What a plan says, and more where these words stand near each other.
    Close(Box<Plan>, Vec<Pair>),
}

/// Two words beside each other in a query.
#[derive(Debug)]
pub(crate) struct Pair {
    /// As an explanation says it.
    pub(crate) what: String,
    pub(crate) terms: [String; 2],
    /// Those in which both are asked, at least one.
    pub(crate) fields: Vec<Field>,
}

/// A word or a phrase, in any of some fields.
#[derive(Debug)]
pub(crate) struct Words {
    /// As the query says it.
    pub(crate) what: String,
    pub(crate) fields: Vec<Field>,
    /// Each with its place in the phrase.
    pub(crate) terms: Vec<(u32, String)>,
    /// Whether they are terms as they were written, and not what others stand for.
    pub(crate) is_plain: bool,
}

/// What stands somewhere in one of some fields.
#[derive(Debug)]
pub(crate) struct Near {
    /// As the query says it.
    pub(crate) what: String,
    /// The fields in which it can stand at all.
    pub(crate) fields: Vec<Field>,
    pub(crate) part: Part,
}

/// What has a place in a text.
#[derive(Debug)]
pub(crate) enum Part {
    /// Words next to each other.
    Words { field: Option<Field>, words: Vec<Word> },
    /// Any of these.
    Either(Vec<Part>),
    /// All of these within so many positions, in this order or in any.
    Window { ordered: bool, width: u32, parts: Vec<Part> },
}

/// A word, perhaps in several forms.
#[derive(Debug)]
pub(crate) struct Word {
    /// As the query says it.
    pub(crate) what: String,
    /// Its place in the phrase.
    pub(crate) shift: u32,
    /// The terms that it stands for.
    pub(crate) forms: Vec<String>,
}

impl Part {
    /// Every word, in the order of the query.
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

    /// Whether it can stand in a field.
    fn fits(&self, field: Field) -> bool {
        match self {
            Part::Words { field: wanted, .. } => wanted.is_none_or(|wanted| wanted == field),
            Part::Either(parts) => parts.iter().any(|part| part.fits(field)),
            Part::Window { parts, .. } => parts.iter().all(|part| part.fits(field)),
        }
    }

    /// Whether it is told by positions.
    pub(crate) fn needs_positions(&self) -> bool {
        match self {
            Part::Words { words, .. } => words.len() > 1,
            Part::Either(parts) => parts.iter().any(Part::needs_positions),
            Part::Window { .. } => true,
        }
    }
}

/// The plan of a query, with remarks for the user.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    /// The plan with every plain word required; `None` where that makes no difference.
    pub(crate) with_all: Option<Plan>,
    /// What was left out, and what the index cannot answer.
    pub(crate) notes: Vec<String>,
}

impl Plan {
    /// `ignored` are the joining words, as terms. `config` says which words are required, and whether words near each
    /// other count. Once `stop` is set, words stand only for the terms found so far.
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
            let what = "words near each other count no more here: this index does not know where words stand";
            notes.push(what.to_owned());
        }
        Ok(Planned { plan, with_all, notes })
    }

    /// Every term of the plan's words, negated or not, filters not; each with the fields that it is asked in.
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

    /// The terms that a reader looks for: those that are not negated.
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

/// Returns whether a text has words with nothing between them.
fn is_unspaced(analyzer: &Analyzer, text: &str) -> bool {
    let (mut found, mut end) = (false, None);
    analyzer.each(text, &mut |token| {
        found |= end == Some(token.start);
        end = Some(token.end);
    });
    found
}

/// What is said of an index that has no filters of a kind.
fn absence(kind: Filter) -> String {
    let (name, what) = match kind {
        Filter::Site => ("site:", "the address of any page"),
        Filter::Language => ("lang:", "the language of any page"),
        Filter::FileType => ("filetype:", "the address of any page"),
        Filter::Link => ("link:", "any links"),
        Filter::Date => ("date:", "the date of any page"),
    };
    format!("`{name}` chooses nothing here: this index does not know {what}")
}

/// How many words of a query stand for others.
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
    /// Kinds of filters that the query has and the index does not.
    absent: Vec<Filter>,
    /// Whether words near each other count.
    pairing: bool,
    /// Whether they would have, if the index knew where words stand.
    unplaced: bool,
    /// How many words the plan has so far.
    terms: usize,
    matching: Match,
    /// How the plain words of a sequence are combined.
    combine: fn(Vec<Plan>) -> Plan,
    /// Whether a document may lack some plain word.
    is_optional: bool,
}

/// Which words of a text stand for others.
#[derive(Clone, Copy)]
enum Forms {
    None,
    /// Those that a star follows at once.
    Starred,
    /// The last.
    Beginning,
    /// All, with so many letters.
    Fuzzy(u32),
}

impl Planner<'_> {
    /// `None`: nothing is left of it.
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

    /// A whole query, but for its negated parts.
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

    /// Parts side by side: all that are required, and at least one of the plain words.
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

    /// The terms of a plain word among others.
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

    /// A negated part. It has no score, and excludes the same documents whichever words are required.
    fn unwanted(&mut self, query: &Query, depth: usize) -> Result<Option<Plan>, QueryError> {
        let pairing = std::mem::replace(&mut self.pairing, false);
        let combine = std::mem::replace(&mut self.combine, Plan::Or);
        let is_optional = self.is_optional;
        let plan = self.plan(query, depth);
        (self.pairing, self.combine, self.is_optional) = (pairing, combine, is_optional);
        plan
    }

    /// The pairs of words side by side, if words near each other count.
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

    /// What has a place in a text, in a window of `width` positions; `None`: nothing is left of it.
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
            // All within a window that is all within a wider one.
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

    /// The words of a text.
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

    /// The terms that begin as `word` does, and `term`, which it is itself.
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

    /// Any of these filters, which are all of a kind.
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

    /// Whether any document has one of these filters, or any other of their kind; of no documents nothing need be said.
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

/// The words that stand beside each other, each pair once.
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

/// Whether it only chooses documents.
fn is_filter(plan: &Plan) -> bool {
    match plan {
        Plan::Filter(_) | Plan::Not(_) => true,
        Plan::And(plans) | Plan::Or(plans) => plans.iter().all(is_filter),
        Plan::AndNot(wanted, _) => is_filter(wanted),
        Plan::Words(_) | Plan::Near(_) | Plan::Close(..) => false,
    }
}

/// The filters of a link; without a scheme, to either of the web.
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

/// Words of one form each are a phrase, and anything else is what it is.
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

/// A window; one word alone is in any.
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
