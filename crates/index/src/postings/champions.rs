//! Champions: the best documents of a long list, with their frequencies.
//!
//! They are the first [`Champions::COUNT`] documents by the measure of `maxima.rs`; ties are broken by document
//! number. They alone answer a query for this term if it asks for no more results. Any other query gets a lower
//! bound from them: the scores that this many documents reach. Each champion takes as many bits as the greatest
//! document number, and twelve for its frequency.
//!
//! A list of fewer than [`LEAST`] documents has no champions. The same holds for a list without a clear winner:
//! another document has nearly the measure of the last champion, but a different frequency or length. It also
//! holds if a frequency does not fit into twelve bits. Then all champions are zeros.
//!
//! **Invariant.** Every other document has a measure less than that of each champion by at least a millionth of
//! it. Or it has the frequency and length of the last champion, and a greater document number.
//! Reference: C. Manning, P. Raghavan, H. Schütze, "Introduction to Information Retrieval", 2008, section 7.1.3.

use super::maxima::Norm;
use codes::fixed;

/// Shorter lists are as fast to evaluate.
const LEAST: u32 = 256;

/// Bits of the frequency of a champion.
const FREQUENCY_BITS: u32 = 12;

/// Measures with a smaller relative difference may belong to documents with equal scores.
const NEARLY: f64 = 1e-6;

/// Bytes of the champions of a list of `doc_frequency` documents, in a segment of `doc_count`.
pub(super) fn bytes(doc_frequency: u32, doc_count: u32) -> usize {
    if doc_frequency < LEAST { 0 } else { fixed::bytes(Champions::COUNT, bits(doc_count)) }
}

/// Bits of a champion.
fn bits(doc_count: u32) -> u32 {
    u32::BITS - doc_count.saturating_sub(1).leading_zeros() + FREQUENCY_BITS
}

/// The champions of a list, encoded.
#[derive(Clone, Copy, Debug)]
pub struct Champions<'a> {
    bytes: &'a [u8],
    bits: u32,
}

/// A document and the frequency of the term in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Champion {
    /// The document number.
    pub doc: u32,
    /// The frequency.
    pub frequency: u32,
}

impl<'a> Champions<'a> {
    /// Number of champions: one page of results.
    pub const COUNT: usize = 10;

    /// Champions of a list in a segment with `doc_count` documents; `None` if the list has none.
    pub(super) fn new(bytes: &'a [u8], doc_count: u32) -> Option<Champions<'a>> {
        let champions = Champions { bytes, bits: bits(doc_count) };
        let are_there = bytes.len() == fixed::bytes(Champions::COUNT, champions.bits)
            && champions.iter().all(|one| one.frequency > 0 && one.doc < doc_count);
        are_there.then_some(champions)
    }

    /// The champions, best first by the segment's own measure.
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

/// A candidate while the list is written.
#[derive(Clone, Copy, Debug)]
struct Rival {
    measure: f64,
    doc: u32,
    frequency: u32,
    length: u32,
}

impl Rival {
    /// Returns whether both documents have the same score under any parameters.
    fn is_like(&self, other: &Rival) -> bool {
        (self.frequency, self.length) == (other.frequency, other.length)
    }
}

/// Finds the champions of a list whose documents arrive in order.
#[derive(Debug, Default)]
pub(crate) struct Contest {
    /// The best documents, best first; ties in order of arrival.
    best: Vec<Rival>,
    /// The best of the other documents, and the best of those with a different frequency or length.
    others: [Option<Rival>; 2],
}

impl Contest {
    pub(super) fn clear(&mut self) {
        self.best.clear();
        self.others = [None; 2];
    }

    /// Returns whether a document with this measure could change the result.
    #[inline]
    pub(crate) fn concerns(&self, measure: f32) -> bool {
        let full = self.best.get(Champions::COUNT - 1);
        full.is_none_or(|last| f64::from(measure) >= last.measure * (1.0 - 4.0 * NEARLY))
    }

    /// Adds the next document.
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

    /// Appends the champions of a list of `doc_frequency` documents, in a segment of `doc_count`.
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

    /// Returns whether the champions are clearly better than all other documents, or tie only with equals of the
    /// last.
    fn is_decided(&self) -> bool {
        let Some(last) = self.best.get(Champions::COUNT - 1) else { return false };
        let may_tie =
            |other: &Rival| !other.is_like(last) && other.measure >= last.measure * (1.0 - NEARLY);
        let is_told = |one: &Rival| one.frequency < 1 << FREQUENCY_BITS;
        !self.others.iter().flatten().any(may_tie) && self.best.iter().all(is_told)
    }
}
