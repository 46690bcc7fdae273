//! Files that are truncated or changed while they are open. Reads continue with any result, and afterwards
//! `intact` fails and names the file and the first bad offset. This also holds if the file or its date is
//! restored. Files that are removed, replaced or touched stay readable. A memory fault outside an index still ends
//! the process.

use crate::contents::{Contents, Doc, build, random_docs};
use crate::envelope::{FILES, body, path_of, seal};
use index::{
    Config, DocId, DocIterator, END, Field, Frequencies, Index, IndexError, IndexWriter, Positions,
};
use std::fs::{self, File};
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

/// Bytes under one checksum.
const CHUNK_BYTES: usize = 1 << 16;
/// Enough for several chunks of most files.
const DOCS: u32 = 9000;

/// Builds an index with a deletion and old file dates. Returns its contents.
fn aged(dir: &Path) -> Contents {
    let docs: Vec<Doc> = random_docs(11, DOCS, 40);
    build(dir, 256 << 20, &docs, "whole");
    let mut writer = IndexWriter::update(dir, &Config::default()).expect("begins");
    writer.delete(0, DocId(7)).expect("it is there");
    writer.commit("less one").expect("deleted");
    for name in all_files() {
        age(&path_of(dir, &name));
    }
    Contents::of(&docs)
}

fn all_files() -> Vec<String> {
    FILES.into_iter().chain(["tombstones-2"]).map(str::to_owned).collect()
}

/// Sets an old date, because the clock is too coarse for a test.
fn age(path: &Path) {
    let file = File::options().write(true).open(path).expect("it is there");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_hours(300_000)).expect("set");
}

/// Replaces a damaged file by a valid one.
fn restore(path: &Path, sound: &[u8]) {
    fs::remove_file(path).expect("it is there");
    fs::write(path, sound).expect("room");
    age(path);
}

/// Calls every read method and ignores the results.
fn read_anything(index: &Index) {
    for segment in index.segments() {
        for field in Field::ALL {
            let terms = segment.terms(field, "").map(|terms| terms.take(5000).collect::<Vec<_>>());
            for (term, _) in terms.unwrap_or_default() {
                let Ok(Some(mut postings)) = segment.postings(field, &term) else { continue };
                let (mut positions, mut last) = (Vec::new(), None);
                while postings.doc() != END {
                    assert!(last < Some(postings.doc()), "documents ascend");
                    last = Some(postings.doc());
                    let _ = postings.frequency();
                    postings.positions(&mut positions);
                    postings.next_doc();
                }
            }
            let (lengths, peaks) = (segment.lengths(field), segment.max_frequencies(field));
            for doc in (0..segment.doc_count()).map(DocId) {
                let _ = lengths.as_ref().map(|lengths| lengths.get(doc));
                let _ = peaks.as_ref().map(|peaks| peaks.get(doc));
            }
        }
        let _ = segment.each_list(|_| {});
        let _ = segment.each_record(|_, _| {});
        let _ = segment.doc_frequencies(&[(Field::Body, "the"), (Field::Title, "nothing")]);
        let _ = segment.lists(&[(Field::Body, "the"), (Field::Url, "pre5")]);
    }
}

fn check_damaged(found: Result<(), IndexError>, path: &Path, at: u64) {
    match found {
        Err(IndexError::Damaged { file, offset, .. }) => {
            assert_eq!((&*file, offset), (path, at));
        }
        other => panic!("{}: {other:?}", path.display()),
    }
}

/// Opens the index, optionally reads all of it, damages a file and checks `intact`. Reads in between, or
/// afterwards, make no difference.
fn check(dir: &Path, name: &str, is_read: bool, damage: &dyn Fn(&File), at: u64) {
    let path = path_of(dir, name);
    let sound = fs::read(&path).expect("it is there");
    for is_asked_first in [true, false] {
        let index = Index::open(dir).expect("it is whole");
        if is_read {
            index.verify().expect("it is whole");
        }
        index.intact().expect("nobody was here");
        damage(&File::options().write(true).open(&path).expect("it is there"));
        if !is_asked_first {
            read_anything(&index);
        }
        check_damaged(index.intact(), &path, at);
        read_anything(&index);
        index.verify().expect_err("it is damaged");
        check_damaged(index.intact(), &path, at);
        restore(&path, &sound);
        let again = Index::open(dir).expect("it is whole again");
        again.verify().and_then(|()| again.intact()).expect("it is whole again");
        index.intact().expect_err("what was read before stays what it was");
    }
}

#[test]
fn truncating_an_open_file_is_reported_with_its_length() {
    let dir = tempfile::tempdir().expect("a folder");
    aged(dir.path());
    for name in all_files() {
        let bytes = fs::metadata(path_of(dir.path(), &name)).expect("it is there").len();
        for length in [0, 1, 4096, 5000, (bytes / 2) | 1, bytes - 1] {
            if length < bytes {
                let cut = |file: &File| file.set_len(length).expect("cut");
                check(dir.path(), &name, true, &cut, length);
                check(dir.path(), &name, false, &cut, length);
            }
        }
    }
}

#[test]
fn a_byte_changed_while_open_is_reported_with_chunk() {
    let dir = tempfile::tempdir().expect("a folder");
    aged(dir.path());
    for name in all_files() {
        let sound = fs::read(path_of(dir.path(), &name)).expect("it is there");
        let body = sound.len() - 12 - 4 * sound.len().div_ceil(CHUNK_BYTES);
        for part in 0..4 {
            let at = part * (body - 1) / 3;
            let flip = |file: &File| {
                file.write_all_at(&[sound[at] ^ 8], at as u64).expect("room");
            };
            check(dir.path(), &name, true, &flip, (at / CHUNK_BYTES * CHUNK_BYTES) as u64);
        }
    }
}

/// A read detects damage in bytes that were not read before.
#[test]
fn a_byte_changed_before_reading_is_reported_when_read() {
    let dir = tempfile::tempdir().expect("a folder");
    aged(dir.path());
    let path = path_of(dir.path(), "positions");
    let at = fs::metadata(&path).expect("it is there").len() / 2;
    assert!(at > 1 << 16, "{at}");
    let index = Index::open(dir.path()).expect("it is whole");
    write(&path, b"?", at);
    index.intact().expect("nothing that was read has changed");
    check_damaged(index.verify(), &path, at & !0xFFFF);
}

/// Changes a byte that has been read.
fn flip(path: &Path) {
    let sound = fs::read(path).expect("it is there");
    write(path, &[sound[40] ^ 8], 40);
}

fn write(path: &Path, bytes: &[u8], at: u64) {
    let file = File::options().write(true).open(path).expect("it is there");
    file.write_all_at(bytes, at).expect("room");
}

/// Opens an index for each of its files. Passes the file's path and bytes to `check`.
fn each_file(check: impl Fn(&Path, &[u8], &Index)) {
    let dir = tempfile::tempdir().expect("a folder");
    aged(dir.path());
    for name in all_files() {
        let path = path_of(dir.path(), &name);
        let sound = fs::read(&path).expect("it is there");
        check(&path, &sound, &Index::open(dir.path()).expect("it is whole"));
        restore(&path, &sound);
    }
}

/// `intact` was not called before the file was removed or replaced.
#[test]
fn a_change_is_reported_after_removal_or_replacement() {
    let dir = tempfile::tempdir().expect("a folder");
    aged(dir.path());
    for name in all_files() {
        let path = path_of(dir.path(), &name);
        let sound = fs::read(&path).expect("it is there");
        for is_replaced in [false, true] {
            let index = Index::open(dir.path()).expect("it is whole");
            flip(&path);
            fs::rename(&path, dir.path().join("gone")).expect("moved");
            if is_replaced {
                fs::write(&path, &sound).expect("room");
            }
            check_damaged(index.intact(), &path, 0);
            fs::write(&path, &sound).expect("room");
            check_damaged(index.intact(), &path, 0);
            age(&path);
        }
    }
}

#[test]
fn a_change_is_reported_despite_a_restored_date() {
    each_file(|path, _, index| {
        flip(path);
        age(path);
        check_damaged(index.intact(), path, 0);
    });
}

/// The checksums in use must be those of the old file, not those now in the file.
#[test]
fn a_file_overwritten_in_place_is_reported() {
    each_file(|path, sound, index| {
        let mut other = body(sound).to_vec();
        other[40] ^= 8;
        write(path, &seal(&other), 0);
        check_damaged(index.intact(), path, other.len() as u64);
    });
}

/// Dates change, bytes do not. A later change of bytes is still detected.
#[test]
fn an_index_with_touched_files_is_intact() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().expect("a folder");
    let expected = aged(dir.path());
    let index = Index::open(dir.path()).expect("it is whole");
    index.verify().expect("it is whole");
    let touch = |path: &Path| {
        let file = File::options().write(true).open(path).expect("it is there");
        file.set_modified(SystemTime::UNIX_EPOCH).expect("set");
    };
    let link = |path: &Path| fs::hard_link(path, dir.path().join("linked")).expect("linked");
    let protect = |path: &Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("set");
    };
    let rewrite = |path: &Path| write(path, &fs::read(path).expect("it is there"), 0);
    let away = |path: &Path| fs::rename(path, dir.path().join("away")).expect("moved");
    let back = |path: &Path| fs::rename(dir.path().join("away"), path).expect("moved");
    for name in all_files() {
        let path = path_of(dir.path(), &name);
        for act in [&touch as &dyn Fn(&Path), &link, &protect, &rewrite, &away, &back] {
            act(&path);
            index.intact().expect("its bytes are the same");
        }
        fs::remove_file(dir.path().join("linked")).expect("it is there");
        assert!(!index.has_files_of(&Index::open(dir.path()).expect("it is whole")), "{name}");
    }
    assert_eq!(Contents::read(&index).expect("it is whole"), expected);
    let path = path_of(dir.path(), "docs");
    flip(&path);
    check_damaged(index.intact(), &path, 0);
}

/// Like a disk that changes bytes by itself, or a process with a mapping: after the first write the date does not
/// change again.
#[test]
fn verification_or_doubt_detects_a_change_without_date() {
    let dir = tempfile::tempdir().expect("a folder");
    aged(dir.path());
    for name in all_files() {
        let path = path_of(dir.path(), &name);
        let file = File::options().read(true).write(true).open(&path).expect("it is there");
        #[expect(unsafe_code, reason = "there is no safe mapping")]
        // SAFETY: nothing else writes through a mapping, and the other mappings must notice the writes.
        let mut map = unsafe { memmap2::MmapMut::map_mut(&file) }.expect("mapped");
        // Only the first write changes the date.
        map[40] ^= 8;
        black_box(&mut map)[40] ^= 8;
        let [verified, doubted] = [(); 2].map(|()| Index::open(dir.path()).expect("it is whole"));
        verified.verify().and_then(|()| doubted.verify()).expect("it is whole");
        black_box(&mut map)[40] ^= 8;
        check_damaged(verified.verify(), &path, 0);
        doubted.doubted(&dir.path().join("manifest")).expect("it is not of its files");
        check_damaged(doubted.doubted(&path), &path, 0);
        check_damaged(doubted.intact(), &path, 0);
        black_box(&mut map)[40] ^= 8;
    }
}

/// A lost page counts even if the file has been restored when `intact` is called.
#[test]
fn a_temporarily_truncated_file_is_reported() {
    let dir = tempfile::tempdir().expect("a folder");
    aged(dir.path());
    let mut long = 0;
    for name in all_files() {
        let path = path_of(dir.path(), &name);
        let sound = fs::read(&path).expect("it is there");
        if sound.len() <= 2 * CHUNK_BYTES {
            continue;
        }
        long += 1;
        let index = Index::open(dir.path()).expect("it is whole");
        index.verify().expect("it is whole");
        let file = File::options().write(true).open(&path).expect("it is there");
        file.set_len(CHUNK_BYTES as u64).expect("cut");
        // Does not call `intact`.
        read_anything(&index);
        file.write_all_at(&sound, 0).expect("room");
        age(&path);
        match index.intact() {
            Err(IndexError::Damaged { file, offset, .. }) => {
                assert_eq!(file, path);
                // A page of any size fits into a chunk.
                assert!((CHUNK_BYTES as u64..sound.len() as u64).contains(&offset), "{offset}");
            }
            other => panic!("{name}: {other:?}"),
        }
        restore(&path, &sound);
    }
    assert!(long > 1, "{long} files of more than two chunks");
}

#[test]
fn an_index_with_removed_or_replaced_files_is_intact() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("index");
    let expected = aged(&folder);
    let index = Index::open(&folder).expect("it is whole");
    for name in FILES {
        let (path, beside) = (path_of(&folder, name), dir.path().join("beside"));
        fs::write(&beside, "another").expect("room");
        fs::rename(&beside, &path).expect("replaced");
    }
    index.intact().expect("nothing of it was changed");
    fs::remove_dir_all(&folder).expect("removed");
    assert_eq!(Contents::read(&index).expect("it is mapped"), expected);
    index.intact().expect("nothing of it was changed");
    fs::write(&folder, "a file in the place of the folder").expect("room");
    index.intact().expect("nothing of it was changed");
}

#[test]
fn replaced_files_are_distinguished_from_the_originals() {
    let dir = tempfile::tempdir().expect("a folder");
    aged(dir.path());
    for name in FILES {
        let index = Index::open(dir.path()).expect("it is whole");
        assert!(index.has_files_of(&Index::open(dir.path()).expect("it is whole")), "{name}");
        let (path, beside) = (path_of(dir.path(), name), dir.path().join("beside"));
        fs::copy(&path, &beside).expect("room");
        fs::rename(&beside, &path).expect("replaced");
        let other = Index::open(dir.path()).expect("it is whole");
        assert!(!index.has_files_of(&other), "{name} is another file");
    }
}

/// Renumbering documents counts the deleted ones repeatedly.
#[test]
fn writing_to_tombstones_does_not_change_deleted_documents() {
    let dir = tempfile::tempdir().expect("a folder");
    aged(dir.path());
    let index = Index::open(dir.path()).expect("it is whole");
    let segment = &index.segments()[0];
    assert!(segment.deleted().expect("whole").contains(DocId(7)));
    let path = path_of(dir.path(), "tombstones-2");
    let file = File::options().write(true).open(&path).expect("it is there");
    file.write_all_at(&[0; 100], 16).expect("room");
    assert!(segment.deleted().expect("whole").contains(DocId(7)));
    check_damaged(index.intact(), &path, 0);
}

/// Slots are reused while other threads look for their own. No thread may map zeros into another's file.
#[test]
fn faults_of_many_threads_affect_only_their_files() {
    const ROUNDS: usize = 40;
    let dirs = [(); 4].map(|()| tempfile::tempdir().expect("a folder"));
    let docs = random_docs(3, 600, 40);
    for dir in &dirs {
        build(dir.path(), 256 << 20, &docs, "whole");
    }
    let expected = Contents::of(&docs);
    let (whole, cut) = dirs.split_at(2);
    std::thread::scope(|scope| {
        for dir in whole {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    let index = Index::open(dir.path()).expect("it is whole");
                    assert_eq!(Contents::read(&index).expect("it is whole"), expected);
                    index.intact().expect("nobody was here");
                }
            });
        }
        for dir in cut {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    let path = path_of(dir.path(), FILES[round % FILES.len()]);
                    let sound = fs::read(&path).expect("it is there");
                    let index = Index::open(dir.path()).expect("it is whole");
                    index.verify().expect("it is whole");
                    File::options().write(true).truncate(true).open(&path).expect("cut");
                    read_anything(&index);
                    check_damaged(index.intact(), &path, 0);
                    restore(&path, &sound);
                }
            });
        }
    });
}

const FOLDER: &str = "CRIVELLO_INDEX_TEST_FAULT";
/// The action for SIGBUS before an index is opened.
const BEFORE: &str = "CRIVELLO_INDEX_TEST_BEFORE";

/// Maps a file outside an index while an index is open, truncates it, and reads it.
#[test]
fn child_with_an_unrelated_fault() {
    let Some(dir) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let index = Index::open(&dir).expect("an index");
    let path = dir.join("foreign");
    fs::write(&path, [1; 10_000]).expect("room");
    let file = File::options().read(true).write(true).open(&path).expect("it is there");
    #[expect(unsafe_code, reason = "the test is about a truncated mapping")]
    // SAFETY: the process is meant to die of reading it.
    let map = unsafe { memmap2::Mmap::map(&file) }.expect("mapped");
    file.set_len(0).expect("cut");
    panic!("the index has {} documents, the file {}", index.doc_count(), map[9000]);
}

/// How often the handler of the child was called.
static CALLS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count_call(_: libc::c_int) {
    CALLS.fetch_add(1, Ordering::SeqCst);
}

/// Receives the signal, loses a file of its index, and receives the signal again.
#[test]
fn child_that_receives_the_signal() {
    let Some(dir) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let action = match std::env::var(BEFORE).as_deref() {
        Ok("default") => Some(libc::SIG_DFL),
        Ok("ignored") => Some(libc::SIG_IGN),
        Ok("handled") => Some(count_call as *const () as usize),
        // Rust's own handler, which detects stack overflows and otherwise installs the default.
        _ => None,
    };
    if let Some(action) = action {
        #[expect(unsafe_code, reason = "there is no safe interface")]
        // SAFETY: the action is a constant, or a handler that only counts.
        unsafe {
            libc::signal(libc::SIGBUS, action)
        };
    }
    let raise = || {
        #[expect(unsafe_code, reason = "there is no safe interface")]
        // SAFETY: `raise` has no preconditions.
        unsafe {
            libc::raise(libc::SIGBUS)
        };
    };
    for name in ["docs", "lexicon"] {
        let index = Index::open(&dir).expect("an index");
        index.verify().expect("it is whole");
        raise();
        let path = path_of(&dir, name);
        let sound = fs::read(&path).expect("it is there");
        File::options().write(true).truncate(true).open(&path).expect("cut");
        read_anything(&index);
        check_damaged(index.intact(), &path, 0);
        restore(&path, &sound);
        eprintln!("went on after {name}, {} calls", CALLS.load(Ordering::SeqCst));
    }
}

/// A sent signal has its previous effect, and a surviving process is still protected.
#[test]
fn a_process_surviving_the_signal_is_still_protected() {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 256 << 20, &random_docs(1, 60, 8), "small");
    let ended = Some(libc::SIGBUS);
    for (before, signal, went_on) in [
        ("default", ended, &[][..]),
        ("ignored", None, &["docs, 0", "lexicon, 0"]),
        ("handled", None, &["docs, 1", "lexicon, 2"]),
        ("of Rust", ended, &["docs, 0"]),
    ] {
        let output = child("child_that_receives_the_signal", dir.path(), before);
        assert_eq!(output.status.signal(), signal, "{before}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines = said.lines().filter_map(|line| line.split_once("went on after "));
        let lines: Vec<_> = lines.filter_map(|(_, line)| line.strip_suffix(" calls")).collect();
        assert_eq!(lines, went_on, "{before}: {output:?}");
    }
}

fn child(test: &str, dir: &Path, before: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", &format!("sigbus::{test}"), "--nocapture"]);
    command.env(FOLDER, dir).env(BEFORE, before).output().expect("runs")
}

#[test]
fn a_fault_outside_an_index_ends_the_process() {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), 1 << 20, &random_docs(1, 60, 8), "small");
    let output = child("child_with_an_unrelated_fault", dir.path(), "of Rust");
    assert_eq!(output.status.signal(), Some(libc::SIGBUS), "{output:?}");
}
