//! One list: only blocks that may hold one of the best are decoded.
//!
//! **Invariant.** A document that is not judged is in a block whose bound stays below what it takes, or stays below it
//! itself.

use index::Maximum;

use super::word::Scratch;
use super::{Judge, Word};

pub(super) fn evaluate(word: &mut Word<'_>, judge: &mut Judge<'_, '_>) {
    let mut scratch = Scratch::default();
    let (scale, saturation) = (word.lists[0].scale(), word.saturation);
    let statics = judge.statics;
    let most = statics.most(0, judge.doc_count);
    let mut least = f32::NAN;
    let (mut from, mut maximum) = (0, Some(Maximum::default()));
    loop {
        if least != judge.least {
            least = judge.least;
            maximum = Maximum::least(|maximum| saturation.bound(scale.bound(maximum)) + most >= least);
        }
        let found = maximum.and_then(|maximum| word.lists[0].bounds().find(from, maximum));
        let Some((block, bound)) = found else { return };
        from = block + 1;
        let (first, last) = word.lists[0].bounds().span(block);
        let near = statics.most(first, last.min(judge.doc_count - 1) + 1);
        if saturation.bound(scale.bound(bound)) + near < least {
            continue;
        }
        word.block_scores(block, &mut scratch);
        for at in 0..scratch.scores.len() {
            if scratch.scores[at] + near >= judge.least {
                let doc = word.lists[0].docs()[at];
                if scratch.scores[at] + judge.still(doc) >= judge.least {
                    judge.judge(doc, || word.exactly(doc));
                }
            }
        }
    }
}
