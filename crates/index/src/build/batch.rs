//! The batch: postings in memory, compressed from the start, until they become a segment.
//!
//! A [`KeyTable`] maps a key (field and term, as in the lexicon) to its list. A list is a string in an [`Arena`].
//! Each occurrence is appended to it in [`codes::vbyte`]:
//!
//! ```text
//! first in a document   2 × (gap to the previous document, less one) + 1, then 2 × position
//! others                2 × (distance to the previous position)
//! ```
//!
//! Occurrences are buffered until their document ends. So a string grows once per term of a document, not once per
//! occurrence.
//!
//! Records of documents are not buffered: they go to disk at once.
//!
//! **Invariant.** [`Batch::memory_bytes`] bounds the memory of the batch, both before and while it is written.

use crate::build::arena::{self, Arena, Codeword};
use crate::build::batch_reader::{self, BatchReader, Numbers};
use crate::build::keys::{self, KeyTable};
use crate::build::paged::Paged;
use crate::build::sorting;
use crate::build::term_cache::{Occurrence, Probe, TOGETHER, TermCache, UNKNOWN};
use crate::lengths::{Columns, PerField};
use crate::lexicon::{self, FILTER_MARK, TERM_BYTES_MAX};
use crate::postings::StreamCodes;
use crate::segment::{ListsWriter, SegmentMeta, SegmentWriter};
use crate::{Field, IndexError};
use std::ops::Range;

/// Memory for writing besides the sorted lists: a shard of the lexicon, file buffers, remains of huge pages, and
/// resident parts of the program and of files.
const WRITING_BYTES: usize = 14 << 20;

/// Prefetch distances in lists: for the head and first slice, the second slice, and so on.
const AHEAD: [usize; 5] = [20, 16, 12, 8, 4];
/// Largest number of buffered occurrences.
const WAITING_MAX: usize = 1 << 16;
/// Number of terms looked up together.
const TERMS_MAX: usize = 32;

/// The first two notes of a list: the turn in which an occurrence was last buffered, and the index of that
/// occurrence. The other notes are the document of its last stored occurrence, plus one, and the position of that.
const TURN: usize = 0;
const LAST: usize = 1;

/// A buffered occurrence.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    position: u32,
    /// Index of the next occurrence of the same list; its own index if it is the last.
    next: u32,
}

/// The documents since the last segment was written.
#[derive(Debug)]
pub(crate) struct Batch {
    arena: Arena,
    /// Address of the head of each list.
    lists: Paged<u32>,
    waiting: Vec<Waiting>,
    /// The lists with buffered occurrences, and the first occurrence of each.
    firsts: Vec<(u32, u32)>,
    /// How often the buffer has been emptied.
    turn: u32,
    table: KeyTable,
    memo: TermCache,
    lengths: Paged<PerField<u32>>,
    unknown: Unknown,
    /// Occurrences that came as terms and are not looked up yet, and their positions.
    terms: Unknown,
    positions: Vec<u32>,
    /// Memory to reserve for writing, besides the sorted lists.
    writing_bytes: usize,
}

impl Batch {
    /// An empty batch, for a writer with this much memory.
    pub(crate) fn new(memory_bytes: usize) -> Batch {
        Batch {
            arena: Arena::default(),
            lists: Paged::default(),
            waiting: Vec::new(),
            firsts: Vec::new(),
            turn: 0,
            table: KeyTable::default(),
            memo: TermCache::new(memory_bytes),
            lengths: Paged::default(),
            unknown: Unknown::default(),
            terms: Unknown::default(),
            positions: Vec::new(),
            writing_bytes: WRITING_BYTES.min(memory_bytes / 4),
        }
    }

    pub(crate) fn begin(&mut self) -> Result<(), IndexError> {
        self.push_terms()?;
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
        if self.terms.keys.len() == TERMS_MAX {
            self.push_terms()?;
        }
        self.terms.push(field, Probe::default(), |out| out.push_str(term))?;
        self.positions.push(position);
        self.add_length(field, usize::from(!term.contains(FILTER_MARK)));
        Ok(())
    }

    /// Looks up the buffered terms and adds their occurrences to the current document.
    fn push_terms(&mut self) -> Result<(), IndexError> {
        if self.terms.keys.is_empty() {
            return Ok(());
        }
        let (mut terms, mut positions) =
            (std::mem::take(&mut self.terms), std::mem::take(&mut self.positions));
        terms.prefetch(&self.table, &self.arena);
        for ((key, hash), &position) in terms.each().zip(&positions) {
            let lists = (&mut self.arena, &mut self.lists);
            let list = find_or_make(lists, &mut self.table, key, hash)?;
            self.append(list, position)?;
        }
        terms.clear();
        positions.clear();
        (self.terms, self.positions) = (terms, positions);
        Ok(())
    }

    /// Prefetches the memo entry of a word that comes soon.
    #[inline]
    pub(crate) fn expect_word(&self, probe: Probe) {
        self.memo.prefetch(probe);
    }

    /// Adds occurrences of words of `text` to the current document. `term` is called only for words that the memo
    /// does not know.
    pub(crate) fn push_words(
        &mut self,
        field: Field,
        text: &str,
        words: &[Occurrence],
        term: &mut impl FnMut(&str, &mut String),
    ) -> Result<(), IndexError> {
        self.push_terms()?;
        self.unknown.clear();
        let mut found = [UNKNOWN; TOGETHER];
        self.memo.find_all(field, text, words, &mut found);
        for (&list, word) in found.iter().zip(words) {
            if list != UNKNOWN {
                self.arena.prefetch(list);
            } else if !self.unknown.repeat(word.probe) {
                self.look_for(field, &text[word.start..word.end], word.probe, term)?;
            }
        }
        if !self.unknown.keys.is_empty() {
            self.find_unknown(field, text, words, &mut found)?;
        }
        for (&list, word) in found.iter().zip(words) {
            self.append(list, word.position)?;
        }
        self.add_length(field, words.len());
        Ok(())
    }

    /// Finds or creates the lists of words that the memo does not know.
    #[inline(never)]
    fn find_unknown(
        &mut self,
        field: Field,
        text: &str,
        words: &[Occurrence],
        found: &mut [u32; TOGETHER],
    ) -> Result<(), IndexError> {
        let Batch { unknown, table, arena, lists, memo, .. } = self;
        unknown.prefetch(table, arena);
        let mut keys = unknown.each();
        let unknown = found.iter_mut().zip(words).filter(|(list, _)| **list == UNKNOWN);
        for (list, word) in unknown {
            let (key, hash) = keys.next().expect("each has its key");
            *list = find_or_make((arena, lists), table, key, hash)?;
            memo.put(word.probe, field, &text[word.start..word.end], *list);
        }
        Ok(())
    }

    /// Queues the key of a word for lookup.
    fn look_for(
        &mut self,
        field: Field,
        word: &str,
        probe: Probe,
        term: &mut impl FnMut(&str, &mut String),
    ) -> Result<(), IndexError> {
        self.unknown.push(field, probe, |out| term(word, out))
    }

    /// Adds to the length of a field of the current document.
    fn add_length(&mut self, field: Field, terms: usize) {
        let lengths = self.lengths.last_mut().expect("a document has begun");
        let length = &mut lengths[field as usize];
        *length = length.saturating_add(u32::try_from(terms).unwrap_or(u32::MAX));
    }

    /// Buffers an occurrence.
    #[inline]
    fn append(&mut self, list: u32, position: u32) -> Result<(), IndexError> {
        if self.waiting.len() == WAITING_MAX {
            self.settle()?;
        }
        let at = u32::try_from(self.waiting.len()).expect("they are few");
        let notes = self.arena.notes_mut(list);
        let last = std::mem::replace(&mut notes[LAST], at.to_le_bytes());
        if u32::from_le_bytes(notes[TURN]) == self.turn {
            let last = &mut self.waiting[u32::from_le_bytes(last) as usize];
            if position < last.position {
                return Err(descends(self.doc_count() - 1));
            }
            last.next = at;
        } else {
            notes[TURN] = self.turn.to_le_bytes();
            self.firsts.push((list, at));
            // The end of the string is far away in memory; it is needed when the document ends.
            self.arena.prefetch_end(list);
        }
        self.waiting.push(Waiting { position, next: at });
        Ok(())
    }

    /// Appends all buffered occurrences to their lists.
    #[cfg_attr(
        target_arch = "x86_64",
        expect(unsafe_code, reason = "calls a function compiled for more CPU features")
    )]
    fn settle(&mut self) -> Result<(), IndexError> {
        #[cfg(target_arch = "x86_64")]
        if arena::spreads_bits() {
            // SAFETY: the processor has these instructions.
            return unsafe { self.settle_wide() };
        }
        self.settle_anyhow(arena::codeword)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2,lzcnt")]
    fn settle_wide(&mut self) -> Result<(), IndexError> {
        self.settle_anyhow(|n| arena::codeword_wide(n))
    }

    /// Appends all buffered occurrences, with `codeword` as the encoder.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "compiled for the CPU features of its caller")]
    fn settle_anyhow(
        &mut self,
        codeword: impl Fn(u64) -> Codeword + Copy,
    ) -> Result<(), IndexError> {
        let doc_next = self.doc_count();
        for &(list, first) in &self.firsts {
            settle_list(&mut self.arena, list, doc_next, first, &self.waiting, codeword)?;
        }
        self.firsts.clear();
        self.waiting.clear();
        self.turn += 1;
        Ok(())
    }

    #[expect(clippy::cast_possible_truncation, reason = "there are at most 2³² - 1")]
    fn doc_count(&self) -> u32 {
        self.lengths.len() as u32
    }

    /// Memory to count for the batch. Writing needs the sorted lists, but no longer the lookup tables.
    pub(crate) fn memory_bytes(&self) -> usize {
        let sorting = self.lists.len() * size_of::<sorting::Placed>();
        // Lengths of one field, peaks of all.
        let columns = self.lengths.len() * size_of::<u32>() * (1 + Field::ALL.len());
        let looking = self.table.memory_bytes() + self.memo.memory_bytes();
        self.arena.memory_bytes()
            + self.lists.memory_bytes()
            + self.waiting.capacity() * size_of::<Waiting>()
            + self.firsts.capacity() * size_of::<(u32, u32)>()
            + self.lengths.memory_bytes()
            + looking.max(sorting + columns + self.writing_bytes)
    }

    /// Writes the batch as a segment. Its records are already in `segment`.
    pub(crate) fn write(
        mut self,
        codes: StreamCodes,
        segment: SegmentWriter,
    ) -> Result<SegmentMeta, IndexError> {
        self.push_terms()?;
        self.settle()?;
        let totals = std::array::from_fn(|field| {
            self.lengths.iter().map(|lengths| u64::from(lengths[field])).sum()
        });
        let mut out = segment.lists(codes, totals)?;
        let mut scratch = Scratch::new();
        // No more lookups: drop the tables to make room for the sorted lists.
        (self.table, self.memo) = (KeyTable::default(), TermCache::new(0));
        let order = sorting::sorted(&self.arena, &self.lists);
        for (number, &(_, list)) in order.iter().enumerate() {
            // Neighbours in this order are far apart in memory, and so are the slices of a list. An earlier
            // prefetch gives the address of the next slice.
            for (links, ahead) in (0..).zip(AHEAD) {
                if let Some(&(_, ahead)) = order.get(number + ahead) {
                    self.arena.prefetch_slice(ahead, links);
                }
            }
            self.write_list(list, &mut scratch, &mut out)?;
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

    fn write_list(
        &self,
        list: u32,
        scratch: &mut Scratch,
        out: &mut ListsWriter,
    ) -> Result<(), IndexError> {
        let key = self.arena.key(list);
        let field = Field::of_key(key).expect("was made of one");
        out.begin_list(field);
        scratch.load_lengths(field, &self.lengths);
        let Scratch { bytes, numbers, lengths, peaks, .. } = scratch;
        let is_word = !lexicon::is_filter(key);
        let peaks = &mut peaks[field as usize];
        let mut string = BatchReader::new(self.arena.slices(list), bytes);
        // Gap of the current document, once there is one.
        let (mut open, mut count, mut doc_next) = (None, 0_usize, 0);
        let mut end_doc = |out: &mut ListsWriter, gap: u32, count: usize| {
            let frequency = u32::try_from(count).map_err(|_| IndexError::Limit {
                what: "occurrences of a term in a document",
                found: count as u64,
                max: u64::from(u32::MAX),
            })?;
            let doc = doc_next + gap;
            if is_word {
                let peak = &mut peaks[doc as usize];
                *peak = frequency.max(*peak);
            }
            doc_next = doc + 1;
            out.push_placed(doc, lengths[doc as usize], frequency)
        };
        while string.next(numbers) {
            out.distances().extend_from_slice(numbers.distances());
            let mut before = 0;
            for &(gap, distances) in numbers.docs() {
                if let Some(gap) = open.replace(gap) {
                    end_doc(out, gap, count + (distances - before) as usize)?;
                }
                (count, before) = (0, distances);
            }
            count += numbers.distances().len() - before as usize;
        }
        if let Some(gap) = open {
            end_doc(out, gap, count)?;
        }
        out.finish_list(key)
    }
}

/// Returns the list of a key; creates it if needed.
fn find_or_make(
    mut lists: (&mut Arena, &mut Paged<u32>),
    table: &mut KeyTable,
    key: &[u8],
    hash: u64,
) -> Result<u32, IndexError> {
    let is_it = |(arena, _): &(&mut Arena, &mut Paged<u32>), list| arena.key(list) == key;
    let found = table.find_or_make(hash, &mut lists, is_it, |(arena, lists)| {
        let list = arena.begin(key)?;
        lists.push(list);
        Some(list)
    });
    found.ok_or_else(too_long)
}

/// Keys that are looked up together.
#[derive(Debug, Default)]
struct Unknown {
    /// All keys, concatenated.
    text: String,
    keys: Vec<UnknownKey>,
}

#[derive(Clone, Debug)]
struct UnknownKey {
    /// Of its word, if it came as a word.
    probe: Probe,
    hash: u64,
    /// Its range in `text`.
    bytes: Range<usize>,
}

impl Unknown {
    /// Adds the key of a term in a field; `term` appends the term.
    fn push(
        &mut self,
        field: Field,
        probe: Probe,
        term: impl FnOnce(&mut String),
    ) -> Result<(), IndexError> {
        let start = self.text.len();
        self.text.push(char::from(field.number()));
        term(&mut self.text);
        let bytes = start..self.text.len();
        let key = &self.text.as_bytes()[bytes.clone()];
        if key.len() > 1 + TERM_BYTES_MAX {
            return Err(IndexError::Limit {
                what: "bytes of a term",
                found: key.len() as u64 - 1,
                max: TERM_BYTES_MAX as u64,
            });
        }
        let hash = keys::hash(key);
        self.keys.push(UnknownKey { probe, hash, bytes });
        Ok(())
    }

    /// Repeats the key of a word that is already queued. Returns `false` if it is not.
    fn repeat(&mut self, probe: Probe) -> bool {
        let same = self.keys.iter().find(|of| of.probe.is_same(probe)).cloned();
        let is_there = same.is_some();
        self.keys.extend(same);
        is_there
    }

    /// Prefetches the table slots of all keys, then the lists that they probably lead to.
    fn prefetch(&self, table: &KeyTable, arena: &Arena) {
        for of in &self.keys {
            table.prefetch(of.hash);
        }
        for of in &self.keys {
            table.guess(of.hash).into_iter().for_each(|list| arena.prefetch(list));
        }
    }

    /// All keys with their hashes.
    fn each(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let text = self.text.as_bytes();
        self.keys.iter().map(|of| (&text[of.bytes.clone()], of.hash))
    }

    fn clear(&mut self) {
        self.text.clear();
        self.keys.clear();
    }
}

/// Appends the occurrences from `first` on, all of one document, to their list.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the CPU features of its caller")]
fn settle_list(
    arena: &mut Arena,
    list: u32,
    doc_next: u32,
    first: u32,
    waiting: &[Waiting],
    codeword: impl Fn(u64) -> Codeword + Copy,
) -> Result<(), IndexError> {
    let ([doc_min, last_position], mut end) = arena.end(list);
    let (mut at, mut occurrence) = (first, waiting[first as usize]);
    if doc_min == doc_next {
        let delta = occurrence.position.checked_sub(last_position);
        let delta = u64::from(delta.ok_or_else(|| descends(doc_next - 1))?);
        end = arena.append(end, codeword(delta << 1)).ok_or_else(too_long)?;
    } else {
        let gap = u64::from(doc_next - 1 - doc_min);
        let position = u64::from(occurrence.position);
        let (gap, position) = (codeword(gap << 1 | 1), codeword(position << 1));
        end = arena.append_two(end, gap, position).ok_or_else(too_long)?;
    }
    while occurrence.next != at {
        at = occurrence.next;
        let next = waiting[at as usize];
        let delta = u64::from(next.position - occurrence.position);
        end = arena.append(end, codeword(delta << 1)).ok_or_else(too_long)?;
        occurrence = next;
    }
    arena.set_end(list, [doc_next, occurrence.position], end);
    Ok(())
}

/// Buffers reused from list to list.
struct Scratch {
    bytes: Box<[u8; batch_reader::TAKEN_BYTES]>,
    numbers: Numbers,
    /// Lengths of all documents in one field, contiguous.
    lengths: Vec<u32>,
    field: Option<Field>,
    /// Highest frequency of a word in each document so far; empty for a field without lists.
    peaks: PerField<Vec<u32>>,
}

impl Scratch {
    fn new() -> Scratch {
        Scratch {
            bytes: Box::new([0; batch_reader::TAKEN_BYTES]),
            numbers: Numbers::default(),
            lengths: Vec::new(),
            field: None,
            peaks: PerField::default(),
        }
    }

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
