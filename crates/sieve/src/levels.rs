//! [`Levels`]: the set Z, as sorted runs in levels.
//!
//! What lives here: the list of runs, their merges, and the removal of their files. What does not:
//! the bytes of a run; see `run.rs`.
//!
//! Eight runs of a level are merged into one run of the next level. So a signature is written log₈
//! times the number of runs ever added, and a level has at most seven runs.
//!
//! **Invariant.** No two runs share a signature. A run that the last sync named stays on disk until
//! the next sync, even after a merge into a larger run.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::header::io_failed;
use crate::run::{self, Entry, Run, RunWriter, Scratch};
use crate::{SieveError, Signature};

/// The number of runs of one level that are merged into one run of the next.
const FANOUT: usize = 8;

/// The runs of Z.
#[derive(Debug)]
pub(crate) struct Levels {
    dir: PathBuf,
    /// The runs by level, and within a level by age.
    runs: Vec<Vec<Numbered>>,
    /// The number of runs ever written, which is also the number in the name of the next run.
    next: u64,
    /// Runs with smaller numbers may be named by the last sync.
    synced_next: u64,
    /// Runs that the last sync named and that were merged since.
    retired: Vec<PathBuf>,
}

#[derive(Debug)]
struct Numbered {
    number: u64,
    run: Run,
}

/// The runs that a sync names, each by level and number, and the number of the next run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) next: u64,
    pub(crate) runs: Vec<(usize, u64)>,
}

impl Levels {
    /// No runs; those of an earlier sieve in `dir` are removed.
    pub(crate) fn create(dir: &Path) -> Result<Self, SieveError> {
        Self::open(dir, &Names { next: 0, runs: Vec::new() })
    }

    /// The runs in `dir` that a sync named; others are removed.
    pub(crate) fn open(dir: &Path, names: &Names) -> Result<Self, SieveError> {
        let mut levels = Self {
            dir: dir.to_path_buf(),
            runs: Vec::new(),
            next: names.next,
            synced_next: names.next,
            retired: Vec::new(),
        };
        let keep: Vec<_> = names.runs.iter().map(|&(_, number)| run_path(dir, number)).collect();
        remove_runs(dir, &keep)?;
        for &(level, number) in &names.runs {
            let run = Run::open(run_path(dir, number))?;
            levels.keep(level, Numbered { number, run });
        }
        Ok(levels)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.runs.iter().all(Vec::is_empty)
    }

    /// The number of signatures in all runs.
    pub(crate) fn total(&self) -> u64 {
        self.each().map(Run::total).sum()
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        self.each().map(Run::memory_bytes).sum()
    }

    pub(crate) fn disk_bytes(&self) -> u64 {
        self.each().map(Run::disk_bytes).sum()
    }

    fn each(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().flatten().map(|numbered| &numbered.run)
    }

    /// Marks those of `entries`, sorted by signature, whose signature is in a run.
    pub(crate) fn mark_seen(&self, entries: &mut [Entry]) -> Result<(), SieveError> {
        let mut scratch = Scratch::default();
        self.each().try_for_each(|run| run.mark_seen(entries, &mut scratch))
    }

    /// Adds `signatures`, ascending, not empty and none of them in a run.
    pub(crate) fn add(
        &mut self,
        signatures: impl Iterator<Item = Signature>,
    ) -> Result<(), SieveError> {
        let mut out = RunWriter::create(run_path(&self.dir, self.next))?;
        for signature in signatures {
            out.push(signature.0)?;
        }
        let run = out.finish()?;
        self.keep_next(0, run);
        Ok(())
    }

    /// Merges the runs of each level that has too many. If a merge fails, the next call tries it
    /// again.
    pub(crate) fn merge(&mut self) -> Result<(), SieveError> {
        let mut level = 0;
        while let Some(runs) = self.runs.get(level) {
            if runs.len() >= FANOUT {
                let runs: Vec<_> = runs.iter().map(|numbered| &numbered.run).collect();
                let merged = run::merge(&runs, run_path(&self.dir, self.next))?;
                let old = std::mem::take(&mut self.runs[level]);
                self.keep_next(level + 1, merged);
                for numbered in old {
                    self.retire(&numbered)?;
                }
            }
            level += 1;
        }
        Ok(())
    }

    /// Brings all runs safely to disk and names them. A snapshot of the names may be written next,
    /// and then [`Levels::synced`] is called.
    pub(crate) fn sync(&self) -> Result<Names, SieveError> {
        let each = || {
            self.runs
                .iter()
                .enumerate()
                .flat_map(|(level, runs)| runs.iter().map(move |numbered| (level, numbered)))
        };
        for (_, numbered) in each().filter(|(_, numbered)| numbered.number >= self.synced_next) {
            numbered.run.sync()?;
        }
        let runs = each().map(|(level, numbered)| (level, numbered.number)).collect();
        Ok(Names { next: self.next, runs })
    }

    /// Removes the merged runs. Call it once a snapshot names the current runs.
    pub(crate) fn synced(&mut self) -> Result<(), SieveError> {
        self.synced_next = self.next;
        while let Some(path) = self.retired.pop() {
            fs::remove_file(&path).map_err(io_failed("remove", &path))?;
        }
        Ok(())
    }

    fn retire(&mut self, numbered: &Numbered) -> Result<(), SieveError> {
        let path = numbered.run.path();
        if numbered.number < self.synced_next {
            self.retired.push(path.clone());
            return Ok(());
        }
        fs::remove_file(path).map_err(io_failed("remove", path))
    }

    fn keep_next(&mut self, level: usize, run: Run) {
        self.keep(level, Numbered { number: self.next, run });
        self.next += 1;
    }

    fn keep(&mut self, level: usize, numbered: Numbered) {
        if self.runs.len() <= level {
            self.runs.resize_with(level + 1, Vec::new);
        }
        self.runs[level].push(numbered);
    }
}

const RUN_PREFIX: &str = "seen-";
const RUN_SUFFIX: &str = ".run";
const RUN_DIGITS: usize = 8;

fn run_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{RUN_PREFIX}{number:0RUN_DIGITS$}{RUN_SUFFIX}"))
}

/// Removes the runs in `dir` but those at the paths in `keep`.
fn remove_runs(dir: &Path, keep: &[PathBuf]) -> Result<(), SieveError> {
    let entries = fs::read_dir(dir).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    for entry in entries.map_err(io_failed("read", dir))? {
        if is_run(&entry.file_name()) && !keep.contains(&entry.path()) {
            fs::remove_file(entry.path()).map_err(io_failed("remove", &entry.path()))?;
        }
    }
    Ok(())
}

/// Returns whether a file of this name is a run.
pub(crate) fn is_run(name: &OsStr) -> bool {
    let number =
        name.to_str().and_then(|name| name.strip_prefix(RUN_PREFIX)?.strip_suffix(RUN_SUFFIX));
    number.is_some_and(is_run_number)
}

/// Returns whether [`run_path`] writes a number in this way.
fn is_run_number(text: &str) -> bool {
    let is_filled_up = text.len() == RUN_DIGITS || !text.starts_with('0');
    text.len() >= RUN_DIGITS && is_filled_up && text.bytes().all(|byte| byte.is_ascii_digit())
}
