//! A payload made of blocks of unequal length, and a table that says where each begins.
//!
//! ```text
//! blocks   one after the other
//! table    the start of each block, in the least number of bytes that hold the length of all blocks
//! trailer  length of all blocks (u64), number of blocks (u64)
//! ```
//!
//! The document table is such a file. The contents of a block are opaque here.
//!
//! **Invariant.** One lookup in the table finds any block. On corrupt bytes, a block lies before the table or is
//! an error.

use crate::IndexError;
use crate::file::envelope::{FileWriter, Stamp};
use crate::file::fixed;
use crate::file::mapped::MappedFile;
use std::ops::Range;

const TRAILER_BYTES: usize = 16;

/// Writes the blocks in their order.
pub(crate) struct BlocksWriter {
    file: FileWriter,
    starts: Vec<u64>,
}

impl BlocksWriter {
    pub(crate) fn new(file: FileWriter) -> BlocksWriter {
        BlocksWriter { file, starts: Vec::new() }
    }

    pub(crate) fn push(&mut self, block: &[u8]) -> Result<(), IndexError> {
        self.starts.push(self.file.payload_bytes());
        self.file.write(block)
    }

    pub(crate) fn finish(mut self) -> Result<Stamp, IndexError> {
        let body_bytes = self.file.payload_bytes();
        let width = fixed::width(body_bytes);
        let mut entry = Vec::with_capacity(width);
        for &start in &self.starts {
            entry.clear();
            fixed::put(&mut entry, start, width);
            self.file.write(&entry)?;
        }
        self.file.write(&body_bytes.to_le_bytes())?;
        self.file.write(&(self.starts.len() as u64).to_le_bytes())?;
        self.file.finish()
    }
}

/// Reads blocks in any order.
#[derive(Debug)]
pub(crate) struct Blocks {
    file: MappedFile,
    body_bytes: usize,
    count: usize,
    width: usize,
}

impl Blocks {
    pub(crate) fn new(file: MappedFile) -> Result<Blocks, IndexError> {
        let payload_bytes = file.payload_bytes();
        let start = payload_bytes.saturating_sub(TRAILER_BYTES);
        let trailer = file.bytes(start..start + TRAILER_BYTES)?;
        let body_bytes = fixed::get(trailer, 0, 8).unwrap_or(u64::MAX);
        let count = fixed::get(trailer, 8, 8).unwrap_or(u64::MAX);
        let width = fixed::width(body_bytes);
        let stated = (width as u64)
            .checked_mul(count)
            .and_then(|table| table.checked_add(body_bytes))
            .and_then(|rest| rest.checked_add(TRAILER_BYTES as u64));
        let whole = stated == Some(payload_bytes as u64) && (width > 0 || count == 0);
        match (usize::try_from(body_bytes), usize::try_from(count)) {
            (Ok(body_bytes), Ok(count)) if whole => Ok(Blocks { file, body_bytes, count, width }),
            _ => Err(file.damaged(start, "the table of blocks does not fit the file")),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Start of block `index`; after the last one, the end of all blocks.
    pub(crate) fn start(&self, index: usize) -> Result<usize, IndexError> {
        if index >= self.count {
            return Ok(self.body_bytes);
        }
        let at = self.body_bytes + index * self.width;
        let entry = self.file.bytes(at..at + self.width)?;
        match fixed::get(entry, 0, self.width).map(usize::try_from) {
            Some(Ok(start)) if start <= self.body_bytes => Ok(start),
            _ => Err(self.file.damaged(at, "a block begins outside of the file")),
        }
    }

    /// The bytes of consecutive blocks.
    pub(crate) fn range(&self, blocks: Range<usize>) -> Result<&[u8], IndexError> {
        self.file.bytes(self.start(blocks.start)?..self.start(blocks.end)?)
    }

    /// The file, for its size, its errors, and to verify it.
    pub(crate) fn file(&self) -> &MappedFile {
        &self.file
    }
}
