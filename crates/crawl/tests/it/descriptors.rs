//! A crawl with few descriptors, and one that has none for a while: this counts against no host.
//!
//! Each crawl runs in a process of its own, since the limit applies to a process.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use crawl::{Config, Recrawl, Report, Snapshot, SystemClock, run};
use simweb::{Options, Server};

use crate::dns::{self, NameServer};
use crate::support::{config, dirs};

/// The folder with the child's input and output.
const DIR: &str = "CRAWL_TEST_DESCRIPTORS";
/// The number of progress reports of a run while it has no free descriptor.
const LOOKS: u32 = 5;

/// Takes all descriptors from a run for a while.
enum Thief {
    /// It waits until the archive has more than `files` files: then the run is under way.
    Waits { files: usize },
    /// It has held them for `looks` reports.
    Has { all: Vec<File>, looks: u32 },
    /// It has released them.
    Gone,
}

impl Thief {
    fn look(&mut self, archive: &Path, now: &Snapshot) {
        match self {
            Thief::Waits { files } if now.report.requests > 0 && file_count(archive) > *files => {
                let all = free_files();
                assert!(!all.is_empty());
                *self = Thief::Has { all, looks: 0 };
            }
            Thief::Has { looks: LOOKS, .. } => *self = Thief::Gone,
            // It also takes the descriptors that visits have released.
            Thief::Has { all, looks } => {
                all.extend(free_files());
                *looks += 1;
            }
            Thief::Waits { .. } | Thief::Gone => {}
        }
    }
}

/// Opens files until none can be opened.
fn free_files() -> Vec<File> {
    std::iter::from_fn(|| File::open("/dev/null").ok()).collect()
}

fn file_count(archive: &Path) -> usize {
    fs::read_dir(archive).map_or(0, |files| {
        let names = files.flatten().map(|file| file.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.ends_with(".warc.gz")).count()
    })
}

/// Runs in the process with the limit: one run after the other. From all but the first it takes every descriptor
/// for a while.
#[test]
fn child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let dir = Path::new(&dir);
    let text = fs::read_to_string(dir.join("runs.json")).expect("the settings");
    let (runs, seeds): (Vec<Config>, Vec<String>) = serde_json::from_str(&text).expect("JSON");
    let mut reports: Vec<Report> = Vec::new();
    for config in runs {
        let is_first = reports.is_empty();
        let archive = dirs(dir).archive;
        let files = file_count(&archive);
        let thief = Mutex::new(if is_first { Thief::Gone } else { Thief::Waits { files } });
        let watch = |now: &Snapshot| thief.lock().expect("no panic").look(&archive, now);
        let (clock, stop) = (Arc::new(SystemClock::new()), AtomicBool::new(false));
        let report = run(&dirs(dir), &config, &seeds, clock, &stop, &watch).expect("it runs");
        let thief = thief.into_inner().expect("no panic");
        assert!(matches!(thief, Thief::Gone), "it was over too soon");
        reports.push(report);
    }
    let text = serde_json::to_string(&reports).expect("JSON");
    fs::write(dir.join("reports.json"), text).expect("written");
}

/// Runs with at most 64 descriptors.
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

/// Addresses have a TTL of a second: most visits begin with a lookup.
#[test]
fn failed_lookups_without_descriptors_are_retried_later() {
    const HOSTS: u64 = 20;
    let ((names, name_server), port) = (NameServer::start(), dns::serve(&[]));
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
