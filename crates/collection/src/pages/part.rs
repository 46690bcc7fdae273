//! A part of the page table: the rows made from one archive file, in blocks.
//!
//! Layout, all numbers little-endian: magic and version (8 bytes); then blocks, each a header (32
//! bytes), the heads of its rows and their bodies, both compressed with LZ4; a block without rows ends
//! the part.
//!
//! **Invariant.** A part is written beside and renamed: what carries its name is whole. Every byte
//! but the magic is under a checksum.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use durable::Disk;

use super::row::{
    self, BLOCK_ROWS_MAX, CaptureOutcome, Moment, PART_BYTES_MAX, PageHead, PagePointer, Row,
    RowBytes,
};
use crate::CollectionError;

const MAGIC: [u8; 8] = *b"CRVPAGE\x06";
/// Rows gather until they are this many bytes.
const BLOCK_BYTES: usize = 64 << 10;
/// The limits of a page keep every row far below this; a block that claims more is damaged.
const BLOCK_BYTES_MAX: u32 = 256 << 20;
const HEADER_BYTES: usize = 32;

/// Writes one part.
pub struct PartWriter {
    path: PathBuf,
    number: u16,
    temporary: PathBuf,
    file: BufWriter<File>,
    offset: u64,
    rows: RowBytes,
    row_count: u32,
}

impl PartWriter {
    /// Creates the part with that number.
    pub fn create(path: &Path, number: u16) -> Result<Self, CollectionError> {
        let temporary = durable::beside(path);
        let file = File::create(&temporary).map_err(CollectionError::io(&temporary))?;
        let mut file = BufWriter::new(file);
        file.write_all(&MAGIC).map_err(CollectionError::io(&temporary))?;
        let offset = MAGIC.len() as u64;
        Ok(Self {
            path: path.to_owned(),
            number,
            temporary,
            file,
            offset,
            rows: RowBytes::default(),
            row_count: 0,
        })
    }

    /// Appends a row, and says where it will be.
    #[expect(clippy::missing_panics_doc, reason = "fewer than 4096 rows are in a block")]
    pub fn push(
        &mut self,
        url: &str,
        date: Moment,
        fate: &CaptureOutcome,
    ) -> Result<PagePointer, CollectionError> {
        let row = u16::try_from(self.row_count).expect("fewer than 4096 are in a block");
        let pointer = PagePointer { part: self.number, block: self.offset, row };
        self.rows.push(url, date, fate);
        self.row_count += 1;
        let bytes = self.rows.heads.len() + self.rows.bodies.len();
        if bytes >= BLOCK_BYTES || self.row_count as usize == BLOCK_ROWS_MAX {
            self.write_block()?;
        }
        Ok(pointer)
    }

    /// Writes the rest and puts the part in its place.
    pub fn finish(mut self) -> Result<(), CollectionError> {
        if self.row_count > 0 {
            self.write_block()?;
        }
        self.write_block()?;
        self.file
            .flush()
            .and_then(|()| Disk::default().publish(&self.temporary, &self.path))
            .map_err(CollectionError::io(&self.path))
    }

    fn write_block(&mut self) -> Result<(), CollectionError> {
        let heads = Packed::of(&self.rows.heads);
        let bodies = Packed::of(&self.rows.bodies);
        self.offset += (HEADER_BYTES + heads.bytes.len() + bodies.bytes.len()) as u64;
        if self.offset >= PART_BYTES_MAX {
            return Err(CollectionError::TooMany { what: "bytes in a part", most: PART_BYTES_MAX });
        }
        let header = Header { row_count: self.row_count, heads: heads.size, bodies: bodies.size };
        self.file
            .write_all(&header.to_bytes())
            .and_then(|()| self.file.write_all(&heads.bytes))
            .and_then(|()| self.file.write_all(&bodies.bytes))
            .map_err(CollectionError::io(&self.temporary))?;
        self.rows.heads.clear();
        self.rows.bodies.clear();
        self.row_count = 0;
        Ok(())
    }
}

/// Compressed bytes.
struct Packed {
    size: Size,
    bytes: Vec<u8>,
}

impl Packed {
    fn of(plain: &[u8]) -> Self {
        let bytes = lz4_flex::compress(plain);
        let narrow = |n: usize| u32::try_from(n).expect("a block is far below 4 GiB");
        let sum = crc32fast::hash(&bytes);
        Self { size: Size { packed: narrow(bytes.len()), plain: narrow(plain.len()), sum }, bytes }
    }
}

/// How long compressed bytes are, how long they were, and the CRC-32 of what they are.
#[derive(Clone, Copy)]
struct Size {
    packed: u32,
    plain: u32,
    sum: u32,
}

/// The head of a block.
struct Header {
    row_count: u32,
    heads: Size,
    bodies: Size,
}

impl Header {
    /// All numbers, and the CRC-32 of them.
    fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let Self { row_count, heads, bodies } = self;
        let sizes = [heads, bodies].map(|size| [size.packed, size.plain, size.sum]);
        let numbers = [*row_count].into_iter().chain(sizes.into_iter().flatten());
        let mut bytes = [0; HEADER_BYTES];
        let (head, sum) = bytes.split_at_mut(HEADER_BYTES - 4);
        for (slot, number) in head.chunks_exact_mut(4).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        sum.copy_from_slice(&crc32fast::hash(head).to_le_bytes());
        bytes
    }

    /// `None` if the checksum does not match.
    fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let (words, _) = bytes.as_chunks::<4>();
        let number = |i: usize| u32::from_le_bytes(words[i]);
        let size = |i: usize| Size { packed: number(i), plain: number(i + 1), sum: number(i + 2) };
        let header = Self { row_count: number(0), heads: size(1), bodies: size(4) };
        (header.to_bytes() == *bytes).then_some(header)
    }

    fn is_possible(&self) -> bool {
        let Self { row_count, heads, bodies } = self;
        let bytes = [heads.packed, heads.plain, bodies.packed, bodies.plain];
        *row_count as usize <= BLOCK_ROWS_MAX && bytes.iter().all(|n| *n <= BLOCK_BYTES_MAX)
    }

    /// Bytes of the whole block.
    fn block_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + u64::from(self.heads.packed) + u64::from(self.bodies.packed)
    }
}

/// A block's rows, decoded.
pub(crate) type Rows = Vec<Row>;
/// The heads of a block's rows, decoded.
pub(crate) type Heads = Vec<Row<PageHead>>;

const CUT_SHORT: &str = "cut short";
const WRONG_SUM: &str = "the checksum does not match";
const UNREADABLE: &str = "rows that cannot be read";

/// Reads one part.
pub struct Part {
    path: PathBuf,
    file: File,
}

impl Part {
    /// Opens a part. An error if it is missing, of another version or no part.
    pub fn open(path: &Path) -> Result<Self, CollectionError> {
        let mut file = File::open(path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => CollectionError::Gone { path: path.to_owned() },
            _ => CollectionError::io(path)(source),
        })?;
        let mut magic = [0; MAGIC.len()];
        let part = |file| Self { path: path.to_owned(), file };
        match file.read_exact(&mut magic) {
            Ok(()) if magic == MAGIC => Ok(part(file)),
            _ => Err(match durable::other_version(&magic, MAGIC) {
                Some(found) => CollectionError::Version {
                    path: path.to_owned(),
                    found,
                    expected: MAGIC[MAGIC.len() - 1],
                },
                None => part(file).damaged(0, "not a part of a page table"),
            }),
        }
    }

    /// The first block's offset.
    pub(crate) const FIRST: u64 = MAGIC.len() as u64;

    /// The rows of the block at `offset`; `None` at the end.
    pub(crate) fn block(&mut self, offset: u64) -> Result<Option<Rows>, CollectionError> {
        let Some(header) = self.header(offset)? else { return Ok(None) };
        let heads = self.unpack(offset, header.heads)?;
        let bodies = self.unpack(offset, header.bodies)?;
        let (mut heads, mut bodies) = (heads.as_slice(), bodies.as_slice());
        let rows = (0..header.row_count).map(|_| row::decode(&mut heads, &mut bodies));
        let rows = rows.collect::<Option<Rows>>();
        let rows = rows.filter(|_| heads.is_empty() && bodies.is_empty());
        rows.map(Some).ok_or_else(|| self.damaged(offset, UNREADABLE))
    }

    /// The heads of the rows of the block at `offset`, and where the next block begins; `None` at the
    /// end.
    pub(crate) fn heads(&mut self, offset: u64) -> Result<Option<(Heads, u64)>, CollectionError> {
        let Some(header) = self.header(offset)? else { return Ok(None) };
        let heads = self.unpack(offset, header.heads)?;
        let mut heads = heads.as_slice();
        let rows = (0..header.row_count).map(|_| row::decode_head(&mut heads));
        let rows = rows.collect::<Option<Heads>>().filter(|_| heads.is_empty());
        let rows = rows.ok_or_else(|| self.damaged(offset, UNREADABLE))?;
        Ok(Some((rows, offset + header.block_bytes())))
    }

    /// Checks the checksums of all blocks.
    pub(crate) fn verify(&mut self) -> Result<(), CollectionError> {
        let mut offset = Self::FIRST;
        while let Some(header) = self.header(offset)? {
            self.packed(offset, header.heads)?;
            self.packed(offset, header.bodies)?;
            offset += header.block_bytes();
        }
        Ok(())
    }

    /// The header of the block at `offset`; `None` at the end.
    fn header(&mut self, offset: u64) -> Result<Option<Header>, CollectionError> {
        let mut header = [0; HEADER_BYTES];
        self.file.seek(SeekFrom::Start(offset)).map_err(CollectionError::io(&self.path))?;
        if self.file.read_exact(&mut header).is_err() {
            return Err(self.damaged(offset, CUT_SHORT));
        }
        let header = Header::from_bytes(&header);
        let header = header.ok_or_else(|| self.damaged(offset, WRONG_SUM))?;
        if !header.is_possible() {
            return Err(self.damaged(offset, "a block of impossible size"));
        }
        Ok(Some(header).filter(|header| header.row_count > 0))
    }

    /// Reads the next compressed bytes, which belong to the block at `offset`, and unpacks them.
    fn unpack(&mut self, offset: u64, size: Size) -> Result<Vec<u8>, CollectionError> {
        let packed = self.packed(offset, size)?;
        let plain = lz4_flex::decompress(&packed, size.plain as usize);
        plain.map_err(|_| self.damaged(offset, UNREADABLE))
    }

    /// Reads the next compressed bytes, which belong to the block at `offset`.
    fn packed(&mut self, offset: u64, size: Size) -> Result<Vec<u8>, CollectionError> {
        let mut packed = vec![0; size.packed as usize];
        if self.file.read_exact(&mut packed).is_err() {
            return Err(self.damaged(offset, CUT_SHORT));
        }
        if crc32fast::hash(&packed) != size.sum {
            return Err(self.damaged(offset, WRONG_SUM));
        }
        Ok(packed)
    }

    fn damaged(&self, offset: u64, what: &'static str) -> CollectionError {
        CollectionError::Damaged { path: self.path.clone(), offset, what: what.into() }
    }
}
