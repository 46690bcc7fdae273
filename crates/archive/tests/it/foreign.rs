//! Files of other writers: plain, several records a member, one record over several members, odd headers;
//! and the limits that hold for all of them.

use std::fs;
use std::io::{Cursor, Read, Seek, SeekFrom, Write as _};
use std::path::Path;

use archive::{Archive, ArchiveError, Kind, Limits, Record, WarcReader};
use flate2::Compression;
use flate2::write::GzEncoder;
use zstd_safe::{CCtx, CParameter, compress_bound};

use crate::drafts::drain;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("to memory");
    encoder.finish().expect("to memory")
}

/// A frame without size and checksum, as tools make them that read from a pipe.
pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(compress_bound(bytes.len()));
    let mut context = CCtx::create();
    let flag = CParameter::ContentSizeFlag(false);
    context.set_parameter(flag).expect("a flag");
    context.compress2(&mut out, bytes).expect("it has room");
    out
}

/// Both ways to pack.
const PACKERS: [Packer; 2] = [gzip, zstd];
type Packer = fn(&[u8]) -> Vec<u8>;

/// A record as text, with its blank lines.
pub(crate) fn record(number: u32, block: &str) -> Vec<u8> {
    let length = block.len();
    format!(
        "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n\
         WARC-Record-ID: <urn:{number}>\r\nWARC-Target-URI: <http://a.example/{number}>\r\n\
         Content-Length: {length}\r\n\r\n{block}\r\n\r\n"
    )
    .into_bytes()
}

pub(crate) fn read(bytes: Vec<u8>, limits: &Limits) -> (Vec<Record>, Vec<ArchiveError>) {
    let path = Path::new("a.warc");
    match WarcReader::over(Cursor::new(bytes), path, 0, limits.clone()) {
        Ok(mut reader) => drain(&mut reader),
        Err(error) => (Vec::new(), vec![error]),
    }
}

/// The ids that come out and the errors' texts.
pub(crate) fn check(bytes: Vec<u8>, limits: &Limits, ids: &[&str], messages: &[&str]) {
    let (records, errors) = read(bytes, limits);
    assert_eq!(records.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), ids, "{errors:?}");
    assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), messages);
}

pub(crate) fn cat(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

#[test]
fn files_of_every_shape_are_read() {
    for pack in PACKERS {
        let limits = Limits::default();
        let (one, two) = (record(1, "one"), record(2, ""));
        check(cat(&[&one, &two]), &limits, &["urn:1", "urn:2"], &[]);
        check(cat(&[&pack(&one), &pack(&two)]), &limits, &["urn:1", "urn:2"], &[]);
        // All in one member, as `gzip file.warc` makes it; and a record torn over two.
        check(pack(&cat(&[&one, &two])), &limits, &["urn:1", "urn:2"], &[]);
        check(cat(&[&pack(&one[..70]), &pack(&one[70..])]), &limits, &["urn:1"], &[]);
        check(cat(&[&pack(b""), &pack(&one), &pack(b"\r\n")]), &limits, &["urn:1"], &[]);
        check(cat(&[b"\r\n\r\n", &one]), &limits, &["urn:1"], &[]);
        check(Vec::new(), &limits, &[], &[]);
        // A tail that is not a record is reported after the record and before the next member.
        let tail = pack(&cat(&[&one, b"tail"]));
        let garbage = "a.warc has no WARC record at byte 0; found \"tail\"";
        check(cat(&[&tail, &pack(&two)]), &limits, &["urn:1", "urn:2"], &[garbage]);
        // Bare line feeds.
        let text = String::from_utf8(one).expect("text").replace("\r\n", "\n");
        check(text.into_bytes(), &limits, &["urn:1"], &[]);
    }
}

#[test]
fn records_sharing_a_member_are_readable_only_in_sequence() {
    for pack in PACKERS {
        let dir = tempfile::tempdir().expect("a folder");
        let bytes = pack(&cat(&[&record(1, "one"), &record(2, "two")]));
        fs::write(dir.path().join("a.warc.gz"), bytes).expect("written");
        let archive = Archive::open(dir.path()).expect("listed");
        let records: Vec<_> = archive.records().map(|record| record.expect("read")).collect();
        assert_eq!(records.len(), 2);
        let error = archive.read(&records[1].location).expect_err("shared");
        assert!(matches!(error, ArchiveError::SharedMember { .. }), "{error}");
        assert_eq!(archive.captures("http://a.example/2").expect("looked up"), []);
    }
}

#[test]
fn errors_name_cause_and_offset_and_reading_continues() {
    let limits = Limits::default();
    let (one, two) = (record(1, "one"), record(2, "two"));
    let edit = |from: &str, to: &str| {
        String::from_utf8(one.clone()).expect("text").replace(from, to).into_bytes()
    };
    let table = [
        ("WARC-Type: resource\r\n", "", "the record at byte 0 of a.warc has no WARC-Type"),
        ("WARC-Date: 2", "X: 2", "the record at byte 0 of a.warc has no WARC-Date"),
        (
            "2020-01-01T",
            "yesterday",
            "the record at byte 0 of a.warc has an unusable WARC-Date: \"yesterday00:00:00Z\"",
        ),
        ("Content-Length: 3", "X: 3", "the record at byte 0 of a.warc has no Content-Length"),
        (
            "Length: 3",
            "Length: -3",
            "the record at byte 0 of a.warc has an unusable Content-Length: \"-3\"",
        ),
        (
            "Length: 3",
            "Length: 99999999999999999999",
            "the record at byte 0 of a.warc has an unusable Content-Length: \"99999999999999999999\"",
        ),
        (
            "Length: 3",
            "Length: 2",
            "the record at byte 0 of a.warc does not have its declared length of 2 bytes",
        ),
        (
            "Length: 3",
            "Length: 300",
            "the record at byte 0 of a.warc does not have its declared length of 300 bytes",
        ),
        (
            "Length: 3",
            "Length: 999999999",
            "the block at byte 0 of a.warc is larger than the limit of 268435456 bytes",
        ),
        ("WARC/1.0", "WARC/7.0", "the record at byte 0 of a.warc has an unusable version: \"7.0\""),
        ("WARC/1.0", "WORK/1.0", "a.warc has no WARC record at byte 0; found \"WORK/1.0\""),
        ("X", "X", ""),
    ];
    for (from, to, message) in table.into_iter().filter(|row| !row.2.is_empty()) {
        // With a member each, whatever is wrong with one does not hide the next.
        for pack in PACKERS {
            let bytes = cat(&[&pack(&edit(from, to)), &pack(&two)]);
            check(bytes, &limits, &["urn:2"], &[message]);
        }
    }
    let digest = edit(
        "Content-Length",
        "WARC-Block-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\nContent-Length",
    );
    let (records, errors) = read(cat(&[&digest, &two]), &limits);
    assert!(records.len() == 1 && matches!(errors.as_slice(), [ArchiveError::Digest { .. }]));
    let unchecked = Limits { verify_digests: false, ..limits };
    check(cat(&[&digest, &two]), &unchecked, &["urn:1", "urn:2"], &[]);
}

#[test]
fn an_arc_file_is_refused_with_a_remedy() {
    let limits = Limits::default();
    let arc = b"filedesc://x.arc 0.0.0.0 20200101000000 text/plain 9\n".to_vec();
    let message =
        "a.warc is an ARC file, which is not supported; convert it with `warcio recompress`";
    check(arc.clone(), &limits, &[], &[message]);
    for pack in PACKERS {
        check(pack(&arc), &limits, &[], &[message]);
    }
}

/// An endless file: `head`, then one byte for ever. Panics when far more is read than any limit allows.
struct Endless {
    head: Cursor<Vec<u8>>,
    byte: u8,
    read: usize,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let from_head = self.head.read(buffer)?;
        if from_head > 0 {
            return Ok(from_head);
        }
        buffer.fill(self.byte);
        self.read += buffer.len();
        assert!(self.read < 10 << 20, "no limit holds");
        Ok(buffer.len())
    }
}

impl Seek for Endless {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.head.seek(to)
    }
}

#[test]
fn endless_headers_blocks_and_blanks_are_limited() {
    let limits = Limits { block_bytes_max: 1 << 20, ..Limits::default() };
    let block =
        b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Date: 2020\r\nContent-Length: 1048576\r\n\r\n";
    for (head, byte, what) in [
        (&b"WARC/1.0\r\n"[..], b'x', "header"),
        (b"WARC/1.0\r\n", b'\n', "has no Content-Length"),
        (b"", b'\n', "space between records"),
        (b"", b'x', "no WARC record"),
        (&block[..], b'x', "declared length of 1048576 bytes"),
        (b"\x1f\x8b\x08\x08\0\0\0\0\0\0", b'x', "gzip header has no end"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\0", b'\xff', "deflate data is invalid"),
        (b"\x28\xb5\x2f\xfd", b'\xff', "zstd data is invalid"),
    ] {
        let input = Endless { head: Cursor::new(head.to_vec()), byte, read: 0 };
        let mut reader =
            WarcReader::over(input, Path::new("a.warc"), 0, limits.clone()).expect("opened");
        let error = reader.next_record().expect_err(what);
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn a_bomb_is_refused_or_skipped_in_bounded_memory() {
    for pack in PACKERS {
        let limits = Limits { block_bytes_max: 1 << 20, ..Limits::default() };
        let bomb = record(1, &"\0".repeat(50 << 20));
        let packed = pack(&bomb);
        assert!(packed.len() < 100_000);
        let message = "the block at byte 0 of a.warc is larger than the limit of 1048576 bytes";
        check(cat(&[&packed, &pack(&record(2, "two"))]), &limits, &["urn:2"], &[message]);
        check(cat(&[&bomb, &record(2, "two")]), &limits, &["urn:2"], &[message]);
        // A header that unpacks to much, and blanks that do.
        let header = pack(&cat(&[b"WARC/1.0\r\nX: ", "x".repeat(50 << 20).as_bytes()]));
        let message = "the header at byte 0 of a.warc is larger than the limit of 65536 bytes";
        check(cat(&[&header, &pack(&record(2, "two"))]), &limits, &["urn:2"], &[message]);
        let blanks = pack("\r\n".repeat(25 << 20).as_bytes());
        let message =
            "the space between records at byte 0 of a.warc is larger than the limit of 4096 bytes";
        check(cat(&[&blanks, &pack(&record(2, "two"))]), &limits, &["urn:2"], &[message]);
    }
}

/// A declared length is a promise, not a reason to allocate.
#[test]
fn a_declared_length_allocates_no_memory() {
    let limits = Limits { block_bytes_max: u64::MAX, ..Limits::default() };
    let text = "WARC/1.0\r\nWARC-Type: x\r\nWARC-Date: 2020\r\nContent-Length: 9999999999999999999\r\n\r\nabc";
    check(text.into(), &limits, &[], &["a.warc ends inside the record at byte 0"]);
}

#[test]
fn folded_mixed_case_and_unknown_headers_are_read() {
    let text = "warc/1.1\nwarc-type: Novel\nWARC-DATE: 20200101000000\nx-long: one\n two\n\
                content-length: 2\n\nhi";
    let (records, errors) = read(text.into(), &Limits::default());
    assert!(errors.is_empty(), "{errors:?}");
    let record = &records[0];
    assert_eq!(record.kind, Kind::Other("novel".to_owned()));
    assert_eq!(record.kind.to_string(), "novel");
    assert_eq!((record.date_s, record.header("X-LONG")), (1_577_836_800, Some("one two")));
    assert_eq!((record.id.as_str(), record.target.as_deref()), ("", None));
}
