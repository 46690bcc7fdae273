//! A second implementation of the envelope and the manifest, written from `docs/formats/index.md`. Tests use it to
//! write any payload with valid checksums.

use codes::vbyte;
use std::fs;
use std::path::{Path, PathBuf};

const CHUNK_BYTES: usize = 65_536;
const HEADER_BYTES: usize = 16;

/// The files of a segment, in the order of the manifest.
pub(crate) const FILES: [&str; 7] =
    ["lexicon", "docs", "freqs", "positions", "skips", "lengths", "records"];

/// Adds the footer to a header and a payload.
pub(crate) fn seal(body: &[u8]) -> Vec<u8> {
    let mut file = body.to_vec();
    for chunk in body.chunks(CHUNK_BYTES) {
        file.extend(crc32fast::hash(chunk).to_le_bytes());
    }
    file.extend((body.len() as u64).to_le_bytes());
    let crc = crc32fast::hash(&file[body.len()..]);
    file.extend(crc.to_le_bytes());
    file
}

/// Header and payload of a file.
pub(crate) fn body(file: &[u8]) -> &[u8] {
    let tail = &file[file.len() - 12..];
    let length = u64::from_le_bytes(tail[..8].try_into().expect("eight bytes"));
    &file[..usize::try_from(length).expect("fits")]
}

/// Path of the manifest, or of a file of the first segment in the manifest.
pub(crate) fn path_of(dir: &Path, name: &str) -> PathBuf {
    if name == "manifest" {
        return dir.join(name);
    }
    let segment = &Manifest::read(dir).segments[0];
    dir.join(format!("segment-{}-{}", segment[0], segment[1])).join(name)
}

/// Replaces the body of an index file and updates the manifest.
pub(crate) fn replace_body(dir: &Path, name: &str, body: &[u8]) {
    let file = seal(body);
    fs::write(path_of(dir, name), &file).expect("is written");
    let place = FILES.iter().position(|of| *of == name).map(|number| 14 + 2 * number);
    // After the number of deleted documents and the generation of their file.
    let place = place.or(name.starts_with("tombstones").then_some(30));
    if let Some(place) = place {
        let mut manifest = Manifest::read(dir);
        let crc = u32::from_le_bytes(file[file.len() - 4..].try_into().expect("four bytes"));
        manifest.segments[0][place] = file.len() as u64;
        manifest.segments[0][place + 1] = u64::from(crc);
        manifest.write(dir);
    }
}

/// The manifest as numbers.
#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    pub(crate) generation: u64,
    pub(crate) source: Vec<u8>,
    /// Generation, serial, documents, terms, postings, three codes, slope, five sums, length and checksum of seven
    /// files, deleted documents. If there are any: generation, length and checksum of their file.
    pub(crate) segments: Vec<Vec<u64>>,
}

impl Manifest {
    pub(crate) fn read(dir: &Path) -> Manifest {
        let file = fs::read(dir.join("manifest")).expect("is there");
        let mut rest = &body(&file)[HEADER_BYTES..];
        let mut number = || vbyte::read(&mut rest).expect("a number");
        let generation = number();
        let source_bytes = usize::try_from(number()).expect("fits");
        let source = rest[..source_bytes].to_vec();
        rest = &rest[source_bytes..];
        let mut number = || vbyte::read(&mut rest).expect("a number");
        let segments = (0..number()).map(|_| {
            let mut segment: Vec<u64> = (0..29).map(|_| number()).collect();
            let more = if segment[28] > 0 { 3 } else { 0 };
            segment.extend((0..more).map(|_| number()));
            segment
        });
        let segments = segments.collect();
        assert!(rest.is_empty());
        Manifest { generation, source, segments }
    }

    pub(crate) fn write(&self, dir: &Path) {
        fs::write(dir.join("manifest"), seal(&self.body())).expect("is written");
    }

    pub(crate) fn body(&self) -> Vec<u8> {
        let mut out = header("mani", 10);
        vbyte::write(&mut out, self.generation);
        vbyte::write(&mut out, self.source.len() as u64);
        out.extend(&self.source);
        vbyte::write(&mut out, self.segments.len() as u64);
        for n in self.segments.iter().flatten() {
            vbyte::write(&mut out, *n);
        }
        out
    }
}

/// The header of a file.
pub(crate) fn header(kind: &str, version: u32) -> Vec<u8> {
    [b"CRIVELLO", kind.as_bytes(), &version.to_le_bytes()].concat()
}
