//! Crashes and damage: each operation fails once, each byte is changed, each file is cut at each length.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use durable::{Disk, Fault, Seal, read_checked, read_sealed, seal, unseal, write_checked};

const MAGIC: [u8; 8] = *b"DURABLE\x02";

fn names(dir: &Path) -> usize {
    fs::read_dir(dir).expect("a folder").count()
}

/// Calls `check` with every cut of `whole`, and with every byte of it changed.
fn each_damage(whole: &[u8], mut check: impl FnMut(&[u8])) {
    for length in 0..whole.len() {
        check(&whole[..length]);
    }
    for at in 0..whole.len() {
        let mut bytes = whole.to_vec();
        bytes[at] ^= 1;
        check(&bytes);
    }
}

#[test]
fn replacing_a_file_is_atomic_whichever_operation_fails() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("file");
    let (old, new) = (vec![1; 1000], vec![2; 1500]);
    for is_lasting in [false, true] {
        let mut failures = 0;
        for n in 0.. {
            durable::replace(&path, &old).expect("room");
            let disk = Disk::failing(n..if is_lasting { u64::MAX } else { n + 1 });
            let replaced: io::Result<()> =
                disk.replace_with(&path, |file| disk.write_all(file, &new));
            let found = fs::read(&path).expect("it exists");
            assert!(found == old || found == new, "operation {n}");
            // A disk that fails for good keeps the temporary file.
            assert!(is_lasting || names(dir.path()) == 1, "operation {n}");
            // After the rename only the sync of the folder can fail.
            assert_eq!(found == new, n >= 11, "operation {n}");
            if replaced.is_ok() {
                break;
            }
            failures += 1;
        }
        // One creation, eight pieces, a sync, a rename and the sync of the folder.
        assert_eq!(failures, 12);
    }
}

#[test]
fn a_writer_error_keeps_the_old_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("file");
    durable::replace(&path, "old").expect("room");
    let replaced: io::Result<()> = durable::replace_with(&path, |file| {
        file.write_all(b"half")?;
        Err(io::ErrorKind::TimedOut.into())
    });
    assert_eq!(replaced.expect_err("the error of the writer").kind(), io::ErrorKind::TimedOut);
    assert_eq!((fs::read(&path).expect("it exists"), names(dir.path())), (b"old".to_vec(), 1));
}

#[test]
fn a_checked_file_with_any_damage_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("file");
    let missing = read_checked(&path, MAGIC).expect_err("no file");
    assert!(matches!(missing, Fault::Io(error) if error.kind() == io::ErrorKind::NotFound));
    for content in [&b""[..], b"content"] {
        write_checked(&path, MAGIC, content).expect("room");
        assert_eq!(read_checked(&path, MAGIC).expect("whole"), content);
        let whole = fs::read(&path).expect("it exists");
        each_damage(&whole, |bytes| {
            fs::write(&path, bytes).expect("room");
            match read_checked(&path, MAGIC).expect_err("damage") {
                Fault::Version { found, expected } => assert_eq!((found, expected), (3, 2)),
                Fault::Damaged { offset, .. } => assert!(offset <= bytes.len() as u64),
                Fault::Io(error) => panic!("{error}"),
            }
        });
    }
}

#[test]
fn a_text_with_any_damage_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("file");
    assert_eq!(read_sealed(&path).expect("no file"), Some(String::new()));
    let text = "http://a.test/\nsitemap:http://b.test/s.xml\n";
    let whole = seal(text);
    assert_eq!((unseal(&whole), unseal(text)), (Seal::Good(text), Seal::None));
    for length in text.len() + 1..whole.len() {
        assert_eq!(unseal(&whole[..length]), Seal::Broken, "{length}");
    }
    each_damage(whole.as_bytes(), |bytes| {
        fs::write(&path, bytes).expect("room");
        assert_eq!(read_sealed(&path).expect("a file"), None);
    });
    durable::replace(&path, &whole).expect("room");
    assert_eq!(read_sealed(&path).expect("a file").as_deref(), Some(text));
}
