//! Rank vectors: reading returns the exact bits written, or an error.

use std::fs;

use graph::{GraphError, read_ranks, write_ranks};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::folder;

proptest! {
    #[test]
    fn any_values_round_trip(values in vec(any::<u64>().prop_map(f64::from_bits), 0..100)) {
        let dir = folder();
        let path = dir.path().join("a.ranks");
        write_ranks(&path, &values).expect("written");
        let read = read_ranks(&path).expect("what was just written");
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&read), bits(&values));
        prop_assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 1);
    }
}

/// The tests of `durable` have every damage. The count is what this format adds.
#[test]
fn a_damaged_vector_is_an_error_naming_the_file() {
    let dir = folder();
    let path = dir.path().join("a.ranks");
    write_ranks(&path, &[0.25, 0.5, 0.25]).expect("written");
    let good = fs::read(&path).expect("a file");
    assert_eq!(good.len(), 16 + 3 * 8 + 4);
    let seal = |content: &[u8]| [content, &crc32fast::hash(content).to_le_bytes()].concat();
    let mut flipped = good.clone();
    flipped[20] ^= 1;
    for bad in [
        flipped,
        good[..20].to_vec(),
        seal(b"CRVRANK\x02"),
        seal(&good[..8]),
        seal(&good[..32]),
        seal(&good[..39]),
    ] {
        fs::write(&path, &bad).expect("written");
        let error = read_ranks(&path).expect_err("damaged");
        let GraphError::Damaged { file, offset, .. } = error else { panic!("{error}") };
        assert!(file == path && offset <= bad.len() as u64);
    }
}

#[test]
fn the_old_vector_remains_until_the_new_is_complete() {
    let dir = folder();
    let path = dir.path().join("a.ranks");
    write_ranks(&path, &[1.0]).expect("written");
    // A folder at the path of the temporary file makes the write fail.
    fs::create_dir(dir.path().join("a.ranks.tmp")).expect("a folder");
    let error = write_ranks(&path, &[2.0]).expect_err("no file can be written");
    assert!(matches!(error, GraphError::Io { .. }), "{error}");
    assert_eq!(read_ranks(&path).expect("the old vector"), [1.0]);
}
