//! [`OfflineSieve::create`] in a folder with files of an earlier sieve or of another program. The
//! new sieve is empty, and foreign files stay.

use std::fs;

use sieve::{OfflineSieve, Sieve, SieveError};
use tempfile::TempDir;

use crate::conformance::flushed;

fn offer_all(sieve: &mut OfflineSieve, keys: &[&str]) {
    for key in keys {
        sieve.offer(key.as_bytes()).expect("an offer");
    }
}

#[test]
fn a_new_sieve_ignores_the_earlier_one() {
    let dir = TempDir::new().expect("a folder");
    let keys = ["d", "c", "b", "a", "e", "f", "g", "h", "i", "j"];
    for flush_first in [false, true, false] {
        let mut sieve = OfflineSieve::create(dir.path(), 2).expect("a sieve");
        assert_eq!(sieve.stats().seen, 0);
        assert_eq!(sieve.stats().disk_bytes, 2 * 16 + 52, "two headers and a state");
        if flush_first {
            assert!(flushed(&mut sieve).is_empty());
        }
        offer_all(&mut sieve, &keys);
        assert_eq!(flushed(&mut sieve), keys.map(|key| key.as_bytes().to_vec()));
        // Left in the middle: keys in the buffer, in A and in F.
        offer_all(&mut sieve, &["x", "y", "z"]);
    }
}

#[test]
fn leftover_files_of_a_killed_process_are_removed() {
    let dir = TempDir::new().expect("a folder");
    let leftovers = ["seen-00000000.run", "seen-00000007.run", "seen-123456789.run"];
    for name in leftovers.iter().chain(&["encountered.keys", "pending.keys"]) {
        fs::write(dir.path().join(name), b"cr-sieveZ, and then the power went").expect("a file");
    }
    let mut sieve = OfflineSieve::create(dir.path(), 1).expect("a sieve");
    for name in leftovers {
        assert!(!dir.path().join(name).exists(), "{name} is still there");
    }
    offer_all(&mut sieve, &["b", "a", "b"]);
    assert_eq!(flushed(&mut sieve), [b"b", b"a"]);
}

#[test]
fn unrelated_files_are_not_changed() {
    let dir = TempDir::new().expect("a folder");
    let foreign = [
        "seen-.run",
        "seen-1.run",
        "seen-0000000x.run",
        "seen-000000001.run",
        "seen-00000001.run.bak",
        "unseen-00000001.run",
        "checkpoint",
    ];
    for name in foreign {
        fs::write(dir.path().join(name), name).expect("a file");
    }
    let mut sieve = OfflineSieve::create(dir.path(), 1).expect("a sieve");
    offer_all(&mut sieve, &["a", "b", "c"]);
    assert_eq!(flushed(&mut sieve).len(), 3);
    for name in foreign {
        let text = fs::read_to_string(dir.path().join(name)).expect("still there");
        assert_eq!(text, name);
    }
}

#[test]
fn a_folder_is_created_with_its_parents() {
    let dir = TempDir::new().expect("a folder");
    let inner = dir.path().join("a/b/c");
    let mut sieve = OfflineSieve::create(&inner, 0).expect("a sieve");
    offer_all(&mut sieve, &["a", "a", "b"]);
    assert_eq!(flushed(&mut sieve), [b"a", b"b"], "a buffer of no keys is one of one key");
}

#[test]
fn an_invalid_folder_is_named() {
    let dir = TempDir::new().expect("a folder");
    let file = dir.path().join("file");
    fs::write(&file, b"").expect("a file");
    let error = OfflineSieve::create(&file, 10).expect_err("not a folder");
    assert!(
        matches!(&error, SieveError::Io { action: "create", path, .. } if *path == file),
        "{error}"
    );
}
