//! A block of the lexicon: its keys, then what is known of their lists.
//!
//! What lives here: the bytes of a block, both ways. What does not: where blocks lie (`mod.rs`).
//!
//! **Invariant.** On any bytes: no panic, and no key or list that the block does not have.

use super::read_bytes;
use crate::postings::{self, BLOCK, Extent, Extents, List, Widths};
use codes::symbols::{Encoder, SymbolTable};
use codes::vbyte;
use std::cmp::Ordering;

/// Half a byte that says that a number follows.
const MORE: usize = 15;

/// Appends the first key of a block.
pub(super) fn write_head(key: &[u8], encoder: &Encoder, out: &mut Vec<u8>) {
    let mut code = Vec::new();
    encoder.write(key, &mut code);
    vbyte::write(out, code.len() as u64);
    out.extend_from_slice(&code);
}

/// Appends a key of which `shared` bytes are those of the key before.
pub(super) fn write_rest(shared: usize, rest: &[u8], encoder: &Encoder, out: &mut Vec<u8>) {
    let mut code = Vec::new();
    encoder.write(rest, &mut code);
    let halves = [shared, code.len()].map(|n| n.min(MORE));
    out.push((halves[0] << 4 | halves[1]).to_le_bytes()[0]);
    for n in [shared, code.len()].into_iter().filter(|&n| n >= MORE) {
        vbyte::write(out, (n - MORE) as u64);
    }
    out.extend_from_slice(&code);
}

/// Reads how many bytes a key shares with the one before, and the code of the rest.
#[inline]
fn read_rest<'a>(rest: &mut &'a [u8]) -> Option<(usize, &'a [u8])> {
    let (&halves, behind) = rest.split_first()?;
    *rest = behind;
    let mut number = |half: u8| {
        let half = usize::from(half);
        if half < MORE {
            return Some(half);
        }
        usize::try_from(vbyte::read(rest)?).ok()?.checked_add(MORE)
    };
    let (shared, length) = (number(halves >> 4)?, number(halves & 0xf)?);
    let (code, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some((shared, code))
}

/// Appends what is known of a list, but for where it begins.
pub(super) fn write_list(list: &List, out: &mut Vec<u8>) {
    let Extents { docs, freqs, positions, .. } = list.extents;
    vbyte::write(out, u64::from(list.doc_frequency));
    vbyte::write(out, list.total_frequency - u64::from(list.doc_frequency));
    if list.doc_frequency > 1 {
        vbyte::write(out, docs.bytes);
    }
    if postings::has_freqs(list.doc_frequency, list.total_frequency) {
        vbyte::write(out, freqs.bytes);
    }
    vbyte::write(out, positions.bytes);
}

/// Reads what is known of a list that begins there in the four streams.
#[inline]
fn read_list(rest: &mut &[u8], begins: [u64; 4], doc_count: u32) -> Option<List> {
    let doc_frequency = u32::try_from(vbyte::read(rest)?).ok()?;
    let total_frequency = vbyte::read(rest)?.checked_add(u64::from(doc_frequency))?;
    let docs = match doc_frequency {
        1 => postings::first_width(doc_count) as u64,
        _ => vbyte::read(rest)?,
    };
    let has_freqs = postings::has_freqs(doc_frequency, total_frequency);
    let freqs = if has_freqs { vbyte::read(rest)? } else { 0 };
    let positions = vbyte::read(rest)?;
    let extent = |start: u64, bytes: u64| {
        start.checked_add(bytes)?;
        Some(Extent { start, bytes })
    };
    let mut extents = Extents {
        docs: extent(begins[0], docs)?,
        freqs: extent(begins[1], freqs)?,
        positions: extent(begins[2], positions)?,
        skips: Extent { start: begins[3], bytes: 0 },
    };
    let blocks = doc_frequency as usize / BLOCK;
    let widths = Widths::new(doc_count, &extents);
    extents.skips = extent(begins[3], blocks as u64 * widths.entry_bytes() as u64)?;
    Some(List { doc_frequency, total_frequency, extents })
}

/// Where the list behind this one begins in the four streams.
fn ends(list: &List) -> [u64; 4] {
    let Extents { docs, freqs, positions, skips } = list.extents;
    // No overflow: `read_list` refuses such a list.
    [docs, freqs, positions, skips].map(|extent| extent.start + extent.bytes)
}

/// The four streams' starts before the first list of a block.
fn read_starts(rest: &mut &[u8]) -> Option<[u64; 4]> {
    let starts = [(); 4].map(|()| vbyte::read(rest));
    Some([starts[0]?, starts[1]?, starts[2]?, starts[3]?])
}

/// Appends the first key of a block.
pub(super) fn head(mut bytes: &[u8], symbols: &SymbolTable, out: &mut Vec<u8>) -> Option<()> {
    let mut keys = read_bytes(&mut bytes)?;
    symbols.read(read_bytes(&mut keys)?, out)
}

/// The bytes are no block.
#[derive(Debug)]
pub(super) struct Broken;

/// The list of a key, if a block of `count` keys has it.
pub(super) fn find_in_block(
    mut bytes: &[u8],
    count: usize,
    symbols: &SymbolTable,
    key: &[u8],
    doc_count: u32,
) -> Result<Option<List>, Broken> {
    let mut keys = read_bytes(&mut bytes).ok_or(Broken)?;
    let Some(place) = find_key(&mut keys, count, symbols, key)? else { return Ok(None) };
    let mut begins = read_starts(&mut bytes).ok_or(Broken)?;
    for _ in 0..place {
        begins = ends(&read_list(&mut bytes, begins, doc_count).ok_or(Broken)?);
    }
    read_list(&mut bytes, begins, doc_count).ok_or(Broken).map(Some)
}

/// The place of a key among the keys of a block. Only keys that share with the one before as many bytes
/// as that shares with `key` are looked at.
fn find_key(
    keys: &mut &[u8],
    count: usize,
    symbols: &SymbolTable,
    key: &[u8],
) -> Result<Option<usize>, Broken> {
    let head = read_bytes(keys).ok_or(Broken)?;
    let (mut common, mut order) = symbols.compare(head, key).ok_or(Broken)?;
    let mut place = 0;
    while order == Ordering::Less {
        place += 1;
        if place == count {
            return Ok(None);
        }
        let (shared, code) = read_rest(keys).ok_or(Broken)?;
        match shared.cmp(&common) {
            Ordering::Greater => {}
            Ordering::Less => return Ok(None),
            Ordering::Equal => {
                let (more, next) = symbols.compare(code, &key[common..]).ok_or(Broken)?;
                common += more;
                order = next;
            }
        }
    }
    Ok((order == Ordering::Equal).then_some(place))
}

/// Goes through the entries of a block.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    symbols: Option<&'a SymbolTable>,
    keys: &'a [u8],
    lists: &'a [u8],
    begins: [u64; 4],
    is_first: bool,
    left: usize,
}

impl<'a> Block<'a> {
    /// Stands before the first of `count` entries.
    pub(super) fn new(
        mut bytes: &'a [u8],
        count: usize,
        symbols: &'a SymbolTable,
    ) -> Option<Block<'a>> {
        let keys = read_bytes(&mut bytes)?;
        let begins = read_starts(&mut bytes)?;
        let symbols = Some(symbols);
        Some(Block { symbols, keys, lists: bytes, begins, is_first: true, left: count })
    }

    /// Whether all entries have been read.
    pub(super) fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Reads the next entry: `key` is that of the one before, and becomes its own.
    pub(super) fn read(
        &mut self,
        doc_count: u32,
        key: &mut Vec<u8>,
        list: &mut List,
    ) -> Option<()> {
        let code = if self.is_first {
            key.clear();
            read_bytes(&mut self.keys)?
        } else {
            let (shared, code) = read_rest(&mut self.keys)?;
            if shared > key.len() {
                return None;
            }
            key.truncate(shared);
            code
        };
        self.is_first = false;
        self.symbols?.read(code, key)?;
        *list = read_list(&mut self.lists, self.begins, doc_count)?;
        self.begins = ends(list);
        self.left -= 1;
        let is_over = self.left > 0 || (self.keys.is_empty() && self.lists.is_empty());
        is_over.then_some(())
    }
}
