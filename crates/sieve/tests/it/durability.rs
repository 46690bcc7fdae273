//! A child process is killed at any moment, and its sieve is opened again. No key offered before
//! the last sync is lost, and no key emitted before it comes again. Keys offered after it come out
//! when they are offered again.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use sieve::{Plan, SieveKind};
use tempfile::TempDir;

use crate::conformance::flushed;

const KIND: &str = "SIEVE_TEST_KIND";
const DIR: &str = "SIEVE_TEST_DIR";
const FIRST: &str = "SIEVE_TEST_FIRST";

fn plan(kind: SieveKind) -> Plan {
    // Small, so that merges, commits and runs that retire lie between any two syncs.
    Plan { kind, buffer_keys: 7, capacity: 10_000, precision: 40, cache_keys: 16 }
}

/// Keys repeat, from near and far.
fn key(at: u32) -> u32 {
    if at % 3 == 2 { at / 2 } else { at }
}

/// Runs in the child: offers, emits, syncs and reports it, until the process is killed.
#[test]
fn child() {
    let (Ok(kind), Ok(dir)) = (std::env::var(KIND), std::env::var(DIR)) else { return };
    let first: u32 = std::env::var(FIRST).expect("set with the others").parse().expect("a number");
    let kind = SieveKind::ALL.into_iter().find(|known| known.name() == kind).expect("a kind");
    let mut sieve = plan(kind).open(Path::new(&dir)).expect("a sieve");
    let mut out = std::io::stdout();
    let mut say = |word: &str, number: u32| {
        let line = format!("\n{word} {number}\n");
        // A reader that is gone is the end as well.
        if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
            std::process::exit(0);
        }
    };
    for at in first.. {
        sieve.offer(&key(at).to_le_bytes()).expect("an offer");
        if at % 11 == 0 {
            sieve.flush(&mut |key| say("emitted", number_of(key))).expect("a flush");
        }
        if at % 29 == 0 {
            sieve.sync().expect("a sync");
            say("synced", at + 1);
        }
    }
}

fn number_of(key: &[u8]) -> u32 {
    u32::from_le_bytes(key.try_into().expect("four bytes"))
}

fn spawn(kind: SieveKind, dir: &Path, first: u32) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "durability::child", "--nocapture"])
        .env(KIND, kind.name())
        .env(DIR, dir)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a child")
}

/// The keys and syncs that the children have reported.
#[derive(Debug, Default)]
struct Heard {
    /// Keys emitted before the last reported sync.
    emitted_synced: BTreeSet<u32>,
    emitted_later: BTreeSet<u32>,
    /// All keys emitted by any child.
    emitted: BTreeSet<u32>,
    /// Offers up to here were synced.
    synced: u32,
}

impl Heard {
    fn take(&mut self, line: &str) {
        match line.split_once(' ').and_then(|(word, number)| Some((word, number.parse().ok()?))) {
            Some(("emitted", key)) => {
                assert!(!self.emitted_synced.contains(&key), "{key} came again");
                assert!(self.emitted_later.insert(key), "{key} came twice");
                self.emitted.insert(key);
            }
            Some(("synced", at)) => {
                self.emitted_synced.append(&mut self.emitted_later);
                self.synced = at;
            }
            _ => {}
        }
    }
}

/// Starts a child that continues from `heard`, and kills it after `lines` lines. Reads the rest of
/// its output too.
fn run_and_kill(kind: SieveKind, dir: &Path, heard: &mut Heard, lines: usize) {
    let mut child = spawn(kind, dir, heard.synced);
    let mut out = BufReader::new(child.stdout.take().expect("a pipe")).split(b'\n');
    for line in out.by_ref().take(lines) {
        heard.take(&String::from_utf8_lossy(&line.expect("a line")));
    }
    child.kill().expect("to be killed");
    child.wait().expect("its end");
    // A line is written at once, so the last one is whole.
    for line in out {
        heard.take(&String::from_utf8_lossy(&line.expect("a line")));
    }
}

/// Opens a copy of the killed child's folder. Offers all keys again, and some new ones.
fn check_copy(kind: SieveKind, dir: &Path, heard: &Heard) {
    let copy = TempDir::new().expect("a folder");
    copy_folder(dir, copy.path());
    let mut sieve = plan(kind).open(copy.path()).expect("the sieve again");
    let mut again = flushed(&mut *sieve);
    for at in 0..heard.synced + 40 {
        sieve.offer(&key(at).to_le_bytes()).expect("an offer");
    }
    again.extend(flushed(&mut *sieve));
    let new: BTreeSet<_> = again.iter().map(|key| number_of(key)).collect();
    assert_eq!(new.len(), again.len(), "{kind:?}: a key came twice");
    let twice: Vec<_> = new.intersection(&heard.emitted_synced).collect();
    assert!(twice.is_empty(), "{kind:?}: {twice:?} came again");
    let expected: BTreeSet<_> = (0..heard.synced + 40).map(key).collect();
    let lost: Vec<_> =
        expected.iter().filter(|key| !new.contains(key) && !heard.emitted.contains(key)).collect();
    assert!(lost.is_empty(), "{kind:?}: {lost:?} are lost");
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

fn check(kind: SieveKind) {
    if !kind.is_built() {
        return;
    }
    let dir = TempDir::new().expect("a folder");
    let mut heard = Heard::default();
    for round in 0..12 {
        run_and_kill(kind, dir.path(), &mut heard, 40 + 97 * round);
        check_copy(kind, dir.path(), &heard);
        // Keys emitted after the last sync may come again.
        heard.emitted_later.clear();
    }
    assert!(heard.synced > 100, "{kind:?} synced only {}", heard.synced);
}

#[test]
fn a_killed_offline_sieve_keeps_its_synced_state() {
    check(SieveKind::Offline);
}

#[test]
fn a_killed_bloom_sieve_keeps_its_synced_state() {
    check(SieveKind::Bloom);
}

#[test]
fn a_killed_blocked_bloom_sieve_keeps_its_synced_state() {
    check(SieveKind::BlockedBloom);
}

#[test]
fn a_killed_lsm_sieve_keeps_its_synced_keys() {
    check(SieveKind::Lsm);
}
