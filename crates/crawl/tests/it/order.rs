//! Both orders of visit against a sorted list.

use crawl::{BreadthFirst, ShallowFirst, VisitOrder, Waiting};
use proptest::prelude::*;

/// Pushes and pops as told; whatever comes out is the first of the smallest `rank`.
fn check(mut subject: impl VisitOrder, rank: impl Fn(&Waiting) -> usize, steps: &[Option<String>]) {
    let mut model: Vec<Waiting> = Vec::new();
    for step in steps {
        if let Some(path) = step {
            subject.push(Waiting::new(path));
            model.push(Waiting::new(path));
        } else {
            let first = model.iter().enumerate().min_by_key(|(at, page)| (rank(page), *at));
            let first = first.map(|(at, _)| at);
            assert_eq!(subject.pop(), first.map(|at| model.remove(at)));
        }
        assert_eq!((subject.len(), subject.is_empty()), (model.len(), model.is_empty()));
    }
}

proptest! {
    #[test]
    fn orders_are_what_they_say(
        steps in prop::collection::vec(prop::option::of("(/[ab]{0,2}){1,4}(\\?x=/)?"), 0..60),
    ) {
        check(BreadthFirst::default(), |_| 0, &steps);
        check(ShallowFirst::default(), Waiting::levels, &steps);
    }
}

#[test]
fn levels_of_a_path() {
    let levels = |path| Waiting::new(path).levels();
    assert_eq!(["/", "/a", "/a/", "/a/b", "/a?b=/c/d"].map(levels), [1, 1, 2, 2, 1]);
}
