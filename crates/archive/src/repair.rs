//! Repair after a kill: cuts off the record that was being written.
//!
//! What lives here: finding and cutting the torn end of our own files. Damaged lines are also removed from CDXJ
//! files, which are then rebuilt. These files keep the fact that a WARC file became shorter, by the cut or before.
//! What does not: repair of other damage. Damage in the middle of a file is left, and readers report it.
//!
//! **Invariant.** No readable record is removed, and nothing is removed in doubt. A repair reads a file once, and
//! tries a bounded number of bytes once more. It changes only WARC files that a [`crate::WarcWriter`] made and did
//! not finish. No process may write records to the folder meanwhile. Readers may make CDXJ files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use durable::Disk;

use crate::cdx::{self, CdxFile};
use crate::folder::warc_files;
use crate::warc::writer::number_of;
use crate::{Archive, ArchiveError, Limits, Location, WarcReader};

/// Minimum number of trailing zeros that are not part of a record. A gzip member ends with its length, whose upper
/// bytes are mostly zero. No member ends with this many zeros.
const ZEROS_MIN: u64 = 16;

/// Maximum number of possible beginnings of members that are tried, each up to the largest block. Beyond this number
/// there may be a record.
const STARTS_MAX: usize = 64;

/// Largest block that is tried. A larger block may belong to a record.
const TRIED_BYTES_MAX: u64 = 16 << 20;

/// The first bytes of a member: gzip with deflate, and zstd.
const GZIP_START: u32 = 0x1F_8B08;
const ZSTD_START: u32 = 0x28B5_2FFD;

/// The result of [`repair`] for one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The name of the file.
    pub file: String,
    /// Bytes that are left. A file of 0 bytes was removed.
    pub kept_bytes: u64,
    /// Bytes that were cut off.
    pub cut_bytes: u64,
}

/// Cuts torn records off the ends of the files in an archive folder, and removes what interrupted CDXJ
/// writers left, and the lines of CDXJ files that are damaged. A folder that does not exist needs no repair.
pub fn repair(dir: &Path) -> Result<Vec<Repair>, ArchiveError> {
    repair_from(dir, &|_| 0)
}

/// As [`repair`], but reads a file only from the byte that `whole` names: there the last record begins
/// that is known to be whole; 0 where nothing is known.
pub fn repair_from(dir: &Path, whole: &dyn Fn(&str) -> u64) -> Result<Vec<Repair>, ArchiveError> {
    if !dir.exists() {
        return Ok(Vec::new());
    }
    remove_temporary(dir)?;
    let mut repairs = Vec::new();
    for name in warc_files(dir)? {
        let path = dir.join(&name);
        let length = fs::metadata(&path).map_err(ArchiveError::io(&path))?.len();
        let is_covered = sound_cdx(&path)?.is_some_and(|cdx| cdx.covers == length);
        // The file may have been overwritten after its CDXJ file was made.
        let is_whole = is_covered && !has_zeros(&path, length).map_err(ArchiveError::io(&path))?;
        if is_whole || number_of(&name).is_none() {
            continue;
        }
        let kept_bytes = if length == 0 { Some(0) } else { torn_at(&path, whole(&name))? };
        let Some(kept_bytes) = kept_bytes else { continue };
        cut(&path, kept_bytes).map_err(ArchiveError::io(&path))?;
        repairs.push(Repair { file: name, kept_bytes, cut_bytes: length - kept_bytes });
    }
    Ok(repairs)
}

impl Archive {
    /// Returns whether an unreadable record belongs to a torn end, which the next [`repair`] cuts off.
    pub fn is_torn(&self, location: &Location) -> Result<bool, ArchiveError> {
        let path = self.path(&location.file)?;
        Ok(number_of(&location.file).is_some() && torn_at(&path, location.offset)?.is_some())
    }
}

/// Opens the CDXJ file of a WARC file, if it is usable. A damaged CDXJ file is emptied. It keeps the number of
/// indexed bytes, which shows the loss if the WARC file is cut.
fn sound_cdx(warc: &Path) -> Result<Option<CdxFile>, ArchiveError> {
    if let Some(mut cdx) = CdxFile::open(warc)? {
        if cdx.is_sound()? {
            return Ok(Some(cdx));
        }
    } else if !cdx::path_of(warc).is_file() {
        return Ok(None);
    }
    cdx::disbelieve(&Disk::default(), warc)?;
    Ok(None)
}

/// Returns whether a file of this length ends with zeros that are not part of a record.
fn has_zeros(path: &Path, length: u64) -> io::Result<bool> {
    let Some(from) = length.checked_sub(ZEROS_MIN) else { return Ok(false) };
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    Ok(end.iter().all(|byte| *byte == 0))
}

/// Returns where a torn end begins. The file ends inside a member, or it ends with zeros and no record follows. Some
/// file systems leave zeros after a power failure, alone or after a part of a record.
fn torn_at(path: &Path, from: u64) -> Result<Option<u64>, ArchiveError> {
    let limits = Limits { verify_digests: false, ..Limits::default() };
    let mut reader = WarcReader::open_at(path, from, limits.clone())?;
    loop {
        match reader.next_record() {
            Ok(None) => return Ok(None),
            Err(ArchiveError::Truncated { offset, .. }) => {
                // Damage may make a record seem longer than it is.
                let tail = Tail::read(path, offset).map_err(ArchiveError::io(path))?;
                return Ok((!tail.has_record(path, &limits)?).then_some(offset));
            }
            Err(ArchiveError::Damaged { offset, .. } | ArchiveError::Garbage { offset, .. }) => {
                let tail = Tail::read(path, offset).map_err(ArchiveError::io(path))?;
                let is_torn = tail.ends_with_zeros && !tail.has_record(path, &limits)?;
                return Ok(is_torn.then_some(offset));
            }
            Err(error @ ArchiveError::Io { .. }) => return Err(error),
            Ok(Some(_)) | Err(_) => {}
        }
    }
}

/// The bytes after a place where no record can be read.
struct Tail {
    /// Whether it ends with more zeros than a record does, or has only zeros.
    ends_with_zeros: bool,
    /// Possible beginnings of members, at most one more than are tried.
    starts: Vec<u64>,
}

impl Tail {
    fn read(path: &Path, offset: u64) -> io::Result<Tail> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = BufReader::new(file).bytes();
        let (mut at, mut zeros, mut last) = (offset, 0, 0_u32);
        let mut starts = Vec::new();
        while let Some(byte) = bytes.next().transpose()? {
            at += 1;
            zeros = if byte == 0 { zeros + 1 } else { 0 };
            last = last << 8 | u32::from(byte);
            // The place itself is known to be no record.
            let start = match last {
                _ if last & 0xFF_FFFF == GZIP_START => at - 3,
                ZSTD_START => at - 4,
                _ => continue,
            };
            if start > offset && starts.len() <= STARTS_MAX {
                starts.push(start);
            }
        }
        Ok(Tail { ends_with_zeros: zeros == at - offset || zeros >= ZEROS_MIN, starts })
    }

    /// Returns whether the tail may hold a record.
    fn has_record(&self, path: &Path, limits: &Limits) -> Result<bool, ArchiveError> {
        if self.starts.len() > STARTS_MAX {
            return Ok(true);
        }
        let limits = Limits { block_bytes_max: TRIED_BYTES_MAX, ..limits.clone() };
        for &start in &self.starts {
            let first = WarcReader::open_at(path, start, limits.clone())
                .and_then(|mut reader| reader.next_record().map(|record| record.is_some()));
            match first {
                Ok(true) | Err(ArchiveError::TooLarge { .. }) => return Ok(true),
                Err(error @ ArchiveError::Io { .. }) => return Err(error),
                Ok(false) | Err(_) => {}
            }
        }
        Ok(false)
    }
}

fn cut(path: &Path, length: u64) -> io::Result<()> {
    if length == 0 {
        return fs::remove_file(path);
    }
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(length)?;
    file.sync_all()
}

/// Removes the temporary files that killed writers of CDXJ files left. Keeps files that a process is still writing.
fn remove_temporary(dir: &Path) -> Result<(), ArchiveError> {
    for entry in fs::read_dir(dir).map_err(ArchiveError::io(dir))? {
        let path = entry.map_err(ArchiveError::io(dir))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains(".cdxj.") && name.ends_with(".tmp") {
            let removed = File::open(&path).and_then(|file| {
                if cdx::is_abandoned(&file) { fs::remove_file(&path) } else { Ok(()) }
            });
            match removed {
                // Its writer has given it its name.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed.map_err(ArchiveError::io(&path))?,
            }
        }
    }
    Ok(())
}
