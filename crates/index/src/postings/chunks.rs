//! The positions of one block of documents, in chunks that can be leapt over.
//!
//! A chunk ends with the first document that gives it 32 occurrences or more, or with the block. If there are several, their
//! number less one, times four, plus a width less one stands first, as a vbyte, and then the length of each but the last in
//! so many bytes, the least that hold the greatest. The numbers of a chunk, for each
//! occurrence the distance to the one before in the document (from 0), are one run under the code of
//! the stream. Under `golomb` they are a run of [`codes::rice`] instead, whose parameter follows from
//! the document: its length over its occurrences is the mean that occurrences at random would have
//! (the local Bernoulli model), and both are known.
//!
//! **Invariant.** To read the positions of a document no more is decoded than its chunk, in which at
//! most 31 occurrences stand before the last document, and under `golomb` no more than up to it. On any bytes: no panic, and no more memory than
//! 1 KiB a byte.
//! Reference: I. H. Witten, A. Moffat, T. C. Bell, *Managing Gigabytes*, 1999, section 3.3.

use super::code::{BLOCK, Coder, StreamCode};
use crate::fixed;
use codes::{rice, vbyte};
use std::ops::Range;

/// A chunk takes no more documents once it has so many occurrences.
const CHUNK: u64 = 32;

/// No code spends less than this: so many numbers to a byte.
const NUMBERS_A_BYTE_MAX: usize = 256;

/// A document of a block, as its chunk sees it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// Its occurrences, less one.
    pub(crate) more: u32,
    /// How many terms its field has.
    pub(crate) length: u32,
}

impl Place {
    fn parameter(self) -> u32 {
        rice::parameter(self.length, self.more.saturating_add(1))
    }
}

/// Behind which document the chunk ends that begins with `first`: `more` are the occurrences of each, less one.
#[inline]
fn chunk_end(more: impl Iterator<Item = u32>, first: usize) -> usize {
    let (mut occurrences, mut end) = (0, first);
    for more in more.skip(first) {
        occurrences += u64::from(more) + 1;
        end += 1;
        if occurrences >= CHUNK {
            break;
        }
    }
    end
}

/// Writes the positions of blocks; what it holds is of use for the next one only.
#[derive(Debug, Default)]
pub(crate) struct ChunksWriter {
    lengths: Vec<u64>,
    runs: Vec<u8>,
    /// Under `golomb` the parameter of each number of the block.
    parameters: Vec<u8>,
}

impl ChunksWriter {
    /// Appends the positions of a block: `deltas` are the numbers of all its documents.
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
            end += place.more as usize + 1;
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

    /// Finds for each of the numbers of a block, so many, the parameter of its document.
    fn spread_parameters(&mut self, places: &[Place], count: usize) {
        let mut of_places = [0; BLOCK];
        rice::parameters(
            places,
            |place| (place.length, place.more.saturating_add(1)),
            &mut of_places,
        );
        // What is there is written over.
        let parameters = &mut self.parameters;
        parameters.resize(count + SPREAD, 0);
        let mut at = 0;
        for (place, &k) in places.iter().zip(&of_places) {
            let end = at + place.more as usize + 1;
            parameters[at..at + SPREAD].fill(k);
            if place.more as usize >= SPREAD {
                parameters[at + SPREAD..end].fill(k);
            }
            at = end;
        }
    }
}

/// So many parameters are written at once, more of them than most documents need.
const SPREAD: usize = 16;

fn write_run(code: StreamCode, parameters: &[u8], numbers: &[u32], out: &mut Vec<u8>) {
    if code != StreamCode::Golomb {
        return Coder::of_positions(code).write(numbers, out);
    }
    let mut writer = rice::Writer::new(out);
    writer.write_each(numbers, parameters);
    writer.finish();
}

/// Reads the positions of documents of one block, in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunks<'a> {
    /// The lengths, from that of the chunk at hand on, and how many bytes each has.
    lengths: &'a [u8],
    width: usize,
    /// Where the chunk at hand begins.
    rest: &'a [u8],
    /// The documents of the chunk at hand.
    docs: Range<usize>,
    /// The next of them.
    next: usize,
    /// Under `golomb`: stands before the numbers of `next`, or so many of the document before it, under that parameter.
    reader: rice::Reader<'a>,
    unread: (u32, usize),
    /// Under other codes the numbers of all, and where those of `next` begin.
    numbers: Vec<u32>,
    offset: usize,
}

impl<'a> Chunks<'a> {
    /// Stands before the first document of the block that `bytes` begin with; `more` are the occurrences of each, less one.
    /// `None` if the bytes are none.
    pub(super) fn restart(
        &mut self,
        code: StreamCode,
        mut bytes: &'a [u8],
        more: &[u32],
    ) -> Option<()> {
        let end = chunk_end(more.iter().copied(), 0);
        self.lengths = &[];
        if end < more.len() {
            let header = usize::try_from(vbyte::read(&mut bytes)?).ok()?;
            self.width = header % 4 + 1;
            (self.lengths, bytes) = bytes.split_at_checked(header / 4 * self.width)?;
        }
        self.rest = bytes;
        self.docs = 0..end;
        self.open(code, more)
    }

    /// Whether document `at` of the block is still ahead.
    pub(super) fn is_ahead(&self, at: usize) -> bool {
        at >= self.next
    }

    /// Hands the numbers of document `at` to `visit` until that says no; `None` if the bytes are none. `more` are the occurrences of each
    /// document, less one, and `length` tells how many terms its field has.
    #[inline]
    pub(super) fn read(
        &mut self,
        code: StreamCode,
        more: &[u32],
        length: impl Fn(usize) -> u32,
        at: usize,
        mut visit: impl FnMut(u32) -> bool,
    ) -> Option<()> {
        if at >= self.docs.end {
            self.leap(code, more, at)?;
        }
        let count = *more.get(at)? as usize + 1;
        let passed = more.get(self.next..at)?;
        if code != StreamCode::Golomb {
            let start = self.offset + passed.iter().map(|&more| more as usize + 1).sum::<usize>();
            (self.next, self.offset) = (at + 1, start + count);
            let numbers = self.numbers.get(start..start + count)?;
            numbers.iter().all(|&number| visit(number));
            return Some(());
        }
        let (parameter, unread) = std::mem::take(&mut self.unread);
        if unread > 0 {
            self.reader.each(parameter, unread, |_| {});
        }
        for (at, &more) in (self.next..).zip(passed) {
            let parameter = Place { more, length: length(at) }.parameter();
            self.reader.each(parameter, more as usize + 1, |_| {});
            // Occurrences that are not there are not worth the time.
            self.reader.is_within().then_some(())?;
        }
        let parameter = Place { more: more[at], length: length(at) }.parameter();
        is_possible(count, self.reader.rest()).then_some(())?;
        self.unread = (parameter, self.reader.each_while(parameter, count, visit));
        self.next = at + 1;
        let is_sound = if self.next == self.docs.end && self.unread.1 == 0 {
            self.reader.clone().finish().is_some()
        } else {
            self.reader.is_within()
        };
        is_sound.then_some(())
    }

    /// Moves ahead to the chunk that holds document `at`.
    fn leap(&mut self, code: StreamCode, more: &[u32], at: usize) -> Option<()> {
        let mut passed = 0;
        while at >= self.docs.end {
            let end = chunk_end(more.iter().copied(), self.docs.end);
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
        self.open(code, more)
    }

    /// Begins the chunk at hand, and decodes it if that must be done at once.
    fn open(&mut self, code: StreamCode, more: &[u32]) -> Option<()> {
        let mut bytes = self.rest;
        if let Some(length) =
            fixed::get(self.lengths, 0, self.width).filter(|_| self.docs.end < more.len())
        {
            bytes = bytes.get(..usize::try_from(length).ok()?)?;
        }
        (self.next, self.offset, self.unread) = (self.docs.start, 0, (0, 0));
        if code == StreamCode::Golomb {
            self.reader = rice::Reader::new(bytes);
            return Some(());
        }
        let occurrences = |docs: &[u32]| docs.iter().map(|&more| more as usize + 1).sum();
        let count: usize = more.get(self.docs.clone()).map_or(0, occurrences);
        is_possible(count, bytes.len()).then_some(())?;
        self.numbers.resize(count, 0);
        Coder::of_positions(code).read(&mut bytes, &mut self.numbers)
    }
}

/// Whether so many numbers may be in so many bytes.
fn is_possible(numbers: usize, bytes: usize) -> bool {
    numbers / NUMBERS_A_BYTE_MAX <= bytes + BLOCK
}
