//! The batch: postings in memory, compressed from the start, until they become a segment.
//!
//! A [`KeyTable`] leads from a key (field and term, as in the lexicon) to its string in an [`Arena`],
//! to which each occurrence is appended, in [`codes::vbyte`]:
//!
//! ```text
//! first in a document   2 × position + 1, then the distance to the document before, less one
//! others                2 × (distance to the position before)
//! ```
//!
//! The occurrences of the current document wait until it ends, so that a string grows once for a term of
//! it rather than once for an occurrence.
//!
//! What does not live here: files; the records of the documents, which go to disk at once.
//!
//! **Invariant.** [`Batch::memory_bytes`] is what the batch takes; while it is written, that and no more
//! than what [`memory_bytes_max`] sets aside.

use crate::arena::{self, Arena, Chain};
use crate::keys::{self, KeyTable};
use crate::lengths::{Columns, PerField};
use crate::lexicon::{self, FILTER_MARK, TERM_BYTES_MAX};
use crate::memo::{Probe, WordMemo};
use crate::paged::Paged;
use crate::postings::StreamCodes;
use crate::segment::{ListsWriter, SegmentMeta, SegmentWriter};
use crate::words::{self, Occurrence};
use crate::{Field, IndexError};
use std::hint::black_box;
use std::ops::Range;

/// What writing takes, besides the order of the lists: a shard of the lexicon, buffers of files, and what
/// is left of large pages.
const WRITING_BYTES: usize = 12 << 20;

/// How much a batch may take, so that writing it keeps a limit.
pub(crate) fn memory_bytes_max(limit: usize) -> usize {
    limit - WRITING_BYTES.min(limit / 5)
}

/// How many lists are put to at a time.
const TOGETHER: usize = 32;
/// So many occurrences wait at most.
const WAITING_MAX: usize = 1 << 16;

/// One posting list in the making.
#[derive(Clone, Copy, Debug)]
struct Growing {
    chain: Chain,
    /// The document of the last occurrence in the chain, plus one.
    doc_min: u32,
    last_position: u32,
    /// Whether occurrences wait for it: if this is the turn.
    turn: u32,
    /// The last one that waits.
    last: u32,
}

/// Where the key of a list is.
#[derive(Clone, Copy, Debug)]
struct Key {
    at: u32,
    bytes: u16,
}

/// An occurrence that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    position: u32,
    /// The next one of the same list; itself if there is none.
    next: u32,
}

/// The documents since the last segment was written.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    arena: Arena,
    lists: Paged<Growing>,
    /// For each list.
    keys: Paged<Key>,
    waiting: Vec<Waiting>,
    /// The lists for which occurrences wait, and the first of them.
    firsts: Vec<(u32, u32)>,
    /// How often nothing has waited any more.
    turn: u32,
    table: KeyTable,
    memo: WordMemo,
    lengths: Paged<PerField<u32>>,
    key: Vec<u8>,
    term: String,
    unknown: Unknown,
}

impl Batch {
    /// Begins a document.
    pub(crate) fn begin(&mut self) -> Result<(), IndexError> {
        self.settle()?;
        self.lengths.push(PerField::default());
        Ok(())
    }

    /// Adds an occurrence of a term to the document begun last.
    pub(crate) fn push(
        &mut self,
        field: Field,
        term: &str,
        position: u32,
    ) -> Result<(), IndexError> {
        let mut key = std::mem::take(&mut self.key);
        set_key(&mut key, field, term)?;
        let index = self.find_or_insert(&key, keys::hash(&key));
        self.key = key;
        self.append(index?, position)?;
        self.add_length(field, usize::from(!term.contains(FILTER_MARK)));
        Ok(())
    }

    /// Adds occurrences of the terms of words of `text` to the document begun last. `term` is not asked
    /// for those that came of late.
    pub(crate) fn push_words(
        &mut self,
        field: Field,
        text: &str,
        words: &[Occurrence],
        term: &mut impl FnMut(&str, &mut String),
    ) -> Result<(), IndexError> {
        self.unknown.clear();
        self.memo.touch(words.iter().map(|word| word.probe));
        let mut found = [None; words::TOGETHER];
        for (list, word) in found.iter_mut().zip(words) {
            *list = self.memo.find(word.probe, field, &text[word.start..word.end]);
            if list.is_none() && !self.unknown.repeat(word.probe) {
                self.look_for(field, &text[word.start..word.end], word.probe, term)?;
            }
        }
        self.touch_unknown();
        let lists = found.iter().flatten().map(|&list| self.lists[list].turn);
        black_box(lists.fold(0, |sum, turn| sum ^ turn));
        let mut unknown = std::mem::take(&mut self.unknown);
        let mut keys = unknown.each();
        for (list, word) in found.iter().zip(words) {
            let index = if let Some(index) = list {
                *index
            } else {
                let (key, hash) = keys.next().expect("each has its key");
                let index = self.find_or_insert(key, hash)?;
                self.memo.put(word.probe, field, &text[word.start..word.end], index);
                index
            };
            self.append(index, word.position)?;
        }
        drop(keys);
        unknown.clear();
        self.unknown = unknown;
        self.add_length(field, words.len());
        Ok(())
    }

    /// Puts the key of a word that did not come of late to those that are looked for.
    fn look_for(
        &mut self,
        field: Field,
        word: &str,
        probe: Probe,
        term: &mut impl FnMut(&str, &mut String),
    ) -> Result<(), IndexError> {
        self.term.clear();
        term(word, &mut self.term);
        set_key(&mut self.key, field, &self.term)?;
        self.unknown.push(&self.key, probe);
        Ok(())
    }

    /// Calls for what tells whether there are lists for keys, as far as can be foreseen.
    fn touch_unknown(&mut self) {
        let Batch { unknown, table, keys, arena, .. } = self;
        for of in &mut unknown.keys {
            of.guess = table.guess(of.hash);
        }
        let guesses = unknown.keys.iter().filter_map(|of| of.guess);
        black_box(guesses.clone().map(|list| keys[list].at).fold(0, |sum, at| sum ^ at));
        let first = |list: u32| arena.key(keys[list].at, 1)[0];
        black_box(guesses.map(first).fold(0, |sum, byte| sum ^ byte));
    }

    /// Adds to the length of a field of the document begun last.
    fn add_length(&mut self, field: Field, terms: usize) {
        let lengths = self.lengths.last_mut().expect("a document has begun");
        let length = &mut lengths[field as usize];
        *length = length.saturating_add(u32::try_from(terms).unwrap_or(u32::MAX));
    }

    /// Lets an occurrence wait for the list of its term.
    #[inline]
    fn append(&mut self, index: u32, position: u32) -> Result<(), IndexError> {
        if self.waiting.len() == WAITING_MAX {
            self.settle()?;
        }
        let at = u32::try_from(self.waiting.len()).expect("they are few");
        let list = &mut self.lists[index];
        if list.turn == self.turn {
            let last = &mut self.waiting[list.last as usize];
            if position < last.position {
                return Err(descends(self.doc_count() - 1));
            }
            last.next = at;
        } else {
            list.turn = self.turn;
            self.firsts.push((index, at));
        }
        list.last = at;
        self.waiting.push(Waiting { position, next: at });
        Ok(())
    }

    /// Puts what waits to its lists.
    fn settle(&mut self) -> Result<(), IndexError> {
        let doc_next = self.doc_count();
        for some in self.firsts.chunks(TOGETHER) {
            // The ends of the strings come from afar: all are called for before the first is waited for.
            let ends = some.iter().map(|&(index, _)| self.arena.end(self.lists[index].chain));
            black_box(ends.fold(0, |sum, end| sum ^ end));
            for &(index, first) in some {
                let list = &mut self.lists[index];
                settle_list(&mut self.arena, list, doc_next, first, &self.waiting)?;
            }
        }
        self.firsts.clear();
        self.waiting.clear();
        self.turn += 1;
        Ok(())
    }

    /// How many documents there are.
    #[expect(clippy::cast_possible_truncation, reason = "there are at most 2³² - 1")]
    fn doc_count(&self) -> u32 {
        self.lengths.len() as u32
    }

    /// How much memory to count for the batch, what writing its lists needs included.
    pub(crate) fn memory_bytes(&self) -> usize {
        let sorting = self.lists.len() * size_of::<(u64, u32)>();
        // Lengths of one field, peaks of all.
        let columns = self.lengths.len() * size_of::<u32>() * (1 + Field::ALL.len());
        self.arena.memory_bytes()
            + self.lists.memory_bytes()
            + self.keys.memory_bytes()
            + self.waiting.capacity() * size_of::<Waiting>()
            + self.firsts.capacity() * size_of::<(u32, u32)>()
            + self.lengths.memory_bytes()
            + self.table.memory_bytes()
            + self.memo.memory_bytes()
            + sorting
            + columns
    }

    /// Writes the batch out as a segment, whose records are already in `segment`.
    pub(crate) fn write(
        mut self,
        codes: StreamCodes,
        segment: SegmentWriter,
    ) -> Result<SegmentMeta, IndexError> {
        self.settle()?;
        let totals = std::array::from_fn(|field| {
            self.lengths.iter().map(|lengths| u64::from(lengths[field])).sum()
        });
        let mut out = segment.lists(codes, totals)?;
        let mut scratch = Scratch::default();
        for some in self.sorted().chunks(TOGETHER) {
            // Neighbours in this order lie far apart, as in `settle`.
            let touch = |&(_, index): &(u64, u32)| {
                self.lists[index].doc_min ^ u32::from(self.key(self.keys[index])[0])
            };
            black_box(some.iter().map(touch).fold(0, |sum, touched| sum ^ touched));
            for &(_, index) in some {
                self.write_list(index, &mut scratch, &mut out)?;
            }
        }
        let lengths = Columns::new(|| {
            Field::ALL.into_iter().flat_map(|field| {
                self.lengths.iter().map(move |lengths| (field, lengths[field as usize]))
            })
        });
        let peaks = Columns::new(|| {
            Field::ALL.into_iter().flat_map(|field| {
                let peaks = &scratch.peaks[field as usize];
                (0..self.lengths.len())
                    .map(move |doc| (field, peaks.get(doc).copied().unwrap_or(0)))
            })
        });
        out.finish(lengths, peaks)
    }

    fn key(&self, key: Key) -> &[u8] {
        self.arena.key(key.at, usize::from(key.bytes))
    }

    /// Writes one list.
    fn write_list(
        &self,
        index: u32,
        scratch: &mut Scratch,
        out: &mut ListsWriter,
    ) -> Result<(), IndexError> {
        let at = self.keys[index].at;
        let key = self.key(self.keys[index]);
        let field = Field::of_key(key).expect("was made of one");
        out.begin_list(field);
        scratch.load_lengths(field, &self.lengths);
        let Scratch { bytes, distances, lengths, peaks, .. } = scratch;
        let is_word = !lexicon::is_filter(key);
        let peaks = &mut peaks[field as usize];
        let slices = self.arena.slices(at, key.len(), self.lists[index].chain);
        let mut codes = Codes::new(slices, bytes);
        let (mut code, mut doc_next) = (codes.next(), 0);
        while let Some(first) = code {
            let gap = codes.next().expect("a document follows its first position");
            let doc = doc_next + narrow(gap);
            distances.clear();
            distances.push(narrow(first >> 1));
            code = codes.next();
            while let Some(distance) = code.filter(|code| code & 1 == 0) {
                distances.push(narrow(distance >> 1));
                code = codes.next();
            }
            let frequency = u32::try_from(distances.len()).map_err(|_| IndexError::Limit {
                what: "occurrences of a term in a document",
                found: distances.len() as u64,
                max: u64::from(u32::MAX),
            })?;
            if is_word {
                let peak = &mut peaks[doc as usize];
                *peak = frequency.max(*peak);
            }
            out.push(doc, lengths[doc as usize], frequency, distances)?;
            doc_next = doc + 1;
        }
        out.finish_list(key)
    }

    /// The lists in the order of their keys, each behind the first eight bytes of its key, which settle
    /// most comparisons.
    fn sorted(&self) -> Vec<(u64, u32)> {
        let beginning = |key| lexicon::beginning(self.key(key));
        let mut order: Vec<(u64, u32)> =
            self.keys.iter().zip(0..).map(|(key, index)| (beginning(*key), index)).collect();
        order.sort_unstable_by(|a, b| {
            let key = |index: u32| self.key(self.keys[index]);
            a.0.cmp(&b.0).then_with(|| key(a.1).cmp(key(b.1)))
        });
        order
    }

    /// The list of a key.
    fn find_or_insert(&mut self, key: &[u8], hash: u64) -> Result<u32, IndexError> {
        let Batch { arena, lists, keys, table, .. } = self;
        let next = u32::try_from(lists.len()).expect("each list has an address");
        let index = table.find_or_insert(hash, next, |list| {
            let Key { at, bytes } = keys[list];
            arena.key(at, usize::from(bytes)) == key
        });
        if index == next {
            let bytes = u16::try_from(key.len()).expect("the term was checked");
            let (at, chain) = arena.begin(key).ok_or_else(too_long)?;
            keys.push(Key { at, bytes });
            lists.push(Growing { chain, doc_min: 0, last_position: 0, turn: 0, last: 0 });
        }
        Ok(index)
    }
}

/// Makes `key` that of a term in a field.
fn set_key(key: &mut Vec<u8>, field: Field, term: &str) -> Result<(), IndexError> {
    if term.len() > TERM_BYTES_MAX {
        return Err(IndexError::Limit {
            what: "bytes of a term",
            found: term.len() as u64,
            max: TERM_BYTES_MAX as u64,
        });
    }
    lexicon::set_key(key, field, term);
    Ok(())
}

/// Keys that are looked for at the same time.
#[derive(Debug, Default)]
struct Unknown {
    bytes: Vec<u8>,
    keys: Vec<UnknownKey>,
}

#[derive(Clone, Debug)]
struct UnknownKey {
    /// Of its word.
    probe: Probe,
    hash: u64,
    /// Where it is in the bytes of all.
    bytes: Range<usize>,
    guess: Option<u32>,
}

impl Unknown {
    fn push(&mut self, key: &[u8], probe: Probe) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let bytes = start..self.bytes.len();
        self.keys.push(UnknownKey { probe, hash: keys::hash(key), bytes, guess: None });
    }

    /// Adds the key of a word that is among them once more; `false` if there is none.
    fn repeat(&mut self, probe: Probe) -> bool {
        let same = self.keys.iter().find(|of| of.probe.is_same(probe)).cloned();
        let is_there = same.is_some();
        self.keys.extend(same);
        is_there
    }

    /// Each with its hash.
    fn each(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.keys.iter().map(|of| (&self.bytes[of.bytes.clone()], of.hash))
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.keys.clear();
    }
}

/// Puts the occurrences from `first` on, all of one document, to their list.
#[inline]
fn settle_list(
    arena: &mut Arena,
    list: &mut Growing,
    doc_next: u32,
    first: u32,
    waiting: &[Waiting],
) -> Result<(), IndexError> {
    let (mut at, mut occurrence) = (first, waiting[first as usize]);
    if list.doc_min == doc_next {
        let delta = occurrence.position.checked_sub(list.last_position);
        let delta = u64::from(delta.ok_or_else(|| descends(doc_next - 1))?);
        arena.append(&mut list.chain, delta << 1).ok_or_else(too_long)?;
    } else {
        arena
            .append(&mut list.chain, u64::from(occurrence.position) << 1 | 1)
            .ok_or_else(too_long)?;
        let gap = u64::from(doc_next - 1 - list.doc_min);
        arena.append(&mut list.chain, gap).ok_or_else(too_long)?;
        list.doc_min = doc_next;
    }
    while occurrence.next != at {
        at = occurrence.next;
        let next = waiting[at as usize];
        let delta = u64::from(next.position - occurrence.position);
        arena.append(&mut list.chain, delta << 1).ok_or_else(too_long)?;
        occurrence = next;
    }
    list.last_position = occurrence.position;
    Ok(())
}

/// What writing a list needs, from one list to the next.
#[derive(Default)]
struct Scratch {
    bytes: Vec<u8>,
    distances: Vec<u32>,
    /// The lengths of all documents in one field, close together.
    lengths: Vec<u32>,
    field: Option<Field>,
    /// How often a word occurs at the most in each document so far; none of a field without lists.
    peaks: PerField<Vec<u32>>,
}

impl Scratch {
    fn load_lengths(&mut self, field: Field, lengths: &Paged<PerField<u32>>) {
        if self.field != Some(field) {
            self.lengths.clear();
            self.lengths.reserve_exact(lengths.len());
            self.lengths.extend(lengths.iter().map(|of| of[field as usize]));
            self.peaks[field as usize] = vec![0; lengths.len()];
            self.field = Some(field);
        }
    }
}

/// The numbers of a string that lies in slices.
struct Codes<'a, S> {
    slices: S,
    /// What was taken from the slices, from `at` to `end` not yet read, and [`PADDING`] behind it.
    taken: &'a mut Vec<u8>,
    at: usize,
    end: usize,
}

/// So many bytes are read at once, wherever a codeword begins.
const PADDING: [u8; 8] = [0; 8];

impl<'a, 's, S: Iterator<Item = &'s [u8]>> Codes<'a, S> {
    fn new(slices: S, taken: &'a mut Vec<u8>) -> Self {
        let mut codes = Codes { slices, taken, at: 0, end: 0 };
        codes.take();
        codes
    }

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.end - self.at < arena::CODEWORD_BYTES_MAX {
            self.take();
            if self.at == self.end {
                return None;
            }
        }
        let eight = self.taken[self.at..].first_chunk().expect("there is padding");
        let (number, bytes) = arena::number(u64::from_le_bytes(*eight));
        self.at += bytes;
        Some(number)
    }

    /// Takes a slice more, if there is one.
    #[inline(never)]
    fn take(&mut self) {
        let slice = self.slices.next().unwrap_or_default();
        self.taken.truncate(self.end);
        self.taken.drain(..self.at);
        self.taken.extend_from_slice(slice);
        (self.at, self.end) = (0, self.taken.len());
        self.taken.extend_from_slice(&PADDING);
    }
}

#[cold]
fn too_long() -> IndexError {
    IndexError::Limit {
        what: "bytes of postings between two documents",
        found: 1 << 32,
        max: 1 << 32,
    }
}

#[cold]
fn descends(doc: u32) -> IndexError {
    IndexError::Misuse { doc, what: "the positions of a term in a field must ascend" }
}

/// A number that was put in as 32 bits.
fn narrow(n: u64) -> u32 {
    u32::try_from(n).expect("was written from 32 bits")
}
