//! Whether two indices say the same, and how long they take to say all of it.
//!
//! **Invariant.** An index passes only if every term of every field is there with the same number of
//! documents; what is sampled is the lists behind them.

use std::hash::{DefaultHasher, Hasher as _};
use std::hint::black_box;
use std::path::Path;

use index::{DocIterator as _, END, Field, Frequencies as _, Positions as _, Segment};
use serde_json::{Value, json};
use tantivy::postings::Postings as _;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, InvertedIndexReader, SegmentReader, TERMINATED, Term};

use crate::measure::fastest_ns;
use crate::{Result, crivello, peer, sample};

/// Lists shorter than this are mostly looking up, not walking.
const WALKED_DOCS_MIN: u32 = 128;
const ROUNDS: usize = 3;

/// One posting: document, frequency, positions.
type Posting = (u32, u32, Vec<u32>);

/// Holds two of Crivello's indices against each other, number by number.
pub(crate) fn same(one: &Path, other: &Path) -> Result<Value> {
    let digests = |dir: &Path| -> Result<Vec<u64>> {
        let index = crivello::open(dir)?;
        let segment = &index.segments()[0];
        let mut digests = Vec::new();
        crivello::each_term(segment, |field, term, doc_frequency| {
            digests.push(digest(&(field, term, doc_frequency)));
            Ok(())
        })?;
        segment.each_list(|numbers| {
            let index::ListNumbers { gaps, frequencies, positions } = numbers;
            digests.push(digest(&(gaps, frequencies, positions)));
        })?;
        Ok(digests)
    };
    let (one, other) = (digests(one)?, digests(other)?);
    if one != other {
        return Err("the two indices differ: the corpus is not what was indexed".into());
    }
    Ok(json!({ "terms": one.len() / 2 }))
}

fn digest(of: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Holds Crivello's index against tantivy's: all terms, and the lists of `n` a field.
pub(crate) fn compare(ours: &Path, theirs: &Path, n: usize) -> Result<Value> {
    let ours = crivello::open(ours)?;
    let (ours, theirs) = (&ours.segments()[0], peer::open(theirs)?);
    if ours.doc_count() != theirs.max_doc() {
        return Err(format!("{} documents against {}", ours.doc_count(), theirs.max_doc()).into());
    }
    let (mut terms_all, mut lists, mut postings) = (0, 0, 0);
    for field in Field::ALL {
        let reader = theirs.inverted_index(peer::field(theirs.schema(), field)?)?;
        let terms: Vec<(String, u32)> = ours.terms(field, "")?.collect();
        compare_terms(&terms, &reader)?;
        // Filters are no words of ours, each once in a document, and tokens there.
        let filters = terms.iter().filter(|(term, _)| term.contains("::"));
        let filters: u64 = filters.map(|&(_, documents)| u64::from(documents)).sum();
        if ours.length_total(field) + filters != reader.total_num_tokens() {
            return Err(format!("{}: not as many tokens", field.name()).into());
        }
        for (term, doc_frequency) in sample::by_magnitude(&terms, n) {
            let (one, other) = (list(ours, field, term)?, their_list(&theirs, field, term)?);
            if one != other || one.len() != *doc_frequency as usize {
                return Err(format!("{}:{term} differs", field.name()).into());
            }
            lists += 1;
            postings += one.len();
        }
        terms_all += terms.len();
    }
    Ok(json!({ "terms": terms_all, "lists": lists, "postings": postings }))
}

/// Both have the same terms in the same order, each in as many documents.
fn compare_terms(terms: &[(String, u32)], reader: &InvertedIndexReader) -> Result<()> {
    let mut theirs = reader.terms().stream()?;
    for (term, doc_frequency) in terms {
        match theirs.next() {
            Some((bytes, info)) if bytes == term.as_bytes() && info.doc_freq == *doc_frequency => {}
            _ => return Err(format!("the term {term:?} differs").into()),
        }
    }
    if theirs.next().is_some() { Err("tantivy has more terms".into()) } else { Ok(()) }
}

fn list(segment: &Segment, field: Field, term: &str) -> Result<Vec<Posting>> {
    let mut cursor = segment.postings(field, term)?.ok_or("a term without a list")?;
    let mut found = Vec::new();
    while cursor.doc() != END {
        let mut positions = Vec::new();
        cursor.positions(&mut positions);
        found.push((cursor.doc().0, cursor.frequency(), positions));
        cursor.next_doc();
    }
    Ok(found)
}

fn their_list(segment: &SegmentReader, field: Field, term: &str) -> Result<Vec<Posting>> {
    let field = peer::field(segment.schema(), field)?;
    let term = Term::from_field_text(field, term);
    let option = IndexRecordOption::WithFreqsAndPositions;
    let postings = segment.inverted_index(field)?.read_postings(&term, option)?;
    let mut postings = postings.ok_or("a term without a list in tantivy")?;
    let mut found = Vec::new();
    while postings.doc() != TERMINATED {
        let mut positions = Vec::new();
        postings.positions(&mut positions);
        found.push((postings.doc(), postings.term_freq(), positions));
        postings.advance();
    }
    Ok(found)
}

/// Walks all lists that are not short, documents and frequencies: nanoseconds a posting.
pub(crate) fn walk(ours: &Path, theirs: &Path) -> Result<Value> {
    let ours = crivello::open(ours)?;
    let (ours, theirs) = (&ours.segments()[0], peer::open(theirs)?);
    let (mut terms, mut postings) = (Vec::new(), 0.0);
    crivello::each_term(ours, |field, term, doc_frequency| {
        if doc_frequency >= WALKED_DOCS_MIN {
            let their_field = peer::field(theirs.schema(), field)?;
            let their_term = Term::from_field_text(their_field, term);
            let reader = theirs.inverted_index(their_field)?;
            terms.push((field, term.to_owned(), reader, their_term));
            postings += f64::from(doc_frequency);
        }
        Ok(())
    })?;
    let mut sums = [0_u64; 2];
    let crivello_ns = fastest_ns(ROUNDS, || {
        sums[0] = 0;
        for (field, term, ..) in &terms {
            let cursor = ours.postings(*field, term).expect("it was compared");
            let mut cursor = cursor.expect("it has the term");
            while cursor.doc() != END {
                sums[0] += u64::from(cursor.doc().0) + u64::from(cursor.frequency());
                cursor.next_doc();
            }
        }
        black_box(sums[0]);
    });
    let tantivy_ns = fastest_ns(ROUNDS, || {
        sums[1] = 0;
        for (.., reader, term) in &terms {
            let option = IndexRecordOption::WithFreqs;
            let list = reader.read_postings(term, option).expect("it was compared");
            let mut list = list.expect("it has the term");
            while list.doc() != TERMINATED {
                sums[1] += u64::from(list.doc()) + u64::from(list.term_freq());
                list.advance();
            }
        }
        black_box(sums[1]);
    });
    if sums[0] != sums[1] {
        return Err("the sums of the lists differ".into());
    }
    Ok(json!({
        "lists": terms.len(),
        "postings": postings,
        "crivello_ns": crivello_ns / postings,
        "tantivy_ns": tantivy_ns / postings,
    }))
}
