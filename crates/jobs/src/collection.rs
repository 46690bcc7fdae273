//! A collection: one folder that holds everything from the configuration to the index.
//!
//! What lives here: the names of its parts and the lock that keeps two writers apart. What does not:
//! what is inside the parts.
//!
//! **Invariant.** At most one process writes to a collection; readers need no lock, since every
//! stage renames whole outputs into place.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use index::Index;
use xxhash_rust::xxh3::xxh3_64;

use crate::JobsError;

/// The folder of a collection and the names inside it.
#[derive(Debug, Clone)]
pub struct Collection {
    root: PathBuf,
}

/// Held while a process writes to a collection; dropping it, or dying, lets go.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

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

    /// Takes the right to write, or says that somebody else has it.
    pub fn lock(&self) -> Result<Lock, JobsError> {
        let path = self.root.join(".lock");
        let file = File::create(&path).map_err(JobsError::io(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(JobsError::Busy { path: self.root.clone() }),
            Err(TryLockError::Error(source)) => Err(JobsError::Io { path, source }),
        }
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
        self.graph_dir().join("pagerank.ranks")
    }

    /// What the ranks were computed from, and how.
    pub(crate) fn ranks_source_file(&self) -> PathBuf {
        self.graph_dir().join("pagerank.source")
    }

    /// PageRank by document of one generation of the index.
    pub fn document_ranks_file(&self, index: &Index) -> PathBuf {
        // An index that was deleted begins again at the first generation: the number is not enough.
        let source = xxh3_64(index.source().as_bytes());
        self.graph_dir().join(format!("documents-{}-{source:016x}.ranks", index.generation()))
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
