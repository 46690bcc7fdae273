//! Undoing the codings of an HTTP body.
//!
//! What lives here: chunked, gzip and deflate, each bounded by the size of what may come out. What does
//! not: which header says what (`mod.rs`), and charsets.
//!
//! **Invariant.** No more than `bytes_max` bytes come out of any step, whatever goes in.
//!
//! Reference: RFC 9110, section 8.4; RFC 9112, section 7.1. `deflate` should mean zlib (RFC 1950); many
//! servers send bare deflate (RFC 1951), so both are tried, as browsers do.

use std::borrow::Cow;
use std::io::Read;

use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};

use crate::ArchiveError;

/// Maximum number of nested codings that are undone. Honest servers use at most one.
pub(crate) const LAYERS_MAX: usize = 4;
/// The beginning of everything in gzip.
pub(crate) const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A body with its codings undone.
pub(crate) struct Decoded<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// Whether it came to its end, or to the limit, without a fault: neither cut off nor damaged.
    pub(crate) is_whole: bool,
}

/// The body with the codings in `layers` undone, the first one first; see
/// [`crate::HttpResponse::decoded_body`].
pub(crate) fn decode<'a>(
    body: &'a [u8],
    layers: &[String],
    bytes_max: usize,
) -> Result<Decoded<'a>, ArchiveError> {
    let mut bytes = Cow::Borrowed(body);
    let mut is_whole = true;
    for name in layers.iter().take(LAYERS_MAX) {
        let decoded = match name.as_str() {
            "chunked" => unchunk(&bytes, bytes_max),
            "gzip" | "x-gzip" => gzip(&bytes, bytes_max),
            "deflate" => deflate(&bytes, bytes_max),
            name if is_unsupported(name) => {
                return Err(ArchiveError::Coding { coding: name.to_owned() });
            }
            _ => continue, // identity, and names that mean nothing
        };
        if let Some((decoded, went_well)) = decoded {
            if decoded.is_empty() && !went_well && !bytes.is_empty() {
                return Err(ArchiveError::DamagedCoding { coding: name.clone() });
            }
            bytes = Cow::Owned(decoded);
            is_whole &= went_well;
        } else {
            // Text that was never coded is whole; anything else is a coding with a damaged beginning.
            is_whole &= is_text(&bytes);
        }
    }
    let bytes = match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..bytes.len().min(bytes_max)]),
        Cow::Owned(bytes) => Cow::Owned(bytes), // every step keeps the limit
    };
    Ok(Decoded { bytes, is_whole })
}

/// The codings that two headers name, the outermost first. The last one that a header names was applied
/// last, and transfer codings were applied after content codings.
pub(crate) fn layers(transfer: &str, content: &str) -> Vec<String> {
    let names = content.split(',').chain(transfer.split(',')).rev();
    let names = names.map(|name| name.trim().to_ascii_lowercase());
    names.filter(|name| !name.is_empty()).collect()
}

/// Returns whether a coding is known but not supported.
pub(crate) fn is_unsupported(name: &str) -> bool {
    matches!(name, "br" | "zstd" | "compress" | "x-compress" | "dcb" | "dcz")
}

/// Returns whether the only control characters are those that separate lines and words.
fn is_text(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' '..=b'~' | 0x80..))
}

/// The chunks put together, and whether they went on to the last one or to the limit; `None` if the body does
/// not begin with a chunk.
pub(crate) fn unchunk(body: &[u8], bytes_max: usize) -> Option<(Vec<u8>, bool)> {
    let mut out = Vec::new();
    let mut rest = body;
    let mut chunks = 0_usize;
    let mut is_whole = false;
    while let Some((size, after)) = chunk_size(rest) {
        chunks += 1;
        let taken = size.min(after.len()).min(bytes_max - out.len());
        out.extend_from_slice(&after[..taken]);
        if size == 0 || taken < size {
            is_whole = size == 0 || out.len() == bytes_max;
            break;
        }
        rest = &after[size..];
        rest = rest.strip_prefix(b"\r").unwrap_or(rest);
        rest = rest.strip_prefix(b"\n").unwrap_or(rest);
    }
    (chunks > 0).then_some((out, is_whole))
}

/// Reads a chunk's first line: hexadecimal digits, then perhaps an extension.
fn chunk_size(bytes: &[u8]) -> Option<(usize, &[u8])> {
    const LINE_BYTES_MAX: usize = 1024;
    let end = bytes.iter().take(LINE_BYTES_MAX).position(|&byte| byte == b'\n')?;
    let line = bytes[..end].trim_ascii();
    let digits = line.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii_end();
    if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let size = std::str::from_utf8(digits).ok().and_then(|d| usize::from_str_radix(d, 16).ok())?;
    Some((size, &bytes[end + 1..]))
}

/// Decodes all members. Bytes after the last member are ignored unless they begin a member, as in gzip.
fn gzip(bytes: &[u8], bytes_max: usize) -> Option<(Vec<u8>, bool)> {
    let (mut out, mut is_whole, mut rest) = (Vec::new(), true, bytes);
    while is_whole && rest.starts_with(&GZIP) && out.len() < bytes_max {
        let mut decoder = GzDecoder::new(rest);
        let room = (bytes_max - out.len()) as u64;
        is_whole = (&mut decoder).take(room).read_to_end(&mut out).is_ok();
        rest = decoder.into_inner();
    }
    bytes.starts_with(&GZIP).then_some((out, is_whole))
}

fn deflate(bytes: &[u8], bytes_max: usize) -> Option<(Vec<u8>, bool)> {
    let (out, whole) = read_bounded(ZlibDecoder::new(bytes), bytes_max);
    if whole || !out.is_empty() {
        return Some((out, whole));
    }
    // Bare deflate has no mark at its beginning: only a stream that ends well is believed.
    let (out, whole) = read_bounded(DeflateDecoder::new(bytes), bytes_max);
    whole.then_some((out, whole))
}

/// Reads at most `bytes_max` bytes. Returns them, and whether reading reached the end or the limit without an error.
fn read_bounded(decoder: impl Read, bytes_max: usize) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    let whole = decoder.take(bytes_max as u64).read_to_end(&mut out).is_ok();
    (out, whole)
}
