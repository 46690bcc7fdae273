//! Added documents, deleted ones and merges: under every policy the index has the right contents.

use crate::commits::names;
use crate::contents::{Contents, Doc, Random, build, random_docs, segment_files};
use index::{Config, DocId, Index, IndexError, IndexWriter, MergePolicy};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const POLICIES: [MergePolicy; 3] = [MergePolicy::One, MergePolicy::Tiered, MergePolicy::Never];

fn config(merge: MergePolicy, memory_bytes: usize) -> Config {
    Config { merge, memory_bytes, ..Config::default() }
}

/// Contents of the index without deleted documents, renumbered.
fn live_contents(index: &Index) -> Contents {
    let all = Contents::read(index).expect("reads");
    let mut places = BTreeMap::new();
    let (mut base, mut live) = (0, Contents::default());
    for segment in index.segments() {
        let deleted = segment.deleted().expect("reads");
        let mut left = Vec::new();
        segment.each_record(|doc, record| left.push((doc, record.clone()))).expect("reads");
        for doc in (0..segment.doc_count()).filter(|&doc| !deleted.contains(DocId(doc))) {
            places.insert(base + doc, u32::try_from(places.len()).expect("few"));
            live.records.push(segment.record(DocId(doc)).expect("reads"));
            live.lengths.push(all.lengths[(base + doc) as usize]);
            live.peaks.push(all.peaks[(base + doc) as usize]);
        }
        let expected = &live.records[live.records.len() - left.len()..];
        assert!(left.iter().map(|(_, record)| record).eq(expected));
        assert_eq!((segment.doc_count() - segment.deleted_count()) as usize, left.len());
        base += segment.doc_count();
    }
    assert_eq!(index.live_count(), live.records.len() as u64);
    for (key, list) in all.lists {
        let moved = list.into_iter().filter_map(|(doc, at)| Some((*places.get(&doc)?, at)));
        let moved: Vec<_> = moved.collect();
        if !moved.is_empty() {
            live.lists.insert(key, moved);
        }
    }
    live
}

/// Segments and numbers of the live documents of an index.
fn live_places(dir: &Path) -> Vec<(usize, DocId)> {
    let index = Index::open(dir).expect("opens");
    let mut places = Vec::new();
    for (number, segment) in index.segments().iter().enumerate() {
        segment.each_record(|doc, _| places.push((number, doc))).expect("reads");
    }
    places
}

/// Deletes the live documents with the indexes `gone`, and adds others.
fn update(dir: &Path, config: &Config, gone: &[usize], added: &[Doc]) -> Result<u64, IndexError> {
    let places = live_places(dir);
    let mut writer = IndexWriter::update(dir, config)?;
    for &place in gone {
        let (segment, doc) = places[place];
        writer.delete(segment, doc)?;
    }
    for doc in added {
        writer.add(&doc.record)?;
        for (field, term, position) in &doc.terms {
            writer.term(*field, term, *position);
        }
    }
    writer.commit("updated")
}

#[test]
fn an_index_holds_the_remaining_documents_after_any_updates() {
    for (seed, policy) in (1..).zip(POLICIES) {
        let dir = tempfile::tempdir().expect("a folder");
        let mut random = Random(seed);
        let mut left = random_docs(seed, 120, 12);
        // Little memory, so that a commit may start with several segments.
        let config = config(policy, 8 << 10);
        build(dir.path(), 1 << 20, &left, "first");
        let mut segments_max = 0;
        for round in 0..25 {
            let chance = 1 + random.below(40);
            let gone: Vec<usize> =
                (0..left.len()).filter(|_| random.below(chance.max(2)) == 0).collect();
            let added = random_docs(seed * 100 + round, random.below(30), 12);
            let generation = update(dir.path(), &config, &gone, &added).expect("updated");
            let mut place = 0;
            left.retain(|_| {
                place += 1;
                !gone.contains(&(place - 1))
            });
            left.extend(added);
            let expected = Contents::of(&left);
            let index = Index::open(dir.path()).expect("opens");
            assert_eq!((index.generation(), index.source()), (generation, "updated"));
            assert_eq!(live_contents(&index), expected, "{policy:?} {round} committed");
            let merged = index::merge(dir.path(), &config).expect("merged");
            let index = Index::open(dir.path()).expect("opens");
            assert_eq!(index.generation(), generation + u64::from(merged.is_some()));
            assert_eq!(index.source(), "updated");
            index.verify().expect("whole");
            assert_eq!(live_contents(&index), expected, "{policy:?} {round} merged");
            assert_eq!(index::merge(dir.path(), &config).expect("looked at"), None);
            segments_max = segments_max.max(index.segments().len());
            if policy == MergePolicy::One && !left.is_empty() {
                let fresh = tempfile::tempdir().expect("a folder");
                build(fresh.path(), 1 << 20, &left, "");
                assert_eq!(segment_files(dir.path()), segment_files(fresh.path()), "{round}");
            }
        }
        let few = match policy {
            MergePolicy::One => 1..=1,
            MergePolicy::Tiered => 2..=15,
            MergePolicy::Never => 30..=200,
        };
        assert!(few.contains(&segments_max), "{policy:?}: {segments_max}");
    }
}

#[test]
fn a_wholly_deleted_segment_is_removed() {
    for policy in [MergePolicy::One, MergePolicy::Tiered] {
        let dir = tempfile::tempdir().expect("a folder");
        let docs = random_docs(1, 20, 8);
        build(dir.path(), 1 << 20, &docs, "first");
        let all: Vec<usize> = (0..docs.len()).collect();
        update(dir.path(), &config(policy, 1 << 20), &all, &[]).expect("updated");
        let index = Index::open(dir.path()).expect("opens");
        assert_eq!((index.segments().len(), index.live_count()), (1, 0));
        index::merge(dir.path(), &config(policy, 1 << 20)).expect("merged").expect("something");
        let index = Index::open(dir.path()).expect("opens");
        assert_eq!((index.segments().len(), index.live_count()), (0, 0));
        update(dir.path(), &config(policy, 1 << 20), &[], &docs[..3]).expect("updated");
        let index = Index::open(dir.path()).expect("opens");
        assert_eq!(live_contents(&index), Contents::of(&docs[..3]));
    }
}

#[test]
fn a_reader_keeps_its_snapshot_during_deletions_and_merges() {
    let dir = tempfile::tempdir().expect("a folder");
    let docs = random_docs(1, 100, 8);
    build(dir.path(), 1 << 20, &docs, "first");
    let one = config(MergePolicy::One, 1 << 20);
    let never = config(MergePolicy::Never, 1 << 20);
    let first = Index::open(dir.path()).expect("opens");
    update(dir.path(), &never, &[3, 50], &[]).expect("updated");
    let second = Index::open(dir.path()).expect("opens");
    update(dir.path(), &never, &[0, 1], &docs[..2]).expect("updated");
    index::merge(dir.path(), &one).expect("merged").expect("something");
    // The next writer removes files that are no longer named.
    drop(IndexWriter::update(dir.path(), &one).expect("begun"));
    assert_eq!(names(dir.path()), ["lock", "manifest", "segment-4-0"]);
    assert_eq!(live_contents(&first), Contents::of(&docs));
    let mut left = docs.clone();
    left.remove(50);
    left.remove(3);
    assert_eq!(live_contents(&second), Contents::of(&left));
    left.drain(..2);
    left.extend_from_slice(&docs[..2]);
    assert_eq!(live_contents(&Index::open(dir.path()).expect("opens")), Contents::of(&left));
}

#[test]
fn only_old_tombstones_are_removed() {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 1 << 20, &random_docs(1, 100, 8), "first");
    let never = config(MergePolicy::Never, 1 << 20);
    for expected in [["tombstones-2"], ["tombstones-3"], ["tombstones-4"]] {
        update(dir.path(), &never, &[0], &[]).expect("updated");
        drop(IndexWriter::update(dir.path(), &never).expect("begun"));
        let mut left = names(&dir.path().join("segment-1-0"));
        left.retain(|name| name.starts_with("tombstones"));
        assert_eq!(left, expected);
    }
}

#[test]
fn a_flipped_tombstone_bit_restores_no_document() {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 1 << 20, &random_docs(1, 30, 8), "first");
    update(dir.path(), &config(MergePolicy::Never, 1 << 20), &[4, 7], &[]).expect("updated");
    let path = dir.path().join("segment-1-0/tombstones-2");
    let sound = fs::read(&path).expect("reads");
    for at in 0..sound.len() {
        for bit in 0..8 {
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << bit;
            fs::write(&path, &bytes).expect("written");
            let opened = Index::open(dir.path());
            let told = opened.and_then(|index| index.segments()[0].deleted().map(|_| ()));
            assert!(
                matches!(told, Err(IndexError::Damaged { .. } | IndexError::Version { .. })),
                "byte {at}, bit {bit}: {told:?}"
            );
        }
    }
    fs::write(&path, &sound[..sound.len() - 1]).expect("written");
    assert!(Index::open(dir.path()).is_err());
    fs::remove_file(&path).expect("removed");
    assert!(Index::open(dir.path()).is_err());
}

/// If the manifest is unreadable, the generation follows from the names of files.
#[test]
fn a_delete_only_generation_number_is_not_reused() {
    let dir = tempfile::tempdir().expect("a folder");
    let docs = random_docs(1, 30, 8);
    build(dir.path(), 1 << 20, &docs, "first");
    let never = config(MergePolicy::Never, 1 << 20);
    for expected in 2..5 {
        assert_eq!(update(dir.path(), &never, &[0], &[]).expect("updated"), expected);
    }
    fs::write(dir.path().join("manifest"), "nothing").expect("written");
    assert_eq!(build(dir.path(), 1 << 20, &docs, "second"), 5);
}

#[test]
fn deleting_a_missing_document_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let config = Config::default();
    assert!(matches!(
        IndexWriter::update(&dir.path().join("none"), &config).err(),
        Some(IndexError::NotAnIndex { .. })
    ));
    build(dir.path(), 1 << 20, &random_docs(1, 3, 8), "first");
    let mut writer = IndexWriter::update(dir.path(), &config).expect("begun");
    for (segment, doc) in [(0, 3), (1, 0), (0, u32::MAX)] {
        let error = writer.delete(segment, DocId(doc)).expect_err("was never there");
        assert!(matches!(error, IndexError::Misuse { .. }), "{error}");
    }
    writer.delete(0, DocId(2)).expect("deleted");
    writer.delete(0, DocId(2)).expect("deleted already");
    writer.commit("").expect("committed");
    assert_eq!(Index::open(dir.path()).expect("opens").live_count(), 2);
}
