//! The naive evaluation: every document, every field, every token, for every query.
//!
//! Written from the definitions in the headers of `plan.rs` and `bm25.rs`, with nothing of the
//! crate but its types.

use index::{DocId, Field};
use query::{Config, Hit, Query};

/// The terms of a document, by field.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) fields: [Vec<String>; 5],
}

impl Document {
    /// With the special terms of host and language among those of its address.
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

    fn has(&self, field: Field, phrase: &[String]) -> bool {
        self.fields[field as usize].windows(phrase.len()).any(|window| window == phrase)
    }

    fn frequency(&self, field: Field, term: &str) -> f64 {
        real(self.fields[field as usize].iter().filter(|other| *other == term).count())
    }
}

pub(crate) struct Model<'a> {
    pub(crate) documents: &'a [Document],
    pub(crate) ranks: &'a [f32],
    pub(crate) config: Config,
}

impl Model<'_> {
    /// All hits, best first; `None` if there is nothing to search for.
    pub(crate) fn answer(&self, query: &Query) -> Option<Vec<Hit>> {
        let query = meaningful(query)?;
        let mut hits: Vec<Hit> = Vec::new();
        for (doc, document) in (0..).zip(self.documents) {
            if let Some(text) = self.score(&query, document) {
                let rank = self.ranks.get(doc as usize).map_or(0.0, |&rank| f64::from(rank));
                let score = text + self.config.rank_weight * rank.ln_1p();
                hits.push(Hit { segment: 0, doc: DocId(doc), score });
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
        Some(hits)
    }

    /// `None`: does not match.
    fn score(&self, query: &Query, document: &Document) -> Option<f64> {
        let special = |term: String| document.has(Field::Url, &[term]).then_some(0.0);
        match query {
            Query::Term { field, text } | Query::Phrase { field, text } => {
                self.score_words(*field, &words(text), document)
            }
            Query::Site(host) => special(format!("site::{host}")),
            Query::Language(code) => special(format!("lang::{code}")),
            Query::And(queries) => {
                queries.iter().try_fold(0.0, |sum, query| Some(sum + self.score(query, document)?))
            }
            Query::Or(queries) => {
                let scores = queries.iter().filter_map(|query| self.score(query, document));
                scores.fold(None, |sum, score| Some(sum.unwrap_or(0.0) + score))
            }
            Query::AndNot(wanted, unwanted) => match self.score(unwanted, document) {
                None => self.score(wanted, document),
                Some(_) => None,
            },
            Query::Not(unwanted) => match self.score(unwanted, document) {
                None => Some(0.0),
                Some(_) => None,
            },
            other => panic!("no evaluation of {other:?}"),
        }
    }

    fn score_words(
        &self,
        field: Option<Field>,
        words: &[String],
        document: &Document,
    ) -> Option<f64> {
        let asked = field.map_or(Field::ALL.to_vec(), |field| vec![field]);
        let matched: Vec<Field> =
            asked.iter().copied().filter(|&field| document.has(field, words)).collect();
        let score = |sum, word: &String| sum + self.bm25f(&asked, &matched, word, document);
        (!matched.is_empty()).then(|| words.iter().fold(0.0, score))
    }

    fn bm25f(&self, asked: &[Field], matched: &[Field], term: &str, document: &Document) -> f64 {
        let count = real(self.documents.len());
        let containing = |field: Field| {
            let has = |document: &&Document| document.frequency(field, term) > 0.0;
            self.documents.iter().filter(has).count()
        };
        let (weights, b) = (&self.config.weights, self.config.b);
        let weighty = asked.iter().filter(|&&field| weights.of(field) > 0.0);
        let n = weighty.map(|&field| containing(field)).max();
        let n = n.or(asked.iter().map(|&field| containing(field)).max()).unwrap_or(0);
        let idf = (1.0 + (count - real(n) + 0.5) / (real(n) + 0.5)).ln();
        let x = matched.iter().fold(0.0, |x, &field| {
            let lengths =
                self.documents.iter().map(|document| document.fields[field as usize].len());
            let average = real(lengths.sum()) / count;
            let length = real(document.fields[field as usize].len());
            let norm = 1.0 - b + b * (length / average);
            x + weights.of(field) * document.frequency(field, term) / norm
        });
        if x > 0.0 { idf * (x * (self.config.k1 + 1.0) / (x + self.config.k1)) } else { 0.0 }
    }
}

fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).expect("a small test"))
}

/// The words of the tests are letters, with anything else between them.
fn words(text: &str) -> Vec<String> {
    let pieces = text.split(|c: char| !c.is_alphanumeric());
    pieces.filter(|piece| !piece.is_empty()).map(str::to_lowercase).collect()
}

/// The query without its words that are punctuation only.
fn meaningful(query: &Query) -> Option<Query> {
    let all = |queries: &[Query]| {
        let queries: Vec<Query> = queries.iter().filter_map(meaningful).collect();
        (!queries.is_empty()).then_some(queries)
    };
    match query {
        Query::Term { text, .. } | Query::Phrase { text, .. } => {
            (!words(text).is_empty()).then(|| query.clone())
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
