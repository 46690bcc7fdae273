//! Reads a whole segment and compares what its files and the manifest say of each other.
//!
//! The sums of the files tell damage; this tells a segment that was never written by us, or by a
//! version of us with a mistake in it.
//!
//! **Invariant.** A segment that passes answers every question without an error, and merging it
//! cannot fail but for the disk.

use super::Segment;
use crate::postings::{Extent, Extents, List};
use crate::{DocId, DocIterator, END, Field, Frequencies, IndexError, Positions};

pub(super) fn verify(segment: &Segment) -> Result<(), IndexError> {
    let lists = [&segment.docs, &segment.freqs, &segment.positions, &segment.skips];
    let others = [segment.lexicon.file(), segment.lengths.file(), segment.records.file()];
    for file in lists.into_iter().chain(others) {
        file.verify()?;
    }
    let mut records = 0_u64;
    segment.records.each(|_| {
        records += 1;
        Ok(())
    })?;
    if records != u64::from(segment.doc_count()) {
        return Err(segment.records.file().damaged(0, "not as many records as documents"));
    }
    verify_lists(segment)?;
    for field in Field::ALL {
        let lengths = segment.lengths(field)?;
        let docs = (0..segment.doc_count()).map(DocId);
        let total: u64 = docs.map(|doc| u64::from(lengths.get(doc))).sum();
        if total != segment.length_total(field) {
            return Err(segment.lengths.file().damaged(0, "not the sum that the manifest names"));
        }
    }
    Ok(())
}

/// Keys ascend and are a field and a text; lists follow one another and fill the streams.
fn verify_lists(segment: &Segment) -> Result<(), IndexError> {
    let damaged = |what| segment.lexicon.file().damaged(0, what);
    let mut entries = segment.lexicon.all()?;
    let mut previous = Vec::new();
    let (mut terms, mut postings) = (0_u64, 0_u64);
    let mut ends = Extents::default();
    let mut positions = Vec::new();
    while entries.advance() {
        let key = &entries.key;
        let is_key = key.split_first().is_some_and(|(&field, term)| {
            usize::from(field) < Field::ALL.len() && std::str::from_utf8(term).is_ok()
        });
        if !is_key || (terms > 0 && *key <= previous) {
            return Err(damaged("a key is none, or not in its place"));
        }
        previous.clone_from(key);
        let Extents { docs, freqs, positions: places, skips } = entries.list.extents;
        let pairs = [
            (&mut ends.docs, docs),
            (&mut ends.freqs, freqs),
            (&mut ends.positions, places),
            (&mut ends.skips, skips),
        ];
        for (end, extent) in pairs {
            if end.start != extent.start {
                return Err(damaged("a list does not begin where the one before it ends"));
            }
            *end = Extent { start: extent.start + extent.bytes, bytes: 0 };
        }
        verify_list(segment, &entries.list, &mut positions)?;
        terms += 1;
        postings += u64::from(entries.list.doc_frequency);
    }
    let counts = (segment.term_count(), segment.posting_count());
    if entries.is_broken() || (terms, postings) != counts {
        return Err(damaged("not as many terms and postings as the manifest names"));
    }
    let files = [
        (&segment.docs, ends.docs),
        (&segment.freqs, ends.freqs),
        (&segment.positions, ends.positions),
        (&segment.skips, ends.skips),
    ];
    for (file, end) in files {
        if end.start != file.payload_bytes() as u64 {
            return Err(file.damaged(0, "the lists do not fill the file"));
        }
    }
    Ok(())
}

/// A list has as many documents and occurrences as the lexicon says, in order.
fn verify_list(segment: &Segment, list: &List, positions: &mut Vec<u32>) -> Result<(), IndexError> {
    let mut cursor = segment.cursor(list)?;
    let (mut docs, mut occurrences) = (0, 0);
    while cursor.doc() != END {
        cursor.positions(positions);
        if positions.is_empty() || positions.len() != cursor.frequency() as usize {
            break;
        }
        docs += 1;
        occurrences += positions.len() as u64;
        cursor.next_doc();
    }
    if docs == 0 || (docs, occurrences) != (list.doc_frequency, list.total_frequency) {
        let start = usize::try_from(list.extents.docs.start).unwrap_or(usize::MAX);
        return Err(segment.docs.damaged(start, "not a posting list"));
    }
    Ok(())
}
