//! Queries of the CDXJ files of an archive.
//!
//! What lives here: [`Lookups`], which rebuilds an outdated or damaged CDXJ file before a query. The new file
//! replaces the old one, or stays outside an archive that may not be changed. What does not: building a CDXJ file
//! (`cdx/mod.rs`), and the queries (`folder.rs`).
//!
//! **Invariant.** A query reads only lines that match their checksum. The checksum of each file is computed once,
//! whatever the number of queries. A file outside the archive is built once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use durable::Disk;

use crate::ArchiveError;
use crate::cdx::{self, CdxFile};

/// State of the CDXJ files of an archive.
#[derive(Debug, Default)]
pub(crate) struct Lookups {
    /// CDXJ files whose checksum was right, by WARC file.
    sound: Mutex<BTreeMap<PathBuf, (u64, Option<SystemTime>)>>,
    /// CDXJ files that were rebuilt outside the archive, if the archive may not be changed.
    aside: Option<Mutex<BTreeMap<PathBuf, CdxFile>>>,
}

impl Lookups {
    /// Lookups that do not change the archive.
    pub(crate) fn unchanging() -> Self {
        Self { aside: Some(Mutex::default()), ..Self::default() }
    }

    /// Queries the CDXJ file of a WARC file. A damaged CDXJ file is rebuilt. The new file records that captures were
    /// lost, without their lines.
    pub(crate) fn ask<T>(
        &self,
        warc: &Path,
        ask: &mut dyn FnMut(&mut CdxFile) -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        if let Some(aside) = &self.aside {
            return self.ask_aside(aside, warc, ask);
        }
        let mut cdx = cdx::current(&Disk::default(), warc)?;
        match self.check(warc, &mut cdx).and_then(|()| ask(&mut cdx)) {
            Err(ArchiveError::Damaged { .. }) => {
                cdx::disbelieve(&Disk::default(), warc)?;
                ask(&mut cdx::current(&Disk::default(), warc)?)
            }
            answer => answer,
        }
    }

    /// Queries the CDXJ file of a WARC file. A rebuilt CDXJ file stays outside the archive.
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
