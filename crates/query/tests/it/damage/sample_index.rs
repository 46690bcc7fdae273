//! The index to be damaged: small, with four segments that use all codes, deleted documents, and lists with full
//! blocks, chunks of positions and blocks of the lexicon. In the long variant, the records and the lexicon of the
//! last segment are too long to be verified when they are opened.
//!
//! **Invariant.** Every build is the same.

use index::{Config, DocId, DocRecord, Field, IndexWriter, MergePolicy, StreamCode};
use std::path::Path;

/// Words, the most frequent first.
pub(crate) const WORDS: [&str; 24] = [
    "ka",
    "mo",
    "ri",
    "tu",
    "ze",
    "kara",
    "karamo",
    "more",
    "morezu",
    "rima",
    "tuka",
    "zeri",
    "kamo",
    "kari",
    "katu",
    "kaze",
    "moka",
    "mori",
    "motu",
    "moze",
    "riku",
    "rimo",
    "ritu",
    "antidisestablishmentarianism",
];

/// Number of documents of each segment, and its codes of documents, frequencies and positions.
const SEGMENTS: [(u32, [StreamCode; 3]); 4] = [
    (300, [StreamCode::PforUnary, StreamCode::Vbyte, StreamCode::Golomb]),
    (131, [StreamCode::Rans, StreamCode::Packed, StreamCode::Zeta]),
    (20, [StreamCode::PforOptimum, StreamCode::MinimalBinary, StreamCode::PrefixVbyte]),
    (129, [StreamCode::Delta, StreamCode::Gamma, StreamCode::Pfor]),
];

/// The size of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// Short enough to be verified when they are opened.
    Short,
    /// Some are longer.
    Long,
}

/// The segment in which some files may be long.
const LONG: usize = 3;

/// Builds the index: a generation for each segment, and one with deletions.
pub(crate) fn build(dir: &Path, files: Size) {
    let mut random = Random(4);
    for (number, (doc_count, [docs_code, freqs_code, positions_code])) in
        SEGMENTS.into_iter().enumerate()
    {
        let config = Config {
            docs_code,
            freqs_code,
            positions_code,
            merge: MergePolicy::Never,
            threads: 1,
            ..Config::default()
        };
        let begin = if number == 0 { IndexWriter::create } else { IndexWriter::update };
        let mut writer = begin(dir, &config).expect("begun");
        let is_long = files == Size::Long && number == LONG;
        (0..doc_count).for_each(|doc| add(&mut writer, &mut random, doc, is_long));
        writer.commit("what is damaged").expect("committed");
    }
    let config = Config { merge: MergePolicy::Never, threads: 1, ..Config::default() };
    let mut writer = IndexWriter::update(dir, &config).expect("begun");
    // The first segment has champions, which are used only without deleted documents.
    for segment in [1, 2] {
        (0..SEGMENTS[segment].0).step_by(9).for_each(|doc| {
            writer.delete(segment, DocId(doc)).expect("deleted");
        });
    }
    writer.commit("what is damaged").expect("committed");
}

fn add(writer: &mut IndexWriter, random: &mut Random, doc: u32, is_long: bool) {
    let host = ["a.example", "b.example"][random.below(2) as usize];
    let record = DocRecord {
        url: format!("https://{host}/{doc}"),
        title: if is_long {
            noise(random, 1000)
        } else {
            WORDS[random.below(9) as usize].to_owned()
        },
        language: ["en", "it"][random.below(2) as usize].to_owned(),
        date_s: i64::from(random.below(u32::MAX)),
        content: u64::from(random.below(u32::MAX)),
        copies: random.below(3),
    };
    writer.add(&record).expect("added");
    writer.term(Field::Url, &format!("site::{host}"), 0);
    writer.term(Field::Url, &format!("lang::{}", record.language), 0);
    for field in Field::ALL {
        let count = if field == Field::Body { 3 + random.below(12) } else { random.below(3) };
        let mut position = 0;
        if field == Field::Body {
            // In every document, so that its list has full blocks.
            writer.term(field, WORDS[0], position);
        }
        for _ in 0..count {
            // The first words are the most frequent.
            let most = 1 + random.below(u32::try_from(WORDS.len()).expect("few"));
            writer.term(field, WORDS[random.below(most) as usize], position);
            position += 1 + random.below(2) * random.below(40);
        }
        // A document with chunks of its own.
        if field == Field::Body && doc % 50 == 7 {
            (0..200).for_each(|more| writer.term(field, WORDS[0], position + 2 * more));
        }
    }
    // More keys than fit into a bucket of the lexicon.
    for more in 0..4 {
        writer.term(Field::Headings, &format!("rare{:04}", 4 * doc + more), 50 + more);
    }
    if is_long && doc % 6 == 3 {
        writer.term(Field::Title, &noise(random, 4000), 0);
    }
}

/// Text that hardly compresses.
fn noise(random: &mut Random, bytes: usize) -> String {
    (0..bytes)
        .map(|_| char::from(b'!' + u8::try_from(random.below(90)).expect("below 90")))
        .collect()
}

/// `SplitMix64`: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators".
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `bound`, which is not zero.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u32::try_from((((z ^ (z >> 31)) >> 32) * u64::from(bound)) >> 32).expect("below a u32")
    }
}
