//! The counts of a crawl: while it runs, and when it is over.
//!
//! What lives here: the counts, as plain values, and `frontier/report.json`, which keeps those of the last
//! completed run (docs/formats/crawl-report.md). What does not: counting, which the frontier does, and the format
//! for monitoring systems (`metrics.rs`).
//!
//! **Invariant.** Counts of events only grow while a crawl runs. Counts of states go both ways: pages (a recrawl
//! finds some gone), waiting URLs, visits under way, hosts in a state. A recrawl counts each URL once: as
//! unchanged, changed, moved, gone or failed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use durable::replace;
use serde::{Deserialize, Serialize};

use crate::answer::is_redirect;
use crate::error::CrawlError;
use crate::outcome::Answered;
use crate::visited::Visited;

pub(crate) const NAME: &str = "report.json";

/// The start of the last member, the checksum of the text before it.
const SUM_MEMBER: &str = ",\"sum\":\"";

/// The state of a running crawl.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Snapshot {
    /// The counts so far, without the list of hosts that are set aside.
    pub report: Report,
    /// Pages a second over the last few seconds.
    pub pages_per_s: f64,
    /// Visits under way.
    pub under_way: u64,
    /// Hosts set aside.
    pub hosts_aside: u64,
    /// Whether `frontier/pause` holds the run.
    pub paused: bool,
    /// The states of the hosts. With many hosts it is updated less often than the other counts.
    pub census: Census,
}

/// The number of hosts in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Census {
    /// Can be visited at once.
    pub ready: u64,
    /// Pause between two requests.
    pub resting: u64,
    /// Wait longer after a failure.
    pub back_off: u64,
    /// Are being visited.
    pub visiting: u64,
    /// Wait for a robots.txt to which their own one redirects.
    pub asking: u64,
    /// Are set aside.
    pub aside: u64,
    /// Have no waiting pages.
    pub idle: u64,
}

/// The outcome of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the report")]
pub struct Report {
    /// Pages archived, earlier runs included.
    pub pages: u64,
    /// Pages archived by this run that were not known before.
    pub pages_new: u64,
    /// Known URLs that this run fetched again, without sitemaps: the sum of `unchanged`, `changed`, `moved`,
    /// `deleted` and `failed`.
    pub asked: u64,
    /// Known sitemaps that this run fetched again.
    pub asked_sitemaps: u64,
    /// Known URLs found unchanged.
    pub unchanged: u64,
    /// Known URLs found changed.
    pub changed: u64,
    /// Known URLs found to redirect elsewhere than before.
    pub moved: u64,
    /// Known URLs found to be gone.
    pub deleted: u64,
    /// Known URLs that failed: no answer, or another error.
    pub failed: u64,
    /// Requests made by this run.
    pub requests: u64,
    /// Bytes of bodies received by this run.
    pub bytes: u64,
    /// Redirects received by this run.
    pub redirects: u64,
    /// Answers of this run by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Answers of this run by status, without those for robots.txt and without inconclusive answers to conditional
    /// requests.
    pub page_statuses: BTreeMap<u16, u64>,
    /// Links found by this run that do not belong to it, by the name of the refusal.
    pub refused: BTreeMap<String, u64>,
    /// Known URLs that a robots.txt forbids.
    pub forbidden_by_robots: u64,
    /// Visits of this run that failed for good or set their hosts aside, by the class of the failure.
    pub failures: BTreeMap<String, u64>,
    /// Visits that set their hosts aside, by the class of the failure. Their URLs still wait.
    pub put_aside: BTreeMap<String, u64>,
    /// Visits of this run that failed and were retried, by the class of the failure.
    pub retried: BTreeMap<String, u64>,
    /// Hosts set aside at the end, and why.
    pub aside: Vec<AsideHost>,
    /// Known URLs that were dropped because of a limit, by the limit.
    pub dropped: BTreeMap<String, u64>,
    /// URLs not queued because their turn would have come too late.
    pub pruned: u64,
    /// The limit that ended the run, as its key.
    pub limit: Option<String>,
    /// Bytes of waiting URLs and of robots.txt rules on disk.
    pub spilled_bytes: u64,
    /// URLs of other agents' hosts.
    pub sent: u64,
    /// URLs left waiting, those under way included.
    pub waiting: u64,
    /// In a run that follows no links: URLs from sitemaps and redirects that were not given. They are left to a
    /// run that follows links.
    pub held: u64,
    /// In a run with `alone` set: URLs that go on waiting (earlier ones, seeds of earlier runs, and URLs of an
    /// unfinished recrawl).
    pub put_off: u64,
    /// Hosts known.
    pub hosts: u64,
    /// Addresses given to this run, or else the seeds, that it did not fetch because earlier runs had an answer.
    pub visited: Visited,
    /// Archive records that could not be read when the crawl was resumed.
    pub damaged: u64,
    /// The error of the first of them that no earlier run has found, with file and byte.
    #[serde(default)]
    pub damage: Option<String>,
    /// Archive files that were missing when the run began, and that no earlier run has reported.
    pub gone: Vec<String>,
    /// Archive files that had become shorter.
    pub shortened: Vec<String>,
    /// Pages that were missing in the archive when the run began: only records without a body are left of them.
    pub lost: u64,
    /// Pages that are still missing; the next run fetches them again, unless they are excluded.
    pub missing: u64,
    /// Missing pages that rules, robots.txt or a limit now exclude, so that no run fetches them.
    pub missing_kept_out: u64,
    /// Invalid lines of inboxes.
    pub bad_lines: u64,
    /// The error of the first of them, with file and line.
    pub bad_line: Option<String>,
    /// Whether the run resumed an earlier one.
    pub resumed: bool,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// Whether it ended before it had read the archive of earlier runs. Then it made no requests, and the counts
    /// of states are those of the report before.
    pub unread: bool,
    /// Whether only the given addresses were fetched. Then links of earlier runs were not counted.
    pub alone: bool,
    /// Whether known pages were fetched again.
    pub recrawled: bool,
    /// The limit that kept a requested recrawl from starting, as its key.
    pub recrawl_unbegun: Option<String>,
    /// In a run with `alone` set: when another unfinished recrawl began, in seconds since 1970.
    pub recrawl_waits_s: Option<i64>,
    /// How long `frontier/pause` held the run.
    pub paused_ms: u64,
    /// Maximum number of concurrent requests; the descriptors of the system limit it.
    pub fetchers: u64,
    /// When it ended, in seconds since 1970.
    pub finished_s: i64,
    /// How long it took.
    pub elapsed_ms: u64,
    /// The counters of the sieve.
    pub sieve: SieveReport,
}

impl Report {
    /// Returns the number of pages fetched by this run, new or known.
    pub(crate) fn pages_had(&self) -> u64 {
        self.pages_new + self.unchanged + self.changed
    }

    /// Returns the known URLs that this run fetched again, by result.
    pub fn again(&self) -> BTreeMap<&'static str, u64> {
        BTreeMap::from([
            ("unchanged", self.unchanged),
            ("changed", self.changed),
            ("moved", self.moved),
            ("gone", self.deleted),
            ("failed", self.failed),
        ])
    }

    /// Returns the pages a second since the run began.
    pub fn mean_pages_per_s(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts of a crawl are far below 2^53")]
        let (pages, ms) = (self.pages_had() as f64, self.elapsed_ms.max(1) as f64);
        pages / ms * 1000.0
    }

    /// Returns the counts of states, without the counts of events.
    pub(crate) fn standing(self) -> Report {
        let Report { pages, hosts, waiting, held, put_off, dropped, forbidden_by_robots, .. } =
            self;
        let Report { pruned, aside, sieve, missing, missing_kept_out, .. } = self;
        let counts = Report { pages, pruned, waiting, held, put_off, hosts, ..Report::default() };
        Report { forbidden_by_robots, aside, dropped, missing, missing_kept_out, sieve, ..counts }
    }

    /// Counts a known URL that was fetched again, by its answer.
    pub(crate) fn count_again(&mut self, answered: &Answered) {
        let &Answered { status, before, .. } = answered;
        // Answers of busy and broken servers do not come here: the earlier page stays valid.
        let is_gone = |status: u16| status != 0 && status != 200 && !is_redirect(status);
        // The text of an error page may change, for instance because it has the time in it.
        let is_same_error = is_gone(status) && is_gone(before);
        self.asked += 1;
        let count = match status {
            _ if answered.unchanged || is_same_error => &mut self.unchanged,
            200 => &mut self.changed,
            _ if is_redirect(status) => &mut self.moved,
            _ => &mut self.deleted,
        };
        *count += 1;
    }
}

/// A host that was set aside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AsideHost {
    /// Scheme, host and port.
    pub host: String,
    /// Why.
    pub why: String,
    /// The time until which the host accepts no requests, in seconds since 1970; `None` if the next crawl tries it
    /// again.
    pub until_s: Option<i64>,
    /// Whether the crawl may not visit the host's address. Then no crawl does, as long as that is so.
    pub refused: bool,
    /// Whether the host has no waiting pages.
    pub idle: bool,
    /// When the run tries the host again, if it lasts that long, in milliseconds of its clock.
    #[serde(skip)]
    pub(crate) until_ms: Option<u64>,
}

/// The counters of the sieve.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SieveReport {
    /// Its kind, by the name in the configuration.
    pub kind: String,
    /// URLs offered, repetitions included.
    pub offered: u64,
    /// URLs that were new.
    pub emitted: u64,
    /// Different signatures known.
    pub seen: u64,
    /// The fraction of offers that hit the cache in front.
    pub cache_hit_rate: f64,
    /// Expected number of URLs lost to a collision of signatures.
    pub expected_collisions: f64,
    /// False-positive rate of a Bloom sieve at its planned capacity; 0 for other sieves.
    pub planned_false_positive_rate: f64,
    /// Estimated false-positive rate now; 0 for an exact sieve.
    pub false_positive_rate: f64,
    /// Bytes of memory that grow with the URLs.
    pub memory_bytes: u64,
    /// Bytes of the files.
    pub disk_bytes: u64,
}

impl SieveReport {
    pub(crate) fn new(kind: sieve::SieveKind, stats: &sieve::Stats) -> Self {
        SieveReport {
            kind: kind.name().to_owned(),
            offered: stats.offered,
            emitted: stats.emitted,
            seen: stats.seen,
            cache_hit_rate: stats.cache_hit_rate(),
            expected_collisions: stats.expected_collisions,
            planned_false_positive_rate: stats.planned_false_positive_rate,
            false_positive_rate: stats.false_positive_rate,
            memory_bytes: stats.memory_bytes,
            disk_bytes: stats.disk_bytes,
        }
    }
}

/// Reads the report of the last completed run; `None` if it does not exist.
pub fn read_report(frontier: &Path) -> Result<Option<Report>, CrawlError> {
    let path = frontier.join(NAME);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(CrawlError::Io { path, source }),
    };
    let text = str::from_utf8(&bytes).ok();
    let text = text.filter(|text| is_sound(text));
    let report = text.and_then(|text| serde_json::from_str(text).ok());
    report.map(Some).ok_or(CrawlError::Report { path })
}

/// Reads the report of the last completed run; a missing or damaged one is empty.
pub fn known_report(frontier: &Path) -> Result<Report, CrawlError> {
    match read_report(frontier) {
        Err(CrawlError::Report { .. }) => Ok(Report::default()),
        report => Ok(report?.unwrap_or_default()),
    }
}

/// Replaces the last report.
pub(crate) fn write_report(frontier: &Path, report: &Report) -> Result<(), CrawlError> {
    let path = frontier.join(NAME);
    let text = serde_json::to_string(report).map_err(io::Error::from);
    let written =
        text.and_then(|text| replace(&path, with_sum(text.strip_suffix('}').unwrap_or(&text))));
    written.map_err(CrawlError::io(&path))
}

/// Appends the checksum of a JSON object as its last member, and a line break. `open` is the object without its last
/// brace.
fn with_sum(open: &str) -> String {
    format!("{open}{SUM_MEMBER}{:08x}\"}}\n", crc32fast::hash(open.as_bytes()))
}

/// Returns whether the checksum of an object is correct.
fn is_sound(text: &str) -> bool {
    text.rsplit_once(SUM_MEMBER).is_some_and(|(open, _)| with_sum(open) == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_or_truncated_report_is_refused() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let report = Report { pages: 7, finished_s: 5, ..Report::default() };
        write_report(dir.path(), &report).expect("room");
        assert_eq!(read_report(dir.path()).expect("whole"), Some(report));
        let path = dir.path().join(NAME);
        let whole = fs::read(&path).expect("it is there");
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, bytes).expect("room");
            let read = read_report(dir.path());
            assert!(matches!(read, Err(CrawlError::Report { .. })), "bit {bit}: {read:?}");
        }
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).expect("room");
            read_report(dir.path()).expect_err("it is cut");
        }
        assert_eq!(known_report(dir.path()).expect("none is known"), Report::default());
    }
}
