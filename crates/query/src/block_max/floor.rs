//! A lower bound of the k-th best score, found without sorting.
//!
//! Scores are dealt out to groups in turn. Each group with a score is at least one document. So the k-th greatest
//! of the group maxima is at most the k-th best score, and seldom much less.
//!
//! **Invariant.** At least k of the scores are greater than or equal to [`reached_by`].

/// Number of groups: at least twice the usual k.
const GROUPS: usize = 32;

/// Returns a score that at least `k` of the scores reach, or 0 if no bound is found quickly.
pub(super) fn reached_by(k: usize, scores: impl ExactSizeIterator<Item = f32>) -> f32 {
    if k == 0 || k > GROUPS / 2 || scores.len() < k {
        return 0.0;
    }
    let mut greatest = [0.0_f32; GROUPS];
    let mut group = 0;
    for score in scores {
        greatest[group] = if score > greatest[group] { score } else { greatest[group] };
        group = (group + 1) % GROUPS;
    }
    let (_, &mut reached, _) = greatest.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn at_least_k_scores_reach_the_floor(scores in vec(0.0..9.0_f32, 0..200), k in 0..40_usize) {
            let reached = reached_by(k, scores.iter().copied());
            let count = scores.iter().filter(|&&score| score >= reached).count();
            prop_assert!(reached == 0.0 || count >= k);
            // With few scores, the bound is exact.
            if (1..=GROUPS / 2).contains(&k) && (k..=GROUPS).contains(&scores.len()) {
                let mut sorted = scores;
                sorted.sort_by(|a, b| b.total_cmp(a));
                prop_assert_eq!(reached.to_bits(), sorted[k - 1].to_bits());
            }
        }
    }
}
