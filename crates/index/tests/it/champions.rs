//! The champions of a list are its best documents, and are missing if there is no clear winner.

use std::cmp::Ordering;
use std::fs;

use crate::contents::{Doc, Random, build};
use crate::envelope::{body, path_of, replace_body};
use index::{Champions, Field, Index};

/// The frequency of "x" in a document, and the length of the document.
type Shape = (u32, u32);

fn doc((frequency, length): Shape) -> Doc {
    let words = (0..length).map(|at| if at < frequency { "x" } else { "y" });
    let terms = (0..).zip(words).map(|(at, word)| (Field::Body, word.to_owned(), at));
    Doc { terms: terms.collect(), ..Doc::default() }
}

/// The first ten by *f* / (½ + ½ · length / average), unless a different document nearly ties with the last of
/// them.
fn expected(shapes: &[Shape]) -> Option<Vec<(u32, u32)>> {
    let total: u32 = shapes.iter().map(|shape| shape.1).sum();
    let count = u32::try_from(shapes.len()).expect("few");
    let average = f64::from(total) / f64::from(count);
    let measure = |shape: Shape| f64::from(shape.0) / (0.5 + 0.5 * f64::from(shape.1) / average);
    let mut ranked: Vec<(u32, Shape)> =
        (0..).zip(shapes.iter().copied()).filter(|(_, shape)| shape.0 > 0).collect();
    ranked.sort_by(|a, b| {
        measure(b.1).partial_cmp(&measure(a.1)).unwrap_or(Ordering::Equal).then(a.0.cmp(&b.0))
    });
    let (best, others) = ranked.split_at_checked(Champions::COUNT)?;
    let last = best.last()?.1;
    let ties = |shape: Shape| shape != last && measure(shape) >= measure(last) * (1.0 - 1e-6);
    let told = best.iter().all(|(_, shape)| shape.0 < 4096);
    let decided = ranked.len() >= 256 && told && !others.iter().any(|other| ties(other.1));
    decided.then(|| best.iter().map(|&(doc, shape)| (doc, shape.0)).collect())
}

fn check(shapes: &[Shape]) -> bool {
    let dir = tempfile::tempdir().expect("a folder");
    let docs: Vec<Doc> = shapes.iter().map(|&shape| doc(shape)).collect();
    build(dir.path(), 256 << 20, &docs, "test");
    let index = Index::open(dir.path()).expect("opened");
    let segment = &index.segments()[0];
    segment.verify().expect("sound");
    let lists = segment.lists(&[(Field::Body, "x")]).expect("found");
    let champions = lists[0].expect("there").champions();
    let found: Option<Vec<_>> =
        champions.map(|all| all.iter().map(|one| (one.doc, one.frequency)).collect());
    assert_eq!(found, expected(shapes));
    found.is_some()
}

#[test]
fn the_best_documents_of_long_lists_are_their_champions() {
    let mut random = Random(11);
    let mut decided = 0;
    for round in 0..60 {
        let (count, most) = (200 + random.below(900), 2 + random.below(30));
        let shapes: Vec<Shape> = (0..count)
            .map(|_| {
                let length = 1 + random.below(if round % 2 == 0 { 8 } else { 300 });
                (random.below(most.min(length + 1)), length)
            })
            .collect();
        decided += u32::from(check(&shapes));
    }
    assert!(decided > 20, "{decided}");
}

#[test]
fn equal_champions_keep_document_order() {
    assert!(check(&[(1, 3); 300]));
    assert!(!check(&[(1, 3); 255]));
}

#[test]
fn different_documents_with_equal_scores_have_no_champions() {
    // With average 4, a frequency of 2 in 8 words has the same measure as 1 in 2: 4/3.
    let mut shapes = vec![(1, 4); 300];
    shapes[..9].fill((3, 4));
    shapes[20..24].fill((1, 2));
    shapes[40..42].fill((2, 8));
    let total: u32 = shapes.iter().map(|shape| shape.1).sum();
    assert_eq!(total, 4 * 300);
    assert!(!check(&shapes));
}

#[test]
fn too_many_occurrences_have_no_champions() {
    let mut shapes = vec![(1, 3); 300];
    shapes[7] = (4095, 4100);
    assert!(check(&shapes));
    shapes[7] = (4096, 4100);
    assert!(!check(&shapes));
}

#[test]
fn wrong_champions_are_detected() {
    let dir = tempfile::tempdir().expect("a folder");
    let docs: Vec<Doc> = (0..300).map(|number| doc((1 + number % 7, 9))).collect();
    build(dir.path(), 256 << 20, &docs, "test");
    let mut body = body(&fs::read(path_of(dir.path(), "skips")).expect("is there")).to_vec();
    // The last list is that of "y". Its last champion is at the end of the file.
    let last = body.len() - 3;
    body[last] ^= 1;
    replace_body(dir.path(), "skips", &body);
    let verified = Index::open(dir.path()).and_then(|index| index.verify());
    let told = verified.expect_err("another champion").to_string();
    assert!(told.contains("champions"), "{told}");
}
