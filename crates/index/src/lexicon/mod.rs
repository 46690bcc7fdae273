//! The lexicon: every (field, term) of a segment in order, and where its posting list lies.
//!
//! The key of a term is the number of its field, one byte, and then its own bytes. Keys lie in shards
//! of at most 2¹⁵. A shard is a sorted list, front-coded in blocks of 16 with a table of symbols, and
//! a signed static function from each key to its block. An exact key costs one look into the function
//! and the scan of one block; a prefix goes through the list. The function alone is not trusted: what it
//! finds must stand in the block.
//!
//! ```text
//! payload     shards, then the directory, then its length (u64)
//! shard       blocks, the start of each block, the function
//! directory   for each shard: keys, length of its blocks, of its function, its first key, its symbols
//! block       length of its keys, keys; start of the first list in docs, freqs, positions, skips; lists
//! key         first of a block: length of its code, its code
//!             others: a byte of bytes shared with the key before and length of the code of the rest,
//!             in its higher and lower half, 15 for 15 and a number that follows; the code of the rest
//! list        documents, occurrences - documents, then those of its lengths in docs, freqs and
//!             positions that do not follow from these two
//! ```
//!
//! All numbers are in [`codes::vbyte`]; codes of keys are of [`codes::symbols`]. Within a block a list
//! begins in each stream where the one before it ends. The writer is in `writer.rs`, the way through a
//! block in `block.rs`.
//!
//! **Invariant.** Keys are strictly ascending as bytes. On any bytes whatever: an error, or an end.
//! Reference: I. H. Witten, A. Moffat, T. C. Bell, *Managing Gigabytes*, 1999, section 4.1;
//! D. Belazzougui, P. Boldi, R. Pagh, S. Vigna, "Theory and practice of monotone minimal perfect
//! hashing", ACM JEA 16, 2011.

mod block;
mod writer;

pub(crate) use writer::LexiconWriter;

use crate::mapped::MappedFile;
use crate::postings::List;
use crate::{Field, IndexError, fixed};
use block::{Block, find_in_block};
use codes::function::Function;
use codes::symbols::SymbolTable;
use codes::vbyte;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// How many keys a block has.
const BLOCK_KEYS: usize = 16;
/// How many keys a shard has at most.
const SHARD_KEYS: usize = 1 << 15;
/// Keys of up to so many bytes are looked up without memory of their own.
const SHORT_KEY_BYTES: usize = 48;
/// The length of the directory stands in so many bytes.
const TRAILER_BYTES: usize = 8;

/// The longest term.
pub const TERM_BYTES_MAX: usize = 4096;

/// Hands the key of a term to `ask`. Most terms need no memory for it.
pub(crate) fn with_key<T>(field: Field, term: &str, ask: impl FnOnce(&[u8]) -> T) -> T {
    let mut short = [0; SHORT_KEY_BYTES];
    short[0] = field.number();
    if let Some(place) = short.get_mut(1..=term.len()) {
        place.copy_from_slice(term.as_bytes());
        return ask(&short[..=term.len()]);
    }
    let mut key = Vec::with_capacity(1 + term.len());
    set_key(&mut key, field, term);
    ask(&key)
}

/// Puts in `key` the key of a term.
pub(crate) fn set_key(key: &mut Vec<u8>, field: Field, term: &str) {
    key.clear();
    key.push(field.number());
    key.extend_from_slice(term.as_bytes());
}

/// The lexicon of a segment, searched where it lies.
#[derive(Debug)]
pub(crate) struct Lexicon {
    file: Arc<MappedFile>,
    shards: Vec<Shard>,
    /// The beginning of the first key of each shard, as [`beginning`] has it.
    beginnings: Vec<u64>,
    doc_count: u32,
}

/// What the directory says of a shard, and its function once it was asked for.
#[derive(Debug)]
struct Shard {
    keys: usize,
    first_key: Vec<u8>,
    symbols: SymbolTable,
    /// The number of its first block in the lexicon.
    first_block: usize,
    /// Where its parts lie in the payload.
    blocks: Range<usize>,
    starts: usize,
    function: Range<usize>,
    opened: OnceLock<Function<Part>>,
}

/// A part of a file that was verified.
#[derive(Debug, Clone)]
struct Part {
    file: Arc<MappedFile>,
    range: Range<usize>,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        self.file.verified_before(self.range.clone())
    }
}

impl Shard {
    fn block_count(&self) -> usize {
        self.keys.div_ceil(BLOCK_KEYS)
    }

    /// Reads its entry in the directory; `behind` is where the shard before it ends.
    fn read(rest: &mut &[u8], first_block: usize, behind: usize) -> Option<Shard> {
        let mut number = || usize::try_from(vbyte::read(rest)?).ok();
        let (keys, block_bytes, function_bytes) = (number()?, number()?, number()?);
        let first_key = read_bytes(rest)?.to_vec();
        let symbols = SymbolTable::load(rest)?;
        if keys == 0 || keys > SHARD_KEYS {
            return None;
        }
        let blocks = behind..behind.checked_add(block_bytes)?;
        let starts_bytes = keys.div_ceil(BLOCK_KEYS) * fixed::width(block_bytes as u64);
        let function = blocks.end.checked_add(starts_bytes)?;
        Some(Shard {
            keys,
            first_key,
            symbols,
            first_block,
            starts: blocks.end,
            function: function..function.checked_add(function_bytes)?,
            blocks,
            opened: OnceLock::new(),
        })
    }
}

impl Lexicon {
    pub(crate) fn new(file: MappedFile, doc_count: u32) -> Result<Lexicon, IndexError> {
        let end = file.payload_bytes().saturating_sub(TRAILER_BYTES);
        let trailer = file.bytes(end..end + TRAILER_BYTES)?;
        let directory_bytes = fixed::get(trailer, 0, TRAILER_BYTES).unwrap_or(u64::MAX);
        let wrong = |at| file.damaged(at, "the directory of the lexicon does not fit the file");
        let start = usize::try_from(directory_bytes).ok().and_then(|bytes| end.checked_sub(bytes));
        let start = start.ok_or_else(|| wrong(end))?;
        let mut rest = file.bytes(start..end)?;
        let mut shards: Vec<Shard> = Vec::new();
        while !rest.is_empty() {
            let (block, behind) = shards
                .last()
                .map_or((0, 0), |last| (last.first_block + last.block_count(), last.function.end));
            let shard = Shard::read(&mut rest, block, behind);
            shards.push(shard.ok_or_else(|| wrong(end - rest.len()))?);
        }
        if shards.last().map_or(0, |last| last.function.end) != start {
            return Err(wrong(start));
        }
        let beginnings = shards.iter().map(|shard| beginning(&shard.first_key)).collect();
        Ok(Lexicon { file: Arc::new(file), shards, beginnings, doc_count })
    }

    pub(crate) fn file(&self) -> &MappedFile {
        &self.file
    }

    /// The list of a key, if the lexicon has it.
    pub(crate) fn find(&self, key: &[u8]) -> Result<Option<List>, IndexError> {
        let key_beginning = beginning(key);
        let behind = self.beginnings.partition_point(|&first| first <= key_beginning);
        // Where beginnings are equal the keys themselves decide.
        let before = self.shards[..behind].iter().rev();
        let Some(shard) = before.into_iter().find(|shard| *shard.first_key <= *key) else {
            return Ok(None);
        };
        let Some(block) = self.function(shard)?.get(key) else { return Ok(None) };
        // What is no key may lead anywhere.
        let Some(block) = usize::try_from(block).ok().filter(|&block| block < shard.block_count())
        else {
            return Ok(None);
        };
        let bytes = self.block_bytes(shard, block)?;
        let count = BLOCK_KEYS.min(shard.keys - block * BLOCK_KEYS);
        find_in_block(bytes, count, &shard.symbols, key, self.doc_count)
            .map_err(|_| self.broken(shard, block))
    }

    /// The terms of a field that begin with `prefix`.
    pub(crate) fn terms(&self, field: Field, prefix: &str) -> Result<Terms<'_>, IndexError> {
        let mut key = Vec::new();
        set_key(&mut key, field, prefix);
        let from = self.first_block(|head| head >= &key[..])?.saturating_sub(1);
        let to = self.first_block(|head| head > &key[..] && !head.starts_with(&key))?;
        Ok(Terms { entries: self.entries(from..to)?, prefix: key })
    }

    /// How many bytes say nothing but where lists lie and how long they are.
    pub(crate) fn list_bytes(&self) -> Result<u64, IndexError> {
        let mut sum = 0;
        for shard in &self.shards {
            for block in 0..shard.block_count() {
                let mut rest = self.block_bytes(shard, block)?;
                read_bytes(&mut rest).ok_or_else(|| self.broken(shard, block))?;
                sum += rest.len() as u64;
            }
        }
        Ok(sum)
    }

    /// How many blocks there are.
    pub(crate) fn block_count(&self) -> usize {
        self.shards.last().map_or(0, |last| last.first_block + last.block_count())
    }

    /// The entries of one block, checked to be what a block has.
    pub(crate) fn block(&self, block: usize) -> Result<Entries<'_>, IndexError> {
        let mut entries = self.entries(block..block + 1)?;
        while entries.advance() {}
        let shard = self.shard_of(block);
        let is_first = block > shard.first_block || self.start(shard, 0)? == shard.blocks.start;
        if entries.is_broken() || !is_first {
            return Err(self.broken(shard, block - shard.first_block));
        }
        self.entries(block..block + 1)
    }

    /// The entries of one shard; `None` behind the last.
    pub(crate) fn shard(&self, shard: usize) -> Result<Option<Entries<'_>>, IndexError> {
        let Some(shard) = self.shards.get(shard) else { return Ok(None) };
        self.entries(shard.first_block..shard.first_block + shard.block_count()).map(Some)
    }

    /// The shard that a key is in, if it is anywhere.
    pub(crate) fn shard_with(&self, key: &[u8]) -> usize {
        self.shards.partition_point(|shard| *shard.first_key <= *key).saturating_sub(1)
    }

    /// All entries.
    pub(crate) fn all(&self) -> Result<Entries<'_>, IndexError> {
        self.entries(0..self.block_count())
    }

    fn entries(&self, blocks: Range<usize>) -> Result<Entries<'_>, IndexError> {
        let mut from = blocks.start;
        while from < blocks.end {
            let shard = self.shard_of(from);
            let to = blocks.end.min(shard.first_block + shard.block_count());
            let start = self.start(shard, from - shard.first_block)?;
            self.file.bytes(start..self.start(shard, to - shard.first_block)?)?;
            from = to;
        }
        Ok(Entries {
            lexicon: self,
            blocks,
            block: Block::default(),
            broken: false,
            key: Vec::new(),
            field: Field::Title,
            list: List::default(),
        })
    }

    /// The first block of which `test` holds for the first key, by halving; the number of blocks if
    /// for none.
    fn first_block(&self, test: impl Fn(&[u8]) -> bool) -> Result<usize, IndexError> {
        let behind = self.shards.partition_point(|shard| !test(&shard.first_key));
        let Some(shard) = behind.checked_sub(1).map(|at| &self.shards[at]) else { return Ok(0) };
        let (mut low, mut high) = (1, shard.block_count());
        let mut head = Vec::new();
        while low < high {
            let middle = low + (high - low) / 2;
            head.clear();
            block::head(self.block_bytes(shard, middle)?, &shard.symbols, &mut head)
                .ok_or_else(|| self.broken(shard, middle))?;
            if test(&head) { high = middle } else { low = middle + 1 }
        }
        Ok(shard.first_block + low)
    }

    fn shard_of(&self, block: usize) -> &Shard {
        let behind = self.shards.partition_point(|shard| shard.first_block <= block);
        &self.shards[behind - 1]
    }

    /// The function of a shard, verified when it is first asked for.
    fn function<'a>(&self, shard: &'a Shard) -> Result<&'a Function<Part>, IndexError> {
        if let Some(function) = shard.opened.get() {
            return Ok(function);
        }
        self.file.bytes(shard.function.clone())?;
        let part = Part { file: Arc::clone(&self.file), range: shard.function.clone() };
        let function = Function::open(part)
            .map_err(|_| self.file.damaged(shard.function.start, "not a function of keys"))?;
        Ok(shard.opened.get_or_init(|| function))
    }

    /// Where block `block` of a shard begins in the payload; past the last one, where all end.
    fn start(&self, shard: &Shard, block: usize) -> Result<usize, IndexError> {
        if block >= shard.block_count() {
            return Ok(shard.blocks.end);
        }
        let width = fixed::width(shard.blocks.len() as u64);
        let at = shard.starts + block * width;
        let entry = self.file.bytes(at..at + width)?;
        match fixed::get(entry, 0, width).map(usize::try_from) {
            Some(Ok(start)) if start <= shard.blocks.len() => Ok(shard.blocks.start + start),
            _ => Err(self.file.damaged(at, "a block begins outside of its shard")),
        }
    }

    fn block_bytes(&self, shard: &Shard, block: usize) -> Result<&[u8], IndexError> {
        self.file.bytes(self.start(shard, block)?..self.start(shard, block + 1)?)
    }

    fn broken(&self, shard: &Shard, block: usize) -> IndexError {
        let start = self.start(shard, block).unwrap_or(shard.starts);
        self.file.damaged(start, "not a block of the lexicon")
    }
}

/// Goes through entries; they are what was written, or it stops early.
pub(crate) struct Entries<'a> {
    lexicon: &'a Lexicon,
    /// Those that are still to come.
    blocks: Range<usize>,
    block: Block<'a>,
    broken: bool,
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
        if self.broken || (self.block.is_done() && self.blocks.is_empty()) {
            return false;
        }
        self.broken = self.read_entry().is_none();
        !self.broken
    }

    /// Whether it stopped before the end.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    fn read_entry(&mut self) -> Option<()> {
        if self.block.is_done() {
            let number = self.blocks.next()?;
            let shard = self.lexicon.shard_of(number);
            let at = number - shard.first_block;
            let bytes = self.lexicon.block_bytes(shard, at).ok()?;
            let count = BLOCK_KEYS.min(shard.keys - at * BLOCK_KEYS);
            self.block = Block::new(bytes, count, &shard.symbols)?;
        }
        self.block.read(self.lexicon.doc_count, &mut self.key, &mut self.list)?;
        if self.key.len() > 1 + TERM_BYTES_MAX {
            return None;
        }
        self.field = Field::of_key(&self.key)?;
        Some(())
    }
}

/// The first eight bytes of a key, zeros behind its end, as a number that compares as they do.
#[inline]
fn beginning(key: &[u8]) -> u64 {
    if let Some(eight) = key.first_chunk() {
        return u64::from_be_bytes(*eight);
    }
    let mut eight = [0; 8];
    eight[..key.len()].copy_from_slice(key);
    u64::from_be_bytes(eight)
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

impl Terms<'_> {
    /// An error if the terms ended because the lexicon is damaged.
    pub(crate) fn check(&self) -> Result<(), IndexError> {
        if self.entries.is_broken() {
            return Err(self.entries.lexicon.file().damaged(0, "not a lexicon"));
        }
        Ok(())
    }
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
