//! Tables of frequent words: what such a word is worth in each document of a segment, in a byte, and how often it is there.
//!
//! A word that many documents have gets one when it has been asked for a few times: who asks once pays nothing. A table stays
//! as long as the searcher, whose generation never changes; once there is no more room, words that come later get none. To
//! make one takes four more bytes for each document, for as long. What is done with them: `dense.rs`, `front.rs`.
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
        let share = |&sum: &f32| if sum > 0.0 { saturation.share(sum) } else { 0 };
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
    /// How many bytes there are for tables, and for how many there still is room.
    bytes: u64,
    room: AtomicU64,
}

impl Tables {
    /// None yet, and room for so many bytes.
    pub(crate) fn new(bytes: u64) -> Tables {
        Tables { slots: OnceLock::new(), bytes, room: AtomicU64::new(bytes) }
    }

    /// The table of a word, if it has one; made now if it has been asked for often enough.
    pub(super) fn of(&self, key: &Key<'_>, word: &mut Word<'_>, doc_count: u32) -> Option<&Table> {
        let is_sparse = word.cost().saturating_mul(SPARSE) < u64::from(doc_count);
        if is_sparse || Table::bytes(word, doc_count) > self.bytes {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::block_max::Workspaces;
    use crate::block_max::shape::{Forms, Wanted};
    use crate::scorers::Statistics;
    use index::{DocId, DocRecord, Index, IndexWriter};

    const DOCUMENTS: u32 = 4000;
    const FIELDS: [Field; 2] = [Field::Title, Field::Body];

    /// `often` is in every third document, up to 300 times; `seldom` in one of a hundred.
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

    /// Asks once for the table of a word in some fields, and hands it to `check`, with what the word is worth in a document.
    fn ask(
        index: &Index,
        tables: &Tables,
        (fields, term): (&[Field], &str),
        check: impl FnOnce(Option<&Table>, &mut dyn FnMut(u32) -> Option<f32>, f32),
    ) {
        let statistics = Statistics::new(index, &Config::default());
        let segment = &index.segments()[0];
        let asked: Vec<(Field, &str)> = fields.iter().map(|&field| (field, term)).collect();
        let lists = segment.lists(&asked).expect("whole");
        Workspaces::default().with(|_, rooms| {
            let found = fields.iter().copied().zip(lists).zip(rooms.take(fields.len()));
            let wanted = Wanted { fields, forms: Forms::One(term), is_scored: true };
            let exact = Some(statistics.scorer(fields, &[0, 0, 1500, 0, 0]));
            let word = Word::new(&wanted, segment, &statistics, exact, found);
            let mut word = word.expect("some document has it");
            let key = Key { segment: 0, fields, term, is_scored: true };
            let table = tables.of(&key, &mut word, segment.doc_count());
            word.lists.iter_mut().for_each(|list| list.go_to(0));
            let limit = word.limit();
            check(table, &mut |doc| word.look_up(doc), limit);
        });
    }

    fn has_table(index: &Index, tables: &Tables, of: (&[Field], &str)) -> bool {
        let mut found = false;
        ask(index, tables, of, |table, _, _| found = table.is_some());
        found
    }

    #[test]
    fn a_frequent_word_has_a_table_from_its_fourth_use_on() {
        let (index, tables) = (index(), Tables::new(1 << 30));
        let found: Vec<bool> =
            (0..6).map(|_| has_table(&index, &tables, (&FIELDS, "often"))).collect();
        assert_eq!(found, [false, false, false, true, true, true]);
        assert!(!(0..9).any(|_| has_table(&index, &tables, (&FIELDS, "seldom"))));
        // In other fields it is another word.
        assert!(!has_table(&index, &tables, (&FIELDS[1..], "often")));
    }

    #[test]
    fn there_is_no_table_without_room() {
        let index = index();
        let bytes = u64::from(DOCUMENTS);
        for (room, expected) in
            [(0, [false; 3]), (bytes, [true, false, false]), (3 * bytes, [true, true, false])]
        {
            let tables = Tables::new(room);
            let words: [(&[Field], &str); 3] =
                [(&FIELDS, "often"), (&FIELDS[1..], "often"), (&FIELDS[1..], "filler")];
            let found =
                words.map(|of| (0..5).filter(|_| has_table(&index, &tables, of)).count() == 2);
            assert_eq!(found, expected, "{room}");
        }
    }

    #[test]
    fn a_table_says_no_less_than_a_word_is_worth_and_how_often_it_is_there() {
        let (index, tables) = (index(), Tables::new(1 << 30));
        for fields in [&FIELDS[..], &FIELDS[1..]] {
            (0..3).for_each(|_| assert!(!has_table(&index, &tables, (fields, "often"))));
            ask(&index, &tables, (fields, "often"), |table, worth, limit| {
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
                    let most = limit * f32::from(share) / 255.0;
                    assert!(worth <= most, "{doc}: {worth} of {most}");
                    assert!(
                        worth > limit * (f32::from(share) - 1.1) / 255.0,
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
