//! Merges segments into one: the documents of the first, then those of the second, and so on, without
//! those that are deleted.
//!
//! All lexica are read at the same time in the order of their keys; the list of a key is the
//! concatenation of its lists in the segments that have it, since documents keep their order. A
//! heap holds the next key of each segment.
//!
//! **Invariant.** The merged segment has the bytes that it would have if its documents had been one
//! batch; it has positions if all of them do. Memory does not depend on the size of the segments, except for the skips of one list,
//! the starts of blocks, and the places of what is left of a segment that has lost documents.

use super::{ListsWriter, Segment, SegmentMeta, SegmentWriter};
use crate::fixed;
use crate::lengths::PerField;
use crate::lexicon::Entries;
use crate::postings::StreamCodes;
use crate::tombstones::Places;
use crate::{Deleted, DocId, DocIterator, END, Field, Frequencies, IndexError, Positions};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Writes the documents of all `segments` that are not deleted, in order, as one segment to `out`.
pub(crate) fn merge(
    segments: &[Segment],
    codes: StreamCodes,
    mut out: SegmentWriter,
) -> Result<SegmentMeta, IndexError> {
    for segment in segments {
        let deleted = segment.deleted()?;
        let mut doc = DocId(0);
        segment.records.each(|record| {
            let kept = !deleted.contains(doc);
            doc.0 += 1;
            if kept { out.record(record) } else { Ok(()) }
        })?;
    }
    let (mut totals, mut longest) = (PerField::default(), PerField::default());
    for (field, length) in lengths(segments)? {
        totals[field as usize] += u64::from(length);
        longest[field as usize] = length.max(longest[field as usize]);
    }
    let has_positions = segments.iter().all(Segment::has_positions);
    let positions = codes.positions.filter(|_| has_positions);
    let mut out = out.lists(StreamCodes { positions, ..codes }, totals)?;
    merge_lists(segments, &mut out)?;
    out.finish(longest.map(|length| fixed::width(u64::from(length))), lengths(segments)?)
}

/// The lengths of all documents that are kept, field by field.
fn lengths(segments: &[Segment]) -> Result<impl Iterator<Item = (Field, u32)>, IndexError> {
    let mut parts = Vec::with_capacity(segments.len() * Field::ALL.len());
    for field in Field::ALL {
        for segment in segments {
            parts.push((field, segment.doc_count(), segment.deleted()?, segment.lengths(field)?));
        }
    }
    Ok(parts.into_iter().flat_map(|(field, doc_count, deleted, lengths)| {
        let kept = (0..doc_count).map(DocId).filter(move |&doc| !deleted.contains(doc));
        kept.map(move |doc| (field, lengths.get(doc)))
    }))
}

fn merge_lists(segments: &[Segment], out: &mut ListsWriter) -> Result<(), IndexError> {
    let mut heap = BinaryHeap::new();
    let mut doc_base = 0;
    for (number, segment) in segments.iter().enumerate() {
        let deleted = segment.deleted()?;
        let entries = segment.lexicon.all()?;
        let source =
            Source { entries, number, segment, doc_base, deleted, places: deleted.places() };
        // Counted, not taken from the manifest: places must fit each other, whoever wrote that.
        let kept = (0..segment.doc_count()).filter(|&doc| !deleted.contains(DocId(doc)));
        doc_base += u32::try_from(kept.count()).expect("as many as there are or fewer");
        source.advance(&mut heap)?;
    }
    let (mut positions, mut first, mut kept) = (Vec::new(), true, 0);
    let mut key: Option<Vec<u8>> = None;
    while let Some(Reverse(source)) = heap.pop() {
        if first {
            if key.as_ref().is_some_and(|key| *key >= source.entries.key) {
                return Err(source.segment.lexicon.file().damaged(0, "keys do not ascend"));
            }
            key.get_or_insert_default().clone_from(&source.entries.key);
            out.begin_list(source.entries.field);
        }
        kept += source.copy_list(out, &mut positions)?;
        let last = heap.peek().is_none_or(|next| next.0.entries.key != source.entries.key);
        // A list of which nothing is left is not ended, and so has never been.
        if last && kept > 0 {
            out.finish_list(&source.entries.key)?;
        }
        (first, kept) = (last, if last { 0 } else { kept });
        source.advance(&mut heap)?;
    }
    Ok(())
}

/// A segment that is being merged, at one of its keys; ordered by key, then by segment.
struct Source<'a> {
    entries: Entries<'a>,
    number: usize,
    segment: &'a Segment,
    /// What is added to the places of its documents.
    doc_base: u32,
    deleted: Deleted<'a>,
    places: Places,
}

impl<'a> Source<'a> {
    /// Puts the source on the heap with its next key, if it has one.
    fn advance(mut self, heap: &mut BinaryHeap<Reverse<Source<'a>>>) -> Result<(), IndexError> {
        if self.entries.advance() {
            heap.push(Reverse(self));
        } else if self.entries.is_broken() {
            return Err(self.segment.lexicon.file().damaged(0, "not a lexicon"));
        }
        Ok(())
    }

    /// Copies the list at the key, and says how many documents of it are kept.
    fn copy_list(
        &self,
        out: &mut ListsWriter,
        positions: &mut Vec<u32>,
    ) -> Result<u32, IndexError> {
        let field = self.entries.field;
        let (mut postings, lengths) =
            (self.segment.cursor(field, &self.entries.list)?, self.segment.lengths(field)?);
        let (mut read, mut kept) = (0, 0);
        while postings.doc() != END {
            let (doc, frequency) = (postings.doc(), postings.frequency());
            positions.clear();
            if self.segment.has_positions() {
                postings.positions(positions);
            }
            let placed = !self.segment.has_positions() || positions.len() == frequency as usize;
            if frequency == 0 || !placed {
                break;
            }
            if !self.deleted.contains(doc) {
                let place = self.doc_base + self.places.of(self.deleted, doc);
                if out.has_positions() {
                    out.push(place, lengths.get(doc), positions)?;
                } else {
                    out.push_frequency(place, lengths.get(doc), frequency)?;
                }
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
