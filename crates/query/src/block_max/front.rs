//! The documents of a block that are left, and what is known of them, side by side, so that loops over it are short.
//!
//! **Invariant.** They ascend. Those of the block that are not left are no match, or their bounds stay below what it takes.

use std::ops::Range;

use index::{BLOCK, DocId, Lengths};

use super::Word;
use super::candidates::Span;
use super::workspace::Scratch;

/// Documents that are looked at together.
const STRIPE: usize = 8;

/// The places of a block.
const TAGS: [u8; BLOCK] = {
    let mut tags = [0; BLOCK];
    let mut at = 1;
    while at < BLOCK {
        tags[at] = tags[at - 1] + 1;
        at += 1;
    }
    tags
};

/// The documents of a block that are left: what is known of the first `count`.
pub(super) struct Front {
    pub(super) count: usize,
    pub(super) docs: [u32; BLOCK + 1],
    /// What they are worth so far, about.
    pub(super) scores: [f32; BLOCK + 1],
    /// Their places in the block of the rarest word.
    pub(super) tags: [u8; BLOCK + 1],
    /// For each place in that block the length of the field of the list at hand.
    pub(super) lengths: Vec<u32>,
    /// Where those that are looked up are in a block of another list.
    pub(super) in_block: [u8; BLOCK],
    /// For each list how often the document at each place has its term.
    pub(super) frequencies: Vec<[u32; BLOCK]>,
}

impl Default for Front {
    fn default() -> Front {
        Front {
            count: 0,
            docs: [0; BLOCK + 1],
            scores: [0.0; BLOCK + 1],
            tags: [0; BLOCK + 1],
            lengths: Vec::new(),
            in_block: [0; BLOCK],
            frequencies: Vec::new(),
        }
    }
}

impl Front {
    /// The documents of a block, which the window is: those that the word adds `wanted` to, or more, if that is asked for.
    pub(super) fn propose(
        &mut self,
        word: &mut Word<'_>,
        span: Span,
        wanted: Option<f32>,
        scratch: &mut Scratch,
    ) {
        let front = self;
        let (saturation, list) = (word.saturation, &mut word.lists[0]);
        let (lengths, scale, block) = (list.lengths(), list.scale(), list.first_block());
        let Front { docs: kept_docs, scores, tags, .. } = front;
        let mut count = 0;
        let Some(wanted) = wanted else {
            let docs = list.block_docs(block);
            let from = docs.partition_point(|&doc| doc < span.start);
            let docs = &docs[from..];
            let docs = &docs[..docs.partition_point(|&doc| doc < span.end)];
            kept_docs[..docs.len()].copy_from_slice(docs);
            tags.iter_mut().zip(TAGS).for_each(|(tag, place)| *tag = place);
            if from > 0 {
                tags.rotate_left(from);
            }
            front.count = docs.len();
            return;
        };
        let (docs, more) = list.block(block);
        lengths.of(docs, &mut front.lengths);
        // What it falls short of, without a division.
        let reach = saturation.inverse(wanted);
        let surplus = &mut scratch.scores;
        surplus.clear();
        surplus.extend(more.iter().zip(&front.lengths).map(|(&more, &length)| {
            let (above, below) = scale.fraction(more.saturating_add(1), length);
            above - reach * below
        }));
        for (stripe, surplus) in (0..).step_by(STRIPE).zip(surplus.chunks(STRIPE)) {
            if count_reaching(surplus, 0.0) == 0 {
                continue;
            }
            for (&surplus, place) in surplus.iter().zip(stripe..) {
                let doc = docs[usize::from(place)];
                (kept_docs[count], tags[count]) = (doc, place);
                count += usize::from((surplus >= 0.0) & span.contains(doc));
            }
        }
        for (score, &tag) in scores[..count].iter_mut().zip(&*tags) {
            let tag = usize::from(tag);
            let frequency = more[tag].saturating_add(1);
            *score = saturation.of_field(scale, frequency, front.lengths[tag]);
        }
        front.count = count;
    }

    /// Adds what they are worth before any question.
    pub(super) fn add_worth(&mut self, span: Span, worth: &impl Fn(u32) -> f32) {
        if span.most > 0.0 {
            for (&doc, score) in self.docs[..self.count].iter().zip(&mut self.scores) {
                *score += worth(doc);
            }
        }
    }
    /// Keeps of some, which are moved to `to`, those that come to `least`; returns what follows them there.
    #[inline]
    pub(super) fn keep(&mut self, those: Range<usize>, to: usize, least: f32) -> usize {
        let Front { docs, scores, tags, .. } = self;
        let mut kept = to;
        let reaching = count_reaching(&scores[those.clone()], least);
        if reaching == those.len() && to == those.start {
            return those.end;
        }
        if reaching > 0 {
            for at in those {
                (docs[kept], scores[kept], tags[kept]) = (docs[at], scores[at], tags[at]);
                kept += usize::from(scores[at] >= least);
            }
        }
        kept
    }

    /// Lengths of another field.
    pub(super) fn measure(&mut self, lengths: Lengths<'_>) {
        self.lengths.resize(BLOCK, 0);
        for (&doc, &tag) in self.docs[..self.count].iter().zip(&self.tags) {
            self.lengths[usize::from(tag)] = lengths.get(DocId(doc));
        }
    }
}

/// How many scores are `least` or more.
#[inline]
fn count_reaching(scores: &[f32], least: f32) -> usize {
    scores.iter().map(|&score| u32::from(score >= least)).sum::<u32>() as usize
}
