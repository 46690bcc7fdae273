//! The bytes of a WARC file after decompression, member by member.
//!
//! What lives here: telling gzip from plain files, undoing gzip with its checksums, and counting
//! where in the file we stand. A plain file is one member. What does not: records (`reader.rs`).
//!
//! **Invariant.** When [`Stream::fill`] has returned the empty slice, every byte given out since the
//! member began has passed its CRC-32 and its length check; offsets are those of the file on disk.
//!
//! Reference: RFC 1951 and 1952; WARC 1.1, annex D ("record-at-a-time compression").

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::ArchiveError;

const BUFFER_BYTES: usize = 64 << 10;
/// The longest run of optional parts (extra field, file name, comment) in a gzip header.
const GZIP_HEADER_BYTES_MAX: usize = 256 << 10;

pub(crate) struct Stream<R> {
    input: BufReader<R>,
    path: PathBuf,
    /// The offset in the file of the next byte of `input`.
    offset: u64,
    /// Where the current member begins.
    member: u64,
    inside: bool,
    /// There was nothing when it was opened. What a writer appends meanwhile is left for the next
    /// reader: this one has not seen whether it is compressed.
    is_empty: bool,
    gzip: Option<Inflater>,
}

/// The decompressor and what it has produced.
struct Inflater {
    inflate: Decompress,
    crc: Crc,
    out: Box<[u8]>,
    start: usize,
    end: usize,
    /// The deflate stream is over; the trailer is not yet read.
    ended: bool,
}

impl<R: Read + Seek> Stream<R> {
    /// A stream over `input` from byte `offset` on; `path` is for error messages.
    pub(crate) fn at(input: R, path: &Path, offset: u64) -> Result<Self, ArchiveError> {
        let mut input = BufReader::with_capacity(BUFFER_BYTES, input);
        let mut stream = || {
            input.seek(SeekFrom::Start(offset))?;
            let head = input.fill_buf()?;
            let zstd = head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
            Ok((head.is_empty(), head.starts_with(&[0x1f]), zstd))
        };
        let (is_empty, gzip, zstd) = stream().map_err(ArchiveError::io(path))?;
        if zstd {
            return Err(ArchiveError::Zstd { path: path.to_path_buf() });
        }
        let gzip = gzip.then(|| Inflater {
            inflate: Decompress::new(false),
            crc: Crc::new(),
            out: vec![0; BUFFER_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            ended: false,
        });
        let path = path.to_path_buf();
        Ok(Self { input, path, offset, member: offset, inside: false, is_empty, gzip })
    }
}

impl<R: Read> Stream<R> {
    /// Whether the file is gzipped.
    pub(crate) fn is_gzip(&self) -> bool {
        self.gzip.is_some()
    }

    /// The offset in the file of the next byte: exact in plain files and between gzip members.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Where the current member begins.
    pub(crate) fn member(&self) -> u64 {
        self.member
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Begins the next member; `false` at the end of the file. A member must have been read to its
    /// end before.
    pub(crate) fn next_member(&mut self) -> Result<bool, ArchiveError> {
        self.inside = false;
        self.member = self.offset;
        if self.is_empty || self.raw()?.is_empty() {
            return Ok(false);
        }
        if self.gzip.is_some() {
            self.gzip_header()?;
        }
        if let Some(gzip) = &mut self.gzip {
            gzip.inflate.reset(false);
            gzip.crc.reset();
            (gzip.start, gzip.end, gzip.ended) = (0, 0, false);
        }
        self.inside = true;
        Ok(true)
    }

    /// The next decoded bytes of the member; empty at its end, which is checked.
    pub(crate) fn fill(&mut self) -> Result<&[u8], ArchiveError> {
        if !self.inside {
            return Ok(&[]);
        }
        if self.gzip.is_none() {
            return self.raw();
        }
        while self.gzip.as_ref().is_some_and(|gzip| gzip.start == gzip.end && !gzip.ended) {
            self.inflate()?;
        }
        if self.gzip.as_ref().is_some_and(|gzip| gzip.start == gzip.end) {
            self.gzip_trailer()?;
            self.inside = false;
        }
        Ok(self.gzip.as_ref().map_or(&[], |gzip| &gzip.out[gzip.start..gzip.end]))
    }

    /// As [`Stream::fill`], but in a gzipped file with at least `count` bytes, if the member has so many.
    pub(crate) fn peek(&mut self, count: usize) -> Result<&[u8], ArchiveError> {
        debug_assert!(count < BUFFER_BYTES, "what is asked for fits in the buffer");
        let short = |gzip: &Inflater| gzip.end - gzip.start < count && !gzip.ended;
        while self.inside && self.gzip.as_ref().is_some_and(short) {
            self.inflate()?;
        }
        self.fill()
    }

    /// Takes `count` bytes of those that [`Stream::fill`] last gave.
    pub(crate) fn consume(&mut self, count: usize) {
        match &mut self.gzip {
            Some(gzip) => gzip.start = (gzip.start + count).min(gzip.end),
            None => self.raw_consume(count),
        }
    }

    /// One step of decompression; what the output buffer still holds moves to its front.
    fn inflate(&mut self) -> Result<(), ArchiveError> {
        let Self { input, gzip, path, member, offset, .. } = self;
        let Some(gzip) = gzip else { return Ok(()) };
        let raw = fill_raw(input, path)?;
        if raw.is_empty() {
            return Err(ArchiveError::Truncated { path: path.clone(), offset: *member });
        }
        gzip.out.copy_within(gzip.start..gzip.end, 0);
        let kept = gzip.end - gzip.start;
        let (in_before, out_before) = (gzip.inflate.total_in(), gzip.inflate.total_out());
        let status = gzip.inflate.decompress(raw, &mut gzip.out[kept..], FlushDecompress::None);
        let taken = usize::try_from(gzip.inflate.total_in() - in_before).expect("within a buffer");
        let made = usize::try_from(gzip.inflate.total_out() - out_before).expect("within a buffer");
        input.consume(taken);
        *offset += taken as u64;
        let damaged = |what| ArchiveError::Damaged { path: path.clone(), offset: *member, what };
        match status {
            Ok(Status::StreamEnd) => gzip.ended = true,
            Ok(_) if taken > 0 || made > 0 => {}
            Ok(_) | Err(_) => return Err(damaged("its deflate data is invalid")),
        }
        (gzip.start, gzip.end) = (0, kept + made);
        gzip.crc.update(&gzip.out[kept..kept + made]);
        Ok(())
    }

    fn gzip_trailer(&mut self) -> Result<(), ArchiveError> {
        let mut trailer = [0; 8];
        for byte in &mut trailer {
            *byte = self.raw_byte()?;
        }
        let Some(gzip) = &self.gzip else { return Ok(()) };
        let expected = u64::from(gzip.crc.sum()) | u64::from(gzip.crc.amount()) << 32;
        if u64::from_le_bytes(trailer) == expected {
            Ok(())
        } else {
            Err(self.damaged("its bytes do not have the checksum they were written with"))
        }
    }

    /// RFC 1952, section 2.3.
    fn gzip_header(&mut self) -> Result<(), ArchiveError> {
        const HEADER_CRC: u8 = 2;
        const EXTRA: u8 = 4;
        const NAME: u8 = 8;
        const COMMENT: u8 = 16;
        let mut fixed = [0; 10];
        for (at, byte) in fixed.iter_mut().enumerate() {
            *byte = self.raw_byte()?;
            // Looked at as they come: a short rest that is no gzip at all is garbage, not torn.
            if [0x1f, 0x8b, 8].get(at).is_some_and(|wanted| wanted != byte) {
                return Err(self.damaged("no gzip member begins here"));
            }
        }
        let flags = fixed[3];
        if flags & EXTRA != 0 {
            let length = u16::from_le_bytes([self.raw_byte()?, self.raw_byte()?]);
            for _ in 0..length {
                self.raw_byte()?;
            }
        }
        for _ in 0..(flags & NAME).count_ones() + (flags & COMMENT).count_ones() {
            let mut length = 0;
            while self.raw_byte()? != 0 {
                length += 1;
                if length > GZIP_HEADER_BYTES_MAX {
                    return Err(self.damaged("its gzip header has no end"));
                }
            }
        }
        if flags & HEADER_CRC != 0 {
            self.raw_byte()?;
            self.raw_byte()?;
        }
        Ok(())
    }

    fn damaged(&self, what: &'static str) -> ArchiveError {
        ArchiveError::Damaged { path: self.path.clone(), offset: self.member, what }
    }

    fn raw(&mut self) -> Result<&[u8], ArchiveError> {
        fill_raw(&mut self.input, &self.path)
    }

    fn raw_consume(&mut self, count: usize) {
        self.input.consume(count);
        self.offset += count as u64;
    }

    fn raw_byte(&mut self) -> Result<u8, ArchiveError> {
        match self.raw()?.first().copied() {
            Some(byte) => {
                self.raw_consume(1);
                Ok(byte)
            }
            None => Err(ArchiveError::Truncated { path: self.path.clone(), offset: self.member }),
        }
    }
}

fn fill_raw<'a, R: Read>(
    input: &'a mut BufReader<R>,
    path: &Path,
) -> Result<&'a [u8], ArchiveError> {
    // Asked for twice, because the borrow of a retried `fill_buf` may not outlive the loop.
    while input.buffer().is_empty() {
        match input.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ArchiveError::io(path)(error)),
        }
    }
    Ok(input.buffer())
}
