//! The archive folder as a whole.
//!
//! What lives here: the list of files, reading them in order, reading one record by its location, and
//! looking up the captures of a URL. What does not: writing (`warc/writer.rs`).
//!
//! **Invariant.** Reading changes only CDXJ files: a lookup creates or updates those that it needs. An archive opened
//! with [`Archive::open_unchanging`] changes no file.

use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use durable::Disk;

use crate::cdx;
use crate::cdx::lookup::Lookups;
use crate::warc::compression::READ;
use crate::{ArchiveError, CdxLine, Limits, Location, Record, WarcReader, surt};

/// An archive folder, with its WARC files at the time of opening.
#[derive(Clone, Debug)]
pub struct Archive {
    dir: PathBuf,
    files: Vec<String>,
    lookups: Arc<Lookups>,
}

impl Archive {
    /// Lists the WARC files of a folder. A missing folder has no files.
    pub fn open(dir: &Path) -> Result<Self, ArchiveError> {
        let lookups = Arc::default();
        Ok(Self { dir: dir.to_path_buf(), files: warc_files(dir)?, lookups })
    }

    /// Opens a folder without changing it. A lookup rebuilds a missing, old or damaged CDXJ file in an unnamed file,
    /// which lives as long as this value.
    pub fn open_unchanging(dir: &Path) -> Result<Self, ArchiveError> {
        Ok(Self { lookups: Arc::new(Lookups::unchanging()), ..Self::open(dir)? })
    }

    /// The sorted names of the WARC files. The files of one crawl are thus in the order of writing.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Every record of every file, in order. After an error, the iteration continues with the next readable record.
    /// If the CDXJ file does not know that record, it is searched for. [Lost](Archive::gone) records are not an
    /// error.
    pub fn records(&self) -> Records<'_> {
        Records {
            archive: self,
            next_file: 0,
            end_file: self.files.len(),
            reader: None,
            ahead: None,
            limits: Limits::default(),
        }
    }

    /// The records of one file, read with these limits. Otherwise like [`Archive::records`].
    pub fn records_of(&self, file: &str, limits: Limits) -> Result<Records<'_>, ArchiveError> {
        let records = self.records_from(file, 0)?;
        let reader = Some(WarcReader::open(&self.path(file)?, limits.clone())?);
        Ok(Records { reader, limits, ..records })
    }

    /// The records of one file from byte `offset` on. A record or its member must begin there. Otherwise like
    /// [`Archive::records`].
    pub fn records_from(&self, file: &str, offset: u64) -> Result<Records<'_>, ArchiveError> {
        let path = self.path(file)?;
        let reader = WarcReader::open_at(&path, offset, Limits::default())?;
        let at = self.files.binary_search_by(|name| name.as_str().cmp(file));
        let end_file = at.map_or(self.files.len(), |at| at + 1);
        let (next_file, reader, ahead) = (end_file, Some(reader), None);
        let limits = Limits::default();
        Ok(Records { archive: self, next_file, end_file, reader, ahead, limits })
    }

    /// Reads one record.
    pub fn read(&self, location: &Location) -> Result<Record, ArchiveError> {
        let path = self.path(&location.file)?;
        if location.length == 0 {
            return Err(ArchiveError::SharedMember { path, offset: location.offset });
        }
        let mut reader = WarcReader::open_at(&path, location.offset, Limits::default())?;
        let record = match reader.next_record() {
            Err(error) => return Err(cause(&mut reader, error).0),
            Ok(record) => record,
        };
        match record {
            Some(record) if record.location == *location => Ok(record),
            Some(_) => {
                let what = "the record there has another length than its location says";
                Err(ArchiveError::Damaged { path, offset: location.offset, what })
            }
            None => Err(ArchiveError::Truncated { path, offset: location.offset }),
        }
    }

    /// The captures of a URL, oldest first: responses, resources, revisits and metadata, under http and https alike.
    /// Missing, outdated or damaged CDXJ files are rebuilt.
    pub fn captures(&self, url: &str) -> Result<Vec<CdxLine>, ArchiveError> {
        self.find(&format!("{} ", surt(url)))
    }

    /// The captures of all URLs with the host and port of `url`. Otherwise like [`Archive::captures`].
    pub fn captures_of_host(&self, url: &str) -> Result<Vec<CdxLine>, ArchiveError> {
        let key = surt(url);
        self.find(key.find(')').map_or(key.as_str(), |end| &key[..=end]))
    }

    /// The unreadable captures of a URL, and the unreadable places whose URL is unknown. Otherwise like
    /// [`Archive::captures`].
    pub fn unreadable(&self, url: &str) -> Result<Vec<CdxLine>, ArchiveError> {
        let mut found = self.find(&format!("{}{} ", cdx::UNREADABLE, surt(url)))?;
        found.extend(self.find(&format!("{}{} ", cdx::UNREADABLE, cdx::NOBODY))?);
        Ok(found)
    }

    /// The sorted names of WARC files that have lost records, according to their CDXJ files. These files were removed
    /// or have become shorter.
    pub fn gone(&self) -> Result<Vec<String>, ArchiveError> {
        let mut gone = Vec::new();
        for cdxj in names_in(&self.dir)? {
            if let Some(name) = cdxj.strip_suffix(cdx::ENDING)
                && is_warc_name(name)
                && self.has_lost(name)
            {
                gone.push(name.to_owned());
            }
        }
        gone.sort_unstable();
        Ok(gone)
    }

    /// The current size of a file in bytes; `None` if the file does not exist.
    pub fn length(&self, name: &str) -> Result<Option<u64>, ArchiveError> {
        let path = self.path(name)?;
        match fs::metadata(&path) {
            Ok(about) => Ok(Some(about.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ArchiveError::io(&path)(error)),
        }
    }

    fn has_lost(&self, name: &str) -> bool {
        let path = self.dir.join(name);
        if path.exists() { cdx::is_shorter(&path) } else { cdx::had_records(&path) }
    }

    /// Removes the lines about [lost](Archive::gone) records of a file from its CDXJ file, or the CDXJ file if the WARC
    /// file is gone. Lines about unreadable records stay.
    pub fn forget(&self, name: &str) -> Result<(), ArchiveError> {
        let warc = self.path(name)?;
        if warc.exists() {
            return cdx::forget_lost(&Disk::default(), &warc);
        }
        let path = cdx::path_of(&warc);
        fs::remove_file(&path).map_err(ArchiveError::io(&path))
    }

    /// The captures of a URL that [files have lost](Archive::gone), oldest first. CDXJ files that are damaged or
    /// cannot be read are skipped.
    pub fn missing_captures(&self, url: &str) -> Result<Vec<CdxLine>, ArchiveError> {
        let key = surt(url);
        let starts = [format!("{key} "), format!("{}{key} ", cdx::LOST)];
        let mut found = Vec::new();
        for name in self.gone()? {
            self.ask_gone(&name, &mut |cdx| {
                for start in &starts {
                    found.extend(cdx.find(start)?);
                }
                Ok(())
            })?;
        }
        let is_lost = |line: &CdxLine| line.is_lost() || !self.files.contains(&line.location.file);
        found.retain(|line| line.url == url && is_lost(line));
        found.sort_by(|a, b| a.order().cmp(&b.order()));
        Ok(found.into_iter().map(CdxLine::unmarked).collect())
    }

    /// Hands every capture that [a file has lost](Archive::gone) to `take`, as far as its CDXJ file can be read. A
    /// damaged CDXJ file gives no captures.
    pub fn each_gone(&self, name: &str, take: &mut dyn FnMut(CdxLine)) -> Result<(), ArchiveError> {
        let is_left = self.path(name)?.exists();
        self.ask_gone(name, &mut |cdx| {
            cdx.each(&mut |line| {
                if line.is_lost() || !is_left {
                    take(line.unmarked());
                }
            })
        })
    }

    /// Queries the CDXJ file of a WARC file that has lost records. If the WARC file still exists, its CDXJ file may
    /// be rebuilt.
    fn ask_gone(
        &self,
        name: &str,
        ask: &mut dyn FnMut(&mut cdx::CdxFile) -> Result<(), ArchiveError>,
    ) -> Result<(), ArchiveError> {
        let path = self.path(name)?;
        let mut ask = |cdx: &mut cdx::CdxFile| cdx.check().and_then(|()| ask(cdx));
        let asked = if path.exists() {
            self.lookups.ask(&path, &mut ask)
        } else {
            cdx::CdxFile::open(&path)?.map_or(Ok(()), |mut cdx| ask(&mut cdx))
        };
        match asked {
            Err(error @ ArchiveError::Io { .. }) => Err(error),
            _ => Ok(()),
        }
    }

    /// Hands every capture of every file to `take`, in no order. Otherwise like [`Archive::captures`]. A capture may
    /// be handed out twice.
    pub fn each_capture(&self, take: &mut dyn FnMut(CdxLine)) -> Result<(), ArchiveError> {
        for name in &self.files {
            let path = self.dir.join(name);
            self.lookups.ask(&path, &mut |cdx| {
                cdx.each(&mut |mut line| {
                    if line.is_record() {
                        line.location.file.clone_from(name);
                        take(line);
                    }
                })
            })?;
        }
        Ok(())
    }

    /// The captures whose lines begin with `start`, oldest first.
    fn find(&self, start: &str) -> Result<Vec<CdxLine>, ArchiveError> {
        let mut found = Vec::new();
        for name in &self.files {
            let lines = self.lookups.ask(&self.dir.join(name), &mut |cdx| cdx.find(start))?;
            found.extend(lines.into_iter().map(|mut line| {
                line.location.file.clone_from(name);
                line
            }));
        }
        found.sort_by(|a, b| a.order().cmp(&b.order()));
        Ok(found)
    }

    /// The path of a file in the folder, which need not exist. Fails if `file` is not a plain file name.
    pub fn path(&self, file: &str) -> Result<PathBuf, ArchiveError> {
        let mut parts = Path::new(file).components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(name)), None) if name == file => Ok(self.dir.join(name)),
            _ => Err(ArchiveError::Outside { dir: self.dir.clone(), file: file.to_owned() }),
        }
    }
}

/// Every record of an archive; see [`Archive::records`].
pub struct Records<'a> {
    archive: &'a Archive,
    next_file: usize,
    /// End of the range of files, exclusive.
    end_file: usize,
    reader: Option<WarcReader<File>>,
    /// The result after an error, read before the error was returned.
    ahead: Ahead,
    limits: Limits,
}

impl Iterator for Records<'_> {
    type Item = Result<Record, ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(reader) = &mut self.reader {
                match self.ahead.take().unwrap_or_else(|| reader.next_record()) {
                    Ok(Some(record)) => return Some(Ok(record)),
                    Ok(None) => self.reader = None,
                    Err(error) => return Some(Err(self.tell(error))),
                }
            }
            match self.open_next()? {
                Ok(reader) => self.reader = Some(reader),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Records<'_> {
    fn open_next(&mut self) -> Option<Result<WarcReader<File>, ArchiveError>> {
        let name =
            self.archive.files.get(self.next_file).filter(|_| self.next_file < self.end_file)?;
        self.next_file += 1;
        Some(WarcReader::open(&self.archive.dir.join(name), self.limits.clone()))
    }

    /// Returns the error to report, and moves on to the bytes after it.
    fn tell(&mut self, error: ArchiveError) -> ArchiveError {
        let Some(reader) = &mut self.reader else { return error };
        let (error, ahead) = cause(reader, error);
        self.ahead = ahead;
        if self.ahead.is_some() { error } else { self.go_on(error) }
    }

    /// Moves a lost reader to the first record after an error. Returns the error, with that place.
    fn go_on(&mut self, error: ArchiveError) -> ArchiveError {
        let Some(reader) = self.reader.as_mut().filter(|reader| reader.is_lost()) else {
            return error;
        };
        let Some(offset) = error.offset() else { return error };
        let known = cdx::offset_after(reader.path(), offset);
        match reader.go_on_behind(offset, known) {
            // The file ends inside the record and no record follows: the truncation is the error.
            Ok(_) if matches!(error, ArchiveError::Truncated { .. }) && reader.is_lost() => error,
            Ok(to) => ArchiveError::Skipped { cause: Box::new(error), to },
            Err(failed) => failed,
        }
    }
}

/// The result after an error in the same file, if it was read.
type Ahead = Option<Result<Option<Record>, ArchiveError>>;

/// Returns the error to report, and the next result if it was read. If the member turns out to be damaged, that
/// damage is the cause and is reported instead.
fn cause(reader: &mut WarcReader<File>, error: ArchiveError) -> (ArchiveError, Ahead) {
    if reader.is_lost() {
        return (error, None);
    }
    let next = reader.next_record();
    match next {
        Err(cause) if reader.is_lost() && cause.offset() == error.offset() => (cause, None),
        next => (error, Some(next)),
    }
}

/// Returns whether this is a valid name of a WARC file. Files with such names are read.
pub fn is_warc_name(name: &str) -> bool {
    READ.iter().any(|ending| name.ends_with(ending))
}

/// The names of the WARC files in a folder, sorted.
pub(crate) fn warc_files(dir: &Path) -> Result<Vec<String>, ArchiveError> {
    let mut files = names_in(dir)?;
    files.retain(|name| is_warc_name(name));
    files.sort_unstable();
    Ok(files)
}

/// The file names in a folder that are valid UTF-8. A missing folder has none.
fn names_in(dir: &Path) -> Result<Vec<String>, ArchiveError> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(ArchiveError::io(dir))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(ArchiveError::io(dir))?;
        names.extend(entry.file_name().into_string());
    }
    Ok(names)
}
