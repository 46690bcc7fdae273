//! The files of each kind of sieve are damaged while no process has them open. They are missing,
//! empty, cut, or changed by a flipped bit or by random bytes. The sieve opens and answers
//! correctly, or reports the damage. It never gives a wrong answer, and never panics.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use sieve::{Plan, Sieve, SieveError, SieveKind};
use tempfile::TempDir;

/// Keys that were emitted before the last sync.
const EMITTED: u32 = 60;
/// Up to this one they waited.
const WAITED: u32 = 90;
/// Up to this one they are offered for the first time after the damage.
const NEW: u32 = 100;

fn plan(kind: SieveKind) -> Plan {
    // So small that there are runs of two levels.
    Plan { kind, buffer_keys: 7, capacity: 200, precision: 30, cache_keys: 0 }
}

fn key(number: u32) -> Vec<u8> {
    format!("http://example.com/{number}").into_bytes()
}

fn offer(sieve: &mut dyn Sieve, numbers: std::ops::Range<u32>) -> Result<(), SieveError> {
    numbers.map(key).try_for_each(|key| sieve.offer(&key))
}

/// A folder with a sieve that was synced.
fn synced(kind: SieveKind) -> TempDir {
    let dir = TempDir::new().expect("a folder");
    let mut sieve = plan(kind).create(dir.path()).expect("a sieve");
    offer(&mut *sieve, 0..EMITTED).expect("offers");
    sieve.flush(&mut |_| ()).expect("a flush");
    offer(&mut *sieve, EMITTED..WAITED).expect("offers");
    sieve.sync().expect("a sync");
    dir
}

/// Opens the sieve, takes what waits and offers all keys again and some more.
fn use_again(kind: SieveKind, dir: &Path, emit: &mut dyn FnMut(&[u8])) -> Result<(), SieveError> {
    let mut sieve = plan(kind).open(dir)?;
    sieve.flush(emit)?;
    offer(&mut *sieve, 0..NEW)?;
    sieve.flush(emit)?;
    sieve.sync()
}

/// Whether the damage was noticed. If not, every answer must be right, and otherwise every one
/// before the error.
fn is_noticed(kind: SieveKind, dir: &Path, how: &str) -> bool {
    let mut out = Vec::new();
    let result = use_again(kind, dir, &mut |key| out.push(key.to_vec()));
    let expected: Vec<_> = (EMITTED..NEW).map(key).collect();
    assert!(expected.starts_with(&out), "{kind:?} {how}: {result:?} after {} keys", out.len());
    match result {
        Ok(()) => assert_eq!(out.len(), expected.len(), "{kind:?} {how}: keys are lost"),
        Err(SieveError::Damaged { ref path, .. }) => assert!(path.starts_with(dir), "{how}"),
        Err(SieveError::Store { ref path, .. }) => {
            assert!(kind == SieveKind::Lsm && path.starts_with(dir), "{how}");
        }
        Err(error) => panic!("{kind:?} {how}: {error:?}"),
    }
    result.is_err()
}

/// All files under `dir`, with paths from there.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(dir).expect("below it").to_path_buf());
            }
        }
    }
    found.sort();
    found
}

fn copy(from: &Path) -> TempDir {
    let to = TempDir::new().expect("a folder");
    for file in files(from) {
        let target = to.path().join(&file);
        fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
        fs::copy(from.join(&file), target).expect("a copy");
    }
    to
}

/// Does `damage` to the bytes of `file`, or removes it, in a copy of `dir`.
fn is_damage_noticed(
    kind: SieveKind,
    dir: &Path,
    file: &Path,
    how: &str,
    damage: impl FnOnce(&mut Vec<u8>) -> bool,
) -> bool {
    let copy = copy(dir);
    let path = copy.path().join(file);
    let mut bytes = fs::read(&path).expect("a file");
    if damage(&mut bytes) {
        fs::write(&path, bytes).expect("a file");
    } else {
        fs::remove_file(&path).expect("to remove it");
    }
    is_noticed(kind, copy.path(), &format!("{} {how}", file.display()))
}

/// Damages each file in every way, at a dozen places.
fn check_ours(kind: SieveKind) {
    let dir = synced(kind);
    let names = files(dir.path());
    assert!(!is_noticed(kind, copy(dir.path()).path(), "whole"));
    for file in &names {
        // Made anew by every opening.
        let matters = file != Path::new("encountered.keys");
        let noticed = |how: &str, damage: &dyn Fn(&mut Vec<u8>) -> bool| {
            let noticed = is_damage_noticed(kind, dir.path(), file, how, damage);
            assert_eq!(noticed, matters, "{kind:?} {} {how}", file.display());
        };
        noticed("missing", &|_| false);
        let len = fs::metadata(dir.path().join(file)).expect("a file").len();
        let len = usize::try_from(len).expect("a small file");
        for at in (0..len).step_by(len / 12 + 1) {
            noticed(&format!("cut at {at}"), &|bytes| {
                bytes.truncate(at);
                true
            });
            // Emitted keys may lie before the waiting ones, and damage to them does not matter.
            let matters = matters && file != Path::new("pending.keys");
            let how = format!("flipped at {at}");
            let flipped = is_damage_noticed(kind, dir.path(), file, &how, |bytes| {
                bytes[at] ^= 1 << (at % 8);
                true
            });
            assert!(flipped || !matters, "{kind:?} {} {how}", file.display());
        }
    }
}

#[test]
fn offline_sieve_damage_is_detected_on_open_or_use() {
    let runs = files(synced(SieveKind::Offline).path());
    let runs = runs.iter().filter(|file| file.extension().is_some_and(|name| name == "run"));
    assert!(runs.count() > 3, "the test proves little");
    check_ours(SieveKind::Offline);
}

/// Opening a run trusts the heads of blocks, long before the blocks are read. A first signature
/// that is too great would let the keys of its block come out again.
#[test]
fn a_damaged_block_header_is_detected_on_open() {
    const HEAD: std::ops::Range<usize> = 16..32;
    let kind = SieveKind::Offline;
    let dir = synced(kind);
    let names = files(dir.path());
    let mut heads = 0;
    for file in names.iter().filter(|file| file.extension().is_some_and(|name| name == "run")) {
        let copy = copy(dir.path());
        let path = copy.path().join(file);
        let whole = fs::read(&path).expect("a run");
        let check = |how: &str, bytes: &[u8]| {
            fs::write(&path, bytes).expect("a file");
            let Err(SieveError::Damaged { path: named, .. }) = plan(kind).open(copy.path()) else {
                panic!("{} {how}: not noticed", file.display());
            };
            assert_eq!(named, path, "{how}");
        };
        for bit in 8 * HEAD.start..8 * HEAD.end {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            check(&format!("bit {bit}"), &bytes);
        }
        let mut bytes = whole.clone();
        bytes[24..HEAD.end].fill(0xff);
        check("no signature is smaller", &bytes);
        fs::write(&path, &whole).expect("a file");
        plan(kind).open(copy.path()).expect("whole again");
        heads += 1;
    }
    assert!(heads > 3, "the test proves little");
}

#[test]
fn bloom_sieve_damage_is_detected_on_open_or_use() {
    check_ours(SieveKind::Bloom);
}

#[test]
fn blocked_bloom_damage_is_detected_on_open_or_use() {
    check_ours(SieveKind::BlockedBloom);
}

/// The files of the store are its own: damage is noticed or does no harm.
#[test]
fn lsm_sieve_damage_is_detected_or_harmless() {
    let kind = SieveKind::Lsm;
    if !kind.is_built() {
        return;
    }
    let dir = synced(kind);
    assert!(!is_noticed(kind, copy(dir.path()).path(), "whole"));
    let mut noticed = 0;
    for file in &files(dir.path()) {
        let mut check = |how: &str, damage: &dyn Fn(&mut Vec<u8>) -> bool| {
            noticed += u32::from(is_damage_noticed(kind, dir.path(), file, how, damage));
        };
        check("missing", &|_| false);
        check("empty", &|bytes| {
            bytes.clear();
            true
        });
        check("cut in the middle", &|bytes| {
            bytes.truncate(bytes.len() / 2);
            true
        });
        check("flipped near the beginning", &|bytes| {
            if let Some(byte) = bytes.get_mut(40) {
                *byte ^= 0x10;
            }
            true
        });
    }
    assert!(noticed > 10, "only {noticed} of the damages were noticed");
}

#[test]
fn a_missing_state_does_not_create_a_new_sieve() {
    for kind in SieveKind::ALL.into_iter().filter(|kind| kind.is_built() && kind.is_durable()) {
        let dir = synced(kind);
        fs::remove_file(dir.path().join("sieve.state")).expect("to remove it");
        let error = plan(kind).open(dir.path()).map(|_| ()).expect_err("damaged");
        let text = error.to_string();
        assert!(text.contains("sieve.state") && text.contains("rebuild"), "{kind:?}: {text}");
        plan(kind).create(dir.path()).expect("to begin anew is the way out");
    }
}

/// A file of an older program is intact, but this version cannot use it.
#[test]
fn a_file_of_another_version_is_reported() {
    for kind in [SieveKind::Offline, SieveKind::Bloom, SieveKind::BlockedBloom] {
        let dir = synced(kind);
        let path = dir.path().join("sieve.state");
        let mut bytes = fs::read(&path).expect("a state");
        bytes[7] += 1;
        fs::write(&path, bytes).expect("a file");
        let error = plan(kind).open(dir.path()).map(|_| ()).expect_err("another version");
        let text = error.to_string();
        assert!(text.contains("another version") && text.contains("rebuild"), "{kind:?}: {text}");
    }
}

/// The store takes a number of levels that it cannot have for a fault of its own, and panics.
#[test]
fn a_panic_of_the_store_is_reported_as_damage() {
    let whole = synced(SieveKind::Lsm);
    let mut count = 0;
    for name in files(whole.path()) {
        let bytes = fs::read(whole.path().join(&name)).expect("a file");
        if !bytes.windows(11).any(|some| some == b"level_count") {
            continue;
        }
        for at in (0..bytes.len()).filter(|&at| bytes[at] == 7) {
            let dir = synced(SieveKind::Lsm);
            let mut struck = bytes.clone();
            struck[at] = 120;
            fs::write(dir.path().join(&name), struck).expect("a file");
            is_noticed(SieveKind::Lsm, dir.path(), &format!("{name:?} at {at}"));
            count += 1;
        }
    }
    assert!(count > 0, "no file says how many levels there are");
}

/// A sieve that was killed before its first sync is empty, not damaged.
#[test]
fn a_sieve_that_was_never_synced_is_empty() {
    for kind in SieveKind::ALL.into_iter().filter(|kind| kind.is_built() && kind.is_durable()) {
        let dir = TempDir::new().expect("a folder");
        let plan = Plan { buffer_keys: 1_000, ..plan(kind) };
        let mut sieve = plan.create(dir.path()).expect("a sieve");
        offer(&mut *sieve, 0..30).expect("offers");
        drop(sieve);
        let mut sieve = plan.open(dir.path()).expect("the sieve");
        let mut out = 0;
        offer(&mut *sieve, 0..30).expect("offers");
        sieve.flush(&mut |_| out += 1).expect("a flush");
        assert_eq!(out, 30, "{kind:?}");
    }
}

/// Bytes written over those at a place, and perhaps an end there.
type Blow = (prop::sample::Index, prop::sample::Index, Vec<u8>, bool);

fn blow() -> impl Strategy<Value = Blow> {
    let index = any::<prop::sample::Index>;
    (index(), index(), vec(any::<u8>(), 0..12), any::<bool>())
}

fn strike(dir: &Path, blows: &[Blow]) {
    let names = files(dir);
    for (file, at, new, cut) in blows {
        let path = dir.join(file.get(&names));
        let mut bytes = fs::read(&path).expect("a file");
        let at = at.index(bytes.len() + 1);
        let end = bytes.len().min(at + new.len());
        bytes.splice(at..end, new.iter().copied());
        if *cut {
            bytes.truncate(at);
        }
        fs::write(path, bytes).expect("a file");
    }
}

fn check_blows(kind: SieveKind, blows: &[Blow]) {
    if kind.is_built() {
        let dir = synced(kind);
        strike(dir.path(), blows);
        is_noticed(kind, dir.path(), &format!("{blows:?}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_damage_gives_no_wrong_answer(blows in vec(blow(), 1..4)) {
        for kind in [SieveKind::Offline, SieveKind::Bloom, SieveKind::BlockedBloom] {
            check_blows(kind, &blows);
        }
    }
}

proptest! {
    // The store takes its time to open.
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn random_damage_to_an_lsm_sieve_gives_no_wrong_answer(blows in vec(blow(), 1..4)) {
        check_blows(SieveKind::Lsm, &blows);
    }
}
