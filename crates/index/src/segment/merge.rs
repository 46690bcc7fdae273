//! Merges segments into one: the documents of the first, then those of the second, and so on.
//!
//! All lexica are read at the same time in the order of their keys; the list of a key is the
//! concatenation of its lists in the segments that have it, since documents keep their order. A
//! heap holds the next key of each segment.
//!
//! **Invariant.** The merged segment has the bytes that it would have if its documents had been one
//! batch; it has positions if all of them do. Memory does not depend on the size of the segments, except for the skips of one list and
//! the starts of blocks.

use super::{ListsWriter, Segment, SegmentMeta, SegmentWriter};
use crate::lengths::PerField;
use crate::lexicon::Entries;
use crate::postings::StreamCodes;
use crate::{DocIterator, END, Field, Frequencies, IndexError, Positions};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Writes the documents of all `segments`, in order, as one segment to `out`.
pub(crate) fn merge(
    segments: &[Segment],
    codes: StreamCodes,
    mut out: SegmentWriter,
) -> Result<SegmentMeta, IndexError> {
    for segment in segments {
        segment.records.each(|record| out.record(record))?;
    }
    let totals = std::array::from_fn(|field| {
        segments.iter().map(|segment| segment.meta.length_totals[field]).sum()
    });
    let has_positions = segments.iter().all(Segment::has_positions);
    let positions = codes.positions.filter(|_| has_positions);
    let mut out = out.lists(StreamCodes { positions, ..codes }, totals)?;
    merge_lists(segments, &mut out)?;
    let mut widths = PerField::default();
    for segment in segments {
        let of_segment = segment.lengths.widths();
        widths = std::array::from_fn(|field| of_segment[field].max(widths[field]));
        Field::ALL.into_iter().try_for_each(|field| segment.lengths(field).map(|_| ()))?;
    }
    let lengths = Field::ALL.into_iter().flat_map(|field| {
        segments.iter().flat_map(move |segment| {
            (0..segment.doc_count())
                .map(move |doc| (field, segment.length(field, crate::DocId(doc))))
        })
    });
    out.finish(widths, lengths)
}

fn merge_lists(segments: &[Segment], out: &mut ListsWriter) -> Result<(), IndexError> {
    let mut heap = BinaryHeap::new();
    let mut doc_base = 0;
    for (number, segment) in segments.iter().enumerate() {
        let source = Source { entries: segment.lexicon.all()?, number, segment, doc_base };
        doc_base += segment.doc_count();
        source.advance(&mut heap)?;
    }
    let (mut positions, mut first) = (Vec::new(), true);
    while let Some(Reverse(source)) = heap.pop() {
        if first {
            out.begin_list(source.entries.field);
        }
        source.copy_list(out, &mut positions)?;
        let last = heap.peek().is_none_or(|next| next.0.entries.key != source.entries.key);
        if last {
            out.finish_list(&source.entries.key)?;
        }
        first = last;
        source.advance(&mut heap)?;
    }
    Ok(())
}

/// A segment that is being merged, at one of its keys; ordered by key, then by segment.
struct Source<'a> {
    entries: Entries<'a>,
    number: usize,
    segment: &'a Segment,
    /// What is added to its documents.
    doc_base: u32,
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

    fn copy_list(&self, out: &mut ListsWriter, positions: &mut Vec<u32>) -> Result<(), IndexError> {
        let field = self.entries.field;
        let (mut postings, lengths) =
            (self.segment.cursor(field, &self.entries.list)?, self.segment.lengths(field)?);
        let mut copied = 0;
        while postings.doc() != END {
            let (doc, frequency) = (postings.doc(), postings.frequency());
            let (number, length) = (self.doc_base + doc.0, lengths.get(doc));
            if out.has_positions() {
                postings.positions(positions);
                if positions.is_empty() || positions.len() != frequency as usize {
                    break;
                }
                out.push(number, length, positions)?;
            } else if frequency == 0 {
                break;
            } else {
                out.push_frequency(number, length, frequency)?;
            }
            copied += 1;
            postings.next_doc();
        }
        if copied != postings.doc_frequency() {
            let start = usize::try_from(self.entries.list.extents.docs.start).unwrap_or(usize::MAX);
            return Err(self.segment.docs.damaged(start, "not a posting list"));
        }
        Ok(())
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
