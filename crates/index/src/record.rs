//! The document table: what the index stores of a document besides its terms.
//!
//! Records are compressed 32 at a time, in the blocks of `file/blocks.rs`. A block is the length of its records, then
//! the records as one LZ4 block. A record is
//!
//! ```text
//! length of the url, url, length of the title, title, length of the language, language,
//! date (zigzag: 0, -1, 1, -2, … are 0, 1, 2, 3, …), content (8 bytes, little-endian), copies
//! ```
//!
//! with all other numbers in [`codes::vbyte`]. Reading a record decompresses one block.

use crate::file::blocks::{Blocks, BlocksWriter};
use crate::file::envelope::{FileWriter, Stamp};
use crate::file::mapped::MappedFile;
use crate::{DocId, IndexError};
use codes::vbyte;
use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};

/// Records per block.
const BLOCK_RECORDS: usize = 32;

/// Largest encoded record.
pub const RECORD_BYTES_MAX: usize = 1 << 20;

/// The data that a result shows, and a hash of the document's contents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DocRecord {
    /// The address of the document.
    pub url: String,
    /// The title of the document.
    pub title: String,
    /// ISO 639-1 code of its language, or empty.
    pub language: String,
    /// Time of the fetch, in seconds since 1970.
    pub date_s: i64,
    /// A hash of everything that the document was made of. An update compares it to find changed documents.
    pub content: u64,
    /// Number of near-duplicates folded into this document.
    pub copies: u32,
}

impl DocRecord {
    fn write(&self, out: &mut Vec<u8>) {
        for text in [&self.url, &self.title, &self.language] {
            vbyte::write(out, text.len() as u64);
            out.extend_from_slice(text.as_bytes());
        }
        vbyte::write(out, zigzag(self.date_s));
        out.extend_from_slice(&self.content.to_le_bytes());
        vbyte::write(out, u64::from(self.copies));
    }

    fn read(rest: &mut &[u8]) -> Option<DocRecord> {
        Some(DocRecord {
            url: read_text(rest)?,
            title: read_text(rest)?,
            language: read_text(rest)?,
            date_s: unzigzag(vbyte::read(rest)?),
            content: read_hash(rest)?,
            copies: u32::try_from(vbyte::read(rest)?).ok()?,
        })
    }
}

/// Writes the records in the order of their documents.
pub(crate) struct RecordsWriter {
    blocks: BlocksWriter,
    raw: Vec<u8>,
    packed: Vec<u8>,
    count: u32,
}

impl RecordsWriter {
    pub(crate) fn new(file: FileWriter) -> RecordsWriter {
        RecordsWriter {
            blocks: BlocksWriter::new(file),
            raw: Vec::new(),
            packed: Vec::new(),
            count: 0,
        }
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn push(&mut self, record: &DocRecord) -> Result<(), IndexError> {
        let start = self.raw.len();
        record.write(&mut self.raw);
        let bytes = self.raw.len() - start;
        if bytes > RECORD_BYTES_MAX {
            self.raw.truncate(start);
            return Err(IndexError::Limit {
                what: "bytes of the record of a document",
                found: bytes as u64,
                max: RECORD_BYTES_MAX as u64,
            });
        }
        self.count += 1;
        if (self.count as usize).is_multiple_of(BLOCK_RECORDS) {
            self.flush()?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Stamp, IndexError> {
        if !self.raw.is_empty() {
            self.flush()?;
        }
        self.blocks.finish()
    }

    fn flush(&mut self) -> Result<(), IndexError> {
        self.packed.clear();
        vbyte::write(&mut self.packed, self.raw.len() as u64);
        let start = self.packed.len();
        self.packed.resize(start + get_maximum_output_size(self.raw.len()), 0);
        let bytes = compress_into(&self.raw, &mut self.packed[start..])
            .expect("the output is as long as it can become");
        self.packed.truncate(start + bytes);
        self.raw.clear();
        self.blocks.push(&self.packed)
    }
}

/// The document table of a segment.
#[derive(Debug)]
pub(crate) struct Records {
    blocks: Blocks,
    doc_count: u32,
}

impl Records {
    pub(crate) fn new(file: MappedFile, doc_count: u32) -> Result<Records, IndexError> {
        let blocks = Blocks::new(file)?;
        if blocks.count() != (doc_count as usize).div_ceil(BLOCK_RECORDS) {
            return Err(blocks.file().damaged(0, "not as many records as documents"));
        }
        Ok(Records { blocks, doc_count })
    }

    pub(crate) fn file(&self) -> &MappedFile {
        self.blocks.file()
    }

    /// The record of a document, which must exist.
    pub(crate) fn get(&self, doc: DocId) -> Result<DocRecord, IndexError> {
        let (block, at) = (doc.0 as usize / BLOCK_RECORDS, doc.0 as usize % BLOCK_RECORDS);
        let raw = self.block(block)?;
        let mut rest = &raw[..];
        let mut records = std::iter::from_fn(|| DocRecord::read(&mut rest));
        records.nth(at).map_or_else(|| self.damaged(block), Ok)
    }

    /// Passes every record to `emit`, in document order.
    pub(crate) fn each(
        &self,
        mut emit: impl FnMut(&DocRecord) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let mut left = self.doc_count as usize;
        for block in 0..self.blocks.count() {
            let raw = self.block(block)?;
            let mut rest = &raw[..];
            for _ in 0..left.min(BLOCK_RECORDS) {
                match DocRecord::read(&mut rest) {
                    Some(record) => emit(&record)?,
                    None => return self.damaged(block),
                }
            }
            if !rest.is_empty() {
                return self.damaged(block);
            }
            left = left.saturating_sub(BLOCK_RECORDS);
        }
        Ok(())
    }

    fn block(&self, block: usize) -> Result<Vec<u8>, IndexError> {
        let mut packed = self.blocks.range(block..block + 1)?;
        let stated = vbyte::read(&mut packed).and_then(|stated| usize::try_from(stated).ok());
        // LZ4 expands a byte to at most 255.
        let possible = stated.filter(|&stated| {
            stated <= BLOCK_RECORDS * RECORD_BYTES_MAX && stated / 255 <= packed.len()
        });
        let Some(raw_bytes) = possible else { return self.damaged(block) };
        let mut raw = vec![0; raw_bytes];
        match decompress_into(packed, &mut raw) {
            Ok(bytes) if bytes == raw_bytes => Ok(raw),
            _ => self.damaged(block),
        }
    }

    fn damaged<T>(&self, block: usize) -> Result<T, IndexError> {
        Err(self.file().damaged(self.blocks.start(block)?, "not a block of records"))
    }
}

fn read_text(rest: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(vbyte::read(rest)?).ok()?;
    let (text, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(std::str::from_utf8(text).ok()?.to_owned())
}

fn read_hash(rest: &mut &[u8]) -> Option<u64> {
    let (hash, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(u64::from_le_bytes(*hash))
}

fn zigzag(n: i64) -> u64 {
    (n.cast_unsigned() << 1) ^ (n >> 63).cast_unsigned()
}

fn unzigzag(n: u64) -> i64 {
    (n >> 1).cast_signed() ^ -(n & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zigzag_counts_outward_from_zero() {
        let outward = [0, -1, 1, -2, 2];
        for (code, n) in (0..).zip(outward) {
            assert_eq!(zigzag(n), code);
            assert_eq!(unzigzag(code), n);
        }
        for n in [i64::MIN, i64::MAX] {
            assert_eq!(unzigzag(zigzag(n)), n);
        }
    }
}
