//! The data of the lists of a block of the lexicon.
//!
//! The document counts of all lists come first, because they are needed most. Then comes the start of the first
//! list, then the rest, list by list. In each stream a list begins where the previous one ends.
//!
//! On any bytes: no panic, and the end of every list fits into 64 bits.

use super::BLOCK_KEYS;
use crate::postings::{self, Extent, Extents, List, Widths};
use codes::vbyte;

/// Appends the data of the lists of a block. `begins` is the start of the lists of its bucket.
pub(super) fn write(lists: &[List], begins: [u64; 4], out: &mut Vec<u8>) {
    for list in lists {
        vbyte::write(out, u64::from(list.doc_frequency));
    }
    if let Some(first) = lists.first() {
        for (start, begin) in starts(first).into_iter().zip(begins) {
            vbyte::write(out, start - begin);
        }
    }
    for list in lists {
        let Extents { docs, freqs, positions, .. } = list.extents;
        vbyte::write(out, list.total_frequency - u64::from(list.doc_frequency));
        if list.doc_frequency > 1 {
            vbyte::write(out, docs.bytes);
        }
        if postings::has_freqs(list.doc_frequency, list.total_frequency) {
            vbyte::write(out, freqs.bytes);
        }
        vbyte::write(out, positions.bytes);
    }
}

/// Start of a list in docs, freqs, positions and skips.
pub(super) fn starts(list: &List) -> [u64; 4] {
    let Extents { docs, freqs, positions, skips } = list.extents;
    [docs, freqs, positions, skips].map(|extent| extent.start)
}

/// Number of documents of the list at `place`.
#[inline]
pub(super) fn doc_frequency(mut bytes: &[u8], place: usize) -> Option<u32> {
    const MORE: u64 = u64::MAX / 255 * 0x80;
    // Usually each count is one byte.
    let first = bytes.first_chunk().map(|&eight| u64::from_le_bytes(eight));
    if let Some(first) = first.filter(|_| place < BLOCK_KEYS)
        && first & MORE & (u64::MAX >> (8 * (BLOCK_KEYS - 1 - place))) == 0
    {
        return Some(first.to_le_bytes()[place].into());
    }
    for _ in 0..place {
        vbyte::read(&mut bytes)?;
    }
    u32::try_from(vbyte::read(&mut bytes)?).ok()
}

/// Iterates over the lists of a block.
#[derive(Debug, Default)]
pub(super) struct Lists<'a> {
    frequencies: &'a [u8],
    rest: &'a [u8],
    /// Start of the next list in docs, freqs, positions and skips.
    begins: [u64; 4],
}

impl<'a> Lists<'a> {
    /// Starts before the first of `count` lists. `begins` is the start of the lists of the bucket.
    #[inline]
    pub(super) fn read(bytes: &'a [u8], count: usize, mut begins: [u64; 4]) -> Option<Lists<'a>> {
        let mut rest = bytes;
        for _ in 0..count {
            vbyte::read(&mut rest)?;
        }
        let frequencies = &bytes[..bytes.len() - rest.len()];
        for begin in &mut begins {
            *begin = begin.checked_add(vbyte::read(&mut rest)?)?;
        }
        Some(Lists { frequencies, rest, begins })
    }

    /// Returns whether all bytes have been read.
    pub(super) fn is_empty(&self) -> bool {
        self.frequencies.is_empty() && self.rest.is_empty()
    }

    /// The list at `place`.
    pub(super) fn nth(mut self, place: usize, doc_count: u32) -> Option<List> {
        for _ in 0..place {
            self.next(doc_count)?;
        }
        self.next(doc_count)
    }

    #[inline]
    pub(super) fn next(&mut self, doc_count: u32) -> Option<List> {
        let rest = &mut self.rest;
        let doc_frequency = u32::try_from(vbyte::read(&mut self.frequencies)?).ok()?;
        let total_frequency = vbyte::read(rest)?.checked_add(u64::from(doc_frequency))?;
        let docs = match doc_frequency {
            1 => postings::first_width(doc_count) as u64,
            _ => vbyte::read(rest)?,
        };
        let has_freqs = postings::has_freqs(doc_frequency, total_frequency);
        let freqs = if has_freqs { vbyte::read(rest)? } else { 0 };
        let positions = vbyte::read(rest)?;
        let extent = |start: u64, bytes: u64| {
            start.checked_add(bytes)?;
            Some(Extent { start, bytes })
        };
        let begins = self.begins;
        let mut extents = Extents {
            docs: extent(begins[0], docs)?,
            freqs: extent(begins[1], freqs)?,
            positions: extent(begins[2], positions)?,
            skips: Extent { start: begins[3], bytes: 0 },
        };
        // Most lists have no skips.
        if !postings::is_short(doc_frequency) {
            let widths = Widths::new(doc_count, &extents);
            extents.skips = extent(begins[3], widths.list_bytes(doc_frequency))?;
        }
        let Extents { docs, freqs, positions, skips } = extents;
        // No overflow: `extent` has checked the sums.
        self.begins = [docs, freqs, positions, skips].map(|extent| extent.start + extent.bytes);
        Some(List { doc_frequency, total_frequency, extents })
    }
}
