//! Archive files that are gone or have become shorter, until a run reports it: the file `frontier/unreported`.
//!
//! What lives here: [`Untold`]. What shows a loss goes in the run that finds it: the logs of visits are made anew, and CDXJ
//! files forget it that do not know what was lost. So the run takes a note first, and its report ends that. Damage that a run
//! finds is noted likewise, in `frontier/unreported-damage`. What does not: what was lost with a file (`gone.rs`).
//!
//! **Invariant.** A loss is in the file before anything goes that shows it, until it is in a report.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use archive::Archive;
use durable::{read_sealed, replace, seal};

use crate::checkpoint::newly_lost;
use crate::error::CrawlError;

const NAME: &str = "unreported";
const DAMAGE: &str = "unreported-damage";

/// The names of the files, and how many bytes were left of each.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Untold(BTreeMap<String, u64>);

impl Untold {
    /// What was noted, as far as it is still so: a whole file may have been put back. Nothing, if the note is not as it
    /// was written.
    pub(crate) fn read(frontier: &Path, archive: &Archive) -> Result<Untold, CrawlError> {
        let mut untold = Untold::kept(frontier)?.unwrap_or_default();
        for (name, left) in std::mem::take(&mut untold.0) {
            if left_of(archive, &name)? <= left {
                untold.0.insert(name, left);
            }
        }
        Ok(untold)
    }

    /// The same and what is newly found, noted for later runs; then nothing else needs to show what nobody knows more of.
    pub(crate) fn keep(frontier: &Path, archive: &Archive) -> Result<Untold, CrawlError> {
        let mut untold = Untold::read(frontier, archive)?;
        let unknown = unknown(archive)?;
        // One that is there, and whose log tells of no loss, may be damaged in the middle, and is told as that.
        let gone = unknown.iter().filter(|name| !archive.files().contains(name));
        for name in newly_lost(frontier, archive)?.iter().chain(gone) {
            untold.0.insert(name.clone(), left_of(archive, name)?);
        }
        if !untold.0.is_empty() {
            let line = |(name, left): (&String, &u64)| format!("{left} {name}\n");
            let lines: String = untold.0.iter().map(line).collect();
            let path = frontier.join(NAME);
            replace(&path, seal(&lines)).map_err(CrawlError::io(&path))?;
        }
        for name in unknown {
            archive.forget(&name)?;
        }
        Ok(untold)
    }

    /// Takes note of damage that a run has found, before a log says that it was seen.
    pub(crate) fn keep_damage(frontier: &Path, damage: &str) -> Result<(), CrawlError> {
        let path = frontier.join(DAMAGE);
        replace(&path, seal(&format!("{}\n", damage.replace('\n', " "))))
            .map_err(CrawlError::io(&path))
    }

    /// The damage that was noted; none if the note is not as it was written.
    pub(crate) fn damage(frontier: &Path) -> Result<Option<String>, CrawlError> {
        let path = frontier.join(DAMAGE);
        let lines = read_sealed(&path).map_err(CrawlError::io(&path))?.unwrap_or_default();
        Ok(lines.lines().next().map(str::to_owned))
    }

    /// All of it is told.
    pub(crate) fn end(frontier: &Path) -> Result<(), CrawlError> {
        for path in [NAME, DAMAGE].map(|name| frontier.join(name)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(CrawlError::io(&path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(crate) fn into_names(self) -> impl Iterator<Item = String> {
        self.0.into_keys()
    }

    /// What is in the file; `None` if it is not as it was written.
    pub(crate) fn kept(frontier: &Path) -> Result<Option<Untold>, CrawlError> {
        let path = frontier.join(NAME);
        let lines = read_sealed(&path).map_err(CrawlError::io(&path))?;
        let parse = |line: &str| {
            let (left, name) = line.split_once(' ')?;
            Some((name.to_owned(), left.parse().ok()?))
        };
        Ok(lines.map(|lines| Untold(lines.lines().filter_map(parse).collect())))
    }
}

/// Fails if the note in the folder `frontier` is not as it was written.
pub fn check_unreported_losses(frontier: &Path) -> Result<(), CrawlError> {
    Untold::kept(frontier)?.map(|_| ()).ok_or(CrawlError::Note { path: frontier.join(NAME) })
}

/// How many bytes of a file there are.
fn left_of(archive: &Archive, name: &str) -> Result<u64, CrawlError> {
    Ok(archive.length(name)?.unwrap_or(0))
}

/// The files that have lost something by their CDXJ files, and these do not know what.
fn unknown(archive: &Archive) -> Result<Vec<String>, CrawlError> {
    let mut unknown = Vec::new();
    for name in archive.gone()? {
        let mut is_known = false;
        archive.each_gone(&name, &mut |line| is_known |= !line.url.is_empty())?;
        unknown.extend((!is_known).then_some(name));
    }
    Ok(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::named_files;

    #[test]
    fn what_is_noted_is_told_until_it_is_put_back_and_its_name_is_taken() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dir = dir.path();
        let [short, gone] = [1, 2].map(|number| format!("crivello-0000{number}.warc.gz"));
        let read = || {
            let archive = Archive::open(dir).expect("a folder");
            Untold::read(dir, &archive).expect("a file").into_names().collect::<Vec<_>>()
        };
        assert_eq!(read(), Vec::<String>::new());
        fs::write(dir.join(&short), "short").expect("room");
        fs::write(dir.join(NAME), seal(&format!("5 {short}\n0 {gone}\n"))).expect("room");
        assert_eq!(read(), [short.as_str(), &gone]);
        check_unreported_losses(dir).expect("it is as it was written");
        // Neither is that of a new file, though its bytes say that it was put back.
        fs::write(dir.join(&short), "longer").expect("room");
        fs::write(dir.join(&gone), "back").expect("room");
        assert_eq!(read(), Vec::<String>::new());
        assert_eq!(named_files(dir).into_iter().collect::<Vec<_>>(), [short, gone]);
        let whole = fs::read(dir.join(NAME)).expect("it is there");
        fs::write(dir.join(NAME), &whole[1..]).expect("room");
        assert_eq!(Untold::kept(dir).expect("a file"), None);
        check_unreported_losses(dir).expect_err("it is damaged");
        Untold::end(dir).expect("it is there");
        Untold::end(dir).expect("it need not be there");
        assert_eq!(Untold::kept(dir).expect("no file"), Some(Untold::default()));
    }
}
