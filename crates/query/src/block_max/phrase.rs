//! Phrases: checks the positions of words.
//!
//! If each word of a phrase has one list, several documents are checked together, list after list ([`keep`]). A
//! list is read only for documents that may still contain the phrase. Other phrases are checked in one document at
//! a time ([`hold`]).
//!
//! **Invariant.** A word of a phrase counts only in fields that contain the whole phrase.

use super::Word;
use super::intersection::Matches;
use super::shape::Shape;

/// Possible starts of a phrase. The buffers are reused.
#[derive(Default)]
pub(super) struct Starts {
    /// Positions in all documents, concatenated.
    positions: Vec<u32>,
    /// The end of each document in `positions`.
    ends: Vec<usize>,
    /// The words of a phrase by increasing frequency.
    order: Vec<(u32, usize)>,
}

impl Starts {
    fn clear(&mut self) {
        self.positions.clear();
        self.ends.clear();
    }

    /// Keeps the places of documents that have a start, in their order.
    fn keep(&mut self, places: &mut Vec<u32>) {
        let (mut before, mut kept) = (0, 0);
        for at in 0..places.len() {
            let end = self.ends[at];
            (places[kept], self.ends[kept]) = (places[at], end);
            kept += usize::from(end > before);
            before = end;
        }
        places.truncate(kept);
        self.ends.truncate(kept);
    }
}

/// Returns whether the words of each phrase have one list each, all in one field.
pub(super) fn are_lists(groups: &[Vec<Word<'_>>], shape: &Shape<'_>) -> bool {
    shape.phrases.iter().all(|&(unit, _)| {
        let mut fields = groups[shape.units[unit].clone()].iter().map(|group| match &group[..] {
            [word] if word.is_single() => Some(word.lists[0].field),
            _ => None,
        });
        let first = fields.next().flatten();
        first.is_some() && fields.all(|field| field == first)
    })
}

/// Keeps the matches that contain every phrase. Requires [`are_lists`].
pub(super) fn keep(
    groups: &mut [Vec<Word<'_>>],
    shape: &Shape<'_>,
    matches: &Matches,
    places: &mut Vec<u32>,
    starts: &mut Starts,
) {
    for &(unit, words) in &shape.phrases {
        let groups = &mut groups[shape.units[unit].clone()];
        // The word with the least mean frequency comes first.
        starts.order.clear();
        let lists = groups.iter().map(|group| group[0].lists[0].frequency_sixteenths());
        starts.order.extend(lists.zip(0..));
        starts.order.sort_unstable();
        starts.clear();
        for number in 0..starts.order.len() {
            let (_, at) = starts.order[number];
            let (word, shift) = (&mut groups[at][0], words.terms[at].0);
            let spots = &matches.spots[word.number];
            let spots = places.iter().map(|&place| spots[place as usize]);
            let (list, Starts { positions, ends, .. }) = (&mut word.lists[0], &mut *starts);
            if number == 0 {
                list.add_starts(spots, shift, positions, ends);
            } else {
                list.keep_starts(spots, shift, positions, ends);
            }
            starts.keep(places);
        }
    }
}

/// Returns whether the current document contains every phrase. Sets the frequencies of phrase words to 0 in fields
/// without the phrase.
pub(super) fn hold(groups: &mut [Vec<Word<'_>>], shape: &Shape<'_>, starts: &mut Starts) -> bool {
    shape.phrases.iter().all(|&(unit, words)| {
        let mut holds = false;
        let groups = &mut groups[shape.units[unit].clone()];
        for &field in &words.fields {
            // The word with the fewest occurrences comes first.
            starts.order.clear();
            for (at, group) in groups.iter_mut().enumerate() {
                let found = group[0].list_in(field).map_or(0, |list| list.found.frequency);
                starts.order.push((found, at));
            }
            starts.order.sort_unstable();
            let is_everywhere = starts.order.first().is_some_and(|&(found, _)| found > 0);
            let stands = is_everywhere && {
                starts.clear();
                let Starts { positions, ends, order } = &mut *starts;
                order.iter().enumerate().all(|(number, &(_, at))| {
                    let shift = words.terms[at].0;
                    let Some(list) = groups[at][0].list_in(field) else { return false };
                    let spot = std::iter::once(list.found);
                    if number == 0 {
                        list.add_starts(spot, shift, positions, ends);
                    } else {
                        list.keep_starts(spot, shift, positions, ends);
                    }
                    !positions.is_empty()
                })
            };
            if !stands {
                for group in &mut *groups {
                    if let Some(list) = group[0].list_in(field) {
                        list.found.frequency = 0;
                    }
                }
            }
            holds |= stands;
        }
        holds
    })
}
