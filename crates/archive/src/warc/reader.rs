//! Reads WARC files of any writer, record by record.
//!
//! What lives here: the search for records in the stream of members (gzip members or zstd frames), limits, checks of
//! length and digest, and continuation after an error. What does not: decompression (`stream.rs`), and the meaning of
//! blocks (`http/`).
//!
//! **Invariant.** The limits bound the memory, whatever the file says. A record is returned only after its member has
//! passed its checksum, unless another record follows in the same member. After an error, the next call continues at
//! the following record if the beginning of that record is certain. It is certain at the next member and at the end of
//! a block of known length. Otherwise the iteration ends. The reader does not search for bytes that look like a
//! record, because a page may contain a WARC file. Callers can start that search (`reader/resync.rs`).
//!
//! Reference: ISO 28500:2017 (WARC 1.1). The reader handles the drafts 0.17 and 0.18
//! in the same way.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

mod resync;

use crate::surt::upper_case_escapes;
use crate::warc::stream::Stream;
use crate::{ArchiveError, Kind, Limits, Location, Record, date, digest, fields, http};

/// Maximum number of bytes of line breaks between two records.
const BLANK_BYTES_MAX: u64 = 4096;
/// A member may unpack to the maximum size of a block and this number of bytes more.
const SLACK_BYTES: u64 = 64 << 20;

/// Reads the records of one WARC file, in order.
pub struct WarcReader<R = File> {
    stream: Stream<R>,
    /// The name of the file, for locations.
    file: String,
    limits: Limits,
    next: Next,
    /// The error in the rest of the last record's member.
    pending: Option<ArchiveError>,
    at_end: bool,
    /// Bytes that searches after damage have read in total.
    searched_bytes: u64,
}

/// How the next record is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// It begins here, perhaps after blank lines.
    Here,
    /// After this number of bytes, which are the block of a refused record.
    AfterBlock(u64),
    /// At the beginning of the next member.
    AfterMember,
    /// Its beginning is not known.
    Lost,
}

/// Where a record begins.
#[derive(Clone, Copy)]
struct Start {
    offset: u64,
    /// Whether only line breaks precede it in its member.
    first: bool,
}

impl WarcReader<File> {
    /// Opens a `.warc`, `.warc.gz` or `.warc.zst` file. The first bytes decide the format, not the name.
    pub fn open(path: &Path, limits: Limits) -> Result<Self, ArchiveError> {
        Self::open_at(path, 0, limits)
    }

    /// Opens a file at the first byte of a record or of its member.
    pub fn open_at(path: &Path, offset: u64, limits: Limits) -> Result<Self, ArchiveError> {
        let input = File::open(path).map_err(ArchiveError::io(path))?;
        Self::over(input, path, offset, limits)
    }
}

impl<R: Read + Seek> WarcReader<R> {
    /// Reads from any input. `path` is its name in errors and locations.
    pub fn over(input: R, path: &Path, offset: u64, limits: Limits) -> Result<Self, ArchiveError> {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stream =
            Stream::at(input, path, offset, limits.block_bytes_max.saturating_add(SLACK_BYTES))?;
        Ok(Self {
            stream,
            file,
            limits,
            next: Next::Here,
            pending: None,
            at_end: false,
            searched_bytes: 0,
        })
    }
}

impl<R: Read> WarcReader<R> {
    /// Returns the next record. Returns `None` at the end of the file, or if reading cannot continue after an error.
    pub fn next_record(&mut self) -> Result<Option<Record>, ArchiveError> {
        if let Some(error) = self.pending.take() {
            return Err(error);
        }
        // An error in the compressed data leaves this state. Every other error below sets its own.
        match std::mem::replace(&mut self.next, Next::Lost) {
            Next::Here => {}
            Next::AfterBlock(bytes) => self.skip(bytes)?,
            Next::AfterMember => self.skip_member()?,
            Next::Lost => return Ok(None),
        }
        let Some(start) = self.find_start()? else {
            self.at_end = true;
            return Ok(None);
        };
        let header = self.header(start)?;
        let headers = fields::parse(&header);
        let length = self.length(start, &headers)?;
        // The end of the block is known, so the next record can be found even if this one is refused.
        let record = match self.describe(start, &header, headers, length) {
            Ok(record) => record,
            Err(error) => {
                self.next = Next::AfterBlock(length);
                return Err(error);
            }
        };
        let record = self.finish(start, record, length)?;
        self.next = Next::Here;
        if self.limits.verify_digests {
            self.verify(start, &record)?;
        }
        Ok(Some(record))
    }

    /// The number of bytes of the file read so far. It is exact in uncompressed files, and between records if each has
    /// its own member.
    pub(crate) fn offset(&self) -> u64 {
        self.stream.offset()
    }

    /// Returns whether the file was read to its end. An iteration that broke off has not reached it.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at_end
    }

    pub(crate) fn path(&self) -> &Path {
        self.stream.path()
    }

    /// Returns whether the iteration broke off, so that no record follows the error.
    pub(crate) fn is_lost(&self) -> bool {
        self.next == Next::Lost && !self.at_end && self.pending.is_none()
    }

    /// Moves to the first byte of a record.
    fn find_start(&mut self) -> Result<Option<Start>, ArchiveError> {
        let mut blank = 0;
        let mut first = false;
        loop {
            let here = self.stream.offset();
            let chunk = self.stream.fill()?;
            if chunk.is_empty() {
                if !self.stream.next_member()? {
                    return Ok(None);
                }
                (first, blank) = (true, 0);
                continue;
            }
            let breaks = chunk.iter().take_while(|&&byte| matches!(byte, b'\r' | b'\n')).count();
            let found = breaks < chunk.len();
            self.stream.consume(breaks);
            blank += breaks as u64;
            let offset = if self.stream.is_compressed() { self.stream.member() } else { here };
            if blank > BLANK_BYTES_MAX {
                self.next = self.after_header();
                return Err(self.too_large(offset, "space between records", BLANK_BYTES_MAX));
            }
            if found {
                let offset =
                    if self.stream.is_compressed() { offset } else { self.stream.offset() };
                return Ok(Some(Start { offset, first: first || !self.stream.is_compressed() }));
            }
        }
    }

    /// Reads a header up to its empty line. Checks only that it is a WARC header.
    fn header(&mut self, start: Start) -> Result<Vec<u8>, ArchiveError> {
        let mut header = Vec::new();
        let mut line_start = 0;
        loop {
            let chunk = self.stream.fill()?;
            if chunk.is_empty() {
                if header.is_empty() || is_header(&header) == Some(true) {
                    if self.next_member_inside(start, 0)? {
                        continue;
                    }
                    return Err(self.truncated(start));
                }
                self.next = Next::Here;
                return Err(self.garbage(start, &header));
            }
            let line_end = chunk.iter().position(|&byte| byte == b'\n');
            let taken = line_end.map_or(chunk.len(), |end| end + 1);
            header.extend_from_slice(&chunk[..taken]);
            self.stream.consume(taken);
            if is_header(&header) == Some(false) {
                let error = self.garbage(start, &header);
                // Nothing that follows in an ARC file is a WARC record.
                let arc = matches!(error, ArchiveError::Arc { .. });
                self.next = if arc { Next::Lost } else { self.after_header() };
                return Err(error);
            }
            if header.len() > self.limits.header_bytes_max {
                self.next = self.after_header();
                let bytes_max = self.limits.header_bytes_max as u64;
                return Err(self.too_large(start.offset, "header", bytes_max));
            }
            if line_end.is_some() {
                if matches!(&header[line_start..], b"\r\n" | b"\n") {
                    return Ok(header);
                }
                line_start = header.len();
            }
        }
    }

    /// Parses Content-Length. Without it the end of the record is unknown.
    fn length(&mut self, start: Start, headers: &[(String, String)]) -> Result<u64, ArchiveError> {
        const NAME: &str = "Content-Length";
        let result = match fields::find(headers, NAME) {
            None => Err(self.missing(start, NAME)),
            Some(value) if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                value.parse().map_err(|_| self.bad(start, NAME, value))
            }
            Some(value) => Err(self.bad(start, NAME, value)),
        };
        if result.is_err() {
            self.next = self.after_header();
        }
        result
    }

    /// The record without its block.
    fn describe(
        &self,
        start: Start,
        header: &[u8],
        headers: Vec<(String, String)>,
        length: u64,
    ) -> Result<Record, ArchiveError> {
        let line = header.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let version = line.trim_ascii_end().get(5..).unwrap_or_default();
        if !matches!(version, [b'0' | b'1', b'.', rest @ ..] if !rest.is_empty() && rest.iter().all(u8::is_ascii_digit))
        {
            return Err(self.bad(start, "version", &fields::text(version)));
        }
        if length > self.limits.block_bytes_max {
            return Err(self.too_large(start.offset, "block", self.limits.block_bytes_max));
        }
        let find = |name| fields::find(&headers, name).filter(|value| !value.is_empty());
        let kind = find("WARC-Type").ok_or_else(|| self.missing(start, "WARC-Type"))?;
        let date = find("WARC-Date").ok_or_else(|| self.missing(start, "WARC-Date"))?;
        let (date_s, date_us) =
            date::parse(date).ok_or_else(|| self.bad(start, "WARC-Date", date))?;
        Ok(Record {
            kind: Kind::from_name(kind),
            id: bare(find("WARC-Record-ID").unwrap_or_default()).to_owned(),
            date_s,
            date_us,
            target: find("WARC-Target-URI").map(|target| upper_case_escapes(bare(target))),
            content_type: find("Content-Type").map(str::to_owned),
            block: Vec::new(),
            location: Location { file: self.file.clone(), offset: start.offset, length: 0 },
            headers,
        })
    }

    /// Reads the block and what follows it, up to the next record or the end of the member.
    fn finish(
        &mut self,
        start: Start,
        mut record: Record,
        length: u64,
    ) -> Result<Record, ArchiveError> {
        let mut left = length;
        while left > 0 {
            let chunk = self.stream.fill()?;
            if chunk.is_empty() {
                if self.next_member_inside(start, length)? {
                    continue;
                }
                return Err(self.truncated(start));
            }
            let taken = usize::try_from(left).map_or(chunk.len(), |left| left.min(chunk.len()));
            record.block.extend_from_slice(&chunk[..taken]);
            self.stream.consume(taken);
            left -= taken as u64;
        }
        let alone = self.blanks(start, length)?;
        if !self.stream.is_compressed() || (start.first && alone) {
            record.location.length = self.stream.offset() - start.offset;
        }
        Ok(record)
    }

    /// Skips the line breaks after a block. Returns whether the member ends after them.
    fn blanks(&mut self, start: Start, length: u64) -> Result<bool, ArchiveError> {
        let mut blank = 0;
        loop {
            let compressed = self.stream.is_compressed();
            let chunk = self.stream.peek(MAGIC.len())?;
            let breaks = chunk.iter().take_while(|&&byte| matches!(byte, b'\r' | b'\n')).count();
            if chunk.is_empty() {
                return Ok(true);
            }
            if breaks == 0 {
                let record = is_header(chunk);
                if blank == 0 && record == Some(false) {
                    self.next = self.after_header();
                    return Err(self.wrong_length(start, length));
                }
                if compressed && record != Some(true) {
                    let found = chunk[..chunk.len().min(100)].to_vec();
                    let error = self.garbage(start, &found);
                    self.refuse_rest(error)?;
                }
                return Ok(false);
            }
            if blank > BLANK_BYTES_MAX {
                if compressed {
                    let error =
                        self.too_large(start.offset, "space between records", BLANK_BYTES_MAX);
                    self.refuse_rest(error)?;
                }
                return Ok(false);
            }
            self.stream.consume(breaks);
            blank += breaks as u64;
        }
    }

    /// Skips the rest of a member, which is not a record. The checksum is thus verified before the last record is
    /// returned. The next call returns `error`.
    fn refuse_rest(&mut self, error: ArchiveError) -> Result<(), ArchiveError> {
        self.skip_member()?;
        self.pending = Some(error);
        Ok(())
    }

    /// Continues a record in the next member. If that member begins with a WARC header, the declared length of this
    /// record is wrong.
    fn next_member_inside(&mut self, start: Start, length: u64) -> Result<bool, ArchiveError> {
        if !self.stream.is_compressed() || !self.stream.next_member()? {
            return Ok(false);
        }
        let chunk = self.stream.fill()?;
        if chunk.len() >= MAGIC.len() && is_header(chunk) == Some(true) {
            self.next = Next::Here;
            return Err(self.wrong_length(start, length));
        }
        Ok(true)
    }

    /// Compares the digests of the header with the bytes. A payload digest covers the whole payload, so it is not
    /// checked for a segment of a record, nor for a revisit, which has no payload.
    fn verify(&self, start: Start, record: &Record) -> Result<(), ArchiveError> {
        const BLOCK: &str = "WARC-Block-Digest";
        const PAYLOAD: &str = "WARC-Payload-Digest";
        let check = |name, declared: &str, computed: Option<String>| match computed {
            None => Ok(()),
            Some(computed) => Err(ArchiveError::Digest {
                path: self.stream.path().to_path_buf(),
                offset: start.offset,
                name,
                declared: declared.to_owned(),
                computed,
            }),
        };
        let whole = !matches!(record.kind, Kind::Revisit | Kind::Continuation)
            && record.header("WARC-Segment-Number").is_none();
        let block = record.header(BLOCK);
        let payload = record.header(PAYLOAD).filter(|_| whole);
        if let (Some(block), Some(payload)) = (block, payload)
            && http::both_fit(record, block, payload)
        {
            return Ok(());
        }
        if let Some(declared) = block {
            check(BLOCK, declared, digest::mismatch(declared, &record.block))?;
        }
        if let Some(declared) = payload {
            check(PAYLOAD, declared, http::payload_mismatch(record, declared))?;
        }
        Ok(())
    }

    fn skip(&mut self, bytes: u64) -> Result<(), ArchiveError> {
        let mut left = bytes;
        while left > 0 {
            let chunk = self.stream.fill()?;
            let taken = usize::try_from(left).map_or(chunk.len(), |left| left.min(chunk.len()));
            if taken == 0 {
                return Ok(()); // the member ends early: the next one is a beginning in any case
            }
            self.stream.consume(taken);
            left -= taken as u64;
        }
        Ok(())
    }

    fn skip_member(&mut self) -> Result<(), ArchiveError> {
        loop {
            let taken = self.stream.fill()?.len();
            if taken == 0 {
                return Ok(());
            }
            self.stream.consume(taken);
        }
    }

    /// Where the search for the next record continues if the length of this one is unknown.
    fn after_header(&self) -> Next {
        if self.stream.is_compressed() { Next::AfterMember } else { Next::Lost }
    }

    fn truncated(&self, start: Start) -> ArchiveError {
        ArchiveError::Truncated { path: self.stream.path().to_path_buf(), offset: start.offset }
    }

    fn garbage(&self, start: Start, found: &[u8]) -> ArchiveError {
        let path = self.stream.path().to_path_buf();
        if found.starts_with(b"filedesc:") {
            return ArchiveError::Arc { path };
        }
        let line = found.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
        ArchiveError::Garbage { path, offset: start.offset, found: shorten(&fields::text(line)) }
    }

    fn missing(&self, start: Start, name: &'static str) -> ArchiveError {
        let path = self.stream.path().to_path_buf();
        ArchiveError::MissingHeader { path, offset: start.offset, name }
    }

    fn bad(&self, start: Start, name: &'static str, value: &str) -> ArchiveError {
        let path = self.stream.path().to_path_buf();
        ArchiveError::BadHeader { path, offset: start.offset, name, value: shorten(value) }
    }

    fn wrong_length(&self, start: Start, declared: u64) -> ArchiveError {
        let path = self.stream.path().to_path_buf();
        ArchiveError::WrongLength { path, offset: start.offset, declared }
    }

    fn too_large(&self, offset: u64, what: &'static str, bytes_max: u64) -> ArchiveError {
        ArchiveError::TooLarge { path: self.stream.path().to_path_buf(), offset, what, bytes_max }
    }
}

const MAGIC: &[u8] = b"WARC/";

/// Returns whether bytes begin a WARC header. Returns `None` if they are too few.
fn is_header(bytes: &[u8]) -> Option<bool> {
    let count = bytes.len().min(MAGIC.len());
    let same = bytes[..count].eq_ignore_ascii_case(&MAGIC[..count]);
    if same && count < MAGIC.len() { None } else { Some(same) }
}

/// Returns a URI without its angle brackets.
fn bare(uri: &str) -> &str {
    uri.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or(uri)
}

/// Returns the beginning of a text, for a message.
fn shorten(text: &str) -> String {
    text.chars().take(60).collect()
}
