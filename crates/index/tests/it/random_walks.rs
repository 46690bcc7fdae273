//! Random walks of `next_doc`, `skip_to`, `frequency` and `positions` on a posting list, against the sorted vector
//! of its documents.

use crate::contents::{Contents, Random, build, random_docs};
use index::{DocId, DocIterator, END, Frequencies, Index, Positions, Postings};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Next,
    SkipTo(u32),
    /// Skips to the current document plus this.
    SkipBy(u32),
    Frequency,
    Positions,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Next),
        1 => (0..1100_u32).prop_map(Step::SkipTo),
        1 => Just(Step::SkipTo(u32::MAX)),
        6 => (0..400_u32).prop_map(Step::SkipBy),
        3 => Just(Step::Frequency),
        3 => Just(Step::Positions),
    ]
}

fn check_walk(mut subject: Postings<'_>, expected: &[(u32, Vec<u32>)], steps: &[Step]) {
    let mut rest = expected;
    let front = |rest: &[(u32, Vec<u32>)]| rest.first().map_or(END, |(doc, _)| DocId(*doc));
    let mut positions = vec![99];
    assert_eq!(subject.doc(), front(rest));
    for step in steps {
        let target = match *step {
            Step::SkipTo(target) => target,
            Step::SkipBy(by) => front(rest).0.saturating_add(by),
            _ => 0,
        };
        match *step {
            Step::Next => {
                rest = rest.get(1..).unwrap_or_default();
                assert_eq!(subject.next_doc(), front(rest), "after {step:?}");
            }
            Step::SkipTo(_) | Step::SkipBy(_) => {
                rest = &rest[rest.partition_point(|(doc, _)| *doc < target)..];
                assert_eq!(subject.skip_to(DocId(target)), front(rest), "after {step:?}");
            }
            Step::Frequency => {
                let expected = rest.first().map_or(0, |(_, positions)| positions.len());
                assert_eq!(subject.frequency() as usize, expected);
            }
            Step::Positions => {
                subject.positions(&mut positions);
                assert_eq!(positions, rest.first().map_or(&[][..], |(_, positions)| positions));
            }
        }
        assert_eq!(subject.doc(), front(rest));
    }
}

#[test]
fn a_walk_matches_that_of_a_vector() {
    let docs = random_docs(42, 1000, 12);
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 256 << 20, &docs, "");
    let index = Index::open(dir.path()).expect("opens");
    let lists = Contents::of(&docs).lists;
    assert!(lists.values().any(|list| list.len() > 3 * 128), "some list has many blocks");
    let lists: Vec<_> = lists.into_iter().collect();
    proptest!(ProptestConfig::with_cases(400), |(which in 0..lists.len(), steps in vec(step(), 0..60))| {
        let ((field, term), list) = &lists[which];
        let postings = index.segments()[0].postings(*field, term).expect("reads").expect("is there");
        check_walk(postings, list, &steps);
    });
}

/// Ascending targets with gaps from nothing to many blocks, on a list of every document and on a short one.
#[test]
fn skips_to_every_document_match_a_linear_scan() {
    let docs = random_docs(1, 700, 4);
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 256 << 20, &docs, "");
    let index = Index::open(dir.path()).expect("opens");
    let mut random = Random(9);
    for ((field, term), list) in Contents::of(&docs).lists {
        for target in (0..705).chain([u32::MAX - 1, u32::MAX]) {
            let mut postings =
                index.segments()[0].postings(field, &term).expect("reads").expect("is there");
            postings.skip_to(DocId(random.below(target.min(700) + 1)));
            let expected = list.iter().find(|(doc, _)| *doc >= target);
            let found = postings.skip_to(DocId(target));
            let first = postings.doc();
            assert_eq!(found, first);
            assert_eq!(found, expected.map_or(END, |(doc, _)| DocId(*doc)), "{term} {target}");
        }
    }
}
