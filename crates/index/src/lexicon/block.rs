//! A block of the lexicon: its keys, then what is known of their lists.
//!
//! What lives here: the bytes of a block, both ways. What does not: where blocks lie (`mod.rs`), and the lists
//! (`lists.rs`).
//!
//! A key but the first says in one byte how much it shares with the key before and how long the code of the rest
//! is; these bytes lie together, the codes behind them. So the whole of a block's shape fits one register, and whether
//! a key stands at a place is seen without a look at most of those before: what it shares with the one before it
//! stands in the nearest one that shares less, and so on to the first.
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
    /// What each but the first shares with the one before, and the length of its code.
    others: Vec<[usize; 2]>,
    codes: Vec<u8>,
    head: usize,
}

impl KeysWriter {
    /// Adds the first key.
    pub(super) fn push_head(&mut self, key: &[u8], encoder: &Encoder) {
        encoder.write(key, &mut self.codes);
        self.head = self.codes.len();
    }

    /// Adds a key of which `shared` bytes, [`SHARED_MAX`] at most, are those of the key before.
    pub(super) fn push_rest(&mut self, shared: usize, rest: &[u8], encoder: &Encoder) {
        let start = self.codes.len();
        encoder.write(rest, &mut self.codes);
        self.others.push([shared, self.codes.len() - start]);
    }

    /// Appends them all with their length to `out`, and begins anew.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        let least = self.others.iter().map(|&[shared, _]| shared).min().unwrap_or(0);
        let (mut shape, mut numbers) = (vec![least.to_le_bytes()[0]], Vec::new());
        for &[shared, length] in &self.others {
            let both = [shared - least, length];
            let halves = both.map(|n| n.min(MORE));
            shape.push((halves[0] << 4 | halves[1]).to_le_bytes()[0]);
            for n in both.into_iter().filter(|&n| n >= MORE) {
                vbyte::write(&mut numbers, (n - MORE) as u64);
            }
        }
        shape.append(&mut numbers);
        vbyte::write(&mut shape, self.head as u64);
        vbyte::write(out, (shape.len() + self.codes.len()) as u64);
        out.extend_from_slice(&shape);
        out.extend_from_slice(&self.codes);
        self.others.clear();
        self.codes.clear();
    }
}

/// Where the keys of a block lie: how much each but the first shares with the one before it, a byte each, and where
/// its code ends among theirs.
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    others: usize,
    shared: u64,
    ends: [u16; BLOCK_KEYS],
}

/// Codes have two bytes for each of a term, and one term more, at most: where they end fits.
const _: () = assert!((BLOCK_KEYS - 1) * 2 * (crate::TERM_BYTES_MAX + 1) <= u16::MAX as usize);

impl Shape {
    /// Takes it from the beginning of the keys of a block of `count` keys.
    #[inline]
    fn read(keys: &mut &[u8], count: usize) -> Option<Shape> {
        let others = count.checked_sub(1).filter(|&others| others < BLOCK_KEYS)?;
        let (&least, behind) = keys.split_first()?;
        let (halves, behind) = behind.split_at_checked(others)?;
        if least > SHARED_MAX {
            return None;
        }
        // All eight bytes of a full block, the first of which says the least.
        let eight = if let Some(&eight) = keys.first_chunk() {
            (u64::from_le_bytes(eight) >> 8) & !(u64::MAX << (8 * others))
        } else {
            let mut eight = [0; BLOCK_KEYS];
            eight[..others].copy_from_slice(halves);
            u64::from_le_bytes(eight)
        };
        let half = ONES * MORE as u64;
        let (shared, lengths) = (eight >> 4 & half, eight & half);
        *keys = behind;
        // One more in any half byte that is 15 is a bit above it.
        if ((shared + ONES) | (lengths + ONES)) & (half + ONES) != 0
            || least > SHARED_MAX - MORE.to_le_bytes()[0]
        {
            return Shape::read_long(least, halves, keys);
        }
        // In each byte the sum of all up to it: at most 7 times 14.
        let sums = lengths.wrapping_mul(ONES);
        let shared = shared + ONES * u64::from(least);
        Some(Shape { others, shared, ends: sums.to_le_bytes().map(u16::from) })
    }

    /// The same where some of the numbers do not fit into half a byte.
    #[inline(never)]
    fn read_long(least: u8, halves: &[u8], keys: &mut &[u8]) -> Option<Shape> {
        let (mut shared, mut ends, mut end) = ([0; BLOCK_KEYS], [0; BLOCK_KEYS], 0_u16);
        for (at, &both) in halves.iter().enumerate() {
            let mut number = |half: u8| {
                let more = if usize::from(half) == MORE { vbyte::read(keys)? } else { 0 };
                u16::try_from(more).ok()?.checked_add(half.into())
            };
            let (common, length) = (number(both >> 4)?, number(both & 0xf)?);
            let common = common.checked_add(least.into())?;
            shared[at] = u8::try_from(common).ok().filter(|&common| common <= SHARED_MAX)?;
            end = end.checked_add(length)?;
            ends[at] = end;
        }
        Some(Shape { others: halves.len(), shared: u64::from_le_bytes(shared), ends })
    }

    fn shared(&self, at: usize) -> usize {
        usize::from((self.shared >> (8 * at)).to_le_bytes()[0])
    }

    /// The last before `at` that shares less than `common` bytes, of which there is one at least, with the one before
    /// it.
    #[inline]
    fn last_below(&self, at: usize, common: usize) -> Option<usize> {
        const TOP: u64 = ONES * 0x80;
        let most = common.min(SHARED_MAX.into()) as u64 - 1;
        // The top bit of each byte stays where nothing greater is taken from it.
        let below = (TOP + ONES * most - self.shared) & TOP & !(u64::MAX << (8 * at));
        below.checked_ilog2().map(|bit| bit as usize / 8)
    }

    /// The code of the rest of a key, out of all those codes.
    #[inline]
    fn code<'a>(&self, at: usize, codes: &'a [u8]) -> Option<&'a [u8]> {
        let start = at.checked_sub(1).map_or(0, |before| usize::from(self.ends[before]));
        codes.get(start..usize::from(self.ends[at]))
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

/// The lists of a block of `count` keys, if `key` is the one at `place`; `None` if it is not.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "a step of a way on which what is at hand would go through memory at each call"
)]
pub(super) fn lists_if_at<'a>(
    mut bytes: &'a [u8],
    count: usize,
    symbols: &SymbolTable,
    key: Needle<'_>,
    place: usize,
) -> Result<Option<&'a [u8]>, Broken> {
    let keys = read_bytes(&mut bytes).ok_or(Broken)?;
    let is_it = is_at(keys, count, symbols, key, place).ok_or(Broken)?;
    Ok(is_it.then_some(bytes))
}

/// Whether `key` is the one at `place` among the keys of a block: from its end to its beginning, each part in the
/// nearest key before that has it.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "a step of a way on which what is at hand would go through memory at each call"
)]
fn is_at(
    mut keys: &[u8],
    count: usize,
    symbols: &SymbolTable,
    key: Needle<'_>,
    place: usize,
) -> Option<bool> {
    let shape = Shape::read(&mut keys, count)?;
    let head = read_bytes(&mut keys)?;
    let Some(mut at) = place.checked_sub(1) else { return symbols.is_rest(head, key, 0) };
    if at >= shape.others {
        return None;
    }
    let mut from = shape.shared(at);
    let mut is_it = symbols.is_rest(shape.code(at, keys)?, key, from)?;
    while from > 0 && is_it {
        let to = from;
        let Some(before) = shape.last_below(at, to) else {
            return symbols.begins_with(head, key, 0, to);
        };
        (at, from) = (before, shape.shared(before));
        is_it = symbols.begins_with(shape.code(at, keys)?, key, from, to)?;
    }
    Some(is_it)
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
        let is_sound = usize::from(codes) == self.codes.len() && self.lists.is_empty();
        (!self.is_done() || is_sound).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    /// A block of these keys, its lists empty.
    fn block(keys: &[String], symbols: &SymbolTable) -> Vec<u8> {
        let (encoder, mut writer, mut out) =
            (Encoder::new(symbols), KeysWriter::default(), Vec::new());
        writer.push_head(keys[0].as_bytes(), &encoder);
        for [before, key] in keys.array_windows() {
            let [before, key] = [before, key].map(String::as_bytes);
            let shared = before.iter().zip(key).take_while(|(a, b)| a == b).count();
            let shared = shared.min(SHARED_MAX.into());
            writer.push_rest(shared, &key[shared..], &encoder);
        }
        writer.finish(&mut out);
        out
    }

    proptest! {
        /// Against the keys themselves: short ones, long ones, some that share more than a block says.
        #[test]
        fn a_key_stands_at_its_place_alone(
            keys in btree_set("(x{118,133})?[a-c]{0,6}(def){0,9}[a-c]{0,3}é?", 1..=BLOCK_KEYS),
            others in btree_set("(x{118,133})?[a-c]{0,6}(def){0,9}[a-c]{0,3}é?", 0..9),
        ) {
            let keys: Vec<String> = keys.into_iter().collect();
            let symbols = SymbolTable::train(&[&b"defdef"[..], b"defdef", b"abc", b"xxxxxxxxxx"]);
            let bytes = block(&keys, &symbols);
            let nearly = keys.iter().flat_map(|key| {
                let mut shorter = key.clone();
                shorter.pop();
                [key.clone(), format!("{key}a"), shorter, key.replacen('b', "c", 1)]
            });
            for other in nearly.chain(others) {
                let padded = [other.as_bytes(), &[b'a'; Needle::PADDING]].concat();
                let needle = Needle::new(&padded, other.len()).expect("is padded");
                for (place, key) in keys.iter().enumerate() {
                    let found = lists_if_at(&bytes, keys.len(), &symbols, needle, place);
                    let found = found.expect("a sound block");
                    prop_assert_eq!(found.is_some(), *key == other, "{} at {}", other, place);
                }
                let behind = lists_if_at(&bytes, keys.len(), &symbols, needle, keys.len());
                prop_assert!(behind.is_err());
            }
        }
    }
}
