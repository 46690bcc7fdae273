//! Writes a segment with its documents in another order.
//!
//! Each list is read, renumbered, sorted and written. If its positions need too much memory, it is read several
//! times, each time for a range of the new numbers.
//!
//! **Invariant.** The segment has the same bytes as if its documents had been added in that order. The function
//! fails if anybody touches its input files.

use super::{ListsWriter, Segment, SegmentMeta, SegmentWriter};
use crate::lengths::Columns;
use crate::lexicon::Entries;
use crate::{DocId, DocIterator, END, Field, Frequencies, IndexError};
use std::ops::Range;

/// Writes the documents of a segment to `out`, in the order of `order`. The segment must not have deleted
/// documents.
pub(crate) fn permute(
    segment: &Segment,
    order: &[u32],
    memory_bytes: usize,
    out: SegmentWriter,
) -> Result<SegmentMeta, IndexError> {
    let permuted = permute_all(segment, order, memory_bytes, out);
    segment.untouched()?;
    permuted
}

fn permute_all(
    segment: &Segment,
    order: &[u32],
    memory_bytes: usize,
    mut out: SegmentWriter,
) -> Result<SegmentMeta, IndexError> {
    let mut numbers = vec![0; order.len()];
    for (number, &doc) in (0..).zip(order) {
        numbers[doc as usize] = number;
        out.record(&segment.record(DocId(doc))?)?;
    }
    let mut out = out.lists(segment.meta.codes, segment.meta.length_totals)?;
    let mut list = List::default();
    let mut entries = segment.lexicon.all()?;
    let mut key: Option<Vec<u8>> = None;
    while entries.advance() {
        if key.as_ref().is_some_and(|key| *key >= entries.key) {
            return Err(segment.lexicon.file().damaged(0, "keys do not ascend"));
        }
        key.get_or_insert_default().clone_from(&entries.key);
        out.begin_list(entries.field);
        list.copy(segment, &entries, &numbers, memory_bytes, &mut out)?;
        out.finish_list(&entries.key)?;
    }
    if entries.is_broken() {
        return Err(segment.lexicon.file().damaged(0, "not a lexicon"));
    }
    let (mut lengths, mut peaks) = (Vec::new(), Vec::new());
    for field in Field::ALL {
        lengths.push((field, segment.lengths(field)?));
        peaks.push((field, segment.max_frequencies(field)?));
    }
    let docs = || order.iter().map(|&doc| DocId(doc));
    let lengths = Columns::new(|| {
        lengths.iter().flat_map(|&(field, of)| docs().map(move |doc| (field, of.get(doc))))
    });
    let peaks = Columns::new(|| {
        peaks.iter().flat_map(|&(field, of)| docs().map(move |doc| (field, of.get(doc))))
    });
    out.finish(lengths, peaks)
}

/// A document of a list.
struct Doc {
    /// Its new number.
    number: u32,
    length: u32,
    frequency: u32,
    /// The range of its distances.
    places: Range<usize>,
}

/// A list, or a part of it, being reordered.
#[derive(Default)]
struct List {
    docs: Vec<Doc>,
    distances: Vec<u32>,
}

impl List {
    fn copy(
        &mut self,
        segment: &Segment,
        entries: &Entries<'_>,
        numbers: &[u32],
        memory_bytes: usize,
        out: &mut ListsWriter,
    ) -> Result<(), IndexError> {
        let words = entries.list.total_frequency + 8 * u64::from(entries.list.doc_frequency);
        let room = (memory_bytes / size_of::<u32>()).max(1) as u64;
        let passes = words.div_ceil(room).clamp(1, u64::from(segment.doc_count()).max(1));
        let bound = |pass: u64| {
            let at = u128::from(segment.doc_count()) * u128::from(pass) / u128::from(passes);
            u32::try_from(at).expect("at most as many as there are documents")
        };
        for pass in 0..passes {
            self.gather(segment, entries, numbers, bound(pass)..bound(pass + 1))?;
            self.docs.sort_unstable_by_key(|doc| doc.number);
            for Doc { number, length, frequency, places } in &self.docs {
                out.push(*number, *length, *frequency, &self.distances[places.clone()])?;
            }
        }
        Ok(())
    }

    /// Reads the documents of a list whose new numbers are in `range`.
    fn gather(
        &mut self,
        segment: &Segment,
        entries: &Entries<'_>,
        numbers: &[u32],
        range: Range<u32>,
    ) -> Result<(), IndexError> {
        self.docs.clear();
        self.distances.clear();
        let lengths = segment.lengths(entries.field)?;
        let mut postings = segment.cursor(entries.field, &entries.list)?;
        let broken = || {
            let start = usize::try_from(entries.list.extents.docs.start).unwrap_or(usize::MAX);
            segment.docs.damaged(start, "not a posting list")
        };
        while postings.doc() != END {
            let number = numbers[postings.doc().0 as usize];
            if range.contains(&number) {
                let (length, frequency) = (lengths.get(postings.doc()), postings.frequency());
                let start = self.distances.len();
                if segment.has_positions() {
                    self.distances.extend_from_slice(postings.distances());
                }
                let places = start..self.distances.len();
                let placed = !segment.has_positions() || places.len() == frequency as usize;
                if frequency == 0 || !placed {
                    return Err(broken());
                }
                self.docs.push(Doc { number, length, frequency, places });
            }
            postings.next_doc();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::envelope::Kind;
    use crate::segment::{SegmentId, forward};
    use crate::{Config, DocRecord, Index, IndexWriter, Slope};
    use durable::Disk;
    use std::fs::{self, File};
    use std::os::unix::fs::FileExt;

    /// Change any single byte after it was verified and before it is read.
    #[test]
    fn a_permutation_refuses_files_that_change_meanwhile() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut writer = IndexWriter::create(dir.path(), &Config::default()).expect("created");
        for doc in 0..5 {
            writer.add(&DocRecord::default()).expect("added");
            writer.term(Field::Body, "all", 0);
            writer.term(Field::Body, "almost", doc);
            writer.term(Field::Title, if doc < 3 { "few" } else { "others" }, 0);
        }
        writer.commit("five").expect("committed");
        for kind in Kind::SEGMENT {
            let path = dir.path().join("segment-1-0").join(kind.file_name());
            let sound = fs::read(&path).expect("reads");
            let file = File::options().write(true).open(&path).expect("it is there");
            for at in 0..sound.len() {
                let index = Index::open(dir.path()).expect("it is whole");
                let segment = &index.segments()[0];
                file.write_all_at(&[sound[at] ^ 1 << (at % 8)], at as u64).expect("room");
                let _ = forward(segment, 1 << 20).map(|forward| forward.bisect(1));
                let id = SegmentId { generation: 2, serial: 0 };
                let out = SegmentWriter::create(&Disk::default(), dir.path(), id, Slope::default());
                match permute(segment, &[4, 2, 0, 1, 3], 0, out.expect("created")) {
                    Err(IndexError::Damaged { file, .. }) => assert_eq!(file, path),
                    other => panic!("byte {at} of {}: {other:?}", path.display()),
                }
                file.write_all_at(&sound, 0).expect("room");
            }
        }
    }
}
