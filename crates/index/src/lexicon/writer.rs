//! Writes the lexicon: entries in the order of their keys, a shard at a time.
//!
//! **Invariant.** No more than one shard is in memory, 2¹⁵ keys or 4 MiB of them and one more, besides
//! what the directory says of those before: some 2 KiB a shard.

use super::{BLOCK_KEYS, SHARD_KEYS, block};
use crate::envelope::{FileWriter, Stamp};
use crate::postings::{Extents, List};
use crate::{IndexError, fixed};
use codes::function::{self, Scheme};
use codes::symbols::{Encoder, SymbolTable};
use codes::vbyte;

/// A shard is written when its keys are longer than this together.
const SHARD_BYTES: usize = 4 << 20;
/// How much of a shard its table of symbols is made from.
const SAMPLE_BYTES: usize = 1 << 15;
/// Bits of the signature of the function: of keys that are not there one in eight is looked for.
const SIGNATURE: u32 = 3;

/// Writes the entries in the order of their keys.
pub(crate) struct LexiconWriter {
    file: FileWriter,
    shard: Shard,
    directory: Vec<u8>,
    /// The last key of the shard before.
    last_key: Vec<u8>,
    count: u64,
}

/// The entries that are not written yet.
#[derive(Default)]
struct Shard {
    /// All keys, one after the other, and where each ends.
    keys: Vec<u8>,
    ends: Vec<usize>,
    /// How many bytes of each key are those of the one before in its block.
    shared: Vec<usize>,
    /// What is known of the lists, and where each block of it ends.
    lists: Vec<u8>,
    block_ends: Vec<usize>,
}

impl Shard {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn key(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.keys[start..self.ends[at]]
    }

    /// What of a key is not in the one before.
    fn rest(&self, at: usize) -> &[u8] {
        &self.key(at)[self.shared[at]..]
    }

    fn push(&mut self, key: &[u8], list: &List) {
        let at = self.len();
        let is_head = at.is_multiple_of(BLOCK_KEYS);
        let shared = if is_head {
            0
        } else {
            self.key(at - 1).iter().zip(key).take_while(|(a, b)| a == b).count()
        };
        self.shared.push(shared);
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len());
        if is_head {
            self.block_ends.push(self.lists.len());
            let Extents { docs, freqs, positions, skips } = list.extents;
            for extent in [docs, freqs, positions, skips] {
                vbyte::write(&mut self.lists, extent.start);
            }
        }
        block::write_list(list, &mut self.lists);
        if let Some(end) = self.block_ends.last_mut() {
            *end = self.lists.len();
        }
    }

    /// The symbols for its keys, from keys here and there.
    fn symbols(&self) -> SymbolTable {
        let bytes: usize = (0..self.len()).map(|at| self.rest(at).len()).sum();
        // Odd, so that it does not keep to the first keys of blocks.
        let step = (bytes / SAMPLE_BYTES) | 1;
        let sample: Vec<&[u8]> = (0..self.len()).step_by(step).map(|at| self.rest(at)).collect();
        SymbolTable::train(&sample)
    }

    /// The blocks, one after the other, and where each begins.
    fn blocks(&self, symbols: &SymbolTable) -> (Vec<u8>, Vec<u64>) {
        let encoder = Encoder::new(symbols);
        let (mut blocks, mut starts, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        let mut list_start = 0;
        for (number, &list_end) in self.block_ends.iter().enumerate() {
            let first = number * BLOCK_KEYS;
            keys.clear();
            block::write_head(self.key(first), &encoder, &mut keys);
            for at in first + 1..self.len().min(first + BLOCK_KEYS) {
                block::write_rest(self.shared[at], self.rest(at), &encoder, &mut keys);
            }
            starts.push(blocks.len() as u64);
            vbyte::write(&mut blocks, keys.len() as u64);
            blocks.extend_from_slice(&keys);
            blocks.extend_from_slice(&self.lists[list_start..list_end]);
            list_start = list_end;
        }
        (blocks, starts)
    }
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

    /// How many entries there are so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Adds an entry whose key is greater than the last one.
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
        let shard = std::mem::take(&mut self.shard);
        self.last_key.clear();
        self.last_key.extend_from_slice(shard.key(shard.len() - 1));
        let symbols = shard.symbols();
        let (mut bytes, starts) = shard.blocks(&symbols);
        let block_bytes = bytes.len() as u64;
        for start in starts {
            fixed::put(&mut bytes, start, fixed::width(block_bytes));
        }
        self.file.write(&bytes)?;
        let pairs = (0..shard.len()).map(|at| (shard.key(at), (at / BLOCK_KEYS) as u64));
        let function = function::build(Scheme::Gauss4, SIGNATURE, pairs)
            .map_err(|source| IndexError::Function { source })?;
        self.file.write(&function)?;
        for n in [shard.len() as u64, block_bytes, function.len() as u64] {
            vbyte::write(&mut self.directory, n);
        }
        vbyte::write(&mut self.directory, shard.key(0).len() as u64);
        self.directory.extend_from_slice(shard.key(0));
        symbols.save(&mut self.directory);
        Ok(())
    }
}
