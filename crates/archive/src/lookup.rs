//! Asking the CDXJ files of an archive.
//!
//! What lives here: [`Lookups`], which has a CDXJ file made again before it is asked if it is behind or its checksum is wrong:
//! in its place, or aside, for those who change nothing. What does not: making it (`cdx.rs`), and what is asked (`folder.rs`).
//!
//! **Invariant.** Only lines answer that are as they were written. A checksum is computed once for each file that is asked,
//! however often that is, and what is made aside is made once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::ArchiveError;
use crate::cdx::{self, CdxFile};
use crate::disk::System;

/// What is known of the CDXJ files of an archive.
#[derive(Debug, Default)]
pub(crate) struct Lookups {
    /// Those whose checksum was right, by their WARC files.
    sound: Mutex<BTreeMap<PathBuf, (u64, Option<SystemTime>)>>,
    /// Those that were made aside, if nothing may be changed.
    aside: Option<Mutex<BTreeMap<PathBuf, CdxFile>>>,
}

impl Lookups {
    /// Those of one who changes nothing.
    pub(crate) fn unchanging() -> Self {
        Self { aside: Some(Mutex::default()), ..Self::default() }
    }

    /// Asks the CDXJ file of a WARC file; one that turns out to be damaged is made again, and of what is lost it does not
    /// know more than that it is.
    pub(crate) fn ask<T>(
        &self,
        warc: &Path,
        ask: &mut dyn FnMut(&mut CdxFile) -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        if let Some(aside) = &self.aside {
            return self.ask_aside(aside, warc, ask);
        }
        let mut cdx = cdx::current(&mut System, warc)?;
        match self.check(warc, &mut cdx).and_then(|()| ask(&mut cdx)) {
            Err(ArchiveError::Damaged { .. }) => {
                cdx::disbelieve(&mut System, warc)?;
                ask(&mut cdx::current(&mut System, warc)?)
            }
            answer => answer,
        }
    }

    /// The same, but the one that is made again is none of the archive.
    fn ask_aside<T>(
        &self,
        aside: &Mutex<BTreeMap<PathBuf, CdxFile>>,
        warc: &Path,
        ask: &mut dyn FnMut(&mut CdxFile) -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        let made = || aside.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made().remove(warc);
        if known.is_none()
            && let Some(mut cdx) = cdx::up_to_date(warc)?
        {
            match self.check(warc, &mut cdx) {
                Err(ArchiveError::Damaged { .. }) => {}
                checked => return checked.and_then(|()| ask(&mut cdx)),
            }
        }
        let mut cdx = known.map_or_else(|| cdx::made_aside(warc), Ok)?;
        let answer = ask(&mut cdx);
        made().insert(warc.to_owned(), cdx);
        answer
    }

    /// Fails unless the lines are as they were written.
    fn check(&self, warc: &Path, cdx: &mut CdxFile) -> Result<(), ArchiveError> {
        let stamp = cdx.stamp();
        let known = || self.sound.lock().unwrap_or_else(PoisonError::into_inner);
        if known().get(warc) == Some(&stamp) {
            return Ok(());
        }
        cdx.check()?;
        known().insert(warc.to_owned(), stamp);
        Ok(())
    }
}
