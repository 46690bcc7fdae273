//! The place where reading continues after damage.
//!
//! What lives here: the search for the next whole record, by the first bytes of a gzip member, a zstd frame or a
//! plain record. What does not: the report of the damage (`folder.rs`), and places that are known without a search
//! (`cdx/mod.rs`).
//!
//! A page may contain a WARC file, so the search may find a record inside a page. Therefore only bytes after damage
//! are searched, and only as a last resort.
//!
//! **Invariant.** A found place holds a readable record, whole and with valid checksums. Each search moves
//! forward. All searches of a file together read at most a multiple of its size.

use std::io::{Read, Seek};

use super::{Next, WarcReader};
use crate::ArchiveError;
use crate::warc::{gzip, zstd};

/// All searches together read at most this multiple of the bytes of the file …
const READ_TIMES_MAX: u64 = 16;
/// … plus these bytes.
const READ_BYTES_FREE: u64 = 64 << 20;
/// Minimum cost of a try, however early it ends.
const TRY_BYTES: u64 = 64 << 10;
/// The first bytes of a plain record, and the end of the line before it.
const PLAIN: &[u8] = b"\nWARC/";

impl<R: Read + Seek> WarcReader<R> {
    /// Continues at `known`, where a record begins. Without `known`, searches for a record after the unreadable one
    /// at `offset`. Returns the position of the record, or the end of the file if none was found.
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

    /// The first bytes of a record, and how many of them precede it. The file name gives them even if the first bytes
    /// of the file are damaged.
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
