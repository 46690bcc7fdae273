//! Reading continues after damage of any kind, with or without a CDXJ file that has the next place.

use std::fs;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;
use std::time::SystemTime;

use archive::{
    Archive, ArchiveError, Compression, Limits, Location, Record, Unpacked, WarcReader, repair,
};

use crate::drafts::{BOTH, Owned, first_file, names, resource, with, write_all};
use crate::foreign;

/// Bytes that look like nothing and cannot be compressed, as text.
fn noise(mut seed: u64, count: usize) -> Vec<u8> {
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        b'!' + u8::try_from(seed % 93).expect("small")
    };
    (0..count).map(|_| next()).collect()
}

fn drafts() -> Vec<Owned> {
    let text = |n: u64| String::from_utf8(noise(n * 7 + 1, 700)).expect("text");
    (0..40).map(|n| resource(&format!("http://a.example/{n}"), &text(n))).collect()
}

/// An archive of one file that is not compressed.
fn write_plain(dir: &Path) -> Vec<Location> {
    let packed = tempfile::tempdir().expect("a folder");
    let compression = Compression::Gzip { level: 1 };
    write_all(packed.path(), with(compression), &drafts());
    let mut bytes = Vec::new();
    let mut unpacked =
        Unpacked::open(&packed.path().join(first_file(compression))).expect("opened");
    unpacked.read_to_end(&mut bytes).expect("read");
    fs::write(dir.join("a.warc"), bytes).expect("written");
    let archive = Archive::open(dir).expect("listed");
    let read = archive.records().map(|record| record.expect("whole"));
    let read = read.filter(|record| record.target.is_some());
    read.map(|record| record.location).collect()
}

fn read(dir: &Path) -> (Vec<Record>, Vec<ArchiveError>) {
    let (mut records, mut errors) = (Vec::new(), Vec::new());
    for record in Archive::open(dir).expect("listed").records() {
        match record {
            Ok(record) => records.push(record),
            Err(error) => errors.push(error),
        }
    }
    (records, errors)
}

/// Makes damage at a byte; the bytes of the whole file that it concerns.
type Damage = fn(&mut Vec<u8>, usize) -> Range<usize>;

const DAMAGES: [(&str, Damage); 4] = [
    ("flip", |bytes, at| {
        bytes[at] ^= 0x55;
        at..at + 1
    }),
    ("overwrite", |bytes, at| {
        bytes[at..at + 3000].copy_from_slice(&noise(3, 3000));
        at..at + 3000
    }),
    ("cut", |bytes, at| {
        bytes.drain(at..at + 500);
        at..at + 500
    }),
    ("insert", |bytes, at| {
        bytes.splice(at..at, noise(4, 500));
        at..at + 1
    }),
];

/// Every record outside the damage is read, and the damage is reported.
fn check(dir: &Path, places: &[Location], touched: &Range<usize>, what: &str) {
    let touched = touched.start as u64..touched.end as u64;
    let is_whole = |place: &Location| {
        place.offset + place.length <= touched.start || place.offset >= touched.end
    };
    let (records, errors) = read(dir);
    let got: Vec<_> = records.iter().filter_map(|record| record.target.clone()).collect();
    let whole = places.iter().enumerate().filter(|(_, place)| is_whole(place));
    let whole: Vec<_> = whole.map(|(n, _)| format!("http://a.example/{n}")).collect();
    assert!(whole.len() >= 34, "{what}");
    assert_eq!(got, whole, "{what}: {errors:?}");
    let damaged = places.iter().find(|place| !is_whole(place)).expect("one is hit");
    assert_eq!(errors[0].offset(), Some(damaged.offset), "{what}: {errors:?}");
    for error in &errors {
        let ArchiveError::Skipped { to, .. } = error else { continue };
        let from = error.offset().expect("a place");
        let said = format!("up to byte {to}, which is {} bytes", to - from);
        assert!(error.to_string().ends_with(&said), "{what}: {error}");
        assert!(records.iter().any(|record| record.location.offset == *to), "{what}: {error}");
        let inside = |record: &Record| (from..*to).contains(&record.location.offset);
        assert!(!records.iter().any(inside), "{what}: {error}");
    }
    // A lookup finds them, too.
    let archive = Archive::open(dir).expect("listed");
    for target in [&got[0], &got[got.len() - 1]] {
        let captures = archive.captures(target).expect("looked up");
        let line = captures.last().unwrap_or_else(|| panic!("{what}: {target} has no line"));
        assert!(archive.read(&line.location).is_ok(), "{what}: {target}");
    }
}

#[test]
fn undamaged_records_are_read_with_and_without_a_cdxj() {
    for compression in [Some(BOTH[0]), Some(BOTH[1]), None] {
        for has_cdxj in [true, false] {
            let dir = tempfile::tempdir().expect("a folder");
            let places = match compression {
                Some(compression) => write_all(dir.path(), with(compression), &drafts()),
                None => write_plain(dir.path()),
            };
            let path = dir.path().join(&places[0].file);
            let cdxj = dir.path().join(format!("{}.cdxj", places[0].file));
            let bytes = fs::read(&path).expect("read");
            Archive::open(dir.path()).and_then(|a| a.captures("http://a.example/")).expect("made");
            let lines = fs::read(&cdxj).expect("read");
            for (name, damage) in DAMAGES {
                for place in [&places[3], &places[20]] {
                    let mut damaged = bytes.clone();
                    let at = usize::try_from(place.offset + place.length / 2).expect("small");
                    let touched = damage(&mut damaged, at);
                    fs::write(&path, damaged).expect("written");
                    fs::write(&cdxj, &lines).expect("written");
                    if !has_cdxj {
                        fs::remove_file(&cdxj).expect("removed");
                    }
                    let what = format!("{name} at {at}, {compression:?}, CDXJ: {has_cdxj}");
                    check(dir.path(), &places, &touched, &what);
                }
            }
        }
    }
}

/// The file name then gives the format.
#[test]
fn a_file_with_a_damaged_start_is_read_afterwards() {
    for compression in BOTH {
        for damage in [b"\0\0\0\0", b"WARC", b"\x1f\x8b\x08\x08", b"(\xb5/\xfd"] {
            let dir = tempfile::tempdir().expect("a folder");
            let places = write_all(dir.path(), with(compression), &drafts());
            let path = dir.path().join(&places[0].file);
            let mut bytes = fs::read(&path).expect("read");
            if bytes.starts_with(&damage[..3]) {
                continue;
            }
            bytes[..4].copy_from_slice(damage);
            fs::write(&path, bytes).expect("written");
            fs::remove_file(dir.path().join(format!("{}.cdxj", places[0].file))).expect("removed");
            let (records, errors) = read(dir.path());
            assert_eq!(records.len(), places.len(), "{damage:?}: {errors:?}");
            assert_eq!(errors.len(), 1, "{errors:?}");
        }
    }
}

/// The next record is found wherever it begins, also if its first bytes come with two reads of the file.
#[test]
fn a_record_start_across_two_reads_is_found() {
    const READ_BYTES: usize = 64 << 10;
    let (target, path) = ("http://a.example/", Path::new("a.warc"));
    for compression in [Some(BOTH[0]), Some(BOTH[1]), None] {
        let dir = tempfile::tempdir().expect("a folder");
        let places = write_all(dir.path(), with(BOTH[0]), &[resource(target, "x")]);
        let (name, part) = match compression {
            None => {
                let (mut plain, packed) = (Vec::new(), dir.path().join(&places[0].file));
                let mut unpacked = Unpacked::open(&packed).expect("opened");
                unpacked.read_to_end(&mut plain).expect("read");
                (path.to_path_buf(), plain)
            }
            Some(compression) => {
                let dir = tempfile::tempdir().expect("a folder");
                write_all(dir.path(), with(compression), &[resource(target, "x")]);
                let name = first_file(compression);
                (name.into(), fs::read(dir.path().join(name)).expect("read"))
            }
        };
        for gap in READ_BYTES - 10..READ_BYTES + 10 {
            let dir = tempfile::tempdir().expect("a folder");
            let mut between = noise(gap as u64, gap);
            between[gap - 1] = b'\n';
            fs::write(dir.path().join(&name), foreign::cat(&[&part, &between, &part]))
                .expect("written");
            let (records, errors) = read(dir.path());
            let found = records.iter().filter(|record| record.target.as_deref() == Some(target));
            assert_eq!(found.count(), 2, "{gap} bytes, {compression:?}: {errors:?}");
            let [ArchiveError::Skipped { to, .. }] = errors.as_slice() else {
                panic!("{errors:?}")
            };
            assert_eq!(*to, (part.len() + gap) as u64, "{compression:?}");
        }
    }
}

/// A page may contain a WARC file: a place that the CDXJ file knows comes before one that only looks like it.
#[test]
fn a_nested_record_in_a_damaged_one_is_ignored() {
    let (dir, inner) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("two"));
    write_all(inner.path(), with(BOTH[0]), &[resource("http://inner.example/", "x")]);
    let block = fs::read(inner.path().join(first_file(BOTH[0]))).expect("read");
    let outer = |n: u32| resource(&format!("http://a.example/{n}"), "x");
    let drafts = [outer(0), Owned { block, ..outer(1) }, outer(2)];
    // Stored without compression, so that the file holds the block unchanged.
    let places = write_all(dir.path(), with(Compression::Gzip { level: 0 }), &drafts);
    let path = dir.path().join(&places[1].file);
    let mut bytes = fs::read(&path).expect("read");
    bytes[usize::try_from(places[1].offset).expect("small") + 12] ^= 1;
    fs::write(&path, &bytes).expect("written");
    let targets = || {
        let (records, errors) = read(dir.path());
        assert_eq!(errors[0].offset(), Some(places[1].offset), "{errors:?}");
        records.into_iter().filter_map(|record| record.target).collect::<Vec<_>>()
    };
    assert_eq!(targets(), ["http://a.example/0", "http://a.example/2"]);
    fs::remove_file(dir.path().join(format!("{}.cdxj", places[1].file))).expect("removed");
    let all = ["http://a.example/0", "http://inner.example/", "http://a.example/2"];
    assert_eq!(targets(), all, "as a last resort");
}

/// If no record follows, the error covers the rest of the file. A search among false beginnings ends.
#[test]
fn no_record_is_found_in_data_without_records() {
    for (name, start) in [("a.warc.gz", &b"\x1f\x8b\x08\0"[..]), ("a.warc.zst", b"(\xb5/\xfd")] {
        let dir = tempfile::tempdir().expect("a folder");
        let bytes = start.repeat(200_000);
        fs::write(dir.path().join(name), &bytes).expect("written");
        let (records, errors) = read(dir.path());
        assert!(records.is_empty(), "{records:?}");
        let [ArchiveError::Skipped { to, .. }] = errors.as_slice() else { panic!("{errors:?}") };
        assert_eq!((errors[0].offset(), *to), (Some(0), bytes.len() as u64));
    }
    // A member without a record does not count.
    let dir = tempfile::tempdir().expect("a folder");
    let empty = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x03\0\0\0\0\0\0\0\0\0";
    let bytes = foreign::cat(&[&noise(9, 100), empty]);
    fs::write(dir.path().join("a.warc.gz"), &bytes).expect("written");
    let (records, errors) = read(dir.path());
    let [ArchiveError::Skipped { to, .. }] = errors.as_slice() else { panic!("{errors:?}") };
    assert_eq!((records.len(), *to), (0, bytes.len() as u64));
}

/// Damage may make a record seem to end at the end of the file. Readable records after it are not cut off.
#[test]
fn a_repair_keeps_readable_records_after_damage() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join(first_file(BOTH[0]));
    let part = |number: u32| {
        let inner = tempfile::tempdir().expect("a folder");
        let target = format!("http://a.example/{number}");
        write_all(inner.path(), with(BOTH[0]), &[resource(&target, "x")]);
        fs::read(inner.path().join(first_file(BOTH[0]))).expect("read")
    };
    // A member whose only block says that it has 65535 bytes as they are.
    let torn = [&b"\x1f\x8b\x08\0\0\0\0\0\0\xff"[..], &[0, 0xff, 0xff, 0, 0]].concat();
    let block = foreign::record(7, "x");
    let bytes = foreign::cat(&[&part(1), &torn, &block, &part(2)]);
    fs::write(&path, &bytes).expect("written");
    let mut reader = WarcReader::open(&path, Limits::default()).expect("opened");
    let last = std::iter::from_fn(|| reader.next_record().transpose()).find_map(Result::err);
    assert!(matches!(last, Some(ArchiveError::Truncated { .. })), "{last:?}");
    assert_eq!(repair(dir.path()).expect("repaired"), []);
    assert_eq!(fs::read(&path).expect("read"), bytes, "{:?}", names(dir.path()));
    let (records, errors) = read(dir.path());
    let targets: Vec<_> = records.iter().filter_map(|record| record.target.as_deref()).collect();
    assert_eq!(targets, ["http://a.example/1", "http://a.example/2"], "{errors:?}");
}

/// Makes a CDXJ file older than whatever is written from here on.
fn grow_old(cdxj: &Path) {
    let file = fs::File::options().append(true).open(cdxj).expect("opened");
    file.set_modified(SystemTime::UNIX_EPOCH).expect("set");
}

/// A flip anywhere in a member is reported once. The capture is listed as unreadable.
#[test]
fn a_damaged_member_is_reported_once_and_listed_unreadable() {
    for compression in BOTH {
        let dir = tempfile::tempdir().expect("a folder");
        let places = write_all(dir.path(), with(compression), &drafts());
        let (path, url) = (dir.path().join(&places[7].file), "http://a.example/7");
        let bytes = fs::read(&path).expect("read");
        let open = || Archive::open(dir.path()).expect("listed");
        assert_eq!(open().captures(url).expect("looked up").len(), 1);
        let cdxj = dir.path().join(format!("{}.cdxj", places[7].file));
        let (from, length) = (places[7].offset, places[7].length);
        for at in (from..from + length).step_by(5).chain(from..from + 300) {
            let mut damaged = bytes.clone();
            damaged[usize::try_from(at).expect("small")] ^= 0x04;
            fs::write(&path, &damaged).expect("written");
            grow_old(&cdxj);
            let (_, errors) = read(dir.path());
            let offsets: Vec<_> = errors.iter().map(ArchiveError::offset).collect();
            // Not all that gzip writes before a member is looked at.
            assert!(matches!(offsets[..], [] | [Some(_)]), "{compression:?}, {at}: {errors:?}");
            if offsets.is_empty() {
                continue;
            }
            assert_eq!(offsets, [Some(from)], "{compression:?}, {at}: {errors:?}");
            assert_eq!(open().captures(url).expect("looked up"), [], "{at}");
            let lines = open().unreadable(url).expect("looked up");
            assert_eq!(lines.len(), 1, "{compression:?}, {at}: {lines:?}");
            assert_eq!((lines[0].url.as_str(), &lines[0].location), (url, &places[7]), "{at}");
            // Reading one record by its place reports the cause too.
            let read = open().read(&lines[0].location).expect_err("damaged");
            assert_eq!(read.offset(), Some(from), "{at}: {read}");
            // The checksum is the cause, whatever was noticed first.
            let is_damaged = matches!(read, ArchiveError::Damaged { .. });
            assert!(is_damaged || at < from + 10, "{compression:?}, {at}: {read}");
            // No capture of another URL is unreadable.
            assert_eq!(open().unreadable("http://a.example/8").expect("looked up"), [], "{at}");
        }
    }
}

/// Without the lines of old, damage has a place and no name.
#[test]
fn damage_older_than_the_cdxj_has_no_url() {
    for compression in BOTH {
        let dir = tempfile::tempdir().expect("a folder");
        let places = write_all(dir.path(), with(compression), &drafts());
        let path = dir.path().join(&places[7].file);
        let mut bytes = fs::read(&path).expect("read");
        bytes[usize::try_from(places[7].offset + places[7].length / 2).expect("small")] ^= 0x55;
        fs::write(&path, &bytes).expect("written");
        let _ = fs::remove_file(dir.path().join(format!("{}.cdxj", places[7].file)));
        let archive = Archive::open(dir.path()).expect("listed");
        for _ in 0..2 {
            let lines = archive.unreadable("http://a.example/7").expect("looked up");
            let [line] = &lines[..] else { panic!("{compression:?}: {lines:?}") };
            assert_eq!((line.url.as_str(), line.location.offset), ("", places[7].offset));
            // The damage is listed once while the file grows.
            bytes.extend_from_within(
                usize::try_from(places[9].offset).expect("small")
                    ..usize::try_from(places[9].offset + places[9].length).expect("small"),
            );
            fs::write(&path, &bytes).expect("written");
            // A torn end is not damage.
            bytes.extend_from_within(..20);
            fs::write(&path, &bytes).expect("written");
            assert_eq!(archive.unreadable("http://b.example/").expect("looked up").len(), 1);
            bytes.truncate(bytes.len() - 20);
            fs::write(&path, &bytes).expect("written");
        }
    }
}
