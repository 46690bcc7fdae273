//! The positions of one block of documents, in chunks that can be leapt over.
//!
//! A chunk ends with the first document that gives it 128 occurrences or more, or with the block. Each
//! chunk but the last of a block begins with its length in bytes, a vbyte. Its numbers, for each
//! occurrence the distance to the one before in the document (from 0), are one run under the code of
//! the stream. Under `golomb` they are a run of [`codes::rice`] instead, whose parameter follows from
//! the document: its length over its occurrences is the mean that occurrences at random would have
//! (the local Bernoulli model), and both are known.
//!
//! **Invariant.** To read the positions of a document no more is decoded than its chunk, in which at
//! most 127 occurrences stand before the last document. On any bytes: no panic, and no more memory than
//! 1 KiB a byte.
//! Reference: I. H. Witten, A. Moffat, T. C. Bell, *Managing Gigabytes*, 1999, section 3.3.

use super::code::{BLOCK, Coder, StreamCode};
use codes::{rice, vbyte};
use std::ops::Range;

/// A chunk takes no more documents once it has so many occurrences.
const CHUNK: u64 = 128;

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

/// The documents from `first` on that make up a chunk, and their occurrences.
fn chunk(places: &[Place], first: usize) -> (Range<usize>, u64) {
    let mut occurrences = 0;
    for (at, place) in places.iter().enumerate().skip(first) {
        occurrences += u64::from(place.more) + 1;
        if occurrences >= CHUNK {
            return (first..at + 1, occurrences);
        }
    }
    (first..places.len(), occurrences)
}

/// Appends the positions of a block: `deltas` are the numbers of all its documents.
pub(crate) fn write(code: StreamCode, places: &[Place], mut deltas: &[u32], out: &mut Vec<u8>) {
    let (mut first, mut scratch) = (0, Vec::new());
    while first < places.len() {
        let (docs, occurrences) = chunk(places, first);
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
pub(crate) struct Chunks<'a> {
    /// Where the next chunk begins.
    rest: &'a [u8],
    /// The documents of the chunk that is decoded.
    docs: Range<usize>,
    numbers: Vec<u32>,
    /// The document whose numbers come next, and where.
    next: usize,
    offset: usize,
}

impl<'a> Chunks<'a> {
    /// Stands before the first document of the block that `bytes` begin with.
    pub(crate) fn restart(&mut self, bytes: &'a [u8]) {
        self.rest = bytes;
        self.docs = 0..0;
        (self.next, self.offset) = (0, 0);
    }

    /// Whether document `at` of the block is still ahead.
    pub(crate) fn is_ahead(&self, at: usize) -> bool {
        at >= self.next
    }

    /// The numbers of document `at`; `None` if the bytes are none.
    pub(crate) fn read(&mut self, code: StreamCode, places: &[Place], at: usize) -> Option<&[u32]> {
        while at >= self.docs.end {
            self.leap(code, places, at)?;
        }
        let passed = places.get(self.next..at)?;
        self.offset += passed.iter().map(|place| place.more as usize + 1).sum::<usize>();
        let start = self.offset;
        let end = start + places.get(at)?.more as usize + 1;
        let numbers = self.numbers.get(start..end)?;
        (self.next, self.offset) = (at + 1, end);
        Some(numbers)
    }

    /// Moves to the next chunk, and decodes it if it holds document `at`.
    fn leap(&mut self, code: StreamCode, places: &[Place], at: usize) -> Option<()> {
        let (docs, occurrences) = chunk(places, self.docs.end);
        if docs.is_empty() {
            return None;
        }
        let mut bytes = self.rest;
        if docs.end < places.len() {
            let length = usize::try_from(vbyte::read(&mut self.rest)?).ok()?;
            (bytes, self.rest) = self.rest.split_at_checked(length)?;
        }
        (self.next, self.offset) = (docs.start, 0);
        self.docs = docs.clone();
        if docs.contains(&at) {
            let count = usize::try_from(occurrences).ok()?;
            if count / NUMBERS_A_BYTE_MAX > bytes.len() + BLOCK {
                return None;
            }
            self.numbers.resize(count, 0);
            read_run(code, &places[docs], bytes, &mut self.numbers)?;
        }
        Some(())
    }
}

fn read_run(
    code: StreamCode,
    places: &[Place],
    mut bytes: &[u8],
    numbers: &mut [u32],
) -> Option<()> {
    if code != StreamCode::Golomb {
        return Coder::of_positions(code).read(&mut bytes, numbers);
    }
    let (mut reader, mut numbers) = (rice::Reader::new(bytes), numbers.iter_mut());
    for place in places {
        let parameter = place.parameter();
        for number in numbers.by_ref().take(place.more as usize + 1) {
            *number = reader.read(parameter);
        }
    }
    reader.finish().map(|_| ())
}
