//! Rank vectors: reading returns the exact bits written, or an error.

use std::fs;

use graph::{GraphError, read_ranks, write_ranks};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::folder;

proptest! {
    #[test]
    fn any_values_come_back(values in vec(any::<u64>().prop_map(f64::from_bits), 0..100)) {
        let dir = folder();
        let path = dir.path().join("a.ranks");
        write_ranks(&path, &values).expect("written");
        let read = read_ranks(&path).expect("what was just written");
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&read), bits(&values));
        prop_assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 1);
    }
}

#[test]
fn every_flipped_byte_and_every_truncation_is_found() {
    let dir = folder();
    let path = dir.path().join("a.ranks");
    write_ranks(&path, &[0.25, 0.5, 0.25]).expect("written");
    let good = fs::read(&path).expect("a file");
    assert_eq!(good.len(), 16 + 3 * 8 + 4);
    let check_refused = |bad: &[u8], what: &str| {
        fs::write(&path, bad).expect("written");
        match read_ranks(&path) {
            Err(GraphError::Damaged { file, offset, .. }) => {
                assert_eq!(file, path);
                assert!(offset <= bad.len() as u64);
            }
            other => panic!("{what}: {other:?}"),
        }
    };
    for at in 0..good.len() {
        for mask in [0x01, 0x80, 0xff] {
            let mut bad = good.clone();
            bad[at] ^= mask;
            check_refused(&bad, &format!("byte {at} changed by {mask:#x}"));
        }
        check_refused(&good[..at], &format!("only {at} bytes"));
    }
    check_refused(&[&good[..], b"\0"].concat(), "a byte more");
}

#[test]
fn the_old_vector_stands_until_the_new_one_is_whole() {
    let dir = folder();
    let path = dir.path().join("a.ranks");
    write_ranks(&path, &[1.0]).expect("written");
    // A folder at the path of the temporary file makes the write fail.
    fs::create_dir(dir.path().join("a.ranks.tmp")).expect("a folder");
    let error = write_ranks(&path, &[2.0]).expect_err("no file can be written");
    assert!(matches!(error, GraphError::Io { .. }), "{error}");
    assert_eq!(read_ranks(&path).expect("the old vector"), [1.0]);
}
