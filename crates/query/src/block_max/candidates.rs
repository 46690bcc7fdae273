//! The candidates of a window, and the groups of words that are not yet added to their scores.
//!
//! Group after group, the number of candidates shrinks: first by the block maxima, then by their scores. While
//! there are many candidates, the postings of a group are scanned. If there are few, each is looked up.
//!
//! **Invariant.** Candidates ascend. The upper bound of a dropped candidate is below the threshold.

use index::DocId;

use super::list::LOOK_UP;
use super::window::keep;
use super::workspace::Workspace;
use super::{Collector, Word};

/// Groups of words, and the groups that are not added yet.
pub(super) struct RemainingGroups<'r, 'a> {
    pub(super) groups: &'r mut [Vec<Word<'a>>],
    /// Numbers of these groups, in the order of evaluation.
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

/// Adds the remaining groups to the candidates in `work.found` and judges those that reach the threshold.
pub(super) fn complete(
    rest: &mut RemainingGroups<'_, '_>,
    span: Span,
    collector: &mut Collector<'_, '_>,
    work: &mut Workspace,
) {
    let bound = |group: &[Word<'_>]| group.iter().map(|word| word.bound).sum::<f32>();
    let mut sum: f32 = rest.left.iter().map(|&at| bound(&rest.groups[at])).sum();
    while let Some((&at, behind)) = rest.left.split_first() {
        let group = &mut rest.groups[at];
        sum -= bound(group);
        tighten(group, span.start, collector.least - span.most - sum.max(0.0), &mut work.found);
        let cost: u64 = group.iter().map(Word::cost).sum();
        let postings =
            cost * u64::from(span.end - span.start) / u64::from(collector.doc_count.max(1));
        if work.found.len() as u64 * LOOK_UP <= postings {
            sum += bound(group);
            break;
        }
        add(group, span, work);
        rest.left = behind;
    }
    for &at in rest.left {
        rest.groups[at].iter_mut().for_each(Word::rewind);
    }
    for at in 0..work.found.len() {
        let (distance, score) = work.found[at];
        look_up(rest, collector, span.start + distance, (score, sum.max(0.0)));
    }
}

/// Drops candidates that stay below `least` even with the block maxima of the group.
fn tighten(group: &mut [Word<'_>], start: u32, least: f32, found: &mut Vec<(u32, f32)>) {
    let (mut from, mut wanted) = (0, f32::NEG_INFINITY);
    group.iter_mut().for_each(Word::rewind);
    keep(found, |&mut (distance, score)| {
        let doc = start + distance;
        if doc >= from {
            let (bound, until) = bound_at(group, doc);
            (wanted, from) = (least - bound, until.saturating_add(1));
        }
        score >= wanted
    });
}

/// Returns the most that a group adds to `doc`, and the last document for which this bound holds.
#[inline]
fn bound_at(group: &mut [Word<'_>], doc: u32) -> (f32, u32) {
    group.iter_mut().fold((0.0, u32::MAX), |(sum, until), word| {
        let (bound, last) = word.bound_at(doc);
        (sum + bound, until.min(last))
    })
}

/// Adds the score of a group to every candidate by a scan of the postings of the group.
fn add(group: &mut [Word<'_>], span: Span, work: &mut Workspace) {
    let Workspace { window, scratch, places, found, .. } = work;
    if let [word] = group
        && let Some((list, saturation)) = word.single_list()
    {
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
            *score += saturation.of_field(scale, list.spot_at(place).frequency, length);
        }
        return;
    }
    for word in group {
        word.add_to(window, span.start, span.end, scratch);
    }
    window.add_to(found);
}

/// Looks up the remaining groups for one document while it can still reach the threshold.
fn look_up(
    rest: &mut RemainingGroups<'_, '_>,
    collector: &mut Collector<'_, '_>,
    doc: u32,
    (mut score, mut sum): (f32, f32),
) {
    score += collector.static_score(doc);
    for &at in rest.left {
        let group = &mut rest.groups[at];
        sum -= group.iter().map(|word| word.bound).sum::<f32>();
        let (tight, _) = bound_at(group, doc);
        if score + sum.max(0.0) + tight < collector.least {
            return;
        }
        score += group.iter_mut().map(|word| word.look_up(doc).unwrap_or(0.0)).sum::<f32>();
    }
    if score >= collector.least {
        collector.collect(doc, || exactly(rest.groups, doc));
    }
}

/// The text score of a document: the sum over groups of the sum over their words.
pub(super) fn exactly(groups: &mut [Vec<Word<'_>>], doc: u32) -> f64 {
    let of_group =
        |words: &mut Vec<Word<'_>>| words.iter_mut().fold(0.0, |sum, word| sum + word.exactly(doc));
    groups.iter_mut().map(of_group).fold(0.0, |sum, of_group| sum + of_group)
}
