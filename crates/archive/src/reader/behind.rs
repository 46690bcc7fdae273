//! Where reading goes on behind a place that cannot be read.
//!
//! What lives here: the search for the next place where a whole record begins, by what a member of gzip, a frame of
//! zstd or a plain record begins with. What does not: telling of the damage (`folder.rs`), and places that are known
//! without a search (`cdx.rs`).
//!
//! A page may contain a WARC file, so that what is found may be a record of that. Hence only a place behind damage is
//! searched, and only as a last resort.
//!
//! **Invariant.** A place is found only if a record can be read there, whole and with its checksums. Each search ends
//! behind where it began, and all searches of a file together read at most a multiple of its size.

use std::io::{Read, Seek};

use super::{Next, WarcReader};
use crate::{ArchiveError, gzip, zstd};

/// All searches together read so many times the bytes of the file …
const READ_TIMES_MAX: u64 = 16;
/// … and these.
const READ_BYTES_FREE: u64 = 64 << 20;
/// What a try costs at least, however soon it is given up.
const TRY_BYTES: u64 = 64 << 10;
/// What a plain record begins with, and the end of the line before it.
const PLAIN: &[u8] = b"\nWARC/";

impl<R: Read + Seek> WarcReader<R> {
    /// Goes on at `known`, where a record begins, or else at the first place that is found behind the record at
    /// `offset`, which could not be read. Returns where that is: the end of the file, where reading ends, if there is
    /// none.
    pub(crate) fn go_on_behind(
        &mut self,
        offset: u64,
        known: Option<u64>,
    ) -> Result<u64, ArchiveError> {
        if let Some(known) = known {
            self.go_to(known)?;
            return Ok(known);
        }
        let end = self.stream.file_bytes()?;
        let most = end.saturating_mul(READ_TIMES_MAX).saturating_add(READ_BYTES_FREE);
        self.searched_bytes += self.stream.offset().saturating_sub(offset);
        let (magic, before) = self.magic();
        let mut from = offset + 1;
        while self.searched_bytes < most
            && let Some(found) = self.stream.find(magic, from.saturating_sub(before))?
        {
            let found = found + before;
            if self.has_record_at(found)? {
                self.go_to(found)?;
                return Ok(found);
            }
            self.searched_bytes += self.stream.offset().saturating_sub(found).max(TRY_BYTES);
            from = found + 1;
        }
        self.next = Next::Lost;
        Ok(end)
    }

    /// What a record begins with, and how many bytes of that stand before it. The name says it also where the first
    /// bytes of the file are damaged.
    fn magic(&self) -> (&'static [u8], u64) {
        let ending = self.stream.path().extension().and_then(|ending| ending.to_str());
        match ending {
            Some("gz") => (&gzip::START, 0),
            Some("zst") => (&zstd::FRAME, 0),
            _ => (self.stream.magic().unwrap_or(PLAIN), u64::from(!self.stream.is_compressed())),
        }
    }

    fn has_record_at(&mut self, offset: u64) -> Result<bool, ArchiveError> {
        let read = self.go_to(offset).and_then(|()| self.next_record());
        match read {
            Ok(record) => Ok(record.is_some()),
            Err(error @ ArchiveError::Io { .. }) => Err(error),
            Err(_) => Ok(false),
        }
    }

    fn go_to(&mut self, offset: u64) -> Result<(), ArchiveError> {
        self.stream.seek(offset)?;
        (self.next, self.pending, self.at_end) = (Next::Here, None, false);
        Ok(())
    }
}
