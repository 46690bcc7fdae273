//! The comparison of a CDXJ file with its WARC file.
//!
//! What lives here: the sum of the lines that the records of a file give, and its comparison with the lines in the
//! CDXJ file. What does not: the update of a CDXJ file (`cdx/mod.rs`), and the check of the records, which the reader
//! makes.
//!
//! **Invariant.** Memory does not depend on the number of lines. A sum of hashes does not depend on their order.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::cdx::{self, CdxFile};
use crate::{Archive, ArchiveError, CdxLine, Record};

/// The lines of some records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CdxSum {
    lines: u64,
    hashes: u64,
}

impl CdxSum {
    /// Takes the line of a record, if it has one.
    pub fn add(&mut self, record: &Record) {
        let line = CdxLine::of(record).filter(|line| line.location.length > 0);
        if let Some(line) = line {
            self.add_line(&line);
        }
    }

    fn add_line(&mut self, line: &CdxLine) {
        let mut hasher = DefaultHasher::new();
        line.to_text().hash(&mut hasher);
        self.lines += 1;
        self.hashes = self.hashes.wrapping_add(hasher.finish());
    }
}

/// The state of a CDXJ file compared with its WARC file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CdxState {
    /// It has a line for every record, and no other.
    Whole,
    /// The CDXJ file is missing or older than the WARC file. The next lookup rebuilds it.
    Behind,
}

impl Archive {
    /// Compares the CDXJ file of a WARC file with the lines of its records. Returns an error that names the file if
    /// they differ.
    pub fn check_cdx(&self, file: &str, records: &CdxSum) -> Result<CdxState, ArchiveError> {
        let warc = self.path(file)?;
        let path = cdx::path_of(&warc);
        let damaged = |what| ArchiveError::Damaged { path: path.clone(), offset: 0, what };
        let Some(mut cdx) = CdxFile::open(&warc)? else {
            let is_there = path.try_exists().map_err(ArchiveError::io(&path))?;
            let what = "it does not fit its archive file; delete it, it is made again";
            return if is_there { Err(damaged(what)) } else { Ok(CdxState::Behind) };
        };
        let about = fs::metadata(&warc).map_err(ArchiveError::io(&warc))?;
        if !cdx.is_current(&about) {
            return Ok(CdxState::Behind);
        }
        if !cdx.is_sound()? {
            let what = "its lines are not those that were written; the next lookup or crawl makes it again";
            return Err(damaged(what));
        }
        let (mut sum, mut before, mut sorted) = (CdxSum::default(), String::new(), true);
        cdx.each(&mut |line| {
            let text = line.to_text();
            sorted &= before <= text;
            before = text;
            // A lost capture has no record.
            if !line.is_lost() {
                sum.add_line(&line);
            }
        })?;
        if !sorted || sum != *records {
            return Err(damaged(
                "its lines are not those of the records; delete it, it is made again",
            ));
        }
        Ok(CdxState::Whole)
    }
}
