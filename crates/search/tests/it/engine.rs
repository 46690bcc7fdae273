//! Results, copies and suggestions of an engine, with and without the page table.

use collection::Collection;
use search::{Engine, SearchError};

use crate::small::{Small, search};

const GARDENS: [(&str, &str); 3] = [
    ("http://a.test/", "<title>Gardens one</title><p>Gardening with <em>rosemary</em> and thyme."),
    (
        "http://b.test/",
        "<title>Gardens two</title><p>A wall of rosemary<script>x()</script> is warm.",
    ),
    ("http://c.test/", "<title>Gardens three</title><p>Winter is for reading."),
];

#[test]
fn a_result_has_a_title_a_snippet_and_a_copy() {
    let small = Small::of(&GARDENS);
    let engine = small.open();
    assert_eq!(engine.document_count(), 3);
    let results = search(&engine, "thyme");
    assert_eq!((results.total, results.partial, results.suggestion.is_none()), (1, false, true));
    let [found] = &results.hits[..] else { panic!("{results:?}") };
    let text = |pieces: &[query::Piece]| -> String {
        pieces.iter().map(|piece| piece.text.as_str()).collect()
    };
    assert_eq!((found.url.as_str(), found.cached), ("http://a.test/", true));
    assert_eq!(text(&found.title), "Gardens one");
    assert_eq!(text(&found.snippet), "Gardening with rosemary and thyme.");
}

#[test]
fn a_copy_has_no_scripts() {
    let small = Small::of(&GARDENS);
    let mut copy = small.open().copy("http://b.test/").expect("readable").expect("a copy");
    assert_eq!(copy.content_type, "text/html; charset=utf-8");
    let (mut html, mut is_over) = (Vec::new(), false);
    while !is_over {
        html.extend(copy.piece(&mut is_over).expect("decoded"));
    }
    let html = String::from_utf8(html).expect("UTF-8");
    assert!(html.contains("A wall of rosemary is warm."), "{html}");
    assert!(small.open().copy("http://d.test/").expect("readable").is_none());
}

/// Without the rows of the page table, suggestions come from titles and terms.
#[test]
fn suggestions_are_given_without_texts() {
    let small = Small::of(&GARDENS);
    std::fs::remove_dir_all(small.collection.pages_dir()).expect("removed");
    let results = search(&small.open(), "gardnes");
    assert_eq!(results.suggestion.map(|meant| meant.query).as_deref(), Some("gardens"));
    assert!(results.notes[0].starts_with("No snippets and no copies: "), "{:?}", results.notes);
}

#[test]
fn searching_a_collection_without_an_index_fails() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let collection = Collection::create(folder.path()).expect("a collection");
    let refused = Engine::open(&collection, query::Config::default());
    assert!(matches!(refused, Err(SearchError::NoIndex)));
}
