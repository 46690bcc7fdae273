//! CDXJ: where the captures of a URL are.
//!
//! What lives here: the line, the file of each WARC file, its lookup by binary search on disk, and its update. What
//! does not: the choice among captures.
//!
//! A line is `key timestamp {json}`, as in pywb. The key is that of [`crate::surt`] and the timestamp has 14 digits.
//! The object has `url`, `mime`, `status`, `digest`, `length`, `offset` and `filename`, all of them strings. Lines
//! are sorted bytewise.
//!
//! The first line is `!meta {"version":4,"filename":…,"length":l,"covers":c,"bytes":b,"sum":s,"own":o}`. The WARC
//! file had l bytes, of which the first c are indexed. All lines together have b bytes and the CRC-32 s. The CRC-32
//! of the object without `own` is o.
//!
//! If the WARC file has grown, it is indexed from c on. If it has shrunk or was changed otherwise, it is indexed from
//! the beginning. After a file has shrunk, `"had":h` keeps the number of bytes that were once indexed. It shows the
//! loss even if the file was cut between two records. Lines with the prefix `!lost ` are those of records that are
//! missing from the file.
//!
//! A place that cannot be read has lines with the prefix `!unreadable `. They come from an earlier CDXJ file. Without
//! one, the place has one line with the key `-` and no URL. Tools for CDXJ skip lines that begin with `!`.
//!
//! Lines are sorted in bounded memory (`line_sorter.rs`), whatever their number.
//!
//! **Invariant.** A CDXJ file appears under its name whole or not at all. It can be deleted at any time. It is
//! rebuilt if it does not fit its WARC file.

pub(crate) mod line_sorter;
pub(crate) mod lookup;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use durable::Disk;
use serde::{Deserialize, Serialize};

use crate::cdx::line_sorter::{LineSorter, WRITE_BYTES};
use crate::disk::create_patiently;
use crate::surt::upper_case_escapes;
use crate::{ArchiveError, Kind, Limits, Location, Record, WarcReader, date, digest, http, surt};

/// The longest line; it must hold any WARC header's URL twice, escaped.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// A stretch this short is read through rather than halved again.
const SCAN_BYTES: u64 = 4096;
const VERSION: u32 = 4;
/// Prefix of the line of a capture that cannot be read.
pub(crate) const UNREADABLE: &str = "!unreadable ";
/// Prefix of the line of a capture whose record was lost when its file became shorter.
pub(crate) const LOST: &str = "!lost ";
/// The key of a capture whose URL is unknown.
pub(crate) const NOBODY: &str = "-";

/// One capture of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CdxLine {
    /// The URL's [`crate::surt`]; that of a capture that is lost or cannot be read begins with `!`.
    pub key: String,
    /// When, in seconds since 1970; 14 digits in UTC on the line.
    pub date_s: i64,
    /// The microseconds of that second, if the record has them.
    pub date_us: u32,
    /// The URL as captured; empty if what cannot be read may have been any.
    pub url: String,
    /// The media type without parameters; `warc/revisit` for a revisit, `unk` where none is known.
    pub mime: String,
    /// The HTTP status, where there is one.
    pub status: Option<u16>,
    /// The payload's SHA-1 in base 32, without `sha1:`.
    pub digest: Option<String>,
    /// Where the record is.
    pub location: Location,
}

#[derive(Serialize, Deserialize)]
struct Json {
    url: String,
    mime: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    digest: Option<String>,
    length: String,
    offset: String,
    filename: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    microseconds: Option<String>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Meta {
    version: u32,
    filename: String,
    length: u64,
    covers: u64,
    bytes: u64,
    /// The checksum of the lines.
    sum: String,
    /// How many bytes were once covered, if there are fewer now.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    had: Option<u64>,
    /// The checksum of all this.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    own: Option<String>,
}

impl Meta {
    /// As JSON, with its checksum.
    fn sealed(mut self) -> String {
        self.own = Some(self.own_sum());
        self.json()
    }

    /// Returns whether the line is of this version and matches its checksum.
    fn is_sound(&self) -> bool {
        self.version == VERSION && self.own.as_ref() == Some(&self.own_sum())
    }

    fn own_sum(&self) -> String {
        let json = Meta { own: None, ..self.clone() }.json();
        format!("{:08x}", crc32fast::hash(json.as_bytes()))
    }

    fn json(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers become JSON")
    }
}

impl CdxLine {
    /// The media type of a revisit, which has no body of its own.
    pub const REVISIT: &str = "warc/revisit";

    /// Returns whether the capture is a revisit.
    pub fn is_revisit(&self) -> bool {
        self.mime == CdxLine::REVISIT
    }

    /// The line of a record, if it is one of those that are looked up by URL: responses, resources,
    /// revisits and metadata.
    pub fn of(record: &Record) -> Option<Self> {
        let digest = record.header("WARC-Payload-Digest").map(str::to_owned);
        let digest = digest.or_else(|| match record.kind {
            Kind::Revisit => None,
            _ => Some(digest::sha1(http::payload(record))),
        });
        Self::describe(
            &record.kind,
            record.target.as_deref()?,
            (record.date_s, record.date_us),
            record.content_type.as_deref(),
            &record.block,
            digest.as_deref(),
            record.location.clone(),
        )
    }

    pub(crate) fn describe(
        kind: &Kind,
        target: &str,
        (date_s, date_us): (i64, u32),
        content_type: Option<&str>,
        block: &[u8],
        digest: Option<&str>,
        location: Location,
    ) -> Option<Self> {
        if !matches!(kind, Kind::Response | Kind::Resource | Kind::Revisit | Kind::Metadata) {
            return None;
        }
        let is_http = content_type.is_some_and(http::is_http);
        let response = if is_http { http::parse_http(block).ok() } else { None };
        let mime = match (&response, kind) {
            (_, Kind::Revisit) => Some(CdxLine::REVISIT),
            (Some(response), _) => response.header("Content-Type"),
            (None, _) => content_type,
        };
        let mime = mime.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
        let url = upper_case_escapes(target);
        Some(Self {
            key: surt(&url),
            date_s,
            date_us,
            url,
            mime: if mime.is_empty() { "unk".to_owned() } else { mime.to_ascii_lowercase() },
            status: response.map(|response| response.status),
            digest: digest.map(|d| d.strip_prefix("sha1:").unwrap_or(d).to_owned()),
            location,
        })
    }

    /// Formats the line as in the file, without a line break.
    ///
    /// # Panics
    ///
    /// Never: strings always become JSON.
    pub fn to_text(&self) -> String {
        let json = Json {
            url: self.url.clone(),
            mime: self.mime.clone(),
            status: self.status.map(|status| status.to_string()),
            digest: self.digest.clone(),
            length: self.location.length.to_string(),
            offset: self.location.offset.to_string(),
            filename: self.location.file.clone(),
            microseconds: Some(self.date_us.to_string()).filter(|_| self.date_us > 0),
        };
        let json = serde_json::to_string(&json).expect("strings become JSON");
        format!("{} {} {json}", self.key, date::digits(self.date_s))
    }

    /// Parses a line. Returns `None` if it is not a capture.
    pub fn parse(line: &str) -> Option<Self> {
        let line = line.trim_end();
        let unmarked = [UNREADABLE, LOST].iter().find_map(|mark| line.strip_prefix(mark));
        let unmarked = unmarked.unwrap_or(line);
        let mark = &line[..line.len() - unmarked.len()];
        let (key, rest) = unmarked.split_once(' ')?;
        let (timestamp, json) = rest.split_once(' ')?;
        let json: Json = serde_json::from_str(json).ok()?;
        Some(Self {
            key: format!("{mark}{key}"),
            date_s: date::parse(timestamp)?.0,
            date_us: json.microseconds.map_or(Some(0), |us| us.parse().ok())?,
            url: json.url,
            mime: json.mime,
            status: json.status.and_then(|status| status.parse().ok()),
            digest: json.digest,
            location: Location {
                file: json.filename,
                offset: json.offset.parse().ok()?,
                length: json.length.parse().ok()?,
            },
        })
    }

    /// The line of something at `location` that cannot be read, and of which nothing else is known.
    fn nobody(location: Location) -> Self {
        let (key, mime) = (format!("{UNREADABLE}{NOBODY}"), "unk".to_owned());
        let (date_s, date_us, url) = (0, 0, String::new());
        Self { key, date_s, date_us, url, mime, status: None, digest: None, location }
    }

    /// Sort key of captures: the moment, then the place in the archive.
    pub(crate) fn order(&self) -> (i64, u32, &Location) {
        (self.date_s, self.date_us, &self.location)
    }

    /// Returns whether the record exists and can be read.
    pub(crate) fn is_record(&self) -> bool {
        !self.is_unreadable() && !self.is_lost()
    }

    /// Returns whether its key is that of its URL, if it has one.
    fn is_under_its_key(&self) -> bool {
        self.url.is_empty() || self.bare_key() == surt(&self.url)
    }

    fn is_unreadable(&self) -> bool {
        self.key.starts_with(UNREADABLE)
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.key.starts_with(LOST)
    }

    /// The same capture, which cannot be read any more.
    fn into_unreadable(self) -> Self {
        self.marked(UNREADABLE)
    }

    /// The same capture, whose record is gone.
    fn into_lost(self) -> Self {
        self.marked(LOST)
    }

    /// The same capture, as it was.
    pub(crate) fn unmarked(self) -> Self {
        self.marked("")
    }

    fn marked(mut self, mark: &str) -> Self {
        self.key = format!("{mark}{}", self.bare_key());
        self
    }

    /// The key without what marks it.
    fn bare_key(&self) -> &str {
        let key = [UNREADABLE, LOST].iter().find_map(|mark| self.key.strip_prefix(mark));
        key.unwrap_or(&self.key)
    }

    /// Identity of a capture without its place.
    fn what(&self) -> (String, (i64, u32), String, Option<String>) {
        let date = (self.date_s, self.date_us);
        (self.url.clone(), date, self.mime.clone(), self.digest.clone())
    }
}

/// Suffix of a CDXJ file, after the name of its WARC file.
pub(crate) const ENDING: &str = ".cdxj";

/// The name of the CDXJ file of a WARC file.
pub(crate) fn path_of(warc: &Path) -> PathBuf {
    let mut name = warc.as_os_str().to_owned();
    name.push(ENDING);
    PathBuf::from(name)
}

/// How a CDXJ file fits its WARC file.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    /// How many bytes the WARC file has.
    pub(crate) length: u64,
    /// How many of them are indexed.
    pub(crate) covers: u64,
    /// How many once were.
    pub(crate) had: u64,
}

/// Writes the CDXJ file of a WARC file, which `lines` index; the file, whatever others put in its place.
pub(crate) fn write(
    disk: &Disk,
    warc: &Path,
    extent: Extent,
    lines: &mut LineSorter,
) -> Result<File, ArchiveError> {
    let path = path_of(warc);
    let create = |path: &Path| create_patiently(disk, path);
    let result = create_temporary(create, &path).and_then(|(mut file, temporary)| {
        let mut put = || {
            append(disk, &mut file, warc, extent, lines)?;
            disk.sync_data(&file)?;
            disk.rename(&temporary, &path)
        };
        put().inspect_err(|_| {
            // Whether or not this succeeds, the error to report is the first one.
            let _ = fs::remove_file(&temporary);
        })?;
        Ok(file)
    });
    result.map_err(ArchiveError::io(&path))
}

/// Puts the text of a CDXJ file into an empty file.
fn append(
    disk: &Disk,
    file: &mut File,
    warc: &Path,
    extent: Extent,
    lines: &mut LineSorter,
) -> io::Result<()> {
    let filename = warc.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Extent { length, covers, had } = extent;
    let had = Some(had).filter(|&had| had > length);
    let (version, bytes, sum) = (VERSION, lines.bytes(), sum_of(lines)?);
    let meta = Meta { version, filename, length, covers, bytes, sum, had, own: None }.sealed();
    let mut text = format!("!meta {meta}\n").into_bytes();
    lines.each(&mut |line| {
        text.extend_from_slice(line);
        text.push(b'\n');
        if text.len() >= WRITE_BYTES {
            disk.write_all(file, &text)?;
            text.clear();
        }
        Ok(())
    })?;
    disk.write_all(file, &text)
}

/// The checksum of lines, as the first one of their file has it.
fn sum_of(lines: &mut LineSorter) -> io::Result<String> {
    let mut sum = crc32fast::Hasher::new();
    lines.each(&mut |line| {
        sum.update(line);
        sum.update(b"\n");
        Ok(())
    })?;
    Ok(sum_text(sum))
}

fn sum_text(sum: crc32fast::Hasher) -> String {
    format!("{:08x}", sum.finalize())
}

/// Creates a locked file next to `path` with `create`. The lock shows [`is_abandoned`] that the file is in use. A
/// name may be taken, because process numbers are used again after a kill.
pub(crate) fn create_temporary(
    mut create: impl FnMut(&Path) -> io::Result<File>,
    path: &Path,
) -> io::Result<(File, PathBuf)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}-{number}.tmp", std::process::id()));
        let temporary = PathBuf::from(temporary);
        match create(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => {
                let file = file?;
                // Without support for locks, no process takes the file for abandoned.
                let _ = file.lock();
                // Before it was locked it may have been.
                if temporary.try_exists()? {
                    return Ok((file, temporary));
                }
            }
        }
    }
}

/// Returns whether no process uses a file of [`create_temporary`]. If so, this locks it, and the caller may remove
/// it. A process that has just created it waits for the lock and creates another.
pub(crate) fn is_abandoned(file: &File) -> bool {
    file.try_lock().is_ok()
}

/// A CDXJ file open for lookups.
#[derive(Debug)]
pub(crate) struct CdxFile {
    input: BufReader<File>,
    path: PathBuf,
    /// Where the first line after `!meta` begins.
    body: u64,
    length: u64,
    /// How many bytes of the WARC file it covers.
    pub(crate) covers: u64,
    /// How many bytes the WARC file had.
    warc_length: u64,
    /// Whether that had been longer.
    has_lost: bool,
    /// The checksum that its lines had.
    sum: String,
    modified: Option<SystemTime>,
}

impl CdxFile {
    /// Opens the CDXJ file of a WARC file. Returns `None` if it is missing or not usable.
    pub(crate) fn open(warc: &Path) -> Result<Option<Self>, ArchiveError> {
        let Some(cdx) = Self::unread(warc)? else { return Ok(None) };
        cdx.read(warc)
    }

    /// Reads the first line. Returns `None` if it does not fit the WARC file.
    fn read(mut self, warc: &Path) -> Result<Option<Self>, ArchiveError> {
        let Some((meta, body)) = self.meta(warc)? else { return Ok(None) };
        (self.covers, self.warc_length, self.body) = (meta.covers, meta.length, body);
        (self.has_lost, self.sum) = (meta.had.is_some(), meta.sum);
        Ok((self.length - body == meta.bytes).then_some(self))
    }

    /// The same, if its lines are as they were written.
    fn open_sound(warc: &Path) -> Result<Option<Self>, ArchiveError> {
        let Some(mut cdx) = Self::open(warc)? else { return Ok(None) };
        Ok(cdx.is_sound()?.then_some(cdx))
    }

    /// Opens the CDXJ file without reading it. Returns `None` if it does not exist.
    fn unread(warc: &Path) -> Result<Option<Self>, ArchiveError> {
        let path = path_of(warc);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ArchiveError::io(&path)(error)),
        };
        Self::of(file, path).map(Some)
    }

    /// Wraps an open file without reading it.
    fn of(file: File, path: PathBuf) -> Result<Self, ArchiveError> {
        let about = file.metadata().map_err(ArchiveError::io(&path))?;
        let (length, modified) = (about.len(), about.modified().ok());
        let (input, has_lost, sum) = (BufReader::new(file), false, String::new());
        let (body, covers, warc_length) = (0, 0, 0);
        Ok(Self { input, path, body, length, covers, warc_length, has_lost, sum, modified })
    }

    /// Reads the first line and its length. Returns `None` if it is not usable.
    fn meta(&mut self, warc: &Path) -> Result<Option<(Meta, u64)>, ArchiveError> {
        let line = match self.line() {
            Ok(Some(line)) => line,
            Ok(None) | Err(ArchiveError::Damaged { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let meta = std::str::from_utf8(&line).ok().and_then(|line| line.strip_prefix("!meta "));
        let meta: Option<Meta> = meta.and_then(|meta| serde_json::from_str(meta).ok());
        let name = warc.file_name().unwrap_or_default().to_string_lossy();
        let fits = |meta: &Meta| meta.is_sound() && meta.filename == name;
        Ok(meta.filter(fits).map(|meta| (meta, line.len() as u64)))
    }

    /// Returns whether the WARC file is unchanged and would be indexed in the same way.
    pub(crate) fn is_current(&self, warc: &fs::Metadata) -> bool {
        let untouched = match (self.modified, warc.modified()) {
            (Some(cdxj), Ok(warc)) => warc <= cdxj,
            _ => true,
        };
        self.warc_length == warc.len() && untouched
    }

    /// Length and modification time, which identify this version of the file.
    pub(crate) fn stamp(&self) -> (u64, Option<SystemTime>) {
        (self.length, self.modified)
    }

    /// Returns whether the lines match their checksum.
    pub(crate) fn is_sound(&mut self) -> Result<bool, ArchiveError> {
        self.seek(self.body)?;
        let mut sum = crc32fast::Hasher::new();
        loop {
            let bytes = self.input.fill_buf().map_err(ArchiveError::io(&self.path))?;
            if bytes.is_empty() {
                return Ok(sum_text(sum) == self.sum);
            }
            sum.update(bytes);
            let read = bytes.len();
            self.input.consume(read);
        }
    }

    /// Returns an error if the lines do not match their checksum. No other check exists if the WARC file is gone.
    pub(crate) fn check(&mut self) -> Result<(), ArchiveError> {
        if self.is_sound()? { Ok(()) } else { Err(self.damaged()) }
    }

    /// The lines that begin with `start`, by binary search for the first one. A line with the key of another URL is an
    /// error.
    pub(crate) fn find(&mut self, start: &str) -> Result<Vec<CdxLine>, ArchiveError> {
        let wanted = start.as_bytes();
        // Lines that begin before `low` are less than wanted, those from `high` on are not.
        let (mut low, mut high) = (self.body, self.length);
        // A line longer than the rest of the range ends after it.
        while high.saturating_sub(low) > SCAN_BYTES {
            let middle = low + (high - low) / 2;
            self.seek(middle)?;
            let skipped = self.line()?.map_or(0, |line| line.len() as u64);
            let begin = middle + skipped;
            match self.line()? {
                Some(line) if begin < high && line.as_slice() < wanted => {
                    low = begin + line.len() as u64;
                }
                _ => high = middle,
            }
        }
        self.seek(low)?;
        let mut found = Vec::new();
        while let Some(line) = self.line()? {
            if line.starts_with(wanted) {
                let line = self.parse(&line)?;
                if !line.is_under_its_key() {
                    return Err(self.damaged());
                }
                found.push(line);
            } else if line.as_slice() > wanted {
                break;
            }
        }
        Ok(found)
    }

    /// Hands every line of the file to `take`.
    pub(crate) fn each(&mut self, take: &mut dyn FnMut(CdxLine)) -> Result<(), ArchiveError> {
        self.seek(self.body)?;
        while let Some(line) = self.line()? {
            take(self.parse(&line)?);
        }
        Ok(())
    }

    fn parse(&self, line: &[u8]) -> Result<CdxLine, ArchiveError> {
        let line = std::str::from_utf8(line).ok().and_then(CdxLine::parse);
        line.ok_or_else(|| self.damaged())
    }

    fn seek(&mut self, offset: u64) -> Result<(), ArchiveError> {
        self.input.seek(SeekFrom::Start(offset)).map_err(ArchiveError::io(&self.path))?;
        Ok(())
    }

    /// The next line with its line break; `None` at the end.
    fn line(&mut self) -> Result<Option<Vec<u8>>, ArchiveError> {
        let mut line = Vec::new();
        let mut input = (&mut self.input).take(LINE_BYTES_MAX);
        input.read_until(b'\n', &mut line).map_err(ArchiveError::io(&self.path))?;
        if line.len() as u64 == LINE_BYTES_MAX {
            return Err(self.damaged());
        }
        Ok((!line.is_empty()).then_some(line))
    }

    fn damaged(&self) -> ArchiveError {
        let what = "a line of it is none of CDXJ; delete the file, it is made again";
        ArchiveError::Damaged { path: self.path.clone(), offset: self.body, what }
    }
}

/// The CDXJ file of a WARC file, made or brought up to date if need be.
pub(crate) fn current(disk: &Disk, warc: &Path) -> Result<CdxFile, ArchiveError> {
    if let Some(cdx) = up_to_date(warc)? {
        return Ok(cdx);
    }
    let (extent, mut lines) = make(disk, warc)?;
    // Others may write it, too, or remove it: what was written here is what was asked for.
    let file = write(disk, warc, extent, &mut lines)?;
    reread(file, warc, path_of(warc))
}

/// The CDXJ file of a WARC file as it would be made now, in a file without a name: nothing is changed in the archive.
pub(crate) fn made_aside(warc: &Path) -> Result<CdxFile, ArchiveError> {
    let disk = Disk::default();
    let (extent, mut lines) = make(&disk, warc)?;
    let place = env::temp_dir().join("crivello.cdxj");
    let create = |path: &Path| create_patiently(&disk, path);
    let made = create_temporary(create, &place).and_then(|(mut file, temporary)| {
        fs::remove_file(&temporary)?;
        append(&disk, &mut file, warc, extent, &mut lines)?;
        Ok(file)
    });
    reread(made.map_err(ArchiveError::io(&place))?, warc, place)
}

/// The CDXJ file of a WARC file that was just written to `place`.
fn reread(mut file: File, warc: &Path, place: PathBuf) -> Result<CdxFile, ArchiveError> {
    file.rewind().map_err(ArchiveError::io(&place))?;
    let read = CdxFile::of(file, path_of(warc))?.read(warc)?;
    read.ok_or_else(|| {
        let source = io::Error::new(io::ErrorKind::InvalidData, "it is not as it was written");
        ArchiveError::Io { path: place, source }
    })
}

/// The CDXJ file of a WARC file, if there is one, and nothing has happened to the WARC file since.
pub(crate) fn up_to_date(warc: &Path) -> Result<Option<CdxFile>, ArchiveError> {
    let about = fs::metadata(warc).map_err(ArchiveError::io(warc))?;
    Ok(CdxFile::open(warc)?.filter(|cdx| cdx.is_current(&about)))
}

/// Builds the content of a new CDXJ file from the WARC file. Reuses the old lines if their checksum is right.
fn make(disk: &Disk, warc: &Path) -> Result<(Extent, LineSorter), ArchiveError> {
    let about = fs::metadata(warc).map_err(ArchiveError::io(warc))?;
    let had = bytes_indexed(warc)?.unwrap_or(0);
    // The lost records may have returned.
    let is_grown = |cdx: &CdxFile| cdx.warc_length < about.len() && !cdx.has_lost;
    let grown = CdxFile::open_sound(warc)?.filter(is_grown);
    let (covers, mut lines) = match grown.and_then(|cdx| extend(disk, warc, cdx).transpose()) {
        Some(extended) => extended?,
        None => index(disk, warc, 0, LineSorter::default())?.unwrap_or_default(),
    };
    // The file may have grown on the way.
    let length = about.len().max(covers);
    if had > length {
        for line in lost(warc, &mut lines)? {
            lines.push(disk, warc, line.to_text());
        }
    }
    Ok((Extent { length, covers, had }, lines))
}

/// Replaces an unreliable CDXJ file by one without lines. It keeps the number of indexed bytes, and is rebuilt at the
/// next query.
pub(crate) fn disbelieve(disk: &Disk, warc: &Path) -> Result<(), ArchiveError> {
    let had = bytes_indexed(warc)?.unwrap_or(0);
    write(disk, warc, Extent { length: 0, covers: 0, had }, &mut LineSorter::default()).map(drop)
}

/// Removes the lines of lost records from the CDXJ file of a WARC file, and the mark that records are lost.
pub(crate) fn forget_lost(disk: &Disk, warc: &Path) -> Result<(), ArchiveError> {
    let (mut cdx, mut lines) = (current(disk, warc)?, LineSorter::default());
    cdx.each(&mut |line| {
        if !line.is_lost() {
            lines.push(disk, warc, line.to_text());
        }
    })?;
    let (length, covers) = (cdx.warc_length, cdx.covers);
    write(disk, warc, Extent { length, covers, had: 0 }, &mut lines).map(drop)
}

/// Returns how many bytes of a WARC file are or were indexed, from the first line of its CDXJ file. Returns `None` if
/// that line is missing or cannot be read.
fn bytes_indexed(warc: &Path) -> Result<Option<u64>, ArchiveError> {
    let Some(mut cdx) = CdxFile::unread(warc)? else { return Ok(None) };
    let meta = cdx.meta(warc)?;
    Ok(meta.map(|(meta, _)| meta.covers.max(meta.had.unwrap_or(0))))
}

/// Returns whether a removed WARC file had records, according to its CDXJ file. Returns true if that cannot be read.
/// A torn first record does not count.
pub(crate) fn had_records(warc: &Path) -> bool {
    bytes_indexed(warc).ok().flatten() != Some(0)
}

/// Returns the lines of an earlier CDXJ file for records that are missing from `lines`. Returns no lines if the
/// earlier file does not match its checksum.
fn lost(warc: &Path, lines: &mut LineSorter) -> Result<Vec<CdxLine>, ArchiveError> {
    let Some(mut old) = CdxFile::open_sound(warc)? else { return Ok(Vec::new()) };
    let mut left = BTreeSet::new();
    let read = lines.each(&mut |line| {
        let line = str::from_utf8(line).ok().and_then(CdxLine::parse);
        left.extend(line.map(|line| line.what()));
        Ok(())
    });
    read.map_err(ArchiveError::io(&path_of(warc)))?;
    let mut lost = Vec::new();
    let read = old.each(&mut |line| {
        if !line.url.is_empty() && !left.contains(&line.what()) {
            lost.push(line.into_lost());
        }
    });
    match read {
        Err(error @ ArchiveError::Io { .. }) => Err(error),
        _ => Ok(lost),
    }
}

/// Returns whether an existing WARC file has fewer bytes than were indexed.
pub(crate) fn is_shorter(warc: &Path) -> bool {
    let had = bytes_indexed(warc).ok().flatten().unwrap_or(0);
    // Looked at last, since the file may be growing.
    fs::metadata(warc).is_ok_and(|about| about.len() < had)
}

/// How far a WARC file is indexed, and the lines.
type Indexed = (u64, LineSorter);

/// The lines there are and those of the records that have come since; `None` if the lines are damaged or
/// another file has taken the place of the one they index.
fn extend(disk: &Disk, warc: &Path, mut cdx: CdxFile) -> Result<Option<Indexed>, ArchiveError> {
    let (mut kept, mut last) = (LineSorter::default(), None::<CdxLine>);
    let covers = cdx.covers;
    let read = cdx.each(&mut |line| {
        if line.is_unreadable() {
            // Bytes from `covers` on are read again, which gives new lines for their damage.
            if line.location.offset < covers {
                kept.push(disk, warc, line.to_text());
            }
            return;
        }
        kept.push(disk, warc, line.to_text());
        if last.as_ref().is_none_or(|last| last.location.offset <= line.location.offset) {
            last = Some(line);
        }
    });
    match read {
        Ok(()) if !last.is_none_or(|last| is_there(warc, &last)) => Ok(None),
        Ok(()) => index(disk, warc, cdx.covers, kept),
        Err(ArchiveError::Damaged { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns whether the last indexed record is still at its place. Files are only appended to, so all earlier records
/// are then in place too.
fn is_there(warc: &Path, last: &CdxLine) -> bool {
    let reader = WarcReader::open_at(warc, last.location.offset, Limits::default());
    let record = reader.and_then(|mut reader| reader.next_record()).ok().flatten();
    record.as_ref().and_then(CdxLine::of).is_some_and(|line| {
        let what = |line: &CdxLine| (line.key.clone(), line.date_s, line.digest.clone());
        what(&line) == what(last) && line.location == last.location
    })
}

/// Returns the first byte after `offset` where the CDXJ file knows a record. The record must be there, because damage
/// may have moved the bytes after it.
pub(crate) fn offset_after(warc: &Path, offset: u64) -> Option<u64> {
    let mut after: Option<CdxLine> = None;
    let mut take = |line: CdxLine| {
        let found = line.location.offset;
        let is_behind = found > offset && line.is_record();
        if is_behind && after.as_ref().is_none_or(|after| found < after.location.offset) {
            after = Some(line);
        }
    };
    CdxFile::open(warc).ok()??.each(&mut take).ok()?;
    after.filter(|line| is_there(warc, line)).map(|line| line.location.offset)
}

/// The lines of the unreadable places of a WARC file, each given by its first byte and its end.
fn unreadable(warc: &Path, places: &BTreeMap<u64, u64>) -> Result<Vec<CdxLine>, ArchiveError> {
    let mut lines = Vec::new();
    let mut known = places.clone();
    let mut keep = |line: CdxLine| {
        let offset = line.location.offset;
        let place = places.range(..=offset).next_back().filter(|&(_, &end)| offset < end);
        if let Some((start, _)) = place.filter(|_| !line.url.is_empty() && !line.is_lost()) {
            known.remove(start);
            lines.push(line.into_unreadable());
        }
    };
    if let Some(mut old) = CdxFile::open_sound(warc)? {
        match old.each(&mut keep) {
            Ok(()) | Err(ArchiveError::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let file = warc.file_name().unwrap_or_default().to_string_lossy();
    lines.extend(known.into_iter().map(|(offset, end)| {
        let (file, length) = (file.clone().into_owned(), end - offset);
        CdxLine::nobody(Location { file, offset, length })
    }));
    Ok(lines)
}

/// Adds the lines of the records from byte `from` on. Returns `None` if no record begins there. After damage, reading
/// continues at the next record that the existing lines know. Otherwise it searches for one. A torn end is not
/// damage, because the file may still be growing.
fn index(
    disk: &Disk,
    warc: &Path,
    from: u64,
    mut lines: LineSorter,
) -> Result<Option<Indexed>, ArchiveError> {
    let (mut covers, mut places) = (from, BTreeMap::new());
    let mut reader = match WarcReader::open_at(warc, from, Limits::default()) {
        Ok(reader) => reader,
        Err(error @ ArchiveError::Io { .. }) => return Err(error),
        Err(_) => return Ok((from == 0).then_some((0, lines))),
    };
    loop {
        match reader.next_record() {
            Ok(Some(record)) => {
                let line = CdxLine::of(&record).filter(|line| line.location.length > 0);
                if let Some(line) = line {
                    lines.push(disk, warc, line.to_text());
                }
                covers = reader.offset();
            }
            Ok(None) => break,
            Err(error @ ArchiveError::Io { .. }) => return Err(error),
            Err(ArchiveError::Damaged { .. } | ArchiveError::Garbage { .. })
                if from > 0 && covers == from =>
            {
                return Ok(None);
            }
            Err(error) => {
                let Some(offset) = error.offset() else { continue };
                let end = if reader.is_lost() {
                    reader.go_on_behind(offset, offset_after(warc, offset))?
                } else {
                    offset + 1
                };
                let is_torn = matches!(error, ArchiveError::Truncated { .. }) && reader.is_lost();
                if !is_torn {
                    places.insert(offset, end);
                }
            }
        }
    }
    if !places.is_empty() {
        for line in unreadable(warc, &places)? {
            lines.push(disk, warc, line.to_text());
        }
    }
    Ok(Some((if reader.is_at_end() { reader.offset() } else { covers }, lines)))
}
