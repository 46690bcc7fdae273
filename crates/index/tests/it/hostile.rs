//! Files with valid checksums and wrong contents. Nothing panics or loops forever. If `verify` succeeds, every
//! query has an answer, and the answers are consistent.

use crate::contents::{Contents, build, random_docs};
use crate::envelope::{FILES, Manifest, body, path_of, replace_body};
use index::{
    DocId, DocIterator, END, Field, Frequencies, Index, IndexError, IndexWriter, Positions, Segment,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// A change of a payload; offsets are in 65536ths of its length.
#[derive(Clone, Debug)]
enum Change {
    Set(u16, u8),
    Add(u16, u8),
    Remove(u16, u8),
    Insert(u16, Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (any::<u16>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        3 => (any::<u16>(), 1..4_u8).prop_map(|(at, more)| Change::Add(at, more)),
        1 => (any::<u16>(), any::<u8>()).prop_map(|(at, count)| Change::Remove(at, count)),
        1 => (any::<u16>(), vec(any::<u8>(), 0..20)).prop_map(|(at, more)| Change::Insert(at, more)),
    ]
}

fn apply(change: &Change, bytes: &mut Vec<u8>) {
    let (Change::Set(at, _) | Change::Add(at, _) | Change::Remove(at, _) | Change::Insert(at, _)) =
        change;
    // After the header, which another test covers.
    let at = 16 + (bytes.len() - 16) * usize::from(*at) / 65_536;
    match change {
        Change::Set(_, byte) if at < bytes.len() => bytes[at] = *byte,
        Change::Add(_, more) if at < bytes.len() => bytes[at] = bytes[at].wrapping_add(*more),
        Change::Remove(_, count) => {
            bytes.drain(at..bytes.len().min(at + usize::from(*count)));
        }
        Change::Insert(_, more) => drop(bytes.splice(at..at, more.iter().copied())),
        Change::Set(..) | Change::Add(..) => {}
    }
}

/// Calls every method and ignores the results.
fn exercise(dir: &Path) -> Result<(), IndexError> {
    let index = Index::open(dir)?;
    for segment in index.segments() {
        for doc in (0..segment.doc_count()).chain([u32::MAX]).map(DocId).step_by(37).take(100) {
            let _ = segment.record(doc);
            let _ = Field::ALL.map(|field| segment.length(field, doc));
        }
        for field in Field::ALL {
            let _ = segment.lengths(field);
            let _ = segment.max_frequencies(field).map(|peaks| peaks.get(DocId(u32::MAX)));
            for prefix in ["", "pre", "1", "the"] {
                let Ok(terms) = segment.terms(field, prefix) else { continue };
                for (term, _) in terms {
                    let _ = walk(segment, field, &term);
                }
            }
        }
    }
    if index.verify().is_ok() {
        Contents::read(&index).expect("verified, so that everything can be read");
    }
    Ok(())
}

fn walk(segment: &Segment, field: Field, term: &str) -> Result<(), IndexError> {
    let mut positions = Vec::new();
    for stride in [1, 2, 100] {
        let Some(mut postings) = segment.postings(field, term)? else { return Ok(()) };
        while postings.doc() != END {
            let doc = postings.doc();
            assert!(doc.0 < segment.doc_count(), "only documents that the segment has");
            if doc.0.is_multiple_of(3) {
                postings.frequency();
                postings.positions(&mut positions);
                assert!(positions.is_sorted());
            }
            let next = match stride {
                1 => postings.next_doc(),
                stride => postings.skip_to(DocId(doc.0.saturating_add(stride))),
            };
            assert!(next > doc, "only forward");
        }
        assert_eq!((postings.next_doc(), postings.frequency()), (END, 0));
    }
    Ok(())
}

#[test]
fn a_changed_payload_never_panics() {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 1 << 20, &random_docs(3, 140, 7), "hostile");
    let mut writer = IndexWriter::update(dir.path(), &index::Config::default()).expect("begun");
    (0..140).step_by(9).for_each(|doc| writer.delete(0, DocId(doc)).expect("deleted"));
    writer.commit("hostile").expect("committed");
    let files = [&FILES[..], &["tombstones-2"]].concat();
    let sound: Vec<Vec<u8>> =
        files.iter().map(|name| fs::read(path_of(dir.path(), name)).expect("is there")).collect();
    exercise(dir.path()).expect("sound");
    // Half of the cases change the lexicon, which describes most of the other files.
    let which = prop_oneof![Just(0_usize), 0..files.len()];
    proptest!(ProptestConfig::with_cases(300), |(which in which, changes in vec(change(), 1..4))| {
        let mut bytes = body(&sound[which]).to_vec();
        for change in &changes {
            apply(change, &mut bytes);
        }
        replace_body(dir.path(), files[which], &bytes);
        let _ = exercise(dir.path());
        let _ = merge_a_copy(dir.path());
        replace_body(dir.path(), files[which], body(&sound[which]));
    });
    exercise(dir.path()).expect("sound again");
    assert_eq!(merge_a_copy(dir.path()).expect("sound again"), Some(3));
}

/// Merges all segments of a copy of the index.
fn merge_a_copy(dir: &Path) -> Result<Option<u64>, IndexError> {
    let copy = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry")) {
        let to = copy.path().join(entry.file_name());
        if entry.path().is_file() {
            fs::copy(entry.path(), to).expect("copied");
            continue;
        }
        fs::create_dir(&to).expect("made");
        for file in fs::read_dir(entry.path()).expect("a folder") {
            let file = file.expect("an entry");
            fs::copy(file.path(), to.join(file.file_name())).expect("copied");
        }
    }
    let one = index::Config { merge: index::MergePolicy::One, ..index::Config::default() };
    index::merge(copy.path(), &one)
}

#[test]
fn a_changed_manifest_never_panics() {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 1 << 20, &random_docs(3, 50, 9), "hostile");
    let sound = Manifest::read(dir.path()).body();
    proptest!(ProptestConfig::with_cases(200), |(changes in vec(change(), 1..4))| {
        let mut bytes = sound.clone();
        for change in &changes {
            apply(change, &mut bytes);
        }
        replace_body(dir.path(), "manifest", &bytes);
        let _ = exercise(dir.path());
    });
}

#[test]
fn impossible_manifest_numbers_are_errors() {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 1 << 20, &random_docs(3, 50, 9), "hostile");
    let sound = Manifest::read(dir.path());
    // A changed code may have no effect. So for the codes, numbers 5 to 7, only use values that are not codes. For
    // the slope, number 8, only use invalid values, because short lists have no maxima.
    for number in 0..29 {
        for lie in [0, 1, 49, 51, 64, u64::from(u32::MAX), 1 << 32, u64::MAX] {
            let mut manifest = sound.clone();
            let is_code = (5..8).contains(&number) && lie < 11 || number == 8 && lie <= 100;
            if manifest.segments[0][number] == lie || is_code {
                continue;
            }
            manifest.segments[0][number] = lie;
            manifest.write(dir.path());
            let result = Index::open(dir.path()).and_then(|index| index.verify());
            assert!(result.is_err(), "number {number} is {lie}");
        }
    }
    sound.write(dir.path());
    Index::open(dir.path()).and_then(|index| index.verify()).expect("sound again");
}

#[test]
fn invalid_manifests_are_errors() {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 1 << 20, &random_docs(3, 50, 9), "hostile");
    let sound = Manifest::read(dir.path());
    let broken = |body: &[u8]| {
        replace_body(dir.path(), "manifest", body);
        match Index::open(dir.path()) {
            Err(IndexError::Damaged { file, .. }) => assert_eq!(file, dir.path().join("manifest")),
            other => panic!("{other:?}"),
        }
    };
    let not_text = Manifest { source: vec![0xff, 0xfe], ..sound.clone() };
    broken(&not_text.body());
    let body = sound.body();
    broken(&body[..body.len() - 1]);
    broken(&[&body[..], &[0]].concat());
    broken(&body[..16]);
    // More segments than bytes.
    let mut many = Manifest { segments: Vec::new(), ..sound.clone() }.body();
    many.pop();
    codes::vbyte::write(&mut many, u64::MAX);
    broken(&many);
    // More terms than the documents could have: sums over all segments would overflow.
    let mut long = sound.clone();
    long.segments[0][11] = long.segments[0][2] * u64::from(u32::MAX) + 1;
    broken(&long.body());
    // A segment listed twice.
    let twice =
        Manifest { segments: [&sound.segments[..], &sound.segments].concat(), ..sound.clone() };
    twice.write(dir.path());
    assert!(Index::open(dir.path()).is_err());
    // The greatest generation, which has no successor.
    Manifest { generation: u64::MAX, ..sound }.write(dir.path());
    Index::open(dir.path()).expect("can be read");
    let writer = IndexWriter::create(dir.path(), &index::Config::default());
    assert!(matches!(writer.err(), Some(IndexError::Limit { .. })));
}
