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

use crate::support::{config, dirs};

/// Where the child finds what to do: the collection, and the settings.
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

/// What the process with the limit does: a crawl, and a recrawl from which everything is taken.
#[test]
fn child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let dir = Path::new(&dir);
    let text = fs::read_to_string(dir.join("config.json")).expect("the settings");
    let (config, seeds): (Config, Vec<String>) = serde_json::from_str(&text).expect("JSON");
    for (name, change) in [
        ("crawl", Config { recrawl: Recrawl::Never, ..config.clone() }),
        ("recrawl", Config { recrawl: Recrawl::All, idle_connections_max: 0, ..config }),
    ] {
        let is_taken = AtomicBool::new(false);
        let watch = |now: &Snapshot| {
            let is_time = now.unchanged > 0 && now.elapsed_ms > SETTLED_MS;
            if is_time && !is_taken.swap(true, Ordering::Relaxed) {
                take_all();
            }
        };
        let (clock, stop) = (Arc::new(SystemClock::new()), AtomicBool::new(false));
        let report = run(&dirs(dir), &change, &seeds, clock, &stop, &watch).expect("it runs");
        assert_eq!(is_taken.load(Ordering::Relaxed), name == "recrawl");
        let text = serde_json::to_string(&report).expect("JSON");
        fs::write(dir.join(format!("{name}.json")), text).expect("written");
    }
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
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Config { fetchers: 4096, delay_ms: 400, ..config(&server) };
    let text = serde_json::to_string(&(config, server.web().seeds())).expect("JSON");
    fs::write(dir.path().join("config.json"), text).expect("written");
    // Both limits: there is nothing to raise.
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 64 && exec \"$0\" descriptors::child --exact --nocapture"])
        .arg(std::env::current_exe().expect("this program"))
        .env(DIR, dir.path())
        .output()
        .expect("sh runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let wanted = server.web().truth(30).pages.len() as u64;
    for name in ["crawl", "recrawl"] {
        let text = fs::read_to_string(dir.path().join(format!("{name}.json"))).expect("a report");
        let report: Report = serde_json::from_str(&text).expect("JSON");
        assert!(report.failures.is_empty() && report.aside.is_empty(), "{name}: {report:?}");
        assert_eq!(report.pages, wanted, "{name}: {report:?}");
        assert!((1..32).contains(&report.fetchers), "{name}: {report:?}");
        let known = if name == "crawl" { 0 } else { wanted };
        assert_eq!((report.asked, report.unchanged), (known, known), "{name}: {report:?}");
    }
}
