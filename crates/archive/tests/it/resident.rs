//! The memory growth of a process while it writes one file whose index is far larger. The writer has a process of its
//! own, so that the operating system measures it alone.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

use archive::{Archive, Draft, Kind, WarcWriter, WriterOptions};

const DIR: &str = "ARCHIVE_TEST_RESIDENT";
const RECORDS: u32 = 8_000;
/// Each line has its URL twice. All lines together have some 32 MB.
const URL_BYTES: usize = 2_000;
/// Lines in memory, runs that are merged, and the compressor.
const GROWTH_BYTES_MAX: u64 = 16 << 20;

fn url(number: u32) -> String {
    // The order of the lines is not that of the records.
    format!("http://a.example/{}/{}", number.wrapping_mul(40_503) % 65_536, "x".repeat(URL_BYTES))
}

/// The peak memory of this process.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    1024 * line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number")
}

/// The child process: writes a file and prints the memory growth.
#[test]
fn child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let dir = Path::new(&dir);
    let before = peak_bytes();
    let mut writer = WarcWriter::create(dir, WriterOptions::default()).expect("a folder");
    for number in 0..RECORDS {
        let draft = Draft {
            kind: Kind::Resource,
            date_s: 1_700_000_000,
            date_us: 0,
            target: Some(&url(number)),
            content_type: "text/plain",
            extra: &[],
            block: b"text",
            payload_offset: 0,
        };
        writer.write(&draft).expect("written");
    }
    writer.finish().expect("an index");
    let grown = peak_bytes() - before;
    // And an index that is made again takes no more.
    let archive = Archive::open(dir).expect("a folder");
    fs::remove_file(dir.join(format!("{}.cdxj", archive.files()[0]))).expect("an index");
    assert_eq!(archive.captures(&url(RECORDS - 1)).expect("looked up").len(), 1);
    let again = peak_bytes() - before;
    fs::write(dir.join("grown"), format!("{grown} {again}")).expect("written");
}

#[test]
fn a_large_index_does_not_stay_in_memory() {
    let dir = tempfile::tempdir().expect("a folder");
    let status = Command::new(std::env::current_exe().expect("this program"))
        .args(["resident::child", "--exact"])
        .env(DIR, dir.path())
        .status();
    assert!(status.expect("it runs").success());
    let grown = fs::read_to_string(dir.path().join("grown")).expect("a number");
    let is_small = |bytes: &str| bytes.parse::<u64>().expect("a number") < GROWTH_BYTES_MAX;
    assert!(grown.split(' ').all(is_small), "{grown}");
    let archive = Archive::open(dir.path()).expect("a folder");
    let cdxj = fs::read_to_string(dir.path().join(format!("{}.cdxj", archive.files()[0])));
    let cdxj = cdxj.expect("an index");
    assert!(cdxj.len() > 30_000_000, "{}", cdxj.len());
    let lines: Vec<&str> = cdxj.lines().skip(1).collect();
    assert!(lines.len() == RECORDS as usize && lines.is_sorted());
    for number in [0, 7, RECORDS / 2] {
        assert_eq!(archive.captures(&url(number)).expect("looked up").len(), 1);
    }
}
