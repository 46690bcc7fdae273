//! Files from which bytes are gone: where the CDXJ file knows of them it is told, also where nothing in the file itself
//! shows it.

use std::fs;
use std::path::Path;

use archive::{Archive, ArchiveError, Compression, Record, WarcWriter, WriterOptions};

use crate::drafts::{
    BOTH, Owned, first_file, of_every_kind, read_folder, resource, with, write_all,
};

/// An archive of one file, its bytes and records, and its CDXJ file.
struct Whole {
    dir: tempfile::TempDir,
    file: &'static str,
    bytes: Vec<u8>,
    cdxj: Vec<u8>,
    records: Vec<Record>,
}

impl Whole {
    fn new(compression: Compression) -> Whole {
        let pages = (0..4).map(|n| resource(&format!("http://a.example/{n}"), "x"));
        Whole::of(compression, &of_every_kind().into_iter().chain(pages).collect::<Vec<_>>())
    }

    fn of(compression: Compression, drafts: &[Owned]) -> Whole {
        let (dir, file) = (tempfile::tempdir().expect("a folder"), first_file(compression));
        write_all(dir.path(), with(compression), drafts);
        let read = |name: &str| fs::read(dir.path().join(name)).expect("read");
        let (bytes, cdxj) = (read(file), read(&format!("{file}.cdxj")));
        let records = read_folder(dir.path());
        Whole { dir, file, bytes, cdxj, records }
    }

    fn put(&self, bytes: &[u8], cdxj: &[u8]) {
        fs::write(self.dir.path().join(self.file), bytes).expect("written");
        fs::write(self.dir.path().join(format!("{}.cdxj", self.file)), cdxj).expect("written");
    }

    fn read(&self) -> (Vec<Record>, Vec<ArchiveError>) {
        let (mut records, mut errors) = (Vec::new(), Vec::new());
        for record in Archive::open(self.dir.path()).expect("listed").records() {
            match record {
                Ok(record) => records.push(record),
                Err(error) => errors.push(error),
            }
        }
        (records, errors)
    }

    /// Where records begin, and the end.
    fn borders(&self) -> Vec<usize> {
        let starts = self.records.iter().map(|record| record.location.offset);
        let starts = starts.map(|offset| usize::try_from(offset).expect("small"));
        starts.chain([self.bytes.len()]).collect()
    }
}

fn look_up(dir: &Path) {
    let archive = Archive::open(dir).expect("listed");
    archive.captures("http://a.example/3").expect("looked up");
}

/// What is left is read, and exactly one error says that the file is not whole; a lookup, which makes the CDXJ file
/// again, does not make it forgotten.
#[test]
fn wherever_a_file_is_cut_it_is_told() {
    for compression in BOTH {
        let whole = Whole::new(compression);
        let borders = whole.borders();
        for cut in 0..=whole.bytes.len() {
            whole.put(&whole.bytes[..cut], &whole.cdxj);
            let left = borders[1..].iter().filter(|&&end| end <= cut).count();
            let is_border = cut == 0 || borders.contains(&cut);
            // A CDXJ file that is made is synced, which takes its time.
            let looks = if is_border || cut % 64 == 0 { &[false, true][..] } else { &[false] };
            for &is_looked_up in looks {
                let what = format!("cut at {cut}, {compression:?}, looked up: {is_looked_up}");
                if is_looked_up {
                    look_up(whole.dir.path());
                }
                let (records, errors) = whole.read();
                assert_eq!(records, whole.records[..left], "{what}");
                match errors.as_slice() {
                    [] => assert_eq!(cut, whole.bytes.len(), "{what}"),
                    [ArchiveError::Truncated { offset, .. }] => {
                        assert!(!is_border, "{what}");
                        assert_eq!(*offset, borders[left] as u64, "{what}");
                    }
                    [ArchiveError::Shrunk { offset, had, .. }] => {
                        assert!(is_border, "{what}");
                        assert_eq!(
                            (*offset, *had),
                            (cut as u64, whole.bytes.len() as u64),
                            "{what}"
                        );
                    }
                    other => panic!("{what}: {other:?}"),
                }
            }
        }
    }
}

/// Members begin alike: if the bytes from within the beginning of one up to the same place of another are missing, what
/// is left is a file of whole members.
#[test]
fn whatever_is_taken_out_between_two_records_is_told() {
    for compression in BOTH {
        let whole = Whole::new(compression);
        let starts = whole.borders();
        let mut unseen = 0;
        for pair in starts.windows(2) {
            let length = pair[1] - pair[0];
            let ends = pair[1].min(whole.bytes.len() - length);
            // Beginnings are alike for a few dozen bytes.
            for from in (pair[0]..ends).filter(|from| from - pair[0] < 48 || from % 17 == 0) {
                let left = [&whole.bytes[..from], &whole.bytes[from + length..]].concat();
                whole.put(&left, &whole.cdxj);
                let (records, errors) = whole.read();
                assert!(records.len() < whole.records.len(), "from {from}");
                assert!(!errors.is_empty(), "{length} bytes from {from} on, {compression:?}");
                let others = errors.iter().filter(|e| !matches!(e, ArchiveError::Shrunk { .. }));
                unseen += usize::from(others.count() == 0);
            }
        }
        // Not only where whole records are gone.
        assert!(unseen > starts.len(), "{unseen}");
    }
}

/// It is made again, and lookups find what they did before.
#[test]
fn a_cdxj_file_that_is_cut_anywhere_is_made_again() {
    // Each one that is made is synced, which takes its time.
    for (compression, step) in BOTH.into_iter().zip([1, 29]) {
        let pages = [resource("http://a.example/1", "x"), resource("http://a.example/2", "y")];
        let whole = Whole::of(compression, &pages);
        let archive = Archive::open(whole.dir.path()).expect("listed");
        let targets: Vec<_> =
            whole.records.iter().filter_map(|record| record.target.clone()).collect();
        let ask = || {
            let captures = |url| archive.captures(url).expect("looked up");
            targets.iter().map(|url| captures(url)).collect::<Vec<_>>()
        };
        let before = ask();
        for cut in (0..whole.cdxj.len()).step_by(step) {
            whole.put(&whole.bytes, &whole.cdxj[..cut]);
            let (records, errors) = whole.read();
            assert!(errors.is_empty() && records == whole.records, "cut at {cut}: {errors:?}");
            assert_eq!(ask(), before, "cut at {cut}");
            let made = fs::read(whole.dir.path().join(format!("{}.cdxj", whole.file)));
            assert_eq!(made.expect("read"), whole.cdxj, "cut at {cut}");
        }
        // Its first line is enough to know that the file was longer.
        let first = whole.cdxj.iter().position(|&byte| byte == b'\n').expect("lines") + 1;
        whole.put(&whole.bytes[..whole.borders()[2]], &whole.cdxj[..first]);
        assert!(matches!(whole.read().1.as_slice(), [ArchiveError::Shrunk { .. }]));
    }
}

#[test]
fn a_whole_copy_ends_the_matter_and_so_does_deleting_the_cdxj_file() {
    let whole = Whole::new(BOTH[0]);
    let cut = &whole.bytes[..whole.borders()[4]];
    whole.put(cut, &whole.cdxj);
    look_up(whole.dir.path());
    assert_eq!(whole.read().1.len(), 1);
    fs::write(whole.dir.path().join(whole.file), &whole.bytes).expect("written");
    assert!(whole.read().1.is_empty());
    look_up(whole.dir.path());
    let cdxj = whole.dir.path().join(format!("{}.cdxj", whole.file));
    assert_eq!(fs::read(&cdxj).expect("read"), whole.cdxj);

    whole.put(cut, &whole.cdxj);
    fs::remove_file(&cdxj).expect("removed");
    assert!(whole.read().1.is_empty());
}

/// The CDXJ file of a file that is gone still tells what was lost, and so may others know its name.
#[test]
fn a_name_is_not_used_again_while_somebody_knows_it() {
    let whole = Whole::new(BOTH[0]);
    let dir = whole.dir.path();
    let write = |taken: &[&str]| {
        let taken = taken.iter().copied().map(str::to_owned).collect();
        let mut writer =
            WarcWriter::create(dir, WriterOptions { taken, ..with(BOTH[0]) }).expect("a writer");
        resource("http://b.example/", "x").write(&mut writer).expect("written");
        writer.finish().expect("finished");
        Archive::open(dir).expect("listed").files().last().expect("one").clone()
    };
    fs::remove_file(dir.join(whole.file)).expect("removed");
    assert_eq!(write(&[]), "crivello-00002.warc.gz");
    assert_eq!(Archive::open(dir).expect("listed").gone().expect("listed"), [whole.file]);
    let taken = ["crivello-00001.warc.gz", "crivello-00003.warc.zst", "other-00009.warc.gz"];
    assert_eq!(write(&taken), "crivello-00004.warc.gz");
    assert_eq!(write(&taken), "crivello-00005.warc.gz");
}
