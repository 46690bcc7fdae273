//! Writes the files of a segment in two stages: documents, then posting lists.
//!
//! **Invariant.** The bytes of a segment depend only on its documents and their terms, its codes and its slope.
//! They do not depend on how the documents were collected.

use super::{SegmentId, SegmentMeta};
use crate::file::envelope::{FileWriter, Kind, Stamp};
use crate::lengths::{self, Columns, PerField};
use crate::lexicon::LexiconWriter;
use crate::postings::{Norm, PostingsWriter, StreamCodes};
use crate::record::RecordsWriter;
use crate::{DocRecord, Field, IndexError, Slope};
use durable::Disk;
use std::fs;
use std::path::{Path, PathBuf};

/// The first stage: documents.
pub(crate) struct SegmentWriter {
    disk: Disk,
    folder: PathBuf,
    id: SegmentId,
    slope: Slope,
    records: RecordsWriter,
}

impl SegmentWriter {
    /// Creates the folder of a segment in the index folder. `slope` is that of its maxima.
    pub(crate) fn create(
        disk: &Disk,
        root: &Path,
        id: SegmentId,
        slope: Slope,
    ) -> Result<SegmentWriter, IndexError> {
        let folder = root.join(id.folder_name());
        disk.call(|| fs::create_dir_all(&folder)).map_err(IndexError::io(&folder))?;
        let path = folder.join(Kind::Records.file_name());
        let records = RecordsWriter::new(FileWriter::create(disk, &path, Kind::Records)?);
        Ok(SegmentWriter { disk: disk.clone(), folder, id, slope, records })
    }

    pub(crate) fn record(&mut self, record: &DocRecord) -> Result<(), IndexError> {
        self.records.push(record)
    }

    /// Ends the first stage. `length_totals` are the sums of the lengths of all documents.
    pub(crate) fn lists(
        self,
        codes: StreamCodes,
        length_totals: PerField<u64>,
    ) -> Result<ListsWriter, IndexError> {
        let SegmentWriter { disk, folder, id, slope, records } = self;
        let doc_count = records.count();
        let path = folder.join(Kind::Lexicon.file_name());
        Ok(ListsWriter {
            meta: SegmentMeta {
                id,
                doc_count,
                codes,
                slope,
                length_totals,
                ..SegmentMeta::default()
            },
            records: records.finish()?,
            lexicon: LexiconWriter::new(FileWriter::create(&disk, &path, Kind::Lexicon)?),
            postings: PostingsWriter::create(&disk, &folder, doc_count, codes)?,
            disk,
            folder,
        })
    }
}

/// The second stage: posting lists in the order of their keys, then the lengths and peaks.
pub(crate) struct ListsWriter {
    disk: Disk,
    folder: PathBuf,
    meta: SegmentMeta,
    records: Stamp,
    lexicon: LexiconWriter,
    postings: PostingsWriter,
}

impl ListsWriter {
    /// Begins the list of a term in a field.
    pub(crate) fn begin_list(&mut self, field: Field) {
        let total = self.meta.length_totals[field as usize];
        self.postings.begin_list(Norm::new(self.meta.slope, total, self.meta.doc_count));
    }

    /// Adds a document to the current list: see [`PostingsWriter::push`].
    pub(crate) fn push(
        &mut self,
        doc: u32,
        length: u32,
        frequency: u32,
        distances: &[u32],
    ) -> Result<(), IndexError> {
        self.postings.push(doc, length, frequency, distances)
    }

    /// See [`PostingsWriter::distances`].
    #[inline]
    pub(crate) fn distances(&mut self) -> &mut Vec<u32> {
        self.postings.distances()
    }

    /// Adds a document whose distances are already in [`ListsWriter::distances`].
    #[inline]
    pub(crate) fn push_placed(
        &mut self,
        doc: u32,
        length: u32,
        frequency: u32,
    ) -> Result<(), IndexError> {
        self.postings.push_placed(doc, length, frequency)
    }

    /// Ends the current list, which belongs to `key`.
    pub(crate) fn finish_list(&mut self, key: &[u8]) -> Result<(), IndexError> {
        let list = self.postings.finish_list()?;
        self.meta.posting_count += u64::from(list.doc_frequency);
        self.lexicon.push(key, &list)
    }

    /// Writes lengths and peaks, and finishes the segment.
    pub(crate) fn finish(
        mut self,
        lengths: Columns<impl Iterator<Item = (Field, u32)>>,
        peaks: Columns<impl Iterator<Item = (Field, u32)>>,
    ) -> Result<SegmentMeta, IndexError> {
        self.meta.term_count = self.lexicon.count();
        let lexicon = self.lexicon.finish()?;
        let [docs, freqs, positions, skips] = self.postings.finish()?;
        let lengths = lengths::write(&self.disk, &self.folder, lengths, peaks)?;
        self.meta.stamps = [lexicon, docs, freqs, positions, skips, lengths, self.records];
        Ok(self.meta)
    }
}
