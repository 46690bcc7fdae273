//! A shard of the lexicon: from a key to the one place where it may be.
//!
//! What lives here: [`Shard`], its directory entry, and the lookup: a short search for the bucket of 512 keys,
//! then the function. The contents of a block are in `block.rs`.
//!
//! **Invariant.** All returned bytes are verified. On corrupt bytes, a lookup returns a place in the shard or an
//! error.

use super::block::{self, Broken};
use super::key::{Ascending, Prefix, beginning, long_beginning};
use super::{BLOCK_KEYS, SHARD_KEYS, read_bytes};
use crate::IndexError;
use crate::file::fixed;
use crate::file::mapped::MappedFile;
use codes::fsst::{Needle, SymbolTable};
use codes::function::{BUCKET_KEYS, OrderedFunction, Probe};
use codes::vbyte;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Blocks per bucket.
const BUCKET_BLOCKS: usize = BUCKET_KEYS / BLOCK_KEYS;
/// Bytes of a bucket's beginning.
const BEGINNING_BYTES: usize = 16;
/// Largest width of a block's start: two of them are read at once.
const START_MAX: usize = 4;
/// Bytes of a memory page.
const PAGE_BYTES: usize = 4096;
/// Bytes of the starts of a bucket's lists in four streams.
const BEGINS_BYTES: usize = 32;
/// Parts of a bucket, with equally many blocks each.
pub(super) const EIGHTHS: usize = 8;
/// Two bytes for each part but the first.
const EIGHTHS_BYTES: usize = 2 * (EIGHTHS - 1);
/// Cache lines that usually cover an eighth, with a margin on both sides: its start is estimated.
const LINES: usize = 10;
const LINE_BYTES: usize = 64;

/// The directory entry of a shard. Its buckets and its function are loaded on first use.
#[derive(Debug)]
pub(super) struct Shard {
    pub(super) keys: usize,
    pub(super) first_key: Vec<u8>,
    pub(super) symbols: SymbolTable,
    /// Number of its first block in the lexicon.
    pub(super) first_block: usize,
    /// Length of the common prefix of its keys.
    common: usize,
    /// Bytes of a block's start in its bucket.
    start_width: usize,
    /// Its parts in the payload.
    pub(super) blocks: Range<usize>,
    buckets: Range<usize>,
    function: Range<usize>,
    tables: OnceLock<Tables>,
    opened: OnceLock<OrderedFunction<Part>>,
}

/// The tables of a shard, read on its first lookup.
#[derive(Debug)]
pub(super) struct Tables {
    /// Beginning of the first key of each bucket, after the common prefix of the shard.
    beginnings: Ascending,
    /// The buckets, and one after the last, which begins where all blocks end.
    buckets: Box<[Opening]>,
}

/// Start of a bucket's blocks in the payload, the common prefix of its keys, and the beginnings of its eighths but
/// the first.
#[derive(Debug, Clone, Copy)]
struct Opening {
    base: usize,
    prefix: Prefix,
    eighths: [u16; EIGHTHS - 1],
}

/// The fixed part of a directory entry.
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

/// A row of the table of buckets: the beginning of its first key, the length of its common prefix, and the
/// beginnings of its eighths; then the starts of its first block and of its first list in each stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    pub(super) beginning: (u64, u64),
    pub(super) prefix: usize,
    pub(super) eighths: [u16; EIGHTHS - 1],
    pub(super) base: usize,
    pub(super) begins: [u64; 4],
}

impl Bucket {
    /// Appends all rows, column by column.
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

/// A verified part of a file.
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

/// A lookup in progress: its bucket is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) shard: &'a Shard,
    tables: &'a Tables,
    function: &'a OrderedFunction<Part>,
    bucket: usize,
    probe: Probe,
}

/// Location of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) shard: &'a Shard,
    /// Its number in the shard.
    pub(super) block: usize,
    /// The common prefix of its bucket.
    pub(super) prefix: Prefix,
    pub(super) bytes: &'a [u8],
}

impl Shard {
    /// Reads its directory entry; `behind` is the end of the previous shard.
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

    /// Position of the starts of its blocks in the payload.
    fn starts(&self) -> usize {
        self.buckets.end
    }

    pub(super) fn end(&self) -> usize {
        self.function.end
    }

    pub(super) fn block_count(&self) -> usize {
        self.keys.div_ceil(BLOCK_KEYS)
    }

    /// Number of keys of a block.
    pub(super) fn count(&self, block: usize) -> usize {
        BLOCK_KEYS.min(self.keys - block * BLOCK_KEYS)
    }

    /// Starts a lookup of a key that is not less than the first. Returns `None` if the shard cannot contain it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would return its many words through memory")]
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

    /// The only bucket that may contain a key.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a hot step of a lookup: a call would spill registers to memory"
    )]
    fn bucket_of(
        &self,
        file: &MappedFile,
        beginnings: &Ascending,
        key: Needle<'_>,
    ) -> Result<Option<usize>, IndexError> {
        // A key without the common prefix is in none of the buckets. The comparison in the block rejects it.
        let wanted = |at: usize| key.eight(self.common.saturating_add(at));
        let (mut behind, is_alike) = beginnings.count_within(wanted(0), || wanted(8));
        if !is_alike {
            return Ok(behind.checked_sub(1));
        }
        // With equal beginnings, compare the keys.
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

    /// Compares the first key of a block with `key`.
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

    /// Its buckets, read on first use and verified together with the starts of its blocks.
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

    /// Its function, read and verified on first use.
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

    /// The entry of a bucket; after the last one, the end of all blocks.
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

    /// Start of a block in the payload; after the last one, the end of all blocks.
    pub(super) fn start(&self, file: &MappedFile, block: usize) -> Result<usize, IndexError> {
        if block >= self.block_count() {
            return Ok(self.blocks.end);
        }
        let bounds = self.bounds(self.tables(file)?, file, block);
        let at = self.starts() + block * self.start_width;
        let wrong = || file.damaged(at, "a block begins outside of its shard");
        bounds.map(|(bounds, _)| bounds.start).ok_or_else(wrong)
    }

    pub(super) fn place<'a>(
        &'a self,
        file: &'a MappedFile,
        block: usize,
    ) -> Result<Place<'a>, IndexError> {
        self.place_by(self.tables(file)?, file, block)
    }

    /// [`Shard::place`], given the tables.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would return its many words through memory")]
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

    /// Range of a block in the payload, and the common prefix of its bucket.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a hot step of a lookup: a call would spill registers to memory"
    )]
    fn bounds(
        &self,
        tables: &Tables,
        file: &MappedFile,
        block: usize,
    ) -> Option<(Range<usize>, Prefix)> {
        let bits = 8 * self.start_width;
        // The starts of the block and of the next one, if that is in the same bucket.
        let both = file.eight_verified_before(self.starts() + block * self.start_width);
        let mask = (1 << bits) - 1;
        let [own, next] = tables.buckets.get(block / BUCKET_BLOCKS..)?.first_chunk()?;
        let is_last = block + 1 == self.block_count() || (block + 1).is_multiple_of(BUCKET_BLOCKS);
        let start = own.base + usize::try_from(both & mask).ok()?;
        let end = own.base + usize::try_from(both >> bits & mask).ok()?;
        let end = if is_last { next.base } else { end };
        (end <= self.blocks.end).then_some((start..end, own.prefix))
    }

    /// Start of the lists of a block's bucket in docs, freqs, positions and skips.
    pub(super) fn begins(&self, file: &MappedFile, block: usize) -> Result<[u64; 4], IndexError> {
        let from_end = self.keys.div_ceil(BUCKET_KEYS) - block / BUCKET_BLOCKS;
        let at = self.buckets.end - from_end * BEGINS_BYTES;
        let bytes = file.bytes(at..at + BEGINS_BYTES)?;
        Ok(std::array::from_fn(|stream| fixed::get(bytes, 8 * stream, 8).unwrap_or(0)))
    }

    /// Bytes of the starts of its buckets' lists.
    pub(super) fn begins_bytes(&self) -> usize {
        self.keys.div_ceil(BUCKET_KEYS) * BEGINS_BYTES
    }

    /// Appends the first key of a block.
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
    /// Prefetches the memory that [`Way::key`] reads.
    #[inline]
    pub(super) fn prefetch(&self) {
        self.function.prefetch(&self.probe);
    }

    /// Prefetches the starts of the bucket's blocks, which are read next.
    #[inline]
    fn prefetch_starts(&self, file: &MappedFile) {
        let bytes = BUCKET_BLOCKS * self.shard.start_width;
        let first = self.shard.starts() + self.bucket * bytes;
        file.prefetch(first..first + bytes);
    }

    /// Prefetches one line on each page that the bucket's blocks usually span. A TLB miss takes as long as a cache
    /// miss; this way the translations are ready when a block is read.
    #[inline]
    pub(super) fn prefetch_pages(&self, file: &MappedFile) {
        if let Some(Opening { base, .. }) = self.tables.buckets.get(self.bucket) {
            for at in [PAGE_BYTES / 2, PAGE_BYTES * 3 / 2] {
                file.prefetch_line(base + at);
            }
        }
    }

    /// Prefetches the eighth of the bucket that should contain the key, while the function is being loaded. The
    /// function then gives the exact place.
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

    /// Location of the block of a key, given the key's place in the shard.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would return its many words through memory")]
    pub(super) fn place(&self, file: &'a MappedFile, key: usize) -> Result<Place<'a>, IndexError> {
        self.shard.place_by(self.tables, file, key / BLOCK_KEYS)
    }

    /// The one place in the shard where the key may be.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a hot step of a lookup: a call would spill registers to memory"
    )]
    pub(super) fn key(&self) -> Option<usize> {
        let key = usize::try_from(self.function.value(&self.probe)?).ok()?;
        let key = key.checked_add(self.bucket * BUCKET_KEYS)?;
        // The function may return anything for an unknown key.
        (key < self.shard.keys).then_some(key)
    }
}

impl<'a> Place<'a> {
    /// Returns the data of the block's lists if the key is the one at `place`.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a hot step of a lookup: a call would spill registers to memory"
    )]
    pub(super) fn lists_if_at(
        &self,
        place: usize,
        key: Needle<'_>,
    ) -> Result<Option<&'a [u8]>, Broken> {
        let symbols = &self.shard.symbols;
        block::lists_if_at(self.bytes, self.count(), self.prefix, symbols, key, place)
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.shard.count(self.block)
    }
}
