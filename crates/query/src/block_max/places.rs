//! Where documents are in a decoded block: single ones are searched for, of many the places are laid out first.
//!
//! **Invariant.** A document is found if the block has it, whatever places were laid out before.

use index::BLOCK;

use super::window::WINDOW_MAX;

/// So many documents are searched for one by one in a block; for more, its places are laid out.
const FEW: usize = 12;

/// So many documents have a place of their own, wherever they begin.
const PLACES: usize = WINDOW_MAX as usize;

/// The documents of a whole block, each with its place.
pub(super) struct Spread<'s> {
    docs: &'s [u32; BLOCK],
    places: &'s [u16; PLACES],
}

/// The same of a block, if that is whole, and it pays to look so many documents up.
#[inline]
pub(super) fn spread<'s>(
    docs: &'s [u32],
    asked: usize,
    places: &'s mut [u16],
) -> Option<Spread<'s>> {
    let (docs, places) = (docs.first_chunk::<BLOCK>()?, places.first_chunk_mut()?);
    let &[first, .., last] = docs;
    if asked <= FEW || (last - first) as usize >= PLACES {
        return None;
    }
    for (place, &doc) in (0..).zip(docs) {
        places[doc as usize % PLACES] = place;
    }
    Some(Spread { docs, places })
}

impl Spread<'_> {
    /// The place of a document, if it is there. One from another time, or of a document that is elsewhere, is seen by its
    /// document.
    #[inline]
    pub(super) fn find(&self, doc: u32) -> (usize, bool) {
        let at = usize::from(self.places[doc as usize % PLACES]);
        (at, self.docs[at % BLOCK] == doc)
    }
}

/// Where a document is among ascending ones, if it is.
#[inline]
pub(super) fn search(docs: &[u32], doc: u32) -> (usize, bool) {
    let at = docs.partition_point(|&one| one < doc);
    (at, docs.get(at) == Some(&doc))
}

/// Which of some documents are found: a bit for each, and the place of each.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the place of one that is found is below 128")]
pub(super) fn each_found(
    docs: &[u32],
    found: &mut [u8; BLOCK],
    find: impl Fn(u32) -> (usize, bool),
) -> u128 {
    let mut halves = [0_u64; 2];
    let asked = docs.chunks(64).zip(found.chunks_mut(64));
    for (half, (docs, found)) in halves.iter_mut().zip(asked) {
        for (bit, (&doc, found)) in (0..64).zip(docs.iter().zip(found)) {
            let (at, is_there) = find(doc);
            *found = at as u8;
            *half |= u64::from(is_there) << bit;
        }
    }
    u128::from(halves[1]) << 64 | u128::from(halves[0])
}
