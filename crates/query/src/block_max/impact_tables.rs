//! Tables of frequent words: a byte with the quantized score of the word in each document of a segment, and a byte
//! with its frequency.
//!
//! A word in many documents gets a table after it was used in a few queries. A query builds at most one table. A
//! table lives as long as the searcher, whose generation never changes. Memory goes to the first words that
//! qualify. Each time the free memory halves, the required number of uses is multiplied by four. The users of
//! tables are `impact_sum.rs` and `block_candidates.rs`.
//!
//! **Invariant.** If a document lacks the word, its bytes are 0. Otherwise its share is at least 1, and the score
//! of the word is at most share / 255 of the score's upper bound.
//!
//! V. N. Anh, O. de Kretser, A. Moffat, "Vector-space ranking with effective early termination", SIGIR 2001
//! (precomputed scores of one byte).

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use index::Field;

use super::list::List;
use super::window::{WINDOW_MAX, present};
use super::word::Word;

/// A word may have a table if at least one in this many documents contains it.
const SPARSE: u64 = 32;
/// Least size of a segment with tables. Smaller ones are fast without.
const DOCS_MIN: u32 = 2048;
/// Least number of uses before a word gets a table. It rises as memory gets scarce.
const USES: u32 = 4;
/// Number of words that are tracked, and number of slots that are probed for one.
const SLOTS: usize = 4096;
const PLACES: usize = 16;
/// Frequency byte of words that occur this often or more.
pub(super) const FULL: u8 = u8::MAX;

/// The table of a word in a segment.
pub(crate) struct ImpactTable {
    /// For each document, the quantized score of the word, rounded up.
    pub(super) shares: Vec<u8>,
    /// For each document, the frequency of the word. Empty if the word has several lists.
    pub(super) often: Vec<u8>,
    /// Whether some frequency is [`FULL`].
    pub(super) has_full: bool,
    /// An upper bound of the score of the word.
    pub(super) most: f32,
}

impl ImpactTable {
    /// Returns `None` if a list is damaged. The lists must be at their start, and are again afterwards.
    fn build(word: &mut Word<'_>, doc_count: u32) -> Option<ImpactTable> {
        let often = if word.is_single() { doc_count as usize } else { 0 };
        let mut shares = vec![0; doc_count as usize];
        let mut often = vec![0; often];
        let mut sums = vec![0.0_f32; doc_count.min(WINDOW_MAX) as usize];
        let mut lengths = Vec::new();
        let saturation = word.saturation;
        let greatest: f32 = word.lists.iter().map(List::greatest_bound).sum();
        // A word of score 0 still needs a share of at least 1.
        let greatest = if greatest > 0.0 { greatest } else { f32::INFINITY };
        let blocks = |word: &Word<'_>| word.lists.iter().map(List::block_count).sum::<usize>();
        let all = blocks(word);
        for start in (0..doc_count).step_by(WINDOW_MAX as usize) {
            let end = start.saturating_add(WINDOW_MAX).min(doc_count);
            for list in &mut word.lists {
                let (scale, of) = (list.scale(), list.lengths());
                list.advance(start);
                list.window(start, end);
                let (docs, tf_minus_one) = list.with_tf_minus_one();
                lengths.resize(docs.len(), 0);
                of.of(docs, &mut lengths);
                for ((&doc, tf_minus_one), &length) in docs.iter().zip(tf_minus_one).zip(&lengths) {
                    let frequency = tf_minus_one.saturating_add(1);
                    sums[(doc - start) as usize] += present(scale.scaled(frequency, length));
                    if let Some(often) = often.get_mut(doc as usize) {
                        *often = u8::try_from(frequency).unwrap_or(FULL);
                    }
                }
            }
            for (share, sum) in shares[start as usize..end as usize].iter_mut().zip(&mut sums) {
                let sum = std::mem::take(sum);
                *share = if sum > 0.0 { saturation.share(sum, greatest) } else { 0 };
            }
        }
        word.lists.iter_mut().for_each(|list| list.go_to(0));
        let table = ImpactTable {
            shares,
            has_full: often.contains(&FULL),
            often,
            most: saturation.bound(greatest),
        };
        // A damaged list ends early.
        (blocks(word) == all).then_some(table)
    }

    fn bytes(word: &Word<'_>, doc_count: u32) -> u64 {
        u64::from(doc_count) * if word.is_single() { 2 } else { 1 }
    }
}

/// Returns whether enough documents contain a word for a table.
pub(super) fn is_frequent(word: &Word<'_>, doc_count: u32) -> bool {
    doc_count >= DOCS_MIN && word.cost().saturating_mul(SPARSE) >= u64::from(doc_count)
}

/// Identifies a word in a segment.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key<'k> {
    pub(super) segment: usize,
    pub(super) fields: &'k [Field],
    pub(super) term: &'k str,
    /// Whether the word contributes to the score. A filter does not.
    pub(super) is_scored: bool,
}

/// A word that was used in a query.
struct Known {
    segment: usize,
    fields: Vec<Field>,
    term: String,
    is_scored: bool,
    uses: AtomicU32,
    /// Whether a query has begun to build its table.
    is_begun: AtomicBool,
    /// `None` if memory did not suffice or a list is damaged.
    table: OnceLock<Option<ImpactTable>>,
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
            is_begun: AtomicBool::new(false),
            table: OnceLock::new(),
        }
    }

    fn is(&self, key: &Key<'_>) -> bool {
        let Known { segment, fields, term, is_scored, .. } = self;
        let own = Key { segment: *segment, fields, term, is_scored: *is_scored };
        own == *key
    }
}

/// The tables of a searcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImpactTablesReport {
    /// The number of tables.
    pub count: u64,
    /// Their memory.
    pub bytes: u64,
}

/// The slot of a word. It is never freed.
type Slot = OnceLock<Box<Known>>;

/// All tables of a generation.
pub(crate) struct ImpactTables {
    slots: OnceLock<Box<[Slot]>>,
    /// Total memory for tables, and the free part of it.
    bytes: u64,
    room: AtomicU64,
    /// The number of tables.
    count: AtomicU64,
}

// All atomics are relaxed: each value is independent of the others.
impl ImpactTables {
    /// Creates an empty collection with a memory limit.
    pub(crate) fn new(bytes: u64) -> ImpactTables {
        let (room, count) = (AtomicU64::new(bytes), AtomicU64::new(0));
        ImpactTables { slots: OnceLock::new(), bytes, room, count }
    }

    pub(crate) fn report(&self) -> ImpactTablesReport {
        let bytes = self.bytes - self.room.load(Ordering::Relaxed);
        ImpactTablesReport { count: self.count.load(Ordering::Relaxed), bytes }
    }

    /// Returns the table of a frequent word. Builds it if the word was used often enough and this query has not
    /// built one yet.
    pub(super) fn of(
        &self,
        key: &Key<'_>,
        word: &mut Word<'_>,
        doc_count: u32,
        has_made: &mut bool,
    ) -> Option<&ImpactTable> {
        if !is_frequent(word, doc_count) || ImpactTable::bytes(word, doc_count) > self.bytes {
            return None;
        }
        let known = self.known(key)?;
        if let Some(made) = known.table.get() {
            return made.as_ref();
        }
        let uses = known.uses.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if *has_made || uses < self.uses_wanted() || known.is_begun.swap(true, Ordering::Relaxed) {
            return None;
        }
        *has_made = true;
        known.table.get_or_init(|| self.make(word, doc_count)).as_ref()
    }

    /// Returns the table of a word if it exists. This does not count as a use.
    pub(super) fn made(&self, key: &Key<'_>) -> Option<&ImpactTable> {
        let slots = self.slots.get()?;
        let known = places(slots, key).map_while(OnceLock::get).find(|known| known.is(key))?;
        known.table.get()?.as_ref()
    }

    /// The required number of uses: four times as many whenever the free memory has halved.
    fn uses_wanted(&self) -> u32 {
        let room = self.room.load(Ordering::Relaxed).max(1);
        let halved = (self.bytes.max(1) / room).ilog2();
        USES << (2 * halved).min(u32::BITS / 2)
    }

    fn make(&self, word: &mut Word<'_>, doc_count: u32) -> Option<ImpactTable> {
        let bytes = ImpactTable::bytes(word, doc_count);
        let take = |room: u64| room.checked_sub(bytes);
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        let table = ImpactTable::build(word, doc_count);
        let (counter, more) = if table.is_some() { (&self.count, 1) } else { (&self.room, bytes) };
        counter.fetch_add(more, Ordering::Relaxed);
        table
    }

    /// The entry of a word, created on first use. Returns `None` if all its slots are taken.
    fn known(&self, key: &Key<'_>) -> Option<&Known> {
        let slots = self.slots.get_or_init(|| (0..SLOTS).map(|_| OnceLock::new()).collect());
        places(slots, key).find_map(|slot| {
            let known = slot.get_or_init(|| Box::new(Known::new(key)));
            known.is(key).then_some(&**known)
        })
    }
}

/// The slots that are probed for a word. It takes the first free one.
fn places<'s>(slots: &'s [Slot], key: &Key<'_>) -> impl Iterator<Item = &'s Slot> {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let first = usize::try_from(hasher.finish() % SLOTS as u64).unwrap_or(0);
    (first..first + PLACES).map(|at| &slots[at % SLOTS])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::block_max::Workspaces;
    use crate::scorers::Statistics;
    use index::{DocId, DocRecord, Index, IndexWriter};

    const DOCUMENTS: u32 = 4000;
    const FIELDS: [Field; 2] = [Field::Title, Field::Body];

    /// `often` is in every third document, up to 300 times. `seldom` is in one of a hundred.
    fn index() -> Index {
        let dir = tempfile::tempdir().expect("a folder");
        let mut writer = IndexWriter::create(dir.path(), &index::Config::default()).expect("begun");
        for doc in 0..DOCUMENTS {
            writer.add(&DocRecord::default()).expect("added");
            if doc % 3 == 0 {
                (0..=doc % 300).for_each(|at| writer.term(Field::Body, "often", at));
            }
            if doc % 5 == 0 {
                writer.term(Field::Title, "often", 0);
            }
            if doc % 100 == 0 {
                writer.term(Field::Body, "seldom", 900);
            }
            writer.term(Field::Body, "filler", 1000);
        }
        writer.commit("test").expect("committed");
        Index::open(dir.path()).expect("opened")
    }

    /// Requests the table of a word once. Passes it to `check` with a function for the score of the word in a
    /// document.
    fn ask(
        index: &Index,
        tables: &ImpactTables,
        (fields, term): (&[Field], &str),
        check: impl FnOnce(Option<&ImpactTable>, &mut dyn FnMut(u32) -> Option<f32>),
    ) {
        let statistics = Statistics::new(index, &Config::default());
        let segment = &index.segments()[0];
        let asked: Vec<(Field, &str)> = fields.iter().map(|&field| (field, term)).collect();
        let lists = segment.lists(&asked).expect("whole");
        Workspaces::default().with(|_, rooms| {
            let found = fields.iter().copied().zip(lists).zip(rooms.take(fields.len()));
            let exact = Some(statistics.scorer(fields, &[0, 0, 1500, 0, 0]));
            let word = Word::new(segment, &statistics, exact, found);
            let mut word = word.expect("some document has it");
            let key = Key { segment: 0, fields, term, is_scored: true };
            let table = tables.of(&key, &mut word, segment.doc_count(), &mut false);
            word.lists.iter_mut().for_each(|list| list.go_to(0));
            check(table, &mut |doc| word.look_up(doc));
        });
    }

    fn has_table(index: &Index, tables: &ImpactTables, of: (&[Field], &str)) -> bool {
        let mut found = false;
        ask(index, tables, of, |table, _| found = table.is_some());
        found
    }

    #[test]
    fn a_frequent_word_gets_a_table_at_fourth_use() {
        let (index, tables) = (index(), ImpactTables::new(1 << 30));
        let found: Vec<bool> =
            (0..6).map(|_| has_table(&index, &tables, (&FIELDS, "often"))).collect();
        assert_eq!(found, [false, false, false, true, true, true]);
        assert!(!(0..9).any(|_| has_table(&index, &tables, (&FIELDS, "seldom"))));
        // In other fields it counts as another word.
        assert!(!has_table(&index, &tables, (&FIELDS[1..], "often")));
    }

    #[test]
    fn a_lookup_creates_no_table() {
        let (index, tables) = (index(), ImpactTables::new(1 << 30));
        let key = |term| Key { segment: 0, fields: &FIELDS, term, is_scored: true };
        assert!(tables.made(&key("often")).is_none());
        let found = (0..USES).filter(|_| has_table(&index, &tables, (&FIELDS, "often"))).count();
        assert_eq!((found, tables.made(&key("often")).is_some()), (1, true));
        let kept = || tables.slots.get().map(|all| all.iter().filter_map(OnceLock::get).count());
        assert!(tables.made(&key("seldom")).is_none());
        assert_eq!(kept(), Some(1));
    }

    #[test]
    fn no_table_is_built_without_memory() {
        let index = index();
        let bytes = u64::from(DOCUMENTS);
        for (room, expected) in
            [(0, [false; 3]), (bytes, [true, false, false]), (3 * bytes, [true, true, false])]
        {
            let tables = ImpactTables::new(room);
            let words: [(&[Field], &str); 3] =
                [(&FIELDS, "often"), (&FIELDS[1..], "often"), (&FIELDS[1..], "filler")];
            let found =
                words.map(|of| (0..5).filter(|_| has_table(&index, &tables, of)).count() == 2);
            assert_eq!(found, expected, "{room}");
        }
    }

    #[test]
    fn a_table_bounds_word_scores_and_holds_frequencies() {
        let (index, tables) = (index(), ImpactTables::new(1 << 30));
        for fields in [&FIELDS[..], &FIELDS[1..]] {
            (0..3).for_each(|_| assert!(!has_table(&index, &tables, (fields, "often"))));
            ask(&index, &tables, (fields, "often"), |table, worth| {
                let table = table.expect("it is the fourth use");
                for doc in 0..DOCUMENTS {
                    let (share, at) = (table.shares[doc as usize], doc as usize);
                    let Some(worth) = worth(DocId(doc).0) else {
                        assert_eq!(
                            (share, table.often.get(at).copied().unwrap_or(0)),
                            (0, 0),
                            "{doc}"
                        );
                        continue;
                    };
                    let most = table.most * f32::from(share) / 255.0;
                    assert!(worth <= most, "{doc}: {worth} of {most}");
                    assert!(
                        worth > table.most * (f32::from(share) - 1.1) / 255.0,
                        "{doc}: {worth} of {most}"
                    );
                    let often = (1 + doc % 300).min(255);
                    assert!(table.often.is_empty() || u32::from(table.often[at]) == often, "{doc}");
                }
                assert_eq!(
                    (table.often.is_empty(), table.has_full),
                    (fields.len() > 1, fields.len() == 1)
                );
            });
        }
    }
}
