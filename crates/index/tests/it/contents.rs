//! The contents of an index in a naive form: the model for the other tests.
//!
//! [`Contents`] is computed from documents without the crate, and read from an index through all its methods. The
//! two must be equal.

use index::{
    Config, DocId, DocIterator, DocRecord, END, FILTER_MARK, Field, Frequencies, Index, IndexError,
    IndexWriter, ListNumbers, Positions, Segment,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A document: its record, and its terms in the order of writing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Doc {
    pub(crate) record: DocRecord,
    pub(crate) terms: Vec<(Field, String, u32)>,
}

/// For each document of a list, its number and the positions.
pub(crate) type List = Vec<(u32, Vec<u32>)>;

/// Everything that can be read from an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) records: Vec<DocRecord>,
    /// Lengths of the fields of each document.
    pub(crate) lengths: Vec<[u32; 5]>,
    /// Frequency of the most frequent term of each field of each document.
    pub(crate) peaks: Vec<[u32; 5]>,
    pub(crate) lists: BTreeMap<(Field, String), List>,
}

impl Contents {
    /// The expected contents of an index of these documents.
    pub(crate) fn of(docs: &[Doc]) -> Contents {
        let mut contents = Contents::default();
        for (number, doc) in (0..).zip(docs) {
            contents.records.push(doc.record.clone());
            let (mut lengths, mut peaks) = ([0; 5], [0; 5]);
            let mut frequencies = BTreeMap::<(Field, &str), u32>::new();
            for (field, term, position) in &doc.terms {
                let frequency = frequencies.entry((*field, term)).or_default();
                if !term.contains(FILTER_MARK) {
                    lengths[*field as usize] += 1;
                    *frequency += 1;
                    peaks[*field as usize] = peaks[*field as usize].max(*frequency);
                }
                let list = contents.lists.entry((*field, term.clone())).or_default();
                match list.last_mut() {
                    Some((last, positions)) if *last == number => positions.push(*position),
                    _ => list.push((number, vec![*position])),
                }
            }
            contents.lengths.push(lengths);
            contents.peaks.push(peaks);
        }
        contents
    }

    /// Reads the contents of an index.
    pub(crate) fn read(index: &Index) -> Result<Contents, IndexError> {
        let mut contents = Contents::default();
        for segment in index.segments() {
            contents.read_segment(segment)?;
        }
        assert_eq!(index.doc_count(), contents.records.len() as u64);
        Ok(contents)
    }

    fn read_segment(&mut self, segment: &Segment) -> Result<(), IndexError> {
        let base = u32::try_from(self.records.len()).expect("few documents");
        let mut totals = [0_u64; 5];
        for doc in (0..segment.doc_count()).map(DocId) {
            self.records.push(segment.record(doc)?);
            let (mut lengths, mut peaks) = ([0; 5], [0; 5]);
            for (field, length) in Field::ALL.into_iter().zip(&mut lengths) {
                peaks[field as usize] = segment.max_frequencies(field)?.get(doc);
                *length = segment.lengths(field)?.get(doc);
                assert_eq!(segment.length(field, doc), *length);
                totals[field as usize] += u64::from(*length);
            }
            self.lengths.push(lengths);
            self.peaks.push(peaks);
        }
        assert_eq!(Field::ALL.map(|field| segment.length_total(field)), totals);
        let (mut terms, mut postings, mut lists) = (0, 0, Vec::new());
        for field in Field::ALL {
            for (term, doc_frequency) in segment.terms(field, "")? {
                let list = read_list(segment, field, &term)?.expect("every term has a list");
                assert_eq!(list.len(), doc_frequency as usize, "{field:?} {term:?}");
                terms += 1;
                postings += u64::from(doc_frequency);
                lists.push(list.clone());
                let moved = list.into_iter().map(|(doc, positions)| (base + doc, positions));
                self.lists.entry((field, term)).or_default().extend(moved);
            }
        }
        assert_eq!((segment.term_count(), segment.posting_count()), (terms, postings));
        let mut lists = lists.iter();
        segment.each_list(|numbers| assert_eq!(Some(&add_up(numbers)), lists.next()))?;
        assert_eq!(lists.next(), None);
        Ok(())
    }
}

/// Computes the list of these numbers.
fn add_up(numbers: &ListNumbers) -> List {
    let ListNumbers { gaps, frequencies, positions } = numbers;
    assert_eq!(gaps.len(), frequencies.len());
    let (mut next, mut deltas) = (0, positions.iter());
    let documents = gaps.iter().zip(frequencies).map(|(gap, &frequency)| {
        let (doc, mut last) = (next + gap, 0);
        next = doc + 1;
        let position = |delta: &u32| {
            last += delta;
            last
        };
        (doc, deltas.by_ref().take(frequency as usize + 1).map(position).collect())
    });
    let list = documents.collect();
    assert_eq!(deltas.next(), None);
    list
}

/// Reads a list of a segment.
pub(crate) fn read_list(
    segment: &Segment,
    field: Field,
    term: &str,
) -> Result<Option<List>, IndexError> {
    let Some(mut postings) = segment.postings(field, term)? else { return Ok(None) };
    let (mut list, mut positions, mut total) = (List::new(), Vec::new(), 0);
    while postings.doc() != END {
        postings.positions(&mut positions);
        assert_eq!(postings.frequency() as usize, positions.len());
        total += positions.len() as u64;
        list.push((postings.doc().0, positions.clone()));
        postings.next_doc();
    }
    assert_eq!(postings.doc_frequency() as usize, list.len());
    assert_eq!(postings.total_frequency(), total);
    Ok(Some(list))
}

/// Builds an index of these documents.
pub(crate) fn build(dir: &Path, memory_bytes: usize, docs: &[Doc], source: &str) -> u64 {
    try_build(dir, memory_bytes, docs, source).expect("the index is built")
}

/// Builds an index of these documents; may fail.
pub(crate) fn try_build(
    dir: &Path,
    memory_bytes: usize,
    docs: &[Doc],
    source: &str,
) -> Result<u64, IndexError> {
    write_docs(dir, &Config { memory_bytes, ..Config::default() }, docs, source)
}

/// Writes these documents with a given configuration.
pub(crate) fn write_docs(
    dir: &Path,
    config: &Config,
    docs: &[Doc],
    source: &str,
) -> Result<u64, IndexError> {
    let mut writer = IndexWriter::create(dir, config)?;
    for (number, doc) in (0..).zip(docs) {
        assert_eq!(writer.add(&doc.record)?, DocId(number));
        for (field, term, position) in &doc.terms {
            writer.term(*field, term, *position);
        }
    }
    writer.commit(source)
}

/// Opens the index of a folder and reads all of it.
pub(crate) fn contents_of(dir: &Path) -> Result<Contents, IndexError> {
    Contents::read(&Index::open(dir)?)
}

/// The files of the only segment of an index.
pub(crate) fn segment_files(dir: &Path) -> Vec<Vec<u8>> {
    let is_segment = |name: &String| name.starts_with("segment-");
    let mut segments = crate::commits::names(dir).into_iter().filter(is_segment);
    let folder = dir.join(segments.next().expect("a segment"));
    assert_eq!(segments.next(), None, "what was written on the way is removed");
    let names = crate::commits::names(&folder);
    names.into_iter().map(|name| fs::read(folder.join(name)).expect("reads")).collect()
}

/// Random documents. The probability of term `i` decreases with `i`, so some lists have hundreds of documents and
/// most have few. `vocabulary` is the number of terms.
pub(crate) fn random_docs(seed: u64, count: u32, vocabulary: u32) -> Vec<Doc> {
    let mut random = Random(seed);
    (0..count).map(|number| random_doc(&mut random, number, vocabulary)).collect()
}

fn random_doc(random: &mut Random, number: u32, vocabulary: u32) -> Doc {
    let mut doc = Doc {
        record: DocRecord {
            url: format!("https://{}.example/{number}", random.below(7)),
            title: ["", "Ünïcödé", "a title that is the same in many documents"]
                [random.below(3) as usize]
                .to_owned(),
            language: ["", "it", "de"][random.below(3) as usize].to_owned(),
            date_s: i64::from(random.below(1 << 31)) - (1 << 30),
            content: u64::from(random.below(u32::MAX)) << random.below(33),
            copies: random.below(3),
        },
        terms: Vec::new(),
    };
    for rank in 0..vocabulary {
        if random.below(rank + 1) > 1 {
            continue;
        }
        // The first term is in the body of every document, so its list has full blocks.
        let field = if rank == 0 { Field::Body } else { Field::ALL[random.below(5) as usize] };
        // Positions are mostly close together, sometimes far apart, sometimes equal.
        let (mut position, most) = (random.below(4), 1 << random.below(6));
        for _ in 0..=random.below(most) {
            doc.terms.push((field, term(rank), position));
            let reach = if random.below(50) == 0 { 1 << 20 } else { 9 };
            position += random.below(reach);
        }
    }
    doc
}

/// The term of a rank. Terms have different lengths and common prefixes; one is empty.
pub(crate) fn term(rank: u32) -> String {
    match rank {
        0 => "the".to_owned(),
        1 => String::new(),
        2 => "é".repeat(300),
        _ if rank.is_multiple_of(3) => format!("pre{}", rank * 7919 % 1009),
        _ => format!("{:b}", rank * 31),
    }
}

/// `SplitMix64`: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators".
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `bound`, which must not be zero.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((((z ^ (z >> 31)) >> 32) * u64::from(bound)) >> 32) as u32
    }
}
