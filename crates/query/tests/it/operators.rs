//! Every operator against sorted vectors, over random walks of `next_doc` and `skip_to`, and the number of moves of
//! its lists. Windows and nested operators are in `windows.rs`.

mod windows;

use std::cell::Cell;
use std::collections::BTreeMap;

use index::{DocId, DocIterator, END, Frequencies, Positions};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use query::operators::{All, And, AndNot, Not, Or, Phrase};

/// A posting list: document → positions. Its `skip_to` is the slow default.
struct Listed {
    postings: Vec<(u32, Vec<u32>)>,
    at: usize,
}

impl Listed {
    fn of(docs: &[u32]) -> Listed {
        let mut docs = docs.to_vec();
        docs.sort_unstable();
        docs.dedup();
        Listed { postings: docs.into_iter().map(|doc| (doc, Vec::new())).collect(), at: 0 }
    }

    fn docs(&self) -> Vec<u32> {
        self.postings.iter().map(|&(doc, _)| doc).collect()
    }
}

impl DocIterator for Listed {
    fn doc(&self) -> DocId {
        self.postings.get(self.at).map_or(END, |&(doc, _)| DocId(doc))
    }

    fn next_doc(&mut self) -> DocId {
        self.at += 1;
        self.doc()
    }
}

impl Frequencies for Listed {
    fn frequency(&mut self) -> u32 {
        let count = self.postings.get(self.at).map_or(0, |(_, positions)| positions.len());
        u32::try_from(count).expect("a short list")
    }
}

impl Positions for Listed {
    fn positions(&mut self, out: &mut Vec<u32>) {
        out.clear();
        out.extend(self.postings.get(self.at).iter().flat_map(|(_, positions)| positions));
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Next,
    SkipTo(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => Just(Step::Next),
        3 => (0..70_u32).prop_map(Step::SkipTo),
        1 => Just(Step::SkipTo(u32::MAX)),
    ]
}

/// Walks, then runs to the end. Calls `visit` on every document.
fn check_walk<I: DocIterator>(
    mut subject: I,
    expected: &[u32],
    steps: &[Step],
    mut visit: impl FnMut(&mut I),
) {
    let mut rest = expected;
    let front = |rest: &[u32]| rest.first().map_or(END, |&doc| DocId(doc));
    assert_eq!(subject.doc(), front(rest));
    visit(&mut subject);
    let to_the_end = vec![Step::Next; expected.len() + 2];
    for step in steps.iter().chain(&to_the_end) {
        let got = match *step {
            Step::Next => {
                rest = rest.get(1..).unwrap_or_default();
                subject.next_doc()
            }
            Step::SkipTo(target) => {
                rest = &rest[rest.partition_point(|&doc| doc < target)..];
                subject.skip_to(DocId(target))
            }
        };
        assert_eq!(got, front(rest), "after {step:?}");
        assert_eq!(subject.doc(), got);
        visit(&mut subject);
    }
    assert_eq!(subject.doc(), END);
}

fn docs() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![vec(0..64_u32, 0..60), vec(0..64_u32, 0..4)]
}

fn size(list: &Listed) -> u64 {
    list.postings.len() as u64
}

/// The postings of a word, with few positions so that phrases occur.
fn postings() -> impl Strategy<Value = Vec<(u32, Vec<u32>)>> {
    let positions = btree_set(0..8_u32, 1..6);
    btree_map(0..16_u32, positions, 0..14).prop_map(|postings: BTreeMap<_, _>| {
        postings.into_iter().map(|(doc, at)| (doc, at.into_iter().collect())).collect()
    })
}

proptest! {
    #[test]
    fn all_matches_every_document(count in 0..70_u32, steps in vec(step(), 0..40)) {
        check_walk(All::new(count), &(0..count).collect::<Vec<_>>(), &steps, |_| ());
    }

    #[test]
    fn and_is_intersection(lists in vec(docs(), 1..5), steps in vec(step(), 0..40)) {
        let expected: Vec<u32> =
            (0..64).filter(|doc| lists.iter().all(|list| list.contains(doc))).collect();
        let listed = lists.iter().map(|list| Listed::of(list)).collect();
        check_walk(And::new(listed, size), &expected, &steps, |and| {
            let doc = and.doc();
            assert!(doc == END || and.lists_mut().iter().all(|list| list.doc() == doc));
        });
    }

    #[test]
    fn or_is_union_and_reports_the_matching_lists(lists in vec(docs(), 0..6), steps in vec(step(), 0..40)) {
        let expected: Vec<u32> =
            (0..64).filter(|doc| lists.iter().any(|list| list.contains(doc))).collect();
        let listed = lists.iter().map(|list| Listed::of(list)).collect();
        check_walk(Or::new(listed), &expected, &steps, |or| {
            let DocId(doc) = or.doc();
            let having = |number: &usize| lists[*number].contains(&doc);
            let matched: Vec<usize> = (0..lists.len()).filter(having).collect();
            assert_eq!(or.matched(), &matched);
            or.for_each_matched(|list| assert_eq!(list.doc(), DocId(doc)));
        });
    }

    #[test]
    fn and_not_is_difference(a in docs(), b in docs(), steps in vec(step(), 0..40)) {
        let expected: Vec<u32> =
            (0..64).filter(|doc| a.contains(doc) && !b.contains(doc)).collect();
        check_walk(AndNot::new(Listed::of(&a), Listed::of(&b)), &expected, &steps, |_| ());
    }

    #[test]
    fn not_is_complement(list in docs(), count in 0..70_u32, steps in vec(step(), 0..40)) {
        let expected: Vec<u32> = (0..count).filter(|doc| !list.contains(doc)).collect();
        check_walk(Not::complement(Listed::of(&list), count), &expected, &steps, |_| ());
    }

    #[test]
    fn phrase_matches_words_at_consecutive_positions(
        words in vec((0..4_u32, postings()), 1..4),
        steps in vec(step(), 0..20),
    ) {
        let stands = |doc: u32, at: u32, postings: &[(u32, Vec<u32>)]| {
            postings.iter().any(|(d, positions)| *d == doc && positions.contains(&at))
        };
        let begins = |doc: u32, begin: u32| {
            words.iter().all(|(shift, postings)| stands(doc, begin + shift, postings))
        };
        let has_all = |doc: u32| {
            words.iter().all(|(_, postings)| postings.iter().any(|(d, _)| *d == doc))
        };
        let expected: Vec<u32> = (0..16)
            .filter(|&doc| has_all(doc) && (words.len() == 1 || (0..8).any(|at| begins(doc, at))))
            .collect();
        let listed = words
            .iter()
            .map(|(shift, postings)| (*shift, Listed { postings: postings.clone(), at: 0 }))
            .collect();
        check_walk(Phrase::new(listed, size), &expected, &steps, |_| ());
    }

    /// (a OR b) AND c AND NOT (d AND e)
    #[test]
    fn operators_can_be_nested(lists in vec(docs(), 5), steps in vec(step(), 0..40)) {
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|at| Listed::of(&lists[at]));
        let expected: Vec<u32> = (0..64)
            .filter(|doc| {
                let [a, b, c, d, e] = [&a, &b, &c, &d, &e].map(|list| list.docs().contains(doc));
                (a || b) && c && !(d && e)
            })
            .collect();
        let or: Box<dyn DocIterator> = Box::new(Or::new(vec![a, b]));
        let and = And::new(vec![or, Box::new(c)], |_| 0);
        let tree = AndNot::new(and, And::new(vec![d, e], size));
        check_walk(tree, &expected, &steps, |_| ());
    }
}

#[test]
fn and_of_nothing_is_empty() {
    check_walk(And::new(Vec::<Listed>::new(), size), &[], &[Step::SkipTo(3)], |_| ());
}

/// Counts moves.
struct Counted<'a>(All, &'a Cell<u32>);

impl DocIterator for Counted<'_> {
    fn doc(&self) -> DocId {
        self.0.doc()
    }

    fn next_doc(&mut self) -> DocId {
        self.1.set(self.1.get() + 1);
        self.0.next_doc()
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        self.1.set(self.1.get() + 1);
        self.0.skip_to(target)
    }
}

/// Any list, with its number of documents.
struct Priced<'a>(Box<dyn DocIterator + 'a>, u64);

impl DocIterator for Priced<'_> {
    fn doc(&self) -> DocId {
        self.0.doc()
    }

    fn next_doc(&mut self) -> DocId {
        self.0.next_doc()
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        self.0.skip_to(target)
    }
}

/// Next to a list of two documents, a list of a million moves twice.
#[test]
fn a_long_list_is_skipped_through() {
    let moves = Cell::new(0);
    let long = Priced(Box::new(Counted(All::new(1_000_000), &moves)), 1_000_000);
    let short = Priced(Box::new(Listed::of(&[500_000, 999_999])), 2);
    let mut and = And::new(vec![long, short], |list| list.1);
    assert_eq!(and.doc(), DocId(500_000));
    assert_eq!(moves.get(), 1, "only as far as it was asked");
    assert_eq!(and.next_doc(), DocId(999_999));
    assert_eq!(and.next_doc(), END);
    assert_eq!(moves.get(), 2);
}

/// The unwanted list moves only to documents of the wanted one.
#[test]
fn the_excluded_list_is_skipped_through() {
    let moves = Cell::new(0);
    let unwanted = Counted(All::new(1_000_000), &moves);
    let mut difference = AndNot::new(Listed::of(&[7, 999_999, 1_000_001]), unwanted);
    assert_eq!(difference.doc(), DocId(1_000_001));
    assert_eq!(difference.next_doc(), END);
    assert_eq!(moves.get(), 3);
}
