//! Questions as users ask them: words in all fields, under the default configuration, with and without ranks of pages.
//!
//! The index has the settings of a collection. tantivy gets a disjunction over the same fields with the same weights.
//! It adds up the scores of fields, while Crivello uses BM25F, so scores differ and only counts are compared.
//!
//! Ranks are made up: a few documents have high ranks and most have low ones. tantivy has no ranks.
//!
//! **Invariant.** No question is timed before both engines have counted the same documents for it.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use index::{Field, Index};
use query::{Config, Prepared, Query, Searcher};
use serde_json::{Value, json};
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, BoostQuery, Occur, PhraseQuery, Query as PeerQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{ReloadPolicy, Term};

use crate::corpus::Corpus;
use crate::questions::{Question, of_titles};
use crate::search::{CLASSES, K, pass, timed};
use crate::{Result, crivello, peer};

/// All engines over the same text, and tantivy's fields with their weights.
struct Engines {
    plain: Searcher,
    ranked: Searcher,
    theirs: tantivy::Searcher,
    fields: Vec<(tantivy::schema::Field, f32)>,
}

/// A question, ready for each engine.
struct Asked<'a> {
    plain: Prepared<'a>,
    ranked: Prepared<'a>,
    theirs: &'a dyn PeerQuery,
}

/// Asks `n` questions of each class, made of the titles of a corpus.
pub(crate) fn measure(ours: &Path, theirs: &Path, titles: &Path, n: usize) -> Result<Value> {
    let corpus = Corpus::read(titles)?;
    let index = Arc::new(crivello::open(ours)?);
    let engines = Engines::open(&corpus, &index, theirs)?;
    let mut classes = json!({});
    for (class, words) in CLASSES {
        let questions = of_titles(&corpus, &index.segments()[0], words, n)?;
        let pairs: Vec<(Query, Box<dyn PeerQuery>)> = questions
            .iter()
            .map(|one| (query(class, one), engines.peer_query(class, one)))
            .collect();
        let asked: Vec<Asked<'_>> = pairs
            .iter()
            .map(|(ours, theirs)| {
                let (plain, ranked) = (engines.plain.prepare(ours)?, engines.ranked.prepare(ours)?);
                Ok(Asked { plain, ranked, theirs: &**theirs })
            })
            .collect::<Result<_>>()?;
        // The index files are verified and the tables of frequent words are made in the first pass.
        let first_us = pass(&asked, |asked| {
            black_box(asked.plain.best(0, K).expect("the index is sound"));
        });
        for ((query, _), asked) in pairs.iter().zip(&asked) {
            engines.compare(query, asked)?;
        }
        classes[class] = engines.time_best(&asked);
        classes[class]["first_pass_us"] = first_us.into();
        classes[format!("{class} and its count")] = engines.time_both(&asked);
    }
    Ok(json!({ "documents": index.doc_count(), "classes": classes }))
}

/// A question of a class in all fields.
fn query(class: &str, question: &Question) -> Query {
    let word = |word: &String| Query::Term { field: None, text: word.clone() };
    let mut words: Vec<Query> = question.words.iter().map(word).collect();
    match class {
        "one term" => words.remove(0),
        "or" => Query::Or(words),
        "and" => Query::And(words),
        _ => Query::Phrase { field: None, text: question.words.join(" ") },
    }
}

impl Engines {
    fn open(corpus: &Corpus, index: &Arc<Index>, theirs: &Path) -> Result<Engines> {
        let searcher = |config: Config, ranks| -> Result<Searcher> {
            Ok(Searcher::new(Arc::clone(index), corpus.analyzer()?, config, ranks)?)
        };
        let rank = |doc: u32| 10.0 / (1.0 + (doc.wrapping_mul(0x9E37_79B9) >> 20) as f32);
        let ranks = index.segments().iter().map(|one| (0..one.doc_count()).map(rank).collect());
        let ranks = vec![("pagerank".to_owned(), ranks.collect())];
        let theirs = tantivy::Index::open_in_dir(theirs)?;
        let weights = Config::default().weights;
        let field = |of: Field| Ok((peer::field(&theirs.schema(), of)?, weights.of(of) as f32));
        let fields = Field::ALL.map(field).into_iter().collect::<Result<_>>()?;
        let reader: tantivy::IndexReader =
            theirs.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Engines {
            plain: searcher(Config::default(), Vec::new())?,
            ranked: searcher(Config::default(), ranks)?,
            theirs: reader.searcher(),
            fields,
        })
    }

    /// The question in tantivy's language.
    fn peer_query(&self, class: &str, question: &Question) -> Box<dyn PeerQuery> {
        let in_fields = |leaf: &dyn Fn(tantivy::schema::Field) -> Box<dyn PeerQuery>| {
            let boosted = |&(field, weight): &(_, f32)| -> (Occur, Box<dyn PeerQuery>) {
                (Occur::Should, Box::new(BoostQuery::new(leaf(field), weight)))
            };
            self.fields.iter().map(boosted).collect::<Vec<_>>()
        };
        let word = |term: &String| {
            in_fields(&|field| {
                let term = Term::from_field_text(field, term);
                Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
            })
        };
        let all = |occur: Occur| -> Box<dyn PeerQuery> {
            let words = question.terms.iter();
            let words = words.map(|term| (occur, Box::new(BooleanQuery::new(word(term))) as _));
            Box::new(BooleanQuery::new(words.collect()))
        };
        match class {
            "one term" => Box::new(BooleanQuery::new(word(&question.terms[0]))),
            // One disjunction: tantivy prunes it, and not one of disjunctions.
            "or" => Box::new(BooleanQuery::new(question.terms.iter().flat_map(word).collect())),
            "and" => all(Occur::Must),
            _ => Box::new(BooleanQuery::new(in_fields(&|field| {
                let term = |term: &String| Term::from_field_text(field, term);
                Box::new(PhraseQuery::new(question.terms.iter().map(term).collect()))
            }))),
        }
    }

    /// Both engines count the same documents.
    fn compare(&self, query: &Query, asked: &Asked<'_>) -> Result<()> {
        let theirs = self.theirs.search(asked.theirs, &Count)? as u64;
        let ours = [asked.plain.count()?, asked.ranked.count()?];
        if ours == [theirs; 2] {
            return Ok(());
        }
        Err(format!("{query}: {ours:?} documents, tantivy counts {theirs}").into())
    }

    fn time_best(&self, asked: &[Asked<'_>]) -> Value {
        let top = TopDocs::with_limit(K).order_by_score();
        figures(timed(
            asked,
            [
                &mut |asked| {
                    black_box(asked.plain.best(0, K).expect("it was asked before"));
                },
                &mut |asked| {
                    black_box(asked.ranked.best(0, K).expect("it was asked before"));
                },
                &mut |asked| {
                    black_box(self.theirs.search(asked.theirs, &top).expect("it was asked before"));
                },
            ],
        ))
    }

    /// The best and how many there are, as the server needs them.
    fn time_both(&self, asked: &[Asked<'_>]) -> Value {
        let top = (TopDocs::with_limit(K).order_by_score(), Count);
        let both = |prepared: &Prepared<'_>| {
            black_box(prepared.search(0, K).expect("it was asked before"));
        };
        figures(timed(
            asked,
            [&mut |asked| both(&asked.plain), &mut |asked| both(&asked.ranked), &mut |asked| {
                black_box(self.theirs.search(asked.theirs, &top).expect("it was asked before"));
            }],
        ))
    }
}

fn figures([plain, ranked, theirs]: [Value; 3]) -> Value {
    json!({ "crivello": plain, "crivello with ranks": ranked, "tantivy": theirs })
}
