//! The bytes of a file on disk, and the position in it.
//!
//! What lives here: a buffered reader that knows its offset and the beginning of the current member, which errors
//! name. What does not: decompression (`stream.rs`).
//!
//! **Invariant.** `offset` is that of the next byte to be consumed. Buffered bytes follow it.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::ArchiveError;

const BUFFER_BYTES: usize = 64 << 10;

pub(crate) struct Source<R> {
    input: R,
    path: PathBuf,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    offset: u64,
    /// Where the current member begins.
    member: u64,
}

impl<R: Read + Seek> Source<R> {
    /// Reads `input` from byte `offset` on; `path` is for error messages.
    pub(crate) fn at(mut input: R, path: &Path, offset: u64) -> Result<Self, ArchiveError> {
        input.seek(SeekFrom::Start(offset)).map_err(ArchiveError::io(path))?;
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        let path = path.to_path_buf();
        Ok(Self { input, path, buffer, start: 0, end: 0, offset, member: offset })
    }
}

impl<R: Read + Seek> Source<R> {
    /// Looks at the file from elsewhere, and comes back.
    pub(crate) fn aside<T>(
        &mut self,
        look: impl FnOnce(&mut R, &Path) -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        let found = look(&mut self.input, &self.path)?;
        let end = self.offset + (self.end - self.start) as u64;
        self.input.seek(SeekFrom::Start(end)).map_err(ArchiveError::io(&self.path))?;
        Ok(found)
    }

    /// Goes to another byte, with which a member begins.
    pub(crate) fn seek(&mut self, offset: u64) -> Result<(), ArchiveError> {
        self.input.seek(SeekFrom::Start(offset)).map_err(ArchiveError::io(&self.path))?;
        (self.start, self.end, self.offset, self.member) = (0, 0, offset, offset);
        Ok(())
    }

    /// How many bytes the file has.
    pub(crate) fn file_bytes(&mut self) -> Result<u64, ArchiveError> {
        let seek = |input: &mut R, path: &Path| {
            input.seek(SeekFrom::End(0)).map_err(ArchiveError::io(path))
        };
        self.aside(seek)
    }

    /// Moves to the first place from byte `from` on where `wanted` occurs. Returns its offset.
    pub(crate) fn find(&mut self, wanted: &[u8], from: u64) -> Result<Option<u64>, ArchiveError> {
        self.seek(from)?;
        loop {
            let bytes = self.want(wanted.len())?;
            if bytes.len() < wanted.len() {
                return Ok(None);
            }
            let found = bytes.windows(wanted.len()).position(|bytes| bytes == wanted);
            let passed = found.unwrap_or(bytes.len() - wanted.len() + 1);
            self.consume(passed);
            if found.is_some() {
                return Ok(Some(self.offset));
            }
        }
    }
}

impl<R: Read> Source<R> {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn member(&self) -> u64 {
        self.member
    }

    /// A member begins with the next byte.
    pub(crate) fn begin_member(&mut self) {
        self.member = self.offset;
    }

    /// What is buffered: at least `count` bytes, unless the file ends before.
    pub(crate) fn want(&mut self, count: usize) -> Result<&[u8], ArchiveError> {
        debug_assert!(count <= BUFFER_BYTES, "what is asked for fits in the buffer");
        if self.end - self.start < count {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            while self.end < count {
                match self.input.read(&mut self.buffer[self.end..]) {
                    Ok(0) => break,
                    Ok(read) => self.end += read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(ArchiveError::io(&self.path)(error)),
                }
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Takes `count` bytes of those that [`Source::want`] last gave.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
        self.offset += count as u64;
        debug_assert!(self.start <= self.end, "no more is taken than was given");
    }

    /// Takes one byte; the member may not end before it.
    pub(crate) fn byte(&mut self) -> Result<u8, ArchiveError> {
        match self.want(1)?.first().copied() {
            Some(byte) => {
                self.consume(1);
                Ok(byte)
            }
            None => Err(self.truncated()),
        }
    }

    /// Passes over `count` bytes; the member may not end inside them.
    pub(crate) fn skip(&mut self, count: u64) -> Result<(), ArchiveError> {
        let mut left = count;
        while left > 0 {
            let given = self.want(1)?.len();
            if given == 0 {
                return Err(self.truncated());
            }
            let taken = usize::try_from(left).map_or(given, |left| left.min(given));
            self.consume(taken);
            left -= taken as u64;
        }
        Ok(())
    }

    pub(crate) fn truncated(&self) -> ArchiveError {
        ArchiveError::Truncated { path: self.path.clone(), offset: self.member }
    }

    pub(crate) fn damaged(&self, what: &'static str) -> ArchiveError {
        ArchiveError::Damaged { path: self.path.clone(), offset: self.member, what }
    }
}
