//! Progress reports to the watcher of a run.
//!
//! What lives here: when the watcher is called, pages a second, and the census of the hosts. What does not: the
//! use of the reports, and the counts themselves (`report.rs`).
//!
//! **Invariant.** The number of reports does not depend on the number of answers.

use std::collections::VecDeque;
use std::sync::Arc;

use super::WATCH_MS;
use super::pause::Pause;
use crate::clock::Clock;
use crate::frontier::Frontier;
use crate::report::{Census, Snapshot};

/// The shortest interval between two censuses of the hosts.
const CENSUS_MS: u64 = 200;

/// Number of hosts that lengthen this interval by a millisecond. This keeps the cost of the census below a
/// percent.
const CENSUS_HOSTS_PER_MS: u64 = 50;

/// The window over which pages a second are measured.
const RATE_MS: u64 = 3_000;

/// Reports the state of the crawl to the watcher.
pub(super) struct Progress<'a> {
    clock: Arc<dyn Clock>,
    watch: &'a (dyn Fn(&Snapshot) + Sync),
    started_ms: u64,
    pub(super) told_ms: Option<u64>,
    pub(super) pause: Pause,
    /// Moments of the last few seconds, each with the number of pages at that time.
    recent: VecDeque<(u64, u64)>,
    census: Census,
    census_ms: Option<u64>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(
        clock: Arc<dyn Clock>,
        watch: &'a (dyn Fn(&Snapshot) + Sync),
        started_ms: u64,
        pause: Pause,
    ) -> Progress<'a> {
        let (recent, census) = (VecDeque::new(), Census::default());
        Progress { clock, watch, started_ms, told_ms: None, pause, recent, census, census_ms: None }
    }

    /// Calls the watcher if it is time to.
    pub(super) fn report(&mut self, frontier: &Frontier) {
        let now_ms = self.clock.now_ms();
        if self.told_ms.is_none_or(|told_ms| now_ms >= told_ms + WATCH_MS) {
            self.told_ms = Some(now_ms);
            let mut snapshot = frontier.snapshot();
            // A census is linear in the number of hosts.
            let pause_ms = CENSUS_MS.max(snapshot.report.hosts / CENSUS_HOSTS_PER_MS);
            if self.census_ms.is_none_or(|census_ms| now_ms >= census_ms + pause_ms) {
                (self.census, self.census_ms) = (frontier.census(now_ms), Some(now_ms));
            }
            snapshot.paused = self.pause.since_ms.is_some();
            snapshot.report.elapsed_ms = now_ms.saturating_sub(self.started_ms);
            snapshot.pages_per_s = self.rate(now_ms, snapshot.report.pages_had());
            snapshot.census = self.census;
            (self.watch)(&snapshot);
        }
    }

    /// Returns the pages a second over the last few seconds.
    fn rate(&mut self, now_ms: u64, pages: u64) -> f64 {
        self.recent.push_back((now_ms, pages));
        while self.recent.front().is_some_and(|&(then_ms, _)| then_ms + RATE_MS < now_ms) {
            self.recent.pop_front();
        }
        let &(then_ms, then) = self.recent.front().unwrap_or(&(now_ms, pages));
        #[expect(clippy::cast_precision_loss, reason = "a few seconds and their pages")]
        let (pages, ms) = ((pages - then) as f64, (now_ms - then_ms).max(1) as f64);
        pages / ms * 1000.0
    }
}
