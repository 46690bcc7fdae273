//! The writer on a disk whose *n*-th operation fails, for n = 0, 1, … until none fails. A second round lets every
//! later operation fail too.

use super::*;
use crate::{Archive, WarcReader};

fn draft<'a>(target: &'a str, block: &'a [u8]) -> Draft<'a> {
    Draft {
        kind: Kind::Resource,
        date_s: 1_700_000_000,
        date_us: 0,
        target: Some(target),
        content_type: "text/plain",
        extra: &[],
        block,
        payload_offset: 0,
    }
}

/// Writes a dozen records over three files; what was acknowledged must be there, and nothing else.
/// Returns whether any operation failed.
fn check_failure(fails_at: u64, for_good: bool, lines_bytes_max: usize) -> bool {
    let dir = tempfile::tempdir().expect("a folder");
    let disk = Disk::failing(fails_at..if for_good { u64::MAX } else { fails_at + 1 });
    let options = WriterOptions { file_bytes_max: 2000, ..WriterOptions::default() };
    let mut writer = WarcWriter::create_on(disk, dir.path(), options).expect("the folder exists");
    writer.lines_bytes_max = lines_bytes_max;
    let mut acknowledged = Vec::new();
    let mut failed = false;
    for number in 0..12 {
        let target = format!("http://a.example/{number}");
        match writer.write(&draft(&target, target.repeat(9).as_bytes())) {
            Ok(location) => acknowledged.push((target, location)),
            Err(ArchiveError::Write { source, .. } | ArchiveError::Io { source, .. }) => {
                assert_eq!(source.kind(), io::ErrorKind::StorageFull);
                failed = true;
            }
            Err(error) => panic!("{error}"),
        }
        failed |= writer.sync().is_err();
    }
    failed |= writer.close().is_err();
    let is_hit = writer.disk.calls() > fails_at;
    if for_good && failed {
        drop(writer);
        crate::repair(dir.path()).expect("repaired");
    } else {
        assert!(writer.close().is_ok(), "it can be closed when the cause is gone");
    }
    check_folder(dir.path(), &acknowledged);
    is_hit
}

fn check_folder(dir: &Path, acknowledged: &[(String, Location)]) {
    let archive = Archive::open(dir).expect("listed");
    let mut found = Vec::new();
    for name in archive.files() {
        let mut reader = WarcReader::open(&dir.join(name), Limits::default()).expect("opened");
        while let Some(record) = reader.next_record().expect("only whole records") {
            found.extend(record.target.map(|target| (target, record.location)));
        }
    }
    assert_eq!(found, acknowledged);
    for (target, location) in acknowledged {
        let captures = archive.captures(target).expect("looked up");
        assert_eq!(captures.iter().map(|line| &line.location).collect::<Vec<_>>(), [location]);
    }
    let left_over = fs::read_dir(dir).expect("listed").filter(|entry| {
        let name = entry.as_ref().expect("listed").file_name();
        name.to_string_lossy().ends_with(".tmp")
    });
    assert_eq!(left_over.count(), 0, "temporary files remain");
}

#[test]
fn acknowledged_records_survive_any_failed_operation() {
    // Also with lines that do not fit into memory, one or two at a time.
    for lines_bytes_max in [LINES_BYTES_MAX, 300] {
        for for_good in [false, true] {
            let is_fine = |&fails_at: &u64| !check_failure(fails_at, for_good, lines_bytes_max);
            let fine = (0..1000).find(is_fine);
            assert!(fine.is_some_and(|operations| operations > 60), "{fine:?} operations");
        }
    }
}
