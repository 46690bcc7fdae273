//! Hosts that fail as a whole for a time: every run sets them aside, and their pages lose no attempts.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crawl::{Config, Recrawl, Report};

use crate::faults::{serve, write};
use crate::support::{archived, crawl};

const PAGES: usize = 30;

/// A host with a first page that links to others.
struct Host {
    address: String,
    /// While it is set, the server closes the connection on every page, or always gives the same answer.
    is_down: Arc<AtomicBool>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Host {
    /// Starts a host that closes connections when it is down.
    fn start() -> Host {
        Host::with(PAGES, "")
    }

    /// Starts a host with `pages` pages beside the first one, and with this answer while it is down.
    fn with(pages: usize, answer: &'static str) -> Host {
        let (is_down, asked) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (down, log) = (Arc::clone(&is_down), Arc::clone(&asked));
        let port = serve(move |path, out| {
            if path == "/robots.txt" {
                return write(
                    out,
                    "HTTP/1.1 404 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                );
            }
            log.lock().expect("nobody panics").push(path.to_owned());
            if down.load(Ordering::Relaxed) {
                write(out, answer);
            } else {
                let links = (0..pages).map(|page| format!("<a href=/{page}>x</a>"));
                let body = if path == "/" { links.collect() } else { "<p>a page".to_owned() };
                let kind = "Content-Type: text/html\r\nConnection: close";
                let length = body.len();
                write(
                    out,
                    &format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{body}"),
                );
            }
        });
        Host { address: format!("http://127.0.0.1:{port}/"), is_down, asked }
    }

    /// Runs a crawl; returns its report and its requests.
    fn crawl(&self, dir: &Path, config: &Config) -> (Report, Vec<String>) {
        self.asked.lock().expect("nobody panics").clear();
        let report = crawl(dir, config, std::slice::from_ref(&self.address)).expect("it runs");
        (report, self.asked.lock().expect("nobody panics").clone())
    }

    fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::Relaxed);
    }
}

fn config() -> Config {
    Config { delay_ms: 1, ip_delay_ms: 0, retry_ms: 5, ..Config::default() }
}

/// Makes five runs while the host closes every connection; the first run has a configuration of its own.
fn check_down(host: &Host, dir: &Path, first: &Config) {
    host.set_down(true);
    let later = config();
    for run in 0..5 {
        let (report, asked) = host.crawl(dir, if run == 0 { first } else { &later });
        let pages: BTreeSet<&String> = asked.iter().collect();
        assert_eq!((asked.len(), pages.len()), (10, 10), "run {run}: {report:?}");
        assert_eq!((report.aside.len(), report.failed), (1, 0), "run {run}: {report:?}");
        assert_eq!(report.failures, report.put_aside, "none is given up");
        assert!(!report.aside[0].idle, "{:?}", report.aside);
    }
    host.set_down(false);
}

#[test]
fn a_host_closing_connections_loses_no_page() {
    let (host, dir) = (Host::start(), tempfile::tempdir().expect("a temporary folder"));
    host.crawl(dir.path(), &Config { pages_max: 1, ..config() });
    check_down(&host, dir.path(), &config());
    let (report, asked) = host.crawl(dir.path(), &config());
    assert_eq!((asked.len(), report.waiting), (PAGES, 0), "{report:?}");
    assert_eq!(archived(dir.path()).len(), PAGES + 1);
}

#[test]
fn a_recrawl_stays_unfinished_while_the_host_is_down() {
    let (host, dir) = (Host::start(), tempfile::tempdir().expect("a temporary folder"));
    host.crawl(dir.path(), &config());
    check_down(&host, dir.path(), &Config { recrawl: Recrawl::All, ..config() });
    let (report, asked) = host.crawl(dir.path(), &config());
    assert_eq!((asked.len(), report.unchanged), (PAGES + 1, 31), "{report:?}");
}

/// Failures from before an outage still count, whatever happens to the host meanwhile.
#[test]
fn attempts_before_an_outage_count() {
    let (is_down, asked) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<String>>>::default());
    let (down, log) = (Arc::clone(&is_down), Arc::clone(&asked));
    let port = serve(move |path, out| {
        log.lock().expect("nobody panics").push(path.to_owned());
        let is_bad = down.load(Ordering::Relaxed) || path == "/bad";
        let status = match path {
            "/robots.txt" => "404 No",
            _ if is_bad => "500 Broken",
            _ => "200 OK",
        };
        let kind = "Content-Type: text/html\r\nConnection: close\r\nContent-Length: 5";
        write(out, &format!("HTTP/1.1 {status}\r\n{kind}\r\n\r\n<p>ok"));
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let seed = |path: &str| format!("http://127.0.0.1:{port}/{path}");
    let config = Config { retries: 1, retry_ms: 60_000, host_failures_max: 4, ..config() };
    // The second attempt would be a minute later.
    let stopped = Config { time_s_max: 1, ..config.clone() };
    crawl(dir.path(), &stopped, &["bad", "good"].map(seed)).expect("it runs");
    let crawl = |config: &Config, seeds: &[String]| {
        asked.lock().expect("nobody panics").clear();
        crawl(dir.path(), config, seeds).expect("it runs");
        let asked = asked.lock().expect("nobody panics");
        asked.iter().filter(|path| *path != "/robots.txt").cloned().collect::<Vec<String>>()
    };
    is_down.store(true, Ordering::Relaxed);
    let quick = Config { retry_ms: 5, ..config };
    assert_eq!(crawl(&quick, &["1", "2", "3", "4"].map(seed)), ["/1", "/2", "/3", "/4"]);
    is_down.store(false, Ordering::Relaxed);
    let mut seen = crawl(&quick, &[]);
    seen.sort();
    assert_eq!(seen, ["/1", "/2", "/3", "/4", "/bad"], "and it is given up at once");
    assert_eq!(crawl(&quick, &[]), [""; 0]);
}

#[test]
fn refused_connections_use_up_no_attempts() {
    let (host, dir) = (Host::start(), tempfile::tempdir().expect("a temporary folder"));
    let refusing = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
    let address = refusing.local_addr().expect("it is bound");
    let config = Config { retries: 1, host_failures_max: 3, ..config() };
    host.crawl(dir.path(), &config);
    drop(refusing);
    // Its robots.txt is known, so pages are requested.
    let seeds = [format!("http://{address}/1"), format!("http://{address}/2")];
    let (listener, robots) = (TcpListener::bind(address).expect("it is free"), "/robots.txt");
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a crawler comes");
        let mut request = [0; 4096];
        let read = std::io::Read::read(&mut stream, &mut request).expect("a request");
        assert!(String::from_utf8_lossy(&request[..read]).contains(robots));
        write(&mut stream, "HTTP/1.1 404 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    });
    for run in 0..4 {
        let report = crawl(dir.path(), &config, &seeds).expect("it runs");
        assert_eq!((report.aside.len(), report.waiting), (1, 2), "run {run}: {report:?}");
    }
    server.join().expect("it was asked");
}

const BUSY: &str = "HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
const BROKEN: &str = "HTTP/1.1 500 Broken\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Fewer pages than `host_failures_max` are left, so nothing shows whose fault it is.
#[test]
fn an_outage_loses_no_page_of_a_small_host() {
    for answer in ["", BUSY, BROKEN] {
        let (host, dir) = (Host::with(6, answer), tempfile::tempdir().expect("a temporary folder"));
        host.crawl(dir.path(), &Config { pages_max: 1, ..config() });
        host.set_down(true);
        for run in 0..4 {
            let (report, asked) = host.crawl(dir.path(), &config());
            let pages: BTreeSet<&String> = asked.iter().collect();
            assert!(pages.len() == 6 && asked.len() <= 18, "{answer:?} run {run}: {asked:?}");
            assert_eq!((report.aside.len(), report.waiting), (1, 6), "run {run}: {report:?}");
            assert_eq!(report.failures, report.put_aside, "none is given up");
        }
        host.set_down(false);
        let (report, asked) = host.crawl(dir.path(), &config());
        assert_eq!(
            (asked.len(), report.pages, report.waiting),
            (6, 7, 0),
            "{answer:?}: {report:?}"
        );
    }
}

/// A page has only one attempt, and its first failure does not show whose fault it is.
#[test]
fn an_outage_loses_no_page_limited_to_one_attempt() {
    for (pages, answer) in [(6, ""), (6, BROKEN), (PAGES, BUSY), (PAGES, "")] {
        let (host, dir) =
            (Host::with(pages, answer), tempfile::tempdir().expect("a temporary folder"));
        let config = Config { retries: 0, ..config() };
        host.crawl(dir.path(), &Config { pages_max: 1, ..config.clone() });
        host.set_down(true);
        for run in 0..4 {
            let (report, asked) = host.crawl(dir.path(), &config);
            let different: BTreeSet<&String> = asked.iter().collect();
            assert_eq!(different.len(), pages.min(10), "{answer:?} run {run}: {asked:?}");
            assert_eq!((report.aside.len(), report.waiting), (1, pages as u64), "{report:?}");
            assert_eq!(report.failures, report.put_aside, "none is given up");
        }
        host.set_down(false);
        let (report, asked) = host.crawl(dir.path(), &config);
        assert_eq!((asked.len(), report.waiting), (pages, 0), "{answer:?}: {report:?}");
        assert_eq!(report.pages, 1 + pages as u64, "{answer:?}: {report:?}");
    }
}

/// The page is requested once more after others have shown that it is not the host.
#[test]
fn a_single_attempt_page_is_abandoned_after_other_answers() {
    let (first, asked) = with_a_bad_page("<a href=/bad>x</a><a href=/1>x</a>");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { retries: 0, ..config() };
    let report = crawl(dir.path(), &config, &[first]).expect("it runs");
    assert_eq!((tries(&asked), report.waiting, report.aside.len()), (2, 0, 0), "{report:?}");
    crawl(dir.path(), &config, &[]).expect("it runs");
    assert_eq!(tries(&asked), 2, "and asked for no more");
}

/// Attempts of a run that was stopped do not count either, as long as the host does not answer.
#[test]
fn stopping_a_run_during_an_outage_loses_no_page() {
    let (host, dir) = (Host::with(6, BROKEN), tempfile::tempdir().expect("a temporary folder"));
    host.crawl(dir.path(), &Config { pages_max: 1, ..config() });
    host.set_down(true);
    for _ in 0..2 {
        let stopped = Config { retry_ms: 60_000, time_s_max: 1, ..config() };
        let (report, asked) = host.crawl(dir.path(), &stopped);
        assert_eq!((asked.len(), report.waiting), (6, 6), "{report:?}");
    }
    let (report, asked) = host.crawl(dir.path(), &config());
    assert_eq!((report.aside.len(), report.waiting), (1, 6), "{report:?} {asked:?}");
    host.set_down(false);
    let (report, asked) = host.crawl(dir.path(), &config());
    assert_eq!((asked.len(), report.pages), (6, 7), "{report:?}");
}

/// A host that answers for its only page does not fail as a whole.
#[test]
fn a_locked_single_page_is_abandoned() {
    let locked = "HTTP/1.1 423 Locked\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let (host, dir) = (Host::with(0, locked), tempfile::tempdir().expect("a temporary folder"));
    host.set_down(true);
    let (report, asked) = host.crawl(dir.path(), &config());
    assert_eq!((asked.len(), report.aside.len(), report.waiting), (3, 0, 0), "{report:?}");
    let (_, asked) = host.crawl(dir.path(), &config());
    assert_eq!(asked.len(), 0);
}

#[test]
fn a_failing_single_page_waits_for_the_next_crawl() {
    let (host, dir) = (Host::with(0, BUSY), tempfile::tempdir().expect("a temporary folder"));
    host.set_down(true);
    for run in 0..4 {
        let (report, asked) = host.crawl(dir.path(), &config());
        // The first run got answers of no other page either, and has counted an attempt.
        let tries = if run == 0 { 3 } else { 2 };
        assert_eq!(asked, vec!["/"; tries], "run {run}");
        assert_eq!((report.aside.len(), report.waiting), (1, 1), "run {run}: {report:?}");
    }
    host.set_down(false);
    let (report, asked) = host.crawl(dir.path(), &config());
    assert_eq!((asked.len(), report.pages, report.waiting), (1, 1, 0), "{report:?}");
}

/// Starts a site whose page `/bad` always fails; returns the address of its first page, and the requests.
fn with_a_bad_page(first: &'static str) -> (String, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let log = Arc::clone(&asked);
    let port = serve(move |path, out| {
        log.lock().expect("nobody panics").push(path.to_owned());
        let kind = "Content-Type: text/html\r\nConnection: close";
        let body = match path {
            "/bad" => return write(out, BROKEN),
            "/robots.txt" => "",
            _ => first,
        };
        let length = body.len();
        let head = format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {length}\r\n\r\n");
        write(out, &format!("{head}{body}"));
    });
    (format!("http://127.0.0.1:{port}/"), asked)
}

fn tries(asked: &Mutex<Vec<String>>) -> usize {
    asked.lock().expect("nobody panics").iter().filter(|path| *path == "/bad").count()
}

/// The host answers other pages between the attempts of the failing one, so the page is at fault.
#[test]
fn a_page_failing_among_others_is_abandoned() {
    let (first, asked) = with_a_bad_page("<a href=/bad>x</a><a href=/1>x</a>");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let report = crawl(dir.path(), &config(), &[first]).expect("it runs");
    assert_eq!((tries(&asked), report.waiting, report.aside.len()), (3, 0, 0), "{report:?}");
    crawl(dir.path(), &config(), &[]).expect("it runs");
    assert_eq!(tries(&asked), 3, "and asked for no more");
}

/// One page goes on failing after an outage: later runs do not request it first, nor alone. A recrawl has all
/// attempts for it, whatever was unclear in the outage.
#[test]
fn a_page_failing_after_an_outage_delays_no_other() {
    for retries in [0, 1, 2] {
        let (is_down, asked) =
            (Arc::new(AtomicBool::new(true)), Arc::<Mutex<Vec<String>>>::default());
        let (down, log) = (Arc::clone(&is_down), Arc::clone(&asked));
        let port = serve(move |path, out| {
            log.lock().expect("nobody panics").push(path.to_owned());
            let kind = "Content-Type: text/html\r\nConnection: close\r\nContent-Length: 5";
            match path {
                "/robots.txt" => write(out, &format!("HTTP/1.1 404 No\r\n{kind}\r\n\r\n<p>no")),
                "/bad" => write(out, BROKEN),
                _ if down.load(Ordering::Relaxed) => write(out, BROKEN),
                _ => write(out, &format!("HTTP/1.1 200 OK\r\n{kind}\r\n\r\n<p>ok")),
            }
        });
        let seeds = ["bad", "1", "2"].map(|path| format!("http://127.0.0.1:{port}/{path}"));
        let (dir, config) =
            (tempfile::tempdir().expect("a temporary folder"), Config { retries, ..config() });
        for _ in 0..2 {
            let report = crawl(dir.path(), &config, &seeds).expect("it runs");
            assert_eq!((report.aside.len(), report.waiting), (1, 3), "{retries}: {report:?}");
        }
        is_down.store(false, Ordering::Relaxed);
        let report = crawl(dir.path(), &config, &[]).expect("it runs");
        assert_eq!((report.pages, report.waiting), (2, 0), "{retries}: {report:?} {asked:?}");
        let before = tries(&asked);
        crawl(dir.path(), &config, &[]).expect("it runs");
        assert_eq!(tries(&asked), before, "{retries}: and it is given up");
        let again = Config { recrawl: Recrawl::All, ..config };
        crawl(dir.path(), &again, &[]).expect("it runs");
        assert_eq!(tries(&asked) - before, usize::from(retries) + 1, "{retries}: {asked:?}");
    }
}

/// If it comes last, the host may be at fault; but not after the host has answered others, in any run.
#[test]
fn a_failed_last_page_is_abandoned_after_other_answers() {
    let (first, asked) = with_a_bad_page("<a href=/1>x</a><a href=/bad>x</a>");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let report = crawl(dir.path(), &config(), &[first]).expect("it runs");
    assert_eq!((tries(&asked), report.waiting, report.aside.len()), (3, 1, 1), "{report:?}");
    let report = crawl(dir.path(), &config(), &[]).expect("it runs");
    assert_eq!((report.waiting, report.aside.len()), (1, 1), "nothing else was asked: {report:?}");
    let before = tries(&asked);
    let again = Config { recrawl: Recrawl::All, ..config() };
    let report = crawl(dir.path(), &again, &[]).expect("it runs");
    assert_eq!((report.waiting, report.aside.len()), (0, 0), "{report:?}");
    assert!(tries(&asked) > before && tries(&asked) <= before + 3, "{asked:?}");
    assert!(!dir.path().join("frontier/recrawl").exists(), "the recrawl is over");
    let before = tries(&asked);
    crawl(dir.path(), &config(), &[]).expect("it runs");
    assert_eq!(tries(&asked), before, "and asked for no more");
}

/// While a page of a host fails, another host names more of its pages, one by one: it is not set aside for the
/// rest of the run.
#[test]
fn a_host_set_aside_returns_for_a_new_page() {
    let (first, asked) = with_a_bad_page("<a href=/bad>x</a>");
    let to = first.clone();
    let slow = serve(move |path, out| {
        // A slow server: when it names the next page, all attempts of the first page are over.
        std::thread::sleep(std::time::Duration::from_millis(300));
        let number: usize = path.trim_start_matches('/').parse().unwrap_or(0);
        let body = format!("<a href={to}{number}>x</a><a href=/{}>x</a>", (number + 1).min(6));
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close";
        write(out, &format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let seeds = [first, format!("http://127.0.0.1:{slow}/0")];
    let report = crawl(dir.path(), &config(), &seeds).expect("it runs");
    assert_eq!((report.waiting, report.aside.len()), (0, 0), "{report:?}");
    let asked_for = asked.lock().expect("nobody panics").clone();
    let pages: BTreeSet<&str> = asked_for.iter().map(String::as_str).collect();
    assert!((0..=6).all(|page| pages.contains(&*format!("/{page}"))), "{asked_for:?}");
    assert!(tries(&asked) <= 6, "{asked_for:?}");
}
