//! A file without its compression, whatever that is.
//!
//! What lives here: [`Unpacked`], the bytes of a plain file, or of all members of one that is compressed with gzip or
//! zstd, in a row. What does not: what the bytes are; the compressions themselves (`stream.rs`).
//!
//! **Invariant.** The end of the file is given out only after every checksum in it was met; a damaged file ends with
//! an error that names it and the byte.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::ArchiveError;
use crate::warc::stream::Stream;

/// The bytes of a file after decompression. It is buffered.
pub struct Unpacked {
    stream: Stream<File>,
}

impl Unpacked {
    /// Opens a plain, gzip or zstd file, recognised by its first bytes. The caller must limit the output.
    pub fn open(path: &Path) -> Result<Unpacked, ArchiveError> {
        let file = File::open(path).map_err(ArchiveError::io(path))?;
        Ok(Unpacked { stream: Stream::at(file, path, 0, u64::MAX)? })
    }
}

impl Read for Unpacked {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let bytes = self.stream.fill().map_err(io::Error::other)?;
            if !bytes.is_empty() {
                let count = bytes.len().min(out.len());
                out[..count].copy_from_slice(&bytes[..count]);
                self.stream.consume(count);
                return Ok(count);
            }
            if !self.stream.next_member().map_err(io::Error::other)? {
                return Ok(0);
            }
        }
    }
}
