//! What a crawl tells about itself: while it runs, and when it is over (W5).
//!
//! What lives here: the counts, as plain values, and `frontier/report.json`, which keeps those of the
//! last run that came to its end (docs/formats/crawl-report.md). What does not: counting, which the
//! frontier does, and how the counts look to a monitoring system (`metrics.rs`).
//!
//! **Invariant.** Counts of what was done only grow while a crawl runs; those of how things stand go both
//! ways: pages (a recrawl finds some gone), what waits or is under way, hosts in a state. Of what a recrawl
//! asked for, each URL is counted once: as unchanged, changed, moved, gone or failed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::answer::is_redirect;
use crate::error::CrawlError;
use crate::outcome::Answered;
use crate::replaced::replace;
use crate::sealed::{Seal, seal_object, unseal_object};
use crate::visited::Visited;

pub(crate) const NAME: &str = "report.json";

/// The state of a crawl at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Snapshot {
    /// Pages archived in all, those of earlier runs included.
    pub pages: u64,
    /// Pages archived by this run that were not known before.
    pub pages_new: u64,
    /// Known URLs that this run asked for again and found as they were.
    pub unchanged: u64,
    /// Known URLs that this run found to be other pages than before.
    pub changed: u64,
    /// Known URLs that this run found to lead elsewhere than before.
    pub moved: u64,
    /// Known URLs that this run found to be gone.
    pub deleted: u64,
    /// Known URLs that this run asked for in vain: no answer, or one of another error.
    pub failed: u64,
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
    /// Links that this run read and are not for it, by the name of the refusal.
    pub refused: BTreeMap<String, u64>,
    /// URLs known by now that a robots.txt forbids.
    pub forbidden_by_robots: u64,
    /// Visits that this run gave up, or that set their hosts aside, by the class of the failure.
    pub failures: BTreeMap<String, u64>,
    /// URLs known by now that were dropped because of a limit, by the limit.
    pub dropped: BTreeMap<String, u64>,
    /// URLs that wait for their visit.
    pub waiting: u64,
    /// Hosts known.
    pub hosts: u64,
    /// Hosts set aside.
    pub hosts_aside: u64,
    /// Visits under way.
    pub under_way: u64,
    /// Whether the run holds because of `frontier/pause`.
    pub paused: bool,
    /// What the hosts are doing. It is counted less often than the rest where hosts are many.
    pub census: Census,
    /// How seen URLs are remembered.
    pub sieve: SieveReport,
    /// Time since the run began.
    pub elapsed_ms: u64,
}

impl Snapshot {
    /// Pages that this run had, new or known.
    pub(crate) fn pages_had(&self) -> u64 {
        self.pages_new + self.unchanged + self.changed
    }

    /// Known URLs that this run asked for again, by what it found.
    pub fn again(&self) -> BTreeMap<&'static str, u64> {
        BTreeMap::from([
            ("unchanged", self.unchanged),
            ("changed", self.changed),
            ("moved", self.moved),
            ("gone", self.deleted),
            ("failed", self.failed),
        ])
    }

    /// Pages a second since the run began.
    pub fn mean_pages_per_s(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts of a crawl are far below 2^53")]
        let (pages, ms) = (self.pages_had() as f64, self.elapsed_ms.max(1) as f64);
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
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the report")]
pub struct Report {
    /// Pages archived in all, those of earlier runs included.
    pub pages: u64,
    /// Pages archived by this run that were not known before.
    pub pages_new: u64,
    /// Known URLs that this run asked for again, sitemaps left out: the sum of the next five.
    pub asked: u64,
    /// Known sitemaps that it asked for again.
    pub asked_sitemaps: u64,
    /// Those found as they were.
    pub unchanged: u64,
    /// Those found to be other pages than before.
    pub changed: u64,
    /// Those found to lead elsewhere than before.
    pub moved: u64,
    /// Those found to be gone.
    pub deleted: u64,
    /// Those asked for in vain: no answer, or one of another error.
    pub failed: u64,
    /// Requests made by this run.
    pub requests: u64,
    /// Bytes of bodies received by this run.
    pub bytes: u64,
    /// Redirects met by this run.
    pub redirects: u64,
    /// Answers of this run by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Those to requests for anything but a robots.txt, without those that speak of a condition alone.
    pub page_statuses: BTreeMap<u16, u64>,
    /// Links that this run read and are not for it, by the name of the refusal.
    pub refused: BTreeMap<String, u64>,
    /// URLs known by now that a robots.txt forbids.
    pub forbidden_by_robots: u64,
    /// Visits that this run gave up, or that set their hosts aside, by the class of the failure.
    pub failures: BTreeMap<String, u64>,
    /// Those that set their hosts aside: what they were for is not given up.
    pub put_aside: BTreeMap<String, u64>,
    /// Visits of this run that failed and were to be made again, by the class of the failure.
    pub retried: BTreeMap<String, u64>,
    /// Hosts set aside at the end, and why.
    pub aside: Vec<AsideHost>,
    /// URLs known by now that were dropped because of a limit, by the limit.
    pub dropped: BTreeMap<String, u64>,
    /// URLs not queued because their turn would have come too late.
    pub pruned: u64,
    /// The limit that ended the run, as its key.
    pub limit: Option<String>,
    /// Bytes of waiting URLs, and of rules of robots.txt files, that are on disk.
    pub spilled_bytes: u64,
    /// URLs of other agents' hosts.
    pub sent: u64,
    /// URLs left waiting, those that were under way included.
    pub waiting: u64,
    /// In a run that follows no link: URLs that sitemaps and redirects led to, were not given, and are left to
    /// a run that does.
    pub held: u64,
    /// In a run of the given addresses alone: URLs that waited before, seeds of earlier runs and what a recrawl
    /// that is not over asks for, and go on waiting.
    pub put_off: u64,
    /// Hosts known.
    pub hosts: u64,
    /// Addresses given to this run, or else the seeds, that it did not ask for since earlier runs had an answer.
    pub visited: Visited,
    /// Records of the archive that could not be read when the crawl was resumed.
    pub damaged: u64,
    /// What is wrong at the first of them that no earlier run has found, with file and byte.
    #[serde(default)]
    pub damage: Option<String>,
    /// Files of the archive that were gone when the run began, and that no earlier run has told of.
    pub gone: Vec<String>,
    /// Those that had become shorter.
    pub shortened: Vec<String>,
    /// Pages that were missing in the archive when the run began: only is left of them that they were as before.
    pub lost: u64,
    /// Those that are still missing; the next run asks for them again, unless they are kept out.
    pub missing: u64,
    /// Those of them that rules, robots.txt or a limit keep out as they are now, so that no run asks for them.
    pub missing_kept_out: u64,
    /// Lines of inboxes that are no addresses with the way that led there.
    pub bad_lines: u64,
    /// What is wrong with the first of them, with file and line.
    pub bad_line: Option<String>,
    /// Whether the run went on from an earlier one.
    pub resumed: bool,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// Whether it ended before it had read what earlier runs archived. Then nothing was asked for, and how things
    /// stand is as the report before has it.
    pub unread: bool,
    /// Whether the given addresses alone were asked for: then nobody has counted what links of earlier runs lead to.
    pub alone: bool,
    /// Whether known pages were asked for again.
    pub recrawled: bool,
    /// The limit that kept a recrawl that was wanted from being begun, as its key.
    pub recrawl_unbegun: Option<String>,
    /// In a run of the given addresses alone: when another recrawl began that goes on waiting, in seconds since 1970.
    pub recrawl_waits_s: Option<i64>,
    /// How long it held because of `frontier/pause`.
    pub paused_ms: u64,
    /// How many requests could be under way at once: as many as the system has descriptors for.
    pub fetchers: u64,
    /// When it ended, in seconds since 1970.
    pub finished_s: i64,
    /// How long it took.
    pub elapsed_ms: u64,
    /// How seen URLs were remembered.
    pub sieve: SieveReport,
}

impl Report {
    /// How things stand, and nothing of what was done.
    pub(crate) fn standing(self) -> Report {
        let Report { pages, hosts, waiting, held, put_off, dropped, forbidden_by_robots, .. } =
            self;
        let Report { pruned, aside, sieve, missing, missing_kept_out, .. } = self;
        let counts = Report { pages, pruned, waiting, held, put_off, hosts, ..Report::default() };
        Report { forbidden_by_robots, aside, dropped, missing, missing_kept_out, sieve, ..counts }
    }

    /// Counts a known URL that was asked for again, by its answer.
    pub(crate) fn count_again(&mut self, answered: &Answered) {
        let &Answered { status, before, .. } = answered;
        // Busy and broken servers are not among these: what they had stays as it was.
        let is_gone = |status: u16| status != 0 && status != 200 && !is_redirect(status);
        // A page of an error may tell the time, or be put into other words.
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
    /// Until when no crawl asks it, in seconds since 1970, because it says so itself; `None` if the next
    /// crawl tries it again.
    pub until_s: Option<i64>,
    /// Whether the crawl may not visit its address: then none does, as long as that is so.
    pub refused: bool,
    /// Whether none of its pages waits to be asked for.
    pub idle: bool,
    /// When the run asks it again, if it goes on for so long, on its clock.
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
    /// Share of the offers that the cache in front caught.
    pub cache_hit_rate: f64,
    /// Expected number of URLs lost to a collision of signatures.
    pub expected_collisions: f64,
    /// Rate of false positives of a Bloom sieve with the URLs it was made for; 0 for the others.
    pub planned_false_positive_rate: f64,
    /// Rate of false positives now, estimated; 0 for a sieve without them.
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

/// The report of the last run that came to its end; `None` if there was none.
pub fn read_report(frontier: &Path) -> Result<Option<Report>, CrawlError> {
    let path = frontier.join(NAME);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(CrawlError::Io { path, source }),
    };
    let text = str::from_utf8(&bytes).ok();
    let text = text.filter(|text| unseal_object(text) != Seal::Broken);
    let report = text.and_then(|text| serde_json::from_str(text).ok());
    report.map(Some).ok_or(CrawlError::Report { path })
}

/// The same for those who go on without it: an empty one if there was none, or if it is damaged.
pub fn known_report(frontier: &Path) -> Result<Report, CrawlError> {
    match read_report(frontier) {
        Err(CrawlError::Report { .. }) => Ok(Report::default()),
        report => Ok(report?.unwrap_or_default()),
    }
}

/// Keeps a report in place of the last one.
pub(crate) fn write_report(frontier: &Path, report: &Report) -> Result<(), CrawlError> {
    let path = frontier.join(NAME);
    let text = serde_json::to_string(report).map_err(io::Error::from);
    let written = text.and_then(|text| replace(&path, &seal_object(&text)));
    written.map_err(CrawlError::io(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_with_a_wrong_bit_is_none_and_one_of_an_earlier_version_is_read() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let report = Report { pages: 7, finished_s: 5, ..Report::default() };
        write_report(dir.path(), &report).expect("room");
        assert_eq!(read_report(dir.path()).expect("whole"), Some(report.clone()));
        let path = dir.path().join(NAME);
        let whole = fs::read(&path).expect("it is there");
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, bytes).expect("room");
            let read = read_report(dir.path());
            assert!(matches!(read, Err(CrawlError::Report { .. })), "bit {bit}: {read:?}");
        }
        assert_eq!(known_report(dir.path()).expect("none is known"), Report::default());
        let text = serde_json::to_string(&report).expect("it is JSON") + "\n";
        fs::write(&path, text).expect("room");
        assert_eq!(read_report(dir.path()).expect("whole"), Some(report));
    }
}
