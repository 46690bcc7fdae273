//! Test queries: words from titles of the collection.
//!
//! **Invariant.** The same corpus gives the same questions. Each of their words is one term, which occurs in the body
//! of some document.

use std::collections::BTreeSet;

use index::{Field, Segment};

use crate::Result;
use crate::corpus::Corpus;
use crate::sample::shuffle;

/// A question: its words, and their terms after analysis.
pub(crate) struct Question {
    pub(crate) words: Vec<String>,
    pub(crate) terms: Vec<String>,
}

/// Returns `n` questions. Each has `least` to `most` consecutive words of a title.
pub(crate) fn of_titles(
    corpus: &Corpus,
    segment: &Segment,
    (least, most): (usize, usize),
    n: usize,
) -> Result<Vec<Question>> {
    let analyzer = corpus.analyzer()?;
    let mut titles: Vec<&str> = corpus.documents().map(|document| document.title).collect();
    titles.sort_unstable();
    titles.dedup();
    shuffle(&mut titles);
    let (mut questions, mut seen) = (Vec::new(), BTreeSet::new());
    for (number, title) in titles.iter().enumerate() {
        let wanted = least + number % (most - least + 1);
        let mut question = Question { words: Vec::new(), terms: Vec::new() };
        for word in title.split_whitespace() {
            let terms = analyzer.terms(word);
            let plain = word.chars().all(char::is_alphanumeric);
            let [term] = &terms[..] else { break };
            if !plain
                || segment.doc_frequency(Field::Body, term)? == 0
                || question.terms.contains(term)
            {
                question.words.clear();
                question.terms.clear();
                continue;
            }
            question.words.push(word.to_lowercase());
            question.terms.push(term.clone());
            if question.words.len() == wanted {
                break;
            }
        }
        if question.words.len() == wanted && seen.insert(question.terms.clone()) {
            questions.push(question);
        }
        if questions.len() == n {
            return Ok(questions);
        }
    }
    Err(format!("the titles give only {} questions", questions.len()).into())
}
