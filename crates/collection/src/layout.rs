//! A collection: one folder that holds everything from the configuration to the index.
//!
//! What lives here: the names of its parts and the lock that keeps two writers apart. What does not:
//! what is inside the parts.
//!
//! **Invariant.** At most one process writes to a collection; readers need no lock, since every
//! stage renames whole outputs into place.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use index::Index;
use xxhash_rust::xxh3::xxh3_64;

use crate::writer::Writer;
use crate::{CollectionError, Vector};

/// The folder of a collection and the names inside it.
#[derive(Debug, Clone)]
pub struct Collection {
    root: PathBuf,
}

/// Right to write to a collection. Dropping it releases the lock, and so does the end of the process.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // An error may leave the writer's name in the file. `Collection::writer` also checks the lock itself.
        let _ = self.file.set_len(0);
    }
}

/// Number of attempts to take the lock. [`Collection::writer`] holds a shared lock for a moment, so one attempt may
/// fail.
const TRIES: u32 = 10;
const TRY_MS: u64 = 20;
/// Maximum number of bytes to read from the lock file.
const WRITER_BYTES_MAX: u64 = 256;

impl Collection {
    /// Opens an existing collection. Returns an error with advice if `root` is not a collection.
    pub fn open(root: &Path) -> Result<Self, CollectionError> {
        let collection = Self { root: root.to_owned() };
        if collection.config_file().is_file() || collection.archive_dir().is_dir() {
            Ok(collection)
        } else {
            match fs::read_dir(root) {
                Err(source) if source.kind() != ErrorKind::NotFound => {
                    Err(CollectionError::Io { path: root.to_owned(), source })
                }
                _ => Err(CollectionError::NotACollection { path: root.to_owned() }),
            }
        }
    }

    /// Creates the missing folders of a collection.
    pub fn create(root: &Path) -> Result<Self, CollectionError> {
        let collection = Self { root: root.to_owned() };
        for folder in [collection.archive_dir(), collection.frontier_dir()] {
            fs::create_dir_all(&folder).map_err(CollectionError::io(&folder))?;
        }
        Ok(collection)
    }

    /// Locks the collection for a command. Returns [`CollectionError::Busy`] with the writer if another process holds the
    /// lock.
    pub fn lock(&self, command: &str) -> Result<Lock, CollectionError> {
        let path = self.lock_file();
        let open =
            || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open().map_err(CollectionError::io(&path))?;
        for tries in 1.. {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if tries < TRIES => {
                    thread::sleep(Duration::from_millis(TRY_MS));
                }
                Err(TryLockError::WouldBlock) => {
                    let (path, writer) = (self.root.clone(), read_writer(&mut file));
                    return Err(CollectionError::Busy { path, writer });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(CollectionError::Io { path, source });
                }
            }
        }
        let text = format!("{command} {}\n", std::process::id());
        file.set_len(0)
            .and_then(|()| file.write_all(text.as_bytes()))
            .map_err(CollectionError::io(&path))?;
        Ok(Lock { file })
    }

    /// Returns the process that writes to the collection. Returns `None` if the lock is free or cannot be read.
    pub fn writer(&self) -> Option<Writer> {
        let mut file = File::open(self.lock_file()).ok()?;
        // A killed process leaves its name in the file, so the lock itself decides.
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

    /// The file of a vector by node.
    pub(crate) fn rank_file(&self, vector: &Vector) -> PathBuf {
        self.graph_dir().join(format!("{}.ranks", vector.stem()))
    }

    /// The file with the graph and the settings that a vector was computed from.
    pub(crate) fn rank_source_file(&self, vector: &Vector) -> PathBuf {
        self.graph_dir().join(format!("{}.source", vector.stem()))
    }

    /// A vector by document of one generation of the index.
    pub fn document_ranks_file(&self, index: &Index, vector: &Vector) -> PathBuf {
        let begin = self.document_ranks_begin(index);
        self.graph_dir().join(format!("{begin}{}.ranks", vector.stem()))
    }

    /// The prefix of the file names of all vectors by document of one generation of the index.
    #[expect(clippy::unused_self, reason = "it names files of a collection")]
    pub(crate) fn document_ranks_begin(&self, index: &Index) -> String {
        // A deleted index restarts at generation 1, so the generation alone does not identify it.
        let source = xxh3_64(index.source().as_bytes());
        format!("documents-{}-{source:016x}.", index.generation())
    }

    /// A marker file: it exists while the vectors by document may be older than the vectors by node.
    pub(crate) fn stale_ranks_file(&self) -> PathBuf {
        self.graph_dir().join("stale")
    }

    /// The ranks that users brought, by URL.
    pub(crate) fn imported_ranks_dir(&self) -> PathBuf {
        self.root.join("ranks")
    }

    /// The file of one imported rank.
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

/// Reads the name of the writer from a lock file.
fn read_writer(file: &mut File) -> Option<Writer> {
    let mut text = String::new();
    file.take(WRITER_BYTES_MAX).read_to_string(&mut text).ok()?;
    Writer::parse(&text)
}
