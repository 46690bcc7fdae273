//! Builds the next generation of an index and replaces the last one with it.
//!
//! Documents are collected in a [`Batch`]. When the batch reaches the memory limit, it is written as a segment.
//! Segments are merged as `policy.rs` says: during writing, so that few are open at a time; at the commit, into
//! one; and those of several commits by [`merge`].
//!
//! ```text
//! folder                 lock, manifest, manifest.tmp, segment-<generation>-<serial>/
//! create, update         take the lock, remove what the manifest does not name
//! add, term, delete      write new segments only
//! commit                 syncs new files, writes and syncs manifest.tmp, renames it
//! ```
//!
//! **Invariant.** Before the rename the folder contains the complete old generation, afterwards the complete new
//! one. An interrupted writer leaves only files that no manifest names. The writer removes these when it ends, or
//! else the next writer does, together with files that only the previous generation named. Readers of that have
//! their files mapped.

use crate::build::batch::Batch;
use crate::build::policy::{self, MergePolicy};
use crate::build::term_cache::{Occurrence, Probe, TOGETHER};
use crate::build::words::FieldWords;
use crate::manifest::{Manifest, SEGMENTS_MAX, SOURCE_BYTES_MAX, TEMPORARY};
use crate::postings::StreamCodes;
use crate::segment::{self, Segment, SegmentId, SegmentMeta, SegmentWriter};
use crate::tombstones::{self, Bits};
use crate::{DocId, DocOrder, DocRecord, Field, IndexError, Slope, StreamCode};
use durable::Disk;
use std::fs::{self, File, TryLockError};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A batch has 32-bit addresses, and a single document may use many of them.
const BATCH_BYTES_MAX: usize = 3 << 30;
/// Every document id is less than [`END`](crate::END).
const DOCS_MAX: u32 = u32::MAX;
/// A term was added before the first document.
const EARLY: IndexError = IndexError::Misuse { doc: 0, what: "a term comes before its document" };
/// The lock file, locked as long as a writer lives.
const LOCK: &str = "lock";

/// How an index is built.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Memory for building: a batch of this size is written to disk. That happens between documents, so one
    /// document can exceed the limit by its own size.
    pub memory_bytes: usize,
    /// Code of the document gaps.
    pub docs_code: StreamCode,
    /// Code of the frequencies.
    pub freqs_code: StreamCode,
    /// Code of the position gaps.
    pub positions_code: StreamCode,
    /// When the segments of several commits are merged.
    pub merge: MergePolicy,
    /// How documents are numbered in an index that is built from scratch.
    pub order: DocOrder,
    /// Slope of block maxima and champions. The bounds are tightest for BM25 with a *b* of the same value.
    #[serde(skip)]
    pub slope: Slope,
    /// Number of threads for building; 0 means one per processor. The index does not depend on it.
    pub threads: usize,
}

impl Default for Config {
    fn default() -> Self {
        let StreamCodes { docs, freqs, positions } = StreamCodes::default();
        Config {
            memory_bytes: 256 << 20,
            docs_code: docs,
            freqs_code: freqs,
            positions_code: positions.unwrap_or(StreamCode::Golomb),
            merge: MergePolicy::default(),
            order: DocOrder::default(),
            slope: Slope::default(),
            threads: 0,
        }
    }
}

impl Config {
    /// Number of threads for building, at least one.
    pub fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    fn codes(&self) -> StreamCodes {
        let positions = Some(self.positions_code);
        StreamCodes { docs: self.docs_code, freqs: self.freqs_code, positions }
    }
}

/// Writes one generation: takes its documents in order, or the changes from the previous generation.
///
/// If dropped without a commit, or after an error, it leaves the index unchanged.
pub struct IndexWriter {
    disk: Disk,
    dir: PathBuf,
    /// Held only for its lock.
    _lock: File,
    memory_bytes: usize,
    codes: StreamCodes,
    slope: Slope,
    policy: MergePolicy,
    order: DocOrder,
    threads: usize,
    generation: u64,
    /// Serial number of the next segment.
    serial: u64,
    /// Number of documents, kept and added.
    doc_count: u32,
    added: u32,
    batch: Batch,
    /// Takes the records of the batch; `None` while the batch is empty.
    segment: Option<SegmentWriter>,
    /// Segments of the previous generation, each with its deleted documents if they changed.
    kept: Vec<(SegmentMeta, Option<Bits>)>,
    written: Vec<SegmentMeta>,
    state: State,
}

enum State {
    Sound,
    /// An error that has not been returned yet.
    Failing(IndexError),
    /// The error has been returned.
    Failed,
}

impl IndexWriter {
    /// Starts a generation with only the documents that will be added. Creates the folder if needed, and removes
    /// files that the manifest does not name.
    pub fn create(dir: &Path, config: &Config) -> Result<IndexWriter, IndexError> {
        IndexWriter::create_on(Disk::default(), dir, config)
    }

    /// Starts a generation that keeps the documents of the previous one, except those
    /// [deleted](IndexWriter::delete).
    pub fn update(dir: &Path, config: &Config) -> Result<IndexWriter, IndexError> {
        IndexWriter::update_on(Disk::default(), dir, config)
    }

    fn update_on(disk: Disk, dir: &Path, config: &Config) -> Result<IndexWriter, IndexError> {
        let mut writer = IndexWriter::create_on(disk, dir, config)?;
        let last = Manifest::read(dir)?;
        // Only an index built from scratch is reordered.
        writer.order = DocOrder::Url;
        writer.kept = last.segments.into_iter().map(|meta| (meta, None)).collect();
        let kept: u64 = writer.kept.iter().map(|(meta, _)| u64::from(meta.doc_count)).sum();
        writer.doc_count = u32::try_from(kept).map_err(|_| too_many_documents())?;
        Ok(writer)
    }

    fn create_on(disk: Disk, dir: &Path, config: &Config) -> Result<IndexWriter, IndexError> {
        disk.call(|| fs::create_dir_all(dir)).map_err(IndexError::io(dir))?;
        let lock = lock(&disk, &dir.join(LOCK))?;
        let lock = lock.ok_or_else(|| IndexError::Locked { path: dir.to_path_buf() })?;
        let last = clean(&disk, dir)?;
        let generation = last.checked_add(1).ok_or(IndexError::Limit {
            what: "number of a generation",
            found: last,
            max: u64::MAX - 1,
        })?;
        Ok(IndexWriter {
            disk,
            dir: dir.to_path_buf(),
            _lock: lock,
            memory_bytes: config.memory_bytes.min(BATCH_BYTES_MAX),
            codes: config.codes(),
            slope: config.slope,
            policy: config.merge,
            order: config.order,
            threads: config.thread_count(),
            generation,
            serial: 0,
            doc_count: 0,
            added: 0,
            batch: Batch::new(config.memory_bytes.min(BATCH_BYTES_MAX)),
            segment: None,
            kept: Vec::new(),
            written: Vec::new(),
            state: State::Sound,
        })
    }

    /// Deletes document `doc` of segment number `segment` of the previous generation. Deleting it twice has no
    /// effect.
    pub fn delete(&mut self, segment: usize, doc: DocId) -> Result<(), IndexError> {
        self.check()?;
        let Some((meta, bits)) = self.kept.get_mut(segment).filter(|of| doc.0 < of.0.doc_count)
        else {
            return Err(IndexError::Misuse { doc: doc.0, what: "deleted, but was never there" });
        };
        if bits.is_none() {
            let opened = Segment::open(&self.dir, meta)?;
            let deleted = Bits::of(opened.deleted()?, meta.doc_count);
            opened.intact()?;
            *bits = Some(deleted);
        }
        if let Some(bits) = bits {
            bits.set(doc);
        }
        Ok(())
    }

    /// Starts a document; the terms that follow belong to it. Returns the number of documents added before. That
    /// is its number in the segment that [`IndexWriter::commit`] makes of them, unless it reorders them.
    pub fn add(&mut self, record: &DocRecord) -> Result<DocId, IndexError> {
        self.check()?;
        let added = self.try_add(record);
        if added.is_err() {
            self.state = State::Failed;
        }
        added
    }

    /// Adds an occurrence of a term to the last added document.
    ///
    /// The positions of a term in a field of a document must not descend. A term has at most
    /// [`TERM_BYTES_MAX`](crate::TERM_BYTES_MAX) bytes. This method does not fail; the next
    /// [`add`](IndexWriter::add) or [`commit`](IndexWriter::commit) returns the error. A term with
    /// [`FILTER_MARK`](crate::FILTER_MARK) does not add to the length of the field.
    pub fn term(&mut self, field: Field, term: &str, position: u32) {
        if !matches!(self.state, State::Sound) {
            return;
        }
        let pushed = if self.segment.is_some() {
            self.batch.push(field, term, position)
        } else {
            Err(EARLY)
        };
        if let Err(error) = pushed {
            self.state = State::Failing(error);
        }
    }

    /// Takes the words of `text`. `term` appends the term of a word to its second argument. Each word is added as
    /// if by [`term`](IndexWriter::term).
    ///
    /// Words are cached: `term` is called only for words that are not in the cache. It must always return the same
    /// term for the same word.
    ///
    /// ```
    /// # use index::{Config, DocRecord, Field, IndexWriter};
    /// # let dir = tempfile::tempdir()?;
    /// # let mut writer = IndexWriter::create(dir.path(), &Config::default())?;
    /// writer.add(&DocRecord::default())?;
    /// let lower = |word: &str, term: &mut String| *term += &word.to_lowercase();
    /// let mut words = writer.words(Field::Title, "Moby Dick", lower);
    /// words.push(0..4, 0);
    /// words.push(5..9, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn words<'w, 't, T: FnMut(&str, &mut String)>(
        &'w mut self,
        field: Field,
        text: &'t str,
        term: T,
    ) -> FieldWords<'w, 't, T> {
        let waiting = [Occurrence::default(); TOGETHER];
        FieldWords { writer: self, field, text, term, waiting, count: 0 }
    }

    /// Prefetches the memo entry of a word that comes soon.
    #[inline]
    pub(crate) fn expect_word(&self, probe: Probe) {
        self.batch.expect_word(probe);
    }

    pub(crate) fn push_words(
        &mut self,
        field: Field,
        text: &str,
        words: &[Occurrence],
        term: &mut impl FnMut(&str, &mut String),
    ) {
        if !matches!(self.state, State::Sound) || words.is_empty() {
            return;
        }
        let pushed = if self.segment.is_some() {
            self.batch.push_words(field, text, words, term)
        } else {
            Err(EARLY)
        };
        if let Err(error) = pushed {
            self.state = State::Failing(error);
        }
    }

    /// Adds a segment that `fill` writes, after the documents added so far.
    pub(crate) fn add_segment(
        &mut self,
        fill: impl FnOnce(SegmentWriter, StreamCodes) -> Result<SegmentMeta, IndexError>,
    ) -> Result<(), IndexError> {
        self.check()?;
        self.flush()?;
        let meta = fill(self.create_segment()?, self.codes)?;
        self.doc_count =
            self.doc_count.checked_add(meta.doc_count).ok_or_else(too_many_documents)?;
        self.added = self.added.saturating_add(meta.doc_count);
        self.written.push(meta);
        Ok(())
    }

    /// Publishes the documents added so far and returns the number of the generation. `source` lets the caller
    /// recognise what the index was built from.
    ///
    /// After an error the old generation is unchanged. The only exception is an error in the last sync, which
    /// follows the rename: then the new generation is in place, complete, but a power failure may bring back the
    /// old one.
    pub fn commit(mut self, source: &str) -> Result<u64, IndexError> {
        self.check()?;
        if source.len() > SOURCE_BYTES_MAX {
            return Err(IndexError::Limit {
                what: "bytes of the source",
                found: source.len() as u64,
                max: SOURCE_BYTES_MAX as u64,
            });
        }
        self.flush()?;
        if self.written.len() > 1 && self.policy != MergePolicy::Never {
            self.merge_range(0..self.written.len())?;
        }
        if self.order == DocOrder::Bisection {
            (0..self.written.len()).try_for_each(|number| self.reorder(number))?;
        }
        let mut segments = Vec::with_capacity(self.kept.len() + self.written.len());
        for (mut meta, bits) in std::mem::take(&mut self.kept) {
            if let Some(bits) = bits {
                let folder = self.dir.join(meta.id.folder_name());
                meta.tombstones = Some(bits.write(&self.disk, &folder, self.generation)?);
            }
            segments.push(meta);
        }
        segments.append(&mut self.written);
        self.publish(source, segments)
    }

    /// Reorders the documents of a new segment to make gaps small.
    fn reorder(&mut self, number: usize) -> Result<(), IndexError> {
        let meta = self.once_more(|writer| {
            let segment = Segment::open(&writer.dir, &writer.written[number])?;
            let out = writer.create_segment()?;
            let forward = segment::forward(&segment, writer.memory_bytes);
            segment.intact()?;
            let order = forward?.bisect(writer.threads);
            segment::permute(&segment, &order, writer.memory_bytes, out)
        })?;
        let before = std::mem::replace(&mut self.written[number], meta);
        remove(&self.disk, &self.dir.join(before.id.folder_name()))
    }

    /// Merges segments of the previous generation as the policy says. Returns `false` if there is nothing to do.
    fn merge_kept(&mut self) -> Result<bool, IndexError> {
        self.written = std::mem::take(&mut self.kept).into_iter().map(|(meta, _)| meta).collect();
        let mut merged = false;
        while let Some(range) = self.policy.next(&sizes(&self.written)) {
            self.merge_range(range)?;
            merged = true;
        }
        Ok(merged)
    }

    /// Writes the manifest with these segments.
    fn publish(self, source: &str, mut segments: Vec<SegmentMeta>) -> Result<u64, IndexError> {
        segments.retain(|meta| meta.doc_count > 0);
        if segments.len() as u64 > SEGMENTS_MAX {
            return Err(IndexError::Limit {
                what: "segments that are not merged",
                found: segments.len() as u64,
                max: SEGMENTS_MAX,
            });
        }
        for meta in &segments {
            let deleted_now = meta.tombstones.is_some_and(|of| of.generation == self.generation);
            if meta.id.generation == self.generation || deleted_now {
                meta.sync(&self.disk, &self.dir)?;
            }
        }
        self.disk.sync(&self.dir).map_err(IndexError::io(&self.dir))?;
        let manifest =
            Manifest { generation: self.generation, source: source.to_owned(), segments };
        manifest.replace(&self.disk, &self.dir)?;
        Ok(self.generation)
    }

    /// Returns the pending error, or an error that the writer has failed.
    fn check(&mut self) -> Result<(), IndexError> {
        match std::mem::replace(&mut self.state, State::Failed) {
            State::Sound => {
                self.state = State::Sound;
                Ok(())
            }
            State::Failing(error) => Err(error),
            State::Failed => Err(IndexError::Misuse {
                doc: self.doc_count,
                what: "the writer has failed before and takes no more",
            }),
        }
    }

    fn try_add(&mut self, record: &DocRecord) -> Result<DocId, IndexError> {
        if self.doc_count == DOCS_MAX {
            return Err(too_many_documents());
        }
        if self.segment.is_some() && self.batch.memory_bytes() >= self.memory_bytes {
            self.flush()?;
        }
        let mut segment = match self.segment.take() {
            Some(segment) => segment,
            None => self.create_segment()?,
        };
        segment.record(record)?;
        self.segment = Some(segment);
        self.batch.begin()?;
        self.doc_count += 1;
        self.added += 1;
        Ok(DocId(self.added - 1))
    }

    fn create_segment(&mut self) -> Result<SegmentWriter, IndexError> {
        let id = SegmentId { generation: self.generation, serial: self.serial };
        self.serial += 1;
        SegmentWriter::create(&self.disk, &self.dir, id, self.slope)
    }

    /// Writes the batch as a segment, and merges if there are too many segments.
    fn flush(&mut self) -> Result<(), IndexError> {
        let Some(segment) = self.segment.take() else { return Ok(()) };
        let batch = std::mem::replace(&mut self.batch, Batch::new(self.memory_bytes));
        let meta = batch.write(self.codes, segment)?;
        self.written.push(meta);
        let while_writing = match self.policy {
            MergePolicy::One | MergePolicy::Tiered => MergePolicy::Tiered,
            MergePolicy::Never => MergePolicy::Never,
        };
        while let Some(range) = while_writing.next(&sizes(&self.written)) {
            self.merge_range(range)?;
        }
        Ok(())
    }

    /// Merges neighbours into one segment. Removes them unless the last manifest names them.
    fn merge_range(&mut self, range: Range<usize>) -> Result<(), IndexError> {
        let merged = self.once_more(|writer| {
            let out = writer.create_segment()?;
            let parts = writer.written[range.clone()].iter();
            let parts = parts.map(|meta| Segment::open(&writer.dir, meta));
            segment::merge(&parts.collect::<Result<Vec<_>, _>>()?, writer.codes, out)
        })?;
        for meta in
            self.written[range.clone()].iter().filter(|meta| meta.id.generation == self.generation)
        {
            remove(&self.disk, &self.dir.join(meta.id.folder_name()))?;
        }
        self.written.splice(range, (merged.doc_count > 0).then_some(merged));
        Ok(())
    }

    /// Makes a segment of others, and tries again after damage. Somebody may have touched a file and restored it;
    /// then the second try succeeds.
    fn once_more(
        &mut self,
        make: impl Fn(&mut IndexWriter) -> Result<SegmentMeta, IndexError>,
    ) -> Result<SegmentMeta, IndexError> {
        match make(self) {
            Err(IndexError::Damaged { .. } | IndexError::Touched { .. }) => make(self),
            made => made,
        }
    }
}

impl Drop for IndexWriter {
    /// Removes files that no manifest names: uncommitted ones, and those that only the previous generation had.
    /// Errors are ignored; the next writer tries again.
    fn drop(&mut self) {
        self.segment = None;
        let _ = clean(&self.disk, &self.dir);
    }
}

/// Merges segments of the newest generation as the policy says, and commits the result as the next generation. It
/// has the same documents and source. Returns `None` if there is nothing to merge.
pub fn merge(dir: &Path, config: &Config) -> Result<Option<u64>, IndexError> {
    merge_on(Disk::default(), dir, config)
}

fn merge_on(disk: Disk, dir: &Path, config: &Config) -> Result<Option<u64>, IndexError> {
    let mut writer = IndexWriter::update_on(disk, dir, config)?;
    if !writer.merge_kept()? {
        return Ok(None);
    }
    let source = Manifest::read(dir)?.source;
    let segments = std::mem::take(&mut writer.written);
    writer.publish(&source, segments).map(Some)
}

fn sizes(segments: &[SegmentMeta]) -> Vec<policy::Size> {
    let size = |meta: &SegmentMeta| policy::Size {
        postings: meta.posting_count,
        docs: meta.doc_count,
        deleted: meta.tombstones.map_or(0, |tombstones| tombstones.count),
    };
    segments.iter().map(size).collect()
}

fn too_many_documents() -> IndexError {
    IndexError::Limit {
        what: "documents",
        found: u64::from(DOCS_MAX) + 1,
        max: u64::from(DOCS_MAX),
    }
}

/// Removes what the manifest does not name. Returns the greatest generation number, or zero.
///
/// If the manifest is damaged or of another version, its segments are unknown. Then all files stay until the next
/// commit has replaced the manifest.
fn clean(disk: &Disk, dir: &Path) -> Result<u64, IndexError> {
    let named = match Manifest::read(dir) {
        Ok(manifest) => Some(manifest),
        Err(IndexError::NotAnIndex { .. }) => Some(Manifest::default()),
        Err(IndexError::Damaged { .. } | IndexError::Version { .. }) => None,
        Err(error) => return Err(error),
    };
    let mut last = named.as_ref().map_or(0, |manifest| manifest.generation);
    for entry in fs::read_dir(dir).map_err(IndexError::io(dir))? {
        let entry = entry.map_err(IndexError::io(dir))?;
        let name = entry.file_name();
        let id = name.to_str().and_then(SegmentId::from_folder_name);
        let is_named = |id: SegmentId| match &named {
            Some(manifest) => manifest.segments.iter().any(|meta| meta.id == id),
            None => true,
        };
        match id {
            Some(id) if is_named(id) => {
                last = last.max(id.generation).max(last_deletion(&entry.path())?);
                if let Some(manifest) = &named {
                    clean_tombstones(disk, &entry.path(), manifest, id)?;
                }
            }
            Some(_) => remove(disk, &entry.path())?,
            None if name == TEMPORARY => remove(disk, &entry.path())?,
            None => {}
        }
    }
    Ok(last)
}

/// The last generation that deleted documents of a segment; zero if none did.
fn last_deletion(folder: &Path) -> Result<u64, IndexError> {
    let mut last = 0;
    for entry in fs::read_dir(folder).map_err(IndexError::io(folder))? {
        let name = entry.map_err(IndexError::io(folder))?.file_name();
        last = last.max(name.to_str().and_then(tombstones::generation_of).unwrap_or(0));
    }
    Ok(last)
}

/// Removes tombstone files that the manifest does not name.
fn clean_tombstones(
    disk: &Disk,
    folder: &Path,
    manifest: &Manifest,
    id: SegmentId,
) -> Result<(), IndexError> {
    let of = manifest.segments.iter().find(|meta| meta.id == id);
    let named = of.and_then(|meta| meta.tombstones).map(|tombstones| tombstones.file_name());
    for entry in fs::read_dir(folder).map_err(IndexError::io(folder))? {
        let entry = entry.map_err(IndexError::io(folder))?;
        let name = entry.file_name();
        let is_one = name.to_str().and_then(tombstones::generation_of).is_some();
        if is_one && named.as_deref() != name.to_str() {
            remove(disk, &entry.path())?;
        }
    }
    Ok(())
}

/// Opens or creates the lock file and locks it. Returns `None` if another process has the lock. The lock ends with the
/// process.
fn lock(disk: &Disk, path: &Path) -> Result<Option<File>, IndexError> {
    let locked = disk.call(|| {
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    });
    locked.map_err(IndexError::io(path))
}

/// Removes a file, or a folder with its content.
fn remove(disk: &Disk, path: &Path) -> Result<(), IndexError> {
    let removed = disk.call(|| {
        let is_folder = fs::symlink_metadata(path)?.is_dir();
        if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) }
    });
    removed.map_err(IndexError::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DocIterator, END, Index};
    use std::cell::Cell;
    use std::time::{Duration, SystemTime};

    /// Builds an index of `count` documents, one per segment, on a disk that may fail.
    fn build(disk: Disk, dir: &Path, count: u32) -> Result<u64, IndexError> {
        let mut writer =
            IndexWriter::create_on(disk, dir, &Config { memory_bytes: 0, ..Config::default() })?;
        for number in 0..count {
            writer.add(&DocRecord { content: u64::from(number), ..DocRecord::default() })?;
            writer.term(Field::Body, "all", number);
            writer.term(Field::Title, &number.to_string(), 0);
        }
        writer.commit(&count.to_string())
    }

    /// Checks that the index is valid and returns its number of documents.
    fn check(dir: &Path) -> u32 {
        let index = Index::open(dir).expect("there is always an index");
        index.verify().expect("it is whole");
        let count: u32 = index.source().parse().expect("the number of documents");
        assert_eq!(index.doc_count(), u64::from(count));
        let mut all = index.segments()[0].postings(Field::Body, "all").unwrap().unwrap();
        (0..count).for_each(|number| {
            assert_eq!(all.doc(), DocId(number));
            all.next_doc();
        });
        assert_eq!(all.doc(), END);
        count
    }

    /// Makes the *n*-th disk call fail, and in another run all calls from the *n*-th on, like a full disk or a
    /// kill: for *n* = 0, 1, … until nothing fails.
    #[test]
    fn a_build_is_atomic_whichever_call_fails() {
        for lasting in [false, true] {
            let dir = tempfile::tempdir().expect("a folder");
            build(Disk::default(), dir.path(), 2).expect("a sound disk");
            let mut refusals = 0;
            for n in 0.. {
                let failing = n..if lasting { u64::MAX } else { n + 1 };
                let disk = Disk::failing(failing);
                // Merge three, so that all kinds of calls occur.
                let built = build(disk, dir.path(), 3);
                let found = check(dir.path());
                if built.is_ok() {
                    assert_eq!(found, 3, "call {n}");
                    break;
                }
                refusals += 1;
                if found != 2 {
                    // Only the last sync comes after the rename.
                    assert_eq!(found, 3, "call {n}");
                    build(Disk::default(), dir.path(), 2).expect("a sound disk");
                }
            }
            assert!(refusals > 80, "{refusals} calls");
            build(Disk::default(), dir.path(), 4).expect("a sound disk");
            assert_eq!(check(dir.path()), 4);
        }
    }

    #[test]
    fn a_merge_is_retried_if_a_segment_file_changes() {
        let dir = tempfile::tempdir().expect("a folder");
        let config = Config { memory_bytes: 0, merge: MergePolicy::Never, ..Config::default() };
        let mut writer = IndexWriter::create(dir.path(), &config).expect("created");
        for _ in 0..2 {
            writer.add(&DocRecord::default()).expect("added");
            writer.term(Field::Body, "all", 0);
        }
        writer.flush().expect("written");
        let path = dir.path().join("segment-1-0/docs");
        for (touches, is_merged) in [(0_u64, true), (1, true), (2, false)] {
            let left = Cell::new(touches);
            let merged = writer.once_more(|writer| {
                let out = writer.create_segment()?;
                let segment = Segment::open(&writer.dir, &writer.written[0])?;
                if let Some(less) = left.get().checked_sub(1) {
                    left.set(less);
                    let file = File::options().write(true).open(&path).expect("it is there");
                    let date = SystemTime::UNIX_EPOCH + Duration::from_secs(less);
                    file.set_modified(date).expect("set");
                }
                segment::merge(&[segment], writer.codes, out)
            });
            assert_eq!(merged.is_ok(), is_merged, "{touches} times: {merged:?}");
        }
    }

    /// Updates the index from 2 documents to 3: deletes one, adds two, and merges all.
    fn update(disk: &Disk, dir: &Path) -> Result<(), IndexError> {
        let config = Config { memory_bytes: 0, merge: MergePolicy::One, ..Config::default() };
        let mut writer = IndexWriter::update_on(disk.clone(), dir, &config)?;
        writer.delete(0, DocId(1))?;
        for number in 1..3_u32 {
            writer.add(&DocRecord { content: u64::from(number), ..DocRecord::default() })?;
            writer.term(Field::Body, "all", number);
        }
        writer.commit("3")?;
        merge_on(disk.clone(), dir, &config).map(|_| ())
    }

    #[test]
    fn an_update_is_atomic_whichever_call_fails() {
        for lasting in [false, true] {
            let (mut refusals, mut done) = (0, false);
            for n in 0.. {
                let dir = tempfile::tempdir().expect("a folder");
                build(Disk::default(), dir.path(), 2).expect("a sound disk");
                let failing = n..if lasting { u64::MAX } else { n + 1 };
                let disk = Disk::failing(failing);
                let updated = update(&disk, dir.path());
                let index = Index::open(dir.path()).expect("there is always an index");
                index.verify().expect("it is whole");
                assert_eq!(index.live_count().to_string(), index.source(), "call {n}");
                if updated.is_ok() {
                    assert_eq!((index.segments().len(), index.source()), (1, "3"), "call {n}");
                    done = true;
                    break;
                }
                refusals += 1;
                update(&Disk::default(), dir.path()).ok();
            }
            assert!(done && refusals > 100, "{refusals} calls");
        }
    }

    /// Each failing call is identified by the path in its error. The syncs come last, and only then the rename.
    #[test]
    fn files_are_synced_before_the_rename_and_it_after() {
        let root = tempfile::tempdir().expect("a folder");
        let path_of_call = |n: u64| {
            // Use the same folder each time, so that the calls are the same.
            let dir = root.path().join("index");
            let disk = Disk::failing(n..n + 1);
            let built = build(disk, &dir, 1);
            if dir.exists() {
                fs::remove_dir_all(&dir).expect("removed");
            }
            match built {
                Err(IndexError::Io { path, .. }) => Some(path),
                other => other.map(|_| None).expect("nothing else fails"),
            }
        };
        let calls: Vec<PathBuf> = (0..).map_while(path_of_call).collect();
        let names = [
            &["lexicon", "docs", "freqs", "positions", "skips", "lengths", "records"]
                .map(|file| format!("index/segment-1-0/{file}"))[..],
            &["segment-1-0", "", "manifest.tmp", "manifest.tmp", "manifest.tmp"]
                .map(|file| format!("index/{file}")),
            // A sync, the rename, and the sync of the folder.
            &["manifest"; 3].map(|file| format!("index/{file}")),
        ];
        let expected: Vec<PathBuf> =
            names.concat().iter().map(|name| root.path().join(name)).collect();
        assert!(calls.ends_with(&expected), "{calls:#?}");
    }

    #[test]
    fn the_segment_count_stays_small_while_documents_are_added() {
        let dir = tempfile::tempdir().expect("a folder");
        let config = Config { memory_bytes: 0, ..Config::default() };
        let mut writer = IndexWriter::create(dir.path(), &config).expect("created");
        for _ in 0..300 {
            writer.add(&DocRecord::default()).expect("added");
            writer.term(Field::Body, "all", 0);
            assert!(writer.written.len() < 8, "{}", writer.written.len());
        }
    }
}
