//! Until when a crawl has asked anybody: the file `frontier/asked`.
//!
//! What lives here: [`AskedFile`], which a run keeps while requests are under way, and [`Asked`], what it tells the next
//! run. The archive has the moment at which a request began, and only once it is over; so it tells neither when the last
//! one was over nor whether there was one more when the run was killed, nor how long an answer took. What does not: how long
//! hosts are left alone (`politeness.rs`), and what is owed to slow ones (`owed.rs`).
//!
//! **Invariant.** While a request is under way, the file says so, and is no older than [`KEEP_MS`] but for the time that
//! the run holds still; when all are over, it says until when there were some; and in both cases how long a silence is owed
//! from then on by how long servers took, if they are asked for no longer than [`KILL_MS`] after it. Of a file with a
//! wrong bit nothing is believed: somebody may have been asked just now. Where the archive and its logs have lost visits, it
//! says that anybody may have been asked until then.

use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use durable::{Seal, replace, seal, unseal};

use crate::clock::{Clock, Moment};
use crate::error::CrawlError;
use crate::owed::Owed;

/// The name of the file.
const NAME: &str = "asked";

/// How old the file may be while requests are under way.
const KEEP_MS: u64 = 100;

/// How long after the moment in the file a run may have gone on that was killed: twice that, and a bit.
const KILL_MS: u64 = 250;

/// The longest silence in the file, which is longer than a pause can be: eight digits.
const OWED_MS_MAX: u64 = 99_999_999;

/// The words for a run with requests under way, and for one without; they are of one length.
const OPEN: &str = "open";
const OVER: &str = "over";

/// What is known of the last requests of earlier runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Until when there were some.
    until: Moment,
    /// How long the silence is from then on that is owed to those that were slow, if it is known.
    pub(crate) owed_ms: Option<u64>,
    /// Whether there may have been some when the run ended, or some that went with archive and logs: nothing else tells of
    /// those.
    pub(crate) is_open: bool,
}

impl Asked {
    /// What a file tells that cannot be believed.
    const UNSOUND: Asked =
        Asked { until: Moment { s: i64::MAX, us: 0 }, owed_ms: None, is_open: true };

    #[cfg(test)]
    pub(crate) fn new(until: Moment, is_open: bool) -> Asked {
        Asked { until, owed_ms: Some(0), is_open }
    }

    /// Reads the file in the folder `frontier`, if there is one.
    pub(crate) fn read(frontier: &Path) -> Option<Asked> {
        match fs::read(frontier.join(NAME)) {
            Ok(bytes) => Some(Asked::parse(&bytes).unwrap_or(Asked::UNSOUND)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => Some(Asked::UNSOUND),
        }
    }

    /// Takes note, for this run and those after it, that nothing else tells who was asked: then it may have been anybody.
    pub(crate) fn doubt(self, frontier: &Path) -> Result<(), CrawlError> {
        let path = frontier.join(NAME);
        let owed_ms = self.owed_ms.unwrap_or(OWED_MS_MAX);
        replace(&path, text(self.until, owed_ms, OPEN)).map_err(CrawlError::io(&path))
    }

    fn parse(bytes: &[u8]) -> Option<Asked> {
        let Seal::Good(line) = unseal(str::from_utf8(bytes).ok()?) else { return None };
        let (moment, said) = line.strip_suffix('\n')?.split_once(' ')?;
        let (ms, state) = said.split_once(' ')?;
        let owed_ms = Some(ms.parse().ok()?);
        let (s, us) = moment.split_once('.')?;
        let until = Moment { s: s.parse().ok()?, us: us.parse().ok()? };
        let is_open = match state {
            OPEN => true,
            OVER => false,
            _ => return None,
        };
        Some(Asked { until, owed_ms, is_open })
    }

    /// For how long nobody has been asked, at least.
    pub(crate) fn silent_ms(self, now: Moment) -> u64 {
        let us = |moment: Moment| i128::from(moment.s) * 1_000_000 + i128::from(moment.us);
        let ms = u64::try_from((us(now) - us(self.until)) / 1_000).unwrap_or(0);
        if self.is_open { ms.saturating_sub(KILL_MS) } else { ms }
    }
}

/// The content of the file. Its length is always the same, so that nothing is left of the text before.
fn text(Moment { s, us }: Moment, owed_ms: u64, state: &str) -> String {
    seal(&format!("{s}.{us:06} {:08} {state}\n", owed_ms.min(OWED_MS_MAX)))
}

/// The file while a run keeps it.
pub(crate) struct AskedFile {
    path: PathBuf,
    file: Option<File>,
    kept_ms: u64,
    /// The last moment at which requests were known to be under way, by the calendar and by the clock.
    until: Moment,
    until_ms: u64,
}

impl AskedFile {
    /// That of the folder `frontier`; it is not touched before somebody is asked.
    pub(crate) fn new(frontier: &Path) -> AskedFile {
        let (until, until_ms) = (Moment::default(), 0);
        AskedFile { path: frontier.join(NAME), file: None, kept_ms: 0, until, until_ms }
    }

    /// Takes note that requests are under way, or about to be, or were until now.
    pub(crate) fn keep(&mut self, clock: &dyn Clock, owed: &Owed) -> Result<(), CrawlError> {
        let now_ms = clock.now_ms();
        (self.until, self.until_ms) = (clock.date(), now_ms);
        if self.file.is_some() && now_ms < self.kept_ms.saturating_add(KEEP_MS) {
            return Ok(());
        }
        self.kept_ms = now_ms;
        self.write(self.until, owed.left_ms(now_ms, KILL_MS), OPEN)
    }

    /// The run is over, if it has asked anybody; whether all requests are.
    pub(crate) fn end(
        &mut self,
        clock: &dyn Clock,
        owed: &Owed,
        is_over: bool,
    ) -> Result<(), CrawlError> {
        if self.file.is_none() {
            return Ok(());
        }
        if is_over {
            return self.write(self.until, owed.left_ms(self.until_ms, 0), OVER);
        }
        self.write(clock.date(), owed.left_ms(clock.now_ms(), KILL_MS), OPEN)
    }

    fn write(&mut self, until: Moment, owed_ms: u64, state: &str) -> Result<(), CrawlError> {
        let mut write = || -> io::Result<()> {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(File::create(&self.path)?),
            };
            file.rewind()?;
            file.write_all(text(until, owed_ms, state).as_bytes())
        };
        write().map_err(CrawlError::io(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_with_a_wrong_bit_nothing_is_believed() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(Asked::read(dir.path()), None);
        let mut file = AskedFile::new(dir.path());
        let moment = Moment { s: 1_800_000_000, us: 42 };
        for (state, is_open) in [(OPEN, true), (OVER, false), (OPEN, true)] {
            let owed_ms = if is_open { 60_000 } else { u64::MAX };
            file.write(moment, owed_ms, state).expect("a file");
            let owed_ms = Some(owed_ms.min(OWED_MS_MAX));
            let wanted = Asked { owed_ms, ..Asked::new(moment, is_open) };
            assert_eq!(Asked::read(dir.path()), Some(wanted));
        }
        let path = dir.path().join(NAME);
        let whole = fs::read(&path).expect("it is there");
        for bad in [&whole[1..], &whole[..whole.len() - 1], b"", b"\xFF"] {
            fs::write(&path, bad).expect("written");
            assert_eq!(Asked::read(dir.path()), Some(Asked::UNSOUND), "{bad:?}");
        }
        // Of whom, nothing tells.
        for owed_ms in [Some(0), Some(1_234)] {
            let over = Asked { owed_ms, ..Asked::new(moment, false) };
            over.doubt(dir.path()).expect("room");
            assert_eq!(Asked::read(dir.path()), Some(Asked { is_open: true, ..over }));
        }
        assert_eq!(Asked::UNSOUND.silent_ms(Moment { s: 1_900_000_000, us: 0 }), 0);
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
