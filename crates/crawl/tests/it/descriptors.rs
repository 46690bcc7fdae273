//! A crawl with few descriptors, and one that has none for a while: no host is to blame (P7).
//!
//! Each crawl has a process of its own, since the limit is that of a process.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crawl::{Config, Recrawl, Report, Snapshot, SystemClock, run};
use simweb::{Options, Server};

use crate::names::{self, NameServer};
use crate::support::{config, dirs};

/// Where the child finds what to do, and leaves what it did.
const DIR: &str = "CRAWL_TEST_DESCRIPTORS";
/// When the archive file of a run is there, and its name is on the medium.
const SETTLED_MS: u64 = 2_000;

/// Takes all descriptors there are, for a second.
fn take_all() {
    let all: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    assert!(!all.is_empty());
    thread::spawn(move || {
        thread::sleep(Duration::from_secs(1));
        drop(all);
    });
}

/// What the process with the limit does: one run after the other, and from all but the first everything is
/// taken for a while.
#[test]
fn child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let dir = Path::new(&dir);
    let text = fs::read_to_string(dir.join("runs.json")).expect("the settings");
    let (runs, seeds): (Vec<Config>, Vec<String>) = serde_json::from_str(&text).expect("JSON");
    let mut reports: Vec<Report> = Vec::new();
    for config in runs {
        let is_taken = AtomicBool::new(false);
        let is_first = reports.is_empty();
        let watch = |now: &Snapshot| {
            let is_time = !is_first && now.requests > 0 && now.elapsed_ms > SETTLED_MS;
            if is_time && !is_taken.swap(true, Ordering::Relaxed) {
                take_all();
            }
        };
        let (clock, stop) = (Arc::new(SystemClock::new()), AtomicBool::new(false));
        let report = run(&dirs(dir), &config, &seeds, clock, &stop, &watch).expect("it runs");
        assert!(is_first || is_taken.load(Ordering::Relaxed), "it was over too soon");
        reports.push(report);
    }
    let text = serde_json::to_string(&reports).expect("JSON");
    fs::write(dir.join("reports.json"), text).expect("written");
}

/// Runs with 64 descriptors, no more of which can be had.
fn limited(runs: &[Config], seeds: &[String]) -> Vec<Report> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let text = serde_json::to_string(&(runs, seeds)).expect("JSON");
    fs::write(dir.path().join("runs.json"), text).expect("written");
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 64 && exec \"$0\" descriptors::child --exact --nocapture"])
        .arg(std::env::current_exe().expect("this program"))
        .env(DIR, dir.path())
        .output()
        .expect("sh runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(dir.path().join("reports.json")).expect("reports");
    let reports: Vec<Report> = serde_json::from_str(&text).expect("JSON");
    for report in &reports {
        assert!(report.failures.is_empty() && report.aside.is_empty(), "{report:?}");
        assert!((1..32).contains(&report.fetchers), "{report:?}");
    }
    reports
}

#[test]
fn a_crawl_with_few_descriptors_blames_no_host() {
    let options = Options {
        hosts: 100,
        pages_per_host: 8,
        addresses: 60,
        oddities: false,
        latency_ms: 50,
        ..Options::default()
    };
    let server = Server::start(options).expect("loopback has room for a server");
    let first = Config { fetchers: 4096, delay_ms: 400, ..config(&server) };
    let again = Config { recrawl: Recrawl::All, idle_connections_max: 0, ..first.clone() };
    let reports = limited(&[first, again], &server.web().seeds());
    let wanted = server.web().truth(30).pages.len() as u64;
    for (report, known) in reports.iter().zip([0, wanted]) {
        assert_eq!(report.pages, wanted, "{report:?}");
        assert_eq!((report.asked, report.unchanged), (known, known), "{report:?}");
    }
}

/// Addresses that are good for a second: most visits begin with a question to the name server.
#[test]
fn names_that_cannot_be_asked_for_are_asked_for_later() {
    const HOSTS: u64 = 20;
    let ((names, name_server), port) = (NameServer::start(), names::serve(&[]));
    let crawl = Config {
        contact: "me@a.example".to_owned(),
        ip_delay_ms: 120,
        retry_ms: 5,
        dns_servers: vec![name_server],
        dns_ttl_s_min: 1,
        ..Config::default()
    };
    let seeds: Vec<String> = (0..HOSTS).map(|n| format!("http://n{n}.test:{port}/")).collect();
    let none = Config { pages_max: 1, ..crawl.clone() };
    let reports = limited(&[none, crawl], &seeds);
    assert_eq!(reports[1].pages, HOSTS, "{reports:?}");
    let questions: usize = (0..HOSTS).map(|n| names.times(&format!("n{n}.test."))).sum();
    assert!(questions > 30, "{questions}");
}
