//! An offline sieve with ten times the keys of its buffer and more: the same answers as the memory
//! sieve, within the memory that its documentation promises.

use std::fs;
use std::path::Path;

use sieve::{MemorySieve, OfflineSieve, Sieve};
use tempfile::TempDir;

use crate::conformance::flushed;

/// More than one block of 4096 signatures, so that a run has several.
const BUFFER_KEYS: u32 = 9_000;

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
fn ten_times_the_buffer_stays_within_the_memory() {
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
        let limit = 16 * u64::from(BUFFER_KEYS) + 16 * fences + PENDING_BYTES;
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
fn there_are_at_most_seven_runs_a_level() {
    let dir = TempDir::new().expect("a folder");
    let mut sieve = OfflineSieve::create(dir.path(), 1).expect("a sieve");
    for number in 0..600 {
        sieve.offer(&key(number)).expect("an offer");
        let runs = files(dir.path()).len() - 2;
        // 512 keys reach the fourth level.
        assert!(runs <= 4 * 7, "{runs} runs after {number} keys");
    }
    assert_eq!(flushed(&mut sieve).len(), 600);
    // 600 in base eight is 1130.
    assert_eq!(files(dir.path()).len() - 2, 1 + 1 + 3);
}
