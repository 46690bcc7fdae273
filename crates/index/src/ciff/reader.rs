//! Reads a CIFF file from beginning to end and checks it.
//!
//! Fields may come in any order, and unknown fields are skipped, as in protobuf. Some engines export a part of the
//! lists or rounded lengths. So the caller decides what to do if sums differ from the header.
//!
//! **Invariant.** A sink receives terms in ascending byte order. The documents of a list ascend and exist,
//! frequencies are at least one, and counts are as stated. Documents are numbered from zero without a gap.

use super::wire::{Kind, Tag, WireReader};
use super::{COUNT_MAX, VERSION};
use crate::{IndexError, TERM_BYTES_MAX};
use std::io::Read;
use std::path::Path;

/// The longest description.
const DESCRIPTION_BYTES_MAX: usize = 1 << 16;
/// The longest name of a document.
const NAME_BYTES_MAX: usize = 1 << 16;

/// The header of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CiffHeader {
    /// Number of lists in the file.
    pub lists: u64,
    /// Number of documents in the file.
    pub documents: u64,
    /// Number of terms of the whole collection.
    pub lists_total: u64,
    /// Number of documents of the whole collection.
    pub documents_total: u64,
    /// Sum of the lengths of all documents of the collection.
    pub length_total: u64,
    /// The average length of a document.
    pub average_length: f64,
    /// A text for people.
    pub description: String,
}

/// Receives the lists of a file.
pub(super) trait ListSink {
    /// Starts a list.
    fn begin(&mut self);
    /// Adds a document to the list.
    fn posting(&mut self, doc: u32, frequency: u32) -> Result<(), IndexError>;
    /// Ends the list, which belongs to `term`.
    fn end(&mut self, term: &str) -> Result<(), IndexError>;
}

pub(super) struct CiffReader<R> {
    wire: WireReader<R>,
    header: CiffHeader,
    term: String,
    name: String,
}

impl<R: Read> CiffReader<R> {
    /// Reads the header.
    pub(super) fn open(input: R, file: &Path) -> Result<CiffReader<R>, IndexError> {
        let mut wire = WireReader::new(input, file);
        let header = read_header(&mut wire)?;
        Ok(CiffReader { wire, header, term: String::new(), name: String::new() })
    }

    pub(super) fn header(&self) -> &CiffHeader {
        &self.header
    }

    /// Passes all lists to `sink`.
    pub(super) fn lists(&mut self, sink: &mut impl ListSink) -> Result<(), IndexError> {
        let mut before: Option<String> = None;
        for _ in 0..self.header.lists {
            let start = self.wire.offset();
            self.list(sink)?;
            match &mut before {
                Some(before) if *before >= self.term => {
                    let what = format!(
                        "the list of {:?} comes after that of {before:?}: lists must be in the order of their \
                         terms' bytes",
                        self.term
                    );
                    return Err(self.wire.wrong(start, what));
                }
                Some(before) => before.clone_from(&self.term),
                None => before = Some(self.term.clone()),
            }
            sink.end(&self.term)?;
        }
        Ok(())
    }

    /// Skips all lists.
    pub(super) fn skip_lists(&mut self) -> Result<(), IndexError> {
        for _ in 0..self.header.lists {
            self.wire.skip(Kind::Delimited, u64::MAX)?;
        }
        Ok(())
    }

    /// Passes name and length of all documents to `take`, and checks that nothing follows.
    pub(super) fn documents(
        &mut self,
        mut take: impl FnMut(&str, u32) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        for number in 0..self.header.documents {
            let length = self.document(number)?;
            take(&self.name, length)?;
        }
        if self.wire.is_at_end()? {
            return Ok(());
        }
        Err(self.wire.wrong(self.wire.offset(), "bytes after the last document"))
    }

    /// Reads a list. Leaves its term in `self.term`.
    fn list(&mut self, sink: &mut impl ListSink) -> Result<(), IndexError> {
        let start = self.wire.offset();
        let wire = &mut self.wire;
        let end = wire.message(u64::MAX)?;
        self.term.clear();
        sink.begin();
        let (mut stated, mut stated_occurrences) = (0, 0);
        let (mut docs, mut occurrences, mut doc_min) = (0_u64, 0_u64, 0_u64);
        while let Some(tag) = wire.tag(end)? {
            match tag {
                Tag { field: 1, kind: Kind::Delimited } => {
                    wire.text(end, TERM_BYTES_MAX, &mut self.term)?;
                }
                Tag { field: 2, kind: Kind::Varint } => stated = wire.varint(end)?,
                Tag { field: 3, kind: Kind::Varint } => stated_occurrences = wire.varint(end)?,
                Tag { field: 4, kind: Kind::Delimited } => {
                    let at = wire.offset();
                    let (gap, frequency) = posting(wire, end)?;
                    // The gap of the first document is its number; any other gap is at least one.
                    if docs > 0 && gap == 0 {
                        return Err(wire.wrong(at, "the documents of a list do not ascend"));
                    }
                    let doc = doc_min + gap;
                    let Some(number) = within(doc, self.header.documents) else {
                        let what =
                            format!("document {doc}, and there are {}", self.header.documents);
                        return Err(wire.wrong(at, what));
                    };
                    sink.posting(number, frequency)?;
                    doc_min = doc;
                    docs += 1;
                    occurrences += u64::from(frequency);
                }
                other => wire.skip(other.kind, end)?,
            }
        }
        if docs == 0 || (docs, occurrences) != (stated, stated_occurrences) {
            let what = format!(
                "the list of {:?} says {stated} documents with {stated_occurrences} occurrences, and has {docs} \
                 with {occurrences}",
                self.term
            );
            return Err(wire.wrong(start, what));
        }
        Ok(())
    }

    /// Reads a document, which must have this number. Leaves its name in `self.name`.
    fn document(&mut self, number: u64) -> Result<u32, IndexError> {
        let start = self.wire.offset();
        let wire = &mut self.wire;
        let end = wire.message(u64::MAX)?;
        self.name.clear();
        let (mut found, mut length) = (0, 0);
        while let Some(tag) = wire.tag(end)? {
            match tag {
                Tag { field: 1, kind: Kind::Varint } => {
                    found = wire.count(end, COUNT_MAX, "the number of a document")?;
                }
                Tag { field: 2, kind: Kind::Delimited } => {
                    wire.text(end, NAME_BYTES_MAX, &mut self.name)?;
                }
                Tag { field: 3, kind: Kind::Varint } => {
                    length = wire.count(end, COUNT_MAX, "the length of a document")?;
                }
                other => wire.skip(other.kind, end)?,
            }
        }
        if found != number {
            let what = format!("document {found} stands where document {number} should");
            return Err(wire.wrong(start, what));
        }
        if self.name.is_empty() {
            return Err(wire.wrong(start, format!("document {number} has no name")));
        }
        Ok(u32::try_from(length).expect("31 bits"))
    }
}

/// Reads the gap and frequency of a document.
#[inline]
fn posting<R: Read>(wire: &mut WireReader<R>, end: u64) -> Result<(u64, u32), IndexError> {
    let start = wire.offset();
    let end = wire.message(end)?;
    let (mut gap, mut frequency) = (0, 0);
    while let Some(tag) = wire.tag(end)? {
        match tag {
            Tag { field: 1, kind: Kind::Varint } => {
                gap = wire.count(end, COUNT_MAX, "the distance of two documents")?;
            }
            Tag { field: 2, kind: Kind::Varint } => {
                frequency = wire.count(end, COUNT_MAX, "a frequency")?;
            }
            other => wire.skip(other.kind, end)?,
        }
    }
    if frequency == 0 {
        return Err(wire.wrong(start, "a document in which the term occurs 0 times"));
    }
    Ok((gap, u32::try_from(frequency).expect("31 bits")))
}

/// Returns `doc` if it is less than `documents`.
fn within(doc: u64, documents: u64) -> Option<u32> {
    u32::try_from(doc).ok().filter(|_| doc < documents)
}

fn read_header<R: Read>(wire: &mut WireReader<R>) -> Result<CiffHeader, IndexError> {
    let end = wire.message(u64::MAX)?;
    let (mut header, mut version) = (CiffHeader::default(), 0);
    while let Some(Tag { field, kind }) = wire.tag(end)? {
        let count = match field {
            1 => &mut version,
            2 => &mut header.lists,
            3 => &mut header.documents,
            4 => &mut header.lists_total,
            5 => &mut header.documents_total,
            6 => &mut header.length_total,
            7 if kind == Kind::Fixed64 => {
                header.average_length = wire.double(end)?;
                continue;
            }
            8 if kind == Kind::Delimited => {
                wire.text(end, DESCRIPTION_BYTES_MAX, &mut header.description)?;
                continue;
            }
            _ => {
                wire.skip(kind, end)?;
                continue;
            }
        };
        if kind != Kind::Varint {
            return Err(wire.wrong(0, format!("field {field} of the header is no number")));
        }
        let max = if field == 6 { u64::MAX >> 1 } else { COUNT_MAX };
        *count = wire.count(end, max, "a count of the header")?;
    }
    if version != VERSION {
        let what = format!("version {version} of the format, this program reads version {VERSION}");
        return Err(wire.wrong(0, what));
    }
    Ok(header)
}
