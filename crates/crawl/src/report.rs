//! What a crawl tells about itself: while it runs, and when it is over (W5).
//!
//! What lives here: the counts, as plain values. What does not: counting, which the frontier does.
//!
//! **Invariant.** Counts only grow while a crawl runs, except those of what waits.

use std::collections::BTreeMap;

use serde::Serialize;

/// The state of a crawl at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Pages archived in all, those of earlier runs included.
    pub pages: u64,
    /// Requests made by this run.
    pub requests: u64,
    /// Bytes of bodies received by this run.
    pub bytes: u64,
    /// URLs that wait for their visit.
    pub waiting: u64,
    /// Hosts known.
    pub hosts: u64,
    /// Hosts set aside.
    pub hosts_aside: u64,
    /// Visits under way.
    pub under_way: u64,
    /// Time since the run began.
    pub elapsed_ms: u64,
}

/// The outcome of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// Pages archived in all, those of earlier runs included.
    pub pages: u64,
    /// Pages archived by this run.
    pub pages_new: u64,
    /// Requests made by this run.
    pub requests: u64,
    /// Bytes of bodies received by this run.
    pub bytes: u64,
    /// Redirects met by this run.
    pub redirects: u64,
    /// Answers of this run by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Links not for this crawl, by the name of the refusal; earlier runs included.
    pub refused: BTreeMap<String, u64>,
    /// URLs that a robots.txt forbids.
    pub forbidden_by_robots: u64,
    /// Visits given up, by the class of the failure.
    pub failures: BTreeMap<String, u64>,
    /// Hosts set aside at the end, and why.
    pub aside: Vec<AsideHost>,
    /// URLs dropped because of a limit, by the limit.
    pub dropped: BTreeMap<String, u64>,
    /// URLs not queued because their turn would have come too late.
    pub pruned: u64,
    /// The limit that ended the run, as its key.
    pub limit: Option<String>,
    /// Bytes of waiting URLs that are on disk.
    pub spilled_bytes: u64,
    /// URLs of other agents' hosts.
    pub sent: u64,
    /// URLs left waiting.
    pub waiting: u64,
    /// Hosts known.
    pub hosts: u64,
    /// Records of the archive that could not be read when the crawl was resumed.
    pub damaged: u64,
    /// Whether the run went on from an earlier one.
    pub resumed: bool,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// How long it took.
    pub elapsed_ms: u64,
    /// How seen URLs were remembered.
    pub sieve: SieveReport,
}

/// A host that was set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AsideHost {
    /// Scheme, host and port.
    pub host: String,
    /// Why.
    pub why: String,
}

/// The counters of the sieve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct SieveReport {
    /// URLs offered, repetitions included.
    pub offered: u64,
    /// URLs that were new.
    pub emitted: u64,
    /// Different signatures known.
    pub seen: u64,
    /// Expected number of URLs lost to a collision of signatures.
    pub expected_collisions: f64,
    /// Bytes of memory that grow with the URLs.
    pub memory_bytes: u64,
    /// Bytes of the files.
    pub disk_bytes: u64,
}

impl From<sieve::Stats> for SieveReport {
    fn from(stats: sieve::Stats) -> Self {
        SieveReport {
            offered: stats.offered,
            emitted: stats.emitted,
            seen: stats.seen,
            expected_collisions: stats.expected_collisions,
            memory_bytes: stats.memory_bytes,
            disk_bytes: stats.disk_bytes,
        }
    }
}
