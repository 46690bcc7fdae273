//! How much memory a frontier takes, measured: not a check but a figure, so it runs only when asked for.
//!
//! `cargo test --release -p crivello-crawl --lib -- --ignored --nocapture frontier::memory`

use std::fs;
use std::sync::Arc;

use super::Frontier;
use crate::clock::{Clock as _, SystemClock};
use crate::config::Config;
use sieve::SieveKind;

const HOSTS: u64 = 100_000;

fn resident_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    let kb: f64 = line.trim().trim_end_matches(" kB").parse().unwrap_or(0.0);
    kb / 1024.0
}

/// Offers so many URLs over [`HOSTS`] hosts.
#[expect(clippy::print_stdout, reason = "the figures are what it is for")]
fn measure(urls: u64) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = Arc::new(Config {
        contact: "a@b.example".to_owned(),
        sieve: SieveKind::Offline,
        sieve_buffer_keys: 1 << 17,
        waiting_max: usize::MAX,
        ..Config::default()
    });
    let before_mb = resident_mb();
    let mut frontier = Frontier::create(&config, &[], dir.path()).expect("it is empty");
    let clock = SystemClock::new();
    let mut random = 1_u64;
    for number in 0..urls {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let host = if number < HOSTS { number } else { (random >> 33) % HOSTS };
        let url = format!("http://host-{host}.example/some/folder/page-{number}.html?a=1");
        frontier.offer(&url).expect("it takes URLs");
        if frontier.offered >= frontier.offered_max {
            frontier.flush(0).expect("it has room");
        }
    }
    frontier.flush(0).expect("it has room");
    let report = frontier.report();
    println!(
        "{urls} URLs, {} hosts, {} waiting, {} MB on disk: {:.1} MB resident ({:.1} before), {} ms",
        report.hosts,
        report.waiting,
        report.spilled_bytes >> 20,
        resident_mb(),
        before_mb,
        clock.now_ms(),
    );
    assert_eq!(report.waiting, urls);
}

#[test]
#[ignore = "a measurement: a minute in release"]
fn one_million_urls() {
    measure(1_000_000);
}

#[test]
#[ignore = "a measurement: some minutes in release"]
fn ten_million_urls() {
    measure(10_000_000);
}
