//! Measures the memory of reading hostile Markdown. A child process reads it, so that the operating system counts only
//! this memory.

#![cfg(target_os = "linux")]

use std::fs;
use std::process::Command;

use page::{Limits, parse};

use crate::shared::{HERE, url};

const PIECE: &str = "PAGE_TEST_PIECE";
const BODY_BYTES: usize = 32 << 20;
/// The limit covers the body, its decoded text, the tree of the parser, the HTML, and the program itself.
const PEAK_BYTES_MAX: u64 = 200 << 20;

/// The peak memory of this process.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    1024 * line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number")
}

/// Reads one page in the child process.
#[test]
fn child() {
    let Ok(piece) = std::env::var(PIECE) else { return };
    let body = piece.repeat(BODY_BYTES / piece.len());
    let limits = Limits { body_bytes_max: BODY_BYTES, ..Limits::default() };
    let page = parse(&url(HERE), Some("text/markdown"), body.as_bytes(), &limits);
    assert!(page.expect("a page").text_is_cut);
    let peak = peak_bytes();
    assert!(peak < PEAK_BYTES_MAX, "{piece:?}: {peak} bytes");
}

#[test]
fn markdown_is_read_in_bounded_memory() {
    let table = format!("{}\n{}\n", "|a".repeat(64), "|-".repeat(64));
    let pieces = [
        "[a](<", "*a_ ", ">", "> ", "* a\n", "- > a\n", "[", "~~a", "|a\n|-\n", &table, "<",
        "a\n\n",
    ];
    for piece in pieces {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["resident::child", "--exact", "--nocapture"])
            .env(PIECE, piece)
            .output()
            .expect("it runs");
        let report = String::from_utf8_lossy(&child.stderr);
        assert!(child.status.success(), "{report}");
    }
}
