//! Disjunctions of words with one list each: `MaxScore`, one essential list after the other.
//!
//! The word with the greatest bound comes first. Each of its blocks is a window; the documents in it that may reach
//! the threshold are looked up in all other lists. Then the next word proposes its documents, except those that an
//! earlier word has. The evaluation ends when the bounds of the remaining words together stay below the threshold.
//!
//! **Invariant.** A document is judged at most once, for the first of its words. A document that is not judged is
//! below the threshold.

use codes::lanes;

use super::block_candidates::BlockCandidates;
use super::candidates::Span;
use super::windows::Windows;
use super::workspace::Workspace;
use super::{Collector, Word};

/// Queries with more words are evaluated in windows (`union.rs`): the number of lookups here grows with the square
/// of the number of words.
pub(super) const WORDS_MAX: usize = 16;

/// Evaluates all words.
pub(super) fn evaluate(
    words: &mut [Word<'_>],
    windows: &mut Windows,
    collector: &mut Collector<'_, '_>,
    work: &mut Workspace,
) {
    let most_of = |word: &mut Word<'_>| word.saturation.bound(word.lists[0].greatest_bound());
    let mut most: Vec<f32> = words.iter_mut().map(most_of).collect();
    words.sort_by(|a, b| most[b.number].total_cmp(&most[a.number]));
    most.sort_by(|a, b| b.total_cmp(a));
    let static_score = collector.statics.most(0, collector.doc_count);
    work.front.begin(words.len());
    for first in 0..words.len() {
        if most[first..].iter().sum::<f32>() + static_score < collector.least {
            return;
        }
        let (before, words) = words.split_at_mut(first);
        for word in &mut *words {
            word.lists[0].enter(0);
        }
        let bounds = *words[0].lists[0].bounds();
        let segment = (collector.doc_count, collector.statics);
        windows.split_by_blocks(&bounds, segment, collector.stop, |windows, span, block| {
            windows.push(words.iter_mut(), Some((0, block)), span, collector.least);
        });
        windows.sort();
        let stop = collector.stop;
        for (number, bound) in windows.iter().take_while(|_| !stop.is_set()) {
            if bound < collector.least {
                continue;
            }
            let span = windows.enter(number, words.iter_mut());
            propose(words, span, collector, &mut work.front);
            settle(before, words, collector, &work.front);
        }
    }
}

/// Finds the documents in a block of the first word that may reach the threshold. The window is this block.
fn propose(
    words: &mut [Word<'_>],
    span: Span,
    collector: &Collector<'_, '_>,
    front: &mut BlockCandidates,
) {
    let Some((first, others)) = words.split_first_mut() else { return };
    let mut rest: f32 = others.iter().map(|word| word.bound).sum();
    front.propose(first, span, Some(collector.least - span.most - rest));
    front.add_worth(span, &|doc| collector.static_score(doc));
    for word in others {
        if front.left == 0 {
            return;
        }
        rest -= word.bound;
        let least = collector.least - rest.max(0.0);
        front.forget(word);
        if front.look_up(word, Some(least)) != 0 {
            front.add(word);
        }
        front.keep(least);
    }
}

/// Judges the remaining documents that have none of the words `before`.
fn settle(
    before: &mut [Word<'_>],
    words: &mut [Word<'_>],
    collector: &mut Collector<'_, '_>,
    front: &BlockCandidates,
) {
    if front.left == 0 {
        return;
    }
    front.raise_floor(collector);
    // Scores are added up in the order of the query.
    let mut order = [None; WORDS_MAX];
    for (at, word) in words.iter().enumerate() {
        order[word.number] = Some(at);
    }
    lanes::each(front.left, |place| {
        let doc = front.doc(place);
        let is_before = |word: &mut Word<'_>| word.lists[0].has(doc);
        if front.scores[place] < collector.least || before.iter_mut().any(is_before) {
            return;
        }
        collector.collect(doc, || {
            let there = order.iter().flatten();
            there.fold(0.0, |sum, &at| sum + front.exactly(&mut words[at], place))
        });
    });
}
