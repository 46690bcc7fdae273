//! Descriptors: how many files and connections this process may have open, and what to do when there are
//! no more.
//!
//! What lives here: raising the limit of the system, the share of it that connections get, and waiting for
//! one. What does not: the connections (`fetch/`), and telling that none is left from other errors (the
//! archive's, which waits for its files by itself).
//!
//! **Invariant.** Fetchers and idle connections together take no more than the limit leaves beside the files
//! of a crawl. That this machine has no descriptor left is never held against a host.
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

/// What a run opens beside connections and what its parsers open: queues, a sieve that is merging, the
/// runtime, those who watch, a report.
const OTHERS: u64 = 24;
/// What a parser opens: its archive file, that of the index, a log and what it is about, a folder.
const PARSER: u64 = 6;
/// What the files of an LSM sieve take.
const LSM: u64 = 64;
/// What is taken to be open where the system does not tell.
const OPEN: u64 = 32;

/// How long a wait for a descriptor is, and how often one waits before the run is ended.
const WAIT_MS: u64 = 50;
const WAITS_MAX: u32 = 1_200;

/// How many connections there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Connections {
    /// Visits under way, each with one connection at most.
    pub(crate) fetchers: usize,
    /// Connections kept for the next visit.
    pub(crate) idle: usize,
}

impl Connections {
    /// Raises the limit of this process as far as the system allows, and shares out what is not in use.
    pub(crate) fn share(config: &Config) -> Connections {
        let is_lsm = config.sieve == SieveKind::Lsm;
        let files = OTHERS + PARSER * config.parsers as u64 + if is_lsm { LSM } else { 0 };
        let open = fs::read_dir("/dev/fd").map_or(OPEN, |entries| entries.count() as u64);
        let limit = raise();
        let left = limit.saturating_sub(open).saturating_sub(files);
        Connections::fit(config.fetchers, config.idle_connections_max, left)
    }

    /// Fits the wishes into what is left: fetchers take half of it at most, and one is always there.
    fn fit(fetchers: usize, idle: usize, left: u64) -> Connections {
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let fetchers = fetchers.min((left / 2).max(1));
        Connections { fetchers, idle: idle.min(left.saturating_sub(fetchers)) }
    }
}

/// Raises the soft limit to the hard one; how many descriptors there may then be.
fn raise() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    let limit = if setrlimit(Resource::Nofile, raised).is_ok() { maximum } else { current };
    limit.unwrap_or(u64::MAX)
}

/// Waits for descriptors that others give back.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    waits: u32,
}

impl Patience {
    /// Waits a little after an error that is [`archive::is_exhausted`]; it is the error of the run once a minute has
    /// not helped.
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
    fn connections_fit_into_what_is_left() {
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
