//! Shared by several tests: a simulated web and a crawl of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use archive::{Archive, Kind};
use crawl::{Clock, Config, CrawlError, Dirs, Moment, Report, Scope, Snapshot, SystemClock, run};
use simweb::{Options, Server};

/// The maximum number of pages of a host in the tests' crawls.
pub(crate) const PAGES_PER_HOST: u64 = 30;

pub(crate) const DELAY_MS: u64 = 20;

/// Starts a small web with all its oddities.
pub(crate) fn server() -> Server {
    let options =
        Options { hosts: 6, pages_per_host: 25, addresses: 16, seed: 7, ..Options::default() };
    Server::start(options).expect("loopback has room for a server")
}

/// A quick crawl of all of it.
pub(crate) fn config(server: &Server) -> Config {
    Config {
        delay_ms: DELAY_MS,
        ip_delay_ms: 0,
        scope: Scope::Any,
        pages_per_host_max: PAGES_PER_HOST,
        resolve: server.web().resolve(),
        retry_ms: 30,
        body_bytes_max: 1 << 20,
        body_timeout_ms: 5_000,
        timeout_ms: 5_000,
        ..Config::default()
    }
}

pub(crate) fn dirs(dir: &Path) -> Dirs {
    Dirs { archive: dir.join("archive"), frontier: dir.join("frontier"), named: Vec::new() }
}

/// Runs a crawl to its end.
pub(crate) fn crawl(dir: &Path, config: &Config, seeds: &[String]) -> Result<Report, CrawlError> {
    crawl_until(dir, config, seeds, u64::MAX)
}

/// Runs a crawl that is stopped once it has `pages` pages.
pub(crate) fn crawl_until(
    dir: &Path,
    config: &Config,
    seeds: &[String],
    pages: u64,
) -> Result<Report, CrawlError> {
    let stop = AtomicBool::new(false);
    let watch = |snapshot: &Snapshot| {
        if snapshot.report.pages >= pages {
            stop.store(true, Ordering::Relaxed);
        }
    };
    run(&dirs(dir), config, seeds, Arc::new(SystemClock::new()), &stop, &watch)
}

/// Runs a recrawl that is stopped once it has fetched `asked` known URLs.
pub(crate) fn recrawl_until(dir: &Path, config: &Config, asked: u64) -> Result<Report, CrawlError> {
    let stop = AtomicBool::new(false);
    let watch = |now: &Snapshot| {
        if now.report.again().values().sum::<u64>() >= asked {
            stop.store(true, Ordering::Relaxed);
        }
    };
    run(&dirs(dir), config, &[], Arc::new(SystemClock::new()), &stop, &watch)
}

/// Returns how often each URL was archived with the status 200, without robots.txt files and sitemaps.
pub(crate) fn archived(dir: &Path) -> BTreeMap<String, usize> {
    let mut pages = BTreeMap::new();
    let archive = Archive::open(&dir.join("archive")).expect("the crawl made it");
    for record in archive.records() {
        let record = record.expect("the crawl wrote it");
        let is_page = record.header("Crivello-Purpose") == Some("page");
        if record.kind == Kind::Response && is_page {
            let http = archive::parse_http(&record.block).expect("an answer");
            if http.status == 200 {
                *pages.entry(record.target.expect("a response has a target")).or_default() += 1;
            }
        }
    }
    pages
}

/// The clock of this machine, some seconds later.
pub(crate) struct Later(pub(crate) SystemClock, pub(crate) i64);

impl Clock for Later {
    fn now_ms(&self) -> u64 {
        self.0.now_ms()
    }

    fn unix_s(&self) -> i64 {
        self.0.unix_s() + self.1
    }

    fn date(&self) -> Moment {
        let Moment { s, us } = self.0.date();
        Moment { s: s + self.1, us }
    }
}
