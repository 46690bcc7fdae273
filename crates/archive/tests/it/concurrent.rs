//! Concurrent readers of a folder: while a writer appends, and while a writer starts.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use archive::{Archive, ArchiveError, Compression, WarcWriter, WriterOptions, repair};

use crate::drafts::{Owned, resource};

const RECORDS: usize = 400;
/// Number of lookups of a reader while writers start.
const ROUNDS: usize = 300;

fn draft(number: usize) -> Owned {
    // Some records are larger than a pipe or a page of memory, so a reader can see them partly written.
    let text = format!("{number} ").repeat(if number.is_multiple_of(5) { 20_000 } else { 20 });
    resource(&format!("http://a.example/{number}"), &text)
}

/// A reader sees a prefix of the records. It has at least the records that were acknowledged before the reader opened
/// the archive. The only error is an unfinished last record. Lookups agree.
#[test]
fn readers_see_whole_records_while_the_writer_appends() {
    let dir = tempfile::tempdir().expect("a folder");
    let written = AtomicUsize::new(0);
    let done = AtomicBool::new(false);
    let options = WriterOptions {
        file_bytes_max: 40_000,
        compression: Compression::Gzip { level: 0 },
        ..WriterOptions::default()
    };
    let mut writer = WarcWriter::create(dir.path(), options).expect("a writer");
    let read = || {
        let before = written.load(Ordering::Acquire);
        let archive = Archive::open(dir.path()).expect("listed");
        let mut count = 0;
        for record in archive.records() {
            match record {
                Ok(record) if record.target.is_none() => {}
                Ok(record) => {
                    assert!(draft(count).is(&record), "record {count}: {:?}", record.target);
                    count += 1;
                }
                Err(error) => assert!(matches!(error, ArchiveError::Truncated { .. }), "{error}"),
            }
        }
        assert!(count >= before, "{count} of {before} acknowledged records");
    };
    let look_up = || {
        let before = written.load(Ordering::Acquire);
        let archive = Archive::open(dir.path()).expect("listed");
        for number in (0..before).rev().step_by(37) {
            let lines = archive.captures(&format!("http://a.example/{number}")).expect("looked up");
            assert_eq!(lines.len(), 1, "record {number} of {before}");
            assert!(draft(number).is(&archive.read(&lines[0].location).expect("read")));
        }
    };
    let until_done = |look: &dyn Fn()| {
        let mut rounds = 0;
        while !done.load(Ordering::Acquire) {
            look();
            rounds += 1;
        }
        look();
        rounds
    };
    thread::scope(|scope| {
        let reader = scope.spawn(|| until_done(&read));
        let looker = scope.spawn(|| until_done(&look_up));
        for number in 0..RECORDS {
            draft(number).write(&mut writer).expect("written");
            written.store(number + 1, Ordering::Release);
            thread::yield_now();
        }
        writer.finish().expect("finished");
        done.store(true, Ordering::Release);
        reader.join().expect("the reader");
        looker.join().expect("the looker");
    });
}

/// A starting writer removes the temporary files of killed processes, but no file that a reader is writing.
#[test]
fn readers_build_cdxj_files_while_a_writer_starts() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer = WarcWriter::create(dir.path(), WriterOptions::default()).expect("a writer");
    draft(1).write(&mut writer).expect("written");
    writer.finish().expect("finished");
    let name = Archive::open(dir.path()).expect("listed").files()[0].clone();
    let cdxj = dir.path().join(format!("{name}.cdxj"));
    let left = dir.path().join(format!("{name}.cdxj.1-1.tmp"));
    let done = AtomicBool::new(false);
    let look_up = || {
        for _ in 0..ROUNDS {
            // The file may be missing, and another reader may remove it at any time.
            let _ = fs::remove_file(&cdxj);
            let archive = Archive::open(dir.path()).expect("listed");
            let lines = archive.captures("http://a.example/1").expect("looked up");
            assert_eq!(lines.len(), 1);
        }
    };
    thread::scope(|scope| {
        let beginner = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                fs::write(&left, "half").expect("room");
                repair(dir.path()).expect("repaired");
                assert!(!left.exists());
            }
        });
        let lookers = [scope.spawn(look_up), scope.spawn(look_up)];
        let ends = lookers.map(thread::ScopedJoinHandle::join);
        done.store(true, Ordering::Release);
        beginner.join().expect("the beginner");
        for end in ends {
            end.expect("a looker");
        }
    });
}
