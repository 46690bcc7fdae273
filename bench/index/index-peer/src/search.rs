//! Questions put to both engines: whether they agree, and how long each takes.
//!
//! One field, one segment, one thread, everything in memory; BM25 with tantivy's parameters on both
//! sides. tantivy rounds the lengths of documents and computes in single precision, so that of two
//! documents with all but the same score either may come first.
//!
//! **Invariant.** No class of questions is timed before its answers have been compared.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use index::Field;
use query::{Config, Query, Searcher, FieldWeights};
use serde_json::{Value, json};
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, Occur, PhraseQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{ReloadPolicy, Term};

use crate::corpus::Corpus;
use crate::measure::cpu_s;
use crate::questions::{Question, of_titles};
use crate::{Result, crivello};

/// Results of a question.
const K: usize = 10;
/// Rounds of which the fastest counts, for each question.
const ROUNDS: usize = 5;

/// What is asked.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Term,
    Or,
    And,
    Phrase,
}

const CLASSES: [(Class, &str, (usize, usize)); 4] = [
    (Class::Term, "term", (1, 1)),
    (Class::Or, "or", (2, 5)),
    (Class::And, "and", (2, 5)),
    (Class::Phrase, "phrase", (2, 3)),
];

/// Asks `n` questions of each class.
pub(crate) fn measure(ours: &Path, theirs: &Path, titles: &Path, n: usize) -> Result<Value> {
    let corpus = Corpus::read(titles)?;
    let index = Arc::new(crivello::open(ours)?);
    let weights = FieldWeights { title: 0.0, headings: 0.0, body: 1.0, url: 0.0, anchor: 0.0 };
    let config = Config { k1: 1.2, b: 0.75, weights, rank_weight: 0.0, ..Config::default() };
    let searcher = Searcher::new(Arc::clone(&index), corpus.analyzer()?, config, Vec::new());
    let peer = tantivy::Index::open_in_dir(theirs)?;
    let reader = peer.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let peer_searcher = reader.searcher();
    let field = crate::peer::field(&peer.schema(), Field::Body)?;
    let mut found = json!({ "documents": index.doc_count() });
    for (class, name, words) in CLASSES {
        if std::env::var("CLASS").is_ok_and(|class| class != name) {
            continue;
        }
        let questions = of_titles(&corpus, &index.segments()[0], words, n)?;
        let pairs: Vec<_> = questions
            .iter()
            .map(|question| (our_query(class, question), their_query(class, question, field)))
            .collect();
        if let (Ok(n), Ok(text)) = (std::env::var("LOOP"), std::env::var("QUERY")) {
            let query = query::parse(&text)?;
            let n = n.parse::<usize>()?;
            let begun = cpu_s();
            for _ in 0..n {
                black_box(searcher.best(&query, 0, K)?);
            }
            println!("{query} {:.2} us", (cpu_s() - begun) * 1e6 / n as f64);
            continue;
        }
        if let Ok(n) = std::env::var("LOOP") {
            let begun = cpu_s();
            for _ in 0..n.parse::<usize>()? {
                for (query, _) in &pairs {
                    black_box(searcher.best(query, 0, K)?);
                }
            }
            println!("{name} {:.2} us", (cpu_s() - begun) * 1e6 / (pairs.len() * n.parse::<usize>()?) as f64);
            continue;
        }
        let mut same = 0;
        for (our_query, their_query) in &pairs {
            let total = searcher.count(our_query)?;
            let their_total = peer_searcher.search(&**their_query, &Count)? as u64;
            if total != their_total {
                return Err(format!("{our_query}: {total} against {their_total}").into());
            }
            let ours = searcher.best(our_query, 0, K)?;
            if ours != searcher.exhaustive(our_query, 0, K)? {
                return Err(format!("{our_query}: pruning changed the answer").into());
            }
            let top = TopDocs::with_limit(K).order_by_score();
            let theirs = peer_searcher.search(&**their_query, &top)?;
            same += usize::from(agree(&ours, &theirs));
        }
        let top = TopDocs::with_limit(K).order_by_score();
        let ours_ns = times(&pairs, |(query, _)| {
            black_box(searcher.best(query, 0, K).expect("it was asked before"));
        });
        let theirs_ns = times(&pairs, |(_, query)| {
            black_box(peer_searcher.search(&**query, &top).expect("it was asked before"));
        });
        if std::env::var("WORST").is_ok() {
            let mut order: Vec<usize> = (0..pairs.len()).collect();
            order.sort_by(|&a, &b| (ours_ns[b] - theirs_ns[b] / 2.0).total_cmp(&(ours_ns[a] - theirs_ns[a] / 2.0)));
            for &at in order.iter().take(25) {
                let dfs: Vec<u32> = questions[at].terms.iter().map(|t| index.segments()[0].doc_frequency(Field::Body, t).unwrap()).collect();
                eprintln!("{name} {:.0} {:.0} {} {:?} {}", ours_ns[at] / 1000.0, theirs_ns[at] / 1000.0, pairs[at].0, dfs, searcher.count(&pairs[at].0)?);
            }
        }
        found[name] = json!({ "questions": pairs.len(), "agree": same,
            "crivello": summary(ours_ns), "tantivy": summary(theirs_ns) });
        if matches!(class, Class::Or | Class::And) {
            let ours_ns = times(&pairs, |(query, _)| {
                black_box(searcher.count(query).expect("it was asked before"));
            });
            let theirs_ns = times(&pairs, |(_, query)| {
                black_box(peer_searcher.search(&**query, &Count).expect("it was asked before"));
            });
            found[format!("count of {name}")] = json!({
                "crivello": summary(ours_ns), "tantivy": summary(theirs_ns) });
        }
    }
    Ok(found)
}

/// Whether both give as many documents, with the same scores up to tantivy's rounding of lengths.
fn agree(ours: &[query::Hit], theirs: &[(f32, tantivy::DocAddress)]) -> bool {
    ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|(hit, (score, _))| {
            (hit.score / 2.2 - f64::from(*score) / 2.2).abs() <= 0.1 * hit.score
        })
}

fn our_query(class: Class, question: &Question) -> Query {
    let term = |word: &String| Query::Term { field: Some(Field::Body), text: word.clone() };
    match class {
        Class::Term => term(&question.words[0]),
        Class::Or => Query::Or(question.words.iter().map(term).collect()),
        Class::And => Query::And(question.words.iter().map(term).collect()),
        Class::Phrase => {
            Query::Phrase { field: Some(Field::Body), text: question.words.join(" ") }
        }
    }
}

fn their_query(
    class: Class,
    question: &Question,
    field: tantivy::schema::Field,
) -> Box<dyn tantivy::query::Query> {
    let terms = question.terms.iter().map(|term| Term::from_field_text(field, term));
    let boolean = |occur: Occur| {
        let clause = |term| -> (Occur, Box<dyn tantivy::query::Query>) {
            (occur, Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)))
        };
        Box::new(BooleanQuery::new(terms.clone().map(clause).collect()))
    };
    match class {
        Class::Term => Box::new(TermQuery::new(
            terms.clone().next().expect("a question has words"),
            IndexRecordOption::WithFreqs,
        )),
        Class::Or => boolean(Occur::Should),
        Class::And => boolean(Occur::Must),
        Class::Phrase => Box::new(PhraseQuery::new(terms.collect())),
    }
}

/// For each question the fastest of several rounds, after one that does not count.
fn times<T>(questions: &[T], mut ask: impl FnMut(&T)) -> Vec<f64> {
    let one = |question: &T| {
        ask(question);
        let round = |_| {
            let begun = cpu_s();
            ask(question);
            (cpu_s() - begun) * 1e9
        };
        (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
    };
    questions.iter().map(one).collect()
}

/// Mean and 99th percentile, in microseconds.
fn summary(mut ns: Vec<f64>) -> Value {
    ns.sort_by(f64::total_cmp);
    let mean = ns.iter().sum::<f64>() / ns.len() as f64;
    json!({ "mean_us": mean / 1000.0, "p10_us": ns[ns.len() / 10] / 1000.0, "median_us": ns[ns.len() / 2] / 1000.0, "p99_us": ns[ns.len() * 99 / 100] / 1000.0 })
}
