//! The lexicon: every (field, term) of a segment in order, and the location of its posting list.
//!
//! The key of a term is the number of its field, one byte, followed by its own bytes. Keys are grouped into shards
//! of at most 2¹⁵, buckets of 512, and blocks of 8. The keys of a block share a stem; their rests are coded with a
//! symbol table. A shard also has the beginnings of its buckets, and a signed static function from each key to its
//! place in its bucket.
//!
//! An exact lookup takes a short search for the bucket, one evaluation of the function, and one access to the
//! block. A prefix search scans the list. The function may be wrong for unknown keys, so the key in the block is
//! compared. A lookup of one key prefetches the part of the bucket where the key should be while it waits for the
//! function.
//!
//! ```text
//! payload     shards, then the directory, then its length (u64)
//! shard       blocks, buckets, the start of each block in its bucket, the function
//! buckets     for each: sixteen bytes of its first key, after the common prefix of the shard;
//!             for each: length of the common prefix of its keys, eight at most; for each: the next two bytes of the first
//!             key of each eighth of 64 keys but the first (7 × u16, the first byte the higher half, u16::MAX for a missing
//!             eighth); for each: start of its first block;
//!             for each: start of its first list in docs, freqs, positions, skips (4 × u64)
//! directory   for each shard: keys, length of its blocks, of its function, bytes of a block's start, length of the common
//!             prefix of its keys, its first key, its symbols
//! block       keys; documents of each list; start of the first list in docs, freqs, positions, skips, relative to that
//!             of the bucket; the rest of each list
//! keys        length of the stem, one byte; for each: a byte with the number of bytes of the stem's end that it lacks and
//!             the length of the code of its rest, in its higher and lower half, 15 for 15 plus a number that follows;
//!             these numbers; the stem, after the common prefix of the bucket; the codes
//! list        occurrences - documents, then those of its lengths in docs, freqs and positions that do not
//!             follow from both
//! ```
//!
//! All numbers are in [`codes::vbyte`], except those of buckets and starts. Keys are coded by
//! [`codes::fsst`]. Within a block a list begins in each stream where the previous one ends. The writer is in
//! `writer.rs`, lookups in a shard in `shard.rs`, in a block in `block.rs` and `lists.rs`.
//!
//! **Invariant.** Keys are strictly ascending as bytes. On any bytes, a lookup or scan returns an error or ends.
//!
//! References: I. H. Witten, A. Moffat, T. C. Bell, *Managing Gigabytes*, 1999, section 4.1; D. Belazzougui, P.
//! Boldi, R. Pagh, S. Vigna, "Theory and practice of monotone minimal perfect hashing", ACM JEA 16, 2011.

mod block;
mod key;
mod lists;
mod shard;
mod writer;

pub use key::FILTER_MARK;
pub(crate) use key::{Key, beginning, is_filter, set_key};
pub(crate) use writer::LexiconWriter;

use crate::file::fixed;
use crate::file::mapped::MappedFile;
use crate::postings::List;
use crate::{Field, IndexError};
use block::Block;
use codes::fsst::Needle;
use codes::vbyte;
use key::{Ascending, long_beginning};
use lists::Lists;
use shard::{Place, Shard};
use std::ops::Range;
use std::sync::Arc;

/// Keys per block.
const BLOCK_KEYS: usize = 8;
/// Largest number of keys per shard.
const SHARD_KEYS: usize = 1 << 15;
/// Number of keys looked up together.
const TOGETHER: usize = 16;
/// Batch size for short queries. Most queries have at most this many terms, and initialising more keys takes about
/// as long as hashing them.
const FEW: usize = 4;
/// Bytes of the length of the directory.
const TRAILER_BYTES: usize = 8;

/// The longest term.
pub const TERM_BYTES_MAX: usize = 4096;

/// The lexicon of a segment, searched without loading it.
#[derive(Debug)]
pub(crate) struct Lexicon {
    file: Arc<MappedFile>,
    shards: Vec<Shard>,
    /// Beginning of the first key of each shard.
    beginnings: Ascending,
    doc_count: u32,
}

/// Location of a key: its block, its place there, and the data of the block's lists.
struct Located<'a> {
    block: Place<'a>,
    place: usize,
    lists: &'a [u8],
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
                .map_or((0, 0), |last| (last.first_block + last.block_count(), last.end()));
            let shard = Shard::read(&mut rest, block, behind);
            shards.push(shard.ok_or_else(|| wrong(end - rest.len()))?);
        }
        if shards.last().map_or(0, Shard::end) != start {
            return Err(wrong(start));
        }
        let beginnings =
            Ascending::new(shards.iter().map(|shard| long_beginning(&shard.first_key)));
        Ok(Lexicon { file: Arc::new(file), shards, beginnings, doc_count })
    }

    pub(crate) fn file(&self) -> &MappedFile {
        &self.file
    }

    /// Returns the list of a key, if the key exists.
    pub(crate) fn find(&self, key: Needle<'_>) -> Result<Option<List>, IndexError> {
        self.locate(key)?.map(|located| self.list_at(&located)).transpose()
    }

    fn list_at(&self, located: &Located<'_>) -> Result<List, IndexError> {
        let Located { block, place, lists } = located;
        let begins = block.shard.begins(&self.file, block.block)?;
        let lists = Lists::read(lists, block.count(), begins);
        let list = lists.and_then(|lists| lists.nth(*place, self.doc_count));
        list.ok_or_else(|| block.shard.broken(&self.file, block.block))
    }

    /// Number of documents of a key's list; 0 if the key does not exist.
    pub(crate) fn doc_frequency(&self, key: Needle<'_>) -> Result<u32, IndexError> {
        self.doc_frequency_at(self.locate(key)?.as_ref())
    }

    /// Number of documents of each term's list, looked up together; 0 for missing terms.
    pub(crate) fn doc_frequencies(&self, terms: &[(Field, &str)]) -> Result<Vec<u32>, IndexError> {
        let mut out = Vec::with_capacity(terms.len());
        self.each_located(terms, |located| {
            out.push(self.doc_frequency_at(located)?);
            Ok(())
        })?;
        Ok(out)
    }

    /// Passes the list of each term to `visit`, in order.
    pub(crate) fn each_list(
        &self,
        terms: &[(Field, &str)],
        mut visit: impl FnMut(Option<&List>) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        self.each_located(terms, |located| match located {
            Some(located) => visit(Some(&self.list_at(located)?)),
            None => visit(None),
        })
    }

    /// Passes the location of each term to `visit`, in order. Prefetches for a batch of terms, because waiting for
    /// memory is most of the cost of a lookup.
    fn each_located(
        &self,
        terms: &[(Field, &str)],
        mut visit: impl FnMut(Option<&Located<'_>>) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        for terms in terms.chunks(TOGETHER) {
            if terms.len() <= FEW {
                self.each_located_of::<FEW>(terms, &mut visit)?;
            } else {
                self.each_located_of::<TOGETHER>(terms, &mut visit)?;
            }
        }
        Ok(())
    }

    /// [`Lexicon::each_located`] for at most `N` terms.
    fn each_located_of<const N: usize>(
        &self,
        terms: &[(Field, &str)],
        visit: &mut impl FnMut(Option<&Located<'_>>) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let mut keys = [const { Key::EMPTY }; N];
        for (&(field, term), key) in terms.iter().zip(&mut keys) {
            key.set(field, term);
        }
        let keys = &keys[..terms.len()];
        let (mut ways, mut places) = ([None; N], [None; N]);
        for (key, way) in keys.iter().zip(&mut ways) {
            let key = key.needle();
            if let Some(shard) = self.shard_from(|at| key.eight(at), key.as_bytes()) {
                *way = self.shards[shard].way(&self.file, key)?;
                if let Some(way) = way {
                    way.prefetch_pages(&self.file);
                    way.prefetch();
                }
            }
        }
        for (way, place) in ways.iter().zip(&mut places) {
            if let Some(way) = way
                && let Some(at) = way.key()
            {
                let block = way.place(&self.file, at)?;
                *place = Some((block, at % BLOCK_KEYS));
            }
        }
        for (key, place) in keys.iter().zip(&places) {
            let located = match place {
                Some((block, place)) => self.locate_at(*block, *place, key.needle())?,
                None => None,
            };
            visit(located.as_ref())?;
        }
        Ok(())
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a hot step of a lookup: a call would spill registers to memory"
    )]
    fn doc_frequency_at(&self, located: Option<&Located<'_>>) -> Result<u32, IndexError> {
        let Some(Located { block, place, lists }) = located else { return Ok(0) };
        lists::doc_frequency(lists, *place)
            .ok_or_else(|| block.shard.broken(&self.file, block.block))
    }

    /// Number of the only shard that may contain a key; `None` if the key is less than all keys.
    pub(crate) fn shard_with(&self, key: &[u8]) -> Option<usize> {
        self.shard_from(|at| beginning(key.get(at..).unwrap_or_default()), key)
    }

    /// [`Lexicon::shard_with`], given a function that returns eight bytes of the key from an offset.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a hot step of a lookup: a call would spill registers to memory"
    )]
    fn shard_from(&self, eight: impl Fn(usize) -> u64, key: &[u8]) -> Option<usize> {
        let (behind, is_alike) = self.beginnings.count_within(eight(0), || eight(8));
        if !is_alike {
            return behind.checked_sub(1);
        }
        // With equal beginnings, compare the keys.
        let is_before = |&shard: &usize| {
            self.beginnings.get(shard) < (eight(0), eight(8))
                || *self.shards[shard].first_key <= *key
        };
        (0..behind).rev().find(is_before)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would return its many words through memory")]
    fn locate(&self, key: Needle<'_>) -> Result<Option<Located<'_>>, IndexError> {
        let Some(shard) = self.shard_from(|at| key.eight(at), key.as_bytes()) else {
            return Ok(None);
        };
        let shard = &self.shards[shard];
        let Some(way) = shard.way(&self.file, key)? else { return Ok(None) };
        way.prefetch_eighth(&self.file, key);
        let Some(at) = way.key() else { return Ok(None) };
        self.locate_at(way.place(&self.file, at)?, at % BLOCK_KEYS, key)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would return its many words through memory")]
    fn locate_at<'a>(
        &self,
        block: Place<'a>,
        place: usize,
        key: Needle<'_>,
    ) -> Result<Option<Located<'a>>, IndexError> {
        let found = block.lists_if_at(place, key);
        let found = found.map_err(|_| block.shard.broken(&self.file, block.block))?;
        Ok(found.map(|lists| Located { block, place, lists }))
    }

    /// The terms of a field that begin with `prefix`.
    pub(crate) fn terms(&self, field: Field, prefix: &str) -> Result<Terms<'_>, IndexError> {
        let mut key = Vec::new();
        set_key(&mut key, field, prefix);
        let from = self.first_block(|head| head >= &key[..])?.saturating_sub(1);
        let to = self.first_block(|head| head > &key[..] && !head.starts_with(&key))?;
        Ok(Terms { entries: self.entries(from..to)?, prefix: key })
    }

    /// Number of bytes used only for locations and lengths of lists.
    pub(crate) fn list_bytes(&self) -> Result<u64, IndexError> {
        let mut sum = 0;
        for shard in &self.shards {
            for block in 0..shard.block_count() {
                let place = shard.place(&self.file, block)?;
                let lists = block::lists(place.bytes, place.count());
                sum += lists.ok_or_else(|| shard.broken(&self.file, block))?.len() as u64;
            }
            sum += shard.begins_bytes() as u64;
        }
        Ok(sum)
    }

    pub(crate) fn block_count(&self) -> usize {
        self.shards.last().map_or(0, |last| last.first_block + last.block_count())
    }

    /// The entries of one block, after checking them.
    pub(crate) fn block(&self, block: usize) -> Result<Entries<'_>, IndexError> {
        let mut entries = self.entries(block..block + 1)?;
        while entries.advance() {}
        let shard = self.shard_of(block);
        let is_first =
            block > shard.first_block || shard.start(&self.file, 0)? == shard.blocks.start;
        if entries.is_broken() || !is_first {
            return Err(shard.broken(&self.file, block - shard.first_block));
        }
        self.entries(block..block + 1)
    }

    /// The entries of one shard; `None` after the last.
    pub(crate) fn shard(&self, shard: usize) -> Result<Option<Entries<'_>>, IndexError> {
        let Some(shard) = self.shards.get(shard) else { return Ok(None) };
        self.entries(shard.first_block..shard.first_block + shard.block_count()).map(Some)
    }

    pub(crate) fn all(&self) -> Result<Entries<'_>, IndexError> {
        self.entries(0..self.block_count())
    }

    fn entries(&self, blocks: Range<usize>) -> Result<Entries<'_>, IndexError> {
        let mut from = blocks.start;
        while from < blocks.end {
            let shard = self.shard_of(from);
            let to = blocks.end.min(shard.first_block + shard.block_count());
            let start = shard.start(&self.file, from - shard.first_block)?;
            self.file.bytes(start..shard.start(&self.file, to - shard.first_block)?)?;
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

    /// The first block whose first key satisfies `test`, by bisection; the number of blocks if no key does.
    fn first_block(&self, test: impl Fn(&[u8]) -> bool) -> Result<usize, IndexError> {
        let behind = self.shards.partition_point(|shard| !test(&shard.first_key));
        let Some(shard) = behind.checked_sub(1).map(|at| &self.shards[at]) else { return Ok(0) };
        let (mut low, mut high) = (1, shard.block_count());
        let mut head = Vec::new();
        while low < high {
            let middle = low + (high - low) / 2;
            head.clear();
            shard.head(&self.file, middle, &mut head)?;
            if test(&head) { high = middle } else { low = middle + 1 }
        }
        Ok(shard.first_block + low)
    }

    fn shard_of(&self, block: usize) -> &Shard {
        let behind = self.shards.partition_point(|shard| shard.first_block <= block);
        &self.shards[behind - 1]
    }
}

/// Iterates over entries. Stops early on corrupt bytes.
pub(crate) struct Entries<'a> {
    lexicon: &'a Lexicon,
    /// The blocks to come.
    blocks: Range<usize>,
    block: Block<'a>,
    broken: bool,
    /// Key of the current entry.
    pub(crate) key: Vec<u8>,
    /// Field of the current entry.
    pub(crate) field: Field,
    /// List of the current entry.
    pub(crate) list: List,
}

impl Entries<'_> {
    /// Moves to the next entry. Returns `false` at the end.
    pub(crate) fn advance(&mut self) -> bool {
        if self.broken || (self.block.is_done() && self.blocks.is_empty()) {
            return false;
        }
        self.broken = self.read_entry().is_none();
        !self.broken
    }

    /// Returns whether it stopped at corrupt bytes.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    fn read_entry(&mut self) -> Option<()> {
        if self.block.is_done() {
            let number = self.blocks.next()?;
            let shard = self.lexicon.shard_of(number);
            let at = number - shard.first_block;
            let place = shard.place(&self.lexicon.file, at).ok()?;
            let begins = shard.begins(&self.lexicon.file, at).ok()?;
            let Place { bytes, prefix, .. } = place;
            self.block = Block::new(bytes, place.count(), prefix, &shard.symbols, begins)?;
        }
        self.block.read(self.lexicon.doc_count, &mut self.key, &mut self.list)?;
        if self.key.len() > 1 + TERM_BYTES_MAX {
            return None;
        }
        self.field = Field::of_key(&self.key)?;
        Some(())
    }
}

/// Reads a length and then that number of bytes.
fn read_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(vbyte::read(rest)?).ok()?;
    let (bytes, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(bytes)
}

/// The terms of a field that begin with a prefix, in byte order, each with its document frequency.
pub struct Terms<'a> {
    entries: Entries<'a>,
    /// Includes the field.
    prefix: Vec<u8>,
}

impl Terms<'_> {
    /// Moves to the next term. Returns `false` at the end.
    pub fn advance(&mut self) -> Result<bool, IndexError> {
        while self.entries.advance() {
            let key = &self.entries.key;
            if key.starts_with(&self.prefix) {
                return Ok(true);
            }
            if *key > self.prefix {
                return Ok(false);
            }
        }
        self.check().map(|()| false)
    }

    /// Moves forward to the first term that is not less than `term`, which must begin with the prefix. Returns
    /// `false` at the end. Does not read long runs of terms in between.
    pub fn skip_to(&mut self, term: &str) -> Result<bool, IndexError> {
        let target = |key: &[u8]| key.get(1..).is_some_and(|own| own >= term.as_bytes());
        for _ in 0..BLOCK_KEYS {
            if !self.advance()? {
                return Ok(false);
            }
            if target(&self.entries.key) {
                return Ok(true);
            }
        }
        let mut key = vec![self.prefix[0]];
        key.extend_from_slice(term.as_bytes());
        let behind = self.entries.lexicon.first_block(|head| head > &key[..])?;
        if let Some(block) = behind.checked_sub(1)
            && self.entries.blocks.start < block
        {
            self.entries.blocks.start = block.min(self.entries.blocks.end);
            self.entries.block = Block::default();
        }
        while self.advance()? {
            if target(&self.entries.key) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The current term; empty before the first.
    pub fn term(&self) -> Result<&str, IndexError> {
        let term = self.entries.key.get(1..).unwrap_or_default();
        std::str::from_utf8(term)
            .map_err(|_| self.entries.lexicon.file().damaged(0, "a term is not text"))
    }

    /// Number of documents with the current term.
    pub fn doc_frequency(&self) -> u32 {
        self.entries.list.doc_frequency
    }

    /// Returns an error if the terms ended at corrupt bytes.
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
        let there = self.advance().ok()?;
        there.then(|| Some((self.term().ok()?.to_owned(), self.doc_frequency())))?
    }
}
