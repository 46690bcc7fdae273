//! The files of an index in memory, to be damaged. Their checksums can be updated to match. Written from
//! `docs/formats/index.md`.
//!
//! **Invariant.** [`Files::lies`] is true if a changed file has matching checksums.

use codes::vbyte;
use std::fs;
use std::path::{Path, PathBuf};

const CHUNK_BYTES: usize = 65_536;
const HEADER_BYTES: usize = 16;
/// The fixed part of the footer.
const TAIL_BYTES: usize = 12;
/// The manifest comes first.
const MANIFEST: usize = 0;

/// Number of kinds of files. Numbers with this difference mean files of the same kind.
pub(crate) const KIND_COUNT: u8 = 9;

/// Kinds of files. For tombstones, the prefix of the name.
const KINDS: [&str; KIND_COUNT as usize] = [
    "manifest",
    "lexicon",
    "docs",
    "freqs",
    "positions",
    "skips",
    "lengths",
    "records",
    "tombstones",
];

/// A file as it was written and as it is now.
struct Damaged {
    path: PathBuf,
    sound: Vec<u8>,
    bytes: Vec<u8>,
    /// The entry of the file in the manifest, now or before the last damage.
    stamp: Vec<u8>,
}

/// The files of an index.
pub(crate) struct Files {
    files: Vec<Damaged>,
    /// Whether a changed file has matching checksums.
    lies: bool,
}

impl Files {
    /// Reads the files of a folder, manifest first, then each segment.
    pub(crate) fn read(dir: &Path) -> Files {
        let mut paths = vec![dir.join("manifest")];
        for folder in entries(dir).into_iter().filter(|path| path.is_dir()) {
            paths.extend(entries(&folder));
        }
        let damaged = |path: PathBuf| {
            let sound = fs::read(&path).expect("a file of the index");
            Damaged { path, stamp: stamp(&sound), bytes: sound.clone(), sound }
        };
        Files { files: paths.into_iter().map(damaged).collect(), lies: false }
    }

    /// The file of a number, which gives a kind and an index within it. So numbers stay valid as long as the kinds
    /// do.
    pub(crate) fn choose(&self, number: u8) -> usize {
        let (kind, which) =
            (KINDS[usize::from(number) % KINDS.len()], usize::from(number) / KINDS.len());
        let of_kind = self.files.iter().enumerate().filter(|(_, file)| {
            file.path
                .file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(kind.as_bytes()))
        });
        let of_kind: Vec<usize> = of_kind.map(|(at, _)| at).collect();
        of_kind[which % of_kind.len()]
    }

    /// The number and the payload of every file.
    pub(crate) fn payloads(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.files.iter().enumerate().map(|(at, file)| {
            let number = (0..=u8::MAX).find(|&number| self.choose(number) == at);
            let body = &file.sound[..body_bytes(file.sound.len())];
            (number.expect("fewer files than numbers"), &body[HEADER_BYTES..])
        })
    }

    /// The bytes of a file, to be damaged.
    pub(crate) fn bytes_mut(&mut self, at: usize) -> &mut Vec<u8> {
        &mut self.files[at].bytes
    }

    /// The original bytes of a file.
    pub(crate) fn sound(&self, at: usize) -> Vec<u8> {
        self.files[at].sound.clone()
    }

    /// Replaces the payload of a file, with matching checksums.
    pub(crate) fn forge(&mut self, at: usize, payload: &[u8]) {
        self.files[at].bytes = [&[0; HEADER_BYTES], payload].concat();
        let footer_bytes = TAIL_BYTES + 4 * self.files[at].bytes.len().div_ceil(CHUNK_BYTES);
        self.files[at].bytes.extend(vec![0; footer_bytes]);
        self.seal(at);
    }

    /// Updates the header and checksums of a file, and its entry in the manifest.
    pub(crate) fn seal(&mut self, at: usize) {
        self.seal_alone(at);
        if at != MANIFEST {
            let file = &mut self.files[at];
            let named = std::mem::replace(&mut file.stamp, stamp(&file.bytes));
            let named_now = file.stamp.clone();
            let manifest = &mut self.files[MANIFEST].bytes;
            let place = manifest.windows(named.len()).position(|window| window == named);
            if let Some(place) = place {
                manifest.splice(place..place + named.len(), named_now);
            }
            self.seal_alone(MANIFEST);
        }
    }

    fn seal_alone(&mut self, at: usize) {
        let file = &mut self.files[at];
        let bytes = &mut file.bytes;
        bytes.truncate(body_bytes(bytes.len()));
        bytes.resize(bytes.len().max(HEADER_BYTES), 0);
        bytes[..HEADER_BYTES].copy_from_slice(&file.sound[..HEADER_BYTES]);
        let body_bytes = bytes.len();
        let sums: Vec<u32> = bytes.chunks(CHUNK_BYTES).map(crc32fast::hash).collect();
        bytes.extend(sums.into_iter().flat_map(u32::to_le_bytes));
        bytes.extend((body_bytes as u64).to_le_bytes());
        let sum = crc32fast::hash(&bytes[body_bytes..]);
        bytes.extend(sum.to_le_bytes());
        self.lies |= file.bytes != file.sound;
    }

    /// Returns whether a changed file has matching checksums.
    pub(crate) fn lies(&self) -> bool {
        self.lies
    }

    /// The paths of the changed files, each with the greater of its old and new lengths.
    pub(crate) fn changed(&self) -> impl Iterator<Item = (&Path, usize)> {
        let changed = self.files.iter().filter(|file| file.bytes != file.sound);
        changed.map(|file| (&*file.path, file.bytes.len().max(file.sound.len())))
    }

    /// Writes the changed files.
    pub(crate) fn write(&self) {
        for file in self.files.iter().filter(|file| file.bytes != file.sound) {
            replace(&file.path, &file.bytes);
        }
    }

    /// Restores all files.
    pub(crate) fn restore(&mut self) {
        self.lies = false;
        for file in &mut self.files {
            if file.bytes != file.sound {
                replace(&file.path, &file.sound);
                file.bytes.clone_from(&file.sound);
            }
            file.stamp = stamp(&file.sound);
        }
    }
}

/// The sorted entries of a folder.
fn entries(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("a folder of the index");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// Replaces a file by a new one of the same name, so that open handles keep the old bytes.
fn replace(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).expect("is there");
    fs::write(path, bytes).expect("is written");
}

/// The length of a file without its footer.
fn body_bytes(file_bytes: usize) -> usize {
    let chunks = file_bytes.saturating_sub(TAIL_BYTES).div_ceil(CHUNK_BYTES + 4);
    file_bytes.saturating_sub(TAIL_BYTES + 4 * chunks)
}

/// The entry of a file in the manifest: its length, and the last checksum of its footer.
fn stamp(file: &[u8]) -> Vec<u8> {
    let sum = file.last_chunk().map_or(0, |last| u32::from_le_bytes(*last));
    let mut stamp = Vec::new();
    vbyte::write(&mut stamp, file.len() as u64);
    vbyte::write(&mut stamp, u64::from(sum));
    stamp
}
