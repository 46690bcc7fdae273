//! The positions of one block of documents, in chunks that can be skipped.
//!
//! A chunk ends with the first document that brings it to 32 occurrences or more, or with the block. If a block
//! has several chunks, a header comes first: a vbyte 4 (*n* – 1) + *w* – 1 for *n* chunks, then the length of each
//! chunk but the last, in *w* bytes. The width *w* is the least that holds the greatest length.
//!
//! The numbers of a chunk are the distances of occurrences in a document (from 0), as one run under the code of
//! the stream. Under `golomb`, the run is coded by [`codes::rice`], with one parameter per document. The parameter
//! follows from the mean distance of randomly placed occurrences, which is length over frequency (the local
//! Bernoulli model). Both are known.
//!
//! **Invariant.** Reading the positions of a document decodes at most its chunk, which has at most 31 occurrences
//! before its last document. Under `golomb` it decodes the chunk only up to the document. On any bytes: no panic,
//! and at most 1 KiB of memory per byte.
//! Reference: I. H. Witten, A. Moffat, T. C. Bell, *Managing Gigabytes*, 1999, section 3.3.

use super::code::{BLOCK, Coder, StreamCode};
use crate::file::fixed;
use codes::{rice, vbyte};
use std::ops::Range;

/// A chunk is complete when it has this many occurrences.
const CHUNK: u64 = 32;

/// Upper bound of the numbers coded in one byte, over all codes.
const NUMBERS_A_BYTE_MAX: usize = 256;

/// The data of a document that its chunk depends on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// The frequency, less one.
    pub(crate) tf_minus_one: u32,
    /// Number of terms of its field.
    pub(crate) length: u32,
}

impl Place {
    fn parameter(self) -> u32 {
        rice::parameter(self.length, self.tf_minus_one.saturating_add(1))
    }
}

/// The end of the chunk that begins with document `first`. `tf_minus_one` is the frequency of each document, less one.
#[inline]
fn chunk_end(tf_minus_one: impl Iterator<Item = u32>, first: usize) -> usize {
    let (mut occurrences, mut end) = (0, first);
    for tf_minus_one in tf_minus_one.skip(first) {
        occurrences += u64::from(tf_minus_one) + 1;
        end += 1;
        if occurrences >= CHUNK {
            break;
        }
    }
    end
}

/// Writes the positions of blocks. Its buffers are reused.
#[derive(Debug, Default)]
pub(crate) struct ChunksWriter {
    lengths: Vec<u64>,
    runs: Vec<u8>,
    /// Under `golomb`: the parameter of each number of the block.
    parameters: Vec<u8>,
}

impl ChunksWriter {
    /// Appends the positions of a block; `deltas` are the distances of all its documents.
    pub(crate) fn write(
        &mut self,
        code: StreamCode,
        places: &[Place],
        deltas: &[u32],
        out: &mut Vec<u8>,
    ) {
        if code == StreamCode::Golomb {
            self.spread_parameters(places, deltas.len());
        }
        let Self { lengths, runs, parameters } = self;
        if (deltas.len() as u64) < CHUNK {
            let own = parameters.get(..deltas.len()).unwrap_or(&[]);
            return write_run(code, own, deltas, out);
        }
        lengths.clear();
        runs.clear();
        let (mut start, mut end) = (0, 0);
        for (number, place) in (1..).zip(places) {
            end += place.tf_minus_one as usize + 1;
            if ((end - start) as u64) < CHUNK && number < places.len() {
                continue;
            }
            let before = runs.len();
            let own = parameters.get(start..end).unwrap_or(&[]);
            write_run(code, own, &deltas[start..end], runs);
            lengths.push((runs.len() - before) as u64);
            start = end;
        }
        lengths.pop();
        if !lengths.is_empty() {
            let greatest = lengths.iter().copied().max().unwrap_or(0);
            let width = fixed::width(greatest).max(1);
            assert!(width <= 4, "a chunk of {greatest} bytes");
            vbyte::write(out, (4 * lengths.len() + width - 1) as u64);
            for &length in &*lengths {
                fixed::put(out, length, width);
            }
        }
        out.extend_from_slice(runs);
    }

    /// Computes the parameter of each of the `count` numbers of a block.
    fn spread_parameters(&mut self, places: &[Place], count: usize) {
        let mut of_places = [0; BLOCK];
        rice::parameters(
            places,
            |place| (place.length, place.tf_minus_one.saturating_add(1)),
            &mut of_places,
        );
        // Old contents are overwritten.
        let parameters = &mut self.parameters;
        parameters.resize(count + SPREAD, 0);
        let mut at = 0;
        for (place, &k) in places.iter().zip(&of_places) {
            let end = at + place.tf_minus_one as usize + 1;
            parameters[at..at + SPREAD].fill(k);
            if place.tf_minus_one as usize >= SPREAD {
                parameters[at + SPREAD..end].fill(k);
            }
            at = end;
        }
    }
}

/// Number of parameters written at once; enough for most documents.
const SPREAD: usize = 16;

fn write_run(code: StreamCode, parameters: &[u8], numbers: &[u32], out: &mut Vec<u8>) {
    if code != StreamCode::Golomb {
        return Coder::of_positions(code).write(numbers, out);
    }
    let mut writer = rice::Writer::new(out);
    writer.write_each(numbers, parameters);
    writer.finish();
}

/// Reads the positions of documents of a block, in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunks<'a> {
    /// Lengths of the chunks, from the current one on, and the bytes of each length.
    lengths: &'a [u8],
    width: usize,
    /// Bytes from the current chunk on.
    rest: &'a [u8],
    /// The documents of the current chunk.
    docs: Range<usize>,
    /// The next document to read.
    next: usize,
    /// Under `golomb`: positioned before the numbers of `next`.
    reader: rice::Reader<'a>,
    /// Under other codes: all numbers, and where those of `next` begin.
    numbers: Vec<u32>,
    offset: usize,
}

impl<'a> Chunks<'a> {
    /// Starts before the first document of the block at the start of `bytes`. `tf_minus_one` is the frequency of each
    /// document, less one. Returns `None` if the bytes are invalid.
    pub(super) fn restart(
        &mut self,
        code: StreamCode,
        mut bytes: &'a [u8],
        tf_minus_one: &[u32],
    ) -> Option<()> {
        let end = chunk_end(tf_minus_one.iter().copied(), 0);
        self.lengths = &[];
        if end < tf_minus_one.len() {
            let header = usize::try_from(vbyte::read(&mut bytes)?).ok()?;
            self.width = header % 4 + 1;
            (self.lengths, bytes) = bytes.split_at_checked(header / 4 * self.width)?;
        }
        self.rest = bytes;
        self.docs = 0..end;
        self.open(code, tf_minus_one)
    }

    /// Returns whether document `at` of the block has not been passed yet.
    pub(super) fn is_ahead(&self, at: usize) -> bool {
        at >= self.next
    }

    /// Passes the numbers of document `at` to `visit`. `tf_minus_one` is the frequency of each document, less one, and
    /// `length` returns the number of terms of its field. Returns `None` if the bytes are invalid.
    #[inline]
    pub(super) fn read(
        &mut self,
        code: StreamCode,
        tf_minus_one: &[u32],
        length: impl Fn(usize) -> u32,
        at: usize,
        visit: impl FnMut(u32),
    ) -> Option<()> {
        if at >= self.docs.end {
            self.leap(code, tf_minus_one, at)?;
        }
        let count = *tf_minus_one.get(at)? as usize + 1;
        let passed = tf_minus_one.get(self.next..at)?;
        if code != StreamCode::Golomb {
            let start = self.offset
                + passed.iter().map(|&tf_minus_one| tf_minus_one as usize + 1).sum::<usize>();
            (self.next, self.offset) = (at + 1, start + count);
            let numbers = self.numbers.get(start..start + count)?;
            numbers.iter().copied().for_each(visit);
            return Some(());
        }
        for (at, &tf_minus_one) in (self.next..).zip(passed) {
            let parameter = Place { tf_minus_one, length: length(at) }.parameter();
            self.reader.each(parameter, tf_minus_one as usize + 1, |_| {});
            // Stop early if the input ends before these occurrences.
            self.reader.is_within().then_some(())?;
        }
        let parameter = Place { tf_minus_one: tf_minus_one[at], length: length(at) }.parameter();
        is_possible(count, self.reader.rest()).then_some(())?;
        self.reader.each(parameter, count, visit);
        self.next = at + 1;
        let is_sound = if self.next == self.docs.end {
            self.reader.clone().finish().is_some()
        } else {
            self.reader.is_within()
        };
        is_sound.then_some(())
    }

    /// Moves forward to the chunk with document `at`.
    fn leap(&mut self, code: StreamCode, tf_minus_one: &[u32], at: usize) -> Option<()> {
        let mut passed = 0;
        while at >= self.docs.end {
            let end = chunk_end(tf_minus_one.iter().copied(), self.docs.end);
            if end == self.docs.end {
                return None;
            }
            self.docs = self.docs.end..end;
            passed += 1;
        }
        let (before, behind) = self.lengths.split_at_checked(passed * self.width)?;
        let leapt: usize = if self.width == 1 {
            before.iter().map(|&length| usize::from(length)).sum()
        } else {
            let length = |length: &[u8]| fixed::get(length, 0, self.width).unwrap_or(0);
            usize::try_from(before.chunks_exact(self.width).map(length).sum::<u64>()).ok()?
        };
        self.lengths = behind;
        self.rest = self.rest.get(leapt..)?;
        self.open(code, tf_minus_one)
    }

    /// Opens the current chunk, and decodes it unless the code is `golomb`.
    fn open(&mut self, code: StreamCode, tf_minus_one: &[u32]) -> Option<()> {
        let mut bytes = self.rest;
        if let Some(length) =
            fixed::get(self.lengths, 0, self.width).filter(|_| self.docs.end < tf_minus_one.len())
        {
            bytes = bytes.get(..usize::try_from(length).ok()?)?;
        }
        (self.next, self.offset) = (self.docs.start, 0);
        if code == StreamCode::Golomb {
            self.reader = rice::Reader::new(bytes);
            return Some(());
        }
        let occurrences =
            |docs: &[u32]| docs.iter().map(|&tf_minus_one| tf_minus_one as usize + 1).sum();
        let count: usize = tf_minus_one.get(self.docs.clone()).map_or(0, occurrences);
        is_possible(count, bytes.len()).then_some(())?;
        self.numbers.resize(count, 0);
        Coder::of_positions(code).read(&mut bytes, &mut self.numbers)
    }
}

/// Returns whether this many numbers may be coded in this many bytes.
fn is_possible(numbers: usize, bytes: usize) -> bool {
    numbers / NUMBERS_A_BYTE_MAX <= bytes + BLOCK
}
