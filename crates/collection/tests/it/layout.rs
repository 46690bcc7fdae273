//! The lock of a collection, and the folders that are no collection.

use collection::{Collection, CollectionError};

#[test]
fn a_collection_has_one_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let collection = Collection::create(folder.path()).expect("a collection");
    let lock = collection.lock("index").expect("free");
    let error = collection.lock("index").expect_err("taken");
    let CollectionError::Busy { writer: Some(writer), .. } = &error else { panic!("{error:?}") };
    assert_eq!((writer.command.as_str(), writer.process), ("index", std::process::id()));
    let error = error.to_string();
    let me = format!(
        "in use by another crivello process: `crivello index`, process {}",
        std::process::id()
    );
    assert!(error.contains(&me), "{error}");
    let writer = collection.writer().expect("it is locked");
    assert_eq!((writer.command.as_str(), writer.process), ("index", std::process::id()));
    drop(lock);
    assert_eq!(collection.writer(), None);
    // A killed process leaves its name in the lock file.
    std::fs::write(collection.root().join(".lock"), "crawl 1\n").expect("written");
    assert_eq!(collection.writer(), None);
    collection.lock("index").expect("free again");
}

#[test]
fn a_non_collection_folder_is_reported_with_a_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = Collection::open(folder.path()).expect_err("empty").to_string();
    assert!(error.contains("crivello init"), "{error}");
}
