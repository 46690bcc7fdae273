//! Words of one list each that must all match: a window is a block of the rarest.
//!
//! Where what that adds alone decides on many documents, those that reach enough are proposed, and the others looked up for
//! them (`intersection.rs`). Elsewhere the blocks of all lists are laid over each other first, as sets of bits, which most
//! of them are already; only what they have in common is scored.
//!
//! **Invariant.** A document of the window that is no match lacks a word, or its bounds stay below what it takes.

use index::{DocId, DocSet};

use super::Word;
use super::candidates::Span;
use super::intersection::{Matches, bound};
use super::list::compact;
use super::workspace::Workspace;

/// Windows that are laid out have so many words of bits, or fewer.
const WORDS_MAX: usize = DocSet::BITS_MAX.div_ceil(64);

/// Makes matches of the documents of a block, which the window is, that have all words.
pub(super) fn match_all(
    groups: &mut [Vec<Word<'_>>],
    rarest_first: &[usize],
    span: Span,
    work: &mut Workspace,
) {
    let wide = (span.end - span.start) as usize;
    groups.iter_mut().flatten().for_each(Word::rewind);
    if wide > 64 * WORDS_MAX {
        return match_apart(groups, rarest_first, span, work);
    }
    let mut words = [u64::MAX; WORDS_MAX];
    let words = &mut words[..wide.div_ceil(64)];
    for (number, &at) in rarest_first.iter().enumerate() {
        let mut theirs = [0; WORDS_MAX];
        groups[at][0].lists[0].lay_out(span.start, span.end, &mut theirs[..words.len()]);
        words.iter_mut().zip(theirs).for_each(|(word, theirs)| *word &= theirs);
        if number > 0 && words.iter().all(|&word| word == 0) {
            return;
        }
    }
    let docs = &mut work.matches.docs;
    for (&word, base) in words.iter().zip((span.start..).step_by(64)) {
        let mut word = word;
        while word != 0 {
            docs.push(base + word.trailing_zeros());
            word &= word - 1;
        }
    }
    // What is behind the window has bits in the last word.
    docs.truncate(docs.partition_point(|&doc| doc < span.end));
}

/// The same where documents are far apart.
fn match_apart(
    groups: &mut [Vec<Word<'_>>],
    rarest_first: &[usize],
    span: Span,
    work: &mut Workspace,
) {
    let Some((&driver, others)) = rarest_first.split_first() else { return };
    let Workspace { matches: Matches { docs, .. }, places, .. } = work;
    let list = &mut groups[driver][0].lists[0];
    let block = list.first_block();
    docs.extend(list.block_docs(block).iter().filter(|&&doc| span.contains(doc)));
    for &at in others {
        let list = &mut groups[at][0].lists[0];
        let (mut from, mut kept) = (0, 0);
        while let Some(run) = list.run(&docs[from..], |doc| doc) {
            let end = from + run.len;
            let count = list.keep_in_block(run.block, &mut docs[from..end], |doc| doc, places);
            docs.copy_within(from..from + count, kept);
            (from, kept) = (end, kept + count);
        }
        docs.truncate(kept);
        if docs.is_empty() {
            return;
        }
    }
}

/// Finds out where matches stand in each list, and what they are worth, if that is asked for; drops those whose bounds stay
/// below `least`.
pub(super) fn score(
    groups: &mut [Vec<Word<'_>>],
    rarest_first: &[usize],
    least: Option<f32>,
    work: &mut Workspace,
) {
    let matches = &mut work.matches;
    matches.scores.resize(matches.docs.len(), 0.0);
    matches.spread();
    let mut rest: f32 = rarest_first.iter().map(|&at| bound(&groups[at])).sum();
    for &at in rarest_first {
        rest -= bound(&groups[at]);
        let word = &mut groups[at][0];
        let (saturation, number, list) = (word.saturation, word.number, &mut word.lists[0]);
        let (lengths, scale) = (list.lengths(), list.scale());
        matches.spots_in(number);
        let Matches { docs, scores, spots, left } = &mut *matches;
        let spots = &mut spots[number][..];
        list.rewind();
        let docs_left = &mut work.docs;
        docs_left.clear();
        docs_left.extend(left.iter().map(|&place| docs[place as usize]));
        list.locate(docs_left, least.is_some(), |at, spot| {
            let place = left[at] as usize;
            spots[place] = spot;
            if least.is_some() {
                let length = lengths.get(DocId(docs[place]));
                scores[place] += saturation.of_field(scale, spot.frequency, length);
            }
        });
        if let Some(least) = least {
            let wanted = least - rest.max(0.0);
            let count = compact(left, |place| scores[place as usize] >= wanted);
            left.truncate(count);
            if left.is_empty() {
                return;
            }
        }
    }
}
