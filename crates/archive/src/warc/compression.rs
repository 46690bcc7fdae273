//! How the records of a file are compressed.
//!
//! What lives here: the choice between the two ways, each record by itself in both, and the buffers that
//! are used again from record to record. What does not: the ways themselves (`gzip.rs`, `zstd.rs`).
//!
//! **Invariant.** A record is compressed by itself: what it becomes does not depend on those before it.

use crate::warc::gzip::Deflater;
use crate::warc::zstd;

/// A buffer that has become larger is given back.
const KEPT_BYTES_MAX: usize = 8 << 20;

/// How a writer compresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// gzip, which every tool reads.
    Gzip {
        /// 0 (store) to 9 (smallest).
        level: u32,
    },
    /// Zstandard, which takes less time to write and to read.
    Zstd {
        /// 1 (fastest) to 22 (smallest).
        level: i32,
    },
}

impl Compression {
    /// File name suffix.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Gzip { .. } => GZIP_ENDING,
            Self::Zstd { .. } => ZSTD_ENDING,
        }
    }
}

const GZIP_ENDING: &str = ".warc.gz";
const ZSTD_ENDING: &str = ".warc.zst";
const PLAIN_ENDING: &str = ".warc";

/// The endings of the files that writers make.
pub(crate) const WRITTEN: [&str; 2] = [GZIP_ENDING, ZSTD_ENDING];
/// The endings of the files that are read.
pub(crate) const READ: [&str; 3] = [GZIP_ENDING, ZSTD_ENDING, PLAIN_ENDING];

/// Puts a record together and compresses it.
pub(crate) struct Packer {
    record: Vec<u8>,
    compressor: Compressor,
}

enum Compressor {
    Gzip(Deflater),
    Zstd(zstd::Compressor),
}

impl Packer {
    pub(crate) fn new(compression: Compression) -> Self {
        let compressor = match compression {
            Compression::Gzip { level } => Compressor::Gzip(Deflater::new(level)),
            Compression::Zstd { level } => Compressor::Zstd(zstd::Compressor::new(level)),
        };
        Self { record: Vec::new(), compressor }
    }

    /// Where the next record goes.
    pub(crate) fn begin(&mut self) -> &mut Vec<u8> {
        if self.record.capacity() > KEPT_BYTES_MAX {
            self.record = Vec::new();
            match &mut self.compressor {
                Compressor::Gzip(deflater) => deflater.shrink(),
                Compressor::Zstd(compressor) => compressor.shrink(),
            }
        }
        self.record.clear();
        &mut self.record
    }

    /// The compressed record, as in the file.
    pub(crate) fn member(&mut self) -> &[u8] {
        match &mut self.compressor {
            Compressor::Gzip(deflater) => deflater.member(&self.record),
            Compressor::Zstd(compressor) => compressor.frame(&self.record),
        }
    }
}
