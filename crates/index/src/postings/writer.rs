//! Writes posting lists one after the other into the four streams.
//!
//! **Invariant.** The documents of a list arrive in ascending order. The bytes of a list depend only on its
//! documents, their positions and lengths, the number of documents and average length of the segment, and the
//! codes. So a list merged from parts has the same bytes as one written at once.

use super::champions::Contest;
use super::chunks::{ChunksWriter, Place};
use super::code::{BLOCK, Coder};
use super::maxima::{Maximum, Norm};
use super::skips::{self, Skip, Widths};
use super::{Extent, Extents, List, StreamCodes};
use crate::IndexError;
use crate::file::envelope::{FileWriter, Kind, Stamp};
use crate::file::fixed;
use durable::Disk;
use std::path::Path;

/// The four streams of a segment, open for writing.
pub(crate) struct PostingsWriter {
    doc_count: u32,
    codes: StreamCodes,
    docs: Stream,
    freqs: Stream,
    positions: Stream,
    skips_file: FileWriter,
    // The current list:
    norm: Norm,
    doc_frequency: u32,
    total_frequency: u64,
    /// The least document that may come next.
    doc_min: u32,
    skips: Vec<Skip>,
    contest: Contest,
    block: Block,
    chunks: ChunksWriter,
    freqs_less_one: Vec<u32>,
    scratch: Vec<u8>,
}

/// The documents that are not written yet: less than a block between calls.
#[derive(Default)]
struct Block {
    gaps: Vec<u32>,
    places: Vec<Place>,
    /// The distances of all its positions, and their number. Distances of later documents may follow.
    distances: Vec<u32>,
    occurrences: usize,
}

impl PostingsWriter {
    /// Creates the streams of a segment of `doc_count` documents.
    pub(crate) fn create(
        disk: &Disk,
        folder: &Path,
        doc_count: u32,
        codes: StreamCodes,
    ) -> Result<PostingsWriter, IndexError> {
        let file = |kind: Kind| FileWriter::create(disk, &folder.join(kind.file_name()), kind);
        Ok(PostingsWriter {
            doc_count,
            codes,
            docs: Stream::new(file(Kind::Docs)?),
            freqs: Stream::new(file(Kind::Freqs)?),
            positions: Stream::new(file(Kind::Positions)?),
            skips_file: file(Kind::Skips)?,
            norm: Norm::default(),
            doc_frequency: 0,
            total_frequency: 0,
            doc_min: 0,
            skips: Vec::new(),
            contest: Contest::default(),
            block: Block::default(),
            chunks: ChunksWriter::default(),
            freqs_less_one: Vec::new(),
            scratch: Vec::new(),
        })
    }

    /// Begins a list; `norm` gives the measure of its maxima.
    pub(crate) fn begin_list(&mut self, norm: Norm) {
        self.norm = norm;
        self.doc_frequency = 0;
        self.total_frequency = 0;
        self.doc_min = 0;
        self.skips.clear();
        self.contest.clear();
    }

    /// Adds a document to the current list. Documents must ascend. `length` is the number of terms of its field,
    /// and `distances` has the distance of each occurrence to the previous one. Distances are ignored without
    /// positions.
    pub(crate) fn push(
        &mut self,
        doc: u32,
        length: u32,
        frequency: u32,
        distances: &[u32],
    ) -> Result<(), IndexError> {
        if self.codes.positions.is_some() {
            self.block.distances.extend_from_slice(distances);
        }
        self.push_placed(doc, length, frequency)
    }

    /// Buffer for the distances of the next documents; append to it.
    #[inline]
    pub(crate) fn distances(&mut self) -> &mut Vec<u32> {
        &mut self.block.distances
    }

    /// Like [`PostingsWriter::push`], for a document whose distances are already in [`PostingsWriter::distances`].
    #[inline]
    pub(crate) fn push_placed(
        &mut self,
        doc: u32,
        length: u32,
        frequency: u32,
    ) -> Result<(), IndexError> {
        assert!(
            self.doc_min <= doc && doc < self.doc_count && frequency > 0,
            "document {doc} after {} of {}, {frequency} occurrences",
            self.doc_min,
            self.doc_count,
        );
        if self.codes.positions.is_some() {
            self.block.occurrences += frequency as usize;
            let placed = self.block.distances.len();
            assert!(self.block.occurrences <= placed, "{placed} positions up to document {doc}");
        }
        self.block.gaps.push(doc - self.doc_min);
        self.block.places.push(Place { tf_minus_one: frequency - 1, length });
        self.doc_min = doc + 1;
        self.doc_frequency += 1;
        self.total_frequency += u64::from(frequency);
        if self.block.gaps.len() == BLOCK {
            self.end_block(doc)?;
        }
        Ok(())
    }

    /// Writes a full block; `doc` is its last document.
    #[inline(never)]
    fn end_block(&mut self, doc: u32) -> Result<(), IndexError> {
        self.write_block()?;
        let maximum = self.maximum();
        self.skips.push(Skip {
            last_doc: doc,
            docs: self.docs.list_bytes(),
            freqs: self.freqs.list_bytes(),
            positions: self.positions.list_bytes(),
            maximum,
        });
        self.clear_block();
        Ok(())
    }

    /// Ends the current list.
    pub(crate) fn finish_list(&mut self) -> Result<List, IndexError> {
        let mut tail = None;
        if !self.block.gaps.is_empty() {
            self.write_block()?;
            // A short list has no maxima.
            if !super::is_short(self.doc_frequency) {
                tail = Some(self.maximum());
            }
            self.clear_block();
        }
        assert!(self.block.distances.is_empty(), "positions of no document");
        let mut extents = Extents {
            docs: self.docs.finish_list(),
            freqs: self.freqs.finish_list(),
            positions: self.positions.finish_list(),
            skips: Extent { start: self.skips_file.payload_bytes(), bytes: 0 },
        };
        if !super::is_short(self.doc_frequency) {
            let widths = Widths::new(self.doc_count, &extents);
            self.scratch.clear();
            skips::write(&self.skips, tail, &widths, &mut self.scratch);
            self.contest.write(self.doc_frequency, self.doc_count, &mut self.scratch);
            self.skips_file.write(&self.scratch)?;
            extents.skips.bytes = self.scratch.len() as u64;
        }
        Ok(List {
            doc_frequency: self.doc_frequency,
            total_frequency: self.total_frequency,
            extents,
        })
    }

    /// Ends the streams: docs, freqs, positions, skips.
    pub(crate) fn finish(self) -> Result<[Stamp; 4], IndexError> {
        Ok([
            self.docs.file.finish()?,
            self.freqs.file.finish()?,
            self.positions.file.finish()?,
            self.skips_file.finish()?,
        ])
    }

    fn write_block(&mut self) -> Result<(), IndexError> {
        let Block { gaps, places, distances, .. } = &self.block;
        self.scratch.clear();
        let mut rest = &gaps[..];
        if super::is_short(self.doc_frequency)
            && let Some((&first, others)) = gaps.split_first()
        {
            fixed::put(&mut self.scratch, u64::from(first), super::first_width(self.doc_count));
            rest = others;
        }
        Coder::of_docs(self.codes.docs).write(rest, &mut self.scratch);
        self.docs.file.write(&self.scratch)?;

        if super::has_freqs(self.doc_frequency, self.total_frequency) {
            self.freqs_less_one.clear();
            self.freqs_less_one.extend(places.iter().map(|place| place.tf_minus_one));
            self.scratch.clear();
            Coder::of_freqs(self.codes.freqs).write(&self.freqs_less_one, &mut self.scratch);
            self.freqs.file.write(&self.scratch)?;
        }

        if let Some(code) = self.codes.positions {
            self.scratch.clear();
            let distances = &distances[..self.block.occurrences];
            self.chunks.write(code, places, distances, &mut self.scratch);
            self.positions.file.write(&self.scratch)?;
        }
        Ok(())
    }

    /// Returns the greatest measure of the block, which ends before `self.doc_min`. Enters its best documents as
    /// champions.
    fn maximum(&mut self) -> Maximum {
        let Block { gaps, places, .. } = &self.block;
        let measure =
            |place: &Place| self.norm.measure(place.tf_minus_one.saturating_add(1), place.length);
        let greatest = places.iter().map(measure).fold(0.0, f32::max);
        // A short list has no champions.
        if !super::is_short(self.doc_frequency) && self.contest.concerns(greatest) {
            let wide: u32 = gaps.iter().map(|gap| gap + 1).sum();
            let mut doc = self.doc_min - wide;
            for (gap, place) in gaps.iter().zip(places) {
                doc += gap;
                if self.contest.concerns(measure(place)) {
                    let frequency = place.tf_minus_one.saturating_add(1);
                    self.contest.enter(self.norm, doc, frequency, place.length);
                }
                doc += 1;
            }
        }
        Maximum::of(greatest)
    }

    fn clear_block(&mut self) {
        self.block.gaps.clear();
        self.block.places.clear();
        let Block { distances, occurrences, .. } = &mut self.block;
        if self.codes.positions.is_some() {
            distances.copy_within(*occurrences.., 0);
            distances.truncate(distances.len() - *occurrences);
        } else {
            distances.clear();
        }
        *occurrences = 0;
    }
}

/// A file, and the start of the current list in it.
struct Stream {
    file: FileWriter,
    list_start: u64,
}

impl Stream {
    fn new(file: FileWriter) -> Stream {
        Stream { list_start: file.payload_bytes(), file }
    }

    /// Bytes of the current list so far.
    fn list_bytes(&self) -> u64 {
        self.file.payload_bytes() - self.list_start
    }

    fn finish_list(&mut self) -> Extent {
        let extent = Extent { start: self.list_start, bytes: self.list_bytes() };
        self.list_start += extent.bytes;
        extent
    }
}
