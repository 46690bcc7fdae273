//! Nested boolean questions with phrases and windows: how long each takes beside the least that any exhaustive evaluation
//! must do.
//!
//! The lower bound is to decode every posting of its words once: documents, and where a word stands in a phrase or a
//! window, occurrences too. Nothing is compared, nothing scored.
//!
//! **Invariant.** The answer to a question is that of looking at every document before it is timed.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use index::{DocIterator, END, Field, Positions, Segment};
use query::{Config, Query, Searcher};
use serde_json::{Value, json};

use crate::corpus::Corpus;
use crate::measure::fastest_ns;
use crate::questions::{Question, of_titles};
use crate::{Result, crivello};

/// Results of a question.
const K: usize = 10;
/// Rounds of which the fastest counts.
const ROUNDS: usize = 3;
/// Positions of a window.
const WIDTH: u32 = 8;

/// Asks `n` questions of five words of the titles of a corpus, in each form in turn.
pub(crate) fn measure(dir: &Path, titles: &Path, n: usize) -> Result<Value> {
    let corpus = Corpus::read(titles)?;
    let index = Arc::new(crivello::open(dir)?);
    let analyzer = corpus.analyzer()?;
    let searcher = Searcher::new(Arc::clone(&index), analyzer, Config::default(), Vec::new())?;
    let segment = &index.segments()[0];
    let questions = of_titles(&corpus, segment, (5, 5), n)?;
    let mut asked = Vec::new();
    for (number, question) in questions.iter().enumerate() {
        let (query, placed) = nested(question, number);
        let prepared = searcher.prepare(&query)?;
        if prepared.best(0, K)? != prepared.exhaustive(0, K)? {
            return Err(format!("{query}: pruning changed the answer").into());
        }
        let ours = fastest_ns(ROUNDS, || {
            black_box(prepared.best(0, K).expect("it was asked before"));
        });
        let bound = fastest_ns(ROUNDS, || {
            for (term, is_placed) in question.terms.iter().zip(placed) {
                black_box(walk(segment, term, is_placed));
            }
        });
        asked.push((ours, bound, query.to_string()));
    }
    let mean = |of: &dyn Fn(&(f64, f64, String)) -> f64| {
        asked.iter().map(of).sum::<f64>() / asked.len() as f64 / 1000.0
    };
    let ratio = |(ours, bound, _): &(f64, f64, String)| ours / bound;
    let worst = asked.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b))).ok_or("no questions")?;
    let mut ratios: Vec<f64> = asked.iter().map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    Ok(json!({
        "questions": asked.len(),
        "mean_us": mean(&|one| one.0),
        "bound_us": mean(&|one| one.1),
        "ratio_median": ratios[ratios.len() / 2],
        "ratio_max": ratio(worst),
        "slowest": worst.2,
    }))
}

/// The words of a question in one of the forms, and which of them stand in a phrase or a window.
fn nested(question: &Question, number: usize) -> (Query, [bool; 5]) {
    let field = Some(Field::Body);
    let word = |at: usize| Query::Term { field, text: question.words[at].clone() };
    let phrase = |a: usize, b: usize| Query::Phrase {
        field,
        text: format!("{} {}", question.words[a], question.words[b]),
    };
    let near = |ordered, parts| Query::Near { ordered, width: WIDTH, parts };
    let not = |wanted: Query, unwanted: Query| Query::AndNot(Box::new(wanted), Box::new(unwanted));
    match number % 5 {
        0 => (
            not(
                Query::And(vec![Query::Or(vec![word(0), word(1)]), word(2)]),
                Query::Or(vec![word(3), word(4)]),
            ),
            [false; 5],
        ),
        1 => {
            (Query::Or(vec![phrase(0, 1), near(false, vec![word(2), word(3), word(4)])]), [true; 5])
        }
        2 => (
            Query::And(vec![
                near(true, vec![word(0), Query::Or(vec![word(1), word(2)])]),
                Query::Or(vec![word(3), word(4)]),
            ]),
            [true, true, true, false, false],
        ),
        3 => (
            not(near(false, vec![phrase(0, 1), word(2)]), Query::And(vec![word(3), word(4)])),
            [true, true, true, false, false],
        ),
        _ => (
            Query::Or(vec![
                Query::And(vec![word(0), Query::Or(vec![phrase(1, 2), word(3)])]),
                not(word(4), phrase(0, 1)),
            ]),
            [true, true, true, false, false],
        ),
    }
}

/// Decodes a list from end to end.
fn walk(segment: &Segment, term: &str, with_positions: bool) -> u64 {
    let Ok(Some(mut list)) = segment.postings(Field::Body, term) else { return 0 };
    let (mut sum, mut positions) = (0, Vec::new());
    while list.doc() != END {
        sum += u64::from(list.doc().0);
        if with_positions {
            list.positions(&mut positions);
            sum += positions.len() as u64;
        }
        list.next_doc();
    }
    sum
}
