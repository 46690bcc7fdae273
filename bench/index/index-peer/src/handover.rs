//! An index for an engine that is not a Rust crate: a CIFF file, and questions with their answers.
//!
//! **Invariant.** The names of documents are their numbers in the index, from zero. The questions are those of the
//! class "or" in `search.rs`.

use std::cell::Cell;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use index::{Field, export_ciff};
use query::{Query, Searcher};
use serde_json::{Value, json};

use crate::corpus::Corpus;
use crate::questions::of_titles;
use crate::search::{K, OR_WORDS, config, words};
use crate::{Result, crivello};

/// Exports the index `dir` to `ciff`. Writes the terms of `n` questions and their best documents to `questions`.
pub(crate) fn write(
    dir: &Path,
    titles: &Path,
    n: usize,
    ciff: &Path,
    questions: &Path,
) -> Result<Value> {
    let corpus = Corpus::read(titles)?;
    let index = Arc::new(crivello::open(dir)?);
    let number = Cell::new(0_u32);
    let name = |_: &_| number.replace(number.get() + 1).to_string();
    let report =
        export_ciff(&index, Field::Body, "a benchmark", name, ciff, &mut File::create(ciff)?)?;
    let searcher = Searcher::new(Arc::clone(&index), corpus.analyzer()?, config(), Vec::new())?;
    let mut asked = Vec::new();
    for question in of_titles(&corpus, &index.segments()[0], OR_WORDS, n)? {
        let best = searcher.best(&Query::Or(words(&question)), 0, K)?;
        let best: Vec<(u32, f64)> = best.iter().map(|hit| (hit.doc.0, hit.score)).collect();
        asked.push(json!({ "terms": question.terms, "best": best }));
    }
    fs::write(questions, json!({ "k": K, "questions": asked }).to_string())?;
    Ok(json!({ "documents": report.documents, "postings": report.postings }))
}
