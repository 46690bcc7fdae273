//! Queries to an index: all searches and direct reads.
//!
//! **Invariant.** Different answers have different numbers, except with a probability of 2⁻³².

use super::sample_index::WORDS;
use crc32fast::Hasher;
use index::{DocId, DocIterator, END, Field, Frequencies, Index, IndexError, Positions, Segment};
use page::{AnalysisConfig, Analyzer};
use query::{Query, QueryError, Searcher, parse};
use std::hash::{Hash, Hasher as _};
use std::sync::Arc;

/// Every operator, alone and nested.
const QUERIES: [&str; 22] = [
    "ka",
    "body:ka",
    "body:ka OR body:mo OR body:ri",
    "body:\"ka mo\"",
    "body:\"mo ka ri\" body:tu",
    "ka mo",
    "morezu OR rima OR nowhere",
    "ka -mo",
    "NOT ka",
    "\"ka mo\"",
    "\"mo ka ri\" OR title:ka",
    "title:ri -headings:mo",
    "anchor:tu url:ze",
    "site:a.example ka",
    "lang:it -site:b.example",
    "(ka OR ze) (mo | \"ri tu\") -(tu ze)",
    "NOT (ka OR mo OR ri)",
    "antidisestablishmentarianism nowhere",
    "mo* \"k* mo\"",
    "rimo~1 OR title:kama~2",
    "(ka (mo OR \"ri tu\") ze)~6",
    "ka BEFORE/4 (mo NEAR/3 r*) -\"tu ze\"~5",
];
/// Number of results per query.
const RESULTS: usize = 10;
/// Prefixes of many terms, of some, of one, and of none.
const PREFIXES: [&str; 6] = ["", "ka", "mo", "antidis", "site::", "zz"];
/// No answer, which only a forged manifest causes.
const NO_ANSWER: u64 = 0;

/// A query to an index.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// The totals of the manifest.
    Totals,
    /// The best documents for a query.
    Search(Query),
    /// The explanation of a score.
    Explain(Query, usize, DocId),
    /// A read of one segment.
    Segment(usize, OfSegment),
}

/// A read of a segment, with its name.
type OfSegment = (&'static str, fn(&Segment, &mut Hasher) -> Result<(), IndexError>);

const OF_SEGMENT: [OfSegment; 6] = [
    ("the terms that begin with one of the prefixes", terms),
    ("the lists of all terms that it has", lists),
    ("the lists of terms that are known from elsewhere", find),
    ("the numbers of its lists", numbers),
    ("what is kept of its documents", records),
    ("how long they are, and which are deleted", documents),
];

/// An index to be queried.
pub(crate) struct Asked {
    index: Arc<Index>,
    searcher: Searcher,
}

impl Asked {
    pub(crate) fn new(index: Index) -> Asked {
        let index = Arc::new(index);
        let config = AnalysisConfig { stemmer: "none".to_owned(), ..AnalysisConfig::default() };
        let analyzer = Analyzer::build(&config).expect("analysis without a stemmer");
        let searcher =
            Searcher::new(Arc::clone(&index), analyzer, query::Config::default(), Vec::new())
                .expect("dates are not asked for");
        Asked { index, searcher }
    }

    /// All queries to this undamaged index.
    pub(crate) fn questions(&self) -> Vec<Question> {
        let mut questions = vec![Question::Totals];
        for text in QUERIES {
            let query = parse(text).expect("a query");
            let answer = self.searcher.search(&query, 0, RESULTS).expect("answered");
            questions.extend(
                answer
                    .hits
                    .last()
                    .map(|hit| Question::Explain(query.clone(), hit.segment, hit.doc)),
            );
            questions.push(Question::Search(query));
        }
        for segment in 0..self.index.segments().len() {
            questions.extend(OF_SEGMENT.map(|of_segment| Question::Segment(segment, of_segment)));
        }
        questions
    }

    /// The answer, as a number.
    pub(crate) fn ask(&self, question: &Question) -> Result<u64, IndexError> {
        let mut sum = Hasher::new();
        match question {
            Question::Totals => self.totals(&mut sum),
            Question::Search(query) => match self.searcher.search(query, 0, RESULTS) {
                Ok(answer) => {
                    answer.total.hash(&mut sum);
                    for hit in answer.hits {
                        (hit.segment, hit.doc, hit.score.to_bits()).hash(&mut sum);
                    }
                }
                Err(error) => return refused(error),
            },
            Question::Explain(query, segment, doc) => {
                match self.searcher.explain(query, *segment, *doc) {
                    Ok(explanation) => explanation.to_string().hash(&mut sum),
                    Err(error) => return refused(error),
                }
            }
            Question::Segment(number, (_, ask)) => {
                if let Some(segment) = self.index.segments().get(*number) {
                    ask(segment, &mut sum)?;
                }
            }
        }
        Ok(sum.finish())
    }

    /// Verifies the consistency of the files.
    pub(crate) fn verify(&self) -> Result<(), IndexError> {
        self.index.verify()
    }

    fn totals(&self, sum: &mut Hasher) {
        let index = &self.index;
        (index.generation(), index.source(), index.doc_count(), index.live_count()).hash(sum);
        for segment in index.segments() {
            (segment.doc_count(), segment.term_count(), segment.posting_count()).hash(sum);
            (segment.deleted_count(), segment.has_positions()).hash(sum);
            Field::ALL.map(|field| segment.length_total(field)).hash(sum);
        }
    }
}

/// Returns an error of the index. Other errors are answers of a forged manifest.
fn refused(error: QueryError) -> Result<u64, IndexError> {
    match error {
        QueryError::Index(error) => Err(error),
        QueryError::NoPositions { .. } | QueryError::NoSuchDocument { .. } => Ok(NO_ANSWER),
        error => panic!("a query that was answered before: {error}"),
    }
}

fn terms(segment: &Segment, sum: &mut Hasher) -> Result<(), IndexError> {
    for field in Field::ALL {
        for prefix in PREFIXES {
            for (term, doc_frequency) in segment.terms(field, prefix)? {
                assert!(term.starts_with(prefix), "only what was asked for");
                (term, doc_frequency).hash(sum);
            }
        }
    }
    segment.term_bytes()?.hash(sum);
    Ok(())
}

fn lists(segment: &Segment, sum: &mut Hasher) -> Result<(), IndexError> {
    for field in Field::ALL {
        for (term, _) in segment.terms(field, "")? {
            walk(segment, field, &term, 1, sum)?;
        }
    }
    Ok(())
}

fn find(segment: &Segment, sum: &mut Hasher) -> Result<(), IndexError> {
    for field in Field::ALL {
        for term in WORDS.into_iter().chain(["", "site::a.example", "nowhere", "kak", "zzzz"]) {
            segment.doc_frequency(field, term)?.hash(sum);
            walk(segment, field, term, 60, sum)?;
        }
    }
    Ok(())
}

/// Walks through a list by steps of the given size, without trust in its contents.
fn walk(
    segment: &Segment,
    field: Field,
    term: &str,
    stride: u32,
    sum: &mut Hasher,
) -> Result<(), IndexError> {
    let Some(mut postings) = segment.postings(field, term)? else { return Ok(()) };
    (postings.doc_frequency(), postings.total_frequency()).hash(sum);
    let mut positions = Vec::new();
    while postings.doc() != END {
        let doc = postings.doc();
        assert!(doc.0 < segment.doc_count(), "only documents that the segment has");
        postings.positions(&mut positions);
        assert!(positions.is_sorted());
        (
            doc,
            postings.frequency(),
            postings.block_maximum().map(|maximum| maximum.bound(1.0).to_bits()),
        )
            .hash(sum);
        positions.hash(sum);
        let next = match stride {
            1 => postings.next_doc(),
            stride => postings.skip_to(DocId(doc.0.saturating_add(stride))),
        };
        assert!(next > doc, "only forward");
    }
    assert_eq!((postings.next_doc(), postings.frequency()), (END, 0));
    for list in segment.lists(&[(field, term)])?.into_iter().flatten() {
        let champions = list.champions();
        champions
            .map(|all| all.iter().map(|one| (one.doc, one.frequency)).collect::<Vec<_>>())
            .hash(sum);
    }
    Ok(())
}

fn numbers(segment: &Segment, sum: &mut Hasher) -> Result<(), IndexError> {
    segment.each_list(|numbers| (&numbers.gaps, &numbers.frequencies, &numbers.positions).hash(sum))
}

fn records(segment: &Segment, sum: &mut Hasher) -> Result<(), IndexError> {
    for doc in (0..segment.doc_count()).step_by(25).take(100) {
        segment.record(DocId(doc))?.hash(sum);
    }
    segment.each_record(|doc, record| (doc, record).hash(sum))
}

fn documents(segment: &Segment, sum: &mut Hasher) -> Result<(), IndexError> {
    let deleted = segment.deleted()?;
    for field in Field::ALL {
        let lengths = segment.lengths(field)?;
        for doc in (0..segment.doc_count()).map(DocId) {
            (lengths.get(doc), segment.length(field, doc), deleted.contains(doc)).hash(sum);
        }
    }
    Ok(())
}
