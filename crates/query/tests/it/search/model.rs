//! The naive evaluation: every document, every field, every token, for every query.
//!
//! Written from the definitions in the headers of `plan.rs`, `bm25.rs`, `tf_idf.rs` and `proximity.rs`. It uses only
//! the types of the crate.

use std::collections::BTreeSet;

use index::{DocId, Field};
use query::{Config, Hit, Query, Weighting};

/// The terms of a document, by field.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) fields: [Vec<String>; 5],
}

impl Document {
    /// Adds the special terms of host and language to the words of the address.
    pub(crate) fn new(fields: [Vec<&'static str>; 5], host: &str, language: &str) -> Document {
        let mut fields =
            fields.map(|terms| terms.into_iter().map(str::to_owned).collect::<Vec<_>>());
        let address = &mut fields[Field::Url as usize];
        let labels: Vec<&str> = host.split('.').collect();
        for above in 0..labels.len() {
            address.push(format!("site::{}", labels[above..].join(".")));
        }
        if !language.is_empty() {
            address.push(format!("lang::{language}"));
        }
        Document { fields }
    }

    fn has(&self, field: Field, term: &str) -> bool {
        self.fields[field as usize].iter().any(|other| other == term)
    }

    fn frequency(&self, field: Field, forms: &[String]) -> f64 {
        real(self.fields[field as usize].iter().filter(|other| forms.contains(other)).count())
    }

    /// Filters do not count.
    fn length(&self, field: Field) -> usize {
        self.fields[field as usize].iter().filter(|term| !term.contains("::")).count()
    }

    /// The frequency of the most frequent word in a field.
    fn peak(&self, field: Field) -> f64 {
        let words = self.fields[field as usize].iter().filter(|term| !term.contains("::"));
        let frequencies = words.map(|word| self.frequency(field, std::slice::from_ref(word)));
        frequencies.fold(0.0, f64::max)
    }

    /// Σ 1 / distance² over positions of two words in a field that are at most five apart.
    fn nearness(&self, field: Field, [one, other]: [&str; 2]) -> f64 {
        let terms = &self.fields[field as usize];
        let places = |term: &str| {
            let all = terms.iter().enumerate();
            all.filter(|(_, other)| *other == term).map(|(place, _)| place).collect::<Vec<_>>()
        };
        let mut sum = 0.0;
        for place in places(one) {
            for there in places(other).into_iter().filter(|there| there.abs_diff(place) <= 5) {
                sum += 1.0 / real(there.abs_diff(place)).powi(2);
            }
        }
        sum
    }
}

/// A part with positions; each word is the set of its forms.
enum Part {
    Words(Option<Field>, Vec<Vec<String>>),
    Either(Vec<Part>),
    Window(bool, u32, Vec<Part>),
}

impl Part {
    fn words<'p>(&'p self, out: &mut Vec<&'p [String]>) {
        match self {
            Part::Words(_, words) => out.extend(words.iter().map(Vec::as_slice)),
            Part::Either(parts) | Part::Window(_, _, parts) => {
                for part in parts {
                    part.words(out);
                }
            }
        }
    }

    /// For each word, whether it counts in a field. `None` if the field lacks a required word.
    fn counts(&self, document: &Document, at: Field) -> Option<Vec<bool>> {
        match self {
            Part::Words(field, words) => {
                let has = |forms: &Vec<String>| document.frequency(at, forms) > 0.0;
                let fits = field.is_none_or(|field| field == at) && words.iter().all(has);
                fits.then(|| vec![true; words.len()])
            }
            Part::Either(parts) => {
                let of: Vec<_> = parts.iter().map(|part| part.counts(document, at)).collect();
                let nothing = |part: &Part| {
                    let mut words = Vec::new();
                    part.words(&mut words);
                    vec![false; words.len()]
                };
                of.iter().any(Option::is_some).then(|| {
                    let all = of.into_iter().zip(parts);
                    all.flat_map(|(counts, part)| counts.unwrap_or_else(|| nothing(part))).collect()
                })
            }
            Part::Window(_, _, parts) => {
                let of: Option<Vec<_>> =
                    parts.iter().map(|part| part.counts(document, at)).collect();
                of.map(|counts| counts.concat())
            }
        }
    }

    /// All intervals, not only the minimal ones.
    fn places(&self, document: &Document, at: Field) -> Vec<(usize, usize)> {
        let terms = &document.fields[at as usize];
        match self {
            Part::Words(field, words) => {
                let fits = field.is_none_or(|field| field == at);
                let stands = |start: &usize| {
                    let here = &terms[*start..*start + words.len()];
                    here.iter().zip(words).all(|(term, forms)| forms.contains(term))
                };
                let starts = 0..(terms.len() + 1).saturating_sub(words.len());
                let starts = starts.filter(|start| fits && stands(start));
                starts.map(|start| (start, start + words.len() - 1)).collect()
            }
            Part::Either(parts) => {
                parts.iter().flat_map(|part| part.places(document, at)).collect()
            }
            Part::Window(ordered, width, parts) => {
                let mut whole: Vec<(usize, usize)> = parts[0].places(document, at);
                for part in &parts[1..] {
                    let places = part.places(document, at);
                    let joined = |&(first, last): &(usize, usize)| {
                        let next = places.iter().filter(move |place| !ordered || place.0 > last);
                        next.map(move |place| (first.min(place.0), last.max(place.1)))
                    };
                    let mut longer: Vec<_> = whole.iter().flat_map(joined).collect();
                    longer.sort_unstable();
                    longer.dedup();
                    whole = longer;
                }
                whole.retain(|&(first, last)| last - first < *width as usize);
                whole
            }
        }
    }
}

pub(crate) struct Model<'a> {
    pub(crate) documents: &'a [Document],
    pub(crate) ranks: &'a [f32],
    pub(crate) config: Config,
}

impl Model<'_> {
    /// All hits, best first. `None` if no words are left.
    pub(crate) fn answer(&self, query: &Query) -> Option<Vec<Hit>> {
        let tree = self.tree(&meaningful(query)?);
        let averages = Field::ALL.map(|field| {
            let lengths = self.documents.iter().map(|document| document.length(field));
            real(lengths.sum()) / real(self.documents.len())
        });
        let mut hits: Vec<Hit> = Vec::new();
        for (doc, document) in (0..).zip(self.documents) {
            if let Some(text) = self.score(&tree, document, &averages) {
                let rank = self.ranks.get(doc as usize).map_or(0.0, |&rank| f64::from(rank));
                let score = text + self.config.ranks["pagerank"] * rank.ln_1p();
                hits.push(Hit { segment: 0, doc: DocId(doc), score });
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
        Some(hits)
    }

    fn tree(&self, query: &Query) -> Tree {
        let all = |queries: &[Query]| queries.iter().map(|query| self.tree(query)).collect();
        match query {
            Query::Site(host) => Tree::Special(format!("site::{host}")),
            Query::Language(code) => Tree::Special(format!("lang::{code}")),
            Query::And(queries) | Query::Or(queries) if queries.len() == 1 => {
                self.tree(&queries[0])
            }
            Query::And(queries) => {
                let trees: Vec<Tree> = all(queries);
                let pairs = self.pairs(&trees);
                Tree::And(trees, pairs)
            }
            Query::Or(queries) => Tree::Or(all(queries)),
            Query::AndNot(wanted, unwanted) => {
                Tree::AndNot(Box::new(self.tree(wanted)), Box::new(self.tree(unwanted)))
            }
            Query::Not(unwanted) => Tree::Not(Box::new(self.tree(unwanted))),
            Query::Date(_) => panic!("no evaluation of {query:?}"),
            query => {
                let part = self.part(query, u32::MAX);
                let asked: Vec<Field> =
                    Field::ALL.into_iter().filter(|&field| can_stand(&part, field)).collect();
                let mut words = Vec::new();
                part.words(&mut words);
                let idfs = words.iter().map(|forms| self.idf(self.n(&asked, forms))).collect();
                Tree::Part(part, asked, idfs, is_plain(query))
            }
        }
    }

    /// `None` if it does not match.
    fn score(&self, tree: &Tree, document: &Document, averages: &[f64; 5]) -> Option<f64> {
        let score = |tree: &Tree| self.score(tree, document, averages);
        match tree {
            Tree::Special(term) => document.has(Field::Url, term).then_some(0.0),
            Tree::And(trees, pairs) => {
                let words = trees.iter().try_fold(0.0, |sum, tree| Some(sum + score(tree)?))?;
                let near = |pair: &Pair| {
                    let [one, other] = &pair.terms;
                    let nearness = |field| document.nearness(field, [one, other]);
                    let fields = pair.fields.iter().map(|&field| (field, nearness(field)));
                    self.config.proximity_weight
                        * self.weighted(pair.idf, fields, document, averages)
                };
                Some(words + pairs.iter().map(near).fold(0.0, |sum, near| sum + near))
            }
            Tree::Or(trees) => {
                let scores = trees.iter().filter_map(score);
                scores.fold(None, |sum, score| Some(sum.unwrap_or(0.0) + score))
            }
            Tree::AndNot(wanted, unwanted) => match score(unwanted) {
                None => score(wanted),
                Some(_) => None,
            },
            Tree::Not(unwanted) => match score(unwanted) {
                None => Some(0.0),
                Some(_) => None,
            },
            Tree::Part(part, asked, idfs, _) => {
                let mut words = Vec::new();
                part.words(&mut words);
                let matched: Vec<(Field, Vec<bool>)> = asked
                    .iter()
                    .filter_map(|&field| Some((field, part.counts(document, field)?)))
                    .filter(|&(field, _)| !part.places(document, field).is_empty())
                    .collect();
                let score = |sum, (number, forms): (usize, &&[String])| {
                    let fields = matched.iter().filter(|(_, counts)| counts[number]);
                    let fields =
                        fields.map(|(field, _)| (*field, document.frequency(*field, forms)));
                    sum + self.weighted(idfs[number], fields, document, averages)
                };
                (!matched.is_empty()).then(|| words.iter().enumerate().fold(0.0, score))
            }
        }
    }

    fn part(&self, query: &Query, width: u32) -> Part {
        let all =
            |queries: &[Query], width| queries.iter().map(|it| self.part(it, width)).collect();
        match query {
            Query::Term { field, text } => {
                Part::Words(*field, words(text).into_iter().map(|(word, _)| vec![word]).collect())
            }
            Query::Phrase { field, text } => Part::Words(*field, self.starred(*field, text)),
            Query::Within { field, text, width } => {
                let alone = |word| Part::Words(*field, vec![word]);
                Part::Window(
                    true,
                    *width,
                    self.starred(*field, text).into_iter().map(alone).collect(),
                )
            }
            Query::Prefix { field, text } => {
                let mut words: Vec<_> =
                    words(text).into_iter().map(|(word, _)| vec![word]).collect();
                let last = words.pop().expect("a word").remove(0);
                words.push(self.forms(*field, &last, |term| term.starts_with(&last)));
                Part::Words(*field, words)
            }
            Query::Fuzzy { field, text, distance } => {
                let near = |word: &String| {
                    let near = |term: &str| strsim::osa_distance(word, term) <= *distance as usize;
                    self.forms(*field, word, near)
                };
                Part::Words(*field, words(text).iter().map(|(word, _)| near(word)).collect())
            }
            Query::Or(queries) => Part::Either(all(queries, width)),
            Query::And(queries) => Part::Window(false, width, all(queries, width)),
            Query::Near { ordered, width, parts } => {
                Part::Window(*ordered, *width, all(parts, *width))
            }
            other => panic!("{other:?} has no place"),
        }
    }

    fn starred(&self, field: Option<Field>, text: &str) -> Vec<Vec<String>> {
        let forms = |(word, starred): (String, bool)| {
            if starred {
                self.forms(field, &word, |term| term.starts_with(&word))
            } else {
                vec![word]
            }
        };
        words(text).into_iter().map(forms).collect()
    }

    /// The word itself, and the similar terms of the collection.
    fn forms(&self, field: Option<Field>, word: &str, like: impl Fn(&str) -> bool) -> Vec<String> {
        let fields = field.map_or(Field::ALL.to_vec(), |field| vec![field]);
        let mut forms = BTreeSet::from([word.to_owned()]);
        for document in self.documents {
            for term in fields.iter().flat_map(|&field| &document.fields[field as usize]) {
                if !term.contains("::") && like(term) {
                    forms.insert(term.clone());
                }
            }
        }
        forms.into_iter().collect()
    }

    /// Neighbouring words, each pair once.
    fn pairs(&self, trees: &[Tree]) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = Vec::new();
        let words: Vec<_> = trees.iter().filter(|tree| !tree.is_filter()).map(Tree::word).collect();
        for both in words.windows(2) {
            let [Some((one, of_one)), Some((other, of_other))] = both else { continue };
            let fields: Vec<Field> =
                of_one.iter().copied().filter(|field| of_other.contains(field)).collect();
            let is_known = pairs.iter().any(|pair| {
                let same = [[*one, *other], [*other, *one]];
                same.iter().any(|same| pair.terms == *same) && pair.fields == fields
            });
            if one != other && !fields.is_empty() && !is_known {
                let n = [*one, *other].map(|term| self.n(&fields, &[term.to_owned()]));
                let idf = self.idf(n[0].max(n[1]));
                let terms = [*one, *other].map(str::to_owned);
                pairs.push(Pair { terms, fields, idf });
            }
        }
        pairs
    }

    fn n(&self, asked: &[Field], forms: &[String]) -> usize {
        let containing = |field: Field| -> usize {
            let of = |form: &String| {
                self.documents.iter().filter(|document| document.has(field, form)).count()
            };
            forms.iter().map(of).sum::<usize>().min(self.documents.len())
        };
        let weighty = asked.iter().filter(|&&field| self.config.weights.of(field) > 0.0);
        let n = weighty.map(|&field| containing(field)).max();
        n.or(asked.iter().map(|&field| containing(field)).max()).unwrap_or(0)
    }

    fn idf(&self, n: usize) -> f64 {
        let count = real(self.documents.len());
        match self.config.model {
            Weighting::Bm25f => (1.0 + (count - real(n) + 0.5) / (real(n) + 0.5)).ln(),
            Weighting::TfIdf if n == 0 => 0.0,
            Weighting::TfIdf => (count / real(n)).log2(),
        }
    }

    /// The score of a word with these frequencies in fields.
    fn weighted(
        &self,
        idf: f64,
        fields: impl Iterator<Item = (Field, f64)>,
        document: &Document,
        averages: &[f64; 5],
    ) -> f64 {
        let Config { k1, b, weights, .. } = &self.config;
        let fields = fields.filter(|(_, frequency)| *frequency > 0.0);
        match self.config.model {
            Weighting::Bm25f => {
                let x = fields.fold(0.0, |x, (field, frequency)| {
                    let length = real(document.length(field));
                    let norm = 1.0 - b + b * (length / averages[field as usize]);
                    x + weights.of(field) * frequency / norm
                });
                if x > 0.0 { idf * (x * (k1 + 1.0) / (x + k1)) } else { 0.0 }
            }
            Weighting::TfIdf => {
                let tf = fields.fold(0.0, |tf, (field, frequency)| {
                    tf + weights.of(field) * frequency / document.peak(field).max(frequency)
                });
                tf * idf
            }
        }
    }
}

/// Neighbouring words.
struct Pair {
    terms: [String; 2],
    fields: Vec<Field>,
    idf: f64,
}

/// A query with terms.
enum Tree {
    Special(String),
    And(Vec<Tree>, Vec<Pair>),
    Or(Vec<Tree>),
    AndNot(Box<Tree>, Box<Tree>),
    Not(Box<Tree>),
    /// With its possible fields, the weight of each word, and whether the words are plain.
    Part(Part, Vec<Field>, Vec<f64>, bool),
}

impl Tree {
    /// Returns whether it has no score.
    fn is_filter(&self) -> bool {
        match self {
            Tree::Special(_) | Tree::Not(_) => true,
            Tree::And(trees, _) | Tree::Or(trees) => trees.iter().all(Tree::is_filter),
            Tree::AndNot(wanted, _) => wanted.is_filter(),
            Tree::Part(..) => false,
        }
    }

    /// The word of a single plain word, with its fields.
    fn word(&self) -> Option<(&str, &[Field])> {
        fn only(part: &Part) -> Option<&str> {
            match part {
                Part::Words(_, words) => match &words[..] {
                    [forms] if forms.len() == 1 => Some(&forms[0]),
                    _ => None,
                },
                Part::Either(parts) | Part::Window(_, _, parts) => match &parts[..] {
                    [part] => only(part),
                    _ => None,
                },
            }
        }
        match self {
            Tree::Part(part, asked, _, true) => Some((only(part)?, asked)),
            _ => None,
        }
    }
}

/// Returns whether the field restrictions allow it in a field.
fn can_stand(part: &Part, at: Field) -> bool {
    match part {
        Part::Words(field, _) => field.is_none_or(|field| field == at),
        Part::Either(parts) => parts.iter().any(|part| can_stand(part, at)),
        Part::Window(_, _, parts) => parts.iter().all(|part| can_stand(part, at)),
    }
}

fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).expect("a small test"))
}

/// Words of the tests are letters, separated by anything else. Each has a flag for a following star.
pub(super) fn words(text: &str) -> Vec<(String, bool)> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        let word = &rest[start..];
        let end = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
        rest = &word[end..];
        let starred = rest == "*" || rest.starts_with("* ");
        words.push((word[..end].to_lowercase(), starred));
    }
    words
}

/// Returns whether a query has no prefix and no fuzzy word.
fn is_plain(query: &Query) -> bool {
    match query {
        Query::Term { .. } => true,
        Query::Phrase { text, .. } | Query::Within { text, .. } => {
            words(text).iter().all(|(_, starred)| !starred)
        }
        Query::Sequence(queries)
        | Query::And(queries)
        | Query::Or(queries)
        | Query::Near { parts: queries, .. } => queries.iter().all(is_plain),
        _ => false,
    }
}

/// The query without words of punctuation only.
fn meaningful(query: &Query) -> Option<Query> {
    let all = |queries: &[Query]| {
        let queries: Vec<Query> = queries.iter().filter_map(meaningful).collect();
        (!queries.is_empty()).then_some(queries)
    };
    match query {
        Query::Term { text, .. }
        | Query::Phrase { text, .. }
        | Query::Prefix { text, .. }
        | Query::Fuzzy { text, .. }
        | Query::Within { text, .. } => (!words(text).is_empty()).then(|| query.clone()),
        Query::Near { ordered, width, parts } => {
            let near = |parts| Query::Near { ordered: *ordered, width: *width, parts };
            all(parts).map(near)
        }
        Query::And(queries) => all(queries).map(Query::And),
        Query::Or(queries) => all(queries).map(Query::Or),
        Query::AndNot(wanted, unwanted) => match (meaningful(wanted), meaningful(unwanted)) {
            (wanted, None) => wanted,
            (None, Some(unwanted)) => Some(Query::Not(Box::new(unwanted))),
            (Some(wanted), Some(unwanted)) => {
                Some(Query::AndNot(Box::new(wanted), Box::new(unwanted)))
            }
        },
        Query::Not(unwanted) => Some(Query::Not(Box::new(meaningful(unwanted)?))),
        _ => Some(query.clone()),
    }
}
