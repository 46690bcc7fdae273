//! Repeats the questions of one class, for a profiler (`perf record`).
//!
//! **Invariant.** The questions and their timing are those of `search.rs`.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use query::Searcher;
use serde_json::{Value, json};

use crate::corpus::Corpus;
use crate::questions::of_titles;
use crate::search::{CLASSES, K, config, query, summary, time};
use crate::{Result, crivello};

/// Asks `n` questions of a class. Each is asked in `rounds` rounds, of which the fastest counts.
pub(crate) fn measure(
    dir: &Path,
    titles: &Path,
    n: usize,
    class: &str,
    rounds: usize,
) -> Result<Value> {
    let corpus = Corpus::read(titles)?;
    let index = Arc::new(crivello::open(dir)?);
    let known = CLASSES.iter().find(|(name, _)| *name == class);
    let (class, words) = *known.ok_or("no class of that name")?;
    let searcher = Searcher::new(Arc::clone(&index), corpus.analyzer()?, config(), Vec::new())?;
    let mut ns = Vec::new();
    for question in of_titles(&corpus, &index.segments()[0], words, n)? {
        let query = query(class, &question);
        let prepared = searcher.prepare(&query)?;
        prepared.best(0, K)?;
        let ask = || {
            black_box(prepared.best(0, K).expect("it was asked before"));
        };
        ns.push((0..rounds).map(|_| time(ask)).fold(f64::INFINITY, f64::min));
    }
    Ok(json!({ "class": class, "questions": ns.len(), "crivello": summary(ns) }))
}
