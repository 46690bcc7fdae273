//! Champions: the documents of a long list that its term says most about, with how often they have it.
//!
//! They are the first [`Champions::COUNT`] documents by the measure of `maxima.rs`, of equal ones the first by number. A
//! question that asks for no more, of nothing but the term, is answered by them alone; to any other they say what so many
//! documents are worth at the least. Numbers are packed in as many bits as the greatest document has, and a dozen for the
//! occurrences.
//!
//! A list of fewer than [`LEAST`] documents has none, and neither has one where they would not be told from the others:
//! where one of those has nearly the measure of the last champion, but not as many occurrences in as long a field, or where
//! a champion has more occurrences than a dozen bits say. Then its numbers are all zeros.
//!
//! **Invariant.** A document that is no champion has a measure less than every champion by a millionth of it, or as many
//! occurrences in as long a field as the last, and then its number is greater.
//! Reference: C. Manning, P. Raghavan, H. Schütze, "Introduction to Information Retrieval", 2008, section 7.1.3.

use super::maxima::Norm;
use codes::fixed;

/// Lists of fewer documents are evaluated as fast.
const LEAST: u32 = 256;

/// How many bits the occurrences of a champion have.
const FREQUENCY_BITS: u32 = 12;

/// Measures that differ by less, relatively, may be of documents with the same score.
const NEARLY: f64 = 1e-6;

/// How many bytes they take in a list of so many documents, of a segment with so many.
pub(super) fn bytes(doc_frequency: u32, doc_count: u32) -> usize {
    if doc_frequency < LEAST { 0 } else { fixed::bytes(Champions::COUNT, bits(doc_count)) }
}

/// How many bits a champion takes.
fn bits(doc_count: u32) -> u32 {
    u32::BITS - doc_count.saturating_sub(1).leading_zeros() + FREQUENCY_BITS
}

/// Where they lie.
#[derive(Clone, Copy, Debug)]
pub struct Champions<'a> {
    bytes: &'a [u8],
    bits: u32,
}

/// A document, and how often it has the term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Champion {
    /// Its number.
    pub doc: u32,
    /// Its occurrences.
    pub frequency: u32,
}

impl<'a> Champions<'a> {
    /// How many there are: as many as are on a page.
    pub const COUNT: usize = 10;

    /// Of a segment with `doc_count` documents; `None` if the list has none.
    pub(super) fn new(bytes: &'a [u8], doc_count: u32) -> Option<Champions<'a>> {
        let champions = Champions { bytes, bits: bits(doc_count) };
        let are_there = bytes.len() == fixed::bytes(Champions::COUNT, champions.bits)
            && champions.iter().all(|one| one.frequency > 0 && one.doc < doc_count);
        are_there.then_some(champions)
    }

    /// The best first, of the segment's own measure.
    pub fn iter(&self) -> impl Iterator<Item = Champion> + use<'a> {
        let Champions { bytes, bits } = *self;
        (0..Champions::COUNT).map(move |at| {
            let packed = fixed::get(bytes, at, bits);
            let [doc, frequency] = [packed >> FREQUENCY_BITS, packed & ((1 << FREQUENCY_BITS) - 1)]
                .map(|n| u32::try_from(n).unwrap_or(u32::MAX));
            Champion { doc, frequency }
        })
    }
}

/// A document while the list is written.
#[derive(Clone, Copy, Debug)]
struct Rival {
    measure: f64,
    doc: u32,
    frequency: u32,
    length: u32,
}

impl Rival {
    /// Whether the documents have the same score under any parameters.
    fn is_like(&self, other: &Rival) -> bool {
        (self.frequency, self.length) == (other.frequency, other.length)
    }
}

/// Finds the champions of a list whose documents come in their order.
#[derive(Debug, Default)]
pub(crate) struct Contest {
    /// The best first; of equal ones that which came first.
    best: Vec<Rival>,
    /// Of the others the best, and the best that is not like it.
    others: [Option<Rival>; 2],
}

impl Contest {
    pub(super) fn clear(&mut self) {
        self.best.clear();
        self.others = [None; 2];
    }

    /// Whether a document of so great a measure would change anything.
    #[inline]
    pub(crate) fn concerns(&self, measure: f32) -> bool {
        let full = self.best.get(Champions::COUNT - 1);
        full.is_none_or(|last| f64::from(measure) >= last.measure * (1.0 - 4.0 * NEARLY))
    }

    /// Takes the next document.
    pub(crate) fn enter(&mut self, norm: Norm, doc: u32, frequency: u32, length: u32) {
        let rival =
            Rival { measure: norm.exact_measure(frequency, length), doc, frequency, length };
        let place = self.best.partition_point(|one| one.measure >= rival.measure);
        if place < Champions::COUNT {
            self.best.insert(place, rival);
        } else {
            self.lose(rival);
        }
        if self.best.len() > Champions::COUNT
            && let Some(last) = self.best.pop()
        {
            self.lose(last);
        }
    }

    fn lose(&mut self, rival: Rival) {
        let [first, second] = &mut self.others;
        let is_less = |one: &Option<Rival>| one.is_none_or(|one| one.measure < rival.measure);
        if first.is_some_and(|first| first.is_like(&rival)) {
            return;
        }
        if is_less(first) {
            *second = first.replace(rival);
        } else if is_less(second) {
            *second = Some(rival);
        }
    }

    /// Appends the champions of a list of so many documents, of a segment with so many.
    pub(super) fn write(&self, doc_frequency: u32, doc_count: u32, out: &mut Vec<u8>) {
        let length = bytes(doc_frequency, doc_count);
        if length == 0 {
            return;
        }
        let packed = |one: &Rival| u64::from(one.doc) << FREQUENCY_BITS | u64::from(one.frequency);
        if self.is_decided() {
            fixed::write(out, self.best.iter().map(packed), bits(doc_count));
        } else {
            out.resize(out.len() + length, 0);
        }
    }

    /// Whether the champions are better than all others, or those are like the last.
    fn is_decided(&self) -> bool {
        let Some(last) = self.best.get(Champions::COUNT - 1) else { return false };
        let may_tie =
            |other: &Rival| !other.is_like(last) && other.measure >= last.measure * (1.0 - NEARLY);
        let is_told = |one: &Rival| one.frequency < 1 << FREQUENCY_BITS;
        !self.others.iter().flatten().any(may_tie) && self.best.iter().all(is_told)
    }
}
