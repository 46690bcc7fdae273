//! The batch: postings in memory, compressed from the start, until they become a segment.
//!
//! A hash table leads from a key (field and term, as in the lexicon) to its string in an [`Arena`],
//! to which each occurrence is appended, in [`codes::vbyte`]:
//!
//! ```text
//! first in a document   2 × position + 1, then the distance to the document before, less one
//! others                2 × (distance to the position before)
//! ```
//!
//! What does not live here: files; the records of the documents, which go to disk at once.
//!
//! **Invariant.** [`Batch::memory_bytes`] is no less than what the batch takes now and will take
//! while its tables grow once more and while it is written out.

use crate::arena::{Arena, Chain};
use crate::lengths::PerField;
use crate::lexicon::{self, TERM_BYTES_MAX};
use crate::postings::StreamCodes;
use crate::segment::{SegmentMeta, SegmentWriter};
use crate::{Field, IndexError, fixed};
use codes::vbyte;
use xxhash_rust::xxh3::xxh3_64;

/// One posting list in the making.
#[derive(Clone, Copy, Debug)]
struct Growing {
    key: u32,
    key_bytes: u16,
    hash: u32,
    chain: Chain,
    /// The document of the last occurrence, plus one.
    doc_min: u32,
    last_position: u32,
}

/// The documents since the last segment was written.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    arena: Arena,
    lists: Vec<Growing>,
    /// Open addressing: the index of a list, plus one, or zero. A power of two, never full.
    slots: Vec<u32>,
    lengths: Vec<PerField<u32>>,
    longest_list_bytes: usize,
    key: Vec<u8>,
    code: Vec<u8>,
}

impl Batch {
    /// Begins a document.
    pub(crate) fn begin(&mut self) {
        self.lengths.push(PerField::default());
    }

    /// Adds an occurrence to the document begun last.
    pub(crate) fn push(
        &mut self,
        field: Field,
        term: &str,
        position: u32,
    ) -> Result<(), IndexError> {
        if term.len() > TERM_BYTES_MAX {
            return Err(IndexError::Limit {
                what: "bytes of a term",
                found: term.len() as u64,
                max: TERM_BYTES_MAX as u64,
            });
        }
        let doc = u32::try_from(self.lengths.len())
            .ok()
            .and_then(|count| count.checked_sub(1))
            .expect("a document has begun, and there are at most 2³² - 1");
        lexicon::set_key(&mut self.key, field, term);
        let index = self.find_or_insert().ok_or(TOO_LONG)?;
        let list = &mut self.lists[index];
        self.code.clear();
        if list.doc_min == doc + 1 {
            let delta = position.checked_sub(list.last_position).ok_or(IndexError::Misuse {
                doc,
                what: "the positions of a term in a field must ascend",
            })?;
            vbyte::write(&mut self.code, u64::from(delta) << 1);
        } else {
            vbyte::write(&mut self.code, u64::from(position) << 1 | 1);
            vbyte::write(&mut self.code, u64::from(doc - list.doc_min));
        }
        self.arena.append(&mut list.chain, &self.code).ok_or(TOO_LONG)?;
        list.doc_min = doc + 1;
        list.last_position = position;
        self.longest_list_bytes = self.longest_list_bytes.max(list.chain.bytes());
        let length = &mut self.lengths[doc as usize][field as usize];
        *length = length.saturating_add(1);
        Ok(())
    }

    /// How much memory to count for the batch.
    pub(crate) fn memory_bytes(&self) -> usize {
        let sorting = self.lists.len() * size_of::<(u64, u32)>();
        self.arena.memory_bytes()
            + growing_bytes(self.lists.len(), self.lists.capacity(), size_of::<Growing>())
            + growing_bytes(self.lengths.len(), self.lengths.capacity(), size_of::<PerField<u32>>())
            + growing_bytes(2 * self.lists.len(), self.slots.len(), size_of::<u32>())
            + sorting
            + self.longest_list_bytes
    }

    /// Writes the batch out as a segment, whose records are already in `segment`.
    pub(crate) fn write(
        self,
        codes: StreamCodes,
        segment: SegmentWriter,
    ) -> Result<SegmentMeta, IndexError> {
        let totals = std::array::from_fn(|field| {
            self.lengths.iter().map(|lengths| u64::from(lengths[field])).sum()
        });
        let mut out = segment.lists(codes, totals)?;
        let (mut bytes, mut positions) = (Vec::new(), Vec::new());
        for index in self.sorted() {
            let list = &self.lists[index];
            let field = Field::of_key(self.key(list)).expect("was made of one");
            out.begin_list(field);
            self.arena.read(&list.chain, &mut bytes);
            let (mut rest, mut doc_next) = (&bytes[..], 0);
            let mut code = vbyte::read(&mut rest);
            while let Some(first) = code {
                let gap = vbyte::read(&mut rest).expect("a document follows its first position");
                let doc = doc_next + narrow(gap);
                positions.clear();
                positions.push(narrow(first >> 1));
                code = vbyte::read(&mut rest);
                while let Some(delta) = code.filter(|code| code & 1 == 0) {
                    positions.push(positions[positions.len() - 1] + narrow(delta >> 1));
                    code = vbyte::read(&mut rest);
                }
                out.push(doc, self.lengths[doc as usize][field as usize], &positions)?;
                doc_next = doc + 1;
            }
            out.finish_list(self.key(list))?;
        }
        let mut bounds = PerField::<u32>::default();
        for lengths in &self.lengths {
            bounds = std::array::from_fn(|field| bounds[field].max(lengths[field]));
        }
        let widths = bounds.map(|bound| fixed::width(u64::from(bound)));
        let lengths = Field::ALL.into_iter().flat_map(|field| {
            self.lengths.iter().map(move |lengths| (field, lengths[field as usize]))
        });
        out.finish(widths, lengths)
    }

    fn key(&self, list: &Growing) -> &[u8] {
        self.arena.stored(list.key, usize::from(list.key_bytes))
    }

    /// The lists in the order of their keys. The first eight bytes settle most comparisons.
    fn sorted(&self) -> impl Iterator<Item = usize> {
        let head = |key: &[u8]| {
            let mut head = [0; 8];
            let bytes = key.len().min(8);
            head[..bytes].copy_from_slice(&key[..bytes]);
            u64::from_be_bytes(head)
        };
        let mut order: Vec<(u64, u32)> =
            self.lists.iter().zip(0..).map(|(list, index)| (head(self.key(list)), index)).collect();
        order.sort_unstable_by(|a, b| {
            let key = |index: u32| self.key(&self.lists[index as usize]);
            a.0.cmp(&b.0).then_with(|| key(a.1).cmp(key(b.1)))
        });
        order.into_iter().map(|(_, index)| index as usize)
    }

    /// The list of `self.key`; `None` when the arena is full.
    fn find_or_insert(&mut self) -> Option<usize> {
        if 2 * (self.lists.len() + 1) > self.slots.len() {
            self.grow_slots();
        }
        // The upper half of the hash is kept; growing needs no more.
        let hash = (xxh3_64(&self.key) >> 32) as u32;
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(index) = (self.slots[slot] as usize).checked_sub(1) {
            let list = &self.lists[index];
            if list.hash == hash && self.key(list) == self.key {
                return Some(index);
            }
            slot = (slot + 1) & mask;
        }
        let key = self.arena.store(&self.key)?;
        let key_bytes = u16::try_from(self.key.len()).expect("`push` has checked the term");
        let chain = self.arena.chain()?;
        self.lists.push(Growing { key, key_bytes, hash, chain, doc_min: 0, last_position: 0 });
        self.slots[slot] = u32::try_from(self.lists.len()).expect("each list has an address");
        Some(self.lists.len() - 1)
    }

    fn grow_slots(&mut self) {
        let count = (2 * self.slots.len()).max(64);
        self.slots = vec![0; count];
        for (list, number) in self.lists.iter().zip(1..) {
            let mut slot = list.hash as usize & (count - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (count - 1);
            }
            self.slots[slot] = number;
        }
    }
}

const TOO_LONG: IndexError = IndexError::Limit {
    what: "bytes of postings between two documents",
    found: 1 << 32,
    max: 1 << 32,
};

/// What a vector takes; if it is nearly full, what it will take while it moves to one of twice the
/// size.
fn growing_bytes(len: usize, capacity: usize, item_bytes: usize) -> usize {
    let soon = len >= capacity - capacity / 8;
    item_bytes * if soon { 3 * capacity } else { capacity }
}

/// A number that was put in as 32 bits.
fn narrow(n: u64) -> u32 {
    u32::try_from(n).expect("was written from 32 bits")
}
