//! File descriptors: how many this process may open, and what to do when there are no more.
//!
//! What lives here: raising the limit, the share of it that connections get, and waiting for a free descriptor.
//! What does not: the connections (`fetch/`), and recognising the error (`archive`, which waits for its files by
//! itself).
//!
//! **Invariant.** Fetchers and idle connections together take no more than the limit leaves beside the files of a
//! crawl. A lack of descriptors on this machine never counts against a host.
//!
//! Reference: POSIX.1-2024, `setrlimit` and the errors `EMFILE` and `ENFILE`.

use std::fs;
use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sieve::SieveKind;
use tokio::time::sleep;

use crate::config::Config;
use crate::error::CrawlError;

/// Descriptors of a run beside connections and parsers: queues, a merging sieve, the runtime, clients of the
/// metrics, a report.
const OTHERS: u64 = 24;
/// Descriptors of a parser: its archive file, the index of that, a log, the file that the log is about, a folder.
const PARSER: u64 = 6;
/// Descriptors of an LSM sieve.
const LSM: u64 = 64;
/// Assumed open descriptors if the system does not report them.
const OPEN: u64 = 32;

/// The length of a wait for a descriptor, and the maximum number of waits before the run ends.
const WAIT_MS: u64 = 50;
const WAITS_MAX: u32 = 1_200;

/// The numbers of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Connections {
    /// Visits under way, each with one connection at most.
    pub(crate) fetchers: usize,
    /// Connections kept for the next visit.
    pub(crate) idle: usize,
}

impl Connections {
    /// Raises the limit of this process as far as the system allows, and divides what is not in use.
    pub(crate) fn share(config: &Config) -> Connections {
        let is_lsm = config.sieve == SieveKind::Lsm;
        let files = OTHERS + PARSER * config.parsers as u64 + if is_lsm { LSM } else { 0 };
        let open = fs::read_dir("/dev/fd").map_or(OPEN, |entries| entries.count() as u64);
        let limit = raise();
        let left = limit.saturating_sub(open).saturating_sub(files);
        Connections::fit(config.fetchers, config.idle_connections_max, left)
    }

    /// Fits the configured numbers into the free descriptors: fetchers take at most half of them, but at least
    /// one.
    fn fit(fetchers: usize, idle: usize, left: u64) -> Connections {
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let fetchers = fetchers.min((left / 2).max(1));
        Connections { fetchers, idle: idle.min(left.saturating_sub(fetchers)) }
    }
}

/// Raises the soft limit to the hard one; returns the limit.
fn raise() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    let limit = if setrlimit(Resource::Nofile, raised).is_ok() { maximum } else { current };
    limit.unwrap_or(u64::MAX)
}

/// Waits for descriptors that others release.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    waits: u32,
}

impl Patience {
    /// Waits a little after an error that is [`archive::is_exhausted`]; returns the error of the run after a
    /// minute of waits.
    pub(crate) async fn wait(&mut self, source: io::Error) -> Result<(), CrawlError> {
        self.waits += 1;
        if self.waits > WAITS_MAX {
            return Err(CrawlError::Descriptors { source });
        }
        sleep(Duration::from_millis(WAIT_MS)).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_fit_the_remaining_descriptors() {
        for (left, fetchers, idle) in [
            (0, 1, 0),
            (1, 1, 0),
            (22, 11, 11),
            (100, 50, 50),
            (200, 64, 136),
            (1_000, 64, 256),
            (u64::MAX, 64, 256),
        ] {
            assert_eq!(Connections::fit(64, 256, left), Connections { fetchers, idle }, "{left}");
        }
        assert_eq!(Connections::fit(4, 0, 100), Connections { fetchers: 4, idle: 0 });
    }
}
