//! Tables of frequent words: what such a word is worth in each document of a segment, in a byte, and how often it is there.
//!
//! A word that many documents have, and that is asked for again and again, gets one; so memory goes to the words that
//! questions wait for. A table stays as long as the searcher, whose generation never changes, and no more are made than there
//! is room for. What is done with them: `dense.rs`, `front.rs`.
//!
//! **Invariant.** Where a document lacks the word its bytes are 0. Elsewhere its share is 1 or more, and the word is worth no
//! more there than that many 255ths of what it is worth at most.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use index::Field;

use super::window::present;
use super::word::Word;

/// A word has a table if one document in so many has it, or more.
const SPARSE: u64 = 32;
/// And if it has been asked for so often.
const USES: u32 = 4;
/// How many words are known, and how many places are looked at for one.
const SLOTS: usize = 4096;
const PLACES: usize = 16;
/// So often, or more often.
pub(super) const FULL: u8 = u8::MAX;
/// By how much a share may have been rounded down, relatively, and more.
const MARGIN: f32 = 1e-4;

/// The table of a word in a segment.
pub(crate) struct Table {
    /// For each document what the word is worth there, rounded up.
    pub(super) shares: Vec<u8>,
    /// For each document how often it has the word, of one list; nothing of several.
    pub(super) often: Vec<u8>,
    /// Whether some document has it [`FULL`] times or more often.
    pub(super) has_full: bool,
}

impl Table {
    /// `None` if a list is damaged.
    fn build(word: &mut Word<'_>, doc_count: u32) -> Option<Table> {
        let mut sums = vec![0.0_f32; doc_count as usize];
        let mut often = vec![0; if word.is_single() { doc_count as usize } else { 0 }];
        let mut lengths = Vec::new();
        for list in &mut word.lists {
            let (scale, of) = (list.scale(), list.lengths());
            for block in 0..list.block_count() {
                let (docs, more) = list.block(block);
                if docs.is_empty() {
                    return None;
                }
                lengths.resize(docs.len(), 0);
                of.of(docs, &mut lengths);
                for ((&doc, more), &length) in docs.iter().zip(more).zip(&lengths) {
                    let frequency = more.saturating_add(1);
                    *sums.get_mut(doc as usize)? += present(scale.scaled(frequency, length));
                    if let Some(often) = often.get_mut(doc as usize) {
                        *often = u8::try_from(frequency).unwrap_or(FULL);
                    }
                }
            }
        }
        let saturation = word.saturation;
        let share = |&sum: &f32| if sum > 0.0 { saturation.share(sum, MARGIN) } else { 0 };
        let shares = sums.iter().map(share).collect();
        Some(Table { shares, has_full: often.contains(&FULL), often })
    }

    fn bytes(word: &Word<'_>, doc_count: u32) -> u64 {
        u64::from(doc_count) * if word.is_single() { 2 } else { 1 }
    }
}

/// Which word of which segment.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key<'k> {
    pub(super) segment: usize,
    pub(super) fields: &'k [Field],
    pub(super) term: &'k str,
    /// Whether it counts, or only chooses documents.
    pub(super) is_scored: bool,
}

/// A word that has been asked for.
struct Known {
    segment: usize,
    fields: Vec<Field>,
    term: String,
    is_scored: bool,
    uses: AtomicU32,
    /// `None` if there was no room for it, or its lists are damaged.
    table: OnceLock<Option<Table>>,
}

impl Known {
    fn new(key: &Key<'_>) -> Known {
        let &Key { segment, fields, term, is_scored } = key;
        Known {
            segment,
            fields: fields.to_vec(),
            term: term.to_owned(),
            is_scored,
            uses: AtomicU32::new(0),
            table: OnceLock::new(),
        }
    }

    fn is(&self, key: &Key<'_>) -> bool {
        let Known { segment, fields, term, is_scored, .. } = self;
        let own = Key { segment: *segment, fields, term, is_scored: *is_scored };
        own == *key
    }
}

/// All tables of a generation.
pub(crate) struct Tables {
    slots: OnceLock<Box<[OnceLock<Box<Known>>]>>,
    /// Bytes that there still is room for.
    room: AtomicU64,
}

impl Tables {
    /// None yet, and room for so many bytes.
    pub(crate) fn new(bytes: u64) -> Tables {
        Tables { slots: OnceLock::new(), room: AtomicU64::new(bytes) }
    }

    /// The table of a word, if it has one; made now if it has been asked for often enough.
    pub(super) fn of(&self, key: &Key<'_>, word: &mut Word<'_>, doc_count: u32) -> Option<&Table> {
        if word.cost().saturating_mul(SPARSE) < u64::from(doc_count) {
            return None;
        }
        let known = self.known(key)?;
        if let Some(made) = known.table.get() {
            return made.as_ref();
        }
        // Relaxed: only how often matters.
        if known.uses.fetch_add(1, Ordering::Relaxed) != USES - 1 {
            return None;
        }
        known.table.get_or_init(|| self.make(word, doc_count)).as_ref()
    }

    fn make(&self, word: &mut Word<'_>, doc_count: u32) -> Option<Table> {
        let bytes = Table::bytes(word, doc_count);
        // Relaxed: the number stands for itself.
        let take = |room: u64| room.checked_sub(bytes);
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        let table = Table::build(word, doc_count);
        if table.is_none() {
            self.room.fetch_add(bytes, Ordering::Relaxed);
        }
        table
    }

    /// Where a word is kept; `None` if it is new and all its places are taken.
    fn known(&self, key: &Key<'_>) -> Option<&Known> {
        let slots = self.slots.get_or_init(|| (0..SLOTS).map(|_| OnceLock::new()).collect());
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let first = usize::try_from(hasher.finish() % SLOTS as u64).unwrap_or(0);
        let mut places = (first..first + PLACES).map(|at| &slots[at % SLOTS]);
        places.find_map(|slot| {
            let known = slot.get_or_init(|| Box::new(Known::new(key)));
            known.is(key).then_some(&**known)
        })
    }
}
