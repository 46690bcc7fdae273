//! Whether pruning changes an answer: thousands of questions about a real collection, each answered twice.
//!
//! **Invariant.** An answer passes if documents, scores and order are those of looking at every document, to the last
//! bit, and as many are counted.

use std::path::Path;
use std::sync::Arc;

use index::{Field, Index};
use query::{Config, Query, Searcher};
use serde_json::{Value, json};

use crate::Result;
use crate::corpus::Corpus;
use crate::questions::{Question, of_titles};

/// How many results are asked for, in turn.
const KS: [usize; 4] = [10, 1, 100, 1000];

/// Asks `n` questions under the default configuration, with ranks that differ from document to document.
pub(crate) fn measure(dir: &Path, titles: &Path, n: usize) -> Result<Value> {
    let corpus = Corpus::read(titles)?;
    let index = Arc::new(Index::open(dir)?);
    let analyzer = corpus.analyzer()?;
    let rank = |doc: u32| 10.0 / (1.0 + (doc.wrapping_mul(0x9E37_79B9) >> 20) as f32);
    let ranks = index.segments().iter().map(|segment| (0..segment.doc_count()).map(rank).collect());
    let ranks = vec![("pagerank".to_owned(), ranks.collect())];
    let searcher = Searcher::new(Arc::clone(&index), analyzer, Config::default(), ranks)?;
    let segment = index.segments().first().ok_or("an empty index")?;
    let questions = of_titles(&corpus, segment, (1, 5), n)?;
    let (mut hits, mut counted) = (0, 0);
    for (number, question) in questions.iter().enumerate() {
        let (query, k) = (query(question, number), KS[number % KS.len()]);
        let (best, all) =
            (searcher.best(&query, 0, k)?, searcher.exhaustive(&query, 0, usize::MAX)?);
        let total = searcher.count(&query)?;
        if best != all[..k.min(all.len())] || total != all.len() as u64 {
            return Err(format!("{query}, the best {k}: pruning changed the answer").into());
        }
        hits += best.len();
        counted += total;
    }
    Ok(json!({ "questions": questions.len(), "hits": hits, "documents": counted }))
}

/// The words of a question in one of the forms that queries have.
fn query(question: &Question, number: usize) -> Query {
    let field = if number % 3 == 0 { Some(Field::Body) } else { None };
    let term = |word: &String| Query::Term { field, text: word.clone() };
    let words: Vec<Query> = question.words.iter().map(term).collect();
    let (first, others) = (words[0].clone(), words[1..].to_vec());
    match (number / 3) % 7 {
        _ if others.is_empty() => first,
        0 | 1 => Query::Or(words),
        2 | 3 => Query::And(words),
        4 => Query::And(vec![first, Query::Or(others)]),
        5 => Query::AndNot(Box::new(Query::Or(others)), Box::new(first)),
        _ => Query::Phrase { field, text: question.words.join(" ") },
    }
}
