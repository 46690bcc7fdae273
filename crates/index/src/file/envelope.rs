//! The envelope of every index file: a header with the kind and version, and a footer with checksums.
//!
//! ```text
//! header   magic "CRIVELLO", kind (4 letters), version (u32)          16 bytes
//! payload  what the kind says
//! footer   CRC-32 of each 65536-byte chunk of header and payload      4 bytes each, the last chunk short
//!          length of header and payload (u64)                         8 bytes
//!          CRC-32 of the footer up to here                            4 bytes
//! ```
//!
//! All numbers are little-endian. The writer is here, the reader in `mapped.rs`. Neither interprets the payload.
//!
//! **Invariant.** A checksum covers every byte of a file, and the footer gives its length. So any changed, missing
//! or additional byte is detected.

use crate::IndexError;
use durable::Disk;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Bytes under one checksum, verified together.
pub(crate) const CHUNK_BYTES: usize = 1 << 16;
pub(crate) const MAGIC: [u8; 8] = *b"CRIVELLO";
pub(crate) const HEADER_BYTES: usize = 16;
/// The fixed part of the footer.
pub(crate) const TAIL_BYTES: usize = 12;
/// The format version of all index files. A change to any of them needs a new version.
pub(crate) const VERSION: u32 = 10;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Manifest,
    Lexicon,
    Docs,
    Freqs,
    Positions,
    Skips,
    Lengths,
    Records,
    Tombstones,
}

impl Kind {
    /// The files that every segment has, in the order in which the manifest lists them.
    pub(crate) const SEGMENT: [Kind; 7] = [
        Kind::Lexicon,
        Kind::Docs,
        Kind::Freqs,
        Kind::Positions,
        Kind::Skips,
        Kind::Lengths,
        Kind::Records,
    ];

    /// The four letters in the header: the first ones of the name.
    pub(crate) fn letters(self) -> [u8; 4] {
        *self.file_name().as_bytes().first_chunk().expect("no name is shorter")
    }

    /// The file name in the segment's folder; a generation number is appended for tombstones.
    pub(crate) fn file_name(self) -> &'static str {
        match self {
            Kind::Manifest => "manifest",
            Kind::Lexicon => "lexicon",
            Kind::Docs => "docs",
            Kind::Freqs => "freqs",
            Kind::Positions => "positions",
            Kind::Skips => "skips",
            Kind::Lengths => "lengths",
            Kind::Records => "records",
            Kind::Tombstones => "tombstones",
        }
    }
}

/// Identifies the contents of a file in the manifest: two files with the same stamp have the same bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) file_bytes: u64,
    pub(crate) footer_crc: u32,
}

/// Writes one file from its first byte to its last.
pub(crate) struct FileWriter {
    disk: Disk,
    path: PathBuf,
    file: File,
    chunk: Vec<u8>,
    footer: Vec<u8>,
    body_bytes: u64,
}

impl FileWriter {
    pub(crate) fn create(disk: &Disk, path: &Path, kind: Kind) -> Result<FileWriter, IndexError> {
        let mut writer = FileWriter {
            disk: disk.clone(),
            path: path.to_path_buf(),
            file: disk.create(path).map_err(IndexError::io(path))?,
            chunk: Vec::with_capacity(CHUNK_BYTES),
            footer: Vec::new(),
            body_bytes: 0,
        };
        writer.write(&MAGIC)?;
        writer.write(&kind.letters())?;
        writer.write(&VERSION.to_le_bytes())?;
        Ok(writer)
    }

    pub(crate) fn payload_bytes(&self) -> u64 {
        self.body_bytes - HEADER_BYTES as u64
    }

    /// Appends to the payload.
    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> Result<(), IndexError> {
        self.body_bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            let (fits, rest) = bytes.split_at(bytes.len().min(CHUNK_BYTES - self.chunk.len()));
            self.chunk.extend_from_slice(fits);
            bytes = rest;
            if self.chunk.len() == CHUNK_BYTES {
                self.seal()?;
            }
        }
        Ok(())
    }

    /// Writes the footer. Does not sync the file.
    pub(crate) fn finish(mut self) -> Result<Stamp, IndexError> {
        if !self.chunk.is_empty() {
            self.seal()?;
        }
        self.footer.extend(self.body_bytes.to_le_bytes());
        let footer_crc = crc32fast::hash(&self.footer);
        self.footer.extend(footer_crc.to_le_bytes());
        let written = self.disk.write_all(&mut self.file, &self.footer);
        written.map_err(IndexError::io(&self.path))?;
        Ok(Stamp { file_bytes: self.body_bytes + self.footer.len() as u64, footer_crc })
    }

    fn seal(&mut self) -> Result<(), IndexError> {
        self.footer.extend(crc32fast::hash(&self.chunk).to_le_bytes());
        let written = self.disk.write_all(&mut self.file, &self.chunk);
        written.map_err(IndexError::io(&self.path))?;
        self.chunk.clear();
        Ok(())
    }
}
