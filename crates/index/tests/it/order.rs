//! Bisection gives the same index as adding the documents in that order.

use crate::contents::{Contents, Doc, build, contents_of, random_docs, segment_files, write_docs};
use index::{Config, DocOrder, Index, MergePolicy};

fn bisected(memory_bytes: usize) -> Config {
    Config { memory_bytes, order: DocOrder::Bisection, ..Config::default() }
}

/// Documents with a number as URL.
fn numbered(seed: u64, count: u32) -> Vec<Doc> {
    let mut docs = random_docs(seed, count, 60);
    for (number, doc) in docs.iter_mut().enumerate() {
        doc.record.url = number.to_string();
    }
    docs
}

#[test]
fn reordered_documents_match_adding_them_in_order() {
    let docs = numbered(5, 300);
    let mut orders = Vec::new();
    for memory_bytes in [0, 8 << 10, 256 << 20] {
        let dir = tempfile::tempdir().expect("a folder");
        write_docs(dir.path(), &bisected(memory_bytes), &docs, "bisected").expect("built");
        let index = Index::open(dir.path()).expect("opens");
        index.verify().expect("whole");
        let contents = Contents::read(&index).expect("reads");
        let order: Vec<usize> =
            contents.records.iter().map(|record| record.url.parse().expect("a number")).collect();
        // Without memory, no term is used.
        assert_eq!(order.is_sorted(), memory_bytes == 0);
        let ordered: Vec<Doc> = order.iter().map(|&number| docs[number].clone()).collect();
        assert_eq!(contents, Contents::of(&ordered));
        let fresh = tempfile::tempdir().expect("a folder");
        build(fresh.path(), 256 << 20, &ordered, "");
        assert_eq!(segment_files(dir.path()), segment_files(fresh.path()));
        orders.push(order);
    }
    // With little memory, only the most frequent terms are used.
    assert_ne!(orders[1], orders[2]);
}

#[test]
fn bisection_shrinks_topic_lists() {
    let topic = |number: u32| (number.wrapping_mul(2_654_435_761) >> 16) % 16;
    let docs: Vec<Doc> = (0..4000)
        .map(|number| {
            let mut doc = Doc::default();
            for term in (0..12).filter(|term| (number + term) % 3 != 0) {
                let term = format!("t{}-{term}", topic(number));
                doc.terms.push((index::Field::Body, term, 0));
            }
            doc
        })
        .collect();
    let bytes = |config: &Config| {
        let dir = tempfile::tempdir().expect("a folder");
        write_docs(dir.path(), config, &docs, "").expect("built");
        let sizes = Index::open(dir.path()).expect("opens").segments()[0].sizes();
        sizes.docs
    };
    let (url, bisection) = (bytes(&Config::default()), bytes(&bisected(64 << 20)));
    assert!(2 * bisection < url, "{bisection} of {url} bytes");
}

#[test]
fn indexes_of_any_size_can_be_ordered() {
    for docs in [vec![], numbered(1, 1), numbered(2, 17), vec![Doc::default(); 40]] {
        let dir = tempfile::tempdir().expect("a folder");
        write_docs(dir.path(), &bisected(1 << 20), &docs, "").expect("built");
        assert_eq!(contents_of(dir.path()).expect("reads").records.len(), docs.len());
    }
    let docs = numbered(3, 300);
    let dir = tempfile::tempdir().expect("a folder");
    let never = Config { merge: MergePolicy::Never, ..bisected(66 << 10) };
    write_docs(dir.path(), &never, &docs, "").expect("built");
    let index = Index::open(dir.path()).expect("opens");
    assert!(index.segments().len() > 1);
    index.verify().expect("whole");
    assert_eq!(index.live_count(), 300);
}
