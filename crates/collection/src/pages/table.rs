//! The page table as a whole: its parts, its directory, and rows by pointer.
//!
//! **Invariant.** `pages/parts` names the options of the parts and, for each part, its archive file and that file's
//! length. A part whose file has changed length is rebuilt. All parts are rebuilt after a change of options. The
//! directory is written before the list. A list that names every archive file therefore proves that the directory is
//! complete.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use codes::vbyte;

use super::directory::{Directory, DirectoryBuilder};
use super::part::{Part, Rows};
use super::row::{CaptureOutcome, PagePointer, PageRow, put_text, take_text};
use crate::{Collection, CollectionError, disk};

const MAGIC: [u8; 8] = *b"CRVPART\x01";
/// Parts that a pointer can name.
pub const PART_COUNT_MAX: u64 = 1 << 16;
/// Decoded blocks that are kept.
const CACHED_BLOCKS_MAX: usize = 128;

/// Which archive file a part was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartName {
    /// Its number, which is in its file name.
    pub number: u16,
    /// The archive file.
    pub archive_file: String,
    /// Its length.
    pub archive_bytes: u64,
}

/// The list of parts.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Parts {
    /// Identifies the options that the parts were made with.
    pub options: String,
    /// Each part and its archive file.
    pub names: Vec<PartName>,
}

impl Parts {
    /// Reads the list. Returns an empty one if the file does not exist.
    pub fn read(dir: &Path) -> Result<Self, CollectionError> {
        let path = dir.join("parts");
        let Some(bytes) = disk::read_sealed(&path, MAGIC)? else { return Ok(Self::default()) };
        Self::decode(&bytes).ok_or_else(|| CollectionError::Damaged {
            path,
            offset: MAGIC.len() as u64,
            what: "a list that cannot be read".into(),
        })
    }

    /// Writes the list.
    pub fn write(&self, dir: &Path) -> Result<(), CollectionError> {
        let mut out = Vec::new();
        put_text(&mut out, &self.options);
        vbyte::write(&mut out, self.names.len() as u64);
        for name in &self.names {
            vbyte::write(&mut out, u64::from(name.number));
            put_text(&mut out, &name.archive_file);
            vbyte::write(&mut out, name.archive_bytes);
        }
        disk::write_sealed(&dir.join("parts"), MAGIC, &out)
    }

    /// The file of a part.
    pub fn path(dir: &Path, number: u16) -> PathBuf {
        dir.join(format!("part-{number:05}.pages"))
    }

    fn decode(mut input: &[u8]) -> Option<Self> {
        let input = &mut input;
        let options = take_text(input)?;
        let count = vbyte::read(input)?;
        let mut names = Vec::new();
        for _ in 0..count {
            names.push(PartName {
                number: u16::try_from(vbyte::read(input)?).ok()?,
                archive_file: take_text(input)?,
                archive_bytes: vbyte::read(input)?,
            });
        }
        input.is_empty().then_some(Self { options, names })
    }
}

/// Decoded blocks by part and offset, the oldest first.
type Cache = VecDeque<((u16, u64), Arc<Rows>)>;

/// A page table, opened for reading; share it between threads. By default it has no page.
#[derive(Default)]
pub struct PageTable {
    dir: PathBuf,
    parts: Parts,
    directory: Directory,
    cache: Mutex<Cache>,
}

impl PageTable {
    /// The table in a collection's `pages/`; an error that names the stage to run where it is missing.
    pub fn open(dir: &Path) -> Result<Self, CollectionError> {
        let missing = CollectionError::Missing { needs: "the page table", command: "index" };
        let directory = Directory::read(&dir.join("directory"))?.ok_or(missing)?;
        let parts = Parts::read(dir)?;
        Ok(Self { dir: dir.to_owned(), parts, directory, cache: Mutex::default() })
    }

    /// The same; `None` where it is missing, or was made by another version and is to be made again.
    pub fn open_current(dir: &Path) -> Result<Option<Self>, CollectionError> {
        match Self::open(dir) {
            Err(CollectionError::Missing { .. } | CollectionError::Version { .. }) => Ok(None),
            table => table.map(Some),
        }
    }

    /// Live pages and the rest.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The archive file that the rows of a part come from.
    pub fn archive_file(&self, part: u16) -> Option<&str> {
        let name = self.parts.names.iter().find(|name| name.number == part)?;
        Some(&name.archive_file)
    }

    /// The page at `pointer` with its URL; `None` if the pointer leads to no page, or to a part that a
    /// later run of the stage has removed.
    pub fn page(&self, pointer: PagePointer) -> Result<Option<(String, PageRow)>, CollectionError> {
        if self.archive_file(pointer.part).is_none() {
            return Ok(None);
        }
        let rows = match self.block(pointer) {
            Err(CollectionError::Gone { .. }) => return Ok(None),
            rows => rows?,
        };
        Ok(match rows.get(usize::from(pointer.row)) {
            Some((url, _, CaptureOutcome::Page(page))) => {
                Some((url.clone(), page.as_ref().clone()))
            }
            _ => None,
        })
    }

    /// Hands over every live page in the order of the rows: sequential, for whole passes.
    pub fn each_live(
        &self,
        visit: &mut dyn FnMut(usize, &PageRow) -> Result<(), CollectionError>,
    ) -> Result<(), CollectionError> {
        let mut places: Vec<_> =
            self.directory.entries().iter().map(|entry| entry.pointer).enumerate().collect();
        places.sort_unstable_by_key(|&(_, pointer)| pointer);
        for (place, pointer) in places {
            let rows = self.block(pointer)?;
            if let Some((_, _, CaptureOutcome::Page(page))) = rows.get(usize::from(pointer.row)) {
                visit(place, page)?;
            }
        }
        Ok(())
    }

    fn block(&self, pointer: PagePointer) -> Result<Arc<Rows>, CollectionError> {
        let key = (pointer.part, pointer.block);
        let lock = || self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, rows)) = lock().iter().find(|(held, _)| *held == key) {
            return Ok(Arc::clone(rows));
        }
        let mut part = Part::open(&Parts::path(&self.dir, pointer.part))?;
        let rows = part.block(pointer.block)?.unwrap_or_default();
        let rows = Arc::new(rows);
        let mut cache = lock();
        if cache.len() == CACHED_BLOCKS_MAX {
            cache.pop_front();
        }
        cache.push_back((key, Arc::clone(&rows)));
        Ok(rows)
    }
}

/// Reads the heads of all parts once and writes the directory of what counts.
pub fn write_directory(dir: &Path, parts: &Parts) -> Result<(), CollectionError> {
    let mut builder = DirectoryBuilder::default();
    for name in &parts.names {
        let mut part = Part::open(&Parts::path(dir, name.number))?;
        let mut offset = Part::FIRST;
        while let Some((rows, next)) = part.heads(offset)? {
            for (row, (url, date, fate)) in (0_u16..).zip(rows) {
                let pointer = PagePointer { part: name.number, block: offset, row };
                builder.add(url, date, fate, pointer);
            }
            offset = next;
        }
    }
    builder.finish().write(&dir.join("directory"))
}

/// The archive files that the page table was made from, removed ones included. Empty if the page table cannot be
/// read.
pub fn files_read(collection: &Collection) -> Vec<String> {
    let parts = Parts::read(&collection.pages_dir()).unwrap_or_default();
    parts.names.into_iter().map(|name| name.archive_file).collect()
}
