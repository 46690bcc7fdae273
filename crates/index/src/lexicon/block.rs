//! A block of the lexicon: its keys, then the data of their lists.
//!
//! What lives here: encoding and decoding of a block. Where blocks are is in `shard.rs`, the data of lists in
//! `lists.rs`.
//!
//! A block has a stem. It is the beginning of one of its keys, after the common prefix of the bucket. Each key has
//! one byte with two numbers: how many bytes of the stem's end it lacks, and the length of the code of its rest.
//! These bytes come first, then the stem, then the codes. So every key is prefix, part of the stem, and coded
//! rest. A lookup compares one key without decoding the others, mostly without data-dependent branches.
//!
//! On any bytes: no panic, and no key or list that the block does not contain.

use super::BLOCK_KEYS;
use super::key::Prefix;
use super::lists::Lists;
use crate::postings::List;
use codes::fsst::{Encoder, Needle, SymbolTable};
use codes::vbyte;

/// A half byte that says that the number is longer and follows.
pub(super) const MORE: usize = 15;
/// Longest stem in bytes.
pub(super) const STEM_MAX: usize = u8::MAX as usize;
/// A one in each byte.
const ONES: u64 = u64::MAX / 255;

/// Collects the keys of a block.
#[derive(Debug, Default)]
pub(super) struct KeysWriter {
    /// For each key, how many bytes of the stem it lacks, and the length of its code.
    keys: Vec<[usize; 2]>,
    codes: Vec<u8>,
}

impl KeysWriter {
    /// Adds a key: all of the stem except its last `dropped` bytes, then `rest`.
    pub(super) fn push(&mut self, dropped: usize, rest: &[u8], encoder: &Encoder) {
        let start = self.codes.len();
        encoder.write(rest, &mut self.codes);
        self.keys.push([dropped, self.codes.len() - start]);
    }

    /// Appends all keys to `out` and clears the writer.
    pub(super) fn finish(&mut self, stem: &[u8], out: &mut Vec<u8>) {
        out.push(u8::try_from(stem.len()).expect("the writer makes no longer ones"));
        for both in &self.keys {
            let halves = both.map(|n| n.min(MORE));
            out.push((halves[0] << 4 | halves[1]).to_le_bytes()[0]);
        }
        for &n in self.keys.as_flattened().iter().filter(|&&n| n >= MORE) {
            vbyte::write(out, (n - MORE) as u64);
        }
        out.extend_from_slice(stem);
        out.extend_from_slice(&self.codes);
        self.keys.clear();
        self.codes.clear();
    }
}

/// Where the parts of a key are in a block: the stem and the bytes shared with it, the code, and the lists of the
/// block.
#[derive(Debug, Clone, Copy)]
struct Parts {
    stem: usize,
    shared: usize,
    code: usize,
    code_bytes: usize,
    lists: usize,
}

impl Parts {
    /// Parts of the key at `place` of `count`.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a hot step of a lookup: a call would spill registers to memory"
    )]
    fn read(bytes: &[u8], count: usize, place: usize) -> Option<Parts> {
        let others = BLOCK_KEYS.checked_sub(count)?;
        if place >= count {
            return None;
        }
        let Some(&[length, eight @ ..]) = bytes.first_chunk::<{ 1 + BLOCK_KEYS }>() else {
            return Parts::read_long(bytes, count, place);
        };
        let eight = u64::from_le_bytes(eight) & u64::MAX >> (8 * others);
        let half = ONES * MORE as u64;
        let (dropped, lengths) = (eight >> 4 & half, eight & half);
        // Adding one to a half byte of 15 carries into the bit above it.
        if ((dropped + ONES) | (lengths + ONES)) & (half + ONES) != 0 {
            return Parts::read_long(bytes, count, place);
        }
        // Prefix sums of the bytes: at most 8 times 14.
        let sums = lengths.wrapping_mul(ONES);
        let byte = |bytes: u64| usize::from((bytes >> (8 * place)).to_le_bytes()[0]);
        let (stem, stem_bytes) = (1 + count, usize::from(length));
        let codes = stem + stem_bytes;
        Some(Parts {
            stem,
            shared: stem_bytes.checked_sub(byte(dropped))?,
            code: codes + byte(sums) - byte(lengths),
            code_bytes: byte(lengths),
            lists: codes + usize::from(sums.to_le_bytes()[7]),
        })
    }

    /// [`Parts::read`] for a block with numbers that do not fit into half a byte.
    #[inline(never)]
    fn read_long(bytes: &[u8], count: usize, place: usize) -> Option<Parts> {
        Shape::read(bytes, count)?.parts(place)
    }
}

/// The [`Parts`] of all keys of a block.
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    count: usize,
    stem: usize,
    codes: usize,
    shared: [u8; BLOCK_KEYS],
    /// The end of each code.
    ends: [u32; BLOCK_KEYS],
}

impl Shape {
    fn read(bytes: &[u8], count: usize) -> Option<Shape> {
        let (&stem_bytes, behind) = bytes.split_first()?;
        let (halves, mut rest) = behind.split_at_checked(count)?;
        let (mut shared, mut ends, mut end) = ([0; BLOCK_KEYS], [0; BLOCK_KEYS], 0_u32);
        let mut number = |half: u8| {
            let more = if usize::from(half) == MORE { vbyte::read(&mut rest)? } else { 0 };
            u16::try_from(more).ok()?.checked_add(half.into())
        };
        for ((&both, shared), end_of) in halves.iter().zip(&mut shared).zip(&mut ends) {
            let dropped = u8::try_from(number(both >> 4)?).ok()?;
            *shared = stem_bytes.checked_sub(dropped)?;
            end += u32::from(number(both & 0xf)?);
            *end_of = end;
        }
        let stem = bytes.len() - rest.len();
        let codes = stem + usize::from(stem_bytes);
        (count <= BLOCK_KEYS).then_some(Shape { count, stem, codes, shared, ends })
    }

    fn parts(&self, place: usize) -> Option<Parts> {
        let ends = &self.ends[..self.count];
        let (&end, &last) = (ends.get(place)?, ends.last()?);
        let start = place.checked_sub(1).map_or(0, |before| ends[before]);
        Some(Parts {
            stem: self.stem,
            shared: self.shared[place].into(),
            code: self.codes + start as usize,
            code_bytes: (end - start) as usize,
            lists: self.codes + last as usize,
        })
    }

    /// The data of the lists, after the keys.
    fn lists<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let last = self.count.checked_sub(1).map_or(0, |last| self.ends[last]);
        bytes.get(self.codes + last as usize..)
    }
}

/// Appends a key, given its parts.
fn read_key(
    bytes: &[u8],
    parts: Parts,
    prefix: Prefix,
    symbols: &SymbolTable,
    out: &mut Vec<u8>,
) -> Option<()> {
    let Parts { stem, shared, code, code_bytes, .. } = parts;
    out.extend_from_slice(&prefix.bytes()[..prefix.len()]);
    out.extend_from_slice(bytes.get(stem..stem + shared)?);
    symbols.read(bytes.get(code..code + code_bytes)?, out)
}

/// Appends the first key of a block of `count` keys.
pub(super) fn head(
    bytes: &[u8],
    count: usize,
    prefix: Prefix,
    symbols: &SymbolTable,
    out: &mut Vec<u8>,
) -> Option<()> {
    read_key(bytes, Parts::read(bytes, count, 0)?, prefix, symbols, out)
}

/// The data of the lists of a block of `count` keys.
pub(super) fn lists(bytes: &[u8], count: usize) -> Option<&[u8]> {
    Shape::read(bytes, count)?.lists(bytes)
}

/// The bytes are not a block.
#[derive(Debug)]
pub(super) struct Broken;

/// Returns the data of the lists if `key` is the one at `place` of `count`; `None` if it is not.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "a hot step of a lookup: a call would spill registers to memory"
)]
pub(super) fn lists_if_at<'a>(
    bytes: &'a [u8],
    count: usize,
    prefix: Prefix,
    symbols: &SymbolTable,
    key: Needle<'_>,
    place: usize,
) -> Result<Option<&'a [u8]>, Broken> {
    let parts = Parts::read(bytes, count, place).ok_or(Broken)?;
    let lists = bytes.get(parts.lists..).ok_or(Broken)?;
    let (stem, code) = (&bytes[parts.stem..], &bytes[parts.code..]);
    // Compute all conditions before branching: most lookups succeed.
    let has_stem = key.has(stem, parts.shared, prefix.len());
    let from = prefix.len() + parts.shared;
    let is_rest = symbols.is_rest(code, parts.code_bytes, key, from).ok_or(Broken)?;
    Ok((has_stem && is_rest && prefix.is_of(key)).then_some(lists))
}

/// Iterates over the entries of a block.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    symbols: Option<&'a SymbolTable>,
    prefix: Prefix,
    shape: Shape,
    bytes: &'a [u8],
    lists: Lists<'a>,
    /// Number of keys read.
    read: usize,
}

impl<'a> Block<'a> {
    /// Starts before the first of `count` entries.
    pub(super) fn new(
        bytes: &'a [u8],
        count: usize,
        prefix: Prefix,
        symbols: &'a SymbolTable,
        begins: [u64; 4],
    ) -> Option<Block<'a>> {
        let shape = Shape::read(bytes, count)?;
        let lists = Lists::read(shape.lists(bytes)?, count, begins)?;
        Some(Block { symbols: Some(symbols), prefix, shape, bytes, lists, read: 0 })
    }

    /// Returns whether all entries have been read.
    pub(super) fn is_done(&self) -> bool {
        self.read == self.shape.count
    }

    /// Reads the next entry; replaces the contents of `key`.
    pub(super) fn read(
        &mut self,
        doc_count: u32,
        key: &mut Vec<u8>,
        list: &mut List,
    ) -> Option<()> {
        key.clear();
        let parts = self.shape.parts(self.read)?;
        read_key(self.bytes, parts, self.prefix, self.symbols?, key)?;
        *list = self.lists.next(doc_count)?;
        self.read += 1;
        (!self.is_done() || self.lists.is_empty()).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    /// A block of these keys with the stem of one of them, without lists.
    fn block(keys: &[String], prefix: usize, stem: &str, symbols: &SymbolTable) -> Vec<u8> {
        let (encoder, mut writer, mut out) =
            (Encoder::new(symbols), KeysWriter::default(), Vec::new());
        let stem = &stem.as_bytes()[prefix..stem.len().min(prefix + STEM_MAX)];
        for key in keys {
            let own = &key.as_bytes()[prefix..];
            let shared = own.iter().zip(stem).take_while(|(a, b)| a == b).count();
            writer.push(stem.len() - shared, &own[shared..], &encoder);
        }
        writer.finish(stem, &mut out);
        out
    }

    proptest! {
        /// Compares with the keys: short ones, long ones, and some that share more than the longest stem.
        #[test]
        fn each_key_is_found_only_at_its_position(
            keys in btree_set("(x{118,133}|y{250,260})?[a-c]{0,6}(def){0,9}[a-c]{0,3}é?", 1..=BLOCK_KEYS),
            others in btree_set("(x{118,133})?[a-c]{0,6}(def){0,9}[a-c]{0,3}é?", 0..9),
            stem in 0..BLOCK_KEYS,
        ) {
            let keys: Vec<String> = keys.into_iter().collect();
            let symbols = SymbolTable::train(&[&b"defdef"[..], b"defdef", b"abc", b"xxxxxxxxxx"]);
            let (first, last) = (keys[0].as_bytes(), keys[keys.len() - 1].as_bytes());
            let prefix = Prefix::of_all(first, last);
            let bytes = block(&keys, prefix.len(), &keys[stem % keys.len()], &symbols);
            let nearly = keys.iter().flat_map(|key| {
                let mut shorter = key.clone();
                shorter.pop();
                let other_end = format!("{shorter}c");
                let other_beginning = format!("b{}", key.get(1..).unwrap_or_default());
                [key.clone(), format!("{key}a"), shorter, key.replacen('b', "c", 1), other_end, other_beginning]
            });
            for other in nearly.chain(others) {
                let padded = [other.as_bytes(), &[0; Needle::PADDING]].concat();
                let needle = Needle::new(&padded, other.len()).expect("is padded");
                for (place, key) in keys.iter().enumerate() {
                    // With following bytes in a block, and at the end of memory.
                    for behind in [0, 40] {
                        let bytes = [&bytes[..], &[7; 40][..behind]].concat();
                        let found = lists_if_at(&bytes, keys.len(), prefix, &symbols, needle, place);
                        let found = found.expect("a sound block").map(<[u8]>::len);
                        let expected = (*key == other).then_some(behind);
                        prop_assert_eq!(found, expected, "{} at {}", other, place);
                    }
                }
                let behind = lists_if_at(&bytes, keys.len(), prefix, &symbols, needle, keys.len());
                prop_assert!(behind.is_err());
            }
            prop_assert_eq!(lists(&bytes, keys.len()), Some(&[][..]));
            let mut first = Vec::new();
            head(&bytes, keys.len(), prefix, &symbols, &mut first).expect("a sound block");
            prop_assert_eq!(first, keys[0].as_bytes());
        }

        /// As in a damaged file: every lookup succeeds or fails, without a panic.
        #[test]
        fn any_bytes_are_parsed_or_refused(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0_u8..20], 0..80),
            (count, place) in (0..=BLOCK_KEYS + 1, 0..=BLOCK_KEYS + 1),
            (beginning, length) in (any::<u64>(), 0..=Prefix::BYTES_MAX),
            other in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let symbols = SymbolTable::train(&[&b"defdef"[..], b"defdef", b"abc"]);
            let prefix = Prefix::new(beginning, length).expect("short enough");
            let padded = [&other[..], &[0; Needle::PADDING]].concat();
            let needle = Needle::new(&padded, other.len()).expect("is padded");
            if let Ok(Some(lists)) = lists_if_at(&bytes, count, prefix, &symbols, needle, place) {
                prop_assert!(place < count && bytes.ends_with(lists));
            }
            let mut key = Vec::new();
            let has_head = head(&bytes, count, prefix, &symbols, &mut key).is_some();
            prop_assert!(!has_head || key.starts_with(&prefix.bytes()[..prefix.len()]));
            if let Some(mut block) = Block::new(&bytes, count, prefix, &symbols, [0; 4]) {
                let (mut read, mut list) = (0, List::default());
                while read < count && block.read(9, &mut key, &mut list).is_some() {
                    read += 1;
                    prop_assert_eq!(block.is_done(), read == count);
                }
            }
        }
    }
}
