//! The lexicon beside a map as a finite-state transducer, and beside tantivy's dictionary.
//!
//! The transducer maps the key of each term, its field and its bytes, to its rank and knows nothing
//! else; the lexica of both engines also say where the list of a term lies and how long it is.
//!
//! Crivello is asked twice: for one term after the other, as the others are, and for 15 together, as a query of three
//! words asks for them in five fields. The others have no way to be asked for several.
//!
//! **Invariant.** All are asked for the same terms in the same order without pattern: every term that
//! is there, and as many that are not, each a term with a letter more. All answers are checked first.

use std::hint::black_box;
use std::path::Path;

use fst::{Map, MapBuilder};
use index::{Field, Segment};
use serde_json::{Value, json};

use crate::measure::fastest_in_turns_ns;
use crate::{Result, crivello, peer, sample};

/// Rounds of which the fastest counts, after one that does not.
const ROUNDS: usize = 9;
/// How many terms a query asks for at a time.
const TOGETHER: usize = 15;

/// How Crivello finds a term: the number of its documents.
fn look_up(segment: &Segment, field: Field, term: &str) -> Option<u32> {
    let documents = segment.doc_frequency(field, term).expect("a sound index");
    (documents > 0).then_some(documents)
}

/// What Crivello finds terms with.
fn lexicon_bytes(segment: &Segment) -> u64 {
    segment.term_bytes().expect("a sound index")
}

/// A question, and the answer: rank and documents, if it is there.
struct Question {
    field: Field,
    key: Vec<u8>,
    term: String,
    answer: Option<(u64, u32)>,
}

pub(crate) fn measure(ours: &Path, theirs: &Path) -> Result<Value> {
    let index = crivello::open(ours)?;
    let segment = &index.segments()[0];
    let theirs = peer::open(theirs)?;
    let mut dictionaries = Vec::new();
    for field in Field::ALL {
        dictionaries.push(theirs.inverted_index(peer::field(theirs.schema(), field)?)?);
    }
    let hits = hits(segment)?;
    let mut builder = MapBuilder::memory();
    builder.extend_iter(hits.iter().zip(0..).map(|(hit, rank)| (&hit.key, rank)))?;
    let map = Map::new(builder.into_inner()?)?;
    let misses = misses(&hits, &map);
    let mut figures = json!({
        "terms": hits.len(),
        "misses": misses.len(),
        "crivello_bytes": lexicon_bytes(segment),
        "fst_bytes": map.as_fst().as_bytes().len(),
    });
    for (kind, questions) in [("hit", shuffled(hits)), ("miss", shuffled(misses))] {
        for question in &questions {
            let Question { field, key, term, answer } = question;
            let dictionary = dictionaries[*field as usize].terms();
            let documents = dictionary.get(term)?.map(|info| info.doc_freq);
            let right = map.get(key) == answer.map(|(rank, _)| rank)
                && documents == answer.map(|(_, documents)| documents)
                && look_up(segment, *field, term) == documents;
            let together = segment.doc_frequencies(&[(*field, term), (*field, "")])?;
            if !right || together != [documents.unwrap_or(0), 0] {
                return Err(format!("{}:{term} is answered differently", field.name()).into());
            }
        }
        let asked: Vec<(Field, &str)> =
            questions.iter().map(|question| (question.field, &*question.term)).collect();
        let [crivello, together, fst, tantivy] = fastest_in_turns_ns(
            ROUNDS,
            [
                &mut || {
                    for question in &questions {
                        black_box(look_up(segment, question.field, &question.term));
                    }
                },
                &mut || {
                    for asked in asked.chunks(TOGETHER) {
                        black_box(segment.doc_frequencies(asked).expect("a sound index"));
                    }
                },
                &mut || {
                    for question in &questions {
                        black_box(map.get(&question.key));
                    }
                },
                &mut || {
                    for question in &questions {
                        let dictionary = dictionaries[question.field as usize].terms();
                        black_box(dictionary.get(&question.term).expect("it was asked before"));
                    }
                },
            ],
        )
        .map(|total| total / questions.len() as f64);
        figures[format!("{kind}_ns")] = json!({
            "crivello": crivello, "together": together, "fst": fst, "tantivy": tantivy,
        });
    }
    Ok(figures)
}

/// Every term of the index, in the order of keys.
fn hits(segment: &Segment) -> Result<Vec<Question>> {
    let mut hits = Vec::new();
    crivello::each_term(segment, |field, term, documents| {
        let answer = Some((hits.len() as u64, documents));
        hits.push(Question { field, key: key(field, term), term: term.to_owned(), answer });
        Ok(())
    })?;
    Ok(hits)
}

fn misses(hits: &[Question], map: &Map<Vec<u8>>) -> Vec<Question> {
    let more = hits.iter().map(|hit| {
        let term = format!("{}q", hit.term);
        Question { field: hit.field, key: key(hit.field, &term), term, answer: None }
    });
    more.filter(|question| map.get(&question.key).is_none()).collect()
}

fn key(field: Field, term: &str) -> Vec<u8> {
    [&[field as u8], term.as_bytes()].concat()
}

/// In an order without pattern, and so in memory too: what is measured is not the fetching of questions.
fn shuffled(mut questions: Vec<Question>) -> Vec<Question> {
    sample::shuffle(&mut questions);
    let copy = |question: &Question| Question {
        key: question.key.clone(),
        term: question.term.clone(),
        ..*question
    };
    questions.iter().map(copy).collect()
}
