//! Recrawl (V6): asking again for pages that the collection has.
//!
//! What lives here: [`Epoch`], which recrawl a run belongs to; `schedule.rs` decides which pages are due
//! by how often they have changed; `earlier.rs` is the capture that an answer is compared with. What
//! does not: the requests themselves, and the records (`journal.rs`).
//!
//! **Invariant.** A recrawl begins with a list of the archive files there are, kept in `frontier/recrawl`
//! until it is over: what stands in other files was answered to it, and is not asked for again however
//! often the run is killed. The file also says what the recrawl asks for; a run that asks for more widens
//! it, none narrows it. When only hosts are left that were set aside, the next one may begin: it asks them, too.

mod earlier;
mod schedule;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use crate::config::{Config, Recrawl};
use crate::error::CrawlError;
use crate::seeds::Seed;

pub(crate) use earlier::{Earlier, Likeness, Reading, Validator};
pub(crate) use schedule::{Bounds, LastCaptures, Schedule};

const NAME: &str = "recrawl";
const FIRST_LINE: &str = "crivello recrawl 2";
/// What follows if only hosts are left that were set aside.
const REST: &str = " rest";

/// A recrawl that is not over.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Epoch {
    pub(crate) extent: Extent,
    /// Whether all was asked for but what hosts have that were set aside.
    pub(crate) is_rest: bool,
    /// When it began, in seconds since 1970.
    pub(crate) begun_s: i64,
    /// The archive files there were.
    files: BTreeSet<String>,
}

/// What a recrawl asks for again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything.
    All,
    /// These URLs.
    Given(BTreeSet<String>),
    /// What is due at that moment, in seconds since 1970.
    Due { at_s: i64, bounds: Bounds },
}

impl Extent {
    /// What the configuration asks for at `now_s` in a run that these URLs were given to; `None` if nothing.
    pub(crate) fn of(config: &Config, given: &[Seed], now_s: i64) -> Option<Extent> {
        let bounds = Bounds { min_s: config.recrawl_min_s, max_s: config.recrawl_max_s };
        match config.recrawl {
            Recrawl::Never => None,
            Recrawl::All => Some(Extent::All),
            Recrawl::Given if given.is_empty() => None,
            Recrawl::Given => {
                Some(Extent::Given(given.iter().map(|seed| seed.url.to_string()).collect()))
            }
            Recrawl::Due => Some(Extent::Due { at_s: now_s, bounds }),
        }
    }

    /// What one or the other asks for, or more. With a later moment and with shorter times more is due.
    fn or(self, other: Extent) -> Extent {
        match (self, other) {
            (Extent::Due { at_s, bounds }, Extent::Due { at_s: other_s, bounds: others }) => {
                let min_s = bounds.min_s.min(others.min_s);
                let max_s = bounds.max_s.min(others.max_s);
                Extent::Due { at_s: at_s.max(other_s), bounds: Bounds { min_s, max_s } }
            }
            (Extent::Given(mut urls), Extent::Given(others)) => {
                urls.extend(others);
                Extent::Given(urls)
            }
            _ => Extent::All,
        }
    }

    /// The same in the words of the configuration.
    pub(crate) fn mode(&self) -> Recrawl {
        match self {
            Extent::All => Recrawl::All,
            Extent::Given(_) => Recrawl::Given,
            Extent::Due { .. } => Recrawl::Due,
        }
    }
}

impl Epoch {
    /// The recrawl that was begun and is not over, widened to what is `wanted` now; or a new one if
    /// something is, there is anything to ask for again, and of the last one at most a rest is left.
    pub(crate) fn begin(
        frontier: &Path,
        wanted: Option<Extent>,
        files: &[String],
        now_s: i64,
    ) -> Result<Option<Epoch>, CrawlError> {
        let open = Epoch::read(frontier)?.filter(|open| !open.is_rest || wanted.is_none());
        let epoch = match (open, wanted) {
            (Some(open), wanted) => {
                let extent = open.extent.clone();
                let extent = wanted.map_or(extent.clone(), |wanted| extent.or(wanted));
                if extent == open.extent {
                    return Ok(Some(open));
                }
                Epoch { extent, ..open }
            }
            (None, Some(extent)) if !files.is_empty() => {
                let files = files.iter().cloned().collect();
                Epoch { extent, is_rest: false, begun_s: now_s, files }
            }
            (None, _) => return Ok(None),
        };
        epoch.write(frontier).map_err(CrawlError::io(&frontier.join(NAME)))?;
        Ok(Some(epoch))
    }

    fn write(&self, frontier: &Path) -> io::Result<()> {
        let fresh = frontier.join("recrawl.tmp");
        let mut file = File::create(&fresh)?;
        file.write_all(self.to_text().as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, frontier.join(NAME))?;
        File::open(frontier)?.sync_all()
    }

    /// The recrawl that was begun and is not over.
    pub(crate) fn read(frontier: &Path) -> Result<Option<Epoch>, CrawlError> {
        let path = frontier.join(NAME);
        match fs::read_to_string(&path) {
            Ok(text) => Epoch::parse(&text).map(Some).ok_or(CrawlError::Recrawl { path }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(CrawlError::Recrawl { path })
            }
            Err(source) => Err(CrawlError::Io { path, source }),
        }
    }

    /// Leaves a recrawl with what hosts have that were set aside.
    pub(crate) fn leave_rest(frontier: &Path) -> Result<(), CrawlError> {
        let Some(open) = Epoch::read(frontier)? else { return Ok(()) };
        let rest = Epoch { is_rest: true, ..open };
        rest.write(frontier).map_err(CrawlError::io(&frontier.join(NAME)))
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
        let begun_s = self.begun_s;
        let extent = match &self.extent {
            Extent::All => format!("all {begun_s}"),
            Extent::Given(urls) => format!("given {begun_s} {}", urls.len()),
            Extent::Due { at_s, bounds: Bounds { min_s, max_s } } => {
                format!("due {begun_s} {at_s} {min_s} {max_s}")
            }
        };
        let extent = extent + if self.is_rest { REST } else { "" };
        let count = format!("files {}", self.files.len());
        let mut lines = vec![FIRST_LINE.to_owned(), extent, count];
        lines.extend(self.files.iter().cloned());
        if let Extent::Given(urls) = &self.extent {
            lines.extend(urls.iter().cloned());
        }
        lines.join("\n") + "\n"
    }

    fn parse(text: &str) -> Option<Epoch> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let line = lines.next()?;
        let (line, is_rest) =
            line.strip_suffix(REST).map_or((line, false), |without| (without, true));
        let words: Vec<&str> = line.split(' ').collect();
        let mut urls_count = 0;
        let (mut extent, begun_s) = match words[..] {
            ["all", begun_s] => (Extent::All, begun_s),
            ["given", begun_s, count] => {
                urls_count = count.parse().ok()?;
                (Extent::Given(BTreeSet::new()), begun_s)
            }
            ["due", begun_s, at_s, min_s, max_s] => {
                let bounds = Bounds { min_s: min_s.parse().ok()?, max_s: max_s.parse().ok()? };
                (Extent::Due { at_s: at_s.parse().ok()?, bounds }, begun_s)
            }
            _ => return None,
        };
        let count: usize = lines.next()?.strip_prefix("files ")?.parse().ok()?;
        let files: BTreeSet<String> = lines.by_ref().take(count).map(str::to_owned).collect();
        let rest: BTreeSet<String> = lines.map(str::to_owned).collect();
        let is_whole = files.len() == count && rest.len() == urls_count;
        if let Extent::Given(urls) = &mut extent {
            *urls = rest;
        }
        let begun_s = begun_s.parse().ok()?;
        is_whole.then_some(Epoch { extent, is_rest, begun_s, files })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUE: Extent = Extent::Due { at_s: 7, bounds: Bounds { min_s: 10, max_s: 90 } };

    fn begin(frontier: &Path, wanted: Option<Extent>, files: &[&str], now_s: i64) -> Option<Epoch> {
        let files: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
        Epoch::begin(frontier, wanted, &files, now_s).expect("the folder is there")
    }

    #[test]
    fn a_recrawl_goes_on_until_it_is_over() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(begin(dir.path(), None, &["a"], 1), None);
        assert_eq!(begin(dir.path(), Some(Extent::All), &[], 1), None);
        let epoch = begin(dir.path(), Some(DUE), &["a"], 7).expect("it begins");
        assert!(epoch.is_old("a") && !epoch.is_old("b"));
        assert_eq!(begin(dir.path(), None, &["a", "b"], 9), Some(epoch), "nothing else is asked");
        Epoch::end(dir.path()).expect("it is there");
        assert_eq!(begin(dir.path(), None, &["a", "b"], 9), None);
        let next = begin(dir.path(), Some(Extent::All), &["a", "b"], 9).expect("another begins");
        assert!(next.is_old("b") && next.begun_s == 9);
    }

    #[test]
    fn a_wider_request_widens_it_and_a_narrower_one_does_not_narrow_it() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let due = |at_s, min_s, max_s| Extent::Due { at_s, bounds: Bounds { min_s, max_s } };
        let given = |urls: &[&str]| Extent::Given(urls.iter().map(|&url| url.to_owned()).collect());
        for (wanted, extent) in
            [(given(&["u"]), given(&["u"])), (given(&["v", "u"]), given(&["u", "v"]))]
        {
            let epoch = begin(dir.path(), Some(wanted), &["a", "b"], 7).expect("it goes on");
            assert_eq!((&epoch.extent, epoch.is_old("u")), (&extent, false));
            assert_eq!(Epoch::read(dir.path()).expect("a file"), Some(epoch));
        }
        Epoch::end(dir.path()).expect("it is there");
        for (wanted, extent) in [
            (DUE, DUE),
            (due(5, 10, 90), DUE),
            (due(8, 20, 50), due(8, 10, 50)),
            (due(8, 5, 60), due(8, 5, 50)),
            (Extent::All, Extent::All),
            (DUE, Extent::All),
        ] {
            let epoch = begin(dir.path(), Some(wanted), &["a", "b"], 7).expect("it goes on");
            assert_eq!((&epoch.extent, epoch.begun_s), (&extent, 7));
            assert!(epoch.is_old("a") && epoch.is_old("b"));
            let kept = Epoch::read(dir.path()).expect("a file");
            assert_eq!(kept, Some(epoch));
        }
    }

    #[test]
    fn a_rest_goes_on_until_another_recrawl_is_wanted() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for extent in [DUE, Extent::All] {
            let epoch = begin(dir.path(), Some(extent), &["a"], 7).expect("it begins");
            Epoch::leave_rest(dir.path()).expect("it is there");
            let rest = begin(dir.path(), None, &["a", "b"], 8).expect("it goes on");
            assert_eq!(rest, Epoch { is_rest: true, ..epoch });
            let next = begin(dir.path(), Some(DUE), &["a", "b"], 9).expect("another begins");
            assert!(next.is_old("b") && next.begun_s == 9 && !next.is_rest, "{next:?}");
            Epoch::end(dir.path()).expect("it is there");
        }
    }

    #[test]
    fn a_file_that_is_none_is_an_error_that_says_what_to_do() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join(NAME);
        let given = Extent::Given(["u".to_owned(), "v".to_owned()].into());
        for extent in [DUE, given] {
            begin(dir.path(), Some(extent), &["a", "b"], 7).expect("it begins");
            let good = fs::read(&path).expect("a file");
            let cuts = (0..good.len()).map(|length| good[..length].to_vec());
            for bad in cuts.chain([b"crivello recrawl 1\nall 7\na\n".to_vec(), vec![0xFF; 9]]) {
                fs::write(&path, &bad).expect("a file");
                let error = Epoch::read(dir.path()).expect_err("it is no recrawl").to_string();
                assert!(error.contains("remove it") && error.contains("recrawl"), "{error}");
            }
            Epoch::end(dir.path()).expect("it is there");
        }
    }
}
