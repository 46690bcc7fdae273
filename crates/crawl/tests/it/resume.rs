//! Resuming from the logs of visits and from the archive alone gives the same crawl.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crawl::{CompressionKind, Config, Recrawl, Report, Scope, SieveReport, SystemClock, run};
use simweb::Server;

use crate::faults::{serve, write};
use crate::support::{
    PAGES_PER_HOST, archived, config, crawl, crawl_until, dirs, recrawl_until, server,
};

/// Returns the state of a crawl without a request: `bytes_max` is already reached.
fn state(dir: &Path, config: &Config) -> Report {
    let report = crawl(dir, &Config { bytes_max: 1, ..config.clone() }, &[]).expect("it resumes");
    assert_eq!(report.requests, 0);
    // Logs leave out known links, so fewer are offered.
    let sieve = SieveReport { offered: 0, cache_hit_rate: 0.0, ..report.sieve };
    Report { elapsed_ms: 0, finished_s: 0, sieve, ..report }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copied");
        }
    }
}

fn logs(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.join("frontier/visits")).expect("a crawl makes it");
    let mut logs: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    logs.sort();
    logs
}

/// Makes a crawl that was stopped twice, with two parsers and files of a few pages.
fn stopped(server: &Server, dir: &Path) -> Config {
    let config =
        Config { parsers: 2, archive_file_bytes_max: 40_000, recrawl_min_s: 0, ..config(server) };
    crawl_until(dir, &config, &server.web().seeds(), 40).expect("it runs");
    crawl_until(dir, &config, &[], 90).expect("it goes on");
    let again = Config { recrawl: Recrawl::All, ..config.clone() };
    recrawl_until(dir, &again, 30).expect("it goes on");
    config
}

/// Each run changes the compression, and the last record of the second is truncated as by a kill.
#[test]
fn a_crawl_resumes_from_gzip_and_zstd_files() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let gzip = config(&server);
    let zstd = Config { archive_compression: CompressionKind::Zstd, ..gzip.clone() };
    crawl_until(dir.path(), &gzip, &server.web().seeds(), 20).expect("it runs");
    crawl_until(dir.path(), &zstd, &[], 60).expect("it goes on");
    let archive = dir.path().join("archive");
    let path = archive.join("crivello-00002.warc.zst");
    fs::remove_file(archive.join("crivello-00002.warc.zst.cdxj")).expect("the crawl made it");
    let file = fs::File::options().write(true).open(&path).expect("the crawl made it");
    let length = file.metadata().expect("it is there").len();
    file.set_len(length - 50).expect("it can be cut");
    let before = state(dir.path(), &gzip).pages;
    assert!(before >= 50, "{before} pages");
    let report = crawl(dir.path(), &gzip, &[]).expect("it goes on");
    assert!(report.pages > before, "{} pages, {before} before", report.pages);
    let pages = archived(dir.path());
    assert!(pages.values().all(|&times| times == 1), "{pages:?}");
    let truth = server.web().truth(PAGES_PER_HOST);
    let missing: Vec<_> = truth.pages.iter().filter(|p| !pages.contains_key(&p.url)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn logs_do_not_change_a_resumed_crawl() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = stopped(&server, dir.path());
    assert!(logs(dir.path()).len() > 4, "{:?}", logs(dir.path()));
    let expected = state(dir.path(), &config);
    assert!(expected.resumed && expected.recrawled && expected.waiting > 0, "{expected:?}");
    let log = |number: usize| logs(dir.path())[number].clone();
    let written = fs::read(log(0)).expect("a log");

    // Each time the logs have another fault; the missing part is rebuilt.
    fs::remove_dir_all(dir.path().join("frontier/visits")).expect("there are logs");
    assert_eq!(state(dir.path(), &config), expected, "without logs");
    let other = Config { query_parameters_max: 7, ..config.clone() };
    assert_eq!(state(dir.path(), &other).pages, expected.pages, "for other rules");
    assert_eq!(state(dir.path(), &config), expected, "with the logs of other rules");
    fs::write(dir.path().join("frontier/visits/gone.warc.gz.log"), &written).expect("a file");
    assert_eq!(state(dir.path(), &config), expected, "with the log of no file");
    assert!(!dir.path().join("frontier/visits/gone.warc.gz.log").exists());
    fs::copy(log(1), log(2)).expect("copied");
    // According to that log, the file may have been longer.
    let other = Report { shortened: Vec::new(), ..state(dir.path(), &config) };
    assert_eq!(other, expected, "with the log of another file");
    for cut in [0, 1, 19, 20, 21, 50, 72, 100, 1000, written.len() - 1] {
        let bytes = fs::read(log(0)).expect("a log");
        fs::write(log(0), &bytes[..cut.min(bytes.len())]).expect("a file");
        assert_eq!(state(dir.path(), &config), expected, "cut at {cut}");
        let mut bytes = fs::read(log(0)).expect("a log");
        let at = cut.min(bytes.len() - 1);
        bytes[at] ^= 0x40;
        fs::write(log(0), &bytes).expect("a file");
        assert_eq!(state(dir.path(), &config), expected, "flipped at {at}");
    }
}

/// The archive ends before its log, as after a power cut, or the log before the archive.
#[test]
fn logs_do_not_change_a_killed_crawl() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = config(&server);
    crawl_until(dir.path(), &config, &server.web().seeds(), 60).expect("it runs");
    let warc = Path::new("archive/crivello-00001.warc.gz");
    let log = Path::new("frontier/visits/crivello-00001.warc.gz.log");
    let length = fs::metadata(dir.path().join(warc)).expect("the crawl made it").len();
    let log_length = fs::metadata(dir.path().join(log)).expect("the crawl made it").len();
    for part in 1..12 {
        let (kept, log_kept) = (length * part / 12, log_length * (part * 5 % 12) / 12);
        let with = tempfile::tempdir().expect("a temporary folder");
        copy(dir.path(), with.path());
        let cut = |path: &Path, length: u64| {
            let file = fs::File::options().write(true).open(path).expect("it is there");
            file.set_len(length).expect("it can be cut");
        };
        cut(&with.path().join(warc), kept);
        cut(&with.path().join(log), log_kept);
        fs::remove_file(with.path().join("archive/crivello-00001.warc.gz.cdxj")).expect("it is");
        let without = tempfile::tempdir().expect("a temporary folder");
        copy(with.path(), without.path());
        fs::remove_file(without.path().join(log)).expect("it is there");
        let state = state(with.path(), &config);
        assert_eq!(state, self::state(without.path(), &config), "part {part}");
        assert_eq!(
            fs::read(with.path().join(warc)).expect("an archive"),
            fs::read(without.path().join(warc)).expect("an archive"),
            "part {part}: repaired alike"
        );
    }
}

/// Starts a chain of pages, `/0` linking to `/1` and to `/x/1`, and so on; returns its address.
fn serve_chain() -> String {
    let port = serve(|path, out| {
        let next = path.rsplit('/').next().and_then(|name| name.parse::<u32>().ok()).map(|n| n + 1);
        let body =
            next.map_or(String::new(), |n| format!("<a href=/{n}>on</a><a href=/x/{n}>x</a>"));
        let status = if next.is_some() { "200 OK" } else { "404 Not Found" };
        let length = body.len();
        let kind = "Content-Type: text/html";
        write(
            out,
            &format!("HTTP/1.1 {status}\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{body}"),
        );
    });
    format!("http://127.0.0.1:{port}")
}

fn quick() -> Config {
    Config { delay_ms: 5, ip_delay_ms: 0, scope: Scope::Any, ..Config::default() }
}

/// The limit counts from the first page of the site, also if an earlier run had no limit.
#[test]
fn a_depth_limit_counts_pages_of_earlier_runs() {
    let (web, dir) = (serve_chain(), tempfile::tempdir().expect("a temporary folder"));
    let first = Config { pages_max: 6, ..quick() };
    crawl(dir.path(), &first, &[format!("{web}/0")]).expect("it runs");
    assert!(archived(dir.path()).contains_key(&format!("{web}/2")));
    let second = Config { depth_max: 4, ..quick() };
    let report = crawl(dir.path(), &second, &[]).expect("it goes on");
    let mut wanted: Vec<String> = (0..5).map(|n| format!("{web}/{n}")).collect();
    wanted.extend((1..5).map(|n| format!("{web}/x/{n}")));
    assert_eq!(archived(dir.path()).into_keys().collect::<Vec<_>>(), wanted);
    assert_eq!(report.refused.get("depth"), Some(&4), "{:?}", report.refused);
}

/// It is then an ordinary page: visited if a page links to it.
#[test]
fn a_removed_seed_remains_a_linked_page() {
    let (web, dir) = (serve_chain(), tempfile::tempdir().expect("a temporary folder"));
    let [page, linked, unlinked] = ["/8", "/9", "/5"].map(|path| format!("{web}{path}"));
    let seeds = [page.clone(), linked.clone(), unlinked.clone()];
    crawl(dir.path(), &Config { pages_max: 1, ..quick() }, &seeds).expect("it runs");
    assert!(archived(dir.path()).keys().eq([&page]));
    fs::write(dir.path().join("frontier/seeds"), format!("{page}\n")).expect("a file");
    crawl(dir.path(), &Config { pages_max: 4, ..quick() }, &[]).expect("it goes on");
    let had = archived(dir.path());
    assert!(had.contains_key(&linked) && !had.contains_key(&unlinked), "{had:?}");
}

#[test]
fn foreign_files_in_the_log_folder_are_kept() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = stopped(&server, dir.path());
    let before = state(dir.path(), &config);
    let visits = dir.path().join("frontier/visits");
    fs::create_dir(visits.join("a folder")).expect("made");
    fs::create_dir(visits.join("a-folder.log")).expect("made");
    for name in ["notes.txt", "mine.log", ".hidden"] {
        fs::write(visits.join(name), name).expect("written");
    }
    let names = || logs(dir.path()).len();
    let there = names();
    let oldest = fs::read(logs(dir.path()).remove(0)).expect("a log");
    assert_eq!(state(dir.path(), &config), before);
    assert_eq!(names(), there);
    assert_eq!(fs::read(logs(dir.path()).remove(0)).expect("a log"), oldest, "none is made again");
    assert_eq!(fs::read(visits.join("mine.log")).expect("left alone"), b"mine.log");

    // A folder with the name of a log is an error that names it.
    let log = logs(dir.path()).into_iter().find(|path| path.to_string_lossy().contains("00001"));
    let log = log.expect("the log of the first file");
    fs::remove_file(&log).expect("removed");
    fs::create_dir(&log).expect("made");
    let error = crawl(dir.path(), &config, &[]).expect_err("it cannot be written").to_string();
    assert!(error.contains("move it elsewhere") && error.contains("00001"), "{error}");
}

/// A run that is stopped after the next request for `/bad`.
fn crawl_until_bad(dir: &Path, config: &Config, seeds: &[String], asked: &AtomicUsize) {
    let (stop, before) = (AtomicBool::new(false), asked.load(Ordering::Relaxed));
    let watch = |_: &crawl::Snapshot| {
        stop.fetch_or(asked.load(Ordering::Relaxed) > before, Ordering::Relaxed);
    };
    run(&dirs(dir), config, seeds, Arc::new(SystemClock::new()), &stop, &watch).expect("it runs");
}

/// The number of attempts does not depend on how often the crawl is interrupted, in a first crawl as in a recrawl.
#[test]
fn interruptions_do_not_change_the_number_of_attempts() {
    let (asked, is_bad) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(true)));
    let (count, bad) = (Arc::clone(&asked), Arc::clone(&is_bad));
    let port = serve(move |path, out| {
        count.fetch_add(usize::from(path == "/bad"), Ordering::Relaxed);
        let is_bad = path == "/bad" && bad.load(Ordering::Relaxed);
        let status = if is_bad { "500 Broken" } else { "200 OK" };
        let body = "<a href=/bad>b</a>";
        let kind = "Content-Type: text/html\r\nConnection: close\r\nContent-Length: 18";
        write(out, &format!("HTTP/1.1 {status}\r\n{kind}\r\n\r\n{body}"));
    });
    // The next attempt would be a minute later.
    let config = Config { retries: 2, retry_ms: 60_000, ..quick() };
    let seeds = [format!("http://127.0.0.1:{port}/")];
    let dir = tempfile::tempdir().expect("a temporary folder");
    for run in 0..3 {
        // A page that answers shows that the host is healthy.
        let seeds = [seeds[0].clone(), format!("{}{run}", seeds[0])];
        crawl_until_bad(dir.path(), &config, &seeds, &asked);
    }
    let report = crawl(dir.path(), &config, &[]).expect("it goes on");
    assert_eq!((asked.load(Ordering::Relaxed), report.requests, report.waiting), (3, 0, 0));
    // Attempts before the recrawl do not count in it.
    let again = Config { recrawl: Recrawl::All, ..config.clone() };
    crawl_until_bad(dir.path(), &again, &[], &asked);
    crawl_until_bad(dir.path(), &config, &[], &asked);
    is_bad.store(false, Ordering::Relaxed);
    let report = crawl(dir.path(), &config, &[]).expect("it goes on");
    assert_eq!((asked.load(Ordering::Relaxed), report.pages), (6, 5), "{report:?}");
}
