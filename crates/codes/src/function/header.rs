//! The header of a function and the directory of its buckets.
//!
//! The cells are numbers of one width ([`crate::fixed`]) after the directory.
//!
//! **Invariant.** The length of the bytes agrees with the header. A directory entry may have any contents if
//! [`super::build`] did not write it.

use super::hash::Hash;
use super::{Buckets, FunctionError, SIGNATURE_MAX, Scheme};
use crate::fixed;

/// Bytes of the header.
pub(super) const LENGTH: usize = 32;
const MAGIC: [u8; 4] = *b"CRVF";
const VERSION: u8 = 2;
/// Bits of the seed of a bucket.
pub(super) const SEED_BITS: u32 = 8;
/// Flag in the byte of cells per key: buckets are in the order of the keys.
const ORDERED: u8 = 0x80;
/// An entry fits into eight bytes, at any bit offset in the first byte.
const ENTRY_MAX: u32 = 57;

/// The parsed header, and derived values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub(super) scheme: Scheme,
    pub(super) in_buckets: Buckets,
    pub(super) width: u32,
    pub(super) signature: u32,
    pub(super) keys: u64,
    pub(super) seed: u64,
    pub(super) buckets: u32,
    pub(super) cells_start: usize,
    entry_width: u32,
}

impl Header {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, FunctionError> {
        let damaged = |what, offset| FunctionError::Damaged { what, offset };
        let (start, _) = bytes.split_first_chunk::<LENGTH>().ok_or(damaged("too short", 0))?;
        if start[..4] != MAGIC {
            return Err(damaged("other magic", 0));
        }
        if start[4] != VERSION {
            return Err(damaged("other version", 4));
        }
        let (cells_a_key, ordered) = (start[5] & !ORDERED, start[5] & ORDERED);
        let scheme = Scheme::ALL.into_iter().find(|scheme| scheme.cells_a_key() == cells_a_key);
        let scheme = scheme.ok_or(damaged("unknown scheme", 5))?;
        let in_buckets = if ordered == 0 { Buckets::ByHash } else { Buckets::InOrder };
        let (width, signature) = (u32::from(start[6]), u32::from(start[7]));
        if signature > SIGNATURE_MAX || width + signature > u64::BITS {
            return Err(damaged("too many bits", 6));
        }
        let number = |at| fixed::eight(start, at);
        let (keys, seed, cells) = (number(8), number(16), number(24));
        let entry_width = fixed::width(cells) + SEED_BITS;
        if keys > super::KEYS_MAX {
            return Err(damaged("too many keys", 8));
        }
        if entry_width > ENTRY_MAX {
            return Err(damaged("too many cells", 24));
        }
        let buckets = scheme.buckets(keys);
        let directory = bytes_of(u64::from(buckets) + 1, entry_width);
        let whole = LENGTH as u64 + directory + bytes_of(cells, width + signature);
        if whole != bytes.len() as u64 {
            return Err(damaged("the length does not agree with the header", bytes.len() as u64));
        }
        let cells_start = usize::try_from(LENGTH as u64 + directory);
        let cells_start = cells_start.expect("not more than there are bytes");
        Ok(Self {
            scheme,
            in_buckets,
            width,
            signature,
            keys,
            seed,
            buckets,
            cells_start,
            entry_width,
        })
    }

    /// The cells of a key in its bucket.
    #[inline]
    pub(super) fn vertices<const K: usize>(
        &self,
        bytes: &[u8],
        bucket: usize,
        hash: Hash,
    ) -> [usize; K] {
        self.bucket::<K>(bytes, bucket).vertices(hash)
    }

    /// The directory entry of a bucket.
    #[inline]
    pub(super) fn bucket<const K: usize>(&self, bytes: &[u8], bucket: usize) -> Bucket {
        Bucket::new::<K>([bucket, bucket + 1].map(|bucket| self.entry(bytes, bucket)))
    }

    /// The exclusive or of some cells.
    #[inline]
    pub(super) fn sum<const K: usize>(&self, bytes: &[u8], vertices: [usize; K]) -> u64 {
        let cells = bytes.get(self.cells_start..).unwrap_or_default();
        let width = self.width + self.signature;
        if width > fixed::EIGHT_MAX {
            return vertices.into_iter().fold(0, |sum, cell| sum ^ fixed::get(cells, cell, width));
        }
        let sum = vertices.into_iter().fold(0, |sum, cell| {
            let bit = cell.wrapping_mul(width as usize);
            sum ^ window(cells, bit / 8) >> (bit % 8)
        });
        sum & fixed::mask(width)
    }

    /// Start of the cells of a bucket, with its seed in the lower bits.
    #[inline]
    pub(super) fn entry(&self, bytes: &[u8], bucket: usize) -> u64 {
        let directory = bytes.get(LENGTH..self.cells_start).unwrap_or_default();
        fixed::get(directory, bucket, self.entry_width)
    }
}

/// First cell of a bucket, number of cells per part, and seed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bucket {
    first: usize,
    seed: u64,
    part: u32,
}

impl Bucket {
    /// Parses its entry in the directory, given the next one too.
    #[inline]
    pub(super) fn new<const K: usize>(entries: [u64; 2]) -> Self {
        let [first, next] = entries.map(|entry| entry >> SEED_BITS);
        Self {
            first: usize::try_from(first).unwrap_or(usize::MAX),
            seed: entries[0] & fixed::mask(SEED_BITS),
            part: u32::try_from(next.saturating_sub(first) / K as u64).unwrap_or(u32::MAX),
        }
    }

    /// The cells of a key in this bucket.
    #[inline]
    pub(super) fn vertices<const K: usize>(self, hash: Hash) -> [usize; K] {
        let edge = hash.edge::<K>(self.seed, self.part);
        edge.map(|vertex| self.first.wrapping_add(vertex as usize))
    }
}

/// The eight bytes from `at` on, padded with zeros in the rare case at the end.
#[inline]
fn window(cells: &[u8], at: usize) -> u64 {
    match cells.get(at..at.wrapping_add(8)).and_then(|rest| rest.first_chunk()) {
        Some(whole) => u64::from_le_bytes(*whole),
        None => window_at_end(cells, at),
    }
}

#[cold]
fn window_at_end(cells: &[u8], at: usize) -> u64 {
    fixed::eight(cells, at)
}

/// A solved function, ready to be written.
pub(super) struct Solved {
    pub(super) scheme: Scheme,
    pub(super) buckets: Buckets,
    pub(super) width: u32,
    pub(super) signature: u32,
    pub(super) keys: u64,
    pub(super) seed: u64,
    /// First cell and seed of each bucket.
    pub(super) directory: Vec<(u64, u64)>,
    pub(super) cells: Vec<u64>,
}

impl Solved {
    pub(super) fn write(self) -> Vec<u8> {
        let cells = self.cells.len() as u64;
        let [width, signature] = [self.width, self.signature]
            .map(|bits| u8::try_from(bits).expect("at most 64, by `build`"));
        let mut out = MAGIC.to_vec();
        let ordered = if self.buckets == Buckets::InOrder { ORDERED } else { 0 };
        out.extend([VERSION, self.scheme.cells_a_key() | ordered, width, signature]);
        for number in [self.keys, self.seed, cells] {
            out.extend(number.to_le_bytes());
        }
        let entries = self.directory.into_iter().chain([(cells, 0)]);
        let entries = entries.map(|(first, seed)| first << SEED_BITS | seed);
        fixed::write(&mut out, entries, fixed::width(cells) + SEED_BITS);
        fixed::write(&mut out, self.cells, self.width + self.signature);
        out
    }
}

/// [`fixed::bytes`] of the numbers in a header, without overflow.
fn bytes_of(count: u64, width: u32) -> u64 {
    (count * u64::from(width)).div_ceil(8)
}
