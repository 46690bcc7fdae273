//! The bytes on the page `docs/formats/sieve.md` are the bytes of the files.

use std::fs;
use std::path::Path;

use sieve::{KEY_BYTES_MAX, OfflineSieve, Sieve};
use tempfile::TempDir;

/// The example of `file` on the page: the block that begins with its name, bytes in hexadecimal
/// up to two blanks a line.
fn example(file: &str) -> Vec<u8> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/sieve.md");
    let page = fs::read_to_string(page).expect("the page");
    let (_, after) = page.split_once(&format!("```text\n{file}\n")).expect("an example");
    let (block, _) = after.split_once("```").expect("the end of the example");
    block
        .lines()
        .flat_map(|line| line.split("  ").next().unwrap_or_default().split_whitespace())
        .map(|byte| u8::from_str_radix(byte, 16).expect("a byte in hexadecimal"))
        .collect()
}

#[test]
fn file_bytes_match_the_documentation_page() {
    let dir = TempDir::new().expect("a folder");
    let check = |name: &str| {
        let expected = example(name);
        let found = fs::read(dir.path().join(name)).expect("a file");
        let found = &found[..found.len().min(expected.len())];
        assert!(found == expected, "{name} is {found:02x?}");
        expected.len()
    };
    let mut sieve = OfflineSieve::create(dir.path(), 8).expect("a sieve");
    for key in ["b", "a", "b"] {
        sieve.offer(key.as_bytes()).expect("an offer");
    }
    sieve.sync().expect("a sync");
    for name in ["pending.keys", "seen-00000000.run", "sieve.state"] {
        let bytes = fs::metadata(dir.path().join(name)).expect("a file").len();
        assert_eq!(check(name) as u64, bytes);
    }
    for key in ["c", "a"] {
        sieve.offer(key.as_bytes()).expect("an offer");
    }
    // Enough for the file to be written before the merge.
    for number in [1, 2] {
        sieve.offer(&vec![number; KEY_BYTES_MAX]).expect("an offer");
    }
    check("encountered.keys");
}
