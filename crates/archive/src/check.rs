//! Whether a CDXJ file says of its WARC file what is true.
//!
//! What lives here: the sum of the lines that the records of a file give, and its comparison with those that are
//! there. What does not: bringing a CDXJ file up to date (`cdx.rs`); the records themselves, which whoever reads the
//! archive through has seen.
//!
//! **Invariant.** Memory does not depend on how many lines there are: a sum of hashes does not mind their order.

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

/// How a CDXJ file stands to its WARC file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CdxState {
    /// It has a line for every record, and no other.
    Whole,
    /// There is none, or the WARC file has changed since: the next lookup sees to it.
    Behind,
}

impl Archive {
    /// Compares the CDXJ file of a WARC file with the lines of its records; an error that names the file where it has
    /// others.
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
            // What is lost has no record.
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
