//! How many terms each field of each document has.
//!
//! ```text
//! widths   for each field how many bytes a number takes, from 0 to 4: five bytes
//! lengths  for each field the lengths of all documents
//! ```
//!
//! **Invariant.** The width of a field is the least that holds its longest document.

use crate::disk::Disk;
use crate::envelope::{FileWriter, Kind, Stamp};
use crate::fixed;
use crate::mapped::MappedFile;
use crate::{DocId, Field, IndexError};
use std::path::Path;

/// One number for each field.
pub(crate) type PerField<T> = [T; Field::ALL.len()];

/// Writes the file: all lengths of the first field, then all of the second, and so on.
pub(crate) fn write(
    disk: &Disk,
    folder: &Path,
    widths: PerField<usize>,
    lengths: impl Iterator<Item = (Field, u32)>,
) -> Result<Stamp, IndexError> {
    let path = folder.join(Kind::Lengths.file_name());
    let mut file = FileWriter::create(disk, &path, Kind::Lengths)?;
    let mut bytes: Vec<u8> = Vec::with_capacity(8);
    for width in widths {
        fixed::put(&mut bytes, width as u64, 1);
    }
    file.write(&bytes)?;
    for (field, length) in lengths {
        bytes.clear();
        fixed::put(&mut bytes, u64::from(length), widths[field as usize]);
        file.write(&bytes)?;
    }
    file.finish()
}

/// The file, open for reading.
#[derive(Debug)]
pub(crate) struct LengthsFile {
    file: MappedFile,
    doc_count: u32,
    widths: PerField<usize>,
    /// Where each field begins in the payload.
    starts: PerField<usize>,
}

impl LengthsFile {
    pub(crate) fn new(file: MappedFile, doc_count: u32) -> Result<LengthsFile, IndexError> {
        let mut starts = [0; Field::ALL.len()];
        let mut end = Field::ALL.len();
        let mut widths = [0; Field::ALL.len()];
        for (field, &width) in file.bytes(0..end)?.iter().enumerate() {
            if width > 4 {
                return Err(file.damaged(field, "a length has at most four bytes"));
            }
            widths[field] = usize::from(width);
            starts[field] = end;
            end += widths[field] * doc_count as usize;
        }
        if end != file.payload_bytes() {
            return Err(file.damaged(0, "not as many lengths as documents"));
        }
        Ok(LengthsFile { file, doc_count, widths, starts })
    }

    pub(crate) fn file(&self) -> &MappedFile {
        &self.file
    }

    /// The length of a document in a field; zero if there is no such document, or if it is damaged.
    pub(crate) fn get(&self, field: Field, doc: DocId) -> u32 {
        if doc.0 >= self.doc_count {
            return 0;
        }
        let width = self.widths[field as usize];
        let at = self.starts[field as usize] + doc.0 as usize * width;
        let bytes = self.file.bytes(at..at + width).unwrap_or_default();
        fixed::get(bytes, 0, width).and_then(|length| u32::try_from(length).ok()).unwrap_or(0)
    }

    /// The lengths of one field, verified.
    pub(crate) fn field(&self, field: Field) -> Result<Lengths<'_>, IndexError> {
        let (start, width) = (self.starts[field as usize], self.widths[field as usize]);
        let bytes = self.file.bytes(start..start + width * self.doc_count as usize)?;
        Ok(Lengths { bytes, width, doc_count: self.doc_count })
    }
}

/// The lengths of one field: how many terms each document has in it.
#[derive(Clone, Copy, Debug)]
pub struct Lengths<'a> {
    bytes: &'a [u8],
    width: usize,
    doc_count: u32,
}

impl Lengths<'_> {
    /// The length of a document; zero for one that the segment does not have.
    #[inline]
    pub fn get(self, doc: DocId) -> u32 {
        if doc.0 >= self.doc_count {
            return 0;
        }
        let length = fixed::get(self.bytes, doc.0 as usize * self.width, self.width);
        length.and_then(|length| u32::try_from(length).ok()).unwrap_or(0)
    }

    /// Makes `out` the lengths of some documents, zero for those that the segment does not have.
    pub fn of(self, docs: &[u32], out: &mut Vec<u32>) {
        out.resize(docs.len(), 0);
        let bytes = self.bytes;
        match self.width {
            1 => {
                for (&doc, length) in docs.iter().zip(out) {
                    *length = bytes.get(doc as usize).map_or(0, |&n| u32::from(n));
                }
            }
            2 => {
                let (pairs, _) = bytes.as_chunks::<2>();
                for (&doc, length) in docs.iter().zip(out) {
                    let pair = pairs.get(doc as usize);
                    *length = pair.map_or(0, |&n| u32::from(u16::from_le_bytes(n)));
                }
            }
            _ => {
                for (&doc, length) in docs.iter().zip(out) {
                    *length = self.get(DocId(doc));
                }
            }
        }
    }
}
