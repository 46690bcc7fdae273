//! Zstandard frames, one a record.
//!
//! What lives here: writing a frame from bytes in memory, and reading frames with or without a dictionary. Frames
//! without data are also read: the dictionary at the beginning of a file, and extensions, which are skipped. What
//! does not: the meaning of the bytes. Files are written without a dictionary.
//!
//! **Invariant.** A written frame has its size and its checksum, as the format for WARC requires. Reading uses a
//! window of at most 128 MiB and a dictionary of at most 8 MiB, whatever the file says.
//!
//! Reference: RFC 8878; IIPC, "Zstandard Compression for WARC Files 1.0" (proposed).

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use zstd_safe::{
    CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, compress_bound,
    get_error_name,
};

use crate::ArchiveError;
use crate::warc::source::Source;
use crate::warc::stream::Step;

pub(crate) const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Magic number of the skippable frame that holds the dictionary.
const DICTIONARY_FRAME: [u8; 4] = [0x5d, 0x2a, 0x4d, 0x18];
/// Magic number of an uncompressed dictionary in that frame.
const DICTIONARY: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];
/// Magic number and size.
const SKIPPABLE_HEADER_BYTES: usize = 8;
/// Flag in the byte after the magic number: the frame has a checksum.
const CHECKSUM_FLAG: u8 = 4;

/// The default limit of zstd. The format for WARC specifies 2²³.
const WINDOW_LOG_MAX: u32 = 27;
/// The limit in the format for WARC.
const DICTIONARY_BYTES_MAX: u64 = 8 << 20;

/// Writes frames.
pub(crate) struct Compressor {
    context: CCtx<'static>,
    out: Vec<u8>,
}

impl Compressor {
    pub(crate) fn new(level: i32) -> Self {
        let mut context = CCtx::create();
        for parameter in [CParameter::CompressionLevel(level), CParameter::ChecksumFlag(true)] {
            context.set_parameter(parameter).expect("every level is brought into range");
        }
        Self { context, out: Vec::new() }
    }

    /// A frame that holds `record`.
    pub(crate) fn frame(&mut self, record: &[u8]) -> &[u8] {
        self.out.clear();
        self.out.reserve(compress_bound(record.len()));
        self.context.compress2(&mut self.out, record).expect("it has room");
        &self.out
    }

    /// Frees the memory of the last frame.
    pub(crate) fn shrink(&mut self) {
        self.out = Vec::new();
    }
}

/// Reads frames.
pub(crate) struct Decompressor {
    context: DCtx<'static>,
    /// The frame has a checksum.
    is_checked: bool,
}

impl Decompressor {
    pub(crate) fn new() -> Self {
        let mut context = DCtx::create();
        let parameter = DParameter::WindowLogMax(WINDOW_LOG_MAX);
        context.set_parameter(parameter).expect("within what zstd can do");
        Self { context, is_checked: false }
    }

    /// Creates a reader of the file `input`. Loads the dictionary at the beginning of the file, if it has one.
    pub(crate) fn of<R: Read + Seek>(input: &mut R, path: &Path) -> Result<Self, ArchiveError> {
        let mut decompressor = Self::new();
        if let Some(dictionary) = dictionary(input, path)? {
            decompressor.context.load_dictionary(&dictionary).map_err(|_| {
                let (path, what) = (path.to_path_buf(), "its dictionary is invalid");
                ArchiveError::Damaged { path, offset: 0, what }
            })?;
        }
        Ok(decompressor)
    }

    /// Moves to the next frame of data. Returns `false` at the end of the file.
    pub(crate) fn begin<R: Read>(&mut self, source: &mut Source<R>) -> Result<bool, ArchiveError> {
        loop {
            source.begin_member();
            let head = source.want(SKIPPABLE_HEADER_BYTES)?;
            if head.is_empty() {
                return Ok(false);
            }
            // A short rest is truncated only if it is the beginning of a frame. Otherwise it is garbage.
            if FRAME.starts_with(&head[..head.len().min(FRAME.len())]) {
                let flags = head.get(FRAME.len()).copied().ok_or_else(|| source.truncated())?;
                self.is_checked = flags & CHECKSUM_FLAG != 0;
                let reset = self.context.reset(ResetDirective::SessionOnly);
                reset.expect("a session can always be given up");
                return Ok(true);
            }
            if !is_skippable(head) {
                return Err(source.damaged("no zstd frame begins here"));
            }
            let length = skippable_bytes(head).ok_or_else(|| source.truncated())?;
            source.consume(SKIPPABLE_HEADER_BYTES);
            source.skip(length)?;
        }
    }

    pub(crate) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Step, &'static str> {
        let mut input = InBuffer::around(input);
        let mut out = OutBuffer::around(out);
        let left = self.context.decompress_stream(&mut out, &mut input);
        let left = left.map_err(|code| match get_error_name(code) {
            "Restored data doesn't match checksum" => "checksum mismatch",
            "Dictionary mismatch" => "it needs a dictionary that its file does not have",
            "Frame requires too much memory for decoding" => "its window is larger than 128 MiB",
            _ => "its zstd data is invalid",
        })?;
        Ok(Step { taken: input.pos(), made: out.pos(), ended: left == 0 })
    }

    /// After a frame without a checksum another frame must follow, because a flipped bit may have cleared the
    /// checksum flag.
    pub(crate) fn end<R: Read>(&self, source: &mut Source<R>) -> Result<(), ArchiveError> {
        let next = source.want(FRAME.len())?;
        let fits = FRAME.starts_with(&next[..next.len().min(FRAME.len())]) || is_skippable(next);
        if self.is_checked || fits { Ok(()) } else { Err(source.damaged("no frame follows it")) }
    }
}

/// Returns whether a file is compressed with zstd, by its first bytes. No other WARC file begins with a bracket, so
/// the first byte of a torn file is enough.
pub(crate) fn begins(head: &[u8]) -> bool {
    head.first() == FRAME.first() || is_skippable(head)
}

fn is_skippable(head: &[u8]) -> bool {
    matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Returns the size of a skippable frame without its header; `None` if the header is truncated.
fn skippable_bytes(head: &[u8]) -> Option<u64> {
    let size = head.get(FRAME.len()..SKIPPABLE_HEADER_BYTES)?;
    Some(u32::from_le_bytes(size.try_into().expect("four bytes")).into())
}

/// Returns the dictionary at the beginning of a file, if it has one.
fn dictionary<R: Read + Seek>(input: &mut R, path: &Path) -> Result<Option<Vec<u8>>, ArchiveError> {
    input.seek(SeekFrom::Start(0)).map_err(ArchiveError::io(path))?;
    let mut read = |bytes_max: u64| {
        let mut bytes = Vec::new();
        input.take(bytes_max).read_to_end(&mut bytes).map_err(ArchiveError::io(path))?;
        Ok(bytes)
    };
    let head = read(SKIPPABLE_HEADER_BYTES as u64)?;
    if !head.starts_with(&DICTIONARY_FRAME) {
        return Ok(None);
    }
    let path = || path.to_path_buf();
    let truncated = || ArchiveError::Truncated { path: path(), offset: 0 };
    let damaged = |what| ArchiveError::Damaged { path: path(), offset: 0, what };
    let bytes_max = DICTIONARY_BYTES_MAX;
    let too_large =
        || ArchiveError::TooLarge { path: path(), offset: 0, what: "dictionary", bytes_max };
    let length = skippable_bytes(&head).ok_or_else(truncated)?;
    if length > bytes_max {
        return Err(too_large());
    }
    let mut bytes = read(length)?;
    if (bytes.len() as u64) < length {
        return Err(truncated());
    }
    if bytes.starts_with(&FRAME) {
        bytes = unpack(&bytes).map_err(damaged)?.ok_or_else(too_large)?;
    }
    if bytes.starts_with(&DICTIONARY) {
        Ok(Some(bytes))
    } else {
        Err(damaged("its dictionary frame holds no dictionary"))
    }
}

/// Decompresses a dictionary; returns `None` if it is too large.
fn unpack(frame: &[u8]) -> Result<Option<Vec<u8>>, &'static str> {
    let mut decompressor = Decompressor::new();
    let mut dictionary = Vec::new();
    let (mut rest, mut buffer) = (frame, vec![0; 64 << 10]);
    loop {
        let step = decompressor.step(rest, &mut buffer)?;
        dictionary.extend_from_slice(&buffer[..step.made]);
        rest = &rest[step.taken..];
        if dictionary.len() as u64 > DICTIONARY_BYTES_MAX {
            return Ok(None);
        }
        match step {
            Step { ended: true, .. } => return Ok(Some(dictionary)),
            Step { taken: 0, made: 0, .. } => return Err("the frame of its dictionary breaks off"),
            _ => {}
        }
    }
}
