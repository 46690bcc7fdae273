//! Files that are nearly WARC files: reading them ends, and gives out nothing beyond the limits.
//!
//! The damage is done before compression, so that it comes to the reader of records and not only to the checksums, or
//! after it, or both.

use std::fs;
use std::io::{Cursor, Read as _, Write as _};
use std::path::Path;

use archive::{Archive, ArchiveError, Limits, Unpacked, WarcReader, repair};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::drafts::{BOTH, drain, first_file, of_every_kind, with, write_all};

const LIMITS: Limits =
    Limits { header_bytes_max: 2_000, block_bytes_max: 10_000, verify_digests: true };

/// Words that mean something where a header, a chunk or a member is expected.
const WORDS: [&[u8]; 18] = [
    b"WARC/1.1\r\n",
    b"WARC/",
    b"\r\n\r\n",
    b"\r\n",
    b"\n",
    b"Content-Length: 99999999999999999999\r\n",
    b"Content-Length: 9999\r\n",
    b"Content-Length: 0\r\n",
    b"Content-Length: -1\r\n",
    b"WARC-Type: revisit\r\n",
    b"WARC-Segment-Number: 2\r\n",
    b"WARC-Block-Digest: sha1:A\r\n",
    b"WARC-Payload-Digest: md5:\r\n",
    b"Content-Type: application/http\r\n",
    b"\x1f\x8b\x08\x1c\0\0\0\0\0\xff",
    b"(\xb5/\xfd",
    b"]*M\x18\xff\xff\xff\xff",
    b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
];

/// Numbers of Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound.max(1) as u64).expect("small")
    }

    /// Makes one change.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len());
        let end = (at + self.below(60)).min(bytes.len());
        match self.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let part = bytes[at..end].to_vec();
                let to = self.below(bytes.len());
                bytes.splice(to..to, part);
            }
            3 => bytes.truncate(at),
            _ => {
                let word = WORDS[self.below(WORDS.len())];
                let end = if self.below(2) == 0 { at } else { end };
                bytes.splice(at..end, word.iter().copied());
            }
        }
    }

    /// Cuts bytes into members of gzip, not always where records begin.
    fn pack(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let next = rest.windows(5).skip(1).position(|word| word == b"WARC/");
            let border = next.map_or(rest.len(), |at| at + 1);
            let end = if self.below(4) == 0 { 1 + self.below(rest.len()) } else { border };
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&rest[..end]).expect("memory");
            packed.extend(encoder.finish().expect("memory"));
            rest = &rest[end..];
        }
        packed
    }
}

/// Files of every kind, damaged in many ways.
fn each_damaged(seeds: u64, take: &mut dyn FnMut(&str, Vec<u8>)) {
    let mut plain = Vec::new();
    let [gzip, zstd] = BOTH.map(|compression| {
        let dir = tempfile::tempdir().expect("a folder");
        write_all(dir.path(), with(compression), &of_every_kind());
        let path = dir.path().join(first_file(compression));
        plain.clear();
        Unpacked::open(&path).expect("opened").read_to_end(&mut plain).expect("read");
        fs::read(path).expect("read")
    });
    for seed in 1..=seeds {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (mut inside, times) = (plain.clone(), 1 + random.below(4));
        for _ in 0..times {
            random.damage(&mut inside);
        }
        let packed = random.pack(&inside);
        let mut both = packed.clone();
        random.damage(&mut both);
        let (mut gzip, mut zstd) = (gzip.clone(), zstd.clone());
        for _ in 0..times {
            random.damage(&mut gzip);
            random.damage(&mut zstd);
        }
        for bytes in [both, gzip, packed] {
            take("crivello-00001.warc.gz", bytes);
        }
        take("crivello-00001.warc.zst", zstd);
        take("crivello-00001.warc", inside);
    }
}

#[test]
fn reading_damaged_files_terminates_within_the_limits() {
    let (mut records, mut errors) = (0, 0);
    each_damaged(1_500, &mut |name, bytes| {
        let length = bytes.len();
        let opened = WarcReader::over(Cursor::new(bytes), Path::new(name), 0, LIMITS);
        let Ok(mut reader) = opened else { return errors += 1 };
        let (got, wrong) = drain(&mut reader);
        assert!(got.len() + wrong.len() <= length + 1, "{} {}", got.len(), wrong.len());
        for record in &got {
            assert!(record.block.len() as u64 <= LIMITS.block_bytes_max, "{record:?}");
            let names = record.headers.iter().map(|(name, value)| name.len() + value.len());
            assert!(names.sum::<usize>() <= 2 * LIMITS.header_bytes_max, "{record:?}");
        }
        records += got.len();
        errors += wrong.len();
    });
    // Neither only noise, nor hardly damaged.
    assert!(records > 9_000 && errors > 4_000, "{records} records, {errors} errors");
}

/// This adds the search after damage, lookups and repair.
#[test]
fn a_folder_of_damaged_files_is_read_and_repaired() {
    let mut records = 0;
    each_damaged(60, &mut |name, bytes| {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join(name), &bytes).expect("written");
        let archive = Archive::open(dir.path()).expect("listed");
        let mut places = Vec::new();
        for record in archive.records().take(bytes.len() + 1) {
            match record {
                Ok(record) => places.push(record.location),
                Err(error @ ArchiveError::Io { .. }) => panic!("{error}"),
                Err(_) => {}
            }
        }
        assert!(places.is_sorted_by_key(|place| place.offset), "{places:?}");
        for line in archive.captures("http://www.example.org/page?q=1").expect("looked up") {
            assert!(archive.read(&line.location).is_ok(), "{line:?}");
        }
        let length = bytes.len() as u64;
        for repaired in repair(dir.path()).expect("repaired") {
            assert_eq!(repaired.kept_bytes + repaired.cut_bytes, length);
        }
        records += places.len();
    });
    assert!(records > 1_000, "{records}");
}
