//! A disk that is really full: a file system of half a megabyte, mounted where only this test sees it.

use std::env;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use archive::{Archive, ArchiveError, Location, WarcWriter, WriterOptions, repair};

use crate::drafts::{Owned, read_folder, resource};

/// Environment variable with the path of the small file system, for the second run of this test.
const MOUNTED: &str = "CRIVELLO_TEST_SMALL_DISK";

#[test]
fn needs_root_a_full_disk_loses_no_acknowledged_record() {
    if let Some(dir) = env::var_os(MOUNTED) {
        return fill(Path::new(&dir));
    }
    let dir = tempfile::tempdir().expect("a folder");
    let script = r#"mount -t tmpfs -o size=512k none "$1" && exec "$2" --exact "$3" --nocapture"#;
    let status = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"])
        .arg(dir.path())
        .arg(env::current_exe().expect("this binary"))
        .arg("full_disk::needs_root_a_full_disk_loses_no_acknowledged_record")
        .env(MOUNTED, dir.path())
        .status()
        .expect("`unshare` of util-linux");
    assert!(status.success(), "on the small file system: {status}; it needs root to mount");
    assert_eq!(fs::read_dir(dir.path()).expect("listed").count(), 0, "nobody else sees the mount");
}

fn noise(number: u32) -> Owned {
    // Incompressible, and of different lengths, so that the disk fills up in the middle of a record.
    let mut state = number.wrapping_mul(2_654_435_761) | 1;
    let block = (0..3000 + number * 7 % 900)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state.to_le_bytes()[1]
        })
        .collect();
    Owned { block, ..resource(&format!("http://a.example/{number}"), "") }
}

/// Writes until the disk is full; returns what was acknowledged.
fn write_until_full(writer: &mut WarcWriter, from: u32) -> Vec<(u32, Location)> {
    let mut acknowledged = Vec::new();
    for number in from..from + 1000 {
        match noise(number).write(writer) {
            Ok(location) => acknowledged.push((number, location)),
            Err(ArchiveError::Write { source, .. } | ArchiveError::Io { source, .. }) => {
                assert_eq!(source.kind(), io::ErrorKind::StorageFull, "{source}");
                return acknowledged;
            }
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the disk is never full");
}

fn check(archive_dir: &Path, acknowledged: &[(u32, Location)]) {
    let archive = Archive::open(archive_dir).expect("listed");
    let records: Vec<_> =
        read_folder(archive_dir).into_iter().filter(|record| record.target.is_some()).collect();
    assert_eq!(records.len(), acknowledged.len(), "records that are there, and acknowledged");
    for ((number, place), record) in acknowledged.iter().zip(&records) {
        assert_eq!(&record.location, place);
        assert!(noise(*number).is(record), "record {number}");
        assert_eq!(&archive.read(place).expect("by its place"), record);
    }
}

fn fill(dir: &Path) {
    let archive_dir = dir.join("archive");
    let ballast = dir.join("ballast");
    fs::write(&ballast, vec![1; 100 << 10]).expect("there is room yet");
    let options = WriterOptions { file_bytes_max: 150 << 10, ..WriterOptions::default() };
    let mut writer = WarcWriter::create(&archive_dir, options).expect("a writer");
    let mut acknowledged = write_until_full(&mut writer, 0);
    assert!(acknowledged.len() > 50, "{} records", acknowledged.len());
    check(&archive_dir, &acknowledged);
    // Still full: nothing changes. Then there is room, and writing goes on.
    assert!(write_until_full(&mut writer, 2000).is_empty());
    check(&archive_dir, &acknowledged);
    fs::remove_file(&ballast).expect("removed");
    acknowledged.extend(write_until_full(&mut writer, 3000));
    check(&archive_dir, &acknowledged);
    assert!(acknowledged.iter().any(|(number, _)| *number > 3000 + 10));
    // The last CDXJ file does not fit on the disk. The writer reports that, and no record is lost.
    let _ = writer.finish();
    assert_eq!(repair(&archive_dir).expect("repaired"), []);
    check(&archive_dir, &acknowledged);
}
