//! Asks both engines the same questions, compares their answers and measures their times.
//!
//! One field, one segment, one thread, everything in memory; BM25 with tantivy's parameters on both sides. tantivy
//! rounds the lengths of documents and computes in single precision. So scores may differ by a few per cent, and
//! documents with nearly equal scores may be in either order.
//!
//! Crivello keeps tables of frequent words that were used before; tantivy has no such tables. So conjunctions are also
//! timed without tables, and from the first question on, while tables are made. The memory of the tables is printed.
//!
//! The analysis of words is not timed; the lookup of lists is. A question is first repeated until the clock itself
//! takes at most a hundredth of the time. Then all questions of a class are asked once each, in random order,
//! so that one question does not warm the processor's caches for the next.
//!
//! **Invariant.** The answers to a question are compared before it is timed, and again afterwards, when its words have
//! their tables. The answers with and without tables are equal in every bit.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use index::Field;
use query::{Config, FieldWeights, Hit, Prepared, Query, Searcher};
use serde_json::{Value, json};
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, Occur, PhraseQuery, Query as PeerQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, ReloadPolicy, Term};

use crate::corpus::Corpus;
use crate::measure::cpu_s;
use crate::questions::{Question, of_titles};
use crate::sample::shuffle;
use crate::{Result, crivello, peer};

/// Number of results of a question.
pub(crate) const K: usize = 10;
/// Number of rounds for each question. The fastest counts.
const ROUNDS: usize = 5;
/// Number of passes over all questions for a searcher without tables.
const PASSES: usize = 8;
/// Least duration of a measurement: about a hundred times the duration of a call of the kernel's clock.
const LEAST_NS: f64 = 100_000.0;
/// Largest relative error of a score from tantivy's rounding of lengths.
const ROUNDED: f64 = 0.12;

/// The least and the greatest number of words of a disjunction.
pub(crate) const OR_WORDS: (usize, usize) = (2, 5);
/// The classes of questions, each with the least and the greatest number of words.
pub(crate) const CLASSES: [(&str, (usize, usize)); 4] =
    [("one term", (1, 1)), ("or", OR_WORDS), ("and", (2, 5)), ("phrase", (2, 3))];

/// Makes the query of a question in a class.
pub(crate) fn query(class: &str, question: &Question) -> Query {
    let words = words(question);
    match class {
        "one term" => words[0].clone(),
        "or" => Query::Or(words),
        "and" => Query::And(words),
        _ => Query::Phrase { field: Some(Field::Body), text: question.words.join(" ") },
    }
}

/// Both engines, each with an index of the same text.
struct Engines {
    ours: Searcher,
    /// Crivello without tables.
    bare: Searcher,
    /// Crivello before the first question.
    fresh: Searcher,
    theirs: tantivy::Searcher,
    field: tantivy::schema::Field,
}

/// A question as a query of both engines.
struct Pair {
    ours: Query,
    theirs: Box<dyn PeerQuery>,
}

/// A question after the analysis of its words.
struct Ready<'a> {
    ours: Prepared<'a>,
    theirs: &'a dyn PeerQuery,
}

/// Asks `n` questions of each class, made of the titles of a corpus.
pub(crate) fn measure(ours: &Path, theirs: &Path, titles: &Path, n: usize) -> Result<Value> {
    let corpus = Corpus::read(titles)?;
    let index = Arc::new(crivello::open(ours)?);
    let theirs = tantivy::Index::open_in_dir(theirs)?;
    let field = peer::field(&theirs.schema(), Field::Body)?;
    let reader: tantivy::IndexReader =
        theirs.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let searcher = |config| -> Result<Searcher> {
        Ok(Searcher::new(Arc::clone(&index), corpus.analyzer()?, config, Vec::new())?)
    };
    let engines = Engines {
        ours: searcher(config())?,
        bare: searcher(Config { table_bytes: 0, ..config() })?,
        fresh: searcher(config())?,
        theirs: reader.searcher(),
        field,
    };
    let mut found = json!({ "documents": index.doc_count(), "classes": {} });
    for (class, words) in CLASSES {
        let questions = of_titles(&corpus, &index.segments()[0], words, n)?;
        let pairs: Vec<Pair> = questions.iter().map(|one| engines.pair(class, one)).collect();
        for pair in &pairs {
            engines.compare(pair, class)?;
        }
        let classes = &mut found["classes"];
        let asked = ready(&engines.ours, &pairs)?;
        classes[class] = engines.time_best(&asked);
        if matches!(class, "or" | "and") {
            classes[format!("count of {class}")] = engines.time_count(&asked);
        }
        if class == "and" {
            let bare = ready(&engines.bare, &pairs)?;
            classes["and, without tables"] = engines.time_best(&bare);
            classes["count of and, without tables"] = engines.time_count(&bare);
            found["tables"] = engines.tables(&pairs)?;
        }
        for pair in &pairs {
            engines.compare(pair, class)?;
        }
    }
    Ok(found)
}

/// BM25 with the parameters of the peers, on the text only.
pub(crate) fn config() -> Config {
    let weights = FieldWeights { title: 0.0, headings: 0.0, body: 1.0, url: 0.0, anchor: 0.0 };
    Config { k1: 1.2, b: 0.75, weights, ..Config::default() }
}

/// The words of a question, each looked for in the text.
pub(crate) fn words(question: &Question) -> Vec<Query> {
    let word = |word: &String| Query::Term { field: Some(Field::Body), text: word.clone() };
    question.words.iter().map(word).collect()
}

impl Engines {
    fn pair(&self, class: &str, question: &Question) -> Pair {
        let terms: Vec<Term> =
            question.terms.iter().map(|term| Term::from_field_text(self.field, term)).collect();
        let leaf = |term: &Term| -> Box<dyn PeerQuery> {
            Box::new(TermQuery::new(term.clone(), IndexRecordOption::WithFreqs))
        };
        let boolean = |occur: Occur| -> Box<dyn PeerQuery> {
            Box::new(BooleanQuery::new(terms.iter().map(|term| (occur, leaf(term))).collect()))
        };
        let theirs = match class {
            "one term" => leaf(&terms[0]),
            "or" => boolean(Occur::Should),
            "and" => boolean(Occur::Must),
            _ => Box::new(PhraseQuery::new(terms)),
        };
        Pair { ours: query(class, question), theirs }
    }

    /// Fails unless both engines count the same documents and give the best documents equal scores, up to
    /// tantivy's rounding. The scores of phrases are not compared: tantivy scores the frequency of the whole phrase.
    fn compare(&self, pair: &Pair, class: &str) -> Result<()> {
        let Pair { ours, theirs } = pair;
        let counts = (self.ours.count(ours)?, self.theirs.search(&**theirs, &Count)? as u64);
        let best = self.ours.best(ours, 0, K)?;
        let bare = (self.bare.count(ours)?, self.bare.best(ours, 0, K)?);
        let top = self.theirs.search(&**theirs, &TopDocs::with_limit(K).order_by_score())?;
        let agree = class == "phrase" || best.iter().zip(&top).all(near);
        if counts.0 == counts.1
            && best.len() == top.len()
            && agree
            && bare == (counts.0, best.clone())
        {
            return Ok(());
        }
        Err(format!("{ours}: {counts:?} documents, {best:?} against {top:?}").into())
    }

    fn time_best(&self, pairs: &[Ready<'_>]) -> Value {
        let top = TopDocs::with_limit(K).order_by_score();
        let [crivello, tantivy] = timed(
            pairs,
            [
                &mut |pair| {
                    black_box(pair.ours.best(0, K).expect("it was asked before"));
                },
                &mut |pair| {
                    black_box(self.theirs.search(pair.theirs, &top).expect("it was asked before"));
                },
            ],
        );
        json!({ "questions": pairs.len(), "crivello": crivello, "tantivy": tantivy })
    }

    /// Returns the number and memory of the tables after all questions. Also returns the time of each pass over the
    /// questions, for a searcher that begins without tables.
    fn tables(&self, pairs: &[Pair]) -> Result<Value> {
        let told = self.ours.tables();
        let ready = ready(&self.fresh, pairs)?;
        let passes: Vec<f64> = (0..PASSES)
            .map(|_| {
                pass(&ready, |pair| {
                    black_box(pair.ours.best(0, K).expect("it was asked before"));
                })
            })
            .collect();
        Ok(json!({ "count": told.count, "bytes": told.bytes, "passes_us": passes }))
    }

    fn time_count(&self, pairs: &[Ready<'_>]) -> Value {
        let [crivello, tantivy] = timed(
            pairs,
            [
                &mut |pair| {
                    black_box(pair.ours.count().expect("it was asked before"));
                },
                &mut |pair| {
                    black_box(
                        self.theirs.search(pair.theirs, &Count).expect("it was asked before"),
                    );
                },
            ],
        );
        json!({ "questions": pairs.len(), "crivello": crivello, "tantivy": tantivy })
    }
}

fn ready<'a>(ours: &'a Searcher, pairs: &'a [Pair]) -> Result<Vec<Ready<'a>>> {
    let ready = |pair: &'a Pair| -> Result<Ready<'a>> {
        Ok(Ready { ours: ours.prepare(&pair.ours)?, theirs: &*pair.theirs })
    };
    pairs.iter().map(ready).collect()
}

fn near((ours, (theirs, _)): (&Hit, &(f32, DocAddress))) -> bool {
    (ours.score - f64::from(*theirs)).abs() <= ROUNDED * ours.score
}

/// The cost of each question under several ways to answer it: repeated, and once each.
pub(crate) fn timed<T, const N: usize>(
    pairs: &[T],
    mut ways: [&mut dyn FnMut(&T); N],
) -> [Value; N] {
    let mut found = in_a_row(pairs, &mut ways).map(summary);
    let mut order: Vec<&T> = pairs.iter().collect();
    shuffle(&mut order);
    let (mut fastest, mut each) = ([f64::INFINITY; N], ways.each_ref().map(|_| Vec::new()));
    for round in 0..=ROUNDS {
        for (at, way) in ways.iter_mut().enumerate() {
            let spent = pass(&order, |pair| way(pair));
            let spent_each = pass_each(&order, |pair| way(pair));
            if round == 1 {
                (fastest[at], each[at]) = (spent, spent_each);
            } else if round > 1 {
                fastest[at] = fastest[at].min(spent);
                least(&mut each[at], &spent_each);
            }
        }
    }
    let first = each[0].clone();
    for ((found, fastest), each) in found.iter_mut().zip(fastest).zip(&mut each) {
        let slower = first.iter().zip(&*each).filter(|(first, other)| first > other).count();
        each.sort_by(f64::total_cmp);
        found["mixed_us"] = fastest.into();
        found["mixed_median_us"] = (each[each.len() / 2] / 1000.0).into();
        // The share of questions that the first way answers later than this one.
        found["first_is_slower"] = (slower as f64 / each.len() as f64).into();
    }
    found
}

/// Keeps the lesser of two figures for each question.
fn least(kept: &mut [f64], found: &[f64]) {
    kept.iter_mut().zip(found).for_each(|(kept, found)| *kept = kept.min(*found));
}

/// The mean time of a question in microseconds, with each question asked once.
pub(crate) fn pass<T>(questions: &[T], ask: impl FnMut(&T)) -> f64 {
    let begun = cpu_s();
    questions.iter().for_each(ask);
    (cpu_s() - begun) * 1e6 / questions.len() as f64
}

/// The time of each question in nanoseconds, with each asked once. The time of the clock is subtracted.
fn pass_each<T>(questions: &[T], mut ask: impl FnMut(&T)) -> Vec<f64> {
    let clock = (0..1_000).map(|_| -(cpu_s() - cpu_s())).fold(f64::INFINITY, f64::min);
    let spent = questions.iter().map(|question| {
        let begun = cpu_s();
        ask(question);
        (cpu_s() - begun - clock).max(0.0) * 1e9
    });
    spent.collect()
}

/// The time of each question in nanoseconds under each way, with the ways in turn: the fastest of several rounds, after
/// one that does not count.
fn in_a_row<T, const N: usize>(pairs: &[T], ways: &mut [&mut dyn FnMut(&T); N]) -> [Vec<f64>; N] {
    let mut ns = ways.each_ref().map(|_| Vec::new());
    for pair in pairs {
        let mut fastest = [f64::INFINITY; N];
        for round in 0..=ROUNDS {
            for (way, least) in ways.iter_mut().zip(&mut fastest) {
                let spent = time(|| way(pair));
                if round > 0 {
                    *least = least.min(spent);
                }
            }
        }
        ns.iter_mut().zip(fastest).for_each(|(ns, fastest)| ns.push(fastest));
    }
    ns
}

/// The time of a question in nanoseconds, repeated until the clock is precise enough.
pub(crate) fn time(mut ask: impl FnMut()) -> f64 {
    let mut times = 4.0_f64;
    loop {
        let begun = cpu_s();
        (0..times as u32).for_each(|_| ask());
        let spent = (cpu_s() - begun) * 1e9;
        if spent >= LEAST_NS {
            return spent / times;
        }
        // The expected number of repetitions, and some more.
        times = (times * LEAST_NS / spent.max(1.0) * 1.1).min(1e6).max(times + 1.0).ceil();
    }
}

/// In microseconds.
pub(crate) fn summary(mut ns: Vec<f64>) -> Value {
    ns.sort_by(f64::total_cmp);
    let mean = ns.iter().sum::<f64>() / ns.len() as f64;
    let at = |percent: usize| ns[ns.len() * percent / 100] / 1000.0;
    json!({ "mean_us": mean / 1000.0, "median_us": at(50), "p99_us": at(99) })
}
