//! Files that have lost bytes. The CDXJ file shows which captures are lost, even if the file itself shows no loss.

use std::fs;

use archive::{Archive, ArchiveError, CdxLine, Compression, Record, WarcWriter, WriterOptions};

use crate::drafts::{
    BOTH, Owned, first_file, of_every_kind, read_folder, resource, with, write_all,
};

/// A URL, and when it was captured.
type Place = (String, i64);

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

    /// Returns whether the file is listed as shrunk, and its present and lost captures, by URL and date.
    fn lost(&self) -> (bool, Vec<Place>, Vec<Place>) {
        let archive = Archive::open(self.dir.path()).expect("listed");
        let is_told = !archive.gone().expect("listed").is_empty();
        let (mut has, mut lost) = (Vec::new(), Vec::new());
        archive.each_capture(&mut |line| has.push((line.url, line.date_s))).expect("looked up");
        archive.each_gone(self.file, &mut |line| lost.push((line.url, line.date_s))).expect("read");
        has.sort_unstable();
        lost.sort_unstable();
        for (url, date_s) in &lost {
            let found = archive.missing_captures(url).expect("looked up");
            assert!(found.iter().any(|line| line.date_s == *date_s && !line.key.contains('!')));
        }
        (is_told, has, lost)
    }

    /// The captures of these records.
    fn captures(records: &[Record]) -> Vec<Place> {
        let lines = records.iter().filter_map(CdxLine::of);
        let mut places: Vec<Place> = lines.map(|line| (line.url, line.date_s)).collect();
        places.sort_unstable();
        places
    }

    /// Where records begin, and the end.
    fn borders(&self) -> Vec<usize> {
        let starts = self.records.iter().map(|record| record.location.offset);
        let starts = starts.map(|offset| usize::try_from(offset).expect("small"));
        starts.chain([self.bytes.len()]).collect()
    }
}

/// The remaining records are read, and the loss is reported at every lookup. The lookup rebuilds the CDXJ file.
#[test]
fn a_truncated_file_is_reported_at_any_cut() {
    for compression in BOTH {
        let whole = Whole::new(compression);
        let borders = whole.borders();
        for cut in 0..=whole.bytes.len() {
            whole.put(&whole.bytes[..cut], &whole.cdxj);
            let left = borders[1..].iter().filter(|&&end| end <= cut).count();
            let is_border = cut == 0 || borders.contains(&cut);
            let what = format!("cut at {cut}, {compression:?}");
            let (records, errors) = whole.read();
            assert_eq!(records, whole.records[..left], "{what}");
            match errors.as_slice() {
                [] => assert!(is_border, "{what}"),
                [ArchiveError::Truncated { offset, .. }] => {
                    assert!(!is_border, "{what}");
                    assert_eq!(*offset, borders[left] as u64, "{what}");
                }
                other => panic!("{what}: {other:?}"),
            }
            // A CDXJ file that is made is synced, which takes its time.
            if !is_border && cut % 64 != 0 {
                continue;
            }
            let (had, has) = (Whole::captures(&whole.records), Whole::captures(&records));
            let gone: Vec<Place> = had.iter().filter(|it| !has.contains(it)).cloned().collect();
            for _ in 0..2 {
                let told = whole.lost();
                assert_eq!(told, (cut < whole.bytes.len(), has.clone(), gone.clone()), "{what}");
            }
        }
    }
}

/// Members begin alike: if the bytes from within the beginning of one up to the same place of another are missing, what
/// is left is a file of whole members.
#[test]
fn any_removed_records_are_reported() {
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
                let archive = Archive::open(whole.dir.path()).expect("listed");
                let what = format!("{length} bytes from {from} on, {compression:?}");
                assert_eq!(archive.gone().expect("listed"), [whole.file], "{what}");
                unseen += usize::from(errors.is_empty());
            }
        }
        // Not only where whole records are gone.
        assert!(unseen > starts.len(), "{unseen}");
    }
}

/// It is made again, and lookups find what they did before.
#[test]
fn a_truncated_cdxj_file_is_rebuilt() {
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
        assert_eq!(archive.gone().expect("listed"), [whole.file]);
    }
}

#[test]
fn a_whole_copy_or_deleted_cdxj_clears_the_loss() {
    let whole = Whole::new(BOTH[0]);
    let cut = &whole.bytes[..whole.borders()[4]];
    whole.put(cut, &whole.cdxj);
    assert!(whole.lost().0);
    // A part of what is missing, and then all.
    fs::write(whole.dir.path().join(whole.file), &whole.bytes[..whole.borders()[6]])
        .expect("written");
    assert_eq!(whole.lost().2, Whole::captures(&whole.records[6..]));
    fs::write(whole.dir.path().join(whole.file), &whole.bytes).expect("written");
    assert_eq!(whole.lost(), (false, Whole::captures(&whole.records), Vec::new()));
    let cdxj = whole.dir.path().join(format!("{}.cdxj", whole.file));
    assert_eq!(fs::read(&cdxj).expect("read"), whole.cdxj);

    whole.put(cut, &whole.cdxj);
    fs::remove_file(&cdxj).expect("removed");
    assert!(!whole.lost().0);
}

/// The CDXJ file of a removed file still lists the lost captures, and other data may know its name.
#[test]
fn a_known_file_name_is_not_reused() {
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

/// That a file has lost something is forgotten, and what; what cannot be read in it is not.
#[test]
fn lost_captures_can_be_forgotten_but_damage_stays_listed() {
    for compression in BOTH {
        let whole = Whole::new(compression);
        let archive = || Archive::open(whole.dir.path()).expect("listed");
        let [.., damaged, _, last] = &whole.records[..] else { panic!("some records") };
        let url = damaged.target.as_deref().expect("a page");
        let place = |record: &Record| usize::try_from(record.location.offset).expect("it is short");
        let mut bytes = whole.bytes.clone();
        bytes.truncate(place(last));
        bytes.drain(place(damaged) + 40..place(damaged) + 60);
        whole.put(&bytes, &whole.cdxj);
        let is_known = || {
            let mut lines = archive().unreadable(url).expect("looked up").into_iter();
            lines.any(|line| line.url == url)
        };
        let (is_told, has, lost) = whole.lost();
        assert!(is_told && lost.len() == 1 && is_known(), "{lost:?}");
        archive().forget(whole.file).expect("room");
        assert_eq!(whole.lost(), (false, has, Vec::new()));
        assert!(is_known());
        assert_eq!(archive().missing_captures(url).expect("looked up"), []);
    }
}
