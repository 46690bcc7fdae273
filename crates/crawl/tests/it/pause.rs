//! A crawl that is held by `frontier/pause`.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crawl::{Config, Snapshot, SystemClock, run};

use crate::support::{config, crawl, dirs, server};

#[test]
fn a_crawl_pauses_while_the_file_exists() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let pause = dir.path().join("frontier/pause");
    fs::create_dir_all(dir.path().join("frontier")).expect("a folder");
    fs::write(&pause, "").expect("a file");
    let (paused, after) = (AtomicU64::new(0), AtomicU64::new(0));
    let watch = |snapshot: &Snapshot| {
        if snapshot.paused {
            assert_eq!(server.log().len(), 0, "asked while paused");
            if paused.fetch_add(1, Ordering::Relaxed) == 2 {
                fs::remove_file(&pause).expect("it is there");
            }
        } else {
            after.fetch_max(snapshot.report.pages, Ordering::Relaxed);
        }
    };
    let config = Config { pages_max: 20, ..config(&server) };
    let (seeds, stop) = (server.web().seeds(), AtomicBool::new(false));
    let clock = Arc::new(SystemClock::new());
    let report = run(&dirs(dir.path()), &config, &seeds, clock, &stop, &watch).expect("it runs");
    assert!(paused.into_inner() >= 3 && after.into_inner() == 20, "{report:?}");
    assert!(report.pages == 20 && report.paused_ms >= 400, "{report:?}");
}

/// The time limit of a run also counts while it is paused.
#[test]
fn a_time_limit_ends_a_paused_crawl() {
    let server = server();
    let dir = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir_all(dir.path().join("frontier")).expect("a folder");
    fs::write(dir.path().join("frontier/pause"), "").expect("a file");
    let config = Config { time_s_max: 1, ..config(&server) };
    let report = crawl(dir.path(), &config, &server.web().seeds()).expect("it ends");
    assert_eq!((report.limit.as_deref(), report.requests), (Some("time_s_max"), 0), "{report:?}");
    assert!(report.paused_ms >= 500 && report.elapsed_ms < 6_000, "{report:?}");
}
