//! The numbers of a segment as its streams store them, before coding. For measuring codes.
//!
//! **Invariant.** The numbers of a list are those of `docs`, `freqs` and `positions` in `docs/formats/index.md`,
//! in order.

use super::Segment;
use crate::postings::List;
use crate::{DocIterator, END, Field, Frequencies, IndexError, Positions};

/// The numbers of one posting list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListNumbers {
    /// For each document its gap to the previous one, less one; for the first, the document.
    pub gaps: Vec<u32>,
    /// For each document its frequency, less one.
    pub frequencies: Vec<u32>,
    /// For each occurrence its distance to the previous one; for the first in a document, its position. Empty for
    /// a segment without positions.
    pub positions: Vec<u32>,
}

impl Segment {
    /// Bytes of the lexicon without the data of lists.
    pub fn term_bytes(&self) -> Result<u64, IndexError> {
        Ok(self.sizes().lexicon - self.lexicon.list_bytes()?)
    }

    /// Passes the numbers of every list to `visit`, in the order of the lexicon. Verifies what it reads, and holds
    /// one list at a time in memory.
    pub fn each_list(&self, mut visit: impl FnMut(&ListNumbers)) -> Result<(), IndexError> {
        let (mut numbers, mut positions) = (ListNumbers::default(), Vec::new());
        for block in 0..self.lexicon.block_count() {
            let mut entries = self.lexicon.block(block)?;
            while entries.advance() {
                self.numbers(entries.field, &entries.list, &mut positions, &mut numbers)?;
                visit(&numbers);
            }
        }
        Ok(())
    }

    fn numbers(
        &self,
        field: Field,
        list: &List,
        positions: &mut Vec<u32>,
        out: &mut ListNumbers,
    ) -> Result<(), IndexError> {
        out.gaps.clear();
        out.frequencies.clear();
        out.positions.clear();
        let mut cursor = self.cursor(field, list)?;
        let mut next = 0;
        while cursor.doc() != END {
            out.gaps.push(cursor.doc().0 - next);
            next = cursor.doc().0 + 1;
            out.frequencies.push(cursor.frequency().saturating_sub(1));
            cursor.positions(positions);
            let mut before = 0;
            for &position in &*positions {
                out.positions.push(position - before);
                before = position;
            }
            cursor.next_doc();
        }
        let occurrences = if self.has_positions() { list.total_frequency } else { 0 };
        let counts = (out.gaps.len() as u64, out.positions.len() as u64);
        if counts != (u64::from(list.doc_frequency), occurrences) {
            let start = usize::try_from(list.extents.docs.start).unwrap_or(usize::MAX);
            return Err(self.docs.damaged(start, "not a posting list"));
        }
        Ok(())
    }
}
