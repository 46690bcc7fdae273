//! The growth in memory of a whole process while a sieve takes ten times its planned keys. Each
//! kind has a process of its own, because the operating system counts by process. `capacity.rs`
//! checks the numbers that the sieves report.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::process::Command;

use sieve::{Plan, Sieve, SieveKind};
use tempfile::TempDir;

const KIND: &str = "SIEVE_TEST_RESIDENT";
/// The number of keys that each kind is planned for.
const PLANNED: u32 = 20_000;
const KEYS: u32 = 10 * PLANNED;
/// Further bytes that the allocator and the file buffers may take.
const SLACK_BYTES: u64 = 2 << 20;

fn plan(kind: SieveKind, cache_keys: usize) -> Plan {
    let buffer_keys = if kind == SieveKind::Lsm { PLANNED / 8 } else { PLANNED } as usize;
    Plan { kind, buffer_keys, capacity: u64::from(PLANNED), precision: 16, cache_keys }
}

fn key(number: u32) -> Vec<u8> {
    format!("https://www.host-{}.example/articles/{number:08}.html", number % 997).into_bytes()
}

/// A number in kibibytes that the system keeps of this process.
fn status_bytes(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the status");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
    1024 * line.trim_matches([':', ' ', '\t', 'k', 'B']).parse::<u64>().expect("a number")
}

/// Every key, and after each one an earlier one again; how many came out, in order.
fn drive(sieve: &mut dyn Sieve) -> u32 {
    let (mut emitted, mut last) = (0, Vec::new());
    for number in 0..KEYS {
        sieve.offer(&key(number)).expect("an offer");
        sieve.offer(&key(number.wrapping_mul(40_503) % (number + 1))).expect("an offer");
        if number % 15_000 == 0 || number == KEYS - 1 {
            let mut emit = |key: &[u8]| {
                let page = key.rsplit(|&byte| byte == b'/').next().expect("a page").to_vec();
                assert!(page > last, "out of order");
                last = page;
                emitted += 1;
            };
            sieve.flush(&mut emit).expect("a flush");
        }
    }
    emitted
}

/// Runs in the child. `KIND` gives the kind of sieve and the size of its cache.
#[test]
fn child() {
    let Ok(wanted) = std::env::var(KIND) else { return };
    let (kind, cache) = wanted.split_once(' ').expect("two words");
    let kind = SieveKind::ALL.into_iter().find(|known| known.name() == kind).expect("a kind");
    let dir = TempDir::new().expect("a folder");
    let before = status_bytes("VmRSS");
    let mut sieve =
        plan(kind, cache.parse().expect("a number")).create(dir.path()).expect("a sieve");
    let emitted = drive(&mut *sieve);
    let grown = status_bytes("VmHWM").saturating_sub(before);
    let line = format!("\ngrew {grown} {emitted}\n");
    std::io::stdout().write_all(line.as_bytes()).expect("a parent that listens");
}

/// By how much the process grew, and how many keys were lost.
fn measure(kind: SieveKind, cache_keys: usize) -> (u64, u32) {
    let out = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "resident::child", "--nocapture"])
        .env(KIND, format!("{} {cache_keys}", kind.name()))
        .output()
        .expect("a child");
    let text = String::from_utf8_lossy(&out.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix("grew ")).expect("its answer");
    let (grown, emitted) = line.split_once(' ').expect("two numbers");
    (grown.parse().expect("a number"), KEYS - emitted.parse::<u32>().expect("a number"))
}

/// Ten times the keys, without and with a cache, within `limit_bytes`.
fn check(kind: SieveKind, limit_bytes: u64, lost: &Range<u32>) {
    for cache_keys in [0, 1 << 12] {
        check_with(kind, cache_keys, limit_bytes, lost);
    }
}

fn check_with(kind: SieveKind, cache_keys: usize, limit_bytes: u64, lost: &Range<u32>) {
    let limit = limit_bytes + 8 * cache_keys as u64 + SLACK_BYTES;
    let (grown, keys_lost) = measure(kind, cache_keys);
    assert!(grown <= limit, "{kind:?} {cache_keys}: {grown} of {limit} bytes");
    assert!(lost.contains(&keys_lost), "{kind:?} {cache_keys}: {keys_lost} lost");
}

/// The one that grows with the keys, by as much as it says: the old table and the new one.
#[test]
fn a_memory_sieve_grows_within_its_stated_size() {
    check(SieveKind::Memory, (11 + 16) * u64::from(KEYS), &(0..1));
}

#[test]
fn an_offline_sieve_stays_within_its_buffer() {
    check(SieveKind::Offline, 40 * u64::from(PLANNED), &(0..1));
}

#[test]
fn a_bloom_sieve_stays_within_its_filter() {
    check(SieveKind::Bloom, u64::from(PLANNED) * 16 * 144 / 800, &(1_000..KEYS / 4 * 3));
}

#[test]
fn a_blocked_bloom_sieve_stays_within_its_filter() {
    check(SieveKind::BlockedBloom, u64::from(PLANNED) * 16 * 144 / 800, &(1_000..KEYS / 4 * 3));
}

/// Its cache and five write buffers, which take half as much again as the store counts. All of
/// the keys in write buffers would be twice that.
#[test]
fn an_lsm_sieve_stays_within_its_buffers() {
    if !SieveKind::Lsm.is_built() {
        return;
    }
    let commit_keys = u64::from(PLANNED / 8);
    let (cache, write_buffer) =
        ((512 * commit_keys).max(1 << 20), (128 * commit_keys).max(1 << 20));
    let limit = cache + 5 * write_buffer * 3 / 2 + 300 * commit_keys;
    check_with(SieveKind::Lsm, 0, limit, &(0..1));
}
