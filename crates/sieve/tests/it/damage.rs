//! Damage to open files: every bit flipped, every length cut, and random bytes anywhere. The error
//! names the file and the damaged part, nothing panics, and no key comes out twice. `reopen.rs`
//! tests damage to files that no process has open.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use sieve::{OfflineSieve, Sieve, SieveError};
use tempfile::TempDir;

const HEADER_BYTES: u64 = 16;
const LAST_BLOCK_BYTES: u64 = 24;
const BUFFER_KEYS: u32 = 4;
/// The last one is in no run yet.
const OLD_KEYS: u32 = 7 * BUFFER_KEYS + 1;

fn offer_range(
    sieve: &mut OfflineSieve,
    mut numbers: std::ops::Range<u32>,
) -> Result<(), SieveError> {
    numbers.try_for_each(|number| sieve.offer(&number.to_le_bytes()))
}

/// A sieve with seven runs, one short of a merge, and its third run.
fn sieve_with_runs(dir: &Path) -> (OfflineSieve, PathBuf) {
    let mut sieve = OfflineSieve::create(dir, BUFFER_KEYS as usize).expect("a sieve");
    offer_range(&mut sieve, 0..OLD_KEYS).expect("offers");
    sieve.flush(&mut |_| ()).expect("a flush");
    (sieve, dir.join("seen-00000002.run"))
}

/// Looks every old key up, which reads all blocks, and then makes the eighth run, which merges all.
fn use_all(sieve: &mut OfflineSieve) -> Result<(), SieveError> {
    offer_range(sieve, 0..OLD_KEYS + BUFFER_KEYS)?;
    sieve.flush(&mut |_| ())
}

fn check_damaged(result: Result<(), SieveError>, file: &Path, part: u64, how: &str) {
    match result {
        Err(SieveError::Damaged { path, offset, what }) => {
            assert_eq!(path, file, "{how}: {what}");
            assert_eq!(offset, part, "{how}: {what}");
        }
        other => panic!("{how}: {other:?}"),
    }
}

/// Where the part of a run begins that holds the byte at `at`.
fn part_of_run(at: u64, file_bytes: u64) -> u64 {
    let last_block = file_bytes - LAST_BLOCK_BYTES;
    [last_block, HEADER_BYTES].into_iter().find(|&part| at >= part).unwrap_or(0)
}

#[test]
fn every_flipped_bit_of_a_run_is_detected() {
    let dir = TempDir::new().expect("a folder");
    let (_, file) = sieve_with_runs(dir.path());
    let original = fs::read(&file).expect("a run");
    for bit in 0..8 * original.len() {
        let (mut sieve, file) = sieve_with_runs(dir.path());
        let mut bytes = original.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, &bytes).expect("a file");
        let part = part_of_run(bit as u64 / 8, bytes.len() as u64);
        check_damaged(use_all(&mut sieve), &file, part, &format!("bit {bit}"));
    }
}

#[test]
fn every_truncated_run_is_detected() {
    let dir = TempDir::new().expect("a folder");
    let (_, file) = sieve_with_runs(dir.path());
    let original = fs::read(&file).expect("a run");
    for len in 0..original.len() {
        let (mut sieve, file) = sieve_with_runs(dir.path());
        fs::write(&file, &original[..len]).expect("a file");
        // The blocks of signatures are read first.
        let part = part_of_run(len as u64, original.len() as u64).max(HEADER_BYTES);
        check_damaged(use_all(&mut sieve), &file, part, &format!("cut at {len}"));
    }
}

/// Two runs that differ only in their signatures: every checksum is right.
#[test]
fn a_run_replaced_by_another_is_detected() {
    let dir = TempDir::new().expect("a folder");
    let (mut sieve, _) = sieve_with_runs(dir.path());
    let run = |number: u32| dir.path().join(format!("seen-{number:08}.run"));
    let bytes = |number: u32| fs::read(run(number)).expect("a run");
    let (this, other) = (0..7)
        .flat_map(|other| (0..other).map(move |this| (this, other)))
        .find(|&(this, other)| bytes(this).len() == bytes(other).len())
        .expect("two runs of one length");
    fs::write(run(this), bytes(other)).expect("a file");
    check_damaged(use_all(&mut sieve), &run(this), HEADER_BYTES, "another run");
}

#[test]
fn a_damaged_sieve_reports_damage_every_time() {
    let dir = TempDir::new().expect("a folder");
    let (mut sieve, file) = sieve_with_runs(dir.path());
    fs::write(&file, b"").expect("a file");
    for time in 0..3 {
        check_damaged(use_all(&mut sieve), &file, HEADER_BYTES, &format!("time {time}"));
        check_damaged(sieve.flush(&mut |_| ()), &file, HEADER_BYTES, &format!("flush {time}"));
    }
}

/// Keys so long that two of them are written to the disk as soon as there is a third.
fn long_key(number: u8) -> Vec<u8> {
    vec![number; 40_000]
}

const LONG_KEY_BYTES: u64 = 40_000;
const KEY_HEAD_BYTES: u64 = 8;

/// A sieve with two long keys on disk in each of A and F.
fn sieve_with_keys(dir: &Path) -> OfflineSieve {
    let mut sieve = OfflineSieve::create(dir, 3).expect("a sieve");
    for number in 1..=6 {
        sieve.offer(&long_key(number)).expect("an offer");
    }
    sieve
}

/// The bytes to damage in a file of two long keys, and where their parts begin.
fn places_in_keys() -> impl Iterator<Item = (u64, u64)> {
    let second = HEADER_BYTES + KEY_HEAD_BYTES + LONG_KEY_BYTES;
    let header = (0..HEADER_BYTES).map(|at| (at, 0));
    let records = [HEADER_BYTES, second].into_iter().flat_map(|start| {
        let head = start..start + KEY_HEAD_BYTES;
        let middle = [start + KEY_HEAD_BYTES, start + 9_000, start + 40_007];
        head.chain(middle).map(move |at| (at, start))
    });
    header.chain(records)
}

/// Damages `name` at each place and flushes; `emitted` says how many keys come out nevertheless.
fn check_key_file(name: &str, emitted: impl Fn(u64) -> usize) {
    for (at, part) in places_in_keys() {
        let at_index = usize::try_from(at).expect("a small file");
        let flip = |bytes: &mut Vec<u8>| bytes[at_index] ^= 0x41;
        let cut = |bytes: &mut Vec<u8>| bytes.truncate(at_index);
        for (how, damage) in [("flipped", &flip as &dyn Fn(&mut Vec<u8>)), ("cut", &cut)] {
            let dir = TempDir::new().expect("a folder");
            let mut sieve = sieve_with_keys(dir.path());
            let file = dir.path().join(name);
            let mut bytes = fs::read(&file).expect("the keys");
            assert!(bytes.len() as u64 >= HEADER_BYTES + 2 * (KEY_HEAD_BYTES + LONG_KEY_BYTES));
            damage(&mut bytes);
            fs::write(&file, &bytes).expect("a file");
            let how = format!("{name} {how} at {at}");
            let mut out = Vec::new();
            let result = sieve.flush(&mut |key| out.push(key.to_vec()));
            check_damaged(result, &file, part, &how);
            assert_eq!(out.len(), emitted(part), "{how}");
            sieve.flush(&mut |_| panic!("{how}: a key comes out again")).expect_err("damaged");
        }
    }
}

#[test]
fn damage_to_the_encountered_keys_is_detected() {
    check_key_file("encountered.keys", |_| 0);
}

#[test]
fn frontier_damage_is_detected_and_earlier_keys_emitted_once() {
    check_key_file("pending.keys", |part| usize::from(part > HEADER_BYTES));
}

/// A merge that has copied the first of two new keys when it meets the damage takes it back.
#[test]
fn a_flush_after_repaired_damage_emits_every_key() {
    let dir = TempDir::new().expect("a folder");
    let mut sieve = sieve_with_keys(dir.path());
    let file = dir.path().join("encountered.keys");
    let whole = fs::read(&file).expect("the keys");
    let mut bytes = whole.clone();
    bytes[50_000] ^= 1;
    fs::write(&file, &bytes).expect("a file");
    let mut out = Vec::new();
    sieve.flush(&mut |key| out.push(key.to_vec())).expect_err("damaged");
    bytes = fs::read(&file).expect("with what was still to be written");
    bytes[50_000] ^= 1;
    assert_eq!(bytes[..whole.len()], whole);
    fs::write(&file, &bytes).expect("a file");
    sieve.flush(&mut |key| out.push(key.to_vec())).expect("whole again");
    assert!(out == (1..=6).map(long_key).collect::<Vec<_>>(), "{} keys", out.len());
}

#[derive(Debug, Clone)]
struct Damage {
    file: prop::sample::Index,
    at: prop::sample::Index,
    bytes: Vec<u8>,
    cut: bool,
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    (index(), index(), vec(any::<u8>(), 0..12), any::<bool>())
        .prop_map(|(file, at, bytes, cut)| Damage { file, at, bytes, cut })
}

fn apply(damage: &Damage, dir: &Path) {
    let entries = fs::read_dir(dir).expect("a folder");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let file = damage.file.get(&files);
    let mut bytes = fs::read(file).expect("a file");
    let at = damage.at.index(bytes.len() + 1);
    let end = bytes.len().min(at + damage.bytes.len());
    bytes.splice(at..end, damage.bytes.iter().copied());
    if damage.cut {
        bytes.truncate(at);
    }
    fs::write(file, bytes).expect("a file");
}

fn check_ok_or_damaged(result: &Result<(), SieveError>) {
    assert!(matches!(result, Ok(()) | Err(SieveError::Damaged { .. })), "{result:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn damage_never_duplicates_or_changes_a_key(
        before in vec(0..200_u32, 0..120),
        damages in vec(damage(), 1..3),
        after in vec(0..200_u32, 0..120),
        buffer_keys in 1..12_usize,
    ) {
        let dir = TempDir::new().expect("a folder");
        let mut sieve = OfflineSieve::create(dir.path(), buffer_keys).expect("a sieve");
        let mut out = Vec::new();
        for key in &before {
            sieve.offer(&key.to_le_bytes()).expect("not damaged yet");
        }
        for damage in &damages {
            apply(damage, dir.path());
        }
        for (at, key) in after.iter().enumerate() {
            let offered = sieve.offer(&key.to_le_bytes());
            check_ok_or_damaged(&offered);
            if at % 20 == 0 {
                let flushed = sieve.flush(&mut |key| out.push(key.to_vec()));
                check_ok_or_damaged(&flushed);
            }
        }
        let _ = sieve.flush(&mut |key| out.push(key.to_vec()));
        let different: BTreeSet<_> = out.iter().collect();
        prop_assert_eq!(different.len(), out.len(), "a key came twice");
        let offered: BTreeSet<_> =
            before.iter().chain(&after).map(|key| key.to_le_bytes().to_vec()).collect();
        prop_assert!(out.iter().all(|key| offered.contains(key)), "a key nobody offered");
    }
}
