//! Merges segments into one: the documents of the first, then those of the second, and so on, without deleted
//! ones.
//!
//! All lexica are read in parallel in key order; a heap holds the next key of each segment. Documents keep their
//! order, so the list of a key is the concatenation of its lists in the segments. After some megabytes all files
//! are reopened, which releases the mapped memory.
//!
//! Memory does not depend on the size of the segments, with these exceptions: the longest list, lengths and peaks,
//! records of one segment, block starts, and the new numbers in a segment with deletions.
//!
//! **Invariant.** The merged segment has the same bytes as if its documents had been one batch, with positions if
//! all segments have them. Otherwise the merge fails. Each reopening checks that the files are intact, and the end
//! checks that nobody touched them: the result gets valid checksums, so wrong input would never be detected later.
//! The deleted documents are read once at the start, so all parts agree on them.

use super::{ListsWriter, Segment, SegmentMeta, SegmentWriter};
use crate::lengths::{Columns, PerField};
use crate::lexicon::Entries;
use crate::postings::StreamCodes;
use crate::tombstones::Places;
use crate::{Deleted, DocId, DocIterator, END, Field, Frequencies, IndexError};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Bytes read from all segments between two reopenings.
const STROKE_BYTES: u64 = 8 << 20;
/// Approximate size of an entry of the lexicon.
const ENTRY_BYTES: u64 = 16;

/// Writes the documents of all `segments` that are not deleted, in order, as one segment to `out`. Fails if
/// anybody touched one of their files meanwhile.
pub(crate) fn merge(
    segments: &[Segment],
    codes: StreamCodes,
    out: SegmentWriter,
) -> Result<SegmentMeta, IndexError> {
    let merged = merge_all(segments, codes, out);
    segments.iter().try_for_each(Segment::untouched)?;
    merged
}

fn merge_all(
    segments: &[Segment],
    codes: StreamCodes,
    mut out: SegmentWriter,
) -> Result<SegmentMeta, IndexError> {
    let deleted = segments.iter().map(Segment::deleted).collect::<Result<Vec<_>, _>>()?;
    for (segment, deleted) in segments.iter().zip(deleted) {
        let opened = segment.reopen()?;
        let copied = opened.try_each_record(deleted, |_, record| out.record(record));
        opened.intact()?;
        copied?;
    }
    let lengths = Kept::of(segments, |segment, field| {
        segment.lengths(field).map(|lengths| move |doc| lengths.get(doc))
    })?;
    let mut totals = PerField::default();
    for (field, length) in lengths.numbers() {
        totals[field as usize] += u64::from(length);
    }
    let has_positions = segments.iter().all(Segment::has_positions);
    let positions = codes.positions.filter(|_| has_positions);
    let mut out = out.lists(StreamCodes { positions, ..codes }, totals)?;
    merge_lists(segments, &mut out)?;
    let peaks = Kept::of(segments, |segment, field| {
        segment.max_frequencies(field).map(|peaks| move |doc| peaks.get(doc))
    })?;
    out.finish(Columns::new(|| lengths.numbers()), Columns::new(|| peaks.numbers()))
}

/// A column of numbers for the documents that are kept.
struct Kept<'a, G> {
    /// For each field and segment: the document count, the deleted documents, and the number of each document.
    parts: Vec<(Field, u32, Deleted<'a>, G)>,
}

impl<'a, G: Fn(DocId) -> u32> Kept<'a, G> {
    fn of(
        segments: &'a [Segment],
        column: impl Fn(&'a Segment, Field) -> Result<G, IndexError>,
    ) -> Result<Kept<'a, G>, IndexError> {
        let mut parts = Vec::with_capacity(segments.len() * Field::ALL.len());
        for field in Field::ALL {
            for segment in segments {
                let number = column(segment, field)?;
                parts.push((field, segment.doc_count(), segment.deleted()?, number));
            }
        }
        Ok(Kept { parts })
    }

    fn numbers(&self) -> impl Iterator<Item = (Field, u32)> {
        self.parts.iter().flat_map(|(field, doc_count, deleted, number)| {
            let kept = (0..*doc_count).map(DocId).filter(|&doc| !deleted.contains(doc));
            kept.map(|doc| (*field, number(doc)))
        })
    }
}

fn merge_lists(segments: &[Segment], out: &mut ListsWriter) -> Result<(), IndexError> {
    let mut documents = Vec::with_capacity(segments.len());
    let mut doc_base = 0;
    for segment in segments {
        let deleted = segment.deleted()?;
        documents.push(Documents { doc_base, deleted, places: deleted.places() });
        // Count instead of using the manifest: document numbers must be consistent even if that is wrong.
        let kept = (0..segment.doc_count()).filter(|&doc| !deleted.contains(DocId(doc)));
        doc_base += u32::try_from(kept.count()).expect("as many as there are or fewer");
    }
    let mut key = None;
    loop {
        let opened = segments.iter().map(Segment::reopen).collect::<Result<Vec<_>, _>>()?;
        let merged = merge_some(&opened, &documents, &mut key, out);
        opened.iter().try_for_each(Segment::intact)?;
        if !merged? {
            return Ok(());
        }
    }
}

/// Merges lists after `key` until enough has been read; sets `key` to that of the last list. Returns `false` if no
/// list is left.
fn merge_some(
    segments: &[Segment],
    documents: &[Documents<'_>],
    key: &mut Option<Vec<u8>>,
    out: &mut ListsWriter,
) -> Result<bool, IndexError> {
    let mut heap = BinaryHeap::new();
    for (number, (segment, documents)) in segments.iter().zip(documents).enumerate() {
        if let Some(source) = Source::behind(key.as_deref(), number, segment, documents)? {
            heap.push(Reverse(source));
        }
    }
    let (mut first, mut kept, mut read) = (true, 0, 0);
    while let Some(Reverse(source)) = heap.pop() {
        if first {
            if key.as_ref().is_some_and(|key| *key >= source.entries.key) {
                return Err(source.segment.lexicon.file().damaged(0, "keys do not ascend"));
            }
            key.get_or_insert_default().clone_from(&source.entries.key);
            out.begin_list(source.entries.field);
        }
        kept += source.copy_list(out)?;
        read += ENTRY_BYTES + source.entries.list.extents.bytes();
        let last = heap.peek().is_none_or(|next| next.0.entries.key != source.entries.key);
        // A list without remaining documents was not started either.
        if last && kept > 0 {
            out.finish_list(&source.entries.key)?;
        }
        (first, kept) = (last, if last { 0 } else { kept });
        if let Some(source) = source.advance()? {
            heap.push(Reverse(source));
        }
        if last && read >= STROKE_BYTES {
            return Ok(!heap.is_empty());
        }
    }
    Ok(false)
}

/// Renumbers the documents of a segment.
struct Documents<'a> {
    /// Added to the new numbers.
    doc_base: u32,
    deleted: Deleted<'a>,
    places: Places,
}

/// A segment being merged, at one of its keys. Ordered by key, then by segment.
struct Source<'a> {
    /// Entries of one shard, and the number of the shard.
    entries: Entries<'a>,
    shard: usize,
    number: usize,
    segment: &'a Segment,
    documents: &'a Documents<'a>,
}

impl<'a> Source<'a> {
    /// Starts at the first key after `key`, if there is one.
    fn behind(
        key: Option<&[u8]>,
        number: usize,
        segment: &'a Segment,
        documents: &'a Documents<'a>,
    ) -> Result<Option<Self>, IndexError> {
        let shard = key.and_then(|key| segment.lexicon.shard_with(key)).unwrap_or(0);
        let Some(entries) = segment.lexicon.shard(shard)? else { return Ok(None) };
        let mut source = Source { entries, shard, number, segment, documents }.advance()?;
        let mut before = Vec::new();
        while let Some(at) = source.take_if(|at| key.is_some_and(|key| *at.entries.key <= *key)) {
            if before >= at.entries.key {
                return Err(segment.lexicon.file().damaged(0, "keys do not ascend"));
            }
            before.clone_from(&at.entries.key);
            source = at.advance()?;
        }
        Ok(source)
    }

    /// Moves to the next key. Returns `None` at the end.
    fn advance(mut self) -> Result<Option<Self>, IndexError> {
        loop {
            if self.entries.advance() {
                return Ok(Some(self));
            }
            let lexicon = &self.segment.lexicon;
            if self.entries.is_broken() {
                return Err(lexicon.file().damaged(0, "not a lexicon"));
            }
            self.shard += 1;
            let Some(entries) = lexicon.shard(self.shard)? else { return Ok(None) };
            self.entries = entries;
        }
    }

    /// Copies the list at the current key. Returns how many of its documents are kept.
    fn copy_list(&self, out: &mut ListsWriter) -> Result<u32, IndexError> {
        let field = self.entries.field;
        let (mut postings, lengths) =
            (self.segment.cursor(field, &self.entries.list)?, self.segment.lengths(field)?);
        let Documents { doc_base, deleted, places } = self.documents;
        let (has_positions, mut read, mut kept) = (self.segment.has_positions(), 0, 0);
        while postings.doc() != END {
            let (doc, frequency) = (postings.doc(), postings.frequency());
            let distances = if has_positions { postings.distances() } else { &[] };
            let placed = !has_positions || distances.len() == frequency as usize;
            if frequency == 0 || !placed {
                break;
            }
            if !deleted.contains(doc) {
                let place = doc_base + places.of(*deleted, doc);
                out.push(place, lengths.get(doc), frequency, distances)?;
                kept += 1;
            }
            read += 1;
            postings.next_doc();
        }
        if read != postings.doc_frequency() {
            let start = usize::try_from(self.entries.list.extents.docs.start).unwrap_or(usize::MAX);
            return Err(self.segment.docs.damaged(start, "not a posting list"));
        }
        Ok(kept)
    }
}

impl Ord for Source<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.entries.key.cmp(&other.entries.key).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Source<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Source<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Source<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::envelope::HEADER_BYTES;
    use crate::segment::SegmentId;
    use crate::{Config, DocRecord, Index, IndexWriter, MergePolicy, Slope};
    use durable::Disk;
    use std::fs::{self, File};
    use std::os::unix::fs::FileExt;
    use std::time::SystemTime;

    /// The bytes read before may have been wrong.
    #[test]
    fn a_merge_refuses_files_that_change_meanwhile() {
        let dir = tempfile::tempdir().expect("a folder");
        let config = Config { memory_bytes: 0, merge: MergePolicy::Never, ..Config::default() };
        let mut writer = IndexWriter::create(dir.path(), &config).expect("created");
        for position in 0..3 {
            writer.add(&DocRecord::default()).expect("added");
            writer.term(Field::Body, "all", position);
        }
        writer.commit("three").expect("committed");
        let path = dir.path().join("segment-1-1/lengths");
        let file = File::options().write(true).open(&path).expect("it is there");
        // The clock is too coarse for a test, so set an old date.
        file.set_modified(SystemTime::UNIX_EPOCH).expect("set");
        let index = Index::open(dir.path()).expect("opens");
        let merge_as = |serial| {
            let id = SegmentId { generation: 2, serial };
            let out = SegmentWriter::create(&Disk::default(), dir.path(), id, Slope::default());
            merge(index.segments(), StreamCodes::default(), out.expect("created"))
        };
        assert_eq!(merge_as(0).expect("merged").doc_count, 3);
        fs::write(&path, fs::read(&path).expect("reads")).expect("room");
        match merge_as(1) {
            Err(IndexError::Touched { file }) => assert_eq!(file, path),
            other => panic!("{other:?}"),
        }
    }

    /// Reopening the file finds other bits than the open mapping: a valid copy has replaced it, and the mapped one
    /// is overwritten.
    #[test]
    fn a_merge_refuses_tombstones_that_change_meanwhile() {
        let dir = tempfile::tempdir().expect("a folder");
        let config = Config { merge: MergePolicy::Never, ..Config::default() };
        let mut writer = IndexWriter::create(dir.path(), &config).expect("created");
        for _ in 0..3 {
            writer.add(&DocRecord::default()).expect("added");
            writer.term(Field::Body, "all", 0);
        }
        writer.commit("three").expect("committed");
        let mut writer = IndexWriter::update(dir.path(), &config).expect("begins");
        writer.delete(0, DocId(1)).expect("it is there");
        writer.commit("two").expect("committed");
        let path = dir.path().join("segment-1-0/tombstones-2");
        for bits in [0b000, 0b111] {
            let index = Index::open(dir.path()).expect("opens");
            let open = File::options().write(true).open(&path).expect("it is there");
            let sound = fs::read(&path).expect("reads");
            fs::remove_file(&path).expect("it is there");
            fs::write(&path, sound).expect("room");
            open.write_all_at(&[bits], HEADER_BYTES as u64).expect("room");
            let id = SegmentId { generation: 3, serial: bits.into() };
            let out = SegmentWriter::create(&Disk::default(), dir.path(), id, Slope::default());
            match merge(index.segments(), StreamCodes::default(), out.expect("created")) {
                Err(IndexError::Damaged { file, .. }) => assert_eq!(file, path),
                other => panic!("{other:?}"),
            }
        }
    }
}
