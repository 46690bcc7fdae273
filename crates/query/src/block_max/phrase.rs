//! Phrases: whether words that a document has stand in place.
//!
//! **Invariant.** A word of a phrase counts in the fields where the whole phrase stands, and in no other.

use super::Word;
use super::shape::Shape;

/// Positions, kept for their memory.
#[derive(Default)]
pub(super) struct Positions {
    starts: Vec<u32>,
    of_word: Vec<u32>,
    order: Vec<(u32, usize)>,
}

/// Whether every phrase stands in the document that was looked up last. What was found of its words in other fields is
/// forgotten.
pub(super) fn hold(
    groups: &mut [Vec<Word<'_>>],
    shape: &Shape<'_>,
    positions: &mut Positions,
) -> bool {
    shape.phrases.iter().all(|&(unit, words)| {
        let mut holds = false;
        let groups = &mut groups[shape.units[unit].clone()];
        for &field in &words.fields {
            // The fewest occurrences first.
            positions.order.clear();
            for (at, group) in groups.iter_mut().enumerate() {
                let found = group[0].list_in(field).map_or(0, |list| list.found.frequency);
                positions.order.push((found, at));
            }
            positions.order.sort_unstable();
            let is_everywhere = positions.order.first().is_some_and(|&(found, _)| found > 0);
            let stands = is_everywhere && {
                let Positions { starts, of_word, order } = &mut *positions;
                order.iter().enumerate().all(|(number, &(_, at))| {
                    let shift = words.terms[at].0;
                    let Some(list) = groups[at][0].list_in(field) else { return false };
                    if number == 0 {
                        list.positions(of_word);
                        starts.clear();
                        starts.extend(of_word.iter().filter_map(|at| at.checked_sub(shift)));
                    } else {
                        list.keep_shifted(starts, shift);
                    }
                    !starts.is_empty()
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
