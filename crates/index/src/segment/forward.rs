//! Builds the forward index of a segment, the input of document ordering.
//!
//! The size is limited by the given memory. If it is too small for all lists, those with the fewest documents are
//! left out; they matter least.

use super::Segment;
use crate::order::Forward;
use crate::{DocId, DocIterator, END, IndexError};

/// Rarer terms say little about where a document belongs.
const DOC_FREQUENCY_MIN: u32 = 4;

pub(crate) fn forward(segment: &Segment, memory_bytes: usize) -> Result<Forward, IndexError> {
    let least = least_frequency(segment, memory_bytes / size_of::<u32>())?;
    let doc_count = segment.doc_count() as usize;
    let mut starts = vec![0; doc_count + 1];
    each_doc(segment, least, |_, doc| starts[doc.0 as usize + 1] += 1)?;
    for doc in 0..doc_count {
        starts[doc + 1] += starts[doc];
    }
    let mut next = starts.clone();
    let mut terms = vec![0; starts[doc_count]];
    let term_count = each_doc(segment, least, |term, doc| {
        let at = &mut next[doc.0 as usize];
        // The space was counted above. If the files have changed since, the result is discarded later.
        if let Some(place) = terms.get_mut(*at) {
            *place = term;
            *at += 1;
        }
    })?;
    Ok(Forward { starts, terms, term_count: term_count as usize })
}

/// The least document frequency for which all lists with at least that have at most `room` documents together.
fn least_frequency(segment: &Segment, room: usize) -> Result<u32, IndexError> {
    // Total length of the lists, by the number of bits of their length.
    let mut by_bits = [0_u64; 33];
    let mut entries = segment.lexicon.all()?;
    while entries.advance() {
        let doc_frequency = entries.list.doc_frequency;
        by_bits[(u32::BITS - doc_frequency.leading_zeros()) as usize] += u64::from(doc_frequency);
    }
    let mut least = DOC_FREQUENCY_MIN;
    loop {
        let from = (u32::BITS - least.leading_zeros()) as usize;
        let sum: u64 = by_bits[from..].iter().sum();
        match least.checked_mul(2) {
            Some(twice) if sum > room as u64 => least = twice,
            _ => return Ok(least),
        }
    }
}

/// Passes the documents of every list with at least `least` documents to `visit`, together with a number for the
/// term. Returns the number of terms.
fn each_doc(
    segment: &Segment,
    least: u32,
    mut visit: impl FnMut(u32, DocId),
) -> Result<u32, IndexError> {
    let mut number = 0;
    let mut entries = segment.lexicon.all()?;
    while entries.advance() {
        if entries.list.doc_frequency < least {
            continue;
        }
        let mut postings = segment.cursor(entries.field, &entries.list)?;
        while postings.doc() != END {
            visit(number, postings.doc());
            postings.next_doc();
        }
        number += 1;
    }
    if entries.is_broken() {
        return Err(segment.lexicon.file().damaged(0, "not a lexicon"));
    }
    Ok(number)
}
