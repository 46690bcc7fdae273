//! Going on where an earlier run ended (W4): the archive is read again.
//!
//! What lives here: the two passes over the archive. The first puts the URLs into the sieve that need
//! no further visit; the second reads what was archived for links, as if it had just been fetched.
//! What does not: the repair of a torn archive, which comes before.
//!
//! **Invariant.** Afterwards the frontier is where it was when the last record was written, except
//! that hosts set aside are tried again. A host keeps the silence that its last request asks for.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use archive::{Archive, ArchiveError, Record, parse_http};

use crate::answer::{Answers, Purpose};
use crate::clock::Clock;
use crate::error::CrawlError;
use crate::frontier::Frontier;
use crate::journal::{self, Entry};

/// What was found in the archive.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    /// Whether there was anything.
    pub(crate) resumed: bool,
    /// Records that could not be read.
    pub(crate) damaged: u64,
}

/// Brings an empty `frontier` to where the archive in `dir` ends; `tick` is called at every record.
pub(crate) fn replay(
    dir: &Path,
    frontier: &mut Frontier,
    answers: &Answers,
    seeds: &[String],
    clock: &dyn Clock,
    stop: &AtomicBool,
    tick: &mut dyn FnMut(&Frontier),
) -> Result<Replayed, CrawlError> {
    let mut replayed = Replayed::default();
    archive::repair(dir)?;
    let archive = if dir.exists() { Some(Archive::open(dir)?) } else { None };
    if let Some(archive) = &archive {
        replayed.damaged = each(archive, stop, &mut |url, entry, record| {
            replayed.resumed = true;
            let status = parse_http(&record.block).map_or(0, |http| http.status);
            tick(frontier);
            // A URL that was read as a robots.txt may yet be a page: some redirect it to the home page.
            if entry.purpose != Purpose::Robots && frontier.is_final(&entry, status) {
                frontier.offer(url)?;
            }
            Ok(())
        })?;
        frontier.forget()?;
    }
    for seed in seeds {
        frontier.offer_seed(seed)?;
    }
    if let Some(archive) = &archive {
        each(archive, stop, &mut |url, entry, record| {
            let http = parse_http(&record.block).ok().filter(|_| entry.failure.is_none());
            let read = |http| answers.read(entry.purpose, url, &http, record.date_s, entry.depth);
            let answered = journal::read_unstored(record).or_else(|| http.map(read));
            tick(frontier);
            frontier.replay(url, &entry, record.date_s, answered)
        })?;
    }
    frontier.end_replay(clock.now_ms(), clock.unix_s())?;
    Ok(replayed)
}

/// Hands every record about a visit to `take`; how many could not be read.
fn each(
    archive: &Archive,
    stop: &AtomicBool,
    take: &mut dyn FnMut(&str, Entry, &Record) -> Result<(), CrawlError>,
) -> Result<u64, CrawlError> {
    let mut damaged = 0;
    for record in archive.records() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        match record {
            Ok(record) => {
                if let (Some(entry), Some(url)) = (Entry::read(&record), &record.target) {
                    take(url, entry, &record)?;
                }
            }
            Err(error @ ArchiveError::Io { .. }) => return Err(error.into()),
            Err(_) => damaged += 1,
        }
    }
    Ok(damaged)
}
