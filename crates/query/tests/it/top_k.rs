//! The bounded heap against a full sort.

use index::DocId;
use proptest::collection::vec;
use proptest::prelude::*;
use query::{Hit, TopK};

fn best(hits: &[Hit], offset: usize, k: usize) -> Vec<Hit> {
    let mut top = TopK::new(offset + k);
    for &hit in hits {
        top.offer(hit);
    }
    top.into_hits(offset)
}

proptest! {
    #[test]
    fn result_pages_are_slices_of_the_sorted_results(
        scores in vec((0..3_usize, 0..4_u8), 0..60),
        rotation in 0..60_usize,
        offset in 0..20_usize,
        k in 0..20_usize,
    ) {
        let mut hits: Vec<Hit> = (0..)
            .zip(&scores)
            .map(|(doc, &(segment, score))| Hit { segment, doc: DocId(doc), score: f64::from(score) / 3.0 })
            .collect();
        let mut expected = hits.clone();
        expected.sort_by(|a, b| {
            (b.score, a.segment, a.doc).partial_cmp(&(a.score, b.segment, b.doc)).expect("no NaN")
        });
        let rotation = rotation.min(hits.len());
        hits.rotate_left(rotation);
        let expected_page: Vec<Hit> = expected.iter().copied().skip(offset).take(k).collect();
        prop_assert_eq!(best(&hits, offset, k), expected_page);
        let mut two_pages = best(&hits, 0, offset);
        two_pages.extend(best(&hits, offset, k));
        prop_assert_eq!(two_pages, best(&hits, 0, offset + k));
    }
}

#[test]
fn a_huge_page_costs_only_its_hits() {
    let mut top = TopK::new(usize::MAX);
    top.offer(Hit { segment: 0, doc: DocId(1), score: 1.0 });
    assert_eq!(top.into_hits(0).len(), 1);
}
