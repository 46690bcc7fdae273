//! The deleted documents of a segment.
//!
//! A segment never changes. Deletions are in an additional file, one for each generation that deleted anything:
//! `tombstones-<generation>`. It has one bit per document, set if it is deleted; the lowest bit of the first byte
//! is document 0. The manifest names the current file. Merging drops deleted documents.
//!
//! **Invariant.** The number of set bits is the count in the manifest, and no bit after the last document is set.

use crate::file::envelope::{FileWriter, Kind, Stamp};
use crate::file::mapped::MappedFile;
use crate::{DocId, IndexError};
use durable::Disk;
use std::path::Path;
use std::sync::OnceLock;

/// Documents per entry of [`Places`].
const STRIDE: usize = 512;

/// The manifest's entry for the deleted documents of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TombstonesMeta {
    /// The last generation that deleted documents.
    pub(crate) generation: u64,
    /// Number of deleted documents.
    pub(crate) count: u32,
    pub(crate) stamp: Stamp,
}

impl TombstonesMeta {
    /// The file name in the folder of the segment.
    pub(crate) fn file_name(&self) -> String {
        file_name(self.generation)
    }
}

fn file_name(generation: u64) -> String {
    format!("{}-{generation}", Kind::Tombstones.file_name())
}

/// The generation in the name of a tombstone file.
pub(crate) fn generation_of(name: &str) -> Option<u64> {
    let number = name.strip_prefix(Kind::Tombstones.file_name())?.strip_prefix('-')?;
    let generation = number.parse().ok()?;
    (file_name(generation) == name).then_some(generation)
}

/// The deleted documents of a segment, while an update adds to them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits {
    bytes: Vec<u8>,
    pub(crate) count: u32,
}

impl Bits {
    /// Copies the deleted documents of a segment with `doc_count` documents.
    pub(crate) fn of(deleted: Deleted<'_>, doc_count: u32) -> Bits {
        let mut bytes = deleted.bits.to_vec();
        bytes.resize((doc_count as usize).div_ceil(8), 0);
        let count = bytes.iter().map(|byte| byte.count_ones()).sum();
        Bits { bytes, count }
    }

    /// Deletes a document, which must exist.
    pub(crate) fn set(&mut self, doc: DocId) {
        let (byte, bit) = (&mut self.bytes[doc.0 as usize / 8], 1 << (doc.0 % 8));
        self.count += u32::from(*byte & bit == 0);
        *byte |= bit;
    }

    /// Writes the bits into the folder of the segment.
    pub(crate) fn write(
        &self,
        disk: &Disk,
        folder: &Path,
        generation: u64,
    ) -> Result<TombstonesMeta, IndexError> {
        let path = folder.join(file_name(generation));
        let mut file = FileWriter::create(disk, &path, Kind::Tombstones)?;
        file.write(&self.bytes)?;
        Ok(TombstonesMeta { generation, count: self.count, stamp: file.finish()? })
    }
}

#[derive(Debug)]
pub(crate) struct Tombstones {
    file: MappedFile,
    count: u32,
    /// A copy of all bits, made on first use. Numbering documents counts the bits repeatedly and needs the same
    /// answer each time, even if somebody writes to the file.
    bits: OnceLock<Box<[u8]>>,
}

impl Tombstones {
    pub(crate) fn open(
        folder: &Path,
        meta: &TombstonesMeta,
        doc_count: u32,
    ) -> Result<Tombstones, IndexError> {
        let path = folder.join(meta.file_name());
        let file = MappedFile::open(&path, Kind::Tombstones, Some(meta.stamp))?;
        if file.payload_bytes() != (doc_count as usize).div_ceil(8) {
            return Err(file.damaged(0, "not a bit for each document"));
        }
        Ok(Tombstones { file, count: meta.count, bits: OnceLock::new() })
    }

    pub(crate) fn file(&self) -> &MappedFile {
        &self.file
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn deleted(&self) -> Result<Deleted<'_>, IndexError> {
        if let Some(bits) = self.bits.get() {
            return Ok(Deleted { bits });
        }
        let bytes = self.file.bytes(0..self.file.payload_bytes())?;
        Ok(Deleted { bits: self.bits.get_or_init(|| bytes.into()) })
    }

    /// Compares the file with the manifest.
    pub(crate) fn verify(&self, doc_count: u32) -> Result<(), IndexError> {
        let deleted = self.deleted()?;
        let inside = (0..doc_count).filter(|&doc| deleted.contains(DocId(doc))).count();
        let all: u32 = deleted.bits.iter().map(|byte| byte.count_ones()).sum();
        if inside != self.count as usize || all != self.count {
            return Err(self.file.damaged(0, "not as many deleted as the manifest names"));
        }
        Ok(())
    }
}

/// The deleted documents of a segment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deleted<'a> {
    /// Empty if no document is deleted.
    bits: &'a [u8],
}

impl Deleted<'_> {
    /// Returns whether a document is deleted.
    #[inline]
    pub fn contains(self, doc: DocId) -> bool {
        self.bits.get(doc.0 as usize / 8).is_some_and(|byte| byte >> (doc.0 % 8) & 1 == 1)
    }

    /// Prepares [`Places::of`]: the numbers of the remaining documents.
    pub(crate) fn places(self) -> Places {
        let mut sum = 0;
        let before = self.bits.chunks(STRIDE / 8).map(|stride| {
            let before = sum;
            sum += stride.iter().map(|byte| byte.count_ones()).sum::<u32>();
            before
        });
        Places { before: before.collect() }
    }
}

/// Maps a document that is not deleted to its number among those.
pub(crate) struct Places {
    /// Number of deleted documents before each [`STRIDE`] of documents.
    before: Vec<u32>,
}

impl Places {
    /// The new number of a document. `deleted` must be the set that this was made from.
    pub(crate) fn of(&self, deleted: Deleted<'_>, doc: DocId) -> u32 {
        let at = doc.0 as usize;
        let Some(before) = self.before.get(at / STRIDE) else { return doc.0 };
        let whole = &deleted.bits[at / STRIDE * STRIDE / 8..at / 8];
        let inside: u32 = whole.iter().map(|byte| byte.count_ones()).sum();
        let last = deleted.bits[at / 8] & ((1 << (at % 8)) - 1);
        doc.0 - before - inside - last.count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_skip_deleted_documents() {
        let mut bits = Bits::of(Deleted::default(), 3000);
        let gone = |doc: u32| doc.is_multiple_of(7) || (700..1300).contains(&doc) || doc == 2999;
        (0..3000).filter(|&doc| gone(doc)).for_each(|doc| bits.set(DocId(doc)));
        bits.set(DocId(7));
        let deleted = Deleted { bits: &bits.bytes };
        let places = deleted.places();
        let mut next = 0;
        for doc in 0..3000 {
            assert_eq!(deleted.contains(DocId(doc)), gone(doc));
            if !gone(doc) {
                assert_eq!(places.of(deleted, DocId(doc)), next);
                next += 1;
            }
        }
        assert_eq!(bits.count, 3000 - next);
        assert_eq!(Deleted::default().places().of(Deleted::default(), DocId(9)), 9);
    }

    #[test]
    fn only_canonical_tombstone_names_are_recognised() {
        assert_eq!(generation_of("tombstones-12"), Some(12));
        for name in ["tombstones", "tombstones-", "tombstones-012", "tombstones-x", "docs"] {
            assert_eq!(generation_of(name), None, "{name}");
        }
    }
}
