//! [`Run`]: an immutable file of sorted signatures, a part of Z.
//!
//! What lives here: writing a run, looking many sorted signatures up in it in one pass, and
//! merging runs. What does not: which runs there are and when they are merged; see `offline.rs`.
//!
//! A run is a header, blocks (see `block.rs`) and the block that ends it. The *fences* stay in
//! memory: the first signature and the offset of each block, sixteen bytes for 4096 signatures.
//! With them a small batch reads only the blocks that can matter. A large batch reads all blocks
//! once, in order.
//!
//! A fence is trusted until its block is read, and a false one would let a known key come out
//! again. So the block that ends the run has a checksum of the heads, which opening compares.
//!
//! **Invariant.** The signatures of a run ascend strictly, and it holds at least one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use crate::SieveError;
use crate::block::{self, Summary};
use crate::header::{self, Kind, damaged, io_failed, open_failed, read_failed};

/// A signature and where its key is, or [`Entry::SEEN`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) signature: u64,
    pub(crate) position: u64,
}

impl Entry {
    /// The position of a key that was found in a run.
    pub(crate) const SEEN: u64 = u64::MAX;
}

/// A sorted run of signatures on disk.
#[derive(Debug)]
pub(crate) struct Run {
    path: PathBuf,
    file: File,
    fences: Vec<Fence>,
    /// Where the block that ends the run begins.
    end: u64,
    summary: Summary,
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    first: u64,
    offset: u64,
}

impl Run {
    /// The run at `path`, which was finished and synced. Reads the head of each block; the rest is
    /// checked when it is needed.
    pub(crate) fn open(path: PathBuf) -> Result<Self, SieveError> {
        let file = File::open(&path).map_err(|error| open_failed(error, &path))?;
        let mut run =
            Run { path, file, fences: Vec::new(), end: header::LEN, summary: Summary::default() };
        let mut scratch = Scratch::default();
        loop {
            run.read_bytes(run.end, run.end + block::HEAD_BYTES as u64, &mut scratch)?;
            let bytes = *scratch.bytes.first_chunk().expect("as long as it was read");
            let head = block::Head::read(bytes);
            if head.count == 0 {
                break;
            }
            if head.block_bytes() > block::BYTES_MAX as u64 {
                return Err(damaged(&run.path, run.end, "a block too long to be one"));
            }
            run.fences.push(Fence { first: head.first, offset: run.end });
            run.end += head.block_bytes();
            run.summary.add(bytes);
        }
        if run.fences.is_empty() || !run.fences.is_sorted_by(|a, b| a.first < b.first) {
            return Err(damaged(&run.path, header::LEN, "the blocks are not in order"));
        }
        run.check_ends(&mut scratch)?;
        Ok(run)
    }

    /// Brings the run safely to disk.
    pub(crate) fn sync(&self) -> Result<(), SieveError> {
        self.file.sync_data().map_err(io_failed("sync", &self.path))
    }

    pub(crate) fn total(&self) -> u64 {
        self.summary.total
    }

    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    pub(crate) fn disk_bytes(&self) -> u64 {
        self.end + block::LAST_BYTES as u64
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.fences.capacity() * size_of::<Fence>()) as u64
    }

    /// Marks those of `entries`, sorted by signature, whose signature is in the run.
    pub(crate) fn mark_seen(
        &self,
        entries: &mut [Entry],
        scratch: &mut Scratch,
    ) -> Result<(), SieveError> {
        let before = entries.partition_point(|entry| entry.signature < self.fences[0].first);
        let mut rest = &mut entries[before..];
        while let Some(entry) = rest.first() {
            let after = self.fences.partition_point(|fence| fence.first <= entry.signature);
            let inside = match self.fences.get(after) {
                Some(next) => rest.partition_point(|entry| entry.signature < next.first),
                None => rest.len(),
            };
            let (inside, later) = rest.split_at_mut(inside);
            self.read_block(after - 1, scratch)?;
            mark_common(inside, &scratch.signatures);
            rest = later;
        }
        Ok(())
    }

    /// Reads block `at` and checks it against itself and the fences on both sides.
    fn read_block(&self, at: usize, scratch: &mut Scratch) -> Result<(), SieveError> {
        let Fence { first, offset } = self.fences[at];
        let next = self.fences.get(at + 1);
        self.read_bytes(offset, next.map_or(self.end, |next| next.offset), scratch)?;
        block::decode(&scratch.bytes, &mut scratch.signatures)
            .map_err(|what| damaged(&self.path, offset, what))?;
        let in_order = next.is_none_or(|next| scratch.signatures.last() < Some(&next.first));
        if scratch.signatures[0] != first || !in_order {
            return Err(damaged(&self.path, offset, "the block is not the one written here"));
        }
        Ok(())
    }

    /// Checks what is not a block of signatures: both ends of the file.
    fn check_ends(&self, scratch: &mut Scratch) -> Result<(), SieveError> {
        self.read_bytes(0, header::LEN, scratch)?;
        header::check(&mut scratch.bytes.as_slice(), Kind::Seen, &self.path)?;
        self.read_bytes(self.end, self.disk_bytes(), scratch)?;
        block::check_last(&scratch.bytes, &self.summary)
            .map_err(|what| damaged(&self.path, self.end, what))
    }

    fn read_bytes(&self, start: u64, end: u64, scratch: &mut Scratch) -> Result<(), SieveError> {
        let len = usize::try_from(end - start).expect("a block fits in memory");
        scratch.bytes.resize(len, 0);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(start))
            .and_then(|_| file.read_exact(&mut scratch.bytes))
            .map_err(|error| read_failed(error, &self.path, start))
    }
}

/// One block: its bytes and its signatures. Reused, so that reading a run allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    bytes: Vec<u8>,
    signatures: Vec<u64>,
}

/// Marks the entries whose signature is among `signatures`; both ascend.
fn mark_common(entries: &mut [Entry], mut signatures: &[u64]) {
    for entry in entries {
        signatures = &signatures[count_smaller(signatures, entry.signature)..];
        if signatures.first() == Some(&entry.signature) {
            entry.position = Entry::SEEN;
        }
    }
}

/// How many of `signatures`, which ascend, are smaller than `signature`. Steps that double find a
/// near place quickly and a far one not much more slowly.
fn count_smaller(signatures: &[u64], signature: u64) -> usize {
    let (mut start, mut step) = (0, 1);
    while signatures.get(start + step - 1).is_some_and(|&at| at < signature) {
        start += step;
        step *= 2;
    }
    let end = signatures.len().min(start + step - 1);
    start + signatures[start..end].partition_point(|&at| at < signature)
}

/// Writes a run from signatures in strictly ascending order.
#[derive(Debug)]
pub(crate) struct RunWriter {
    path: PathBuf,
    out: BufWriter<File>,
    block: Vec<u64>,
    bytes: Vec<u8>,
    fences: Vec<Fence>,
    end: u64,
    summary: Summary,
}

impl RunWriter {
    /// An empty run; what was at `path` is gone.
    pub(crate) fn create(path: PathBuf) -> Result<Self, SieveError> {
        let file = header::create(Kind::Seen, &path)?;
        let out = BufWriter::with_capacity(2 * block::BYTES_MAX, file);
        let (block, bytes, fences) = (Vec::new(), Vec::new(), Vec::new());
        let summary = Summary::default();
        Ok(Self { path, out, block, bytes, fences, end: header::LEN, summary })
    }

    pub(crate) fn push(&mut self, signature: u64) -> Result<(), SieveError> {
        if self.block.len() == block::SIGNATURES_MAX {
            self.write_block()?;
        }
        self.block.push(signature);
        Ok(())
    }

    /// Ends the run, which must hold a signature.
    pub(crate) fn finish(mut self) -> Result<Run, SieveError> {
        self.write_block()?;
        self.bytes.clear();
        block::encode_last(&self.summary, &mut self.bytes);
        let Self { path, mut out, bytes, mut fences, end, summary, .. } = self;
        out.write_all(&bytes).map_err(io_failed("write", &path))?;
        let file =
            out.into_inner().map_err(|error| io_failed("write", &path)(error.into_error()))?;
        fences.shrink_to_fit();
        Ok(Run { path, file, fences, end, summary })
    }

    fn write_block(&mut self) -> Result<(), SieveError> {
        self.bytes.clear();
        block::encode(&self.block, &mut self.bytes);
        self.out.write_all(&self.bytes).map_err(io_failed("write", &self.path))?;
        self.fences.push(Fence { first: self.block[0], offset: self.end });
        self.end += self.bytes.len() as u64;
        self.summary.add(*self.bytes.first_chunk().expect("a block begins with its head"));
        self.block.clear();
        Ok(())
    }
}

/// Merges `runs`, of which no two hold the same signature, into one at `path`.
pub(crate) fn merge(runs: &[&Run], path: PathBuf) -> Result<Run, SieveError> {
    let mut out = RunWriter::create(path)?;
    let mut cursors = runs.iter().map(|run| Cursor::open(run)).collect::<Result<Vec<_>, _>>()?;
    let mut heads: BinaryHeap<_> =
        cursors.iter().enumerate().map(|(at, cursor)| Reverse((cursor.head(), at))).collect();
    let mut previous = None;
    while let Some(mut head) = heads.peek_mut() {
        let Reverse((signature, at)) = *head;
        let cursor = &mut cursors[at];
        if previous >= Some(signature) {
            return Err(damaged(&cursor.run.path, cursor.offset(), "a signature seen before"));
        }
        previous = Some(signature);
        out.push(signature)?;
        if cursor.advance()? {
            *head = Reverse((cursor.head(), at));
        } else {
            PeekMut::pop(head);
        }
    }
    out.finish()
}

/// A place in a run.
struct Cursor<'a> {
    run: &'a Run,
    block: usize,
    at: usize,
    scratch: Scratch,
}

impl<'a> Cursor<'a> {
    fn open(run: &'a Run) -> Result<Self, SieveError> {
        let mut scratch = Scratch::default();
        run.check_ends(&mut scratch)?;
        run.read_block(0, &mut scratch)?;
        Ok(Self { run, block: 0, at: 0, scratch })
    }

    fn head(&self) -> u64 {
        self.scratch.signatures[self.at]
    }

    fn offset(&self) -> u64 {
        self.run.fences[self.block].offset
    }

    /// Goes to the next signature; false at the end of the run.
    fn advance(&mut self) -> Result<bool, SieveError> {
        self.at += 1;
        if self.at < self.scratch.signatures.len() {
            return Ok(true);
        }
        self.at = 0;
        self.block += 1;
        if self.block == self.run.fences.len() {
            return Ok(false);
        }
        self.run.read_block(self.block, &mut self.scratch)?;
        Ok(true)
    }
}
