//! Recrawl (V6): asking again for pages that the collection has.
//!
//! What lives here: [`Epoch`], which recrawl a run belongs to; `schedule.rs` decides which pages are due
//! by how often they have changed; `earlier.rs` is the capture that an answer is compared with. What
//! does not: the requests themselves, and the records (`journal.rs`).
//!
//! **Invariant.** A recrawl begins with a list of the archive files there are, kept in `frontier/recrawl`
//! until it is over: what stands in other files was answered to it, and is not asked for again however
//! often the run is killed.

mod earlier;
mod schedule;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use crate::config::Recrawl;
use crate::error::CrawlError;

pub(crate) use earlier::Earlier;
pub(crate) use schedule::{Bounds, LastCaptures, Schedule};

const NAME: &str = "recrawl";
const FIRST_LINE: &str = "crivello recrawl 1";

/// A recrawl that is not over.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Epoch {
    pub(crate) mode: Recrawl,
    /// When it began, in seconds since 1970.
    pub(crate) begun_s: i64,
    /// The archive files there were.
    files: BTreeSet<String>,
}

impl Epoch {
    /// The recrawl that was begun and is not over, or a new one if `mode` asks for it and there is
    /// anything to ask for again.
    pub(crate) fn begin(
        frontier: &Path,
        mode: Recrawl,
        files: &[String],
        now_s: i64,
    ) -> Result<Option<Epoch>, CrawlError> {
        let path = frontier.join(NAME);
        if let Some(epoch) = Epoch::read(frontier)? {
            return Ok(Some(epoch));
        }
        if mode == Recrawl::Never || files.is_empty() {
            return Ok(None);
        }
        let epoch = Epoch { mode, begun_s: now_s, files: files.iter().cloned().collect() };
        let fresh = frontier.join("recrawl.tmp");
        File::create(&fresh)
            .and_then(|mut file| {
                file.write_all(epoch.to_text().as_bytes())?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&fresh, &path))
            .and_then(|()| File::open(frontier)?.sync_all())
            .map_err(CrawlError::io(&path))?;
        Ok(Some(epoch))
    }

    /// The recrawl that was begun and is not over.
    pub(crate) fn read(frontier: &Path) -> Result<Option<Epoch>, CrawlError> {
        let path = frontier.join(NAME);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Epoch::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(CrawlError::Io { path, source }),
        }
    }

    /// Ends a recrawl: all was asked for.
    pub(crate) fn end(frontier: &Path) -> Result<(), CrawlError> {
        let path = frontier.join(NAME);
        fs::remove_file(&path).map_err(CrawlError::io(&path))
    }

    /// Whether a file of the archive was there before.
    pub(crate) fn is_old(&self, file: &str) -> bool {
        self.files.contains(file)
    }

    fn to_text(&self) -> String {
        let mode = if self.mode == Recrawl::All { "all" } else { "due" };
        let mut lines = vec![FIRST_LINE.to_owned(), format!("{mode} {}", self.begun_s)];
        lines.extend(self.files.iter().cloned());
        lines.join("\n") + "\n"
    }

    fn parse(text: &str) -> Option<Epoch> {
        let mut lines = text.lines();
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let (mode, begun_s) = lines.next()?.split_once(' ')?;
        let mode = match mode {
            "all" => Recrawl::All,
            "due" => Recrawl::Due,
            _ => return None,
        };
        let begun_s = begun_s.parse().ok()?;
        Some(Epoch { mode, begun_s, files: lines.map(str::to_owned).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recrawl_goes_on_until_it_is_over() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let files = ["a.warc.gz".to_owned()];
        let begin = |mode, files: &[String], now_s| {
            Epoch::begin(dir.path(), mode, files, now_s).expect("the folder is there")
        };
        assert_eq!(begin(Recrawl::Never, &files, 1), None);
        assert_eq!(begin(Recrawl::All, &[], 1), None);
        let epoch = begin(Recrawl::Due, &files, 7).expect("it begins");
        assert!(epoch.is_old("a.warc.gz") && !epoch.is_old("b.warc.gz"));
        let more = ["a.warc.gz".to_owned(), "b.warc.gz".to_owned()];
        assert_eq!(begin(Recrawl::Never, &more, 9), Some(epoch), "whatever is asked for now");
        Epoch::end(dir.path()).expect("it is there");
        assert_eq!(begin(Recrawl::Never, &more, 9), None);
        let next = begin(Recrawl::All, &more, 9).expect("another begins");
        assert!(next.is_old("b.warc.gz") && next.begun_s == 9);
    }
}
