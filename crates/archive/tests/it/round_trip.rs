//! Written records compared with read records: record by record, by place, over file borders.

use std::fs;

use archive::{Archive, ArchiveError, Compression, Kind, Limits, WarcWriter, WriterOptions};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::drafts::{
    BOTH, Owned, first_file, names, of_every_kind, read_all, read_folder, resource, with, write_all,
};

const FILE: &str = "crivello-00001.warc.gz";

/// Text that a header can hold: no control characters, no space at either end.
fn value() -> impl Strategy<Value = String> {
    let any = vec(prop_oneof![4 => proptest::char::range(' ', '~'), 1 => any::<char>()], 0..40);
    any.prop_map(|chars| {
        let text: String = chars.into_iter().filter(|c| !c.is_control()).collect();
        text.trim_ascii().to_owned()
    })
}

fn target() -> impl Strategy<Value = String> {
    prop_oneof![
        // No lower-case hex digits: the reader spells `%aa` as `%AA`.
        "https?://[a-c]{1,3}\\.example(:8[0-9])?/[g-zA-Z?&=%]{0,9}",
        value().prop_filter("refused", |text| !text.is_empty() && !text.starts_with('<')),
    ]
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Warcinfo),
        Just(Kind::Response),
        Just(Kind::Request),
        Just(Kind::Resource),
        Just(Kind::Metadata),
        Just(Kind::Revisit),
        Just(Kind::Conversion),
        Just(Kind::Continuation),
        "[a-z][a-z0-9.-]{0,9}x".prop_map(Kind::Other),
    ]
}

fn content_type() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("application/http;msgtype=response".to_owned()),
        Just("Application/HTTP".to_owned()),
        value().prop_filter("refused", |text| !text.is_empty()),
    ]
}

fn block() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..300),
        "HTTP/1.1 200 OK\r\n(A: b\r\n){0,3}\r\n[a-z]{0,20}".prop_map(String::into_bytes),
        "(\r|\n|WARC/1.1|a: b){0,20}".prop_map(String::into_bytes),
        (any::<u8>(), 0..200_000_usize).prop_map(|(byte, count)| vec![byte; count]),
    ]
}

fn compression() -> impl Strategy<Value = Compression> {
    prop_oneof![
        (0..10_u32).prop_map(|level| Compression::Gzip { level }),
        (1..20_i32).prop_map(|level| Compression::Zstd { level }),
    ]
}

fn draft() -> impl Strategy<Value = Owned> {
    let extra = vec(("X-[A-Za-z0-9!#$%&'*+.^_`|~-]{1,20}", value()), 0..4);
    let date = (-62_000_000_000..250_000_000_000_i64, 0..1_000_000_u32);
    let parts = (kind(), date, option::of(target()));
    (parts, content_type(), extra, block(), 0..60_usize).prop_map(
        |((kind, (date_s, date_us), target), content_type, extra, block, payload_offset)| Owned {
            kind,
            date_s,
            date_us,
            target,
            content_type,
            extra,
            block,
            payload_offset,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn everything_written_is_read_back(
        drafts in vec(draft(), 1..8),
        file_bytes_max in 1..4000_u64,
        compression in compression(),
    ) {
        let dir = tempfile::tempdir().expect("a folder");
        let options = WriterOptions { file_bytes_max, compression, ..WriterOptions::default() };
        let places = write_all(dir.path(), options, &drafts);
        let mut records = read_folder(dir.path());
        // The writer's own come first in each file.
        let own = |record: &archive::Record| record.header("WARC-Filename").is_some();
        prop_assert!(records.iter().filter(|record| own(record)).all(|r| r.kind == Kind::Warcinfo));
        records.retain(|record| !own(record));
        prop_assert_eq!(records.len(), drafts.len());
        let archive = Archive::open(dir.path()).expect("listed");
        for ((record, draft), place) in records.iter().zip(&drafts).zip(&places) {
            prop_assert!(draft.is(record), "{record:?}\nwas {draft:?}");
            prop_assert_eq!(&record.location, place);
            prop_assert_eq!(&archive.read(place).expect("read by place"), record);
        }
    }
}

#[test]
fn a_full_file_starts_the_next_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let drafts: Vec<_> = (0..10).map(|n| resource(&format!("http://a.example/{n}"), "x")).collect();
    let options = WriterOptions { file_bytes_max: 1, ..WriterOptions::default() };
    let places = write_all(dir.path(), options, &drafts[..3]);
    // A file is finished when it has reached the size, so each takes one record.
    let files: Vec<_> = places.iter().map(|place| place.file.as_str()).collect();
    assert_eq!(files, [FILE, "crivello-00002.warc.gz", "crivello-00003.warc.gz"]);
    let cdxj: Vec<_> = names(dir.path()).into_iter().filter(|n| n.contains(".cdxj")).collect();
    assert_eq!(cdxj.len(), 3);
    // The next writer takes up after the highest number, gap or not, and all fit in one file.
    fs::remove_file(dir.path().join("crivello-00002.warc.gz")).expect("removed");
    let places = write_all(dir.path(), WriterOptions::default(), &drafts[3..]);
    assert!(places.iter().all(|place| place.file == "crivello-00004.warc.gz"), "{places:?}");
    let kinds: Vec<_> = read_folder(dir.path()).into_iter().map(|record| record.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == Kind::Warcinfo).count(), 3);
    assert_eq!(kinds.len(), 3 + 2 + 7);
}

#[test]
fn escapes_are_normalised_to_upper_case() {
    let dir = tempfile::tempdir().expect("a folder");
    let drafts = [resource("http://a.example/%aa%2f", "x"), resource("urn:x:%aa", "x")];
    write_all(dir.path(), WriterOptions::default(), &drafts);
    let records = read_folder(dir.path());
    let targets: Vec<_> = records.iter().filter_map(|record| record.target.as_deref()).collect();
    assert_eq!(targets, ["http://a.example/%AA%2F", "urn:x:%aa"]);
}

/// A collection may change over; its files are read as one, and their numbers go on.
#[test]
fn one_folder_may_hold_files_of_both_kinds() {
    let dir = tempfile::tempdir().expect("a folder");
    let drafts: Vec<_> = (0..8).map(|n| resource(&format!("http://a.example/{n}"), "x")).collect();
    let mut places = Vec::new();
    for (two, compression) in drafts.chunks(2).zip(BOTH.into_iter().cycle()) {
        places.extend(write_all(dir.path(), with(compression), two));
    }
    let archive = Archive::open(dir.path()).expect("listed");
    let expected =
        [FILE, "crivello-00002.warc.zst", "crivello-00003.warc.gz", "crivello-00004.warc.zst"];
    assert_eq!(archive.files(), expected);
    let records = read_folder(dir.path());
    let targets: Vec<_> = records.iter().filter_map(|record| record.target.as_deref()).collect();
    assert_eq!(
        targets,
        drafts.iter().filter_map(|draft| draft.target.as_deref()).collect::<Vec<_>>()
    );
    for (draft, place) in drafts.iter().zip(&places) {
        assert!(draft.is(&archive.read(place).expect("read by place")), "{place:?}");
        let target = draft.target.as_deref().expect("it has one");
        let captures = archive.captures(target).expect("looked up");
        assert_eq!(captures.iter().map(|line| &line.location).collect::<Vec<_>>(), [place]);
    }
}

#[test]
fn a_writer_without_records_creates_no_file() {
    let dir = tempfile::tempdir().expect("a folder");
    write_all(&dir.path().join("archive"), WriterOptions::default(), &[]);
    assert!(names(&dir.path().join("archive")).is_empty());
}

#[test]
fn the_same_crawl_writes_identical_bytes_and_unique_ids() {
    for compression in BOTH {
        let bytes = [(); 2].map(|()| {
            let dir = tempfile::tempdir().expect("a folder");
            write_all(dir.path(), with(compression), &of_every_kind());
            let (records, errors) =
                read_all(&dir.path().join(first_file(compression)), &Limits::default());
            assert!(errors.is_empty(), "{errors:?}");
            let mut ids: Vec<_> = records.iter().map(|record| record.id.as_str()).collect();
            assert!(ids.iter().all(|id| id.starts_with("urn:uuid:") && id.len() == 45), "{ids:?}");
            let file = records[0].id.clone();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), records.len());
            for record in &records[1..] {
                assert_eq!(record.header("WARC-Warcinfo-ID"), Some(format!("<{file}>").as_str()));
            }
            fs::read(dir.path().join(first_file(compression))).expect("read")
        });
        assert_eq!(bytes[0], bytes[1]);
    }
}

#[test]
fn an_unreadable_record_is_refused_and_not_written() {
    let good = resource("http://a.example/", "x");
    let extra = |name: &str, value: &str| Owned {
        extra: vec![(name.to_owned(), value.to_owned())],
        ..good.clone()
    };
    let target = |target: &str| Owned { target: Some(target.to_owned()), ..good.clone() };
    let refused = [
        target(""),
        target("<urn:x>"),
        target("http://a.example/\r\nWARC-Type: response"),
        target(" http://a.example/"),
        target(&"x".repeat(70_000)),
        extra("X", "one\ntwo"),
        extra("X", "one\0two"),
        extra("X", "one "),
        extra("", "one"),
        extra("X:Y", "one"),
        extra("X Y", "one"),
        extra("content-length", "7"),
        extra("WARC-Type", "response"),
        extra("WARC-Payload-Digest", "sha1:x"),
        Owned { content_type: String::new(), ..good.clone() },
        Owned { content_type: "a\nb".to_owned(), ..good.clone() },
        Owned { kind: Kind::Other("two words".to_owned()), ..good.clone() },
        Owned { kind: Kind::Other("Response".to_owned()), ..good.clone() },
    ];
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer = WarcWriter::create(dir.path(), WriterOptions::default()).expect("a writer");
    for draft in refused {
        let result = draft.write(&mut writer);
        assert!(matches!(result, Err(ArchiveError::RefusedHeader { .. })), "{draft:?}: {result:?}");
    }
    let huge = Owned { block: vec![0; (256 << 20) + 1], ..good.clone() };
    assert!(matches!(huge.write(&mut writer), Err(ArchiveError::RefusedBlock { .. })));
    good.write(&mut writer).expect("written");
    writer.finish().expect("finished");
    assert_eq!(read_folder(dir.path()).len(), 2);
}

#[test]
fn a_payload_digest_matches_the_body_or_is_omitted() {
    let dir = tempfile::tempdir().expect("a folder");
    let page = &of_every_kind()[0];
    let wrong = Owned { payload_offset: 0, ..page.clone() };
    write_all(dir.path(), WriterOptions::default(), &[page.clone(), wrong]);
    let records = read_folder(dir.path());
    let digests: Vec<_> =
        records[1..].iter().map(|record| record.header("WARC-Payload-Digest")).collect();
    assert_eq!(digests, [Some("sha1:5FU4X3WWSBHEQILRYSQGM2XNS2FVXMFL"), None]);
}
