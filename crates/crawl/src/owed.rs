//! The silence that a run owes to the servers it has asked, where they set the pace.
//!
//! What lives here: [`Owed`], the longest of all hosts, which `frontier/asked` tells the next run: the archive does not say
//! how long an answer took. What does not: how long a pause is (`politeness.rs`), and the file (`asked.rs`).
//!
//! **Invariant.** No host that was asked is owed a longer silence than [`Owed::left_ms`], one whose request is under way
//! included: it counts as if it ended now.

use std::collections::BTreeMap;

use crate::politeness::{Pace, Politeness};
use crate::site::HostId;

/// What is owed to all hosts together.
#[derive(Debug)]
pub(crate) struct Owed {
    politeness: Politeness,
    /// When the silence is over of those that have answered.
    until_ms: u64,
    /// Hosts that are being asked, and since when their servers have worked, if what they did before in the same slice
    /// was right before it.
    under_way: BTreeMap<HostId, u64>,
}

impl Owed {
    pub(crate) fn new(politeness: Politeness) -> Owed {
        Owed { politeness, until_ms: 0, under_way: BTreeMap::new() }
    }

    /// Takes note of a silence that an earlier run left.
    pub(crate) fn keep_until(&mut self, until_ms: u64) {
        self.until_ms = self.until_ms.max(until_ms);
    }

    /// A request has begun.
    pub(crate) fn begin(&mut self, id: HostId, pace: &Pace) {
        self.under_way.insert(id, pace.busy_since_ms());
    }

    /// It is over.
    pub(crate) fn end(&mut self, id: HostId, pace: &Pace, finished_ms: u64) {
        self.under_way.remove(&id);
        self.keep_until(finished_ms.saturating_add(self.politeness.silence_ms(pace.busy_ms())));
    }

    /// How long it is, from `now_ms` on; if the run may go on for `more_ms` and nobody be told, with what that adds.
    pub(crate) fn left_ms(&self, now_ms: u64, more_ms: u64) -> u64 {
        let more = self.politeness.silence_per_busy(more_ms);
        let over_ms = self.until_ms.saturating_sub(now_ms).saturating_add(more);
        let Some(since_ms) = self.under_way.values().min() else { return over_ms };
        let busy_ms = now_ms.saturating_sub(*since_ms).saturating_add(more_ms);
        over_ms.max(self.politeness.silence_ms(busy_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, PolitenessKind};

    #[test]
    fn the_longest_silence_counts_and_one_under_way_grows() {
        let config = Config {
            politeness: PolitenessKind::Relative,
            slice_ms: 1_000,
            relative_factor: 3,
            relative_ms_min: 50,
            relative_ms_max: 60_000,
            ..Config::default()
        };
        let politeness = Politeness::new(&config);
        let mut owed = Owed::new(politeness);
        let [mut slow, mut quick] = [Pace::default(); 2];
        let ask = |owed: &mut Owed, id, pace: &mut Pace, begun_ms, finished_ms: u64| {
            politeness.begin(pace, begun_ms);
            owed.begin(HostId(id), pace);
            let under_way_ms = owed.left_ms(finished_ms, 0);
            politeness.end(pace, finished_ms, None);
            owed.end(HostId(id), pace, finished_ms);
            under_way_ms
        };
        assert_eq!(owed.left_ms(1_000, 0), 0);
        assert_eq!(ask(&mut owed, 1, &mut slow, 1_000, 5_000), 12_000);
        assert_eq!((owed.left_ms(5_000, 0), owed.left_ms(5_000, 250)), (12_000, 12_750));
        // The silence of another does not end it.
        assert_eq!(ask(&mut owed, 2, &mut quick, 6_000, 6_010), 10_990);
        assert_eq!(owed.left_ms(6_010, 0), 10_990);
        assert_eq!((owed.left_ms(17_000, 0), owed.left_ms(99_000, 0)), (0, 0));
        // What came before in the same slice counts, and nothing is longer than it may be.
        let mut pace = Pace::default();
        ask(&mut owed, 3, &mut pace, 100_000, 100_400);
        assert_eq!(ask(&mut owed, 3, &mut pace, 100_500, 101_000), 2_700);
        assert_eq!(ask(&mut owed, 3, &mut pace, 200_000, 300_000), 60_000);
        // Where the server does not set the pace, there is nothing of the kind.
        let mut owed = Owed::new(Politeness::new(&Config::default()));
        owed.begin(HostId(1), &Pace::default());
        assert_eq!(owed.left_ms(9_000, 250), 0);
        owed.keep_until(9_500);
        assert_eq!(owed.left_ms(9_000, 250), 500);
    }
}
