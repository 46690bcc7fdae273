//! What a crawl tells about itself: while it runs, and when it is over (W5).
//!
//! What lives here: the counts, as plain values, and `frontier/report.json`, which keeps those of the
//! last run that came to its end (docs/formats/crawl-report.md). What does not: counting, which the
//! frontier does, and how the counts look to a monitoring system (`metrics.rs`).
//!
//! **Invariant.** Counts only grow while a crawl runs, except those of what waits.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::CrawlError;

const NAME: &str = "report.json";

/// The state of a crawl at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Snapshot {
    /// Pages archived in all, those of earlier runs included.
    pub pages: u64,
    /// Pages archived by this run.
    pub pages_new: u64,
    /// Pages a second over the last few seconds.
    pub pages_per_s: f64,
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
    /// URLs dropped because of a limit, by the limit.
    pub dropped: BTreeMap<String, u64>,
    /// URLs that wait for their visit.
    pub waiting: u64,
    /// Hosts known.
    pub hosts: u64,
    /// Hosts set aside.
    pub hosts_aside: u64,
    /// Visits under way.
    pub under_way: u64,
    /// What the hosts are doing. It is counted less often than the rest where hosts are many.
    pub census: Census,
    /// How seen URLs are remembered.
    pub sieve: SieveReport,
    /// Time since the run began.
    pub elapsed_ms: u64,
}

impl Snapshot {
    /// Pages a second since the run began.
    pub fn mean_pages_per_s(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts of a crawl are far below 2^53")]
        let (pages, ms) = (self.pages_new as f64, self.elapsed_ms.max(1) as f64);
        pages / ms * 1000.0
    }
}

/// How many hosts are in which state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Census {
    /// May be visited at once.
    pub ready: u64,
    /// Keep the silence that is due between requests.
    pub resting: u64,
    /// Wait longer after a failure.
    pub back_off: u64,
    /// Are being visited.
    pub visiting: u64,
    /// Wait for the robots.txt that another host keeps for them.
    pub asking: u64,
    /// Are set aside.
    pub aside: u64,
    /// Have nothing to do.
    pub idle: u64,
}

/// The outcome of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
    /// When it ended, in seconds since 1970.
    pub finished_s: i64,
    /// How long it took.
    pub elapsed_ms: u64,
    /// How seen URLs were remembered.
    pub sieve: SieveReport,
}

/// A host that was set aside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AsideHost {
    /// Scheme, host and port.
    pub host: String,
    /// Why.
    pub why: String,
    /// Until when, in seconds since 1970, as far as the run would have come back to it; a later
    /// crawl tries it at once.
    pub until_s: Option<i64>,
    /// The same on the clock of the run.
    #[serde(skip)]
    pub(crate) until_ms: Option<u64>,
}

/// The counters of the sieve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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

/// The report of the last run that came to its end; `None` if there was none.
pub fn read_report(frontier: &Path) -> Result<Option<Report>, CrawlError> {
    let path = frontier.join(NAME);
    let result = match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::from),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => Err(error),
    };
    result.map(Some).map_err(|source| CrawlError::Io { path, source })
}

/// Keeps a report in place of the last one.
pub(crate) fn write_report(frontier: &Path, report: &Report) -> Result<(), CrawlError> {
    let path = frontier.join(NAME);
    let fresh = frontier.join("report.json.tmp");
    let write = || {
        let mut file = File::create(&fresh)?;
        serde_json::to_writer(&mut file, report)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        fs::rename(&fresh, &path)?;
        File::open(frontier)?.sync_all()
    };
    write().map_err(|source| CrawlError::Io { path: path.clone(), source })
}
