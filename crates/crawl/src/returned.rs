//! Archive files that were gone for a while.
//!
//! What lives here: [`Returned`], the files that a run has missed and that are there again. What they have may have been asked
//! for meanwhile as if it were new: then a URL has two first answers, and no visit alone tells how many pages there are.
//! What does not: counting (`share.rs`), and what is missing now (`gaps.rs`).
//!
//! **Invariant.** A file that a run has missed is in the list before that run asks for anything.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use archive::Archive;

use crate::error::CrawlError;

const NAME: &str = "gone";

/// Files of the archive that were gone, by their places in it.
#[derive(Debug, Default)]
pub(crate) struct Returned {
    places: BTreeSet<usize>,
}

impl Returned {
    /// Takes note of files that are gone; those that are there again.
    pub(crate) fn note(
        frontier: &Path,
        archive: &Archive,
        gone: &BTreeSet<String>,
    ) -> Result<Returned, CrawlError> {
        let names = read(frontier)?;
        if !gone.is_subset(&names) {
            let all: Vec<&str> = names.union(gone).map(String::as_str).collect();
            write(frontier, &(all.join("\n") + "\n"))?;
        }
        Ok(Returned::among(archive, &names))
    }

    /// Those that are there again.
    pub(crate) fn read(frontier: &Path, archive: &Archive) -> Result<Returned, CrawlError> {
        Ok(Returned::among(archive, &read(frontier)?))
    }

    fn among(archive: &Archive, names: &BTreeSet<String>) -> Returned {
        let files = archive.files().iter().enumerate();
        let places = files.filter(|(_, name)| names.contains(*name)).map(|(place, _)| place);
        Returned { places: places.collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether the file at this place is one.
    pub(crate) fn has(&self, place: usize) -> bool {
        self.places.contains(&place)
    }
}

/// The files that were gone at some time.
fn read(frontier: &Path) -> Result<BTreeSet<String>, CrawlError> {
    let path = frontier.join(NAME);
    match fs::read(&path) {
        Ok(text) => Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(source) => Err(CrawlError::Io { path, source }),
    }
}

fn write(frontier: &Path, text: &str) -> Result<(), CrawlError> {
    let path = frontier.join(NAME);
    let write = || -> io::Result<()> {
        let fresh = frontier.join("gone.tmp");
        let mut file = File::create(&fresh)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, &path)?;
        File::open(frontier)?.sync_all()
    };
    write().map_err(CrawlError::io(&path))
}
