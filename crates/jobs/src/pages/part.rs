//! A part of the page table: the rows made from one archive file, in blocks.
//!
//! Layout, all numbers little-endian: magic and version (8 bytes); then blocks, each a header of
//! length of the compressed bytes, length of the rows, number of rows, CRC-32 of the three numbers
//! and of the compressed bytes (4 × 4 bytes), and the rows compressed with LZ4; a block without rows
//! ends the part.
//!
//! **Invariant.** A part is written beside and renamed: what carries its name is whole. Every byte
//! but the magic is under a checksum.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::row::{BLOCK_ROWS_MAX, Fate, PART_BYTES_MAX};
use crate::JobsError;

const MAGIC: [u8; 8] = *b"CRVPAGE\x01";
/// Rows gather until they are this many bytes.
const BLOCK_BYTES: usize = 64 << 10;
/// The limits of a page keep every row far below this; a block that claims more is damaged.
const BLOCK_BYTES_MAX: u32 = 256 << 20;
const HEADER_BYTES: usize = 16;

/// Writes one part.
pub(crate) struct PartWriter {
    path: PathBuf,
    beside: PathBuf,
    file: BufWriter<File>,
    offset: u64,
    rows: Vec<u8>,
    row_count: u32,
}

impl PartWriter {
    pub(crate) fn create(path: &Path) -> Result<Self, JobsError> {
        let beside = path.with_extension("tmp");
        let mut file = BufWriter::new(File::create(&beside).map_err(JobsError::io(&beside))?);
        file.write_all(&MAGIC).map_err(JobsError::io(&beside))?;
        let offset = MAGIC.len() as u64;
        Ok(Self { path: path.to_owned(), beside, file, offset, rows: Vec::new(), row_count: 0 })
    }

    pub(crate) fn push(&mut self, url: &str, date_s: i64, fate: &Fate) -> Result<(), JobsError> {
        fate.encode(url, date_s, &mut self.rows);
        self.row_count += 1;
        if self.rows.len() >= BLOCK_BYTES || self.row_count as usize == BLOCK_ROWS_MAX {
            self.write_block()?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<(), JobsError> {
        if self.row_count > 0 {
            self.write_block()?;
        }
        self.write_block()?;
        let io = JobsError::io(&self.path);
        let beside = self.beside.clone();
        let file = self.file.into_inner().map_err(std::io::IntoInnerError::into_error);
        file.and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&beside, &self.path))
            .map_err(io)
    }

    fn write_block(&mut self) -> Result<(), JobsError> {
        let packed = lz4_flex::compress(&self.rows);
        let header = Header::of(&packed, self.rows.len(), self.row_count);
        self.offset += (HEADER_BYTES + packed.len()) as u64;
        if self.offset >= PART_BYTES_MAX {
            return Err(JobsError::TooMany { what: "bytes in a part", most: PART_BYTES_MAX });
        }
        let io = JobsError::io(&self.beside);
        self.file
            .write_all(&header.to_bytes())
            .and_then(|()| self.file.write_all(&packed))
            .map_err(io)?;
        self.rows.clear();
        self.row_count = 0;
        Ok(())
    }
}

/// The head of a block.
struct Header {
    packed: u32,
    rows_bytes: u32,
    row_count: u32,
    sum: u32,
}

impl Header {
    fn of(packed: &[u8], rows_bytes: usize, row_count: u32) -> Self {
        let narrow = |n: usize| u32::try_from(n).expect("a block is far below 4 GiB");
        let mut header = Self {
            packed: narrow(packed.len()),
            rows_bytes: narrow(rows_bytes),
            row_count,
            sum: 0,
        };
        header.sum = header.checksum(packed);
        header
    }

    fn checksum(&self, packed: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for number in [self.packed, self.rows_bytes, self.row_count] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(packed);
        hasher.finalize()
    }

    fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let numbers = [self.packed, self.rows_bytes, self.row_count, self.sum];
        for (slot, number) in bytes.chunks_exact_mut(4).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: [u8; HEADER_BYTES]) -> Self {
        let number =
            |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
        Self { packed: number(0), rows_bytes: number(4), row_count: number(8), sum: number(12) }
    }
}

/// A block's rows, decoded.
pub(crate) type Rows = Vec<(String, i64, Fate)>;

/// Reads one part.
pub(crate) struct Part {
    path: PathBuf,
    file: File,
}

impl Part {
    pub(crate) fn open(path: &Path) -> Result<Self, JobsError> {
        let mut file = File::open(path).map_err(JobsError::io(path))?;
        let mut magic = [0; MAGIC.len()];
        let part = |file| Self { path: path.to_owned(), file };
        match file.read_exact(&mut magic) {
            Ok(()) if magic == MAGIC => Ok(part(file)),
            _ => Err(part(file).damaged(0, "not a part of a page table of this version")),
        }
    }

    /// The first block's offset.
    pub(crate) const FIRST: u64 = MAGIC.len() as u64;

    /// The rows of the block at `offset`, and where the next block begins; `None` at the end.
    pub(crate) fn block(&mut self, offset: u64) -> Result<Option<(Rows, u64)>, JobsError> {
        let io = |path: &Path| JobsError::io(path);
        let mut header = [0; HEADER_BYTES];
        self.file.seek(SeekFrom::Start(offset)).map_err(io(&self.path))?;
        if self.file.read_exact(&mut header).is_err() {
            return Err(self.damaged(offset, "cut short"));
        }
        let header = Header::from_bytes(header);
        let bytes = header.packed.max(header.rows_bytes);
        if bytes > BLOCK_BYTES_MAX || header.row_count as usize > BLOCK_ROWS_MAX {
            return Err(self.damaged(offset, "a block of impossible size"));
        }
        let mut packed = vec![0; header.packed as usize];
        if self.file.read_exact(&mut packed).is_err() {
            return Err(self.damaged(offset, "cut short"));
        }
        if header.checksum(&packed) != header.sum {
            return Err(self.damaged(offset, "the checksum does not match"));
        }
        if header.row_count == 0 {
            return Ok(None);
        }
        let rows = lz4_flex::decompress(&packed, header.rows_bytes as usize)
            .ok()
            .and_then(|bytes| decode_rows(&bytes, header.row_count))
            .ok_or_else(|| self.damaged(offset, "rows that cannot be read"))?;
        Ok(Some((rows, offset + (HEADER_BYTES + packed.len()) as u64)))
    }

    fn damaged(&self, offset: u64, what: &'static str) -> JobsError {
        JobsError::Damaged { path: self.path.clone(), offset, what }
    }
}

fn decode_rows(mut bytes: &[u8], count: u32) -> Option<Rows> {
    let mut rows = Vec::new();
    for _ in 0..count {
        rows.push(Fate::decode(&mut bytes)?);
    }
    bytes.is_empty().then_some(rows)
}
