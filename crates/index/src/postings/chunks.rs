//! The positions of one block of documents, in chunks that can be leapt over.
//!
//! A chunk ends with the first document that gives it 32 occurrences or more, or with the block. Each
//! chunk but the last of a block begins with its length in bytes, a vbyte. Its numbers, for each
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

/// The documents from `first` on that make up a chunk, and their occurrences: `more` are those of each, less one.
fn chunk(more: impl Iterator<Item = u32>, first: usize) -> (Range<usize>, u64) {
    let (mut occurrences, mut end) = (0, first);
    for more in more.skip(first) {
        occurrences += u64::from(more) + 1;
        end += 1;
        if occurrences >= CHUNK {
            break;
        }
    }
    (first..end, occurrences)
}

/// Appends the positions of a block: `deltas` are the numbers of all its documents.
pub(crate) fn write(code: StreamCode, places: &[Place], mut deltas: &[u32], out: &mut Vec<u8>) {
    let (mut first, mut scratch) = (0, Vec::new());
    while first < places.len() {
        let (docs, occurrences) = chunk(places.iter().map(|place| place.more), first);
        let count = usize::try_from(occurrences).expect("they are in memory");
        let (numbers, rest) = deltas.split_at(count);
        deltas = rest;
        first = docs.end;
        if first == places.len() {
            write_run(code, &places[docs], numbers, out);
        } else {
            scratch.clear();
            write_run(code, &places[docs], numbers, &mut scratch);
            vbyte::write(out, scratch.len() as u64);
            out.extend_from_slice(&scratch);
        }
    }
}

fn write_run(code: StreamCode, places: &[Place], mut numbers: &[u32], out: &mut Vec<u8>) {
    if code != StreamCode::Golomb {
        return Coder::of_positions(code).write(numbers, out);
    }
    let mut writer = rice::Writer::new(out);
    for place in places {
        let (own, rest) = numbers.split_at(place.more as usize + 1);
        numbers = rest;
        let parameter = place.parameter();
        for &n in own {
            writer.write(n, parameter);
        }
    }
    writer.finish();
}

/// Reads the positions of documents of one block, in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunks<'a> {
    /// Where the next chunk begins.
    rest: &'a [u8],
    /// The documents of the chunk at hand.
    docs: Range<usize>,
    /// The next of them.
    next: usize,
    /// Under `golomb`: stands before the numbers of `next`.
    reader: rice::Reader<'a>,
    /// Under `golomb` the numbers of the document before `next`, else of all, and where those of `next` begin.
    numbers: Vec<u32>,
    offset: usize,
}

impl<'a> Chunks<'a> {
    /// Stands before the first document of the block that `bytes` begin with.
    pub(super) fn restart(&mut self, bytes: &'a [u8]) {
        self.rest = bytes;
        self.docs = 0..0;
        (self.next, self.offset) = (0, 0);
    }

    /// Whether document `at` of the block is still ahead.
    pub(super) fn is_ahead(&self, at: usize) -> bool {
        at >= self.next
    }

    /// The numbers of document `at`; `None` if the bytes are none. `more` are the occurrences of each document, less one,
    /// and `length` tells how many terms its field has.
    pub(super) fn read(
        &mut self,
        code: StreamCode,
        more: &[u32],
        length: impl Fn(usize) -> u32,
        at: usize,
    ) -> Option<&[u32]> {
        while at >= self.docs.end {
            self.leap(code, more, at)?;
        }
        let count = *more.get(at)? as usize + 1;
        let passed = more.get(self.next..at)?;
        if code != StreamCode::Golomb {
            let start = self.offset + passed.iter().map(|&more| more as usize + 1).sum::<usize>();
            (self.next, self.offset) = (at + 1, start + count);
            return self.numbers.get(start..start + count);
        }
        for (at, &more) in (self.next..).zip(passed) {
            let parameter = Place { more, length: length(at) }.parameter();
            self.reader.each(parameter, more as usize + 1, |_| {});
            // Occurrences that are not there are not worth the time.
            self.reader.is_within().then_some(())?;
        }
        let parameter = Place { more: more[at], length: length(at) }.parameter();
        is_possible(count, self.reader.rest()).then_some(())?;
        self.numbers.clear();
        self.numbers.reserve(count);
        self.reader.each(parameter, count, |number| self.numbers.push(number));
        self.next = at + 1;
        let is_sound = if self.next == self.docs.end {
            self.reader.clone().finish().is_some()
        } else {
            self.reader.is_within()
        };
        is_sound.then_some(&self.numbers[..])
    }

    /// Moves to the next chunk, and decodes it if that must be done at once and it holds document `at`.
    fn leap(&mut self, code: StreamCode, more: &[u32], at: usize) -> Option<()> {
        let (docs, occurrences) = chunk(more.iter().copied(), self.docs.end);
        if docs.is_empty() {
            return None;
        }
        let mut bytes = self.rest;
        if docs.end < more.len() {
            let length = usize::try_from(vbyte::read(&mut self.rest)?).ok()?;
            (bytes, self.rest) = self.rest.split_at_checked(length)?;
        }
        (self.next, self.offset) = (docs.start, 0);
        self.docs = docs;
        if code == StreamCode::Golomb {
            self.reader = rice::Reader::new(bytes);
        } else if self.docs.contains(&at) {
            let count = usize::try_from(occurrences).ok()?;
            is_possible(count, bytes.len()).then_some(())?;
            self.numbers.resize(count, 0);
            Coder::of_positions(code).read(&mut bytes, &mut self.numbers)?;
        }
        Some(())
    }
}

/// Whether so many numbers may be in so many bytes.
fn is_possible(numbers: usize, bytes: usize) -> bool {
    numbers / NUMBERS_A_BYTE_MAX <= bytes + BLOCK
}
