//! The lexicon: every (field, term) of a segment in order, and where its posting list lies.
//!
//! The key of a term is the number of its field, one byte, and then its own bytes. Keys are
//! front-coded in blocks of 32, and searched where they lie: nothing is loaded. An entry is a key,
//! coded against the one before it, and what is known of its list:
//!
//! ```text
//! first of a block   length of the key, the key,
//!                    start of its list in docs, freqs, positions, skips, then its list
//! others             bytes shared with the key before, length of the rest, the rest, then its list
//! list               documents, occurrences - documents, length in docs, in freqs, in positions
//! ```
//!
//! All numbers are in [`codes::vbyte`]. Within a block a list begins in each stream where the one
//! before it ends; the length in skips follows from the others (see `postings/skips.rs`). The
//! blocks lie in the file as `blocks.rs` says.
//!
//! **Invariant.** Keys are strictly ascending as bytes. On any bytes whatever: an error, or an end.
//! Reference: I. H. Witten, A. Moffat, T. C. Bell, *Managing Gigabytes*, 1999, section 4.1.

use crate::blocks::{Blocks, BlocksWriter};
use crate::envelope::{FileWriter, Stamp};
use crate::mapped::MappedFile;
use crate::postings::{BLOCK, Extent, Extents, List, Widths};
use crate::{Field, IndexError};
use codes::vbyte;
use std::ops::Range;

/// How many keys a block has.
const BLOCK_KEYS: usize = 32;

/// The longest term.
pub const TERM_BYTES_MAX: usize = 4096;

/// Puts in `key` the key of a term.
pub(crate) fn set_key(key: &mut Vec<u8>, field: Field, term: &str) {
    key.clear();
    key.push(field.number());
    key.extend_from_slice(term.as_bytes());
}

/// Writes the entries in the order of their keys.
pub(crate) struct LexiconWriter {
    blocks: BlocksWriter,
    block: Vec<u8>,
    key: Vec<u8>,
    count: u64,
}

impl LexiconWriter {
    pub(crate) fn new(file: FileWriter) -> LexiconWriter {
        LexiconWriter {
            blocks: BlocksWriter::new(file),
            block: Vec::new(),
            key: Vec::new(),
            count: 0,
        }
    }

    /// How many entries there are so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Adds an entry whose key is greater than the last one.
    pub(crate) fn push(&mut self, key: &[u8], list: &List) -> Result<(), IndexError> {
        assert!(self.count == 0 || *self.key < *key, "keys ascend");
        let Extents { docs, freqs, positions, skips } = list.extents;
        if self.count.is_multiple_of(BLOCK_KEYS as u64) {
            self.flush()?;
            vbyte::write(&mut self.block, key.len() as u64);
            self.block.extend_from_slice(key);
            for extent in [docs, freqs, positions, skips] {
                vbyte::write(&mut self.block, extent.start);
            }
        } else {
            let shared = self.key.iter().zip(key).take_while(|(a, b)| a == b).count();
            vbyte::write(&mut self.block, shared as u64);
            vbyte::write(&mut self.block, (key.len() - shared) as u64);
            self.block.extend_from_slice(&key[shared..]);
        }
        let more = list.total_frequency - u64::from(list.doc_frequency);
        let numbers =
            [u64::from(list.doc_frequency), more, docs.bytes, freqs.bytes, positions.bytes];
        for n in numbers {
            vbyte::write(&mut self.block, n);
        }
        self.key.clear();
        self.key.extend_from_slice(key);
        self.count += 1;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Stamp, IndexError> {
        self.flush()?;
        self.blocks.finish()
    }

    fn flush(&mut self) -> Result<(), IndexError> {
        if !self.block.is_empty() {
            self.blocks.push(&self.block)?;
            self.block.clear();
        }
        Ok(())
    }
}

/// The lexicon of a segment, searched where it lies.
#[derive(Debug)]
pub(crate) struct Lexicon {
    blocks: Blocks,
    doc_count: u32,
}

impl Lexicon {
    pub(crate) fn new(file: MappedFile, doc_count: u32) -> Result<Lexicon, IndexError> {
        Ok(Lexicon { blocks: Blocks::new(file)?, doc_count })
    }

    pub(crate) fn file(&self) -> &MappedFile {
        self.blocks.file()
    }

    /// The list of a key, if the lexicon has it.
    pub(crate) fn find(&self, key: &[u8]) -> Result<Option<List>, IndexError> {
        // The block before the first one that begins behind the key.
        let behind = self.first_block(|head| head > key)?;
        let Some(block) = behind.checked_sub(1) else { return Ok(None) };
        let mut entries = self.entries(block..behind)?;
        while entries.advance() {
            if *entries.key >= *key {
                return Ok((*entries.key == *key).then_some(entries.list));
            }
        }
        if entries.is_broken() {
            return Err(self
                .file()
                .damaged(self.blocks.start(block)?, "not a block of the lexicon"));
        }
        Ok(None)
    }

    /// The terms of a field that begin with `prefix`.
    pub(crate) fn terms(&self, field: Field, prefix: &str) -> Result<Terms<'_>, IndexError> {
        let mut key = Vec::new();
        set_key(&mut key, field, prefix);
        let from = self.first_block(|head| head >= &key[..])?.saturating_sub(1);
        let to = self.first_block(|head| head > &key[..] && !head.starts_with(&key))?;
        Ok(Terms { entries: self.entries(from..to)?, prefix: key })
    }

    /// How many blocks there are.
    pub(crate) fn block_count(&self) -> usize {
        self.blocks.count()
    }

    /// The entries of one block, checked to be as many as a block has.
    pub(crate) fn block(&self, block: usize) -> Result<Entries<'_>, IndexError> {
        let mut entries = self.entries(block..block + 1)?;
        while entries.advance() {}
        let full = entries.read == BLOCK_KEYS;
        let last = block + 1 == self.block_count() && (1..BLOCK_KEYS).contains(&entries.read);
        let in_place = block > 0 || self.blocks.start(0)? == 0;
        if entries.is_broken() || !(full || last) || !in_place {
            return Err(self
                .file()
                .damaged(self.blocks.start(block)?, "not a block of the lexicon"));
        }
        self.entries(block..block + 1)
    }

    /// All entries.
    pub(crate) fn all(&self) -> Result<Entries<'_>, IndexError> {
        self.entries(0..self.blocks.count())
    }

    fn entries(&self, blocks: Range<usize>) -> Result<Entries<'_>, IndexError> {
        Ok(Entries {
            rest: self.blocks.range(blocks)?,
            doc_count: self.doc_count,
            read: 0,
            key: Vec::new(),
            field: Field::Title,
            list: List::default(),
        })
    }

    /// The first block of which `test` holds for the first key, by halving; the number of blocks if
    /// for none.
    fn first_block(&self, test: impl Fn(&[u8]) -> bool) -> Result<usize, IndexError> {
        let (mut low, mut high) = (0, self.blocks.count());
        while low < high {
            let middle = low + (high - low) / 2;
            let mut block = self.blocks.range(middle..middle + 1)?;
            let head = read_bytes(&mut block).ok_or_else(|| {
                let start = self.blocks.start(middle).unwrap_or_default();
                self.file().damaged(start, "not a block of the lexicon")
            })?;
            if test(head) { high = middle } else { low = middle + 1 }
        }
        Ok(low)
    }
}

/// Goes through entries; they are what was written, or it stops early.
pub(crate) struct Entries<'a> {
    rest: &'a [u8],
    doc_count: u32,
    read: usize,
    /// The key of the current entry.
    pub(crate) key: Vec<u8>,
    /// Its field.
    pub(crate) field: Field,
    /// Its list.
    pub(crate) list: List,
}

impl Entries<'_> {
    /// Moves to the next entry; false at the end.
    pub(crate) fn advance(&mut self) -> bool {
        if self.rest.is_empty() {
            return false;
        }
        let mut rest = self.rest;
        let advanced = self.read_entry(&mut rest).is_some();
        if advanced {
            self.rest = rest;
            self.read += 1;
        }
        advanced
    }

    /// Whether it stopped before the end.
    pub(crate) fn is_broken(&self) -> bool {
        !self.rest.is_empty()
    }

    fn read_entry(&mut self, rest: &mut &[u8]) -> Option<()> {
        let begins = if self.read.is_multiple_of(BLOCK_KEYS) {
            self.key.clear();
            self.key.extend_from_slice(read_bytes(rest)?);
            let starts = [(); 4].map(|()| vbyte::read(rest));
            [starts[0]?, starts[1]?, starts[2]?, starts[3]?]
        } else {
            let shared = usize::try_from(vbyte::read(rest)?).ok()?;
            let more = read_bytes(rest)?;
            if shared > self.key.len() {
                return None;
            }
            self.key.truncate(shared);
            self.key.extend_from_slice(more);
            let Extents { docs, freqs, positions, skips } = self.list.extents;
            // No overflow: `read_list` refuses such a list.
            [docs, freqs, positions, skips].map(|extent| extent.start + extent.bytes)
        };
        if self.key.len() > 1 + TERM_BYTES_MAX {
            return None;
        }
        self.field = Field::of_key(&self.key)?;
        self.list = read_list(rest, begins, self.doc_count)?;
        Some(())
    }
}

/// Reads what is known of a list that begins there in the four streams.
fn read_list(rest: &mut &[u8], begins: [u64; 4], doc_count: u32) -> Option<List> {
    let doc_frequency = u32::try_from(vbyte::read(rest)?).ok()?;
    let total_frequency = vbyte::read(rest)?.checked_add(u64::from(doc_frequency))?;
    let mut extent = |start: u64| {
        let bytes = vbyte::read(rest)?;
        start.checked_add(bytes)?;
        Some(Extent { start, bytes })
    };
    let mut extents = Extents {
        docs: extent(begins[0])?,
        freqs: extent(begins[1])?,
        positions: extent(begins[2])?,
        skips: Extent { start: begins[3], bytes: 0 },
    };
    let blocks = doc_frequency as usize / BLOCK;
    let widths = Widths::new(doc_count, &extents);
    extents.skips.bytes = blocks as u64 * widths.entry_bytes() as u64;
    extents.skips.start.checked_add(extents.skips.bytes)?;
    Some(List { doc_frequency, total_frequency, extents })
}

/// Reads a length and as many bytes.
fn read_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(vbyte::read(rest)?).ok()?;
    let (bytes, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(bytes)
}

/// The terms of a field that begin with a prefix, in the order of their bytes, each with the number
/// of documents that have it.
pub struct Terms<'a> {
    entries: Entries<'a>,
    /// With the field in front.
    prefix: Vec<u8>,
}

impl Iterator for Terms<'_> {
    type Item = (String, u32);

    fn next(&mut self) -> Option<(String, u32)> {
        while self.entries.advance() {
            let key = &self.entries.key;
            if key.starts_with(&self.prefix) {
                let term = String::from_utf8(key[1..].to_vec()).ok()?;
                return Some((term, self.entries.list.doc_frequency));
            }
            if *key > self.prefix {
                return None;
            }
        }
        None
    }
}
