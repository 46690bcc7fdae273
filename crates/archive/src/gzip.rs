//! Writing gzip members, one a record.
//!
//! What lives here: a deflate state that is reused from record to record, and the frame around it. What
//! does not: reading (`stream.rs`).
//!
//! Reference: RFC 1952; WARC 1.1, annex D.

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

/// No time, no name, no system: equal records give equal bytes.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
const CHUNK_BYTES: usize = 32 << 10;

pub(crate) struct Gzip {
    compress: Compress,
    out: Vec<u8>,
}

impl Gzip {
    pub(crate) fn new(level: u32) -> Self {
        Self { compress: Compress::new(Compression::new(level.min(9)), false), out: Vec::new() }
    }

    /// A member that holds `parts` one after another.
    pub(crate) fn member(&mut self, parts: &[&[u8]]) -> &[u8] {
        self.compress.reset();
        self.out.clear();
        self.out.extend_from_slice(&HEADER);
        let mut crc = Crc::new();
        for part in parts {
            crc.update(part);
            let mut rest = *part;
            while !rest.is_empty() {
                let before = self.compress.total_in();
                self.step(rest, FlushCompress::None);
                let taken = self.compress.total_in() - before;
                rest = &rest[usize::try_from(taken).expect("no more than it was given")..];
            }
        }
        while self.step(&[], FlushCompress::Finish) != Status::StreamEnd {}
        self.out.extend_from_slice(&crc.sum().to_le_bytes());
        self.out.extend_from_slice(&crc.amount().to_le_bytes());
        &self.out
    }

    fn step(&mut self, input: &[u8], flush: FlushCompress) -> Status {
        if self.out.capacity() - self.out.len() < CHUNK_BYTES {
            self.out.reserve(CHUNK_BYTES.max(self.out.len()));
        }
        self.compress.compress_vec(input, &mut self.out, flush).expect("deflate takes any bytes")
    }
}
