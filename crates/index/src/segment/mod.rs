//! A segment: a complete index of some documents in seven files that never change, and a list of documents deleted
//! later.
//!
//! What lives here: the files together, and the methods of a segment. Each file has its own module. The segments
//! of an index are listed in `manifest.rs`.
//!
//! **Invariant.** If [`Segment::intact`] succeeds after a read, the read returned verified bytes.

mod forward;
mod merge;
mod numbers;
mod permute;
mod verify;
mod writer;

pub(crate) use forward::forward;
pub(crate) use merge::merge;
pub use numbers::ListNumbers;
pub(crate) use permute::permute;
pub(crate) use writer::{ListsWriter, SegmentWriter};

use crate::file::envelope::{Kind, Stamp};
use crate::file::mapped::MappedFile;
use crate::lengths::{LengthsFile, PerField};
use crate::lexicon::{Key, Lexicon};
use crate::postings::{
    Extent, InvertedList, List, Norm, Skips, Slope, StreamCodes, Streams, Widths,
};
use crate::record::Records;
use crate::tombstones::{Tombstones, TombstonesMeta};
use crate::{
    Deleted, DocId, DocRecord, Field, IndexError, Lengths, MaxFrequencies, Postings, StreamCode,
    Terms,
};
use durable::Disk;
use std::path::Path;

/// Identifies a segment; unique in the life of an index folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SegmentId {
    /// The generation it was written for.
    pub(crate) generation: u64,
    /// Its number in that generation.
    pub(crate) serial: u64,
}

impl SegmentId {
    pub(crate) fn folder_name(self) -> String {
        format!("segment-{}-{}", self.generation, self.serial)
    }

    /// Parses a folder name.
    pub(crate) fn from_folder_name(name: &str) -> Option<SegmentId> {
        let (generation, serial) = name.strip_prefix("segment-")?.split_once('-')?;
        let id = SegmentId { generation: generation.parse().ok()?, serial: serial.parse().ok()? };
        (id.folder_name() == name).then_some(id)
    }
}

/// The manifest's entry for a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SegmentMeta {
    pub(crate) id: SegmentId,
    pub(crate) doc_count: u32,
    pub(crate) term_count: u64,
    pub(crate) posting_count: u64,
    pub(crate) codes: StreamCodes,
    pub(crate) slope: Slope,
    pub(crate) length_totals: PerField<u64>,
    /// In the order of [`Kind::SEGMENT`].
    pub(crate) stamps: [Stamp; Kind::SEGMENT.len()],
    /// `None` if no document is deleted.
    pub(crate) tombstones: Option<TombstonesMeta>,
}

impl SegmentMeta {
    /// Syncs all files.
    pub(crate) fn sync(&self, disk: &Disk, root: &Path) -> Result<(), IndexError> {
        let sync = |path: &Path| disk.sync(path).map_err(IndexError::io(path));
        let folder = root.join(self.id.folder_name());
        for kind in Kind::SEGMENT {
            sync(&folder.join(kind.file_name()))?;
        }
        if let Some(tombstones) = &self.tombstones {
            sync(&folder.join(tombstones.file_name()))?;
        }
        sync(&folder)
    }
}

/// The size of each file of a segment, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Terms and the locations of their lists.
    pub lexicon: u64,
    /// Document gaps.
    pub docs: u64,
    /// Frequencies.
    pub freqs: u64,
    /// Positions.
    pub positions: u64,
    /// Starts of blocks of documents, block maxima and champions.
    pub skips: u64,
    /// Length of each document, and frequency of its most frequent term.
    pub lengths: u64,
    /// The document table.
    pub records: u64,
}

/// A complete index of some documents, open for reading.
#[derive(Debug)]
pub struct Segment {
    meta: SegmentMeta,
    lexicon: Lexicon,
    docs: MappedFile,
    freqs: MappedFile,
    positions: MappedFile,
    skips: MappedFile,
    lengths: LengthsFile,
    records: Records,
    tombstones: Option<Tombstones>,
}

impl Segment {
    /// Opens the segment in the index folder `root`. The time does not depend on its size.
    pub(crate) fn open(root: &Path, meta: &SegmentMeta) -> Result<Segment, IndexError> {
        let folder = root.join(meta.id.folder_name());
        let open = |kind: Kind| {
            let stamp = Kind::SEGMENT.into_iter().zip(meta.stamps).find(|(of, _)| *of == kind);
            MappedFile::open(&folder.join(kind.file_name()), kind, stamp.map(|(_, stamp)| stamp))
        };
        Ok(Segment {
            meta: *meta,
            lexicon: Lexicon::new(open(Kind::Lexicon)?, meta.doc_count)?,
            docs: open(Kind::Docs)?,
            freqs: open(Kind::Freqs)?,
            positions: open(Kind::Positions)?,
            skips: open(Kind::Skips)?,
            lengths: LengthsFile::new(open(Kind::Lengths)?, meta.doc_count)?,
            records: Records::new(open(Kind::Records)?, meta.doc_count)?,
            tombstones: meta
                .tombstones
                .map(|tombstones| Tombstones::open(&folder, &tombstones, meta.doc_count))
                .transpose()?,
        })
    }

    /// Opens the files of this segment again.
    fn reopen(&self) -> Result<Segment, IndexError> {
        let root = self.docs.path().ancestors().nth(2).unwrap_or(Path::new(""));
        Segment::open(root, &self.meta)
    }

    /// Number of documents, including deleted ones. They are numbered from zero.
    pub fn doc_count(&self) -> u32 {
        self.meta.doc_count
    }

    /// Number of deleted documents. Lists, lengths and counts include them until the segment is merged; a query
    /// must filter them.
    pub fn deleted_count(&self) -> u32 {
        self.tombstones.as_ref().map_or(0, Tombstones::count)
    }

    /// The deleted documents.
    pub fn deleted(&self) -> Result<Deleted<'_>, IndexError> {
        self.tombstones.as_ref().map_or(Ok(Deleted::default()), Tombstones::deleted)
    }

    /// Number of different terms, counted per field.
    pub fn term_count(&self) -> u64 {
        self.meta.term_count
    }

    /// Number of pairs of a term and a document that contains it.
    pub fn posting_count(&self) -> u64 {
        self.meta.posting_count
    }

    /// The documents with a term in a field, if there are any.
    ///
    /// Verifies the list in all streams and the lengths of the field, so later reads of the cursor and
    /// [`Segment::length`] need no checks.
    pub fn postings(&self, field: Field, term: &str) -> Result<Option<Postings<'_>>, IndexError> {
        let mut key = Key::EMPTY;
        key.set(field, term);
        let list = self.lexicon.find(key.needle())?;
        let Some(list) = list else { return Ok(None) };
        self.cursor(field, &list).map(Some)
    }

    /// Looks up the lists of several terms. This is faster than one call per term, and verifies the same bytes.
    pub fn lists(
        &self,
        terms: &[(Field, &str)],
    ) -> Result<Vec<Option<InvertedList<'_>>>, IndexError> {
        let mut lists = Vec::with_capacity(terms.len());
        let mut fields = terms.iter().map(|&(field, _)| field);
        self.lexicon.each_list(terms, |list| {
            lists.push(match list.zip(fields.next()) {
                Some((list, field)) => Some(self.list(field, list)?),
                None => None,
            });
            Ok(())
        })?;
        Ok(lists)
    }

    /// Number of documents with a term in a field. Reads the lexicon only.
    pub fn doc_frequency(&self, field: Field, term: &str) -> Result<u32, IndexError> {
        let mut key = Key::EMPTY;
        key.set(field, term);
        self.lexicon.doc_frequency(key.needle())
    }

    /// Number of documents with each of several terms. This is faster than one call per term.
    pub fn doc_frequencies(&self, terms: &[(Field, &str)]) -> Result<Vec<u32>, IndexError> {
        self.lexicon.doc_frequencies(terms)
    }

    /// Number of terms of a document in a field; zero for a document that does not exist.
    ///
    /// Returns zero if the bytes are damaged. [`Segment::postings`] and [`Segment::lengths`] of the same field
    /// report the damage.
    #[inline]
    pub fn length(&self, field: Field, doc: DocId) -> u32 {
        self.lengths.get(field, doc)
    }

    /// The lengths of all documents in a field.
    pub fn lengths(&self, field: Field) -> Result<Lengths<'_>, IndexError> {
        self.lengths.field(field)
    }

    /// The frequency of the most frequent term of each document in a field.
    pub fn max_frequencies(&self, field: Field) -> Result<MaxFrequencies<'_>, IndexError> {
        self.lengths.max_frequencies(field)
    }

    /// Number of terms of all documents in a field.
    pub fn length_total(&self, field: Field) -> u64 {
        self.meta.length_totals[field as usize]
    }

    /// The stored record of a document.
    pub fn record(&self, doc: DocId) -> Result<DocRecord, IndexError> {
        if doc.0 >= self.doc_count() {
            return Err(IndexError::NoDocument { doc: doc.0, doc_count: self.doc_count() });
        }
        self.records.get(doc)
    }

    /// Passes every document that is not deleted to `visit`, with its record, in order.
    pub fn each_record(&self, mut visit: impl FnMut(DocId, &DocRecord)) -> Result<(), IndexError> {
        self.try_each_record(self.deleted()?, |doc, record| {
            visit(doc, record);
            Ok(())
        })
    }

    /// Passes every document that is not in `deleted` to `visit`, until `visit` fails.
    fn try_each_record(
        &self,
        deleted: Deleted<'_>,
        mut visit: impl FnMut(DocId, &DocRecord) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let mut next = 0;
        self.records.each(|record| {
            let doc = DocId(next);
            next += 1;
            if deleted.contains(doc) { Ok(()) } else { visit(doc, record) }
        })
    }

    /// The terms of a field that begin with `prefix`, in byte order, each with its document frequency.
    pub fn terms(&self, field: Field, prefix: &str) -> Result<Terms<'_>, IndexError> {
        self.lexicon.terms(field, prefix)
    }

    /// The codes of docs, freqs and positions.
    pub fn codes(&self) -> (StreamCode, StreamCode, Option<StreamCode>) {
        let StreamCodes { docs, freqs, positions } = self.meta.codes;
        (docs, freqs, positions)
    }

    /// The slope of its maxima.
    pub fn slope(&self) -> Slope {
        self.meta.slope
    }

    /// Returns whether the lists have positions. The lists of an imported index have none.
    pub fn has_positions(&self) -> bool {
        self.meta.codes.positions.is_some()
    }

    /// The size of each file.
    pub fn sizes(&self) -> Sizes {
        let [lexicon, docs, freqs, positions, skips, lengths, records] =
            self.meta.stamps.map(|stamp| stamp.file_bytes);
        Sizes { lexicon, docs, freqs, positions, skips, lengths, records }
    }

    /// Reads everything: verifies every byte of every file, and that the files are consistent.
    pub fn verify(&self) -> Result<(), IndexError> {
        let verified = verify::verify(self);
        self.intact()?;
        verified
    }

    /// Checks that all bytes read so far were valid. Call it once before returning results, and prefer its error
    /// to any other: wrong bytes may have caused that. It fails if a file was truncated, if bytes already read
    /// have changed, or if they could not be read. It compares length and dates of each file, and reads bytes
    /// again only if these differ.
    pub fn intact(&self) -> Result<(), IndexError> {
        self.files().try_for_each(MappedFile::intact)
    }

    /// Like [`Segment::intact`], but also fails if anybody touched a file. For results that are stored
    /// permanently.
    fn untouched(&self) -> Result<(), IndexError> {
        self.files().try_for_each(MappedFile::untouched)
    }

    /// Like [`Segment::intact`] for the file with that path, but verifies it even if its dates have not changed.
    pub(crate) fn doubted(&self, path: &Path) -> Result<(), IndexError> {
        self.files().filter(|file| file.path() == path).try_for_each(MappedFile::doubted)
    }

    /// Returns whether the file with that path, if it is part of this segment, is valid at an offset.
    pub(crate) fn is_whole_at(&self, path: &Path, offset: u64) -> bool {
        self.files().filter(|file| file.path() == path).all(|file| file.is_whole_at(offset))
    }

    /// Returns whether both are mapped from the same files on disk, untouched in between.
    pub(crate) fn has_files_of(&self, other: &Segment) -> bool {
        let mut both = self.files().zip(other.files());
        self.files().count() == other.files().count()
            && both.all(|(one, other)| one.is_same_file(other))
    }

    /// All files, including tombstones.
    fn files(&self) -> impl Iterator<Item = &MappedFile> {
        let lists = [&self.docs, &self.freqs, &self.positions, &self.skips];
        let others = [self.lexicon.file(), self.lengths.file(), self.records.file()];
        lists.into_iter().chain(others).chain(self.tombstones.as_ref().map(Tombstones::file))
    }

    /// The norm of the maxima of a field.
    fn norm(&self, field: Field) -> Norm {
        Norm::new(self.meta.slope, self.length_total(field), self.doc_count())
    }

    /// A cursor over a list of a field, given its entry in the lexicon.
    fn cursor(&self, field: Field, list: &List) -> Result<Postings<'_>, IndexError> {
        self.list(field, list).map(Postings::new)
    }

    /// A list of a field, given its entry in the lexicon.
    #[inline]
    fn list(&self, field: Field, list: &List) -> Result<InvertedList<'_>, IndexError> {
        let extents = &list.extents;
        let widths = Widths::new(self.doc_count(), extents);
        let streams = Streams {
            docs: bytes(&self.docs, extents.docs)?,
            freqs: bytes(&self.freqs, extents.freqs)?,
            positions: bytes(&self.positions, extents.positions)?,
            skips: Skips::new(bytes(&self.skips, extents.skips)?, list.doc_frequency, widths),
        };
        let lengths = self.lengths.field(field)?;
        Ok(InvertedList::new(streams, self.meta.codes, lengths, list, self.doc_count()))
    }
}

/// The verified bytes of an extent.
fn bytes(file: &MappedFile, extent: Extent) -> Result<&[u8], IndexError> {
    let start = usize::try_from(extent.start).unwrap_or(usize::MAX);
    let end = usize::try_from(extent.start.saturating_add(extent.bytes)).unwrap_or(usize::MAX);
    file.bytes(start..end)
}
