//! Each sieve with ten times the keys it was planned for. It stays within the memory that its
//! documentation promises. The offline and the LSM sieve emit the same keys as the memory sieve.
//! The loss of a Bloom sieve grows as it reports.

use std::fs;
use std::path::Path;

use sieve::{MemorySieve, OfflineSieve, Plan, Sieve, SieveKind};
use tempfile::TempDir;

use crate::conformance::flushed;

/// More than one block of 4096 signatures, so that a run has several.
const BUFFER_KEYS: u32 = 9_000;

/// Files that are not runs: those of A and F, and the state.
const OTHER_FILES: usize = 3;

/// A buffer of appended bytes grows by doubling until it holds 64 KiB; there are two of them.
const PENDING_BYTES: u64 = 2 << 17;

fn key(number: u32) -> Vec<u8> {
    format!("http://host-{}.example/{number}", number % 97).into_bytes()
}

fn files(dir: &Path) -> Vec<fs::DirEntry> {
    let files = fs::read_dir(dir).expect("a folder");
    files.map(|file| file.expect("an entry")).collect()
}

#[test]
fn ten_times_the_buffer_stays_within_memory_limits() {
    let dir = TempDir::new().expect("a folder");
    let mut offline = OfflineSieve::create(dir.path(), BUFFER_KEYS as usize).expect("a sieve");
    let mut memory = MemorySieve::new();
    for number in 0..11 * BUFFER_KEYS {
        // A third of the offers repeat an earlier key, from near or far.
        let number = if number % 3 == 2 { number / 5 } else { number };
        offline.offer(&key(number)).expect("an offer");
        memory.offer(&key(number)).expect("an offer");
        let stats = offline.stats();
        let fences = stats.seen / 4096 + 7 * 2;
        let limit = (16 + 16) * u64::from(BUFFER_KEYS) + 16 * fences + PENDING_BYTES;
        assert!(stats.memory_bytes <= limit, "{} of {limit} bytes", stats.memory_bytes);
        if number % 25_000 == 0 {
            assert!(flushed(&mut offline) == flushed(&mut memory), "after {number}");
        }
    }
    assert!(flushed(&mut offline) == flushed(&mut memory), "at the end");
    let stats = offline.stats();
    assert_eq!(stats.seen, memory.stats().seen);
    assert!(stats.seen > 7 * u64::from(BUFFER_KEYS), "{stats:?}");
    assert!(stats.memory_bytes < memory.stats().memory_bytes / 2, "the test proves nothing");

    let on_disk: u64 = files(dir.path()).iter().map(|f| f.metadata().expect("a size").len()).sum();
    assert_eq!(stats.disk_bytes, on_disk);
    assert!(stats.disk_bytes < 8 * stats.seen, "more than the bare signatures: {stats:?}");
}

#[test]
fn each_level_has_at_most_seven_runs() {
    let dir = TempDir::new().expect("a folder");
    let mut sieve = OfflineSieve::create(dir.path(), 1).expect("a sieve");
    for number in 0..600 {
        sieve.offer(&key(number)).expect("an offer");
        let runs = files(dir.path()).len() - OTHER_FILES;
        // 512 keys reach the fourth level.
        assert!(runs <= 4 * 7, "{runs} runs after {number} keys");
    }
    assert_eq!(flushed(&mut sieve).len(), 600);
    // The last key is in no run yet, and 599 in base eight is 1127.
    assert_eq!(files(dir.path()).len() - OTHER_FILES, 1 + 1 + 2 + 7);
}

const BLOOM_CAPACITY: u32 = 20_000;

/// Offers the keys of `numbers`, all new, and counts those that are lost.
fn lost(sieve: &mut dyn Sieve, numbers: std::ops::Range<u32>) -> f64 {
    let all = f64::from(numbers.end - numbers.start);
    for number in numbers {
        sieve.offer(&key(number)).expect("an offer");
    }
    let mut out = 0;
    sieve.flush(&mut |_| out += 1).expect("a flush");
    all - f64::from(out)
}

fn check_bloom(kind: SieveKind, precision: u32, planned: std::ops::Range<f64>) {
    let dir = TempDir::new().expect("a folder");
    let plan = Plan {
        kind,
        capacity: u64::from(BLOOM_CAPACITY),
        precision,
        cache_keys: 0,
        ..Plan::default()
    };
    let mut sieve = plan.create(dir.path()).expect("a sieve");
    let bits = 144 * u64::from(precision) * u64::from(BLOOM_CAPACITY) / 100;
    let limit = bits / 8 + 64 + PENDING_BYTES;
    let first = lost(&mut *sieve, 0..BLOOM_CAPACITY / 2);
    let below = sieve.stats().false_positive_rate;
    lost(&mut *sieve, BLOOM_CAPACITY / 2..BLOOM_CAPACITY);
    let stats = sieve.stats();
    let at_capacity = stats.false_positive_rate;
    assert!(planned.contains(&stats.planned_false_positive_rate), "{kind:?} {stats:?}");
    assert!((at_capacity / stats.planned_false_positive_rate - 1.0).abs() < 0.15, "{stats:?}");
    assert!(below < at_capacity / 4.0 && first < below * f64::from(BLOOM_CAPACITY) / 2.0);
    // The estimate gives the share of the next keys that are lost.
    let probe = BLOOM_CAPACITY / 5;
    let observed = lost(&mut *sieve, BLOOM_CAPACITY..BLOOM_CAPACITY + probe) / f64::from(probe);
    let now = sieve.stats().false_positive_rate;
    assert!((at_capacity * 0.7..now * 1.3).contains(&observed), "{kind:?} {observed} {now}");

    lost(&mut *sieve, 2 * BLOOM_CAPACITY..11 * BLOOM_CAPACITY);
    let stats = sieve.stats();
    assert!(stats.memory_bytes <= limit, "{} of {limit} bytes", stats.memory_bytes);
    assert!(stats.false_positive_rate > 4.0 * at_capacity, "{stats:?}");
    assert!(stats.seen > u64::from(BLOOM_CAPACITY), "{stats:?}");
    for number in 0..BLOOM_CAPACITY {
        sieve.offer(&key(number)).expect("an offer");
    }
    assert!(flushed(&mut *sieve).is_empty(), "a known key never comes again");
}

#[test]
fn a_bloom_sieve_keeps_its_stated_error_rate() {
    check_bloom(SieveKind::Bloom, 4, 0.06..0.065);
}

#[test]
fn a_blocked_bloom_sieve_keeps_its_stated_error_rate() {
    check_bloom(SieveKind::BlockedBloom, 4, 0.06..0.075);
}

#[test]
fn an_lsm_sieve_holds_ten_times_its_buffer() {
    let plan = Plan { kind: SieveKind::Lsm, buffer_keys: 1_000, cache_keys: 0, ..Plan::default() };
    if !plan.kind.is_built() {
        return;
    }
    let dir = TempDir::new().expect("a folder");
    let mut lsm = plan.create(dir.path()).expect("a sieve");
    let mut memory = MemorySieve::new();
    for number in 0..15_000 {
        let number = if number % 3 == 2 { number / 5 } else { number };
        lsm.offer(&key(number)).expect("an offer");
        memory.offer(&key(number)).expect("an offer");
        if number % 4_000 == 0 {
            assert!(flushed(&mut *lsm) == flushed(&mut memory), "after {number}");
        }
    }
    assert!(flushed(&mut *lsm) == flushed(&mut memory), "at the end");
    // The cache of 32 MiB and two memtables of 16.
    let limit = 64 << 20;
    assert!(lsm.stats().memory_bytes <= limit, "{:?}", lsm.stats());
    assert_eq!(lsm.stats().seen, memory.stats().seen);
}

#[test]
fn the_cache_catches_only_recent_offers() {
    let dir = TempDir::new().expect("a folder");
    let plan = Plan { kind: SieveKind::Memory, cache_keys: 64, ..Plan::default() };
    let mut sieve = plan.create(dir.path()).expect("a sieve");
    for number in 0..1_000 {
        for _ in 0..4 {
            sieve.offer(&key(number)).expect("an offer");
        }
    }
    let stats = sieve.stats();
    assert_eq!((stats.offered, stats.cache_hits), (4_000, 3_000));
    assert!((stats.cache_hit_rate() - 0.75).abs() < 1e-9);
    // These keys left the cache long ago. All of them reach the sieve, which knows them.
    for number in 0..500 {
        sieve.offer(&key(number)).expect("an offer");
    }
    assert_eq!(sieve.stats().cache_hits, 3_000);
    assert_eq!(flushed(&mut *sieve).len(), 1_000);
}

/// A set of eight keeps the seven others that were used lately, whichever came first.
#[test]
fn the_cache_evicts_the_least_recent_key() {
    let dir = TempDir::new().expect("a folder");
    let plan = Plan { kind: SieveKind::Memory, cache_keys: 8, ..Plan::default() };
    let mut sieve = plan.create(dir.path()).expect("a sieve");
    let mut hits = |number| {
        let before = sieve.stats().cache_hits;
        sieve.offer(&key(number)).expect("an offer");
        sieve.stats().cache_hits > before
    };
    assert!((0..8).all(|number| !hits(number)));
    assert!(hits(0), "the oldest of eight");
    assert!(!hits(8), "makes 1 the victim");
    assert!(hits(0), "was used");
    assert!(!hits(1), "was not");
}

#[test]
fn uncached_offers_do_not_enter_the_cache() {
    let dir = TempDir::new().expect("a folder");
    let plan = Plan { kind: SieveKind::Memory, cache_keys: 8, ..Plan::default() };
    let mut sieve = plan.create(dir.path()).expect("a sieve");
    let recent = sieve.recent().expect("it has a cache");
    let (key, known_by) = (key(7), sieve::signature(&key(7)));
    sieve.offer_uncached(known_by, &key).expect("an offer");
    assert!(!recent.has(known_by));
    sieve.offer(&key).expect("an offer");
    assert!(recent.has(known_by));
    assert_eq!((flushed(&mut *sieve).len(), sieve.stats().cache_hits), (1, 0));
}
