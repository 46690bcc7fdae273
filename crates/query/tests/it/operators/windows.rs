//! Windows and random trees of operators against a naive evaluation: all combinations of intervals, reduced to the
//! minimal ones.

use std::cell::Cell;
use std::rc::Rc;

use index::{DocId, DocIterator, END, Frequencies, Positions};
use proptest::collection::vec;
use proptest::prelude::*;
use query::operators::{
    Adjacent, All, And, AndNot, Either, Forms, Interval, Intervals, Not, Occurring, Or, Ordered,
    Unordered,
};

use super::{Listed, check_walk, postings, step};

/// Documents of these tests are below this.
const DOC_COUNT: u32 = 16;

type Word = Vec<(u32, Vec<u32>)>;

/// An operand with intervals. Words are numbers.
#[derive(Debug, Clone)]
enum Shape {
    /// (shift, forms of the word).
    Words(Vec<(u32, Vec<usize>)>),
    Either(Vec<Shape>),
    Unordered(u32, Vec<Shape>),
    Ordered(u32, Vec<Shape>),
}

/// An operand with documents.
#[derive(Debug, Clone)]
enum Set {
    All,
    Occurring(Shape),
    And(Vec<Set>),
    Or(Vec<Set>),
    AndNot(Box<Set>, Box<Set>),
    Not(Box<Set>),
}

fn shape(words: usize) -> impl Strategy<Value = Shape> {
    let word = (0..3_u32, vec(0..words, 1..3));
    let leaf = vec(word, 1..3).prop_map(Shape::Words);
    leaf.prop_recursive(3, 8, 3, |inner| {
        let parts = || vec(inner.clone(), 1..4);
        prop_oneof![
            parts().prop_map(Shape::Either),
            (1..9_u32, parts()).prop_map(|(width, parts)| Shape::Unordered(width, parts)),
            (1..9_u32, parts()).prop_map(|(width, parts)| Shape::Ordered(width, parts)),
        ]
    })
}

fn set(words: usize) -> impl Strategy<Value = Set> {
    let leaf = prop_oneof![1 => Just(Set::All), 6 => shape(words).prop_map(Set::Occurring)];
    leaf.prop_recursive(4, 10, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 1..4).prop_map(Set::And),
            vec(inner.clone(), 1..4).prop_map(Set::Or),
            (inner.clone(), inner.clone())
                .prop_map(|(wanted, unwanted)| Set::AndNot(Box::new(wanted), Box::new(unwanted))),
            inner.prop_map(|unwanted| Set::Not(Box::new(unwanted))),
        ]
    })
}

/// The intervals that contain no other, in order.
fn minimal(mut all: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    all.sort_unstable();
    all.dedup();
    let contains = |a: (u32, u32), b: (u32, u32)| a != b && a.0 <= b.0 && b.1 <= a.1;
    let others = all.clone();
    all.retain(|&interval| !others.iter().any(|&other| contains(interval, other)));
    all
}

/// All combinations of one interval of each operand.
fn choices(parts: &[Vec<(u32, u32)>]) -> Vec<Vec<(u32, u32)>> {
    parts.iter().fold(vec![Vec::new()], |chosen, part| {
        let longer = |row: &Vec<(u32, u32)>| {
            let row = row.clone();
            part.iter().map(move |&interval| [&row[..], &[interval]].concat())
        };
        chosen.iter().flat_map(longer).collect()
    })
}

fn naive(shape: &Shape, words: &[Word], doc: u32) -> Vec<(u32, u32)> {
    let at = |word: usize| {
        let list = words[word].iter().find(|(of, _)| *of == doc);
        list.map_or(&[][..], |(_, positions)| positions)
    };
    let all = |parts: &[Shape]| -> Vec<Vec<(u32, u32)>> {
        parts.iter().map(|part| naive(part, words, doc)).collect()
    };
    let fits = |width: u32| move |&(first, last): &(u32, u32)| last - first < width;
    match shape {
        Shape::Words(parts) => {
            let stands =
                |place: u32, forms: &[usize]| forms.iter().any(|&it| at(it).contains(&place));
            if let [(_, forms)] = &parts[..] {
                return (0..20).filter(|&place| stands(place, forms)).map(|it| (it, it)).collect();
            }
            let starts = (0..20_u32)
                .filter(|start| parts.iter().all(|(shift, forms)| stands(start + shift, forms)));
            let shifts = || parts.iter().map(|(shift, _)| *shift);
            let reach = (shifts().min().unwrap_or(0), shifts().max().unwrap_or(0));
            starts.map(|start| (start + reach.0, start + reach.1)).collect()
        }
        Shape::Either(parts) => minimal(all(parts).concat()),
        Shape::Unordered(width, parts) => {
            let hull = |row: Vec<(u32, u32)>| {
                let first = row.iter().map(|it| it.0).min().expect("not empty");
                (first, row.iter().map(|it| it.1).max().expect("not empty"))
            };
            let hulls = choices(&all(parts)).into_iter().map(hull).collect();
            minimal(hulls).into_iter().filter(fits(*width)).collect()
        }
        Shape::Ordered(width, parts) => {
            let in_order = |row: &Vec<(u32, u32)>| row.windows(2).all(|pair| pair[0].1 < pair[1].0);
            let rows = choices(&all(parts)).into_iter().filter(in_order);
            let hulls = rows.map(|row| (row[0].0, row[row.len() - 1].1)).collect();
            minimal(hulls).into_iter().filter(fits(*width)).collect()
        }
    }
}

/// Returns whether a document is a candidate: it has all required words.
fn is_candidate(shape: &Shape, words: &[Word], doc: u32) -> bool {
    let has = |word: &usize| words[*word].iter().any(|(of, _)| *of == doc);
    match shape {
        Shape::Words(parts) => parts.iter().all(|(_, forms)| forms.iter().any(has)),
        Shape::Either(parts) => parts.iter().any(|part| is_candidate(part, words, doc)),
        Shape::Unordered(_, parts) | Shape::Ordered(_, parts) => {
            parts.iter().all(|part| is_candidate(part, words, doc))
        }
    }
}

fn contains(set: &Set, words: &[Word], doc: u32) -> bool {
    match set {
        Set::All => true,
        Set::Occurring(shape) => !naive(shape, words, doc).is_empty(),
        Set::And(sets) => sets.iter().all(|set| contains(set, words, doc)),
        Set::Or(sets) => sets.iter().any(|set| contains(set, words, doc)),
        Set::AndNot(wanted, unwanted) => {
            contains(wanted, words, doc) && !contains(unwanted, words, doc)
        }
        Set::Not(unwanted) => !contains(unwanted, words, doc),
    }
}

/// A list that counts its moves and reads.
struct Counted {
    list: Listed,
    moves: Rc<Cell<u32>>,
    readings: Rc<Cell<u32>>,
}

impl DocIterator for Counted {
    fn doc(&self) -> DocId {
        self.list.doc()
    }

    fn next_doc(&mut self) -> DocId {
        self.moves.set(self.moves.get() + 1);
        self.list.next_doc()
    }

    fn skip_to(&mut self, target: DocId) -> DocId {
        self.moves.set(self.moves.get() + u32::from(target > self.list.doc()));
        self.list.skip_to(target)
    }
}

impl Frequencies for Counted {
    fn frequency(&mut self) -> u32 {
        self.list.frequency()
    }
}

impl Positions for Counted {
    fn positions(&mut self, out: &mut Vec<u32>) {
        self.readings.set(self.readings.get() + 1);
        self.list.positions(out);
    }
}

/// Counts of moves and of reads of positions, over all lists.
#[derive(Clone, Default)]
struct Counts {
    moves: Rc<Cell<u32>>,
    readings: Rc<Cell<u32>>,
}

fn list(word: &Word, counts: &Counts) -> Counted {
    let list = Listed { postings: word.clone(), at: 0 };
    Counted { list, moves: Rc::clone(&counts.moves), readings: Rc::clone(&counts.readings) }
}

fn build(shape: &Shape, words: &[Word], counts: &Counts) -> Box<dyn Intervals> {
    let all = |parts: &[Shape]| parts.iter().map(|part| build(part, words, counts)).collect();
    match shape {
        Shape::Words(parts) => {
            let forms = |forms: &[usize]| {
                let mut forms = forms.to_vec();
                forms.dedup();
                Forms::new(
                    forms.into_iter().map(|word| list(&words[word], counts)).collect(),
                    |_| 1,
                )
            };
            let parts = parts.iter().map(|(shift, numbers)| (*shift, forms(numbers))).collect();
            Box::new(Adjacent::new(parts, |_| 0))
        }
        Shape::Either(parts) => Box::new(Either::new(all(parts))),
        Shape::Unordered(width, parts) => Box::new(Unordered::new(all(parts), *width, |_| 0)),
        Shape::Ordered(width, parts) => Box::new(Ordered::new(all(parts), *width, |_| 0)),
    }
}

fn build_set(set: &Set, words: &[Word], counts: &Counts) -> Box<dyn DocIterator> {
    let build = |set: &Set| build_set(set, words, counts);
    match set {
        Set::All => Box::new(All::new(DOC_COUNT)),
        Set::Occurring(shape) => Box::new(Occurring::of(self::build(shape, words, counts))),
        Set::And(sets) => Box::new(And::new(sets.iter().map(build).collect(), |_| 0)),
        Set::Or(sets) => Box::new(Or::new(sets.iter().map(build).collect())),
        Set::AndNot(wanted, unwanted) => Box::new(AndNot::new(build(wanted), build(unwanted))),
        Set::Not(unwanted) => Box::new(Not::complement(build(unwanted), DOC_COUNT)),
    }
}

fn words() -> impl Strategy<Value = Vec<Word>> {
    vec(postings(), 4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Candidates are the documents with all words, and their intervals are the minimal ones.
    #[test]
    fn intervals_are_minimal(words in words(), shape in shape(4), steps in vec(step(), 0..12)) {
        let candidates: Vec<u32> =
            (0..DOC_COUNT).filter(|&doc| is_candidate(&shape, &words, doc)).collect();
        check_walk(build(&shape, &words, &Counts::default()), &candidates, &steps, |intervals| {
            let DocId(doc) = intervals.doc();
            if intervals.doc() == END {
                return;
            }
            let expected = naive(&shape, &words, doc);
            intervals.begin();
            let mut found = Vec::new();
            while let Some(Interval { first, last }) = intervals.next_interval() {
                found.push((first, last));
            }
            assert_eq!(found, expected, "document {doc}");
            assert_eq!(intervals.next_interval(), None, "and from then on");
            assert_eq!(intervals.occurs(), !expected.is_empty());
        });
    }

    /// Arbitrary nesting.
    #[test]
    fn any_nested_tree_matches_the_expected_documents(words in words(), set in set(4), steps in vec(step(), 0..16)) {
        let expected: Vec<u32> =
            (0..DOC_COUNT).filter(|&doc| contains(&set, &words, doc)).collect();
        check_walk(build_set(&set, &words, &Counts::default()), &expected, &steps, |_| ());
    }

    /// If every document matches, each list moves at most once per visited document and reads its positions at most
    /// once.
    #[test]
    fn a_tree_moves_only_as_far_as_requested(set in set(2).prop_map(wide), lists in 1..3_u32) {
        let places: Vec<u32> = (0..60).collect();
        let word: Word = (0..DOC_COUNT * 10).map(|doc| (doc, places.clone())).collect();
        let (counts, asked) = (Counts::default(), lists * 5);
        let mut tree = build_set(&set, &[word.clone(), word], &counts);
        for doc in 0..asked {
            prop_assert_eq!(tree.doc(), DocId(doc));
            tree.next_doc();
        }
        let most = leaves(&set) * (asked + 1);
        prop_assert!(counts.moves.get() <= most, "{} moves, {most}", counts.moves.get());
        prop_assert!(counts.readings.get() <= most, "{} readings, {most}", counts.readings.get());
    }
}

/// Without negations, and with windows as wide as any text.
fn wide(set: Set) -> Set {
    fn widen(shape: Shape) -> Shape {
        let all = |parts: Vec<Shape>| parts.into_iter().map(widen).collect();
        match shape {
            Shape::Words(words) => Shape::Words(words),
            Shape::Either(parts) => Shape::Either(all(parts)),
            Shape::Unordered(_, parts) => Shape::Unordered(60, all(parts)),
            Shape::Ordered(_, parts) => Shape::Ordered(60, all(parts)),
        }
    }
    let all = |sets: Vec<Set>| sets.into_iter().map(wide).collect();
    match set {
        Set::All => Set::All,
        Set::Occurring(shape) => Set::Occurring(widen(shape)),
        Set::And(sets) => Set::And(all(sets)),
        Set::Or(sets) => Set::Or(all(sets)),
        Set::AndNot(wanted, _) => wide(*wanted),
        Set::Not(unwanted) => wide(*unwanted),
    }
}

/// The number of lists of a tree.
fn leaves(set: &Set) -> u32 {
    fn of_shape(shape: &Shape) -> usize {
        match shape {
            Shape::Words(words) => words.iter().map(|(_, forms)| forms.len()).sum(),
            Shape::Either(parts) | Shape::Unordered(_, parts) | Shape::Ordered(_, parts) => {
                parts.iter().map(of_shape).sum()
            }
        }
    }
    match set {
        Set::All => 0,
        Set::Occurring(shape) => u32::try_from(of_shape(shape)).expect("a small tree"),
        Set::And(sets) | Set::Or(sets) => sets.iter().map(leaves).sum(),
        Set::AndNot(wanted, unwanted) => leaves(wanted) + leaves(unwanted),
        Set::Not(unwanted) => leaves(unwanted),
    }
}

#[test]
fn forms_are_counted_as_one_word() {
    let lists = [vec![(1, vec![4, 9]), (3, vec![0])], vec![(1, vec![2, 5]), (2, vec![7])]];
    let counts = Counts::default();
    let mut forms = Forms::new(lists.iter().map(|word| list(word, &counts)).collect(), |_| 1);
    let mut positions = vec![99];
    let mut told = Vec::new();
    while forms.doc() != END {
        forms.positions(&mut positions);
        told.push((forms.doc().0, forms.frequency(), positions.clone()));
        forms.next_doc();
    }
    assert_eq!(told, [(1, 4, vec![2, 4, 5, 9]), (2, 1, vec![7]), (3, 1, vec![0])]);
}

/// A window inside a window: a thousand documents have both words of the inner one, but only the document with the
/// word of the outer one is read.
#[test]
fn positions_are_read_only_where_all_words_match() {
    let often: Word = (0..1000).map(|doc| (doc, vec![3])).collect();
    let words = [often.clone(), often, vec![(500, vec![5]), (700, vec![6])]];
    let shape = |inner: fn(u32, Vec<Shape>) -> Shape, outer: fn(u32, Vec<Shape>) -> Shape| {
        let word = |number: usize| Shape::Words(vec![(0, vec![number])]);
        outer(4, vec![inner(2, vec![word(0), word(1)]), word(2)])
    };
    // The words of the inner window are at the same position, so the ordered window has no interval; then the third
    // word is not read.
    for (shape, expected, readings) in [
        (shape(Shape::Unordered, Shape::Unordered), Some(500), 3),
        (shape(Shape::Unordered, Shape::Ordered), Some(500), 3),
        (shape(Shape::Ordered, Shape::Unordered), None, 4),
    ] {
        let counts = Counts::default();
        let mut found = Occurring::of(build(&shape, &words, &counts));
        assert_eq!(found.doc(), expected.map_or(END, DocId), "{shape:?}");
        assert_eq!(counts.readings.get(), readings, "{shape:?}");
        found.skip_to(DocId(701));
        assert_eq!(counts.readings.get(), readings, "{shape:?}");
    }
}
