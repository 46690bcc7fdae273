//! What a run is asked to ask for again.
//!
//! What lives here: [`Wanted`], which puts it on the medium, and takes it back where a limit leaves no room for it. What
//! does not: what is due by then (`replay.rs`), and how it is written (`mod.rs`).
//!
//! **Invariant.** It is on the medium before the seeds of the run are, together with those that are new, and before a visit
//! of the archive is read, however many there are: a run that is killed meanwhile has kept both or none of them.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Epochs, Extent};
use crate::config::Config;
use crate::error::CrawlError;
use crate::seeds::{Seed, unkept_lines};

/// What is wanted, and the moment it counts from.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// `None` if nothing is.
    pub(crate) extent: Option<Extent>,
    /// In seconds since 1970.
    pub(crate) now_s: i64,
    /// The recrawls that were not over before it was begun, if that has changed them.
    before: Option<Epochs>,
}

impl Wanted {
    /// Begins what the configuration asks for in an archive of these files, in a run that is given these addresses, and
    /// has these.
    pub(crate) fn begin(
        frontier: &Path,
        files: &[String],
        config: &Config,
        (given, seeds): (&[Seed], &[Seed]),
        now_s: i64,
    ) -> Result<Wanted, CrawlError> {
        let mut extent = Extent::of(config, given, now_s).filter(|_| config.store);
        if config.alone && extent.is_some() {
            extent = Some(Extent::list(config, lines(given, seeds), now_s));
        }
        let before = Epochs::read(frontier)?;
        let mut unkept = unkept_lines(frontier, seeds)?;
        if let Some(Extent::List { lines, .. }) = &extent {
            unkept.retain(|line| !lines.contains(line));
        }
        let after = Epochs::begin(frontier, extent.clone(), files, now_s, &unkept)?;
        let before = (before != after).then_some(before);
        Ok(Wanted { extent, now_s, before })
    }

    /// Leaves the recrawls as they were.
    pub(crate) fn take_back(&self, frontier: &Path) -> Result<(), CrawlError> {
        self.before.as_ref().map_or(Ok(()), |before| before.write(frontier))
    }
}

/// The addresses that a run was given, or else those of earlier runs, as they stand among the seeds.
pub(crate) fn lines(given: &[Seed], seeds: &[Seed]) -> BTreeSet<String> {
    let listed = if given.is_empty() { seeds } else { given };
    listed.iter().map(Seed::line).collect()
}
