//! Reads a whole segment and checks that its files and the manifest are consistent.
//!
//! Checksums detect damage. This detects a segment that was written by another program or by a buggy version.
//!
//! **Invariant.** A verified segment answers every query without an error. Merging it can fail only because of the
//! disk.

use super::Segment;
use crate::file::mapped::MappedFile;
use crate::lengths::PerField;
use crate::lexicon::{self, Entries};
use crate::postings::{BLOCK, Contest, Extents, Postings};
use crate::{DocId, DocIterator, END, Field, Frequencies, IndexError, Maximum, Positions};
use codes::fsst::Needle;

pub(super) fn verify(segment: &Segment) -> Result<(), IndexError> {
    segment.files().try_for_each(MappedFile::verify)?;
    segment.records.each(|_| Ok(()))?;
    if let Some(tombstones) = &segment.tombstones {
        tombstones.verify(segment.doc_count())?;
    }
    let mut walk = Walk::default();
    for block in 0..segment.lexicon.block_count() {
        let mut entries = segment.lexicon.block(block)?;
        while entries.advance() {
            walk.enter(segment, &entries)?;
        }
    }
    walk.finish(segment)
}

/// Totals of the lists checked so far.
#[derive(Default)]
struct Walk {
    key: Vec<u8>,
    terms: u64,
    postings: u64,
    occurrences: PerField<u64>,
    /// Occurrences of filters, which lengths need not count.
    filters: PerField<u64>,
    /// The current field, and the greatest frequency in each document; empty for a field without lists.
    field: usize,
    peaks: Vec<u32>,
    /// Expected start of the next list in docs, freqs, positions and skips.
    ends: [u64; 4],
    positions: Vec<u32>,
}

impl Walk {
    /// Checks that keys ascend and are a field and valid UTF-8, and that a list begins where the previous one
    /// ends.
    fn enter(&mut self, segment: &Segment, entries: &Entries<'_>) -> Result<(), IndexError> {
        let damaged = |what| segment.lexicon.file().damaged(0, what);
        let (key, list) = (&entries.key, &entries.list);
        let field = key.first().map_or(usize::MAX, |&number| usize::from(number));
        let is_key = field < Field::ALL.len() && std::str::from_utf8(&key[1..]).is_ok();
        if !is_key || (self.terms > 0 && *key <= self.key) {
            return Err(damaged("a key is none, or not in its place"));
        }
        self.key.clone_from(key);
        let Extents { docs, freqs, positions, skips } = list.extents;
        for (end, extent) in self.ends.iter_mut().zip([docs, freqs, positions, skips]) {
            if *end != extent.start {
                return Err(damaged("a list does not begin where the one before it ends"));
            }
            *end = extent.start + extent.bytes;
        }
        let padded = [key, &[0; Needle::PADDING][..]].concat();
        let needle = Needle::new(&padded, key.len()).expect("it is padded");
        if segment.lexicon.find(needle)? != Some(*list) {
            return Err(damaged("a key is not found where it stands"));
        }
        while self.field < field {
            self.check_peaks(segment)?;
        }
        let is_filter = lexicon::is_filter(key);
        self.peaks.resize(segment.doc_count() as usize, 0);
        let peaks = (!is_filter).then_some(&mut self.peaks[..]);
        verify_list(segment, entries, &mut self.positions, peaks)?;
        self.terms += 1;
        self.postings += u64::from(list.doc_frequency);
        self.occurrences[field] += list.total_frequency;
        if is_filter {
            self.filters[field] += list.total_frequency;
        }
        Ok(())
    }

    /// Compares the peaks of a finished field with those of the file.
    fn check_peaks(&mut self, segment: &Segment) -> Result<(), IndexError> {
        let peaks = segment.max_frequencies(Field::ALL[self.field])?;
        let mut docs = (0..segment.doc_count()).map(DocId);
        let seen = |doc: DocId| self.peaks.get(doc.0 as usize).copied().unwrap_or(0);
        if docs.any(|doc| peaks.get(doc) != seen(doc)) {
            return Err(segment.lengths.file().damaged(0, "not the peak of all occurrences"));
        }
        self.peaks.clear();
        self.field += 1;
        Ok(())
    }

    /// Checks that the lists fill the streams, and that the counts match the manifest.
    fn finish(&mut self, segment: &Segment) -> Result<(), IndexError> {
        while self.field < Field::ALL.len() {
            self.check_peaks(segment)?;
        }
        let counts = (segment.term_count(), segment.posting_count());
        if (self.terms, self.postings) != counts {
            let what = "not as many terms and postings as the manifest names";
            return Err(segment.lexicon.file().damaged(0, what));
        }
        let files = [&segment.docs, &segment.freqs, &segment.positions, &segment.skips];
        for (file, end) in files.into_iter().zip(self.ends) {
            if end != file.payload_bytes() as u64 {
                return Err(file.damaged(0, "the lists do not fill the file"));
            }
        }
        for field in Field::ALL {
            let lengths = segment.lengths(field)?;
            let docs = (0..segment.doc_count()).map(DocId);
            let total: u64 = docs.map(|doc| u64::from(lengths.get(doc))).sum();
            // Another engine may export rounded lengths or a part of the lists; such indexes have no positions.
            let occurrences = self.occurrences[field as usize];
            let words = occurrences - self.filters[field as usize];
            let all_listed = !segment.has_positions() || (words..=occurrences).contains(&total);
            if segment.length_total(field) != total || !all_listed {
                return Err(segment.lengths.file().damaged(0, "not the sum of all occurrences"));
            }
        }
        Ok(())
    }
}

/// Checks that a list has the documents and occurrences that the lexicon states, in order.
fn verify_list(
    segment: &Segment,
    entries: &Entries<'_>,
    positions: &mut Vec<u32>,
    mut peaks: Option<&mut [u32]>,
) -> Result<(), IndexError> {
    let (field, list) = (entries.field, &entries.list);
    let inverted = segment.list(field, list)?;
    let (mut cursor, lengths) = (Postings::new(inverted), segment.lengths(field)?);
    let mut contest = Contest::default();
    let (norm, mut measure) = (segment.norm(field), 0.0_f32);
    let (mut docs, mut occurrences) = (0_u32, 0);
    while cursor.doc() != END {
        let frequency = cursor.frequency();
        cursor.positions(positions);
        let placed = !segment.has_positions() || positions.len() == frequency as usize;
        if frequency == 0 || !placed {
            break;
        }
        let peak = peaks.as_mut().and_then(|peaks| peaks.get_mut(cursor.doc().0 as usize));
        if let Some(peak) = peak {
            *peak = frequency.max(*peak);
        }
        docs += 1;
        occurrences += u64::from(frequency);
        let length = lengths.get(cursor.doc());
        let own = norm.measure(frequency, length);
        measure = measure.max(own);
        if contest.concerns(own) {
            contest.enter(norm, cursor.doc().0, frequency, length);
        }
        if (docs as usize).is_multiple_of(BLOCK) || docs == list.doc_frequency {
            let maximum = cursor.block_maximum();
            if maximum.is_some_and(|maximum| maximum != Maximum::of(measure)) {
                let start = usize::try_from(list.extents.skips.start).unwrap_or(usize::MAX);
                return Err(segment.skips.damaged(start, "not the maximum of its block"));
            }
            measure = 0.0;
        }
        cursor.next_doc();
    }
    if docs == 0 || (docs, occurrences) != (list.doc_frequency, list.total_frequency) {
        let start = usize::try_from(list.extents.docs.start).unwrap_or(usize::MAX);
        return Err(segment.docs.damaged(start, "not a posting list"));
    }
    if !inverted.is_won(&contest) {
        let start = usize::try_from(list.extents.skips.start).unwrap_or(usize::MAX);
        return Err(segment.skips.damaged(start, "not the champions of its list"));
    }
    Ok(())
}
