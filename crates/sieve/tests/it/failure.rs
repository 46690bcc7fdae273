//! The n-th file that a sieve creates, fills or removes fails, for n = 0, 1, … until nothing fails.
//! The error names the file. Without the cause, the sieve continues as if nothing had happened.

use std::fs;
use std::io;
use std::path::Path;

use sieve::{OfflineSieve, Sieve, SieveError};
use tempfile::TempDir;

use crate::conformance::Model;

/// An obstacle at the path where a run is to be written.
#[derive(Debug, Clone, Copy)]
enum Obstacle {
    /// A folder: the file cannot be created.
    Folder,
    /// A link to a device that is always full: it is created, and then cannot be written.
    #[cfg(target_os = "linux")]
    FullDisk,
}

impl Obstacle {
    fn put(self, path: &Path) {
        match self {
            Self::Folder => fs::create_dir(path).expect("a folder"),
            #[cfg(target_os = "linux")]
            Self::FullDisk => std::os::unix::fs::symlink("/dev/full", path).expect("a link"),
        }
    }

    fn remove(self, path: &Path) {
        match self {
            Self::Folder => fs::remove_dir(path).expect("a folder"),
            #[cfg(target_os = "linux")]
            Self::FullDisk => fs::remove_file(path).expect("a link"),
        }
    }
}

/// Calls `operation` until it succeeds: once more with the obstacle in place, which may get past a
/// merge that can wait, and then without it. True if it failed.
fn overcome(
    obstacle: Obstacle,
    path: &Path,
    mut operation: impl FnMut() -> Result<(), SieveError>,
) -> bool {
    let check = |error: &SieveError| {
        let named = matches!(
            error,
            SieveError::Io { action: "create" | "write", path: found, .. } if found == path
        );
        assert!(named, "{error}");
    };
    let Err(error) = operation() else { return false };
    check(&error);
    if let Err(error) = operation() {
        check(&error);
        obstacle.remove(path);
        operation().expect("the way is free");
    }
    true
}

/// Offers keys with the `n`-th run in the way of an obstacle. True if it was met.
fn survives(obstacle: Obstacle, n: u32) -> bool {
    let dir = TempDir::new().expect("a folder");
    let path = dir.path().join(format!("seen-{n:08}.run"));
    let mut sieve = OfflineSieve::create(dir.path(), 3).expect("a sieve");
    let mut model = Model::default();
    let mut met = false;
    obstacle.put(&path);
    for number in 0..150_u32 {
        let key = (number * 7 % 101).to_le_bytes();
        met |= overcome(obstacle, &path, || sieve.offer(&key));
        model.offer(&key);
        if number % 13 == 12 {
            let mut out = Vec::new();
            met |= overcome(obstacle, &path, || sieve.flush(&mut |key| out.push(key.to_vec())));
            assert_eq!(out, model.flush(), "run {n} failed");
        }
    }
    assert_eq!(sieve.stats().offered, 150);
    met
}

fn check_every_run(obstacle: Obstacle) {
    let failures = (0..1000).take_while(|&n| survives(obstacle, n)).count();
    assert!((30..1000).contains(&failures), "{failures} runs were in the way");
}

#[test]
fn a_run_that_cannot_be_created_loses_nothing() {
    check_every_run(Obstacle::Folder);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing() {
    check_every_run(Obstacle::FullDisk);
}

#[cfg(unix)]
#[test]
fn a_run_that_cannot_be_removed_loses_nothing() {
    for n in 0..7_u32 {
        let dir = TempDir::new().expect("a folder");
        let mut sieve = OfflineSieve::create(dir.path(), 1).expect("a sieve");
        let mut model = Model::default();
        let mut errors = 0;
        for number in 0..40_u32 {
            let key = (number / 2).to_le_bytes();
            if let Err(error) = sieve.offer(&key) {
                let path = dir.path().join(format!("seen-{n:08}.run"));
                assert!(
                    matches!(&error, SieveError::Io { action: "remove", path: p, .. } if *p == path),
                    "{error}"
                );
                errors += 1;
                sieve.offer(&key).expect("the second time");
            }
            model.offer(&key);
            if sieve.stats().seen == 7 && errors == 0 {
                stand_in_for(&dir.path().join(format!("seen-{n:08}.run")));
            }
        }
        let mut out = Vec::new();
        sieve.flush(&mut |key| out.push(key.to_vec())).expect("a flush");
        assert_eq!(out, model.flush());
        assert_eq!(errors, 1, "run {n}");
    }
}

/// Puts a folder in the place of the file at `path`.
#[cfg(unix)]
fn stand_in_for(path: &Path) {
    match fs::remove_file(path) {
        Ok(()) => fs::create_dir(path).expect("a folder"),
        Err(error) => assert_eq!(error.kind(), io::ErrorKind::IsADirectory, "{error}"),
    }
}
