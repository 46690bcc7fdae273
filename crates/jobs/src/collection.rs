//! A collection: one folder that holds everything from the configuration to the index.
//!
//! What lives here: the names of its parts and the lock that keeps two writers apart. What does not:
//! what is inside the parts.
//!
//! **Invariant.** At most one process writes to a collection; readers need no lock, since every
//! stage renames whole outputs into place.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use index::Index;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::{JobsError, Vector};

/// The folder of a collection and the names inside it.
#[derive(Debug, Clone)]
pub struct Collection {
    root: PathBuf,
}

/// Held while a process writes to a collection; dropping it, or dying, lets go.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Whoever cannot read who holds it still finds that nobody does.
        let _ = self.file.set_len(0);
    }
}

/// Who writes to a collection right now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Writer {
    /// The command.
    pub command: String,
    /// The number of its process.
    pub process: u32,
}

impl fmt::Display for Writer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`crivello {}`, process {}", self.command, self.process)
    }
}

impl Writer {
    /// As the lock has it.
    fn parse(text: &str) -> Option<Writer> {
        let (command, process) = text.strip_suffix('\n')?.split_once(' ')?;
        Some(Writer { command: command.to_owned(), process: process.parse().ok()? })
    }
}

/// How often a lock is tried, and how long one waits in between: whoever asks [`Collection::writer`] holds it for
/// a moment.
const TRIES: u32 = 10;
const TRY_MS: u64 = 20;
/// Bytes that a name in a lock may have.
const WRITER_BYTES_MAX: u64 = 256;

impl Collection {
    /// An existing collection; an error that says what to do where `root` is not one.
    pub fn open(root: &Path) -> Result<Self, JobsError> {
        let collection = Self { root: root.to_owned() };
        if collection.config_file().is_file() || collection.archive_dir().is_dir() {
            Ok(collection)
        } else {
            match fs::read_dir(root) {
                Err(source) if source.kind() != ErrorKind::NotFound => {
                    Err(JobsError::Io { path: root.to_owned(), source })
                }
                _ => Err(JobsError::NotACollection { path: root.to_owned() }),
            }
        }
    }

    /// Makes the folders of a collection where they are missing.
    pub fn create(root: &Path) -> Result<Self, JobsError> {
        let collection = Self { root: root.to_owned() };
        for folder in [collection.archive_dir(), collection.frontier_dir()] {
            fs::create_dir_all(&folder).map_err(JobsError::io(&folder))?;
        }
        Ok(collection)
    }

    /// Takes the right to write for a command, or says who else has it.
    pub fn lock(&self, command: &str) -> Result<Lock, JobsError> {
        let path = self.lock_file();
        let open =
            || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open().map_err(JobsError::io(&path))?;
        for tries in 1.. {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if tries < TRIES => {
                    thread::sleep(Duration::from_millis(TRY_MS));
                }
                Err(TryLockError::WouldBlock) => {
                    let (path, writer) = (self.root.clone(), read_writer(&mut file));
                    return Err(JobsError::Busy { path, writer });
                }
                Err(TryLockError::Error(source)) => return Err(JobsError::Io { path, source }),
            }
        }
        let text = format!("{command} {}\n", std::process::id());
        file.set_len(0)
            .and_then(|()| file.write_all(text.as_bytes()))
            .map_err(JobsError::io(&path))?;
        Ok(Lock { file })
    }

    /// Who writes to the collection right now; `None` if nobody does, or nobody can tell.
    pub fn writer(&self) -> Option<Writer> {
        let mut file = File::open(self.lock_file()).ok()?;
        // One that was killed leaves its name: only the lock itself tells.
        let writer = read_writer(&mut file)?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(writer),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }

    fn lock_file(&self) -> PathBuf {
        self.root.join(".lock")
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `crivello.toml`.
    pub fn config_file(&self) -> PathBuf {
        self.root.join("crivello.toml")
    }

    /// WARC and CDXJ files: the only source of truth.
    pub fn archive_dir(&self) -> PathBuf {
        self.root.join("archive")
    }

    /// The crawl's scratch folder.
    pub fn frontier_dir(&self) -> PathBuf {
        self.root.join("frontier")
    }

    /// The page table.
    pub fn pages_dir(&self) -> PathBuf {
        self.root.join("pages")
    }

    /// The link graph and the rank vectors.
    pub fn graph_dir(&self) -> PathBuf {
        self.root.join("graph")
    }

    /// The compressed graph inside [`Self::graph_dir`].
    pub fn links_dir(&self) -> PathBuf {
        self.graph_dir().join("links")
    }

    /// PageRank by node.
    pub fn ranks_file(&self) -> PathBuf {
        self.rank_file(&Vector::pagerank())
    }

    /// A vector by node.
    pub(crate) fn rank_file(&self, vector: &Vector) -> PathBuf {
        self.graph_dir().join(format!("{}.ranks", vector.stem()))
    }

    /// What a vector was computed from, and how.
    pub(crate) fn rank_source_file(&self, vector: &Vector) -> PathBuf {
        self.graph_dir().join(format!("{}.source", vector.stem()))
    }

    /// A vector by document of one generation of the index.
    pub fn document_ranks_file(&self, index: &Index, vector: &Vector) -> PathBuf {
        let begin = self.document_ranks_begin(index);
        self.graph_dir().join(format!("{begin}{}.ranks", vector.stem()))
    }

    /// How the names of all vectors by document of one generation of the index begin.
    #[expect(clippy::unused_self, reason = "it names files of a collection")]
    pub(crate) fn document_ranks_begin(&self, index: &Index) -> String {
        // An index that was deleted begins again at the first generation: the number is not enough.
        let source = xxh3_64(index.source().as_bytes());
        format!("documents-{}-{source:016x}.", index.generation())
    }

    /// There while vectors by document may be of others by page than there are.
    pub(crate) fn stale_ranks_file(&self) -> PathBuf {
        self.graph_dir().join("stale")
    }

    /// The ranks that users brought, by URL.
    pub(crate) fn imported_ranks_dir(&self) -> PathBuf {
        self.root.join("ranks")
    }

    /// One of them.
    pub(crate) fn imported_ranks_file(&self, name: &str) -> PathBuf {
        self.imported_ranks_dir().join(format!("{name}.values"))
    }

    /// The index.
    pub fn index_dir(&self) -> PathBuf {
        self.root.join("index")
    }

    /// The clusters of near-duplicates.
    pub fn dups_dir(&self) -> PathBuf {
        self.root.join("dups")
    }
}

/// The name that a lock has.
fn read_writer(file: &mut File) -> Option<Writer> {
    let mut text = String::new();
    file.take(WRITER_BYTES_MAX).read_to_string(&mut text).ok()?;
    Writer::parse(&text)
}
