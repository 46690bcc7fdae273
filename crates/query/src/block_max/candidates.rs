//! The candidates of a window, and the words that are not yet added to their scores.
//!
//! Word after word, the number of candidates shrinks: first by the block maxima, then by their scores. While
//! there are many candidates, the postings of a word are scanned. If there are few, each is looked up.
//!
//! **Invariant.** Candidates ascend. The upper bound of a dropped candidate is below the threshold.

use index::DocId;

use super::list::LOOK_UP;
use super::window::keep;
use super::workspace::Workspace;
use super::{Collector, Word};

/// The words of a query, and those that are not added yet.
pub(super) struct RemainingWords<'r, 'a> {
    pub(super) words: &'r mut [Word<'a>],
    /// Numbers of these words, in the order of evaluation.
    pub(super) left: &'r [usize],
}

/// A window of documents, and the greatest static score in it.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) most: f32,
}

impl Span {
    #[inline]
    pub(super) fn contains(self, doc: u32) -> bool {
        self.start <= doc && doc < self.end
    }
}

/// Adds the remaining words to the candidates in `work.found` and judges those that reach the threshold.
pub(super) fn complete(
    rest: &mut RemainingWords<'_, '_>,
    span: Span,
    collector: &mut Collector<'_, '_>,
    work: &mut Workspace,
) {
    let mut sum: f32 = rest.left.iter().map(|&at| rest.words[at].bound).sum();
    while let Some((&at, behind)) = rest.left.split_first() {
        let word = &mut rest.words[at];
        sum -= word.bound;
        tighten(word, span.start, collector.least - span.most - sum.max(0.0), &mut work.found);
        let wide = u64::from(span.end - span.start);
        let postings = word.cost() * wide / u64::from(collector.doc_count.max(1));
        if work.found.len() as u64 * LOOK_UP <= postings {
            sum += word.bound;
            break;
        }
        add(word, span, work);
        rest.left = behind;
    }
    for &at in rest.left {
        rest.words[at].rewind();
    }
    for at in 0..work.found.len() {
        let (distance, score) = work.found[at];
        look_up(rest, collector, span.start + distance, (score, sum.max(0.0)));
    }
}

/// Drops candidates that stay below `least` even with the block maxima of the word.
fn tighten(word: &mut Word<'_>, start: u32, least: f32, found: &mut Vec<(u32, f32)>) {
    let (mut from, mut wanted) = (0, f32::NEG_INFINITY);
    word.rewind();
    keep(found, |&mut (distance, score)| {
        let doc = start + distance;
        if doc >= from {
            let (bound, until) = word.bound_at(doc);
            (wanted, from) = (least - bound, until.saturating_add(1));
        }
        score >= wanted
    });
}

/// Adds the score of a word to every candidate by a scan of the postings of the word.
fn add(word: &mut Word<'_>, span: Span, work: &mut Workspace) {
    let Workspace { window, scratch, places, found, .. } = work;
    let saturation = word.saturation;
    let [list] = &mut word.lists[..] else {
        word.add_to(window, span.start, span.end, scratch);
        return window.add_to(found);
    };
    let (lengths, scale) = (list.lengths(), list.scale());
    let docs = list.window(span.start, span.end);
    for (place, &doc) in (0..).zip(docs) {
        places[(doc - span.start) as usize] = place;
    }
    // The array may hold places of an earlier window; the comparison of documents detects them.
    let kept = &mut scratch.kept;
    kept.clear();
    kept.resize(found.len(), 0);
    let mut count = 0;
    if !docs.is_empty() {
        for (at, &(distance, _)) in (0..).zip(found.iter()) {
            let place = usize::from(places[distance as usize]).min(docs.len() - 1);
            kept[count] = at;
            count += usize::from(docs[place] == span.start + distance);
        }
    }
    for &at in &kept[..count] {
        let (distance, score) = &mut found[at as usize];
        let place = usize::from(places[*distance as usize]);
        let length = lengths.get(DocId(span.start + *distance));
        *score += saturation.of_field(scale, list.frequency_at(place), length);
    }
}

/// Looks up the remaining words for one document while it can still reach the threshold.
fn look_up(
    rest: &mut RemainingWords<'_, '_>,
    collector: &mut Collector<'_, '_>,
    doc: u32,
    (mut score, mut sum): (f32, f32),
) {
    score += collector.static_score(doc);
    for &at in rest.left {
        let word = &mut rest.words[at];
        sum -= word.bound;
        let (tight, _) = word.bound_at(doc);
        if score + sum.max(0.0) + tight < collector.least {
            return;
        }
        score += word.look_up(doc).unwrap_or(0.0);
    }
    if score >= collector.least {
        collector
            .collect(doc, || rest.words.iter_mut().fold(0.0, |sum, word| sum + word.exactly(doc)));
    }
}
