//! Folders with changed, truncated or invented bytes. The result must be an error that names the file.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use graph::{Graph, GraphError, NodeId};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{VARIED, build, folder};

const FILES: [&str; 4] = ["manifest", "links-1.properties", "links-1.graph", "links-1.offsets"];

/// Checks that opening `dir` fails with an error that names the damaged `file`.
fn check_refused(dir: &Path, file: &str, what: &str) {
    match Graph::open(dir) {
        Ok(_) => panic!("{file} with {what} was opened"),
        Err(GraphError::Damaged { file: blamed, offset, .. }) => {
            assert_eq!(blamed, dir.join(file), "{what}");
            assert!(offset <= fs::metadata(&blamed).expect("a file").len(), "{what}");
        }
        // A manifest with another generation is impossible: its checksum would differ.
        Err(error) => panic!("{file} with {what}: {error}"),
    }
}

#[test]
fn every_flipped_byte_is_detected() {
    let dir = folder();
    build(dir.path(), 16, &VARIED);
    for file in FILES {
        let path = dir.path().join(file);
        let good = fs::read(&path).expect("a file");
        for at in 0..good.len() {
            for mask in [0x01, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] ^= mask;
                fs::write(&path, bad).expect("written");
                check_refused(dir.path(), file, &format!("byte {at} changed by {mask:#x}"));
            }
        }
        fs::write(&path, &good).expect("written");
    }
    Graph::open(dir.path()).expect("the graph as it was");
}

#[test]
fn every_truncated_or_extended_file_is_detected() {
    let dir = folder();
    build(dir.path(), 16, &VARIED);
    for file in FILES {
        let path = dir.path().join(file);
        let good = fs::read(&path).expect("a file");
        for len in 0..good.len() {
            fs::write(&path, &good[..len]).expect("written");
            check_refused(dir.path(), file, &format!("only {len} bytes"));
        }
        for excess in [&b"\0"[..], b"\n", b"# sum 00000000\n"] {
            fs::write(&path, [&good, excess].concat()).expect("written");
            check_refused(dir.path(), file, "more bytes");
        }
        fs::write(&path, &good).expect("written");
    }
}

#[test]
fn a_missing_file_is_named() {
    for file in FILES {
        let dir = folder();
        build(dir.path(), 16, &VARIED);
        fs::remove_file(dir.path().join(file)).expect("removed");
        let error = Graph::open(dir.path()).expect_err(file);
        let GraphError::Io { path, .. } = error else { panic!("{error}") };
        assert_eq!(path, dir.path().join(file));
    }
}

/// Reads arbitrary bits as a graph, without a checksum.
fn check_import(bytes: &[u8], nodes: u32, arcs: u64, window: u32, interval: u32) {
    let dir = folder();
    let base = dir.path().join("any");
    let text =
        format!("nodes={nodes}\narcs={arcs}\nwindowsize={window}\nminintervallength={interval}\n");
    fs::write(base.with_extension("properties"), text).expect("written");
    fs::write(base.with_extension("graph"), bytes).expect("written");
    match Graph::import(&base) {
        Err(GraphError::Damaged { .. }) => {}
        Err(error) => panic!("{error}"),
        Ok(graph) => {
            // The bits are valid by chance. The two ways of reading must then agree.
            let mut count = 0;
            for node in 0..nodes {
                let list = graph.successors(NodeId(node));
                assert!(list.is_sorted_by(|a, b| a < b) && list.iter().all(|to| to.0 < nodes));
                count += list.len() as u64;
            }
            assert_eq!(count, graph.arcs());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_bytes_are_opened_or_refused(
        bytes in vec(any::<u8>(), 0..40), nodes in 0..12_u32, arcs in 0..40_u64,
        window in 0..9_u32, interval in prop_oneof![Just(0), 2..6_u32],
    ) {
        check_import(&bytes, nodes, arcs, window, interval);
    }

    /// Nearly valid bits reach deeper parts of the decoder than random ones.
    #[test]
    fn a_graph_with_flipped_bits_is_opened_or_refused(
        flips in vec((0..400_usize, 0..8_u32), 1..3), arcs in 25..40_u64,
    ) {
        static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| {
            let dir = folder();
            build(dir.path(), 16, &VARIED);
            fs::read(dir.path().join("links-1.graph")).expect("a file")
        });
        let mut bytes = GOOD.clone();
        for (at, bit) in flips {
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
        }
        check_import(&bytes, 16, arcs, 7, 4);
    }
}

/// γ codes of 2^32 – 1 and of 2^63 successors, and more nodes than bits. All are refused before any allocation.
#[test]
fn excessive_numbers_are_refused() {
    check_import(&[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], 8, 8, 7, 4);
    check_import(&[0; 64], 8, 8, 7, 4);
    check_import(&[0xff; 8], u32::MAX, u64::MAX, 7, 4);
    check_import(&[], 1, 0, 7, 4);
}
