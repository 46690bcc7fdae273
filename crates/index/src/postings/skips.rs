//! Skips: for every full block of a posting list, its last document and where the next block begins.
//!
//! ```text
//! last     the last document of each block maxima   the greatest measure of each block, a byte each, including a
//! last block that is not full; see `maxima.rs` next     for each block, where the next one begins: offset in
//! docs, in freqs, in positions
//! ```
//!
//! A list without a full block has no skips. The champions of the list follow the skips; see `champions.rs`.
//!
//! The other columns have a fixed width, the least number of bytes that hold their bound. The bounds are the
//! number of documents, and the lengths of the list in docs, freqs and positions. The reader knows these from the
//! lexicon.
//!
//! **Invariant.** Finding the block of a document *d* blocks ahead reads O(log *d*) entries.
//! Reference: J. L. Bentley, A. C.-C. Yao, "An almost optimal algorithm for unbounded searching", Information
//! Processing Letters 5(3), 1976.

use super::champions::{self, Champions};
use super::{BLOCK, Extents, Maximum};
use crate::file::fixed;

/// The entry of a full block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Skip {
    /// Last document of the block.
    pub(crate) last_doc: u32,
    /// Start of the next block in docs, relative to the list.
    pub(crate) docs: u64,
    /// Start of the next block in freqs, relative to the list.
    pub(crate) freqs: u64,
    /// Start of the next block in positions, relative to the list.
    pub(crate) positions: u64,
    /// Greatest measure of the block.
    pub(crate) maximum: Maximum,
}

/// Bytes of each column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Widths {
    /// Mask of a document number.
    last_doc_mask: u32,
    doc_count: u32,
    last_doc: u8,
    docs: u8,
    freqs: u8,
    positions: u8,
}

impl Widths {
    pub(crate) fn new(doc_count: u32, extents: &Extents) -> Widths {
        // Each fits into a byte: at most eight.
        let width = |bound: u64| fixed::width(bound).to_le_bytes()[0];
        let last_doc = width(u64::from(doc_count));
        Widths {
            last_doc,
            last_doc_mask: u32::MAX.checked_shr(u32::BITS - 8 * u32::from(last_doc)).unwrap_or(0),
            docs: width(extents.docs.bytes),
            freqs: width(extents.freqs.bytes),
            positions: width(extents.positions.bytes),
            doc_count,
        }
    }

    /// Bytes of the skips and champions of a list.
    pub(crate) fn list_bytes(&self, doc_frequency: u32) -> u64 {
        (self.rows_bytes(doc_frequency) + champions::bytes(doc_frequency, self.doc_count)) as u64
    }

    /// Bytes of the skips without the champions.
    fn rows_bytes(&self, doc_frequency: u32) -> usize {
        let (blocks, maxima) = counts(doc_frequency);
        blocks as usize * (usize::from(self.last_doc) + self.next_bytes()) + maxima as usize
    }

    fn next_bytes(&self) -> usize {
        usize::from(self.docs + self.freqs + self.positions)
    }
}

/// Number of full blocks of a list, and number of maxima.
fn counts(doc_frequency: u32) -> (u32, u32) {
    #[expect(clippy::cast_possible_truncation, reason = "it is small")]
    const DOCUMENTS: u32 = BLOCK as u32;
    let blocks = doc_frequency / DOCUMENTS;
    (blocks, if blocks > 0 { doc_frequency.div_ceil(DOCUMENTS) } else { 0 })
}

/// Appends the skips of a list. `tail` is the maximum of a last block that is not full.
pub(crate) fn write(skips: &[Skip], tail: Option<Maximum>, widths: &Widths, out: &mut Vec<u8>) {
    for skip in skips {
        fixed::put(out, u64::from(skip.last_doc), usize::from(widths.last_doc));
    }
    out.extend(skips.iter().map(|skip| skip.maximum.0));
    out.extend(tail.filter(|_| !skips.is_empty()).map(|maximum| maximum.0));
    for skip in skips {
        fixed::put(out, skip.docs, usize::from(widths.docs));
        fixed::put(out, skip.freqs, usize::from(widths.freqs));
        fixed::put(out, skip.positions, usize::from(widths.positions));
    }
}

/// The skips of a list, searched without decoding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skips<'a> {
    bytes: &'a [u8],
    count: u32,
    maxima: u32,
    widths: Widths,
}

impl<'a> Skips<'a> {
    /// `bytes` are the skips of a list, with columns of these widths.
    pub(crate) fn new(bytes: &'a [u8], doc_frequency: u32, widths: Widths) -> Skips<'a> {
        let (count, maxima) = counts(doc_frequency);
        Skips { bytes, count, maxima, widths }
    }

    /// The least document that a block may begin with.
    #[inline]
    pub(crate) fn first_doc(&self, block: usize) -> Option<u32> {
        match block.checked_sub(1) {
            None => Some(0),
            Some(before) => self.last_doc(before)?.checked_add(1),
        }
    }

    /// Start of a block in docs, relative to the list.
    #[inline]
    pub(crate) fn docs(&self, block: usize) -> Option<usize> {
        self.begin(block, 0, self.widths.docs)
    }

    /// Start of a block in freqs, relative to the list.
    #[inline]
    pub(crate) fn freqs(&self, block: usize) -> Option<usize> {
        self.begin(block, self.widths.docs, self.widths.freqs)
    }

    /// Start of a block in positions, relative to the list.
    #[inline]
    pub(crate) fn positions(&self, block: usize) -> Option<usize> {
        let Widths { docs, freqs, positions, .. } = self.widths;
        self.begin(block, docs + freqs, positions)
    }

    /// Reads a column from the row of the previous block; zero for the first block.
    #[inline]
    fn begin(&self, block: usize, offset: u8, width: u8) -> Option<usize> {
        let Some(row) = block.checked_sub(1) else { return Some(0) };
        let rows = self.lasts_bytes() + self.maxima as usize;
        let at = rows + row * self.widths.next_bytes() + usize::from(offset);
        let begin = fixed::get(self.bytes, at, usize::from(width))?;
        usize::try_from(begin).ok().filter(|_| row < self.count as usize)
    }

    /// The champions of the list.
    pub(crate) fn champions(&self, doc_frequency: u32) -> Option<Champions<'a>> {
        Champions::new(self.champion_bytes(doc_frequency), self.widths.doc_count)
    }

    /// The encoded champions of the list.
    pub(crate) fn champion_bytes(&self, doc_frequency: u32) -> &'a [u8] {
        self.bytes.get(self.widths.rows_bytes(doc_frequency)..).unwrap_or_default()
    }

    /// Greatest measure of a block.
    #[inline]
    pub(crate) fn maximum(&self, block: usize) -> Option<Maximum> {
        self.maxima().get(block).map(|&code| Maximum(code))
    }

    /// The encoded greatest measures of all blocks; empty for a list without a full block.
    #[inline]
    pub(crate) fn maxima(&self) -> &'a [u8] {
        let start = self.lasts_bytes();
        self.bytes.get(start..start + self.maxima as usize).unwrap_or_default()
    }

    /// Bytes of the column of last documents.
    #[inline]
    fn lasts_bytes(&self) -> usize {
        self.count as usize * usize::from(self.widths.last_doc)
    }

    /// The first block from `from` on whose last document is not before `target`, by galloping and then bisection.
    /// Returns the number of full blocks if every block ends before it.
    #[inline]
    pub(crate) fn find(&self, from: usize, target: u32) -> usize {
        let before = |block: usize| self.last_doc(block).is_some_and(|last| last < target);
        let count = self.count as usize;
        let (mut low, mut step) = (from, 1);
        // Every block in `from..low` ends before the target.
        while low < count && before((low + step - 1).min(count - 1)) {
            low = (low + step).min(count);
            step *= 2;
        }
        let mut high = (low + step - 1).min(count);
        while low < high {
            let middle = low + (high - low) / 2;
            if before(middle) { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Last document of a full block.
    #[inline]
    pub(crate) fn last_doc(&self, block: usize) -> Option<u32> {
        if block >= self.count as usize {
            return None;
        }
        let width = usize::from(self.widths.last_doc);
        let rest = self.bytes.get(block * width..)?;
        // The fast path: usually more entries follow.
        if let Some(four) = rest.first_chunk() {
            return Some(u32::from_le_bytes(*four) & self.widths.last_doc_mask);
        }
        u32::try_from(fixed::get(rest, 0, width)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Extent;
    use super::*;

    #[test]
    fn find_matches_a_linear_scan() {
        let extents = Extents {
            docs: Extent { start: 0, bytes: 300 },
            freqs: Extent { start: 9, bytes: 70_000 },
            positions: Extent { start: 0, bytes: 1 },
            ..Extents::default()
        };
        let widths = Widths::new(400, &extents);
        for count in 0..20_u32 {
            let skips: Vec<Skip> = (0..count)
                .map(|i| Skip {
                    last_doc: 3 * i * i,
                    docs: u64::from(i),
                    freqs: 1000 * u64::from(i),
                    positions: 1,
                    maximum: Maximum(u8::try_from(7 * i).expect("small")),
                })
                .collect();
            let mut bytes = Vec::new();
            let tail = (count % 2 == 1).then_some(Maximum(200));
            write(&skips, tail, &widths, &mut bytes);
            let documents = count * 128 + count % 2 * 77;
            assert_eq!(bytes.len(), widths.rows_bytes(documents));
            let subject = Skips::new(&bytes, documents, widths);
            assert_eq!(subject.maximum(skips.len()), tail);
            for (i, skip) in skips.iter().enumerate() {
                let found = (subject.docs(i + 1), subject.freqs(i + 1), subject.positions(i + 1));
                let written = [skip.docs, skip.freqs, skip.positions];
                let [docs, freqs, positions] = written.map(|n| usize::try_from(n).ok());
                assert_eq!(found, (docs, freqs, positions));
                assert_eq!(subject.first_doc(i + 1), Some(skip.last_doc + 1));
                assert_eq!(subject.maximum(i), Some(skip.maximum));
            }
            for from in 0..=skips.len() {
                for target in 0..1100 {
                    let rest = skips[from..].iter().position(|skip| skip.last_doc >= target);
                    let expected = rest.map_or(skips.len(), |ahead| from + ahead);
                    assert_eq!(subject.find(from, target), expected, "{count} {from} {target}");
                }
            }
        }
    }
}
