//! The memory of a frontier, measured against its limit; it runs only on request.
//!
//! `cargo nextest run --release -p crivello-crawl --run-ignored only --no-capture -E 'test(frontier::memory)'`,
//! each in a process of its own.
//!
//! Checked: whatever the number of waiting URLs, resident memory beyond the caches of constant size stays below a
//! limit.

use std::fs;
use std::sync::Arc;

use super::Frontier;
use super::spill::PENDING_BYTES_MAX;
use crate::clock::{Clock as _, SystemClock};
use crate::config::Config;
use sieve::SieveKind;

const HOSTS: u64 = 100_000;
/// Maximum resident memory beyond the caches of constant size, whatever the number of URLs.
const BEYOND_MB_MAX: f64 = 64.0;
/// Bytes of a key in the buffer of the sieve.
const KEY_BYTES: usize = 40;

fn resident_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    let kb: f64 = line.trim().trim_end_matches(" kB").parse().unwrap_or(0.0);
    kb / 1024.0
}

fn mb(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes >> 10).unwrap_or(u32::MAX)) / 1024.0
}

/// The caches whose size depends on the configuration, not on the number of URLs.
fn caches_mb(config: &Config) -> [(&'static str, f64); 4] {
    [
        ("queues in memory (`waiting_memory_bytes`)", mb(config.waiting_memory_bytes)),
        ("buffer before files of the queues", mb(PENDING_BYTES_MAX)),
        ("buffer of the sieve (`sieve_buffer_keys`)", mb(config.sieve_buffer_keys * KEY_BYTES)),
        ("recent URLs (`sieve_cache_keys`)", mb(config.sieve_cache_keys * size_of::<u64>())),
    ]
}

/// Offers `urls` URLs over [`HOSTS`] hosts.
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
    let (report, resident_mb) = (frontier.report(), resident_mb());
    let caches = caches_mb(&config);
    let beyond_mb = resident_mb - caches.iter().map(|(_, mb)| mb).sum::<f64>();
    println!(
        "{urls} URLs, {} hosts, {} waiting, {} MB on disk, {} ms",
        report.hosts,
        report.waiting,
        report.spilled_bytes >> 20,
        clock.now_ms(),
    );
    println!("  resident {resident_mb:.1} MB, of which {before_mb:.1} before the frontier");
    for (name, mb) in caches {
        println!("  {name} {mb:.1} MB");
    }
    println!(
        "  beyond these caches {beyond_mb:.1} MB; queues now {:.1} MB, sieve now {:.1} MB, {} bytes a host",
        mb(frontier.hosts.memory_bytes()),
        mb(usize::try_from(report.sieve.memory_bytes).unwrap_or(usize::MAX)),
        size_of::<super::host::Host>(),
    );
    assert_eq!(report.waiting, urls);
    assert!(beyond_mb <= BEYOND_MB_MAX, "{beyond_mb:.1} MB beyond the caches");
}

#[test]
#[ignore = "a measurement: a minute in release"]
fn one_million_urls_are_measured() {
    measure(1_000_000);
}

#[test]
#[ignore = "a measurement: some minutes in release"]
fn ten_million_urls_are_measured() {
    measure(10_000_000);
}
