//! Recrawl (V6): asking again for pages that the collection has.
//!
//! What lives here: [`Epochs`], the recrawls that a run belongs to; `schedule.rs` decides which pages are due
//! by how often they have changed; `earlier.rs` is the capture that an answer is compared with; `wanted.rs` is what a run
//! is asked for. What does not: the requests themselves, and the records (`journal.rs`).
//!
//! **Invariant.** A recrawl begins with a list of the archive files there are, kept in `frontier/recrawl`
//! until it is over: what stands in other files was answered to it, and is not asked for again however
//! often the run is killed. The file also says what the recrawl asks for; a run that asks for more widens
//! it, none narrows it. With it stand the seeds that the run was given and that have no place of their own yet, so that a
//! kill leaves both or none. One of URLs that were given is a recrawl of its own beside it, so that they are asked
//! for whatever the other one has had. A list is in the file before its first request goes out, since what it names may be
//! known only when its sitemaps have been read: every run that goes on asks for what they name by then, and it is not over
//! as long as one of them is at a host that was set aside. When only such hosts are left, the next one may begin: it asks
//! them, too.

mod earlier;
mod schedule;
mod wanted;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::str::Split;

use durable::{Seal, replace, seal, unseal};

use crate::config::{Config, Recrawl};
use crate::error::CrawlError;
use crate::seeds::Seed;

pub(crate) use earlier::{Earlier, Likeness, Reading, Validator};
pub(crate) use schedule::{Bounds, LastCaptures, Schedule};
pub(crate) use wanted::{Wanted, lines};

const NAME: &str = "recrawl";
const FIRST_LINE: &str = "crivello recrawl 6";
/// What follows if only hosts are left that were set aside.
const REST: &str = " rest";

/// A recrawl that is not over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Epoch {
    pub(crate) extent: Extent,
    /// Whether all was asked for but what hosts have that were set aside.
    pub(crate) is_rest: bool,
    /// When it began, in seconds since 1970.
    pub(crate) begun_s: i64,
    /// The archive files there were.
    files: BTreeSet<String>,
}

/// The recrawls that are not over: one of everything or of what is due, and those of what was given, and of lists, each
/// with the files that there were when it began.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Epochs {
    open: Vec<Epoch>,
    /// The seeds of the run that began the last of them, as far as they were not kept before, as they stand among the
    /// seeds.
    seeds: Vec<String>,
}

/// What a recrawl asks for again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything.
    All,
    /// These URLs.
    Given(BTreeSet<String>),
    /// What these addresses name, as they stand among the seeds: themselves, and what sitemaps and redirects lead to.
    List { lines: BTreeSet<String>, due: Option<Due> },
    /// What is due.
    Due(Due),
}

/// Which pages are due: at that moment, in seconds since 1970, by those times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) at_s: i64,
    pub(crate) bounds: Bounds,
}

impl Due {
    /// What is due at `now_s`.
    fn at(config: &Config, now_s: i64) -> Due {
        let bounds = Bounds { min_s: config.recrawl_min_s, max_s: config.recrawl_max_s };
        Due { at_s: now_s, bounds }
    }

    /// What is due by one or the other, or more. With a later moment and with shorter times more is due.
    fn or(self, other: Due) -> Due {
        let min_s = self.bounds.min_s.min(other.bounds.min_s);
        let max_s = self.bounds.max_s.min(other.bounds.max_s);
        Due { at_s: self.at_s.max(other.at_s), bounds: Bounds { min_s, max_s } }
    }
}

/// The words of it in the file.
impl Due {
    fn words(self) -> String {
        let Due { at_s, bounds: Bounds { min_s, max_s } } = self;
        format!("{at_s} {min_s} {max_s}")
    }

    fn parse(words: &[&str]) -> Option<Due> {
        let &[at_s, min_s, max_s] = words else { return None };
        let bounds = Bounds { min_s: min_s.parse().ok()?, max_s: max_s.parse().ok()? };
        Some(Due { at_s: at_s.parse().ok()?, bounds })
    }
}

/// What a run asks for that asks for nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Alone {
    /// The known URLs.
    pub(crate) urls: BTreeSet<String>,
    /// The list, as its addresses stand among the seeds.
    pub(crate) lines: BTreeSet<String>,
}

impl Extent {
    /// What the configuration asks for at `now_s` in a run that these URLs were given to; `None` if nothing.
    pub(crate) fn of(config: &Config, given: &[Seed], now_s: i64) -> Option<Extent> {
        match config.recrawl {
            Recrawl::Never => None,
            Recrawl::All => Some(Extent::All),
            Recrawl::Given if given.is_empty() => None,
            Recrawl::Given => {
                Some(Extent::Given(given.iter().map(|seed| seed.url.to_string()).collect()))
            }
            Recrawl::Due => Some(Extent::Due(Due::at(config, now_s))),
        }
    }

    /// What the configuration asks for of a list at `now_s`.
    pub(crate) fn list(config: &Config, lines: BTreeSet<String>, now_s: i64) -> Extent {
        let is_of_due = config.recrawl == Recrawl::Due;
        Extent::List { lines, due: is_of_due.then(|| Due::at(config, now_s)) }
    }

    /// What one or the other asks for, neither of them of what was given, or more.
    fn or(&self, other: &Extent) -> Extent {
        match (self, other) {
            (&Extent::Due(due), &Extent::Due(other)) => Extent::Due(due.or(other)),
            _ => Extent::All,
        }
    }

    /// The same in the words of the configuration.
    pub(crate) fn mode(&self) -> Recrawl {
        match self {
            Extent::All => Recrawl::All,
            Extent::Given(_) | Extent::List { .. } => Recrawl::Given,
            Extent::Due(_) => Recrawl::Due,
        }
    }

    /// The URLs that were given, if it is of those.
    fn given(&self) -> impl Iterator<Item = &String> {
        let urls = if let Extent::Given(urls) = self { Some(urls) } else { None };
        urls.into_iter().flatten()
    }

    /// The lines, if it is of a list.
    fn list_lines(&self) -> Option<&BTreeSet<String>> {
        if let Extent::List { lines, .. } = self { Some(lines) } else { None }
    }

    /// Whether it is of URLs that were given, and of no others than these.
    fn is_within(&self, urls: &BTreeSet<String>) -> bool {
        matches!(self, Extent::Given(own) if own.is_subset(urls))
    }

    /// Whether it is of a list, and of no others than these lines.
    pub(crate) fn is_list_within(&self, within: &BTreeSet<String>) -> bool {
        matches!(self, Extent::List { lines, .. } if lines.is_subset(within))
    }

    /// Whether it asks for nothing that a run of this alone does not ask for.
    fn is_of(&self, alone: &Alone) -> bool {
        self.is_within(&alone.urls) || self.is_list_within(&alone.lines)
    }

    /// Whether it stands beside one of everything or of what is due.
    fn is_beside(&self) -> bool {
        matches!(self, Extent::Given(_) | Extent::List { .. })
    }
}

impl Epochs {
    /// The recrawls that were begun and are not over, with what is `wanted` now among them, if there is anything
    /// to ask for again. With it the `seeds` are kept that have no place of their own yet.
    pub(crate) fn begin(
        frontier: &Path,
        wanted: Option<Extent>,
        files: &[String],
        now_s: i64,
        seeds: &[String],
    ) -> Result<Epochs, CrawlError> {
        let mut open = Epochs::read(frontier)?;
        let Some(wanted) = wanted.filter(|_| !files.is_empty()) else { return Ok(open) };
        if open.want(wanted, files, now_s) {
            open.seeds = seeds.to_vec();
            open.write(frontier)?;
        }
        Ok(open)
    }

    /// Takes in what is wanted; whether that changes anything.
    fn want(&mut self, wanted: Extent, files: &[String], now_s: i64) -> bool {
        let files = files.iter().cloned().collect();
        let is_same = |open: &Epoch| !open.is_rest && open.extent == wanted;
        if self.open.iter().any(is_same) {
            return false;
        }
        if let Extent::Given(urls) = &wanted {
            let is_going_on = |open: &&Epoch| open.is_going_on_in(urls);
            let asked = self.open.iter().filter(is_going_on).flat_map(|open| open.extent.given());
            let asked: BTreeSet<&String> = asked.collect();
            // What these have had since they began is not asked for again.
            let rest: BTreeSet<String> =
                urls.iter().filter(|url| !asked.contains(url)).cloned().collect();
            if rest.is_empty() {
                return false;
            }
            self.open.retain(|open| open.is_going_on_in(urls) || !open.extent.is_within(urls));
            let extent = Extent::Given(rest);
            self.open.push(Epoch { extent, is_rest: false, begun_s: now_s, files });
            return true;
        }
        if let Extent::List { lines, due } = &wanted {
            return self.want_list(lines, *due, files, now_s);
        }
        self.open.retain(|open| !open.is_rest || open.extent.is_beside());
        if let Some(open) = self.open.iter_mut().find(|open| !open.extent.is_beside()) {
            let extent = open.extent.or(&wanted);
            let is_wider = extent != open.extent;
            open.extent = extent;
            return is_wider;
        }
        if wanted == Extent::All {
            self.open.clear();
        }
        self.open.insert(0, Epoch { extent: wanted, is_rest: false, begun_s: now_s, files });
        true
    }

    /// Takes in a list; whether that changes anything. Those of some of it go on, and are perhaps widened; the new one is of
    /// the rest.
    fn want_list(
        &mut self,
        lines: &BTreeSet<String>,
        due: Option<Due>,
        files: BTreeSet<String>,
        now_s: i64,
    ) -> bool {
        let (mut rest, mut is_wider) = (lines.clone(), false);
        // What is left of one is among what this one begins anew.
        self.open.retain(|open| !open.is_rest || !open.extent.is_list_within(lines));
        for open in &mut self.open {
            if let Extent::List { lines: own, due: own_due } = &mut open.extent
                && own.is_subset(lines)
            {
                rest.retain(|line| !own.contains(line));
                let wider = own_due.zip(due).map(|(own, due)| own.or(due));
                is_wider |= *own_due != wider;
                *own_due = wider;
            }
        }
        if rest.is_empty() {
            return is_wider;
        }
        let extent = Extent::List { lines: rest, due };
        self.open.push(Epoch { extent, is_rest: false, begun_s: now_s, files });
        true
    }

    /// Ends those that a run has come to the end of, or leaves them with what hosts have that were set aside: all
    /// of them, or, if it asked for something `alone`, those of nothing else. Lists are left that are among the `unread`.
    pub(crate) fn close(
        frontier: &Path,
        alone: Option<&Alone>,
        is_rest: bool,
        unread: &[Epoch],
    ) -> Result<(), CrawlError> {
        let mut open = Epochs::read(frontier)?;
        let is_over = |open: &Epoch| alone.is_none_or(|alone| open.extent.is_of(alone));
        let is_left = |open: &Epoch| match open.extent {
            Extent::List { .. } => unread.contains(open),
            _ => is_rest,
        };
        open.open.retain(|epoch| !is_over(epoch) || is_left(epoch));
        for epoch in open.open.iter_mut().filter(|epoch| is_over(epoch)) {
            epoch.is_rest = true;
        }
        open.seeds.clear();
        open.write(frontier)
    }

    fn write(&self, frontier: &Path) -> Result<(), CrawlError> {
        let path = frontier.join(NAME);
        let written = if self.open.is_empty() {
            fs::remove_file(&path)
        } else {
            replace(&path, self.to_text())
        };
        written.map_err(CrawlError::io(&path))
    }

    /// The recrawls that were begun and are not over.
    pub(crate) fn read(frontier: &Path) -> Result<Epochs, CrawlError> {
        let path = frontier.join(NAME);
        match fs::read_to_string(&path) {
            Ok(text) => Epochs::parse(&text).ok_or(CrawlError::Recrawl { path }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Epochs::default()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(CrawlError::Recrawl { path })
            }
            Err(source) => Err(CrawlError::Io { path, source }),
        }
    }

    /// Whether something of what is wanted is asked for by one that is not over.
    pub(crate) fn has_some_of(&self, wanted: &Extent) -> bool {
        self.open.iter().any(|open| match wanted {
            Extent::Given(urls) => open.extent.is_within(urls),
            _ => true,
        })
    }

    /// The archive files that they name.
    pub(crate) fn files(&self) -> impl Iterator<Item = &String> {
        self.open.iter().flat_map(|open| &open.files)
    }

    /// When the first began that asks for others than these, in seconds since 1970; `None` if there is none.
    pub(crate) fn beside_s(&self, alone: &Alone) -> Option<i64> {
        let beside = self.open.iter().find(|open| !open.extent.is_of(alone));
        beside.map(|open| open.begun_s)
    }

    /// The addresses of lists, and what else was given to runs that may not have kept their seeds, as they stand among
    /// these.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &String> {
        let listed = self.open.iter().filter_map(|open| open.extent.list_lines()).flatten();
        listed.chain(&self.seeds)
    }

    /// When the first one of a list began, in seconds since 1970; `None` if there is none.
    pub(crate) fn list_since_s(&self) -> Option<i64> {
        let list = self.open.iter().find(|open| open.extent.list_lines().is_some());
        list.map(|open| open.begun_s)
    }

    /// Those of lists: of all, or if a run asks for something `alone`, of those that ask for nothing else.
    pub(crate) fn into_lists(self, alone: Option<&Alone>) -> Vec<Epoch> {
        let is_list = |open: &Epoch| matches!(open.extent, Extent::List { .. });
        let is_own = |open: &Epoch| alone.is_none_or(|alone| open.extent.is_of(alone));
        self.open.into_iter().filter(|open| is_list(open) && is_own(open)).collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Epoch> {
        self.open.iter()
    }

    fn to_text(&self) -> String {
        let mut lines = vec![FIRST_LINE.to_owned(), format!("recrawls {}", self.open.len())];
        self.open.iter().for_each(|epoch| epoch.add_lines(&mut lines));
        lines.push(format!("seeds {}", self.seeds.len()));
        lines.extend(self.seeds.iter().cloned());
        seal(&(lines.join("\n") + "\n"))
    }

    fn parse(text: &str) -> Option<Epochs> {
        let Seal::Good(body) = unseal(text) else { return None };
        let mut lines = body.strip_suffix('\n')?.split('\n');
        lines.next().filter(|&first| first == FIRST_LINE)?;
        let count: usize = lines.next()?.strip_prefix("recrawls ")?.parse().ok()?;
        let open: Option<Vec<Epoch>> = (0..count).map(|_| Epoch::parse(&mut lines)).collect();
        let count: usize = lines.next()?.strip_prefix("seeds ")?.parse().ok()?;
        let seeds: Vec<String> = lines.by_ref().take(count).map(str::to_owned).collect();
        let is_whole = seeds.len() == count && lines.next().is_none();
        Some(Epochs { open: open?, seeds }).filter(|_| is_whole)
    }
}

impl Epoch {
    /// Whether it asks for URLs that were given, for no others than these, and not only hosts are left.
    pub(crate) fn is_going_on_in(&self, urls: &BTreeSet<String>) -> bool {
        !self.is_rest && self.extent.is_within(urls)
    }

    /// The archive files there were.
    pub(crate) fn files(&self) -> Vec<String> {
        self.files.iter().cloned().collect()
    }

    /// Whether a file of the archive was there before.
    pub(crate) fn is_old(&self, file: &str) -> bool {
        self.files.contains(file)
    }

    fn add_lines(&self, lines: &mut Vec<String>) {
        let begun_s = self.begun_s;
        let extent = match &self.extent {
            Extent::All => format!("all {begun_s}"),
            Extent::Given(urls) => format!("given {begun_s} {}", urls.len()),
            Extent::List { lines, due } => {
                let due = due.map(|due| format!(" {}", due.words())).unwrap_or_default();
                format!("list {begun_s} {}{due}", lines.len())
            }
            Extent::Due(due) => format!("due {begun_s} {}", due.words()),
        };
        lines.push(extent + if self.is_rest { REST } else { "" });
        lines.push(format!("files {}", self.files.len()));
        lines.extend(self.files.iter().cloned());
        if let Extent::Given(named) | Extent::List { lines: named, .. } = &self.extent {
            lines.extend(named.iter().cloned());
        }
    }

    fn parse(lines: &mut Split<'_, char>) -> Option<Epoch> {
        let line = lines.next()?;
        let (line, is_rest) =
            line.strip_suffix(REST).map_or((line, false), |without| (without, true));
        let words: Vec<&str> = line.split(' ').collect();
        let mut named_count = 0;
        let (mut extent, begun_s) = match words[..] {
            ["all", begun_s] => (Extent::All, begun_s),
            ["given", begun_s, count] => {
                named_count = count.parse().ok()?;
                (Extent::Given(BTreeSet::new()), begun_s)
            }
            ["list", begun_s, count, ref due @ ..] => {
                named_count = count.parse().ok()?;
                let due = if due.is_empty() { None } else { Some(Due::parse(due)?) };
                (Extent::List { lines: BTreeSet::new(), due }, begun_s)
            }
            ["due", begun_s, ref due @ ..] => (Extent::Due(Due::parse(due)?), begun_s),
            _ => return None,
        };
        let count: usize = lines.next()?.strip_prefix("files ")?.parse().ok()?;
        let files: BTreeSet<String> = lines.take(count).map(str::to_owned).collect();
        let rest: BTreeSet<String> = lines.take(named_count).map(str::to_owned).collect();
        let is_whole = files.len() == count && rest.len() == named_count;
        if let Extent::Given(named) | Extent::List { lines: named, .. } = &mut extent {
            *named = rest;
        }
        let begun_s = begun_s.parse().ok()?;
        is_whole.then_some(Epoch { extent, is_rest, begun_s, files })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUE: Extent = Extent::Due(Due { at_s: 7, bounds: Bounds { min_s: 10, max_s: 90 } });

    fn due(at_s: i64, min_s: u64, max_s: u64) -> Extent {
        Extent::Due(Due { at_s, bounds: Bounds { min_s, max_s } })
    }

    fn list(lines: &[&str]) -> Extent {
        Extent::List { lines: set(lines), due: None }
    }

    fn given(urls: &[&str]) -> Extent {
        Extent::Given(set(urls))
    }

    fn set(urls: &[&str]) -> BTreeSet<String> {
        urls.iter().map(|&url| url.to_owned()).collect()
    }

    fn begin(frontier: &Path, wanted: Option<Extent>, files: &[&str], now_s: i64) -> Vec<Epoch> {
        let files: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
        let Epochs { open, .. } =
            Epochs::begin(frontier, wanted, &files, now_s, &[]).expect("the folder is there");
        let Epochs { open: kept, .. } = Epochs::read(frontier).expect("what was written");
        assert_eq!(open, kept);
        open
    }

    fn close(frontier: &Path, alone: Option<&[&str]>, is_rest: bool) {
        let alone = alone.map(|urls| Alone { urls: set(urls), lines: set(urls) });
        Epochs::close(frontier, alone.as_ref(), is_rest, &[]).expect("it is there");
    }

    #[test]
    fn a_recrawl_goes_on_until_it_is_over() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(begin(dir.path(), None, &["a"], 1), []);
        assert_eq!(begin(dir.path(), Some(Extent::All), &[], 1), []);
        let epochs = begin(dir.path(), Some(DUE), &["a"], 7);
        assert!(epochs[0].is_old("a") && !epochs[0].is_old("b"));
        assert_eq!(begin(dir.path(), None, &["a", "b"], 9), epochs, "nothing else is asked");
        close(dir.path(), None, false);
        assert_eq!(begin(dir.path(), None, &["a", "b"], 9), []);
        let next = begin(dir.path(), Some(Extent::All), &["a", "b"], 9);
        assert!(next[0].is_old("b") && next[0].begun_s == 9);
    }

    #[test]
    fn a_wider_request_widens_it_and_a_narrower_one_does_not_narrow_it() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for (wanted, extent) in [
            (DUE, DUE),
            (due(5, 10, 90), DUE),
            (due(8, 20, 50), due(8, 10, 50)),
            (due(8, 5, 60), due(8, 5, 50)),
            (Extent::All, Extent::All),
            (DUE, Extent::All),
        ] {
            let epochs = begin(dir.path(), Some(wanted), &["a", "b"], 7);
            assert_eq!((epochs.len(), &epochs[0].extent, epochs[0].begun_s), (1, &extent, 7));
            assert!(epochs[0].is_old("a") && epochs[0].is_old("b"));
        }
    }

    #[test]
    fn what_is_given_is_asked_for_whatever_another_recrawl_has_had() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        begin(dir.path(), Some(Extent::All), &["a"], 7);
        let epochs = begin(dir.path(), Some(given(&["u", "v"])), &["a", "b"], 8);
        assert_eq!(epochs.len(), 2);
        assert!(!epochs[0].is_old("b") && epochs[1].is_old("b"), "{epochs:?}");
        // The same once more goes on, others are another one, and of more the rest is.
        assert_eq!(begin(dir.path(), Some(given(&["v", "u"])), &["a", "b", "c"], 9), epochs);
        assert_eq!(begin(dir.path(), Some(given(&["x"])), &["a", "b", "c"], 9).len(), 3);
        let epochs = begin(dir.path(), Some(given(&["u", "v", "w"])), &["a", "b", "c"], 9);
        let extents: Vec<&Extent> = epochs.iter().map(|epoch| &epoch.extent).collect();
        let wanted = [&Extent::All, &given(&["u", "v"]), &given(&["x"]), &given(&["w"])];
        assert_eq!(extents, wanted);
        assert!(!epochs[1].is_old("c") && epochs[3].is_old("c"), "{epochs:?}");
        // A run of some alone ends no other.
        close(dir.path(), Some(&["v", "x"]), true);
        assert!(Epochs::read(dir.path()).expect("a file").open[2].is_rest);
        close(dir.path(), Some(&["v", "x"]), false);
        let extents = begin(dir.path(), None, &["a"], 9);
        let extents: Vec<&Extent> = extents.iter().map(|epoch| &epoch.extent).collect();
        assert_eq!(extents, [&Extent::All, &given(&["u", "v"]), &given(&["w"])]);
        close(dir.path(), None, false);
        // One of everything that begins later asks for it all, one of what is due does not.
        begin(dir.path(), Some(given(&["u"])), &["a"], 9);
        assert_eq!(begin(dir.path(), Some(DUE), &["a", "b"], 9).len(), 2);
        close(dir.path(), None, false);
        begin(dir.path(), Some(given(&["u"])), &["a"], 9);
        assert_eq!(begin(dir.path(), Some(Extent::All), &["a", "b"], 9).len(), 1);
    }

    #[test]
    fn a_rest_goes_on_until_another_recrawl_is_wanted() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for extent in [DUE, Extent::All] {
            let mut epochs = begin(dir.path(), Some(extent), &["a"], 7);
            close(dir.path(), None, true);
            epochs[0].is_rest = true;
            assert_eq!(begin(dir.path(), None, &["a", "b"], 8), epochs);
            let next = begin(dir.path(), Some(DUE), &["a", "b"], 9);
            assert_eq!(next.len(), 1);
            assert!(next[0].is_old("b") && next[0].begun_s == 9 && !next[0].is_rest, "{next:?}");
            close(dir.path(), None, false);
        }
        begin(dir.path(), Some(given(&["u"])), &["a"], 7);
        close(dir.path(), None, true);
        let next = begin(dir.path(), Some(given(&["u"])), &["a", "b"], 8);
        assert!(next.len() == 1 && next[0].begun_s == 8 && !next[0].is_rest, "{next:?}");
    }

    #[test]
    fn a_list_stands_beside_the_others_until_it_is_over() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        begin(dir.path(), Some(DUE), &["a"], 7);
        let of_due = |due| Extent::List { lines: set(&["sitemap:s", "u"]), due };
        let Extent::Due(bounds) = DUE else { unreachable!("it is") };
        begin(dir.path(), Some(of_due(Some(bounds))), &["a"], 7);
        begin(dir.path(), Some(given(&["u", "w"])), &["a"], 7);
        let epochs = begin(dir.path(), Some(of_due(None)), &["a", "b"], 8);
        let extents: Vec<&Extent> = epochs.iter().map(|epoch| &epoch.extent).collect();
        assert_eq!(extents, [&DUE, &of_due(None), &given(&["u", "w"])], "widened");
        assert!(!epochs[1].is_old("b"), "it goes on");
        let epochs = begin(dir.path(), Some(list(&["sitemap:s", "u", "v"])), &["a", "b"], 8);
        assert!(epochs[3].extent == list(&["v"]) && epochs[3].is_old("b"), "of the rest");
        // A run of some alone ends no other; that hosts were set aside is said of what was named.
        close(dir.path(), Some(&["sitemap:s", "u", "w"]), true);
        let epochs = begin(dir.path(), None, &["a"], 9);
        let rests: Vec<(&Extent, bool)> =
            epochs.iter().map(|epoch| (&epoch.extent, epoch.is_rest)).collect();
        assert_eq!(rests, [(&DUE, false), (&given(&["u", "w"]), true), (&list(&["v"]), false)]);
        let alone = Alone { urls: BTreeSet::new(), lines: set(&["v"]) };
        let open = Epochs::read(dir.path()).expect("a file");
        assert_eq!((open.beside_s(&alone), open.into_lists(Some(&alone)).len()), (Some(7), 1));
        assert_eq!(begin(dir.path(), Some(Extent::All), &["a"], 9).len(), 3);
        close(dir.path(), None, false);
        begin(dir.path(), Some(list(&["v"])), &["a"], 9);
        assert_eq!(begin(dir.path(), Some(Extent::All), &["a"], 9).len(), 1, "it asks for all");
    }

    #[test]
    fn a_list_that_could_not_be_read_is_left_until_it_is_wanted_anew() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        begin(dir.path(), Some(given(&["u"])), &["a"], 7);
        begin(dir.path(), Some(list(&["sitemap:s"])), &["a"], 7);
        begin(dir.path(), Some(list(&["sitemap:t"])), &["a"], 7);
        let unread = [Epochs::read(dir.path()).expect("a file").open[1].clone()];
        Epochs::close(dir.path(), None, false, &unread).expect("it is there");
        let epochs = begin(dir.path(), None, &["a", "b"], 8);
        assert!(epochs.len() == 1 && epochs[0].is_rest, "{epochs:?}");
        assert_eq!(epochs[0].extent, list(&["sitemap:s"]));
        let epochs = begin(dir.path(), Some(list(&["sitemap:s", "u"])), &["a", "b"], 8);
        assert!(epochs.len() == 1 && !epochs[0].is_rest && epochs[0].is_old("b"), "{epochs:?}");
        assert_eq!(epochs[0].extent, list(&["sitemap:s", "u"]));
    }

    #[test]
    fn seeds_are_kept_with_what_is_begun_until_another_is_or_all_is_over() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (files, seeds) = (["a".to_owned()], ["u", "sitemap:v"].map(str::to_owned));
        let begin = |extent, seeds: &[String]| {
            Epochs::begin(dir.path(), Some(extent), &files, 7, seeds).expect("the folder is there")
        };
        let kept = || -> Vec<String> {
            Epochs::read(dir.path()).expect("what was written").lines().cloned().collect()
        };
        begin(given(&["u", "v"]), &seeds);
        assert_eq!(kept(), seeds);
        begin(given(&["u", "v"]), &[]);
        assert_eq!(kept(), seeds, "nothing was begun");
        begin(given(&["w"]), &[]);
        assert_eq!(kept(), [""; 0]);
        begin(list(&["x"]), &seeds);
        assert_eq!(kept(), ["x", "u", "sitemap:v"]);
        Epochs::close(dir.path(), None, true, &[]).expect("it is there");
        assert_eq!(kept(), [""; 0]);
    }

    #[test]
    fn a_file_that_is_none_is_an_error_that_says_what_to_do() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join(NAME);
        for extent in [DUE, Extent::All] {
            begin(dir.path(), Some(extent), &["a", "b"], 7);
            begin(dir.path(), Some(given(&["u", "v"])), &["a", "b"], 7);
            begin(dir.path(), Some(list(&["u", "sitemap:v"])), &["a", "b"], 7);
            let good = fs::read(&path).expect("a file");
            let other = seal("crivello recrawl 5\nrecrawls 0\nseeds 0\n").into_bytes();
            let more = seal("crivello recrawl 6\nrecrawls 0\nseeds 0\nmore\n").into_bytes();
            let cut = seal("crivello recrawl 6\nrecrawls 1\nseeds 0\n").into_bytes();
            for bad in [good[1..].to_vec(), Vec::new(), vec![0xFF; 9], other, more, cut] {
                fs::write(&path, &bad).expect("a file");
                let error = Epochs::read(dir.path()).expect_err("it is no recrawl").to_string();
                assert!(error.contains("remove it") && error.contains("recrawl"), "{error}");
            }
            fs::remove_file(&path).expect("it is there");
        }
    }
}
