//! Writes the lexicon: entries in key order, one shard at a time.
//!
//! **Invariant.** At most one shard is in memory: 2¹⁵ keys, or 4 MiB of keys and one more. In addition the
//! directory takes about 2 KiB for each earlier shard.

use super::block::{KeysWriter, MORE, STEM_MAX};
use super::key::{Prefix, long_beginning};
use super::shard::{Bucket, EIGHTHS, Sizes};
use super::{BLOCK_KEYS, SHARD_KEYS, lists};
use crate::IndexError;
use crate::file::envelope::{FileWriter, Stamp};
use crate::file::fixed;
use crate::postings::List;
use codes::fsst::{Encoder, SymbolTable};
use codes::function::{self, BUCKET_KEYS};
use codes::vbyte;

/// A shard is written when its keys have more bytes than this.
const SHARD_BYTES: usize = 4 << 20;
/// Bytes of keys that the symbol table is trained on.
const SAMPLE_BYTES: usize = 1 << 15;
/// Signature bits of the function: one in four unknown keys is compared in a block.
const SIGNATURE: u32 = 2;

/// Cost of a key that lacks much of the stem, in half bytes.
const FAR: usize = 6;

pub(crate) struct LexiconWriter {
    file: FileWriter,
    shard: Shard,
    directory: Vec<u8>,
    /// Last key of the previous shard.
    last_key: Vec<u8>,
    count: u64,
}

/// The entries that are not written yet.
#[derive(Default)]
struct Shard {
    /// All keys, concatenated, and the end of each.
    keys: Vec<u8>,
    ends: Vec<usize>,
    /// Bytes that each key shares with the previous one; after [`Shard::choose_stems`], with the stem of its
    /// block.
    shared: Vec<usize>,
    /// Lists of the current block.
    block: Vec<List>,
    /// Data of the lists of earlier blocks, and the end of each block in it.
    lists: Vec<u8>,
    block_ends: Vec<usize>,
    /// Start of the lists of each bucket.
    begins: Vec<[u64; 4]>,
    /// Common prefix of each bucket.
    prefixes: Vec<Prefix>,
    /// The stem of each block: the index of a key, and the length of its beginning.
    stems: Vec<(usize, usize)>,
}

impl Shard {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn key(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.keys[start..self.ends[at]]
    }

    /// The part of a key after the stem of its block.
    fn rest(&self, at: usize) -> &[u8] {
        &self.key(at)[self.shared[at]..]
    }

    fn push(&mut self, key: &[u8], list: &List) {
        let before = self.len().checked_sub(1).map_or(&[][..], |before| self.key(before));
        self.shared.push(before.iter().zip(key).take_while(|(a, b)| a == b).count());
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len());
        self.block.push(*list);
        if self.block.len() == BLOCK_KEYS {
            self.end_block();
        }
    }

    /// Writes the list data of the current block.
    fn end_block(&mut self) {
        if self.block_ends.len().is_multiple_of(BUCKET_KEYS / BLOCK_KEYS) {
            self.begins.extend(self.block.first().map(lists::starts));
        }
        let begins = self.begins.last().copied().unwrap_or_default();
        lists::write(&self.block, begins, &mut self.lists);
        self.block_ends.push(self.lists.len());
        self.block.clear();
    }

    /// Chooses the common prefixes of buckets and the stems of blocks.
    fn choose_stems(&mut self) {
        for first in (0..self.len()).step_by(BUCKET_KEYS) {
            let end = self.len().min(first + BUCKET_KEYS);
            let prefix = Prefix::of_all(self.key(first), self.key(end - 1));
            self.prefixes.push(prefix);
            for first in (first..end).step_by(BLOCK_KEYS) {
                let block = first..end.min(first + BLOCK_KEYS);
                let (key, stem_end) = stem(&mut self.shared[block], prefix.len());
                self.stems.push((first + key, stem_end));
            }
        }
    }

    /// Trains the symbol table on a sample of its keys.
    fn symbols(&self) -> SymbolTable {
        let bytes: usize = (0..self.len()).map(|at| self.rest(at).len()).sum();
        // Odd, so that not only first keys of blocks are sampled.
        let step = (bytes / SAMPLE_BYTES) | 1;
        let sample: Vec<&[u8]> = (0..self.len()).step_by(step).map(|at| self.rest(at)).collect();
        SymbolTable::train(&sample)
    }

    /// Length of the common prefix of all keys.
    fn common(&self) -> usize {
        let (first, last) = (self.key(0), self.key(self.len() - 1));
        first.iter().zip(last).take_while(|(a, b)| a == b).count()
    }

    /// The table of buckets. `starts` are the starts of the blocks, and `common` is the length of the common
    /// prefix.
    fn buckets(&self, starts: &[usize], common: usize) -> Vec<Bucket> {
        let bucket = |(number, &begins): (usize, _)| Bucket {
            beginning: long_beginning(&self.key(number * BUCKET_KEYS)[common..]),
            prefix: self.prefixes[number].len(),
            eighths: self.eighths(number),
            base: starts[number * BUCKET_KEYS / BLOCK_KEYS],
            begins,
        };
        self.begins.iter().enumerate().map(bucket).collect()
    }

    /// For each eighth of a bucket but the first, the two bytes of its first key after the bucket's prefix;
    /// `u16::MAX` for a missing eighth.
    fn eighths(&self, bucket: usize) -> [u16; EIGHTHS - 1] {
        let (first, prefix) = (bucket * BUCKET_KEYS, self.prefixes[bucket].len());
        std::array::from_fn(|before| {
            let at = first + (before + 1) * (BUCKET_KEYS / EIGHTHS);
            if at >= self.len() {
                return u16::MAX;
            }
            let rest = self.key(at)[prefix..].iter().copied().chain([0, 0]);
            rest.take(2).fold(0, |two, byte| two << 8 | u16::from(byte))
        })
    }

    /// The encoded blocks, and the start of each.
    fn blocks(&self, symbols: &SymbolTable) -> (Vec<u8>, Vec<usize>) {
        let encoder = Encoder::new(symbols);
        let (mut blocks, mut starts) = (Vec::new(), Vec::new());
        let mut keys = KeysWriter::default();
        let mut list_start = 0;
        let stems = self.stems.iter().zip(&self.block_ends);
        for (number, (&(of, stem_end), &list_end)) in stems.enumerate() {
            let first = number * BLOCK_KEYS;
            for at in first..self.len().min(first + BLOCK_KEYS) {
                keys.push(stem_end - self.shared[at], self.rest(at), &encoder);
            }
            starts.push(blocks.len());
            let prefix = self.prefixes[first / BUCKET_KEYS].len();
            keys.finish(&self.key(of)[prefix..stem_end], &mut blocks);
            blocks.extend_from_slice(&self.lists[list_start..list_end]);
            list_start = list_end;
        }
        (blocks, starts)
    }
}

/// Chooses the stem of a block. Returns the index of a key and the length of its beginning. On entry `shared` has
/// the bytes that each key shares with the previous one; on return, with the stem. All keys share `prefix` bytes.
///
/// A candidate stem is the longest beginning of a key that another key shares. The best one has the greatest gain:
/// a byte of the stem costs about as much as two in codes, and a key that lacks much of the stem costs another
/// number and some time.
fn stem(shared: &mut [usize], prefix: usize) -> (usize, usize) {
    let most = prefix + STEM_MAX;
    let end_of = |key: usize| {
        let behind = shared.get(key + 1).copied().unwrap_or(0);
        let before = if key == 0 { 0 } else { shared[key] };
        before.max(behind).clamp(prefix, most)
    };
    let with = |key: usize| {
        let mut each = [0; BLOCK_KEYS];
        let (mut common, end) = (end_of(key), end_of(key));
        each[key] = end;
        for other in key + 1..shared.len() {
            common = common.min(shared[other]);
            each[other] = common;
        }
        common = end;
        for other in (0..key).rev() {
            common = common.min(shared[other + 1]);
            each[other] = common;
        }
        (each, end)
    };
    let gain = |each: &[usize; BLOCK_KEYS], end: usize| {
        let far = each[..shared.len()].iter().filter(|&&own| end - own >= MORE).count();
        each.iter().sum::<usize>().saturating_sub(2 * end + FAR * far)
    };
    let mut best = (0, with(0));
    for key in 1..shared.len() {
        let (each, end) = with(key);
        if gain(&each, end) > gain(&best.1.0, best.1.1) {
            best = (key, (each, end));
        }
    }
    let (key, (each, end)) = best;
    shared.copy_from_slice(&each[..shared.len()]);
    (key, end)
}

impl LexiconWriter {
    pub(crate) fn new(file: FileWriter) -> LexiconWriter {
        LexiconWriter {
            file,
            shard: Shard::default(),
            directory: Vec::new(),
            last_key: Vec::new(),
            count: 0,
        }
    }

    /// Number of entries so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Adds an entry. Its key must be greater than the last one.
    pub(crate) fn push(&mut self, key: &[u8], list: &List) -> Result<(), IndexError> {
        if self.shard.len() == SHARD_KEYS || self.shard.keys.len() > SHARD_BYTES {
            self.write_shard()?;
        }
        let last = self.shard.len().checked_sub(1).map(|last| self.shard.key(last));
        assert!(self.count == 0 || last.unwrap_or(&self.last_key) < key, "keys ascend");
        self.shard.push(key, list);
        self.count += 1;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Stamp, IndexError> {
        if self.shard.len() > 0 {
            self.write_shard()?;
        }
        self.file.write(&self.directory)?;
        self.file.write(&(self.directory.len() as u64).to_le_bytes())?;
        self.file.finish()
    }

    fn write_shard(&mut self) -> Result<(), IndexError> {
        let mut shard = std::mem::take(&mut self.shard);
        if !shard.block.is_empty() {
            shard.end_block();
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(shard.key(shard.len() - 1));
        shard.choose_stems();
        let symbols = shard.symbols();
        let (mut bytes, starts) = shard.blocks(&symbols);
        let (block_bytes, common) = (bytes.len(), shard.common());
        let buckets = shard.buckets(&starts, common);
        Bucket::write_all(&buckets, block_bytes, &mut bytes);
        let bases = buckets.iter().flat_map(|row| [row.base; BUCKET_KEYS / BLOCK_KEYS]);
        let starts: Vec<u64> =
            starts.iter().zip(bases).map(|(start, base)| (start - base) as u64).collect();
        let start_width = fixed::width(starts.iter().copied().max().unwrap_or(0));
        for start in starts {
            fixed::put(&mut bytes, start, start_width);
        }
        self.file.write(&bytes)?;
        let place = |at: usize| (at % BUCKET_KEYS) as u64;
        let pairs = (0..shard.len()).map(|at| (shard.key(at), place(at)));
        let function = function::build_ordered(SIGNATURE, pairs)
            .map_err(|source| IndexError::Function { source })?;
        self.file.write(&function)?;
        let (keys, function_bytes) = (shard.len(), function.len());
        Sizes { keys, block_bytes, function_bytes, start_width, common }.write(&mut self.directory);
        vbyte::write(&mut self.directory, shard.key(0).len() as u64);
        self.directory.extend_from_slice(shard.key(0));
        symbols.save(&mut self.directory);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    fn common(a: &[u8], b: &[u8]) -> usize {
        a.iter().zip(b).take_while(|(a, b)| a == b).count()
    }

    /// The eighths are used for prefetching only, so no other test would notice an error.
    #[test]
    fn eighths_are_two_bytes_after_the_bucket_prefix() {
        let mut shard = Shard::default();
        for number in 0..600 {
            shard.push(format!("body{number:05}").as_bytes(), &List::default());
        }
        shard.choose_stems();
        let of = |texts: [&[u8; 2]; EIGHTHS - 1]| texts.map(|two| u16::from_be_bytes(*two));
        assert_eq!(shard.eighths(0), of([b"06", b"12", b"19", b"25", b"32", b"38", b"44"]));
        let none = &[u8::MAX; 2];
        assert_eq!(shard.eighths(1), of([b"76", none, none, none, none, none, none]));
    }

    proptest! {
        /// Compares with the keys.
        #[test]
        fn the_stem_and_shared_lengths_match_the_keys(
            keys in btree_set("(x{250,260})?[ab]{0,9}", 1..=BLOCK_KEYS),
        ) {
            let keys: Vec<Vec<u8>> = keys.into_iter().map(String::into_bytes).collect();
            let prefix = Prefix::of_all(&keys[0], &keys[keys.len() - 1]).len();
            // The first number is ignored.
            let mut shared = vec![9999];
            shared.extend(keys.array_windows().map(|[before, key]| common(before, key)));
            let (of, end) = stem(&mut shared, prefix);
            let shared_of = |of: usize, end: usize| -> Vec<usize> {
                keys.iter().map(|key| common(key, &keys[of]).min(end)).collect()
            };
            prop_assert_eq!(&shared, &shared_of(of, end));
            let alone = |end: usize| shared_of(of, end + 1).iter().filter(|&&n| n > end).count() < 2;
            prop_assert!(prefix <= end && (alone(end) || end == prefix + STEM_MAX));
            prop_assert!(end == prefix || !alone(end - 1));
        }
    }
}
