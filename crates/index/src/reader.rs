//! The last committed generation of an index.
//!
//! What lives here: opening a generation and keeping it open. The files are in `segment/`, commits in
//! `build/writer.rs`.
//!
//! **Invariant.** All segments of an [`Index`] belong to one generation. They are mapped from the start, so they
//! stay readable after later commits, even when their files are removed. [`Index::intact`] reports changed files.

use crate::manifest::Manifest;
use crate::{IndexError, Segment};
use std::io::ErrorKind;
use std::path::Path;

/// Largest number of commits that may happen while an index is being opened.
const ATTEMPTS_MAX: u32 = 64;

/// One generation of an index, open for reading by any number of threads.
#[derive(Debug)]
pub struct Index {
    manifest: Manifest,
    segments: Vec<Segment>,
}

impl Index {
    /// Opens the newest generation in a folder. The time does not depend on its size.
    pub fn open(dir: &Path) -> Result<Index, IndexError> {
        let mut manifest = Manifest::read(dir)?;
        for _ in 0..ATTEMPTS_MAX {
            match open_segments(dir, &manifest) {
                Ok(segments) => return Ok(Index { manifest, segments }),
                Err(error) if is_missing(&error) => {
                    // The file was removed after the manifest was read, so there must be a newer manifest.
                    let newest = Manifest::read(dir)?;
                    if newest == manifest {
                        return Err(missing(error));
                    }
                    manifest = newest;
                }
                Err(error) => return Err(error),
            }
        }
        Err(IndexError::Locked { path: dir.to_path_buf() })
    }

    /// The source of the newest generation, as passed to its commit. Also works for other format versions and
    /// damaged segments.
    pub fn source_in(dir: &Path) -> Result<String, IndexError> {
        Manifest::read_source(dir)
    }

    /// The number of this generation. It grows with every commit.
    pub fn generation(&self) -> u64 {
        self.manifest.generation
    }

    /// The source of the index, as passed to the commit.
    pub fn source(&self) -> &str {
        &self.manifest.source
    }

    /// The segments, in the order in which their documents were added.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Number of documents that are not deleted.
    pub fn live_count(&self) -> u64 {
        let deleted = self.segments.iter().map(|segment| u64::from(segment.deleted_count()));
        self.doc_count() - deleted.sum::<u64>()
    }

    /// Number of documents, including deleted ones.
    pub fn doc_count(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.doc_count())).sum()
    }

    /// Checks that all bytes read so far were valid: [`Segment::intact`] for every segment.
    pub fn intact(&self) -> Result<(), IndexError> {
        self.segments.iter().try_for_each(Segment::intact)
    }

    /// Like [`Index::intact`], but verifies a file again that another reader found damaged
    /// ([`IndexError::Damaged`]), even if its metadata has not changed.
    pub fn doubted(&self, file: &Path) -> Result<(), IndexError> {
        self.segments.iter().try_for_each(|segment| segment.doubted(file))
    }

    /// Returns whether a file that was found damaged at an offset ([`IndexError::Damaged`]) is valid again or no
    /// longer part of this index.
    pub fn is_whole_at(&self, file: &Path, offset: u64) -> bool {
        self.segments.iter().all(|segment| segment.is_whole_at(file, offset))
    }

    /// Returns whether both readers have the same files open. Readers of one generation do, unless somebody
    /// replaced or touched a file.
    pub fn has_files_of(&self, other: &Index) -> bool {
        let mut both = self.segments.iter().zip(&other.segments);
        self.segments.len() == other.segments.len()
            && both.all(|(one, other)| one.has_files_of(other))
    }

    /// Verifies every byte of every segment, and that the files are consistent.
    pub fn verify(&self) -> Result<(), IndexError> {
        self.segments.iter().try_for_each(Segment::verify)
    }
}

fn open_segments(dir: &Path, manifest: &Manifest) -> Result<Vec<Segment>, IndexError> {
    manifest.segments.iter().map(|meta| Segment::open(dir, meta)).collect()
}

/// A missing file is damage: the cure is the same.
fn missing(error: IndexError) -> IndexError {
    match error {
        IndexError::Io { path: file, .. } => {
            IndexError::Damaged { file, offset: 0, what: "it is not there" }
        }
        other => other,
    }
}

fn is_missing(error: &IndexError) -> bool {
    matches!(error, IndexError::Io { source, .. } if source.kind() == ErrorKind::NotFound)
}
