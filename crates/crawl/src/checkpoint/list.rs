//! The file `frontier/visits/files`: the archive files that there are logs of, a name a line.
//!
//! What lives here: reading it and adding to it. What does not: what follows from a name (`mod.rs`).
//!
//! **Invariant.** The last line is a checksum (`durable::seal`), and the file is replaced at once: every name in it was
//! written. A list of none says that there are no logs, and that a crawl knows it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use durable::{Seal, replace, seal, unseal};

const NAME: &str = "files";

/// What the list says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Listed {
    /// There are logs of these.
    Names(BTreeSet<String>),
    /// There is no list.
    Nothing,
    /// It is not as it was written.
    Unsound,
}

pub(super) fn path(dir: &Path) -> PathBuf {
    dir.join(NAME)
}

/// Reads the list in the folder of the logs.
pub(super) fn read(dir: &Path) -> Listed {
    let bytes = match fs::read(path(dir)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Listed::Nothing,
        Err(_) => return Listed::Unsound,
        Ok(bytes) => bytes,
    };
    let Ok(text) = str::from_utf8(&bytes) else { return Listed::Unsound };
    let Seal::Good(lines) = unseal(text) else { return Listed::Unsound };
    let names: BTreeSet<String> = lines.lines().map(str::to_owned).collect();
    let is_sound = names.iter().all(|name| archive::is_warc_name(name));
    if is_sound { Listed::Names(names) } else { Listed::Unsound }
}

/// Writes a list of none where there is none to be believed.
pub(super) fn begin(dir: &Path) -> io::Result<()> {
    match read(dir) {
        Listed::Names(_) => Ok(()),
        Listed::Nothing | Listed::Unsound => replace(&path(dir), seal("")),
    }
}

/// Adds a name; of a list that cannot be believed nothing stays.
pub(super) fn add(dir: &Path, name: &str) -> io::Result<()> {
    let mut names = match read(dir) {
        Listed::Names(names) => names,
        Listed::Nothing | Listed::Unsound => BTreeSet::new(),
    };
    names.insert(name.to_owned());
    let lines: String = names.iter().flat_map(|name| [name.as_str(), "\n"]).collect();
    replace(&path(dir), seal(&lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_with_a_wrong_bit_no_name_is_believed() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dir = dir.path();
        assert_eq!(read(dir), Listed::Nothing);
        begin(dir).expect("room");
        assert_eq!(read(dir), Listed::Names(BTreeSet::new()));
        let (one, two) =
            ("crivello-00001.warc.gz".to_owned(), "crivello-00002.warc.zst".to_owned());
        for name in [&two, &one, &two] {
            add(dir, name).expect("room");
        }
        let both = Listed::Names(BTreeSet::from([one, two]));
        begin(dir).expect("there is one");
        assert_eq!(read(dir), both);
        let whole = fs::read(path(dir)).expect("it is there");
        for bad in [&whole[1..], b"", b"\xFF"] {
            fs::write(path(dir), bad).expect("room");
            assert_eq!(read(dir), Listed::Unsound, "{bad:?}");
        }
    }
}
