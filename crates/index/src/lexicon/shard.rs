//! A shard of the lexicon: where the parts of it lie that a key leads through.
//!
//! What lives here: [`Shard`], what the directory says of it, and the way from a key to the one place where it may be:
//! by a short search to the bucket of 512 keys, by the function to one of them. What does not: what is in a block
//! (`block.rs`).
//!
//! **Invariant.** Every byte handed out was verified. What the bytes say leads to a place in the shard, or to an
//! error.

use super::block::{self, Broken};
use super::key::{Ascending, Prefix, beginning, long_beginning};
use super::{BLOCK_KEYS, SHARD_KEYS, read_bytes};
use crate::mapped::MappedFile;
use crate::{IndexError, fixed};
use codes::function::{BUCKET_KEYS, OrderedFunction, Probe};
use codes::symbols::{Needle, SymbolTable};
use codes::vbyte;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// How many blocks a bucket has.
const BUCKET_BLOCKS: usize = BUCKET_KEYS / BLOCK_KEYS;
/// Bytes of the beginning of a bucket's first key.
const BEGINNING_BYTES: usize = 16;
/// The most bytes of where a block begins in its bucket: two of these are read at once.
const START_MAX: usize = 4;
/// Bytes of a page of memory.
const PAGE_BYTES: usize = 4096;
/// Bytes of where the lists of a bucket begin, in four streams.
const BEGINS_BYTES: usize = 32;
/// Parts of a bucket of as many blocks each.
pub(super) const EIGHTHS: usize = 8;
/// Two bytes of each part but the first.
const EIGHTHS_BYTES: usize = 2 * (EIGHTHS - 1);
/// Lines of memory that one of eight parts mostly lies in, and some on both sides: where it begins is a guess.
const LINES: usize = 10;
const LINE_BYTES: usize = 64;

/// What the directory says of a shard, and its buckets and its function once they were asked for.
#[derive(Debug)]
pub(super) struct Shard {
    pub(super) keys: usize,
    pub(super) first_key: Vec<u8>,
    pub(super) symbols: SymbolTable,
    /// The number of its first block in the lexicon.
    pub(super) first_block: usize,
    /// How many bytes all its keys have in common at their beginning.
    common: usize,
    /// Bytes of where a block begins in its bucket.
    start_width: usize,
    /// Where its parts lie in the payload.
    pub(super) blocks: Range<usize>,
    buckets: Range<usize>,
    function: Range<usize>,
    tables: OnceLock<Tables>,
    opened: OnceLock<OrderedFunction<Part>>,
}

/// What is read of a shard when one of its blocks is first looked for.
#[derive(Debug)]
pub(super) struct Tables {
    /// The beginning of the first key of each bucket, behind what all keys of the shard begin with.
    beginnings: Ascending,
    /// Each bucket, and one behind the last, which begins where all blocks end.
    buckets: Box<[Opening]>,
}

/// Where the blocks of a bucket begin in the payload, what all its keys begin with, and how its eighths go on but the first.
#[derive(Debug, Clone, Copy)]
struct Opening {
    base: usize,
    prefix: Prefix,
    eighths: [u16; EIGHTHS - 1],
}

/// What the directory says, and what the writer puts there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) keys: usize,
    pub(super) block_bytes: usize,
    pub(super) function_bytes: usize,
    pub(super) start_width: usize,
    pub(super) common: usize,
}

impl Sizes {
    pub(super) fn write(self, out: &mut Vec<u8>) {
        let Sizes { keys, block_bytes, function_bytes, start_width, common } = self;
        for n in [keys, block_bytes, function_bytes, start_width, common] {
            vbyte::write(out, n as u64);
        }
    }

    fn read(rest: &mut &[u8]) -> Option<Sizes> {
        let mut number = || usize::try_from(vbyte::read(rest)?).ok();
        let (keys, block_bytes, function_bytes) = (number()?, number()?, number()?);
        let (start_width, common) = (number()?, number()?);
        let is_sound = keys > 0 && keys <= SHARD_KEYS && start_width <= START_MAX;
        is_sound.then_some(Sizes { keys, block_bytes, function_bytes, start_width, common })
    }
}

/// A row of the table of buckets: the beginning of its first key, how many bytes of it all its keys have, the next two of the
/// first keys of its eighths, where its first block lies among the blocks, where its first list begins in each stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    pub(super) beginning: (u64, u64),
    pub(super) prefix: usize,
    pub(super) eighths: [u16; EIGHTHS - 1],
    pub(super) base: usize,
    pub(super) begins: [u64; 4],
}

impl Bucket {
    /// All rows: first all beginnings.
    pub(super) fn write_all(rows: &[Bucket], block_bytes: usize, out: &mut Vec<u8>) {
        for row in rows {
            let (upper, lower) = row.beginning;
            out.extend([upper, lower].map(u64::to_be_bytes).as_flattened());
        }
        for row in rows {
            fixed::put(out, row.prefix as u64, 1);
        }
        for eighth in rows.iter().flat_map(|row| row.eighths) {
            out.extend(eighth.to_le_bytes());
        }
        for row in rows {
            fixed::put(out, row.base as u64, fixed::width(block_bytes as u64));
        }
        for begin in rows.iter().flat_map(|row| row.begins) {
            out.extend_from_slice(&begin.to_le_bytes());
        }
    }
}

/// A part of a file that was verified.
#[derive(Debug, Clone)]
struct Part {
    file: Arc<MappedFile>,
    range: Range<usize>,
}

impl AsRef<[u8]> for Part {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self.file.verified_before(self.range.clone())
    }
}

/// A key on its way through a shard.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) shard: &'a Shard,
    tables: &'a Tables,
    function: &'a OrderedFunction<Part>,
    bucket: usize,
    probe: Probe,
}

/// Where a block lies, and how many keys it has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) shard: &'a Shard,
    /// Its number in the shard.
    pub(super) block: usize,
    /// What all keys of its bucket begin with.
    pub(super) prefix: Prefix,
    pub(super) bytes: &'a [u8],
}

impl Shard {
    /// Reads its entry in the directory; `behind` is where the shard before it ends.
    pub(super) fn read(rest: &mut &[u8], first_block: usize, behind: usize) -> Option<Shard> {
        let Sizes { keys, block_bytes, function_bytes, start_width, common } = Sizes::read(rest)?;
        let first_key = read_bytes(rest)?.to_vec();
        let symbols = SymbolTable::load(rest)?;
        if common > first_key.len() {
            return None;
        }
        let blocks = behind..behind.checked_add(block_bytes)?;
        let row =
            BEGINNING_BYTES + 1 + EIGHTHS_BYTES + BEGINS_BYTES + fixed::width(block_bytes as u64);
        let buckets = blocks.end..blocks.end.checked_add(keys.div_ceil(BUCKET_KEYS) * row)?;
        let function = buckets.end.checked_add(keys.div_ceil(BLOCK_KEYS) * start_width)?;
        Some(Shard {
            keys,
            first_key,
            symbols,
            first_block,
            common,
            start_width,
            blocks,
            buckets,
            function: function..function.checked_add(function_bytes)?,
            tables: OnceLock::new(),
            opened: OnceLock::new(),
        })
    }

    /// Where the starts of its blocks begin in the payload.
    fn starts(&self) -> usize {
        self.buckets.end
    }

    /// Where it ends in the payload.
    pub(super) fn end(&self) -> usize {
        self.function.end
    }

    pub(super) fn block_count(&self) -> usize {
        self.keys.div_ceil(BLOCK_KEYS)
    }

    /// How many keys one of its blocks has.
    pub(super) fn count(&self, block: usize) -> usize {
        BLOCK_KEYS.min(self.keys - block * BLOCK_KEYS)
    }

    /// The way of a key that is not less than the first: `None` if it cannot be one of its keys.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "what it hands on is many words, which would go through memory"
    )]
    pub(super) fn way(
        &self,
        file: &Arc<MappedFile>,
        key: Needle<'_>,
    ) -> Result<Option<Way<'_>>, IndexError> {
        let (tables, function) = (self.tables(file)?, self.opened(file)?);
        let Some(bucket) = self.bucket_of(file, &tables.beginnings, key)? else { return Ok(None) };
        let probe = function.probe(bucket, key);
        let way = Way { shard: self, tables, function, bucket, probe };
        way.prefetch_starts(file);
        Ok(Some(way))
    }

    /// The bucket that has a key, if any has it.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a step of a way on which what is at hand would go through memory at each call"
    )]
    fn bucket_of(
        &self,
        file: &MappedFile,
        beginnings: &Ascending,
        key: Needle<'_>,
    ) -> Result<Option<usize>, IndexError> {
        // A key that begins otherwise than all is none of these, and is found in no block.
        let wanted = |at: usize| key.eight(self.common.saturating_add(at));
        let (mut behind, is_alike) = beginnings.count_within(wanted(0), || wanted(8));
        if !is_alike {
            return Ok(behind.checked_sub(1));
        }
        // Where beginnings are equal the keys themselves decide.
        while let Some(bucket) = behind.checked_sub(1) {
            if beginnings.get(bucket) < (wanted(0), wanted(8))
                || self.head_order(file, bucket * BUCKET_BLOCKS, key)? != Ordering::Greater
            {
                return Ok(Some(bucket));
            }
            behind = bucket;
        }
        Ok(None)
    }

    /// How the first key of a block compares with `key`.
    fn head_order(
        &self,
        file: &MappedFile,
        block: usize,
        key: Needle<'_>,
    ) -> Result<Ordering, IndexError> {
        let mut head = Vec::new();
        self.head(file, block, &mut head)?;
        Ok(head.as_slice().cmp(key.as_bytes()))
    }

    /// Its buckets, verified with the starts of its blocks when they are first asked for.
    #[inline]
    fn tables(&self, file: &MappedFile) -> Result<&Tables, IndexError> {
        match self.tables.get() {
            Some(tables) => Ok(tables),
            None => self.read_tables(file),
        }
    }

    #[cold]
    fn read_tables(&self, file: &MappedFile) -> Result<&Tables, IndexError> {
        let bytes = file.bytes(self.buckets.start..self.function.start)?;
        let count = self.keys.div_ceil(BUCKET_KEYS);
        let buckets = (0..=count).map(|bucket| self.opening(bytes, bucket)).collect::<Option<_>>();
        let wrong = || file.damaged(self.buckets.start, "a row of the buckets is none");
        let beginnings = bytes.as_chunks::<BEGINNING_BYTES>().0.iter().take(count);
        let beginnings = Ascending::new(beginnings.map(|bytes| long_beginning(bytes)));
        let tables = Tables { beginnings, buckets: buckets.ok_or_else(wrong)? };
        Ok(self.tables.get_or_init(|| tables))
    }

    /// Its function, verified when it is first asked for.
    #[inline]
    fn opened(&self, file: &Arc<MappedFile>) -> Result<&OrderedFunction<Part>, IndexError> {
        match self.opened.get() {
            Some(opened) => Ok(opened),
            None => self.open(file),
        }
    }

    #[cold]
    fn open(&self, file: &Arc<MappedFile>) -> Result<&OrderedFunction<Part>, IndexError> {
        file.bytes(self.function.clone())?;
        let part = Part { file: Arc::clone(file), range: self.function.clone() };
        let function = OrderedFunction::open(part).ok();
        let function = function.filter(|function| function.len() == self.keys as u64);
        let wrong = || file.damaged(self.function.start, "not a function of the keys");
        let function = function.ok_or_else(wrong)?;
        Ok(self.opened.get_or_init(|| function))
    }

    /// What the tables say of a bucket; past the last one, where all blocks end.
    fn opening(&self, tables: &[u8], bucket: usize) -> Option<Opening> {
        let count = self.keys.div_ceil(BUCKET_KEYS);
        if bucket >= count {
            let (base, prefix) = (self.blocks.end, Prefix::default());
            return Some(Opening { base, prefix, eighths: [u16::MAX; EIGHTHS - 1] });
        }
        let width = fixed::width(self.blocks.len() as u64);
        let prefixes = count * BEGINNING_BYTES;
        let eighths = prefixes + count;
        let bases = eighths + count * EIGHTHS_BYTES;
        let base = fixed::get(tables, bases + bucket * width, width)?;
        let base = self.blocks.start.checked_add(usize::try_from(base).ok()?)?;
        if base > self.blocks.end {
            return None;
        }
        let own = tables.get(bucket * BEGINNING_BYTES..)?.first_chunk::<BEGINNING_BYTES>()?;
        let first = [&self.first_key[..self.common], own].concat();
        let prefix = usize::from(*tables.get(prefixes + bucket)?);
        let own = tables.get(eighths + bucket * EIGHTHS_BYTES..)?.as_chunks().0;
        let eighths = own.first_chunk()?.map(u16::from_le_bytes);
        Some(Opening { base, prefix: Prefix::new(beginning(&first), prefix)?, eighths })
    }

    /// Where a block begins in the payload; past the last one, where all end.
    pub(super) fn start(&self, file: &MappedFile, block: usize) -> Result<usize, IndexError> {
        if block >= self.block_count() {
            return Ok(self.blocks.end);
        }
        let bounds = self.bounds(self.tables(file)?, file, block);
        let at = self.starts() + block * self.start_width;
        let wrong = || file.damaged(at, "a block begins outside of its shard");
        bounds.map(|(bounds, _)| bounds.start).ok_or_else(wrong)
    }

    /// Where a block lies.
    pub(super) fn place<'a>(
        &'a self,
        file: &'a MappedFile,
        block: usize,
    ) -> Result<Place<'a>, IndexError> {
        self.place_by(self.tables(file)?, file, block)
    }

    /// The same where the tables are at hand.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "what it hands on is many words, which would go through memory"
    )]
    fn place_by<'a>(
        &'a self,
        tables: &Tables,
        file: &'a MappedFile,
        block: usize,
    ) -> Result<Place<'a>, IndexError> {
        let Some((bounds, prefix)) = self.bounds(tables, file, block) else {
            let at = self.starts() + block * self.start_width;
            return Err(file.damaged(at, "a block begins outside of its shard"));
        };
        file.prefetch(bounds.clone());
        Ok(Place { shard: self, block, prefix, bytes: file.bytes(bounds)? })
    }

    /// Where a block lies in the payload, and what all keys of its bucket begin with.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a step of a way on which what is at hand would go through memory at each call"
    )]
    fn bounds(
        &self,
        tables: &Tables,
        file: &MappedFile,
        block: usize,
    ) -> Option<(Range<usize>, Prefix)> {
        let bits = 8 * self.start_width;
        // Those of the block and of the next one, if that is of the same bucket.
        let both = file.eight_verified_before(self.starts() + block * self.start_width);
        let mask = (1 << bits) - 1;
        let [own, next] = tables.buckets.get(block / BUCKET_BLOCKS..)?.first_chunk()?;
        let is_last = block + 1 == self.block_count() || (block + 1).is_multiple_of(BUCKET_BLOCKS);
        let start = own.base + usize::try_from(both & mask).ok()?;
        let end = own.base + usize::try_from(both >> bits & mask).ok()?;
        let end = if is_last { next.base } else { end };
        (end <= self.blocks.end).then_some((start..end, own.prefix))
    }

    /// Where the lists of a block's bucket begin in docs, freqs, positions and skips.
    pub(super) fn begins(&self, file: &MappedFile, block: usize) -> Result<[u64; 4], IndexError> {
        let from_end = self.keys.div_ceil(BUCKET_KEYS) - block / BUCKET_BLOCKS;
        let at = self.buckets.end - from_end * BEGINS_BYTES;
        let bytes = file.bytes(at..at + BEGINS_BYTES)?;
        Ok(std::array::from_fn(|stream| fixed::get(bytes, 8 * stream, 8).unwrap_or(0)))
    }

    /// How many bytes say where the lists of its buckets begin.
    pub(super) fn begins_bytes(&self) -> usize {
        self.keys.div_ceil(BUCKET_KEYS) * BEGINS_BYTES
    }

    /// The first key of a block.
    pub(super) fn head(
        &self,
        file: &MappedFile,
        block: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), IndexError> {
        let place = self.place(file, block)?;
        block::head(place.bytes, self.count(block), place.prefix, &self.symbols, out)
            .ok_or_else(|| self.broken(file, block))
    }

    pub(super) fn broken(&self, file: &MappedFile, block: usize) -> IndexError {
        let start = self.start(file, block).unwrap_or(self.starts());
        file.damaged(start, "not a block of the lexicon")
    }
}

impl<'a> Way<'a> {
    /// Asks for the memory of [`Way::key`].
    #[inline]
    pub(super) fn prefetch(&self) {
        self.function.prefetch(&self.probe);
    }

    /// Asks for where the blocks of the bucket begin, one of which is looked for next.
    #[inline]
    fn prefetch_starts(&self, file: &MappedFile) {
        let bytes = BUCKET_BLOCKS * self.shard.start_width;
        let first = self.shard.starts() + self.bucket * bytes;
        file.prefetch(first..first + bytes);
    }

    /// Asks for something on each of the pages that the blocks of the bucket mostly lie on: where these are in memory
    /// takes as long to find as what is there, and is known by the time that one of the blocks is wanted.
    #[inline]
    pub(super) fn prefetch_pages(&self, file: &MappedFile) {
        if let Some(Opening { base, .. }) = self.tables.buckets.get(self.bucket) {
            for at in [PAGE_BYTES / 2, PAGE_BYTES * 3 / 2] {
                file.prefetch_line(base + at);
            }
        }
    }

    /// Asks for the eighth of the bucket's blocks that would have the key, while the function is waited for, which says where
    /// it really is.
    #[inline]
    pub(super) fn prefetch_eighth(&self, file: &MappedFile, key: Needle<'_>) {
        let buckets = self.tables.buckets.get(self.bucket..);
        let Some(&[own, next]) = buckets.and_then(|buckets| buckets.first_chunk()) else { return };
        let two = key.eight(own.prefix.len()) >> 48;
        let before: usize =
            own.eighths.iter().map(|&first| usize::from(u64::from(first) < two)).sum();
        let from = own.base + next.base.saturating_sub(own.base) / EIGHTHS * before;
        for line in 0..LINES {
            file.prefetch_line((from + line * LINE_BYTES).saturating_sub(LINE_BYTES));
        }
    }

    /// Where the block lies that has the key at a place in the shard.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "what it hands on is many words, which would go through memory"
    )]
    pub(super) fn place(&self, file: &'a MappedFile, key: usize) -> Result<Place<'a>, IndexError> {
        self.shard.place_by(self.tables, file, key / BLOCK_KEYS)
    }

    /// The one place in the shard where the key may be.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a step of a way on which what is at hand would go through memory at each call"
    )]
    pub(super) fn key(&self) -> Option<usize> {
        let key = usize::try_from(self.function.value(&self.probe)?).ok()?;
        let key = key.checked_add(self.bucket * BUCKET_KEYS)?;
        // What is no key may lead anywhere.
        (key < self.shard.keys).then_some(key)
    }
}

impl<'a> Place<'a> {
    /// The lists of the block, if the key is the one at `place` in it.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a step of a way on which what is at hand would go through memory at each call"
    )]
    pub(super) fn lists_if_at(
        &self,
        place: usize,
        key: Needle<'_>,
    ) -> Result<Option<&'a [u8]>, Broken> {
        let symbols = &self.shard.symbols;
        block::lists_if_at(self.bytes, self.count(), self.prefix, symbols, key, place)
    }

    /// How many keys it has.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.shard.count(self.block)
    }
}
