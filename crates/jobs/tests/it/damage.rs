//! Flipped and missing bytes in the files of the page table and the clusters: an error that names the
//! file, or the same answers; never a panic, never another answer.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use collection::{Clusters, CollectionError, LinkGraph, PageTable};

use crate::small::{Small, html, prose};

/// Everything that can be read of the files under test, as text.
fn read_all(small: &Small) -> Result<String, CollectionError> {
    let table = PageTable::open(&small.collection.pages_dir())?;
    let directory = table.directory();
    let mut text = format!("{:?}\n{:?}\n", directory.entries(), directory.redirects());
    for entry in directory.entries() {
        writeln!(text, "{:?}", table.page(entry.pointer)?).expect("memory");
    }
    if let Some(folding) = Clusters::open(&small.collection, directory)? {
        let places = 0..directory.entries().len();
        let heads: Vec<_> = places.map(|place| folding.representative(place)).collect();
        write!(text, "{heads:?}").expect("memory");
    }
    if let Some(linking) = LinkGraph::open(&small.collection)? {
        write!(text, "{} {}", linking.source, linking.graph.arcs()).expect("memory");
    }
    Ok(text)
}

fn small() -> Small {
    let small = Small::new();
    small.archive(&[
        ("http://a.test/", 1, html("<title>A</title>", &prose(1))),
        (
            "http://b.test/",
            1,
            html("<title>B</title>", &format!("<a href=http://a.test/>a</a>{}", prose(2))),
        ),
        ("http://b.test/r", 1, "HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n".to_owned()),
    ]);
    small.build();
    small
}

fn ours(small: &Small) -> Vec<PathBuf> {
    let folders = [small.collection.pages_dir(), small.collection.dups_dir()];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.push(small.collection.graph_dir().join("source"));
    files
}

/// Damages a file in one way, reads everything, and puts it back; whether it was noticed.
fn with(file: &Path, damaged: &[u8], small: &Small, expected: &str, what: &str) -> bool {
    let whole = fs::read(file).expect("bytes");
    fs::write(file, damaged).expect("written");
    let read = read_all(small);
    match &read {
        Ok(text) => assert_eq!(text, expected, "{what} of {} changes the answer", file.display()),
        Err(error) => {
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            assert!(error.to_string().contains(&name), "{what} of {name}: {error}");
        }
    }
    fs::write(file, whole).expect("put back");
    read.is_err()
}

#[test]
fn a_flipped_byte_is_an_error_or_changes_nothing() {
    let small = small();
    let expected = read_all(&small).expect("readable");
    let mut errors = 0;
    for file in ours(&small) {
        let whole = fs::read(&file).expect("bytes");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            errors += u32::from(with(&file, &damaged, &small, &expected, &format!("byte {at}")));
        }
    }
    assert!(errors > 500, "only {errors} flips were noticed: is anything checked?");
}

#[test]
fn a_file_cut_short_is_an_error_or_changes_nothing() {
    let small = small();
    let expected = read_all(&small).expect("readable");
    let mut errors = 0;
    for file in ours(&small) {
        let whole = fs::read(&file).expect("bytes");
        for length in [0, 4, 8, 12, whole.len() / 2, whole.len() - 1] {
            let cut = &whole[..length.min(whole.len())];
            errors += u32::from(with(&file, cut, &small, &expected, &format!("{length} bytes")));
        }
    }
    assert!(errors > 20, "only {errors} cuts were noticed: is anything checked?");
}

/// A file of an older version gives a version error, and the stages rebuild it.
#[test]
fn a_file_of_another_version_is_reported_and_rebuilt() {
    let mut told = 0;
    for number in 0..ours(&small()).len() {
        let small = small();
        let expected = read_all(&small).expect("readable");
        let file = ours(&small).swap_remove(number);
        let mut bytes = fs::read(&file).expect("bytes");
        let version = bytes[7];
        bytes[7] -= 1;
        fs::write(&file, bytes).expect("written");
        if let Err(error) = read_all(&small) {
            let said = error.to_string();
            let (found, name) = (version - 1, file.display());
            let start = format!(
                "{name} has format version {found}, this program reads version {version}; `crivello "
            );
            assert!(said.starts_with(&start) && said.ends_with("` makes it again"), "{said}");
            told += 1;
        }
        small.build();
        let again = read_all(&small).expect("made again");
        // A part that is made again has a number of its own.
        assert_eq!(again.len(), expected.len(), "{}", file.display());
    }
    assert_eq!(told, 5, "directory, list of parts, part, clusters and source of the graph");
}

/// Each file is damaged once; it is named, removed and built again.
#[test]
fn damaged_files_are_discarded_and_rebuilt() {
    for number in 0..ours(&small()).len() {
        let small = small();
        let expected = read_all(&small).expect("readable");
        let file = ours(&small).swap_remove(number);
        assert!(collection::discard_damaged(&small.collection).expect("readable").is_empty());
        let mut bytes = fs::read(&file).expect("bytes");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&file, bytes).expect("written");
        let found = collection::discard_damaged(&small.collection).expect("readable");
        assert!(
            matches!(&found[..], [fault] if fault.to_string().starts_with(&*file.to_string_lossy()))
        );
        assert!(!file.exists());
        small.build();
        // A part that is built again has another number.
        assert_eq!(read_all(&small).expect("built").len(), expected.len(), "{}", file.display());
    }
}

/// The error of a missing file names the file and the command that rebuilds it.
#[test]
fn a_missing_file_error_names_the_rebuild_command() {
    let small = small();
    let table = PageTable::open(&small.collection.pages_dir()).expect("a table");
    fs::remove_file(small.collection.pages_dir().join("part-00000.pages")).expect("removed");
    let told = table.each_live(&mut |_, _| Ok(())).expect_err("gone").to_string();
    assert!(told.contains("part-00000.pages") && told.contains("crivello index"), "{told}");
    let links = small.collection.graph_dir().join("links");
    fs::remove_dir_all(links).expect("removed");
    let told = LinkGraph::open(&small.collection).err().expect("gone").to_string();
    assert!(told.contains("links") && told.contains("crivello index"), "{told}");
}
