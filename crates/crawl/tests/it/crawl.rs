//! Whole crawls of a simulated web, compared with the result of a polite crawler.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use archive::{Archive, Kind};
use crawl::{
    Config, CrawlError, Order, SieveKind, Snapshot, SystemClock, explain_robots, read_seeds, run,
};
use simweb::{LogLine, Server, judge};

use crate::support::{
    DELAY_MS, PAGES_PER_HOST, archived, config, crawl, crawl_until, dirs, server,
};

/// Checks that the log and the archive agree with the truth, and nothing was archived twice.
fn check_complete(server: &Server, dir: &Path) {
    let truth = server.web().truth(PAGES_PER_HOST);
    let verdict = judge(&truth, &server.log(), DELAY_MS);
    assert!(verdict.is_clean(), "{verdict}");
    let pages = archived(dir);
    let twice: Vec<_> = pages.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "archived twice: {twice:?}");
    let wanted: BTreeSet<&str> = truth.pages.iter().map(|page| page.url.as_str()).collect();
    let missing: Vec<_> = wanted.iter().filter(|url| !pages.contains_key(**url)).collect();
    assert!(missing.is_empty(), "not archived: {missing:?}");
    let capped: Vec<_> = truth.capped.iter().map(|capped| capped.host.as_str()).collect();
    let beyond = pages.keys().filter(|url| {
        let host = url.split(['/', ':']).nth(3).unwrap_or_default();
        !wanted.contains(url.as_str()) && !capped.contains(&host) && !truth.others.contains(url)
    });
    assert_eq!(beyond.collect::<Vec<_>>(), Vec::<&String>::new(), "archived but no page");
}

fn check_crawl(change: impl FnOnce(&mut Config)) {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut config = config(&server);
    change(&mut config);
    let report = crawl(dir.path(), &config, &server.web().seeds()).expect("the crawl runs");
    check_complete(&server, dir.path());
    assert_eq!(report.pages, archived(dir.path()).len() as u64);
    assert_eq!(report.pages, report.pages_new);
    assert!(!report.interrupted && !report.resumed);
    assert_eq!(report.requests, server.log().len() as u64 + dead_requests(&report.failures));
    let aside: Vec<_> = report.aside.iter().map(|aside| aside.host.as_str()).collect();
    assert_eq!(aside.len(), 2, "{aside:?}");
    assert!(aside.iter().any(|host| host.contains("dead")), "{aside:?}");
    assert!(aside.iter().any(|host| host.contains("robots503")), "{aside:?}");
    assert!(report.forbidden_by_robots > 0);
}

/// Three attempts at a host that refuses connections are in no log.
fn dead_requests(failures: &BTreeMap<String, u64>) -> u64 {
    failures.get("connect").copied().unwrap_or(0) * 3
}

#[test]
fn a_crawl_with_any_sieve_finds_everything() {
    for sieve in SieveKind::ALL {
        check_crawl(|config| {
            config.sieve = sieve;
            config.sieve_capacity = 100_000;
        });
    }
}

#[test]
fn a_crawl_with_a_small_offline_sieve_finds_everything() {
    check_crawl(|config| {
        config.sieve_cache_keys = 0;
        config.sieve_buffer_keys = 64;
        config.parsers = 2;
    });
}

#[test]
fn a_crawl_in_shallow_order_finds_everything() {
    check_crawl(|config| config.order = Order::ShallowFirst);
}

#[test]
fn hosts_at_one_address_share_its_pause() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { ip_delay_ms: 10, ..config(&server) };
    crawl(dir.path(), &config, &server.web().seeds()).expect("the crawl runs");
    check_complete(&server, dir.path());
    let truth = server.web().truth(PAGES_PER_HOST);
    let gaps = simweb::address_gaps(&truth, &server.log(), 10);
    assert!(gaps.is_empty(), "{gaps:?}");
}

#[test]
fn a_stopped_crawl_resumes() {
    for sieve in [SieveKind::Memory, SieveKind::Offline] {
        let server = server();
        let dir = tempfile::tempdir().expect("a temporary folder");
        let config = Config { sieve, sieve_buffer_keys: 64, ..config(&server) };
        let seeds = server.web().seeds();
        let first = crawl_until(dir.path(), &config, &seeds, 40).expect("the crawl runs");
        assert!(first.interrupted && first.pages >= 40 && first.waiting > 0, "{first:?}");
        let second = crawl_until(dir.path(), &config, &[], 100).expect("the crawl goes on");
        assert!(second.resumed && second.interrupted && second.pages > first.pages, "{second:?}");
        let third = crawl(dir.path(), &config, &[]).expect("the crawl goes on");
        assert!(third.resumed && !third.interrupted, "{third:?}");
        assert_eq!(third.pages, archived(dir.path()).len() as u64);
        check_complete_over_runs(&server, dir.path());
        // No work is left.
        let requests = server.log().len();
        let fourth = crawl(dir.path(), &config, &[]).expect("the crawl goes on");
        assert_eq!((fourth.pages, fourth.pages_new), (third.pages, 0));
        let again = server.log().split_off(requests);
        let pages: Vec<_> = again.iter().filter(|line| !line.path.contains("robots")).collect();
        assert!(pages.is_empty(), "{pages:?}");
    }
}

/// Does [`check_complete`], and checks that no page was fetched by two runs.
fn check_complete_over_runs(server: &Server, dir: &Path) {
    check_complete(server, dir);
    let mut times: BTreeMap<(String, String), usize> = BTreeMap::new();
    for LogLine { host, path, status, .. } in server.log() {
        *times.entry((host, path)).or_default() += usize::from(status == 200);
    }
    let truth = server.web().truth(PAGES_PER_HOST);
    let url = |host: &str, path: &str| format!("http://{host}:{}{path}", server.port());
    times.retain(|(host, path), times| *times > 1 && truth.page(&url(host, path)).is_some());
    assert!(times.is_empty(), "fetched twice: {times:?}");
}

#[test]
fn a_torn_archive_loses_only_the_torn_records() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = config(&server);
    crawl_until(dir.path(), &config, &server.web().seeds(), 40).expect("the crawl runs");
    // As after a kill: no index, and a truncated record.
    let archive = dir.path().join("archive");
    let path = archive.join("crivello-00001.warc.gz");
    fs::remove_file(archive.join("crivello-00001.warc.gz.cdxj")).expect("the crawl made it");
    let file = fs::File::options().write(true).open(&path).expect("the crawl made it");
    let length = file.metadata().expect("it is there").len();
    file.set_len(length - 100).expect("it can be cut");
    crawl(dir.path(), &config, &[]).expect("the crawl goes on");
    let truth = server.web().truth(PAGES_PER_HOST);
    let pages = archived(dir.path());
    assert!(pages.values().all(|&times| times == 1));
    let missing: Vec<_> = truth.pages.iter().filter(|p| !pages.contains_key(&p.url)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn page_limits_hold_across_runs() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { pages_max: 25, ..config(&server) };
    let report = crawl(dir.path(), &config, &server.web().seeds()).expect("the crawl runs");
    assert_eq!((report.pages, archived(dir.path()).len()), (25, 25));
    assert!(!report.interrupted && report.waiting > 0);
    let report = crawl(dir.path(), &config, &[]).expect("the crawl runs");
    assert_eq!((report.pages, report.pages_new), (25, 0));
    let config = Config { pages_max: 35, ..config };
    let report = crawl(dir.path(), &config, &[]).expect("the crawl runs");
    assert_eq!((report.pages, report.pages_new), (35, 10));
}

#[test]
fn only_the_seeds_are_fetched_without_following_links() {
    let server = server();
    let web = server.web();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { follow: false, ..config(&server) };
    let seeds: Vec<_> = web.hosts()[..3].iter().map(|host| web.url(host, "/")).collect();
    crawl(dir.path(), &config, &seeds[..2]).expect("the crawl runs");
    // A second run with a new seed adds it.
    crawl(dir.path(), &config, &seeds[2..]).expect("the crawl runs");
    assert_eq!(
        archived(dir.path()).into_keys().collect::<BTreeSet<_>>(),
        seeds.iter().cloned().collect()
    );
    let kept = read_seeds(&dir.path().join("frontier")).expect("they are there");
    assert_eq!(kept.iter().map(ToString::to_string).collect::<Vec<_>>(), seeds);
}

#[test]
fn robots_files_are_archived_and_can_be_queried() {
    let server = server();
    let host = server.web().special(simweb::Kind::Robots).expect("there are oddities");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let seeds = [server.web().url(host, "/")];
    crawl(dir.path(), &Config { pages_max: 1, ..config(&server) }, &seeds).expect("it runs");
    let archive = Archive::open(&dir.path().join("archive")).expect("the crawl made it");
    let is_robots = |record: &archive::Record| {
        record.kind == Kind::Response
            && record.target.as_deref().is_some_and(|t| t.ends_with("/robots.txt"))
    };
    let robots = archive.records().flatten().find(is_robots).expect("it was fetched");
    let explain = |path: &str| {
        let url = server.web().url(host, path).parse().expect("a URL");
        explain_robots(&robots, &url, "crivello/0.1 (+http://x/)").expect("an answer").why
    };
    assert_eq!(explain("/private/diary.html"), "forbidden by line 4 (Disallow: /private/)");
    assert_eq!(explain("/private/open/notes.html"), "allowed by line 5 (Allow: /private/open/)");
    assert_eq!(explain("/public.html"), "no line speaks of it, so it is allowed");
}

#[test]
fn two_crawls_of_one_folder_exclude_each_other() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = config(&server);
    let seeds = server.web().seeds();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| crawl_until(dir.path(), &config, &seeds, 30));
        while archive_is_empty(dir.path()) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let second = crawl(dir.path(), &config, &seeds);
        assert!(matches!(second, Err(CrawlError::Busy { .. })), "{second:?}");
        first.join().expect("no panic").expect("the first is not disturbed");
    });
    crawl_until(dir.path(), &config, &[], 1).expect("the lock is gone");
}

fn archive_is_empty(dir: &Path) -> bool {
    fs::read_dir(dir.join("archive")).map_or(true, |mut files| files.next().is_none())
}

#[test]
fn a_crawl_resumes_after_an_archive_write_failure() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    // Files are small, and from some moment on none can be created.
    let config = Config { archive_file_bytes_max: 5_000, ..config(&server) };
    let (archive, away) = (dir.path().join("archive"), dir.path().join("away"));
    let watch = |snapshot: &Snapshot| {
        if snapshot.report.pages >= 20 && archive.exists() {
            fs::rename(&archive, &away).expect("it is there");
        }
    };
    let stop = AtomicBool::new(false);
    let clock = Arc::new(SystemClock::new());
    let seeds = server.web().seeds();
    let result = run(&dirs(dir.path()), &config, &seeds, clock, &stop, &watch);
    assert!(matches!(result, Err(CrawlError::Archive { .. })), "{result:?}");
    fs::rename(&away, &archive).expect("it was moved there");
    let before = archived(dir.path());
    assert!(before.len() >= 20);
    let config = Config { archive_file_bytes_max: 1 << 30, ..config };
    crawl(dir.path(), &config, &[]).expect("the crawl goes on");
    let pages = archived(dir.path());
    assert!(before.keys().all(|url| pages.contains_key(url)));
    assert!(pages.values().all(|&times| times == 1));
    let truth = server.web().truth(PAGES_PER_HOST);
    let missing: Vec<_> = truth.pages.iter().filter(|p| !pages.contains_key(&p.url)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn an_invalid_sieve_setting_is_refused_by_key() {
    let few = || Config { sieve_capacity: 1, ..Config::default() };
    let table = [
        ("sieve_capacity", Config { sieve_capacity: 0, ..Config::default() }),
        ("sieve_capacity", Config { sieve_capacity: 1 << 32, ..Config::default() }),
        ("sieve_precision", Config { sieve_precision: 0, ..few() }),
        ("sieve_precision", Config { sieve_precision: 65, ..few() }),
        ("sieve_cache_keys", Config { sieve_cache_keys: usize::MAX, ..few() }),
        ("sieve_buffer_keys", Config { sieve_buffer_keys: 0, ..few() }),
    ];
    for (expected, config) in table {
        let error = config.check().expect_err(expected);
        assert!(matches!(&error, CrawlError::Config { key, .. } if *key == expected), "{error}");
    }
    few().check().expect("few URLs are allowed");
}
