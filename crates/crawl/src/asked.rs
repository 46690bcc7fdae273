//! Until when a crawl has asked anybody: the file `frontier/asked`.
//!
//! What lives here: [`AskedFile`], which a run keeps while requests are under way, and [`Asked`], what it tells the next
//! run. The archive has the moment at which a request began, and only once it is over; so it tells neither when the last
//! one was over nor whether there was one more when the run was killed. What does not: how long hosts are left alone
//! (`politeness.rs`).
//!
//! **Invariant.** While a request is under way, the file says so, and is no older than [`KEEP_MS`] but for the time that
//! the run holds still. A file that cannot be read tells nothing.

use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::clock::{Clock, Moment};
use crate::error::CrawlError;

/// The name of the file.
const NAME: &str = "asked";

/// How old the file may be while requests are under way.
const KEEP_MS: u64 = 100;

/// How long after the moment in the file a run may have gone on that was killed: twice that, and a bit.
const KILL_MS: u64 = 250;

/// The words for a run with requests under way, and for one without; they are of one length.
const OPEN: &str = "open";
const OVER: &str = "over";

/// What is known of the last requests of earlier runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Until when there were some.
    until: Moment,
    /// Whether there may have been some when the run ended: nothing else tells of those.
    pub(crate) is_open: bool,
}

impl Asked {
    #[cfg(test)]
    pub(crate) fn new(until: Moment, is_open: bool) -> Asked {
        Asked { until, is_open }
    }

    /// Reads the file in the folder `frontier`.
    pub(crate) fn read(frontier: &Path) -> Option<Asked> {
        Asked::parse(&fs::read_to_string(frontier.join(NAME)).ok()?)
    }

    fn parse(text: &str) -> Option<Asked> {
        let (moment, state) = text.strip_suffix('\n')?.split_once(' ')?;
        let (s, us) = moment.split_once('.')?;
        let until = Moment { s: s.parse().ok()?, us: us.parse().ok()? };
        let is_open = match state {
            OPEN => true,
            OVER => false,
            _ => return None,
        };
        Some(Asked { until, is_open })
    }

    /// For how long nobody has been asked, at least.
    pub(crate) fn silent_ms(self, now: Moment) -> u64 {
        let us = |moment: Moment| i128::from(moment.s) * 1_000_000 + i128::from(moment.us);
        let ms = u64::try_from((us(now) - us(self.until)) / 1_000).unwrap_or(0);
        if self.is_open { ms.saturating_sub(KILL_MS) } else { ms }
    }
}

/// The file while a run keeps it.
pub(crate) struct AskedFile {
    path: PathBuf,
    file: Option<File>,
    kept_ms: u64,
}

impl AskedFile {
    /// That of the folder `frontier`; it is not touched before somebody is asked.
    pub(crate) fn new(frontier: &Path) -> AskedFile {
        AskedFile { path: frontier.join(NAME), file: None, kept_ms: 0 }
    }

    /// Takes note that requests are under way, or about to be.
    pub(crate) fn keep(&mut self, clock: &dyn Clock) -> Result<(), CrawlError> {
        let now_ms = clock.now_ms();
        if self.file.is_some() && now_ms < self.kept_ms.saturating_add(KEEP_MS) {
            return Ok(());
        }
        self.kept_ms = now_ms;
        self.write(clock.date(), OPEN)
    }

    /// The run is over, if it has asked anybody; whether all requests are.
    pub(crate) fn end(&mut self, clock: &dyn Clock, is_over: bool) -> Result<(), CrawlError> {
        if self.file.is_none() {
            return Ok(());
        }
        self.write(clock.date(), if is_over { OVER } else { OPEN })
    }

    fn write(&mut self, Moment { s, us }: Moment, state: &str) -> Result<(), CrawlError> {
        let mut write = || -> io::Result<()> {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(File::create(&self.path)?),
            };
            file.rewind()?;
            file.write_all(format!("{s}.{us:06} {state}\n").as_bytes())
        };
        write().map_err(CrawlError::io(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_anything_else_tells_nothing() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(Asked::read(dir.path()), None);
        let mut file = AskedFile::new(dir.path());
        let moment = Moment { s: 1_800_000_000, us: 42 };
        for (state, is_open) in [(OPEN, true), (OVER, false), (OPEN, true)] {
            file.write(moment, state).expect("a file");
            assert_eq!(Asked::read(dir.path()), Some(Asked::new(moment, is_open)));
        }
        for text in ["", "\n", "1.2 open", "1.2 ajar\n", "1 open\n", "a.b over\n", "1.2over\n"] {
            assert_eq!(Asked::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_killed_run_may_have_gone_on_for_a_moment() {
        let until = Moment { s: 100, us: 500_000 };
        for (s, us, over_ms, open_ms) in
            [(100, 500_000, 0, 0), (101, 0, 500, 250), (110, 500_000, 10_000, 9_750), (99, 0, 0, 0)]
        {
            let now = Moment { s, us };
            assert_eq!(Asked::new(until, false).silent_ms(now), over_ms, "{now:?}");
            assert_eq!(Asked::new(until, true).silent_ms(now), open_ms, "{now:?}");
        }
    }
}
