//! [`OfflineSieve`]: only sorted files on disk, and a buffer of fixed size in memory.
//!
//! What lives here: the three sets of S5 and the merge between them. *Z*, the seen: immutable
//! sorted runs of signatures (`run.rs`). *A*, the encountered since the last merge: their keys in a
//! file (`keys.rs`), in memory only a buffer of signature and position. *F*, the frontier: new keys
//! that wait for a flush, in a file. What does not: a return after the process has ended. The
//! keys can always be offered again, and [`OfflineSieve::create`] starts from nothing.
//!
//! **A merge** sorts the buffer by signature and keeps of equal ones the first; strikes out what the
//! runs hold, each read once from front to end and only where it can matter; writes the rest as a
//! run; then sorts by position and copies the keys, in order of first encounter, from A to F. It
//! takes place when the buffer is full and at each flush. Eight runs of a level are merged into one
//! of the next: a signature is written log₈ times the number of merges, and there are at most
//! seven runs a level.
//!
//! **Memory.** Sixteen bytes for each key of the buffer, sixteen for each 4096 signatures of Z, and
//! about a megabyte at most for files being read and written.
//!
//! **Invariant.** No two runs share a signature. A signature is in a run if and only if its key is in
//! F or was emitted. A merge that fails changes neither Z nor F, and leaves A to the next one.
//!
//! **Reference.** A. Heydon, M. Najork, "Mercator: a scalable, extensible web crawler", World Wide
//! Web 2(4), 1999; P. Boldi et al., "`BUbiNG`: massive crawling for the masses", ACM Transactions
//! on the Web 12(2), 2018, for the order of first encounter.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::header::{self, Kind, io_failed};
use crate::keys::KeyFile;
use crate::run::{self, Entry, Run, RunWriter, Scratch};
use crate::{KEY_BYTES_MAX, Sieve, SieveError, Stats, expected_collisions, signature};

/// As many runs of one level become one run of the next.
const FANOUT: usize = 8;

/// A sieve that keeps on disk all but a buffer of fixed size.
#[derive(Debug)]
pub struct OfflineSieve {
    dir: PathBuf,
    buffer_keys: usize,
    buffer: Vec<Entry>,
    encountered: KeyFile,
    /// The runs of Z, by level; within a level by age.
    seen: Vec<Vec<Run>>,
    frontier: KeyFile,
    /// Where in the frontier the first key begins that was not emitted yet.
    emitted_end: u64,
    /// How many runs were ever written; the number in the name of the next one.
    runs: u64,
    stats: Stats,
}

impl OfflineSieve {
    /// An empty sieve with its files in `dir`, which is made if it is not there. Files that an earlier
    /// sieve left there are removed, others are not touched. A merge takes place every
    /// `buffer_keys` offers at the latest (at least one), and costs sixteen bytes of memory for
    /// each of them.
    pub fn create(dir: &Path, buffer_keys: usize) -> Result<Self, SieveError> {
        fs::create_dir_all(dir).map_err(io_failed("create", dir))?;
        remove_runs(dir)?;
        Ok(Self {
            dir: dir.to_path_buf(),
            buffer_keys: buffer_keys.max(1),
            buffer: Vec::new(),
            encountered: KeyFile::create(dir.join("encountered.keys"), Kind::Encountered)?,
            seen: Vec::new(),
            frontier: KeyFile::create(dir.join("frontier.keys"), Kind::Frontier)?,
            emitted_end: header::LEN,
            runs: 0,
            stats: Stats::default(),
        })
    }

    fn merge(&mut self) -> Result<(), SieveError> {
        // What an earlier merge had to leave, so that a level never grows past its runs.
        self.merge_levels()?;
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.buffer.sort_unstable();
        self.buffer.dedup_by_key(|entry| entry.signature);
        let mut scratch = Scratch::default();
        for run in self.seen.iter().flatten() {
            run.mark_seen(&mut self.buffer, &mut scratch)?;
        }
        self.buffer.retain(|entry| entry.position != Entry::SEEN);
        if !self.buffer.is_empty() {
            self.let_through()?;
        }
        self.buffer.clear();
        self.encountered.clear()?;
        self.merge_levels()
    }

    /// Adds what is in the buffer, all of it new, to Z and to F, or to neither.
    fn let_through(&mut self) -> Result<(), SieveError> {
        let path = self.run_path();
        let frontier_end = self.frontier.end();
        let run = write_run(&path, &self.buffer).and_then(|run| {
            self.buffer.sort_unstable_by_key(|entry| entry.position);
            copy_keys(&self.buffer, &mut self.encountered, &mut self.frontier)?;
            Ok(run)
        });
        match run {
            Ok(run) => {
                self.stats.seen += self.buffer.len() as u64;
                self.keep_run(0, run);
                Ok(())
            }
            Err(error) => {
                self.frontier.truncate(frontier_end);
                Err(error)
            }
        }
    }

    /// Merges the runs of each level that has too many.
    fn merge_levels(&mut self) -> Result<(), SieveError> {
        let mut level = 0;
        while let Some(runs) = self.seen.get(level) {
            if runs.len() >= FANOUT {
                let merged = run::merge(runs, self.run_path())?;
                let old = std::mem::take(&mut self.seen[level]);
                self.keep_run(level + 1, merged);
                for run in old {
                    fs::remove_file(run.path()).map_err(io_failed("remove", run.path()))?;
                }
            }
            level += 1;
        }
        Ok(())
    }

    fn run_path(&self) -> PathBuf {
        self.dir.join(format!("{RUN_PREFIX}{:0RUN_DIGITS$}{RUN_SUFFIX}", self.runs))
    }

    fn keep_run(&mut self, level: usize, run: Run) {
        if self.seen.len() <= level {
            self.seen.resize_with(level + 1, Vec::new);
        }
        self.seen[level].push(run);
        self.runs += 1;
    }

    /// Makes room for one more entry without ever reserving more than the buffer may take.
    fn reserve(&mut self) {
        if self.buffer.len() == self.buffer.capacity() {
            let more = self.buffer.len().max(64).min(self.buffer_keys - self.buffer.len());
            self.buffer.reserve_exact(more);
        }
    }
}

impl Sieve for OfflineSieve {
    fn offer(&mut self, key: &[u8]) -> Result<(), SieveError> {
        if key.len() > KEY_BYTES_MAX {
            return Err(SieveError::KeyTooLong { len: key.len(), max: KEY_BYTES_MAX });
        }
        if self.buffer.len() >= self.buffer_keys {
            self.merge()?;
        }
        let position = self.encountered.append(key)?;
        self.reserve();
        self.buffer.push(Entry { signature: signature(key).0, position });
        self.stats.offered += 1;
        Ok(())
    }

    fn flush(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), SieveError> {
        self.merge()?;
        let mut keys = self.frontier.reader()?;
        keys.skip_to(self.emitted_end)?;
        while let Some(key) = keys.next_key()? {
            emit(key);
            self.emitted_end = keys.position();
            self.stats.emitted += 1;
        }
        self.emitted_end = header::LEN;
        self.frontier.clear()
    }

    fn stats(&self) -> Stats {
        let files = [&self.encountered, &self.frontier];
        let runs = || self.seen.iter().flatten();
        let buffer_bytes = (self.buffer.capacity() * size_of::<Entry>()) as u64;
        Stats {
            expected_collisions: expected_collisions(self.stats.seen),
            memory_bytes: buffer_bytes
                + files.iter().map(|file| file.memory_bytes()).sum::<u64>()
                + runs().map(Run::memory_bytes).sum::<u64>(),
            disk_bytes: files.iter().map(|file| file.end()).sum::<u64>()
                + runs().map(Run::disk_bytes).sum::<u64>(),
            ..self.stats
        }
    }
}

const RUN_PREFIX: &str = "seen-";
const RUN_SUFFIX: &str = ".run";
const RUN_DIGITS: usize = 8;

/// Writes a run of the signatures of `entries`, sorted by them.
fn write_run(path: &Path, entries: &[Entry]) -> Result<Run, SieveError> {
    let mut out = RunWriter::create(path.to_path_buf())?;
    for entry in entries {
        out.push(entry.signature)?;
    }
    out.finish()
}

/// Appends the keys of `entries`, sorted by position, to the end of `target`.
fn copy_keys(
    entries: &[Entry],
    source: &mut KeyFile,
    target: &mut KeyFile,
) -> Result<(), SieveError> {
    let mut keys = source.reader()?;
    for entry in entries {
        keys.skip_to(entry.position)?;
        let key = keys.next_key()?.expect("the buffer holds positions of keys in A");
        target.append(key)?;
    }
    Ok(())
}

/// Removes the runs of an earlier sieve; its other two files are written over.
fn remove_runs(dir: &Path) -> Result<(), SieveError> {
    let entries = fs::read_dir(dir).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    for entry in entries.map_err(io_failed("read", dir))? {
        let name = entry.file_name();
        let number =
            name.to_str().and_then(|name| name.strip_prefix(RUN_PREFIX)?.strip_suffix(RUN_SUFFIX));
        if number.is_some_and(is_run_number) {
            fs::remove_file(entry.path()).map_err(io_failed("remove", &entry.path()))?;
        }
    }
    Ok(())
}

/// Whether [`OfflineSieve::run_path`] writes a number in this way.
fn is_run_number(text: &str) -> bool {
    let is_filled_up = text.len() == RUN_DIGITS || !text.starts_with('0');
    text.len() >= RUN_DIGITS && is_filled_up && text.bytes().all(|byte| byte.is_ascii_digit())
}
