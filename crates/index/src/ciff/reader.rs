//! A CIFF file read from its beginning to its end, and held to what it must be.
//!
//! What lives here: the messages and their rules. What does not: what is made of them (`import.rs`).
//!
//! Fields may come in any order, and ones that are not known are passed over, as protobuf has it. Lists may be some
//! of all, and lengths rounded, as some engines export them: sums that do not agree with the header are for the
//! caller to tell.
//!
//! **Invariant.** What a sink is handed is in order: terms ascend as bytes, documents in a list ascend and are there,
//! frequencies are at least one, counts are as stated, documents are numbered from zero without a gap.

use super::wire::{Kind, Tag, WireReader};
use super::{COUNT_MAX, VERSION};
use crate::{IndexError, TERM_BYTES_MAX};
use std::io::Read;
use std::path::Path;

/// The longest description.
const DESCRIPTION_BYTES_MAX: usize = 1 << 16;
/// The longest name of a document.
const NAME_BYTES_MAX: usize = 1 << 16;

/// What a file says of itself before anything else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CiffHeader {
    /// How many lists follow.
    pub lists: u64,
    /// How many documents follow.
    pub documents: u64,
    /// How many terms the whole collection has.
    pub lists_total: u64,
    /// How many documents the whole collection has.
    pub documents_total: u64,
    /// Sum of the lengths of all documents of the collection.
    pub length_total: u64,
    /// The average length of a document.
    pub average_length: f64,
    /// For people.
    pub description: String,
}

/// Takes the lists of a file.
pub(super) trait ListSink {
    /// A list begins.
    fn begin(&mut self);
    /// A document of it.
    fn posting(&mut self, doc: u32, frequency: u32) -> Result<(), IndexError>;
    /// It ends, and was that of `term`.
    fn end(&mut self, term: &str) -> Result<(), IndexError>;
}

/// Reads one file.
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

    /// Hands all lists to `sink`.
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

    /// Passes over all lists.
    pub(super) fn skip_lists(&mut self) -> Result<(), IndexError> {
        for _ in 0..self.header.lists {
            self.wire.skip(Kind::Delimited, u64::MAX)?;
        }
        Ok(())
    }

    /// Hands name and length of all documents to `take`, and sees that nothing follows.
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

    /// Reads a list; its term is in `self.term` afterwards.
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
                    // The distance of the first is its number; of any other it is at least one.
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

    /// Reads a document, which must have this number; its name is in `self.name` afterwards.
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

/// Distance and frequency of a document.
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

/// `doc`, if it is one of so many.
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
