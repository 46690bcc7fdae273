//! Writing WARC files.
//!
//! What lives here: the records' header and digests, the files' names and rotation, and what happens
//! when the disk refuses. What does not: when to sync, and what to write; the crawler decides both.
//!
//! **Invariant.** Between two calls a file consists of whole members (of gzip, or frames of zstd), one a
//! record, the first a `warcinfo`. A record that was acknowledged is in the file; one that was refused is not,
//! not even in part. A name is never used twice, as far as a file, a CDXJ file or who writes knows of the first time.
//!
//! Reference: ISO 28500:2017 (WARC 1.1); `docs/formats/archive.md` for what Crivello writes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use durable::Disk;

use crate::cdx::Extent;
use crate::cdx::line_sorter::{LINES_BYTES_MAX, LineSorter};
use crate::disk::{create_patiently, patiently};
use crate::warc::compression::{Packer, WRITTEN};
use crate::{
    ArchiveError, CdxLine, Compression, Kind, Limits, Location, cdx, date, digest, fields, http,
};

/// How to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriterOptions {
    /// Name and version of the software, for the `warcinfo` record.
    pub software: String,
    /// The writer starts a new file when the current file has this size.
    pub file_bytes_max: u64,
    /// How each record is compressed.
    pub compression: Compression,
    /// Names of known files, which may be gone. A new file gets a higher number.
    pub taken: Vec<String>,
}

impl Default for WriterOptions {
    fn default() -> Self {
        let software = concat!("crivello/", env!("CARGO_PKG_VERSION")).to_owned();
        let compression = Compression::Gzip { level: 1 };
        Self { software, file_bytes_max: 1 << 30, compression, taken: Vec::new() }
    }
}

/// A record to be written.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    /// WARC-Type.
    pub kind: Kind,
    /// WARC-Date, in seconds since 1970.
    pub date_s: i64,
    /// The microseconds of that second; 0 for a date to the second.
    pub date_us: u32,
    /// WARC-Target-URI.
    pub target: Option<&'a str>,
    /// Content-Type of the block.
    pub content_type: &'a str,
    /// Further headers; not those that the writer sets itself.
    pub extra: &'a [(&'a str, &'a str)],
    /// The block.
    pub block: &'a [u8],
    /// Where the payload begins inside the block: the body of an HTTP message, 0 elsewhere. Where a reader
    /// of the block would see it begin elsewhere, no payload digest is written.
    pub payload_offset: usize,
}

/// Appends records to new WARC files in an archive folder. A file comes into being with its first
/// record, whose date its `warcinfo` record takes.
pub struct WarcWriter {
    disk: Disk,
    dir: PathBuf,
    options: WriterOptions,
    packer: Packer,
    /// Memory for the lines of the CDXJ file.
    lines_bytes_max: usize,
    current: Option<Current>,
}

/// The file that is being written.
struct Current {
    file: File,
    name: String,
    path: PathBuf,
    /// The bytes of its whole records.
    length: u64,
    /// Whether bytes of a refused record may follow them.
    torn: bool,
    /// Its name is on the medium.
    named: bool,
    records: u64,
    warcinfo: String,
    lines: LineSorter,
}

impl WarcWriter {
    /// A writer into `dir`, which is created if need be. Files that are there are left alone.
    pub fn create(dir: &Path, options: WriterOptions) -> Result<Self, ArchiveError> {
        Self::create_on(Disk::default(), dir, options)
    }

    fn create_on(disk: Disk, dir: &Path, options: WriterOptions) -> Result<Self, ArchiveError> {
        fs::create_dir_all(dir).map_err(ArchiveError::io(dir))?;
        let packer = Packer::new(options.compression);
        let (dir, lines_bytes_max) = (dir.to_path_buf(), LINES_BYTES_MAX);
        Ok(Self { disk, dir, options, packer, lines_bytes_max, current: None })
    }

    /// Returns whether the next record begins a new file, which takes longer than an append.
    pub fn is_full(&self) -> bool {
        self.current.as_ref().is_none_or(|file| file.length >= self.options.file_bytes_max)
    }

    /// Appends a record; it is in the file when this returns, and on the medium after the next
    /// [`WarcWriter::sync`]. After an error the writer can be used further.
    pub fn write(&mut self, draft: &Draft<'_>) -> Result<Location, ArchiveError> {
        check(draft)?;
        if self.is_full() {
            self.close()?;
        }
        let current = match &mut self.current {
            Some(current) => current,
            none => {
                let lines = LineSorter::new(self.lines_bytes_max);
                none.insert(begin(&self.disk, &self.dir, &self.options, lines)?)
            }
        };
        if current.length == 0 {
            let filename = current.name.clone();
            let block = fields::warc_fields(&[
                ("software", &self.options.software),
                ("format", "WARC File Format 1.1"),
                (
                    "conformsTo",
                    "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
                ),
            ]);
            let warcinfo = Draft {
                kind: Kind::Warcinfo,
                date_s: draft.date_s,
                date_us: draft.date_us,
                target: None,
                content_type: "application/warc-fields",
                extra: &[("WARC-Filename", &filename)],
                block: &block,
                payload_offset: 0,
            };
            current.warcinfo.clear();
            let (id, _) = current.append(&self.disk, &mut self.packer, &warcinfo)?;
            current.warcinfo = id;
        }
        let (_, location) = current.append(&self.disk, &mut self.packer, draft)?;
        Ok(location)
    }

    /// Returns when everything written is on the medium.
    pub fn sync(&mut self) -> Result<(), ArchiveError> {
        let Some(current) = &mut self.current else { return Ok(()) };
        let failed = |source| ArchiveError::Write {
            path: current.path.clone(),
            offset: current.length,
            source,
        };
        self.disk.sync_data(&current.file).map_err(failed)?;
        if !current.named {
            patiently(|| self.disk.sync(&self.dir)).map_err(ArchiveError::io(&self.dir))?;
            current.named = true;
        }
        Ok(())
    }

    /// Syncs, and writes the CDXJ file of the last WARC file.
    pub fn finish(mut self) -> Result<(), ArchiveError> {
        self.close()
    }

    /// Finishes the current file; after an error it is still the current one.
    fn close(&mut self) -> Result<(), ArchiveError> {
        self.sync()?;
        let Some(current) = &mut self.current else { return Ok(()) };
        current.mend(&self.disk)?;
        let length = current.length;
        let extent = Extent { length, covers: length, had: 0 };
        cdx::write(&self.disk, &current.path, extent, &mut current.lines)?;
        self.current = None;
        Ok(())
    }
}

impl Current {
    /// Appends one record; returns its id and place.
    fn append(
        &mut self,
        disk: &Disk,
        packer: &mut Packer,
        draft: &Draft<'_>,
    ) -> Result<(String, Location), ArchiveError> {
        self.mend(disk)?;
        let payload_offset =
            http::payload_offset(&draft.kind, Some(draft.content_type), draft.block);
        let own = own_payload_digest(draft);
        let (block_digest, payload_digest) = match own {
            Some(digest) => (digest::sha1(draft.block), Some(digest.to_owned())),
            None if draft.kind == Kind::Revisit => (digest::sha1(draft.block), None),
            None if payload_offset == 0 => {
                let digest = digest::sha1(draft.block);
                (digest.clone(), Some(digest))
            }
            None => {
                let (block, payload) = digest::sha1_twice(draft.block, payload_offset);
                (block, Some(payload))
            }
        };
        let id = self.id(draft, &block_digest);
        let agreed = draft.payload_offset == payload_offset && own.is_none();
        let written = payload_digest.as_deref().filter(|_| agreed);
        let record = packer.begin();
        self.header(record, draft, &id, &block_digest, written);
        record.extend_from_slice(draft.block);
        record.extend_from_slice(b"\r\n\r\n");
        let member = packer.member();
        if let Err(source) = disk.write_all(&mut self.file, member) {
            self.torn = true;
            // If even this fails, the next call tries it again.
            let _ = self.mend(disk);
            return Err(self.failed(source));
        }
        let length = member.len() as u64;
        let location = Location { file: self.name.clone(), offset: self.length, length };
        self.length += length;
        self.records += 1;
        if let Some(target) = draft.target {
            let line = CdxLine::describe(
                &draft.kind,
                target,
                (draft.date_s, draft.date_us),
                Some(draft.content_type),
                draft.block,
                payload_digest.as_deref(),
                location.clone(),
            );
            if let Some(line) = line {
                self.lines.push(disk, &self.path, line.to_text());
            }
        }
        Ok((id, location))
    }

    /// Cuts off what a refused record may have left.
    fn mend(&mut self, disk: &Disk) -> Result<(), ArchiveError> {
        if self.torn {
            disk.call(|| self.file.set_len(self.length)).map_err(|source| self.failed(source))?;
            self.torn = false;
        }
        Ok(())
    }

    fn failed(&self, source: io::Error) -> ArchiveError {
        ArchiveError::Write { path: self.path.clone(), offset: self.length, source }
    }

    fn header(
        &self,
        out: &mut Vec<u8>,
        draft: &Draft<'_>,
        id: &str,
        block: &str,
        payload: Option<&str>,
    ) {
        out.extend_from_slice(b"WARC/1.1\r\n");
        let mut put = |name: &str, value: &str| {
            for part in [name, ": ", value, "\r\n"] {
                out.extend_from_slice(part.as_bytes());
            }
        };
        put("WARC-Type", draft.kind.name());
        put("WARC-Record-ID", &format!("<{id}>"));
        put("WARC-Date", &date::exact_date_text(draft.date_s, draft.date_us));
        if let Some(target) = draft.target {
            put("WARC-Target-URI", target);
        }
        if !self.warcinfo.is_empty() {
            put("WARC-Warcinfo-ID", &format!("<{}>", self.warcinfo));
        }
        for (name, value) in draft.extra {
            put(name, value);
        }
        put("WARC-Block-Digest", block);
        if let Some(payload) = payload {
            put("WARC-Payload-Digest", payload);
        }
        put("Content-Type", draft.content_type);
        put("Content-Length", &draft.block.len().to_string());
        out.extend_from_slice(b"\r\n");
    }

    /// A UUID (RFC 9562, version 8) from the content of a record and its place. It is unique in the archive, and
    /// equal when the same crawl is run again.
    fn id(&self, draft: &Draft<'_>, block_digest: &str) -> String {
        let seed = format!(
            "{} {} {} {} {} {block_digest}",
            self.name,
            self.records,
            draft.date_s,
            draft.kind,
            draft.target.unwrap_or_default(),
        );
        let hash = digest::sha1_bytes(seed.as_bytes());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        let bits = u128::from_be_bytes(bytes);
        let bits = bits & !(0xf << 76) & !(0x3 << 62) | 0x8 << 76 | 0x2 << 62;
        let hex = format!("{bits:032x}");
        format!(
            "urn:uuid:{}-{}-{}-{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..]
        )
    }
}

/// The payload digest that a revisit brings with it: that of the payload which it found again.
fn own_payload_digest<'a>(draft: &Draft<'a>) -> Option<&'a str> {
    let named = |(name, _): &&(&str, &str)| name.eq_ignore_ascii_case("WARC-Payload-Digest");
    draft.extra.iter().find(named).map(|(_, value)| *value)
}

/// Creates the file with the next unused number. Names in the CDXJ files of removed files count as used.
fn begin(
    disk: &Disk,
    dir: &Path,
    options: &WriterOptions,
    lines: LineSorter,
) -> Result<Current, ArchiveError> {
    let number = |name: &str| number_of(name.strip_suffix(cdx::ENDING).unwrap_or(name));
    let mut last = options.taken.iter().filter_map(|name| number(name)).max().unwrap_or(0);
    for entry in fs::read_dir(dir).map_err(ArchiveError::io(dir))? {
        let entry = entry.map_err(ArchiveError::io(dir))?;
        last = last.max(entry.file_name().to_str().and_then(number).unwrap_or(0));
    }
    loop {
        last += 1;
        let name = format!("crivello-{last:05}{}", options.compression.ending());
        let path = dir.join(&name);
        match create_patiently(disk, &path) {
            Ok(file) => {
                return Ok(Current {
                    file,
                    name,
                    path,
                    length: 0,
                    torn: false,
                    named: false,
                    records: 0,
                    warcinfo: String::new(),
                    lines,
                });
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(ArchiveError::Write { path, offset: 0, source }),
        }
    }
}

/// Returns whether a file has a name of this writer. Other files are never changed.
pub fn is_own_name(name: &str) -> bool {
    number_of(name).is_some()
}

/// The number in the name of a file that a writer made.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    let name = name.strip_prefix("crivello-")?;
    let number = WRITTEN.iter().find_map(|ending| name.strip_suffix(ending))?;
    let digits = number.len() >= 5 && number.bytes().all(|byte| byte.is_ascii_digit());
    if digits { number.parse().ok() } else { None }
}

/// Refuses what could not be read back as it is.
fn check(draft: &Draft<'_>) -> Result<(), ArchiveError> {
    const OWN: [&str; 8] = [
        "WARC-Type",
        "WARC-Record-ID",
        "WARC-Date",
        "WARC-Target-URI",
        "WARC-Warcinfo-ID",
        "WARC-Block-Digest",
        "Content-Type",
        "Content-Length",
    ];
    let refused = |name: &str, value: &str| {
        Err(ArchiveError::RefusedHeader { name: name.to_owned(), value: value.to_owned() })
    };
    let bytes_max = Limits::default().block_bytes_max;
    let bytes = draft.block.len() as u64;
    if bytes > bytes_max {
        return Err(ArchiveError::RefusedBlock { bytes, bytes_max });
    }
    let kind = draft.kind.name();
    if !is_token(kind) || Kind::from_name(kind) != draft.kind {
        return refused("WARC-Type", kind);
    }
    let own =
        [("WARC-Target-URI", draft.target.unwrap_or("-")), ("Content-Type", draft.content_type)];
    let mut header_bytes = 1024;
    for (name, value) in own.into_iter().chain(draft.extra.iter().copied()) {
        header_bytes += name.len() + value.len() + 4;
        let control = value.chars().any(|c| c.is_control() && c != '\t');
        let trimmed = value.trim_ascii().len() < value.len();
        if control
            || trimmed
            || !is_token(name)
            || header_bytes > Limits::default().header_bytes_max
        {
            return refused(name, value);
        }
    }
    if draft.target.is_some_and(|target| target.is_empty() || target.starts_with('<')) {
        return refused("WARC-Target-URI", draft.target.unwrap_or_default());
    }
    if draft.content_type.is_empty() {
        return refused("Content-Type", "");
    }
    let revisit = draft.kind == Kind::Revisit;
    for (name, value) in draft.extra {
        let own = OWN.iter().any(|own| own.eq_ignore_ascii_case(name));
        if own || (!revisit && name.eq_ignore_ascii_case("WARC-Payload-Digest")) {
            return refused(name, value);
        }
    }
    Ok(())
}

/// RFC 9110, section 5.6.2.
fn is_token(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

#[cfg(test)]
mod tests;
