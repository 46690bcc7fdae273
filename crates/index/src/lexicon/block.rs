//! A block of the lexicon: its keys, then what is known of their lists.
//!
//! What lives here: the bytes of a block, both ways. What does not: where blocks lie (`mod.rs`), and the lists
//! (`lists.rs`).
//!
//! A key but the first says in one byte how much it shares with the key before and how long the code of the rest
//! is; these bytes lie together, the codes behind them. So the whole of a block's shape fits one register, and a
//! search steps from one key that can matter to the next without looking at those between: a key that shares more
//! with the one before than that shares with what is looked for is on the same side of it.
//!
//! **Invariant.** On any bytes: no panic, and no key or list that the block does not have.

use super::lists::Lists;
use super::{BLOCK_KEYS, read_bytes};
use crate::postings::List;
use codes::symbols::{Encoder, Needle, SymbolTable};
use codes::vbyte;
use std::cmp::Ordering;

/// Half a byte that says that a number follows.
const MORE: usize = 15;
/// The most bytes that a key is said to share with the one before.
pub(super) const SHARED_MAX: u8 = 127;
/// A one in each byte.
const ONES: u64 = u64::MAX / 255;

/// The keys of a block, as far as they were given.
#[derive(Debug, Default)]
pub(super) struct KeysWriter {
    halves: Vec<u8>,
    numbers: Vec<u8>,
    codes: Vec<u8>,
    head: usize,
}

impl KeysWriter {
    /// Adds the first key.
    pub(super) fn push_head(&mut self, key: &[u8], encoder: &Encoder) {
        encoder.write(key, &mut self.codes);
        self.head = self.codes.len();
    }

    /// Adds a key of which `shared` bytes are those of the key before.
    pub(super) fn push_rest(&mut self, shared: usize, rest: &[u8], encoder: &Encoder) {
        let start = self.codes.len();
        encoder.write(rest, &mut self.codes);
        let both = [shared, self.codes.len() - start];
        let halves = both.map(|n| n.min(MORE));
        self.halves.push((halves[0] << 4 | halves[1]).to_le_bytes()[0]);
        for n in both.into_iter().filter(|&n| n >= MORE) {
            vbyte::write(&mut self.numbers, (n - MORE) as u64);
        }
    }

    /// Appends them all with their length, and begins anew.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        let mut head = Vec::new();
        vbyte::write(&mut head, self.head as u64);
        let parts = [&self.halves, &self.numbers, &head, &self.codes];
        vbyte::write(out, parts.iter().map(|part| part.len() as u64).sum());
        for part in parts {
            out.extend_from_slice(part);
        }
        *self = KeysWriter::default();
    }
}

/// Where the keys of a block lie: how much each but the first shares with the one before it, a byte each, and where
/// its code ends among theirs.
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    others: usize,
    shared: u64,
    ends: [u32; BLOCK_KEYS],
}

impl Shape {
    /// Takes it from the beginning of the keys of a block of `count` keys.
    #[inline]
    fn read(keys: &mut &[u8], count: usize) -> Option<Shape> {
        let others = count.checked_sub(1).filter(|&others| others < BLOCK_KEYS)?;
        let (halves, behind) = keys.split_at_checked(others)?;
        let eight = if let Some(&eight) = keys.first_chunk() {
            u64::from_le_bytes(eight) & !(u64::MAX << (8 * others))
        } else {
            let mut eight = [0; BLOCK_KEYS];
            eight[..others].copy_from_slice(halves);
            u64::from_le_bytes(eight)
        };
        let half = ONES * MORE as u64;
        let (shared, lengths) = (eight >> 4 & half, eight & half);
        *keys = behind;
        // One more in any half byte that is 15 is a bit above it.
        if ((shared + ONES) | (lengths + ONES)) & (half + ONES) != 0 {
            return Shape::read_long(halves, keys);
        }
        // In each byte the sum of all up to it: at most 7 times 14.
        let sums = lengths.wrapping_mul(ONES);
        Some(Shape { others, shared, ends: sums.to_le_bytes().map(u32::from) })
    }

    /// The same where some of the numbers do not fit into half a byte.
    #[cold]
    fn read_long(halves: &[u8], keys: &mut &[u8]) -> Option<Shape> {
        let (mut shared, mut ends, mut end) = ([0; BLOCK_KEYS], [0; BLOCK_KEYS], 0_u32);
        for (at, &both) in halves.iter().enumerate() {
            let mut number = |half: u8| {
                let more = if usize::from(half) == MORE { vbyte::read(keys)? } else { 0 };
                u32::try_from(more).ok()?.checked_add(half.into())
            };
            let (common, length) = (number(both >> 4)?, number(both & 0xf)?);
            shared[at] = u8::try_from(common).ok().filter(|&common| common <= SHARED_MAX)?;
            end = end.checked_add(length)?;
            ends[at] = end;
        }
        Some(Shape { others: halves.len(), shared: u64::from_le_bytes(shared), ends })
    }

    fn shared(&self, at: usize) -> usize {
        usize::from((self.shared >> (8 * at)).to_le_bytes()[0])
    }

    /// The first from `at` on that shares no more than `common` bytes with the one before it.
    #[inline]
    fn next_within(&self, at: usize, common: usize) -> Option<usize> {
        const TOP: u64 = ONES * 0x80;
        let common = common.min(SHARED_MAX.into()) as u64;
        // The top bit of each byte stays where nothing greater is taken from it.
        let within = (TOP + ONES * common - self.shared) & TOP;
        let found = (within & (u64::MAX << (8 * at))).trailing_zeros() as usize / 8;
        (found < self.others).then_some(found)
    }

    /// The code of the rest of a key, out of all those codes.
    #[inline]
    fn code<'a>(&self, at: usize, codes: &'a [u8]) -> Option<&'a [u8]> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        codes.get(start..self.ends[at] as usize)
    }
}

/// Appends the first key of a block of `count` keys.
pub(super) fn head(
    mut bytes: &[u8],
    count: usize,
    symbols: &SymbolTable,
    out: &mut Vec<u8>,
) -> Option<()> {
    let mut keys = read_bytes(&mut bytes)?;
    Shape::read(&mut keys, count)?;
    symbols.read(read_bytes(&mut keys)?, out)
}

/// How the first key of a block of `count` keys compares with `key`.
pub(super) fn head_order(
    mut bytes: &[u8],
    count: usize,
    symbols: &SymbolTable,
    key: Needle<'_>,
) -> Result<Ordering, Broken> {
    let mut keys = read_bytes(&mut bytes).ok_or(Broken)?;
    Shape::read(&mut keys, count).ok_or(Broken)?;
    let head = read_bytes(&mut keys).ok_or(Broken)?;
    symbols.compare(head, key, 0).map(|(_, order)| order).ok_or(Broken)
}

/// The bytes are no block.
#[derive(Debug)]
pub(super) struct Broken;

/// The place of a key in a block of `count` keys, and the lists of the block; `None` if the block does not have it.
#[inline]
pub(super) fn find_in_block<'a>(
    mut bytes: &'a [u8],
    count: usize,
    symbols: &SymbolTable,
    key: Needle<'_>,
) -> Result<Option<(usize, &'a [u8])>, Broken> {
    let keys = read_bytes(&mut bytes).ok_or(Broken)?;
    let place = find_key(keys, count, symbols, key)?;
    Ok(place.map(|place| (place, bytes)))
}

/// The place of a key among the keys of a block. Only keys that share with the one before as many bytes
/// as that shares with `key` are looked at.
#[inline]
fn find_key(
    mut keys: &[u8],
    count: usize,
    symbols: &SymbolTable,
    key: Needle<'_>,
) -> Result<Option<usize>, Broken> {
    let shape = Shape::read(&mut keys, count).ok_or(Broken)?;
    let head = read_bytes(&mut keys).ok_or(Broken)?;
    let (mut common, mut order) = symbols.compare(head, key, 0).ok_or(Broken)?;
    let mut place = 0;
    while order == Ordering::Less {
        let Some(next) = shape.next_within(place, common) else { return Ok(None) };
        let shared = shape.shared(next);
        if shared < common.min(SHARED_MAX.into()) {
            return Ok(None);
        }
        let code = shape.code(next, keys).ok_or(Broken)?;
        (common, order) = symbols.compare(code, key, shared).ok_or(Broken)?;
        place = next + 1;
    }
    Ok((order == Ordering::Equal).then_some(place))
}

/// Goes through the entries of a block.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    symbols: Option<&'a SymbolTable>,
    shape: Shape,
    head: &'a [u8],
    codes: &'a [u8],
    lists: Lists<'a>,
    /// How many of its keys have been read, of how many.
    read: usize,
    count: usize,
}

impl<'a> Block<'a> {
    /// Stands before the first of `count` entries.
    pub(super) fn new(
        mut bytes: &'a [u8],
        count: usize,
        symbols: &'a SymbolTable,
        begins: [u64; 4],
    ) -> Option<Block<'a>> {
        let mut codes = read_bytes(&mut bytes)?;
        let shape = Shape::read(&mut codes, count)?;
        let head = read_bytes(&mut codes)?;
        let lists = Lists::read(bytes, count, begins)?;
        Some(Block { symbols: Some(symbols), shape, head, codes, lists, read: 0, count })
    }

    /// Whether all entries have been read.
    pub(super) fn is_done(&self) -> bool {
        self.read == self.count
    }

    /// Reads the next entry: `key` is that of the one before, and becomes its own.
    pub(super) fn read(
        &mut self,
        doc_count: u32,
        key: &mut Vec<u8>,
        list: &mut List,
    ) -> Option<()> {
        let (shared, code) = match self.read.checked_sub(1) {
            None => (0, self.head),
            Some(at) => (self.shape.shared(at), self.shape.code(at, self.codes)?),
        };
        if shared > key.len() {
            return None;
        }
        key.truncate(shared);
        self.symbols?.read(code, key)?;
        *list = self.lists.next(doc_count)?;
        self.read += 1;
        let codes = self.shape.others.checked_sub(1).map_or(0, |last| self.shape.ends[last]);
        let is_sound = codes as usize == self.codes.len() && self.lists.is_empty();
        (!self.is_done() || is_sound).then_some(())
    }
}
