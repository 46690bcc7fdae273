//! How long a host is left alone (P1, P5, P7).
//!
//! What lives here: the pause after a visit, and the back-off after a failure, as pure functions of
//! the configuration. What does not: the clock, and who waits (`workbench.rs`).
//!
//! **Invariant.** A pause is never shorter than the configured delay, than the Crawl-delay of
//! robots.txt up to its bound, nor than a Retry-After that is waited for at all.

use crate::config::Config;

/// The pace of a crawl.
#[derive(Debug, Clone, Copy)]
pub struct Politeness {
    delay_ms: u64,
    crawl_delay_ms_max: u64,
    retry_ms: u64,
    retry_after_ms_max: u64,
}

/// The longest back-off, whatever the number of failures.
const BACK_OFF_MS_MAX: u64 = 3_600_000;

impl Politeness {
    /// The pace that `config` asks for.
    pub fn new(config: &Config) -> Politeness {
        Politeness {
            delay_ms: config.delay_ms,
            crawl_delay_ms_max: config.crawl_delay_ms_max,
            retry_ms: config.retry_ms,
            retry_after_ms_max: config.retry_after_s_max.saturating_mul(1000),
        }
    }

    /// The pause after a visit that went well.
    pub fn pause_ms(&self, crawl_delay_ms: Option<u64>) -> u64 {
        let asked_ms = crawl_delay_ms.unwrap_or(0).min(self.crawl_delay_ms_max);
        self.delay_ms.max(asked_ms)
    }

    /// The pause after the `failures`-th failure in a row, from 1; `None` if the server asked for
    /// more time than the crawl has.
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
}
