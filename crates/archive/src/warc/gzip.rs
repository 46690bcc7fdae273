//! gzip members, one a record.
//!
//! What lives here: writing a member whose bytes are all at hand, with a deflate state that is used again
//! from record to record, and the three parts of reading one: header, data and trailer. What does not: whose
//! bytes they are.
//!
//! **Invariant.** Equal records become equal members, and what is read of a member fits its checksum and its
//! length or is an error.
//!
//! Reference: RFC 1951 and 1952; WARC 1.1, annex D ("record-at-a-time compression").

use std::io::Read;

use flate2::{Compress, Decompress, FlushCompress, FlushDecompress, Status};

use crate::ArchiveError;
use crate::warc::source::Source;
use crate::warc::stream::Step;

/// No time, no name, no system: equal records give equal bytes.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// The first bytes of every member: the magic number and the deflate method.
pub(crate) const START: [u8; 3] = [HEADER[0], HEADER[1], HEADER[2]];
const TRAILER_BYTES: usize = 8;
const CHUNK_BYTES: usize = 32 << 10;
/// The longest run of optional parts (extra field, file name, comment) in a header.
const HEADER_BYTES_MAX: usize = 256 << 10;
/// Writes members.
pub(crate) struct Deflater {
    compress: Compress,
    /// Longer than any member so far, since room costs its clearing.
    out: Vec<u8>,
}

impl Deflater {
    pub(crate) fn new(level: u32) -> Self {
        Self {
            compress: Compress::new(flate2::Compression::new(level.min(9)), false),
            out: Vec::new(),
        }
    }

    /// A member that holds `record`.
    pub(crate) fn member(&mut self, record: &[u8]) -> &[u8] {
        self.compress.reset();
        let made = |compress: &Compress| {
            HEADER.len() + usize::try_from(compress.total_out()).expect("it is in memory")
        };
        loop {
            let end = made(&self.compress);
            if self.out.len() < end + CHUNK_BYTES {
                self.out.resize(end + CHUNK_BYTES.max(end), 0);
            }
            let taken = usize::try_from(self.compress.total_in()).expect("it is in memory");
            let (rest, out) = (&record[taken..], &mut self.out[end..]);
            let status = self.compress.compress(rest, out, FlushCompress::Finish);
            if status.expect("deflate takes any bytes") == Status::StreamEnd {
                break;
            }
        }
        let end = made(&self.compress);
        let trailer = trailer(crc32fast::hash(record), record.len() as u64);
        self.out.resize(self.out.len().max(end + TRAILER_BYTES), 0);
        self.out[..HEADER.len()].copy_from_slice(&HEADER);
        self.out[end..end + TRAILER_BYTES].copy_from_slice(&trailer);
        &self.out[..end + TRAILER_BYTES]
    }

    /// Gives memory back that a large record took.
    pub(crate) fn shrink(&mut self) {
        self.out = Vec::new();
    }
}

/// Reads the deflate data of members.
pub(crate) struct Inflater {
    inflate: Decompress,
    crc: crc32fast::Hasher,
}

impl Inflater {
    pub(crate) fn new() -> Self {
        Self { inflate: Decompress::new(false), crc: crc32fast::Hasher::new() }
    }

    /// Begins the data of a member, whose header is passed by this.
    pub(crate) fn begin<R: Read>(&mut self, source: &mut Source<R>) -> Result<(), ArchiveError> {
        header(source)?;
        self.inflate.reset(false);
        self.crc.reset();
        Ok(())
    }

    pub(crate) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Step, &'static str> {
        let (in_before, out_before) = (self.inflate.total_in(), self.inflate.total_out());
        let status = self.inflate.decompress(input, out, FlushDecompress::None);
        let status = status.map_err(|_| "its deflate data is invalid")?;
        let taken = usize::try_from(self.inflate.total_in() - in_before).expect("within a buffer");
        let made = usize::try_from(self.inflate.total_out() - out_before).expect("within a buffer");
        self.crc.update(&out[..made]);
        Ok(Step { taken, made, ended: status == Status::StreamEnd })
    }

    /// Passes the trailer and compares what it says.
    pub(crate) fn end<R: Read>(&self, source: &mut Source<R>) -> Result<(), ArchiveError> {
        let mut found = [0; TRAILER_BYTES];
        for byte in &mut found {
            *byte = source.byte()?;
        }
        if found == trailer(self.crc.clone().finalize(), self.inflate.total_out()) {
            Ok(())
        } else {
            Err(source.damaged("checksum mismatch"))
        }
    }
}

/// Checksum and length modulo 2³².
fn trailer(crc: u32, length: u64) -> [u8; TRAILER_BYTES] {
    (u64::from(crc) | length << 32).to_le_bytes()
}

/// Returns whether a file is gzipped, by its first bytes.
pub(crate) fn begins(head: &[u8]) -> bool {
    head.first() == HEADER.first()
}

/// RFC 1952, section 2.3.
fn header<R: Read>(source: &mut Source<R>) -> Result<(), ArchiveError> {
    const HEADER_CRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let mut fixed = [0; HEADER.len()];
    for (at, byte) in fixed.iter_mut().enumerate() {
        *byte = source.byte()?;
        // Looked at as they come: a short rest that is no gzip at all is garbage, not torn.
        if at < 3 && *byte != HEADER[at] {
            return Err(source.damaged("no gzip member begins here"));
        }
    }
    let flags = fixed[3];
    if flags & EXTRA != 0 {
        let length = u16::from_le_bytes([source.byte()?, source.byte()?]);
        source.skip(length.into())?;
    }
    for _ in 0..(flags & NAME).count_ones() + (flags & COMMENT).count_ones() {
        let mut length = 0;
        while source.byte()? != 0 {
            length += 1;
            if length > HEADER_BYTES_MAX {
                return Err(source.damaged("its gzip header has no end"));
            }
        }
    }
    if flags & HEADER_CRC != 0 {
        source.skip(2)?;
    }
    Ok(())
}
