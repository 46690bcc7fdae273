//! The index of a folder, as it was committed last.
//!
//! What lives here: opening a generation and holding it. What does not: what its files mean
//! (`segment/`), and how one generation follows another (`writer.rs`).
//!
//! **Invariant.** All segments of an [`Index`] are of one generation. They stay readable when a later
//! one is committed and even when their files are removed, because they are mapped from the start. What is not read as
//! it was written is told by [`Index::intact`].

use crate::manifest::Manifest;
use crate::{IndexError, Segment};
use std::io::ErrorKind;
use std::path::Path;

/// How many generations may come and go while one is being opened.
const ATTEMPTS_MAX: u32 = 64;

/// One generation of an index, open for reading by any number of threads.
#[derive(Debug)]
pub struct Index {
    manifest: Manifest,
    segments: Vec<Segment>,
}

impl Index {
    /// Opens the newest generation in a folder, in time that does not depend on its size.
    pub fn open(dir: &Path) -> Result<Index, IndexError> {
        let mut manifest = Manifest::read(dir)?;
        for _ in 0..ATTEMPTS_MAX {
            match open_segments(dir, &manifest) {
                Ok(segments) => return Ok(Index { manifest, segments }),
                Err(error) if is_missing(&error) => {
                    // Removed since the manifest was read: then there is a newer one.
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

    /// What the newest generation in a folder was built from, also if it is of another version of the format, or damaged.
    pub fn source_in(dir: &Path) -> Result<String, IndexError> {
        Manifest::read_source(dir)
    }

    /// The number of this generation; every commit has a greater one than those before.
    pub fn generation(&self) -> u64 {
        self.manifest.generation
    }

    /// What it was built from, as said at the commit.
    pub fn source(&self) -> &str {
        &self.manifest.source
    }

    /// Its segments, in the order in which their documents were added.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// How many documents can be found: those that are not deleted.
    pub fn live_count(&self) -> u64 {
        let deleted = self.segments.iter().map(|segment| u64::from(segment.deleted_count()));
        self.doc_count() - deleted.sum::<u64>()
    }

    /// How many documents all segments have, deleted ones included.
    pub fn doc_count(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.doc_count())).sum()
    }

    /// Whether all that has been read so far was as it was written, as [`Segment::intact`] says.
    pub fn intact(&self) -> Result<(), IndexError> {
        self.segments.iter().try_for_each(Segment::intact)
    }

    /// The same, once somebody has found one of the files damaged under its name ([`IndexError::Damaged`]): if it is one of
    /// ours, what was read of it is verified again, also if the system says that nobody has written to it.
    pub fn doubted(&self, file: &Path) -> Result<(), IndexError> {
        self.segments.iter().try_for_each(|segment| segment.doubted(file))
    }

    /// Whether what was once found damaged at a byte of a file ([`IndexError::Damaged`]) is as it was written by now, or is
    /// none of ours any more.
    pub fn is_whole_at(&self, file: &Path, offset: u64) -> bool {
        self.segments.iter().all(|segment| segment.is_whole_at(file, offset))
    }

    /// Whether this and another reader have the same files open: of one generation they have, unless somebody has put
    /// others in their place, or has touched them.
    pub fn has_files_of(&self, other: &Index) -> bool {
        let mut both = self.segments.iter().zip(&other.segments);
        self.segments.len() == other.segments.len()
            && both.all(|(one, other)| one.has_files_of(other))
    }

    /// Verifies every byte of every segment, and that the files agree with each other.
    pub fn verify(&self) -> Result<(), IndexError> {
        self.segments.iter().try_for_each(Segment::verify)
    }
}

fn open_segments(dir: &Path, manifest: &Manifest) -> Result<Vec<Segment>, IndexError> {
    manifest.segments.iter().map(|meta| Segment::open(dir, meta)).collect()
}

/// A file that the manifest names and that is not there is damage: what to do is the same.
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
