//! Writes posting lists, one after the other, into the four streams.
//!
//! **Invariant.** A list is written by its documents in ascending order; what has been written of it
//! depends on nothing but these documents and their positions, so that a list merged from parts has
//! the same bytes as one written in one go.

use super::skips::{self, Skip, Widths};
use super::{Extent, Extents, List};
use crate::IndexError;
use crate::disk::Disk;
use crate::envelope::{FileWriter, Kind, Stamp};
use codes::packed::{self, BLOCK};
use codes::vbyte;
use std::path::Path;

/// The four streams of a segment, open for writing.
pub(crate) struct PostingsWriter {
    doc_count: u32,
    docs: Column,
    freqs: Column,
    positions: Column,
    skips_file: FileWriter,
    // The list in progress:
    doc_frequency: u32,
    total_frequency: u64,
    /// The least document that may come next.
    doc_min: u32,
    skips: Vec<Skip>,
    scratch: Vec<u8>,
}

impl PostingsWriter {
    /// Begins the streams of a segment of `doc_count` documents.
    pub(crate) fn create(
        disk: &Disk,
        folder: &Path,
        doc_count: u32,
    ) -> Result<PostingsWriter, IndexError> {
        let file = |kind: Kind| FileWriter::create(disk, &folder.join(kind.file_name()), kind);
        Ok(PostingsWriter {
            doc_count,
            docs: Column::new(file(Kind::Docs)?),
            freqs: Column::new(file(Kind::Freqs)?),
            positions: Column::new(file(Kind::Positions)?),
            skips_file: file(Kind::Skips)?,
            doc_frequency: 0,
            total_frequency: 0,
            doc_min: 0,
            skips: Vec::new(),
            scratch: Vec::new(),
        })
    }

    /// Adds to the current list a document, greater than the one before, with the positions in it,
    /// ascending and at least one.
    pub(crate) fn push(&mut self, doc: u32, positions: &[u32]) -> Result<(), IndexError> {
        assert!(
            self.doc_min <= doc && doc < self.doc_count && !positions.is_empty(),
            "document {doc} after {} of {}, {} positions",
            self.doc_min,
            self.doc_count,
            positions.len()
        );
        let frequency = u32::try_from(positions.len()).map_err(|_| IndexError::Limit {
            what: "occurrences of a term in a document",
            found: positions.len() as u64,
            max: u64::from(u32::MAX),
        })?;
        self.docs.push(doc - self.doc_min)?;
        self.freqs.push(frequency - 1)?;
        let mut previous = 0;
        for &position in positions {
            self.positions.push(position - previous)?;
            previous = position;
        }
        self.doc_min = doc + 1;
        self.doc_frequency += 1;
        self.total_frequency += u64::from(frequency);
        if (self.doc_frequency as usize).is_multiple_of(BLOCK) {
            self.skips.push(Skip {
                last_doc: doc,
                docs: self.docs.list_bytes(),
                freqs: self.freqs.list_bytes(),
                occurrences: self.total_frequency,
                positions: self.positions.list_bytes(),
            });
        }
        Ok(())
    }

    /// Ends the current list; the next document begins another one.
    pub(crate) fn finish_list(&mut self) -> Result<List, IndexError> {
        let mut extents = Extents {
            docs: self.docs.finish_list()?,
            freqs: self.freqs.finish_list()?,
            positions: self.positions.finish_list()?,
            skips: Extent { start: self.skips_file.payload_bytes(), bytes: 0 },
        };
        let widths = Widths::new(self.doc_count, self.total_frequency, &extents);
        self.scratch.clear();
        skips::write(&self.skips, &widths, &mut self.scratch);
        self.skips_file.write(&self.scratch)?;
        extents.skips.bytes = self.scratch.len() as u64;
        let list = List {
            doc_frequency: self.doc_frequency,
            total_frequency: self.total_frequency,
            extents,
        };
        self.doc_frequency = 0;
        self.total_frequency = 0;
        self.doc_min = 0;
        self.skips.clear();
        Ok(list)
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
}

/// One stream of numbers: full blocks packed as they fill, the rest of each list in bytes.
struct Column {
    file: FileWriter,
    list_start: u64,
    waiting: [u32; BLOCK],
    filled: usize,
    scratch: Vec<u8>,
}

impl Column {
    fn new(file: FileWriter) -> Column {
        let list_start = file.payload_bytes();
        Column { file, list_start, waiting: [0; BLOCK], filled: 0, scratch: Vec::new() }
    }

    fn push(&mut self, n: u32) -> Result<(), IndexError> {
        self.waiting[self.filled] = n;
        self.filled += 1;
        if self.filled == BLOCK {
            self.filled = 0;
            self.scratch.clear();
            packed::write(&self.waiting, &mut self.scratch);
            self.file.write(&self.scratch)?;
        }
        Ok(())
    }

    /// The bytes of this list in full blocks.
    fn list_bytes(&self) -> u64 {
        self.file.payload_bytes() - self.list_start
    }

    fn finish_list(&mut self) -> Result<Extent, IndexError> {
        self.scratch.clear();
        for &n in &self.waiting[..self.filled] {
            vbyte::write(&mut self.scratch, u64::from(n));
        }
        self.filled = 0;
        self.file.write(&self.scratch)?;
        let extent = Extent { start: self.list_start, bytes: self.list_bytes() };
        self.list_start += extent.bytes;
        Ok(extent)
    }
}
