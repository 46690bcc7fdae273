//! Damage: every truncation repaired, every byte flipped, zeros at the end.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use archive::{
    Archive, ArchiveError, Compression, Limits, Location, Record, Repair, WarcReader, WarcWriter,
    WriterOptions, repair, repair_from,
};

use crate::drafts::{
    BOTH, Owned, drain, first_file, names, of_every_kind, read_all, read_folder, resource, with,
    write_all,
};

/// A small WARC file with one record of every kind.
fn small(compression: Compression) -> (Vec<u8>, Vec<Record>) {
    let dir = tempfile::tempdir().expect("a folder");
    write_all(dir.path(), with(compression), &of_every_kind());
    let path = dir.path().join(first_file(compression));
    let (records, errors) = read_all(&path, &Limits::default());
    assert!(errors.is_empty(), "{errors:?}");
    (fs::read(path).expect("read"), records)
}

/// The end of each record in the file.
fn ends(records: &[Record]) -> Vec<u64> {
    records.iter().map(|record| record.location.offset + record.location.length).collect()
}

#[test]
fn repair_truncates_a_file_to_its_last_whole_record() {
    for compression in BOTH {
        let file_name = first_file(compression);
        let (bytes, records) = small(compression);
        let ends = ends(&records);
        assert_eq!(ends.last(), Some(&(bytes.len() as u64)), "records lie side by side");
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(file_name);
        for cut in 0..=bytes.len() {
            fs::write(&path, &bytes[..cut]).expect("written");
            let whole = ends.iter().filter(|&&end| end <= cut as u64).count();
            let kept_bytes = whole.checked_sub(1).map_or(0, |last| ends[last]);
            let repairs = repair(dir.path()).expect("repaired");
            let cut_bytes = cut as u64 - kept_bytes;
            if cut_bytes == 0 && cut > 0 {
                assert!(repairs.is_empty(), "cut at {cut}: {repairs:?}");
            } else {
                let file = file_name.to_owned();
                assert_eq!(repairs, [Repair { file, kept_bytes, cut_bytes }], "cut at {cut}");
            }
            assert_eq!(path.exists(), kept_bytes > 0, "cut at {cut}");
            assert_eq!(read_folder(dir.path()), records[..whole], "cut at {cut}");
            assert_eq!(repair(dir.path()).expect("repaired"), [], "a second time, cut at {cut}");
        }
    }
}

/// Whichever record is known to be whole, the repair is the same, and so is what is read from there on.
#[test]
fn a_repair_from_any_whole_record_is_the_same() {
    for (compression, step) in BOTH.into_iter().zip([1, 5]) {
        let file_name = first_file(compression);
        let (bytes, records) = small(compression);
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(file_name);
        for cut in (0..=bytes.len()).step_by(step) {
            fs::write(&path, &bytes[..cut]).expect("written");
            let expected = repair(dir.path()).expect("repaired");
            let whole = ends(&records).iter().filter(|&&end| end <= cut as u64).count();
            for (number, record) in records[..whole].iter().enumerate() {
                let from = record.location.offset;
                fs::write(&path, &bytes[..cut]).expect("written");
                let repaired = repair_from(dir.path(), &|_| from).expect("repaired");
                assert_eq!(repaired, expected, "cut at {cut}, from {from}");
                let archive = Archive::open(dir.path()).expect("listed");
                let read = archive.records_from(file_name, from).expect("it is there");
                let read: Vec<_> = read.map(|record| record.expect("a record")).collect();
                assert_eq!(read, records[number..whole], "cut at {cut}, from {from}");
            }
        }
        assert!(Archive::open(dir.path()).expect("listed").records_from("../x", 0).is_err());
    }
}

#[test]
fn records_from_one_file_stop_at_its_end() {
    let (bytes, records) = small(BOTH[0]);
    let dir = tempfile::tempdir().expect("a folder");
    for name in ["a.warc.gz", "b.warc.gz", "c.warc.gz"] {
        fs::write(dir.path().join(name), &bytes).expect("written");
    }
    let archive = Archive::open(dir.path()).expect("listed");
    for name in archive.files() {
        let read = archive.records_from(name, 0).expect("it is there");
        let read: Vec<_> = read.map(|record| record.expect("a record")).collect();
        assert!(read.iter().all(|record| record.location.file == *name), "{name}");
        assert_eq!(read.len(), records.len(), "{name}");
    }
}

#[test]
fn writing_continues_after_a_repair() {
    for compression in BOTH {
        let file_name = first_file(compression);
        let (bytes, records) = small(compression);
        let ends = ends(&records);
        // One place in each part of a member, for each record: header, data, trailer, border.
        let starts = records.iter().map(|record| record.location.offset);
        for cut in starts.zip(&ends).flat_map(|(start, &end)| [start + 4, start + 60, end - 4, end])
        {
            let dir = tempfile::tempdir().expect("a folder");
            let file = &bytes[..usize::try_from(cut).expect("small")];
            fs::write(dir.path().join(file_name), file).expect("written");
            repair(dir.path()).expect("repaired");
            let new = resource("http://new.example/", "new");
            write_all(dir.path(), with(compression), std::slice::from_ref(&new));
            let mut expected = records.clone();
            expected.truncate(ends.iter().filter(|&&end| end <= cut).count());
            let got = read_folder(dir.path());
            assert_eq!(got[..expected.len()], expected, "cut at {cut}");
            assert_eq!(got.len(), expected.len() + 2, "cut at {cut}");
            assert!(new.is(got.last().expect("the new one")), "cut at {cut}");
            let archive = Archive::open(dir.path()).expect("listed");
            assert_eq!(archive.captures("http://new.example/").expect("looked up").len(), 1);
        }
    }
}

#[test]
fn a_writer_killed_between_records_needs_no_repair() {
    for compression in BOTH {
        let file_name = first_file(compression);
        let dir = tempfile::tempdir().expect("a folder");
        let mut writer = WarcWriter::create(dir.path(), with(compression)).expect("a writer");
        for draft in of_every_kind() {
            draft.write(&mut writer).expect("written");
        }
        drop(writer);
        assert_eq!(names(dir.path()), [file_name]);
        assert_eq!(repair(dir.path()).expect("repaired"), []);
        assert_eq!(read_folder(dir.path()).len(), 6);
    }
}

#[test]
fn trailing_zeros_are_cut_but_other_damage_is_kept() {
    for compression in BOTH {
        let file_name = first_file(compression);
        let (bytes, records) = small(compression);
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(file_name);
        let write = |tail: &[u8]| fs::write(&path, [&bytes, tail].concat()).expect("written");
        write(&[0; 5000]);
        let cut_bytes = 5000;
        let kept_bytes = bytes.len() as u64;
        let expected = [Repair { file: file_name.to_owned(), kept_bytes, cut_bytes }];
        assert_eq!(repair(dir.path()).expect("repaired"), expected);
        assert_eq!(fs::read(&path).expect("read"), bytes);

        write(b"\0\0\0x");
        assert_eq!(repair(dir.path()).expect("nothing"), []);
        assert_eq!(fs::read(&path).expect("read").len(), bytes.len() + 4);

        // Damage in the middle: what follows may be worth something.
        let mut damaged = bytes.clone();
        let middle = usize::try_from(records[2].location.offset).expect("small") + 40;
        damaged[middle] ^= 1;
        fs::write(&path, &damaged).expect("written");
        assert_eq!(repair(dir.path()).expect("nothing"), []);
        assert_eq!(fs::read(&path).expect("read"), damaged);
    }
}

/// The first part of a record, followed by zeros.
#[test]
fn a_torn_record_followed_by_zeros_is_cut() {
    for compression in BOTH {
        let file_name = first_file(compression);
        let (bytes, records) = small(compression);
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(file_name);
        let ends = ends(&records);
        for cut in 0..bytes.len() {
            let file = [&bytes[..cut], &[0; 4096]].concat();
            fs::write(&path, &file).expect("written");
            let whole = ends.iter().filter(|&&end| end <= cut as u64).count();
            // The last bytes of a record may be zeros themselves.
            let next = usize::try_from(ends[whole]).expect("small");
            let whole = whole + usize::from(bytes[cut..next].iter().all(|&byte| byte == 0));
            let kept_bytes = whole.checked_sub(1).map_or(0, |last| ends[last]);
            let cut_bytes = file.len() as u64 - kept_bytes;
            let expected = [Repair { file: file_name.to_owned(), kept_bytes, cut_bytes }];
            assert_eq!(repair(dir.path()).expect("repaired"), expected, "cut at {cut}");
            assert_eq!(read_folder(dir.path()), records[..whole], "cut at {cut}");
        }
        // A readable record follows the damage: nothing is cut.
        let mut damaged = [&bytes[..], &[0; 4096]].concat();
        damaged[usize::try_from(records[2].location.offset).expect("small") + 40] ^= 1;
        fs::write(&path, &damaged).expect("written");
        assert_eq!(repair(dir.path()).expect("nothing"), []);
        assert_eq!(fs::read(&path).expect("read"), damaged);
    }
}

/// A torn record that looks like many costs few tries: beyond them it stays.
#[test]
fn the_number_of_candidate_members_tried_is_limited() {
    for compression in BOTH {
        let file_name = first_file(compression);
        let (bytes, records) = small(compression);
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(file_name);
        let start: &[u8] = if bytes.starts_with(&[0x1F, 0x8B]) {
            &[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xFF]
        } else {
            &[0x28, 0xB5, 0x2F, 0xFD, 0xFF, 0xFF, 0xFF]
        };
        let last = usize::try_from(records.last().expect("some").location.offset).expect("small");
        for (times, is_cut) in [(64, true), (65, false), (5_000, false)] {
            let torn = [&bytes[..last + 40], &start.repeat(times), &[0; 4096]].concat();
            fs::write(&path, &torn).expect("written");
            let repairs = repair(dir.path()).expect("repaired");
            let kept = fs::read(&path).expect("read").len();
            assert_eq!((repairs.len(), kept), if is_cut { (1, last) } else { (0, torn.len()) });
        }
    }
}

#[test]
fn imported_files_are_not_changed() {
    let (bytes, _) = small(BOTH[0]);
    let dir = tempfile::tempdir().expect("a folder");
    let torn = &bytes[..bytes.len() - 9];
    let foreign =
        ["other.warc.gz", "crivello-1.warc.gz", "crivello-00001.warc", "crivello-x.warc.gz"];
    for name in foreign {
        fs::write(dir.path().join(name), torn).expect("written");
    }
    fs::write(dir.path().join("crivello-00009.warc.gz.cdxj.77-0.tmp"), "half").expect("written");
    assert_eq!(repair(dir.path()).expect("repaired"), []);
    let mut expected = foreign.map(str::to_owned);
    expected.sort();
    assert_eq!(names(dir.path()), expected, "only the temporary file is gone");
    assert_eq!(repair(&dir.path().join("absent")).expect("nothing to do"), []);
}

/// Reads damaged bytes: the records are the first of the true ones, and if any is missing, an error says
/// in which file and where.
fn check_damaged(bytes: Vec<u8>, records: &[Record], what: &str) {
    let file_name = &records[0].location.file;
    let path = Path::new("/folder").join(file_name);
    let opened = WarcReader::over(Cursor::new(bytes), &path, 0, Limits::default());
    let (got, errors) = match opened {
        Ok(mut reader) => drain(&mut reader),
        Err(error) => (Vec::new(), vec![error]),
    };
    assert_eq!(got, records[..got.len()], "{what}");
    if got.len() < records.len() {
        let error = errors.first().unwrap_or_else(|| panic!("{what}: records vanish"));
        assert_eq!(error.offset(), Some(records[got.len()].location.offset), "{what}: {error}");
        assert!(error.to_string().contains(file_name), "{what}: {error}");
    }
}

/// Each member has a checksum. A flip is detected unless its bit has no meaning (gzip's time and system, zstd's
/// unused bit). The test flips every single bit and every whole byte.
#[test]
fn a_flipped_byte_never_yields_a_wrong_record() {
    for compression in BOTH {
        let (bytes, records) = small(compression);
        for at in 0..bytes.len() {
            for mask in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
                let mut damaged = bytes.clone();
                damaged[at] ^= mask;
                check_damaged(damaged, &records, &format!("byte {at} ^ {mask}"));
            }
        }
    }
}

#[test]
fn the_reader_reports_where_a_file_is_truncated() {
    for compression in BOTH {
        let file_name = first_file(compression);
        let (bytes, records) = small(compression);
        let ends = ends(&records);
        for cut in 0..bytes.len() {
            let whole = ends.iter().filter(|&&end| end <= cut as u64).count();
            let path = Path::new(file_name);
            let input = Cursor::new(bytes[..cut].to_vec());
            let mut reader = WarcReader::over(input, path, 0, Limits::default()).expect("opened");
            let (got, errors) = drain(&mut reader);
            assert_eq!(got, records[..whole], "cut at {cut}");
            let border = cut == 0 || ends.contains(&(cut as u64));
            match errors.as_slice() {
                [] => assert!(border, "cut at {cut} is not told"),
                [ArchiveError::Truncated { offset, .. }] => {
                    assert_eq!(*offset, whole.checked_sub(1).map_or(0, |last| ends[last]));
                }
                other => panic!("cut at {cut}: {other:?}"),
            }
        }
    }
}

/// Without compression only blocks have a checksum, so headers may be read otherwise than written; but
/// reading ends, and a block is either the true one or refused.
#[test]
fn reading_a_plain_file_with_a_flipped_byte_terminates() {
    let draft = of_every_kind().swap_remove(0);
    let digest = {
        let dir = tempfile::tempdir().expect("a folder");
        write_all(dir.path(), WriterOptions::default(), std::slice::from_ref(&draft));
        let records = read_folder(dir.path());
        records[1].header("WARC-Block-Digest").expect("written").to_owned()
    };
    let mut bytes = format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: 2023-11-14T22:13:20Z\r\n\
         WARC-Record-ID: <urn:x>\r\nWARC-Block-Digest: {digest}\r\nContent-Length: {}\r\n\r\n",
        draft.block.len()
    )
    .into_bytes();
    let header = bytes.len();
    bytes.extend_from_slice(&draft.block);
    bytes.extend_from_slice(b"\r\n\r\n");
    for at in 0..bytes.len() {
        for mask in [1, 2, 32, 255] {
            let mut damaged = bytes.clone();
            damaged[at] ^= mask;
            let input = Cursor::new(damaged);
            let reader = WarcReader::over(input, Path::new("a.warc"), 0, Limits::default());
            let Ok(mut reader) = reader else { continue };
            let (got, errors) = drain(&mut reader);
            let block = header..header + draft.block.len();
            if block.contains(&at) {
                assert!(got.is_empty() && errors.len() == 1, "byte {at} ^ {mask}: {errors:?}");
            }
            assert!(errors.iter().all(|error| error.to_string().contains("a.warc")), "{errors:?}");
        }
    }
}

/// After damage in one member, the folder's reader continues at the next place in the CDXJ file.
#[test]
fn reading_a_folder_continues_after_damage() {
    for compression in BOTH {
        let dir = tempfile::tempdir().expect("a folder");
        let drafts: Vec<_> =
            (0..6).map(|n| resource(&format!("http://a.example/{n}"), "x")).collect();
        let options = WriterOptions { file_bytes_max: 1100, ..with(compression) };
        let places = write_all(dir.path(), options, &drafts);
        let hit = &places[1];
        assert!(places[2].file == hit.file && places[5].file != hit.file, "{places:?}");
        let path = dir.path().join(&hit.file);
        let mut bytes = fs::read(&path).expect("read");
        bytes[usize::try_from(hit.offset).expect("small") + 50] ^= 4;
        fs::write(&path, bytes).expect("written");
        let archive = Archive::open(dir.path()).expect("listed");
        let mut targets = Vec::new();
        let mut errors = Vec::new();
        for record in archive.records() {
            match record {
                Ok(record) => targets.extend(record.target),
                Err(error) => errors.push(error),
            }
        }
        let expected: Vec<_> = [0, 2, 3, 4, 5].map(|n| format!("http://a.example/{n}")).into();
        assert_eq!(targets, expected);
        assert!(matches!(errors.as_slice(), [error @ ArchiveError::Skipped { to, .. }]
                if error.offset() == Some(hit.offset) && *to == places[2].offset));
    }
}

#[test]
fn an_invalid_location_is_an_error() {
    for compression in BOTH {
        let dir = tempfile::tempdir().expect("a folder");
        let places = write_all(dir.path(), with(compression), &of_every_kind());
        let archive = Archive::open(dir.path()).expect("listed");
        let good = &places[1];
        let at = |file: &str, offset, length| Location { file: file.to_owned(), offset, length };
        for name in
            ["../x.warc.gz", "/etc/passwd", "", ".", "..", "a/b", "./crivello-00001.warc.gz"]
        {
            let error = archive.read(&at(name, 0, 9)).expect_err("outside");
            assert!(matches!(error, ArchiveError::Outside { .. }), "{name:?}: {error}");
        }
        let wrong = [
            at(&good.file, good.offset, good.length - 1),
            at(&good.file, good.offset, 0),
            at(&good.file, good.offset + 1, good.length),
            at(&good.file, 1 << 40, good.length),
            at("absent.warc.gz", good.offset, good.length),
        ];
        for place in wrong {
            assert!(archive.read(&place).is_err(), "{place:?}");
        }
        let record = archive.read(good).expect("the good one");
        let draft: &Owned = &of_every_kind()[1];
        assert!(draft.is(&record));
    }
}
