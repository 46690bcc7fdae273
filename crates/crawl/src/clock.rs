//! Time as an argument.
//!
//! What lives here: [`Clock`] and the clock of this machine. The simulated clock is in the tests.
//!
//! **Invariant.** `now_ms` never goes backwards, and it alone decides when a host may be visited. Waits begin at
//! `over_ms`, which rounds up, while `now_ms` rounds down. `unix_s` and `date` may jump with the calendar; they
//! are only recorded.

use std::time::{Instant, SystemTime};

/// A moment, in the precision of the archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Seconds since 1970.
    pub s: i64,
    /// Microseconds of that second. They order the requests to one host within a second.
    pub us: u32,
}

impl Moment {
    /// Returns the milliseconds since an earlier moment, rounded down. An earlier moment without microseconds
    /// comes from a record that does not have them; it may be any part of its second.
    pub(crate) fn ms_since(self, earlier: Moment) -> u64 {
        let us = |moment: Moment| i128::from(moment.s) * 1_000_000 + i128::from(moment.us);
        let unsure_us = if earlier.us == 0 { 1_000_000 } else { 0 };
        // A millisecond that has begun counts as over.
        let begun_ms = (us(earlier) + unsure_us + 999).div_euclid(1000);
        u64::try_from((us(self).div_euclid(1000) - begun_ms).max(0)).unwrap_or(u64::MAX)
    }

    /// Returns the milliseconds until a later moment, rounded up.
    pub(crate) fn ms_until(self, later: Moment) -> u64 {
        let us = |moment: Moment| i128::from(moment.s) * 1_000_000 + i128::from(moment.us);
        u64::try_from((us(later) - us(self) + 999).max(0) / 1000).unwrap_or(u64::MAX)
    }

    /// Returns the moment `ms` milliseconds later. For a moment without microseconds, returns a whole second,
    /// rounded up.
    pub(crate) fn later(self, ms: u32) -> Moment {
        if self.us == 0 {
            return Moment { s: self.s.saturating_add(ms.div_ceil(1000).into()), us: 0 };
        }
        let us = self.us.saturating_add(ms % 1000 * 1000);
        let s = self.s.saturating_add((ms / 1000).into()).saturating_add((us / 1_000_000).into());
        Moment { s, us: us % 1_000_000 }
    }

    /// Returns the second since 1970 in which a wait of `ms` milliseconds ends, rounded up.
    pub(crate) fn second_after(self, ms: u64) -> i64 {
        let all_ms = u64::from(self.us.div_ceil(1000)).saturating_add(ms);
        self.s.saturating_add(i64::try_from(all_ms / 1000).unwrap_or(i64::MAX))
    }
}

/// The source of time.
pub trait Clock: Send + Sync {
    /// Milliseconds since some moment before the crawl began. Never decreases.
    fn now_ms(&self) -> u64;
    /// Like [`Clock::now_ms`], but rounded up. A wait that begins here and ends by `now_ms` is never too short.
    fn over_ms(&self) -> u64 {
        self.now_ms()
    }
    /// Seconds since 1970, for the records of the archive.
    fn unix_s(&self) -> i64;
    /// The current date, in the precision of the clock.
    fn date(&self) -> Moment {
        Moment { s: self.unix_s(), us: 0 }
    }
}

/// The clock of this machine.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Creates a clock that shows zero now.
    #[expect(clippy::disallowed_methods, reason = "this is where time comes in")]
    pub fn new() -> SystemClock {
        SystemClock { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock::new()
    }
}

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn over_ms(&self) -> u64 {
        let over_ms = self.start.elapsed().as_nanos().div_ceil(1_000_000);
        u64::try_from(over_ms).unwrap_or(u64::MAX)
    }

    fn unix_s(&self) -> i64 {
        self.date().s
    }

    #[expect(clippy::disallowed_methods, reason = "this is where the calendar comes in")]
    fn date(&self) -> Moment {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Moment { s: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), us: since.subsec_micros() }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_later_moment_is_rounded_up() {
        let later = |s, us, ms| {
            let Moment { s, us } = Moment { s, us }.later(ms);
            (s, us)
        };
        assert_eq!(later(5, 1, 0), (5, 1));
        assert_eq!(later(5, 600_001, 3_400), (9, 1));
        assert_eq!(later(5, 600_001, 3_399), (8, 999_001));
        assert_eq!(later(-1, 999_999, 1), (0, 999));
        // Without microseconds, the moment may be any part of its second.
        assert_eq!((later(5, 0, 0), later(5, 0, 1), later(5, 0, 3_000)), ((5, 0), (6, 0), (8, 0)));
    }

    #[test]
    fn end_times_round_up_and_start_times_down() {
        let clock = SystemClock::new();
        for _ in 0..1_000 {
            let before = clock.start.elapsed();
            let over = Duration::from_millis(clock.over_ms());
            let now = Duration::from_millis(clock.now_ms());
            let after = clock.start.elapsed();
            assert!(before <= over && now <= after, "{before:?} {over:?} {now:?} {after:?}");
        }
    }
}
