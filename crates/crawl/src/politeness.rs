//! The pauses between requests to a host.
//!
//! What lives here: the pause after a visit (absolute, in bursts, or relative to the time the server took) and the
//! backoff after a failure. Both are functions of the configuration and of the [`Pace`] of the host. What does
//! not: the clock, and waiting (`workbench.rs`).
//!
//! **Invariant.** A pause is never shorter than the Crawl-delay of robots.txt up to its bound, nor than a
//! Retry-After that the run waits for. Absolute: it is never shorter than the configured delay, and of
//! `burst_requests + 1` consecutive requests at least two are `burst_pause_ms` apart. Relative: after a slice of
//! requests, the pause is at least the factor times the time they took, within the bounds.

use crate::config::{Config, PolitenessKind};

/// The configured pauses.
#[derive(Debug, Clone, Copy)]
pub struct Politeness {
    rhythm: Rhythm,
    crawl_delay_ms_max: u64,
    retry_ms: u64,
    retry_after_ms_max: u64,
}

/// How the requests to one host follow each other.
#[derive(Debug, Clone, Copy)]
enum Rhythm {
    Absolute { delay_ms: u64, burst_requests: u32, burst_pause_ms: u64 },
    Relative { slice_ms: u64, factor: u64, ms_min: u64, ms_max: u64 },
}

/// The requests to a host since its last long pause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    /// When the request under way, or the last one, began.
    begun_ms: u64,
    /// When the last request of the burst or the slice ended.
    finished_ms: u64,
    /// When the burst or the slice began.
    since_ms: u64,
    /// Number of requests of the burst or the slice.
    requests: u32,
    /// The time that the server took for them.
    busy_ms: u32,
}

/// The longest wait that a host can request: 30 days.
const ASKED_MS_MAX: u64 = 30 * 24 * 3_600_000;

/// The longest backoff, whatever the number of failures.
const BACK_OFF_MS_MAX: u64 = 3_600_000;

impl Pace {
    /// Returns the time that the server took for the requests of the burst or the slice.
    pub(crate) fn busy_ms(&self) -> u64 {
        self.busy_ms.into()
    }

    /// Returns when the server's work would have begun without pauses, the request under way included.
    pub(crate) fn busy_since_ms(&self) -> u64 {
        self.begun_ms.saturating_sub(self.busy_ms())
    }
}

impl Politeness {
    /// Returns the moment when a pause after a request ends. Without a pause, the rounding of the request's end is
    /// undone.
    pub(crate) fn after(finished_ms: u64, pause_ms: u64) -> u64 {
        if pause_ms == 0 {
            return finished_ms.saturating_sub(1);
        }
        finished_ms.saturating_add(pause_ms)
    }

    /// Creates the configured politeness.
    pub fn new(config: &Config) -> Politeness {
        let rhythm = match config.politeness {
            PolitenessKind::Absolute => Rhythm::Absolute {
                delay_ms: config.delay_ms,
                burst_requests: config.burst_requests,
                burst_pause_ms: config.burst_pause_ms,
            },
            PolitenessKind::Relative => Rhythm::Relative {
                slice_ms: config.slice_ms,
                factor: config.relative_factor.into(),
                ms_min: config.relative_ms_min,
                ms_max: config.relative_ms_max,
            },
        };
        Politeness {
            rhythm,
            crawl_delay_ms_max: config.crawl_delay_ms_max,
            retry_ms: config.retry_ms,
            retry_after_ms_max: config.retry_after_s_max.saturating_mul(1000),
        }
    }

    /// Records that a request to a host begins.
    pub fn begin(&self, pace: &mut Pace, now_ms: u64) {
        let idle_ms = now_ms.saturating_sub(pace.finished_ms);
        if pace.requests == 0 || idle_ms >= self.long_pause_ms(pace) {
            // An idle time as long as the pause counts as a pause.
            (pace.since_ms, pace.requests, pace.busy_ms) = (now_ms, 0, 0);
        }
        pace.begun_ms = now_ms;
    }

    /// Records that it ended; returns the pause from then on.
    pub fn end(&self, pace: &mut Pace, finished_ms: u64, crawl_delay_ms: Option<u64>) -> u64 {
        pace.requests = pace.requests.saturating_add(1);
        let took_ms = finished_ms.saturating_sub(pace.begun_ms);
        pace.busy_ms = pace.busy_ms.saturating_add(u32::try_from(took_ms).unwrap_or(u32::MAX));
        pace.finished_ms = finished_ms;
        let is_over = match self.rhythm {
            Rhythm::Absolute { burst_requests, .. } => {
                burst_requests > 0 && pace.requests >= burst_requests
            }
            Rhythm::Relative { slice_ms, .. } => {
                finished_ms.saturating_sub(pace.since_ms) >= slice_ms
            }
        };
        if !is_over {
            return self.pause_ms(crawl_delay_ms);
        }
        let pause_ms = self.long_pause_ms(pace);
        pace.requests = 0;
        pause_ms.max(self.pause_ms(crawl_delay_ms))
    }

    /// Returns the pause after requests that took a server `busy_ms`; 0 if absolute.
    pub(crate) fn silence_ms(&self, busy_ms: u64) -> u64 {
        match self.rhythm {
            Rhythm::Absolute { .. } => 0,
            Rhythm::Relative { factor, ms_min, ms_max, .. } => {
                busy_ms.saturating_mul(factor).clamp(ms_min, ms_max)
            }
        }
    }

    /// Returns the most that `more_ms` of further work can add to that pause.
    pub(crate) fn silence_per_busy(&self, more_ms: u64) -> u64 {
        match self.rhythm {
            Rhythm::Absolute { .. } => 0,
            Rhythm::Relative { .. } if more_ms == 0 => 0,
            Rhythm::Relative { factor, ms_min, .. } => more_ms.saturating_mul(factor).max(ms_min),
        }
    }

    /// Returns the pause after a burst or a slice.
    fn long_pause_ms(&self, pace: &Pace) -> u64 {
        match self.rhythm {
            Rhythm::Absolute { delay_ms, burst_requests: 0, .. } => delay_ms,
            Rhythm::Absolute { delay_ms, burst_pause_ms, .. } => burst_pause_ms.max(delay_ms),
            Rhythm::Relative { .. } => self.silence_ms(pace.busy_ms()),
        }
    }

    /// Returns the shortest pause between two requests, inside a burst or a slice.
    pub fn pause_ms(&self, crawl_delay_ms: Option<u64>) -> u64 {
        let asked_ms = crawl_delay_ms.unwrap_or(0).min(self.crawl_delay_ms_max);
        match self.rhythm {
            Rhythm::Absolute { delay_ms, .. } => delay_ms.max(asked_ms),
            Rhythm::Relative { .. } => asked_ms,
        }
    }

    /// Returns the pause after a request of an earlier run. `owed_ms` is the pause that is still due for it;
    /// `None` assumes the longest one.
    pub fn first_pause_ms(&self, crawl_delay_ms: Option<u64>, owed_ms: Option<u64>) -> u64 {
        let owed_ms = owed_ms.unwrap_or_else(|| self.silence_ms(u64::MAX));
        self.pause_ms(crawl_delay_ms).max(self.long_pause_ms(&Pace::default())).max(owed_ms)
    }

    /// Returns the pause after the `failures`-th consecutive failure, from 1; `None` if the server requested more
    /// time than `retry_after_s_max`.
    pub fn back_off_ms(
        &self,
        failures: u32,
        crawl_delay_ms: Option<u64>,
        retry_after_ms: Option<u64>,
    ) -> Option<u64> {
        let retry_after_ms = retry_after_ms.unwrap_or(0);
        if retry_after_ms > self.retry_after_ms_max {
            return None;
        }
        let doublings = failures.saturating_sub(1).min(32);
        let back_off_ms = self.retry_ms.saturating_mul(1 << doublings).min(BACK_OFF_MS_MAX);
        Some(back_off_ms.max(retry_after_ms).max(self.pause_ms(crawl_delay_ms)))
    }

    /// Returns how long a host that requests more time than the run has stays set aside, by this run and later
    /// ones.
    pub fn asked_ms(retry_after_ms: u64) -> u64 {
        retry_after_ms.min(ASKED_MS_MAX)
    }
}
