//! The bytes of a WARC file after decompression, member by member.
//!
//! What lives here: telling gzip, zstd and plain files apart, undoing the compression step by step, and
//! its limit. A plain file is one member; a member of a zstd file is a frame. What does not: what members are
//! made of (`gzip.rs`, `zstd.rs`), records (`reader.rs`).
//!
//! **Invariant.** When [`Stream::fill`] has returned the empty slice, every byte given out since the
//! member began has passed the checksum of the member, which only some foreign zstd frames lack; offsets are
//! those of the file on disk. No more of a member is unpacked than a thousandfold of what was read of it, or than
//! one record may have.

use std::io::{Read, Seek};
use std::path::Path;

use crate::ArchiveError;
use crate::warc::gzip::Inflater;
use crate::warc::source::Source;
use crate::warc::zstd::Decompressor;
use crate::warc::{gzip, zstd};

const BUFFER_BYTES: usize = 64 << 10;
/// Deflate makes at most 1032 bytes of one, so only zstd meets this limit.
const EXPANSION_MAX: u64 = 1100;

pub(crate) struct Stream<R> {
    source: Source<R>,
    inside: bool,
    /// Whether the file was empty when opened. Bytes that a writer appends later are left for the next reader,
    /// because this one does not know the compression.
    is_empty: bool,
    decoder: Option<Decoder>,
    /// Bytes that a member may unpack to, whatever its compressed size.
    free_bytes: u64,
}

/// The decompressor of a member, and its output.
struct Decoder {
    method: Method,
    out: Box<[u8]>,
    start: usize,
    end: usize,
    /// The data has ended. The bytes after it in the member are not read yet.
    ended: bool,
    /// Bytes of the member that were unpacked.
    made: u64,
    /// Bytes that any short input may unpack to.
    free_bytes: u64,
}

enum Method {
    Gzip(Inflater),
    Zstd(Decompressor),
}

/// The bytes that one step of decompression consumed and produced.
pub(crate) struct Step {
    pub(crate) taken: usize,
    pub(crate) made: usize,
    /// The data of the member has ended.
    pub(crate) ended: bool,
}

impl<R: Read + Seek> Stream<R> {
    /// A stream over `input` from byte `offset` on; `path` is for error messages. `free_bytes` may come of
    /// a member whatever its size.
    pub(crate) fn at(
        input: R,
        path: &Path,
        offset: u64,
        free_bytes: u64,
    ) -> Result<Self, ArchiveError> {
        let source = Source::at(input, path, offset)?;
        let (inside, is_empty, decoder) = (false, false, None);
        let mut stream = Self { source, inside, is_empty, decoder, free_bytes };
        stream.tell_apart()?;
        Ok(stream)
    }

    /// Finds out what the next byte begins.
    fn tell_apart(&mut self) -> Result<(), ArchiveError> {
        let head = self.source.want(4)?;
        self.is_empty = head.is_empty();
        let (is_gzip, is_zstd) = (gzip::begins(head), zstd::begins(head));
        let method = match self.decoder.take().map(|decoder| decoder.method) {
            Some(had @ Method::Gzip(_)) if is_gzip => had,
            Some(had @ Method::Zstd(_)) if is_zstd => had,
            _ if is_gzip => Method::Gzip(Inflater::new()),
            _ if is_zstd => Method::Zstd(self.source.aside(Decompressor::of)?),
            _ => return Ok(()),
        };
        self.decoder = Some(Decoder {
            method,
            out: vec![0; BUFFER_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            ended: false,
            made: 0,
            free_bytes: self.free_bytes,
        });
        Ok(())
    }

    /// Goes to another byte, where a record or the member of one begins.
    pub(crate) fn seek(&mut self, offset: u64) -> Result<(), ArchiveError> {
        self.inside = false;
        self.source.seek(offset)?;
        self.tell_apart()
    }

    /// How many bytes the file has.
    pub(crate) fn file_bytes(&mut self) -> Result<u64, ArchiveError> {
        self.source.file_bytes()
    }

    /// Finds `wanted` in the file on disk, from byte `from` on. Call [`Stream::seek`] before the next read.
    pub(crate) fn find(&mut self, wanted: &[u8], from: u64) -> Result<Option<u64>, ArchiveError> {
        self.inside = false;
        self.source.find(wanted, from)
    }
}

impl<R: Read> Stream<R> {
    /// Returns whether the file is compressed, so that a record has its own member.
    pub(crate) fn is_compressed(&self) -> bool {
        self.decoder.is_some()
    }

    /// The first bytes of every member, if the file is compressed.
    pub(crate) fn magic(&self) -> Option<&'static [u8]> {
        self.decoder.as_ref().map(|decoder| match decoder.method {
            Method::Gzip(_) => &gzip::START[..],
            Method::Zstd(_) => &zstd::FRAME[..],
        })
    }

    /// The offset in the file of the next byte: exact in plain files and between members.
    pub(crate) fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// Where the current member begins.
    pub(crate) fn member(&self) -> u64 {
        self.source.member()
    }

    pub(crate) fn path(&self) -> &Path {
        self.source.path()
    }

    /// Begins the next member; `false` at the end of the file. A member must have been read to its
    /// end before.
    pub(crate) fn next_member(&mut self) -> Result<bool, ArchiveError> {
        self.inside = false;
        self.source.begin_member();
        if self.is_empty || self.source.want(1)?.is_empty() {
            return Ok(false);
        }
        if let Some(decoder) = &mut self.decoder {
            match &mut decoder.method {
                Method::Gzip(inflater) => inflater.begin(&mut self.source)?,
                Method::Zstd(decompressor) => {
                    if !decompressor.begin(&mut self.source)? {
                        return Ok(false);
                    }
                }
            }
            (decoder.start, decoder.end, decoder.ended, decoder.made) = (0, 0, false, 0);
        }
        self.inside = true;
        Ok(true)
    }

    /// The next decoded bytes of the member; empty at its end, which is checked.
    pub(crate) fn fill(&mut self) -> Result<&[u8], ArchiveError> {
        if !self.inside {
            return Ok(&[]);
        }
        let Some(decoder) = &mut self.decoder else { return self.source.want(1) };
        while decoder.start == decoder.end && !decoder.ended {
            decoder.step(&mut self.source)?;
        }
        if decoder.start == decoder.end {
            match &decoder.method {
                Method::Gzip(inflater) => inflater.end(&mut self.source)?,
                Method::Zstd(decompressor) => decompressor.end(&mut self.source)?,
            }
            self.inside = false;
        }
        Ok(&decoder.out[decoder.start..decoder.end])
    }

    /// Like [`Stream::fill`], but with at least `count` bytes in a compressed file, if the member has them.
    pub(crate) fn peek(&mut self, count: usize) -> Result<&[u8], ArchiveError> {
        debug_assert!(count < BUFFER_BYTES, "what is asked for fits in the buffer");
        if let Some(decoder) = self.decoder.as_mut().filter(|_| self.inside) {
            while decoder.end - decoder.start < count && !decoder.ended {
                decoder.step(&mut self.source)?;
            }
        }
        self.fill()
    }

    /// Takes `count` bytes of those that [`Stream::fill`] last gave.
    pub(crate) fn consume(&mut self, count: usize) {
        match &mut self.decoder {
            Some(decoder) => decoder.start = (decoder.start + count).min(decoder.end),
            None => self.source.consume(count),
        }
    }
}

impl Decoder {
    /// One step of decompression; what the output buffer still holds moves to its front.
    fn step<R: Read>(&mut self, source: &mut Source<R>) -> Result<(), ArchiveError> {
        self.out.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let input = source.want(1)?;
        let at_end = input.is_empty();
        let out = &mut self.out[self.end..];
        let step = match &mut self.method {
            Method::Gzip(inflater) => inflater.step(input, out),
            Method::Zstd(decompressor) => decompressor.step(input, out),
        };
        let Step { taken, made, ended } = step.map_err(|what| source.damaged(what))?;
        source.consume(taken);
        self.end += made;
        self.ended = ended;
        if taken == 0 && made == 0 && !ended {
            let idle = "its data goes on without end";
            return Err(if at_end { source.truncated() } else { source.damaged(idle) });
        }
        self.made += made as u64;
        let taken = source.offset() - source.member();
        if self.made > self.free_bytes && self.made / EXPANSION_MAX > taken {
            let (path, offset) = (source.path().to_path_buf(), source.member());
            let (what, bytes_max) = ("unpacked data", self.free_bytes);
            return Err(ArchiveError::TooLarge { path, offset, what, bytes_max });
        }
        Ok(())
    }
}
