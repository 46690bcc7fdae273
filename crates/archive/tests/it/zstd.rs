//! Features of zstd files: dictionaries, extension frames, frames without a checksum, windows, and unbounded
//! compression.

use std::fs;

use archive::{Archive, Compression, Limits};
use zstd_safe::{CCtx, CParameter, compress_bound, get_frame_content_size};

use crate::drafts::{first_file, of_every_kind, read_folder, resource, with, write_all};
use crate::foreign::{cat, check, record, zstd};

/// Trained on records such as [`record`] makes.
const DICTIONARY: &[u8] = include_bytes!("zstd.dict");
const DICTIONARY_MAGIC: u32 = 0x184D_2A5D;

fn frame(bytes: &[u8], dictionary: &[u8], parameters: &[CParameter]) -> Vec<u8> {
    let mut out = Vec::with_capacity(compress_bound(bytes.len()));
    let mut context = CCtx::create();
    for &parameter in parameters {
        context.set_parameter(parameter).expect("within range");
    }
    context.load_dictionary(dictionary).expect("a dictionary");
    context.compress2(&mut out, bytes).expect("it has room");
    out
}

fn skippable(magic: u32, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("small");
    cat(&[&magic.to_le_bytes(), &length.to_le_bytes(), bytes])
}

#[test]
fn our_frames_follow_the_format() {
    let dir = tempfile::tempdir().expect("a folder");
    let compression = Compression::Zstd { level: 1 };
    let mut drafts = of_every_kind();
    drafts.push(resource("http://large.example/", &"large ".repeat(500_000)));
    write_all(dir.path(), with(compression), &drafts);
    let bytes = fs::read(dir.path().join(first_file(compression))).expect("read");
    for record in read_folder(dir.path()) {
        let start = usize::try_from(record.location.offset).expect("small");
        let frame = &bytes[start..][..usize::try_from(record.location.length).expect("small")];
        assert!(frame.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]));
        assert_eq!(frame[4] & 0b111, 0b100, "a checksum and no dictionary");
        let size = get_frame_content_size(frame).expect("a frame").expect("a size");
        assert!(size > record.block.len() as u64);
        let mut plain = Vec::with_capacity(4 << 20);
        zstd_safe::decompress(&mut plain, frame).expect("a frame by itself");
        assert!(plain.starts_with(b"WARC/1.1\r\n") && plain.ends_with(b"\r\n\r\n"));
    }
}

#[test]
fn every_record_finds_the_plain_or_packed_dictionary() {
    let records = [1, 2, 3].map(|number| record(number, "some text"));
    let frames: Vec<_> = records.iter().map(|bytes| frame(bytes, DICTIONARY, &[])).collect();
    for dictionary in [DICTIONARY.to_vec(), zstd(DICTIONARY)] {
        let head = skippable(DICTIONARY_MAGIC, &dictionary);
        let bytes = cat(&[&head, &frames[0], &frames[1], &frames[2]]);
        check(bytes.clone(), &Limits::default(), &["urn:1", "urn:2", "urn:3"], &[]);
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("a.warc.zst"), bytes).expect("written");
        let archive = Archive::open(dir.path()).expect("listed");
        for record in read_folder(dir.path()) {
            assert_eq!(archive.read(&record.location).expect("by its place"), record);
            let captures = archive.captures(record.target.as_deref().expect("a target"));
            assert_eq!(captures.expect("looked up")[0].location, record.location);
        }
    }
}

#[test]
fn an_invalid_dictionary_is_reported() {
    let packed = frame(&record(1, "some text"), DICTIONARY, &[]);
    let limits = Limits::default();
    let missing = "a.warc is damaged at byte 0: it needs a dictionary that its file does not have";
    check(packed.clone(), &limits, &[], &[missing]);
    let head = skippable(DICTIONARY_MAGIC, b"nothing of the kind");
    let none = "a.warc is damaged at byte 0: its dictionary frame holds no dictionary";
    check(cat(&[&head, &packed]), &limits, &[], &[none]);
    let head = skippable(DICTIONARY_MAGIC, DICTIONARY);
    check(
        head[..head.len() - 1].to_vec(),
        &limits,
        &[],
        &["a.warc ends inside the record at byte 0"],
    );
    // It says that it is large, or unpacks to much.
    let large = "the dictionary at byte 0 of a.warc is larger than the limit of 8388608 bytes";
    check(cat(&[&DICTIONARY_MAGIC.to_le_bytes(), &[0xff; 4]]), &limits, &[], &[large]);
    let bomb = skippable(DICTIONARY_MAGIC, &zstd(&vec![0; 100 << 20]));
    assert!(bomb.len() < 20_000);
    check(bomb, &limits, &[], &[large]);
    let mut damaged = DICTIONARY.to_vec();
    damaged[12..80].fill(0xff);
    let head = skippable(DICTIONARY_MAGIC, &damaged);
    let invalid = "a.warc is damaged at byte 0: its dictionary is invalid";
    check(cat(&[&head, &packed]), &limits, &[], &[invalid]);
}

#[test]
fn extension_frames_are_skipped() {
    let limits = Limits::default();
    let one = zstd(&record(1, "one"));
    for magic in [0x184D_2A50, 0x184D_2A5D, 0x184D_2A5F] {
        let extension = skippable(magic, &vec![7; 70_000]);
        let two = zstd(&record(2, "two"));
        let bytes = cat(&[&one, &extension, &skippable(magic, b""), &two, &extension]);
        check(bytes.clone(), &limits, &["urn:1", "urn:2"], &[]);
        let (cut, at) = (bytes[..bytes.len() - 1].to_vec(), bytes.len() - extension.len());
        let torn = format!("a.warc ends inside the record at byte {at}");
        check(cut, &limits, &["urn:1", "urn:2"], &[&torn]);
    }
    let one = frame(&record(1, "one"), &[], &[CParameter::ChecksumFlag(true)]);
    let garbage = format!("a.warc is damaged at byte {}: no zstd frame begins here", one.len());
    check(cat(&[&one, b"WARC"]), &limits, &["urn:1"], &[&garbage]);
}

/// A flipped bit would make a frame with a checksum one without, and its place a wrong one.
#[test]
fn a_frame_without_checksum_is_followed_by_another() {
    let limits = Limits::default();
    let frame = frame(&record(1, "one"), &[], &[CParameter::ChecksumFlag(true)]);
    let mut flipped = frame.clone();
    flipped[4] ^= 0b100;
    let message = "a.warc is damaged at byte 0: no frame follows it";
    check(cat(&[&flipped, &frame]), &limits, &[], &[message]);
    check(cat(&[&flipped[..frame.len() - 4], &frame]), &limits, &["urn:1", "urn:1"], &[]);
    let mut wrong = frame.clone();
    *wrong.last_mut().expect("a byte") ^= 1;
    let message = "a.warc is damaged at byte 0: checksum mismatch";
    check(wrong, &limits, &[], &[message]);
}

#[test]
fn a_window_of_a_gigabyte_is_refused() {
    // Magic number, no size given, and a window of 2³⁰ bytes.
    let bytes = b"\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00".to_vec();
    let message = "a.warc is damaged at byte 0: its window is larger than 128 MiB";
    check(bytes, &Limits::default(), &[], &[message]);
}

/// A few bytes of zstd can unpack to gigabytes. Output above the limit of a record needs as much input as gzip would
/// need.
#[test]
fn a_record_that_unpacks_without_bounds_is_refused() {
    let limits = Limits { block_bytes_max: 1 << 20, ..Limits::default() };
    let header =
        "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Date: 2020\r\nContent-Length: 99999999999\r\n\r\n";
    // A raw block with the header, then blocks of 128 KiB that repeat one byte, four bytes each.
    let raw = u32::try_from(header.len()).expect("small") << 3;
    let mut bomb = b"\x28\xb5\x2f\xfd\x00\x70".to_vec();
    bomb.extend_from_slice(&raw.to_le_bytes()[..3]);
    bomb.extend_from_slice(header.as_bytes());
    let repeated = (128_u32 << 10) << 3 | 1 << 1;
    for _ in 0..100_000 {
        bomb.extend_from_slice(&repeated.to_le_bytes()[..3]);
        bomb.push(b'x');
    }
    let block = "the block at byte 0 of a.warc is larger than the limit of 1048576 bytes";
    let unpacked =
        "the unpacked data at byte 0 of a.warc is larger than the limit of 68157440 bytes";
    check(bomb, &limits, &[], &[block, unpacked]);
    // Records of the size that is allowed are read, however well they were packed.
    let zeros = record(1, &"\0".repeat(1 << 20));
    check(cat(&[&zstd(&zeros), &zstd(&zeros)]), &limits, &["urn:1", "urn:1"], &[]);
}
