//! The HTTP response inside a record.
//!
//! What lives here: splitting a block into status, header and body, writing such a block, and finding the payload
//! that a digest covers. What does not: undoing codings (`coding.rs`), the meaning of a body.
//!
//! **Invariant.** The body is an unchanged part of the block. An unreadable header field is left out; the other fields
//! are kept.
//!
//! Reference: RFC 9112; WARC 1.1, section 6.3.2 and annex C.

mod body;
mod coding;

use std::borrow::Cow;

use self::coding::Decoded;
use crate::{ArchiveError, Kind, Record, digest, fields};

pub use body::body_reader;

/// Maximum size of the header of an HTTP message. A block with a longer one is not an HTTP message.
const HEADER_BYTES_MAX: usize = 256 << 10;

/// The header that keeps the value of a Transfer-Encoding which was undone before archiving.
pub const UNDONE_TRANSFER_ENCODING: &str = "X-Archive-Orig-Transfer-Encoding";

/// An HTTP response, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse<'a> {
    /// The status code, 100 to 999.
    pub status: u16,
    /// The header fields in order.
    pub headers: Vec<(String, String)>,
    /// The body as in the block, with its codings.
    pub body: &'a [u8],
    /// Where the body begins in the block.
    pub body_offset: usize,
}

/// Parses the block of a `response` record of type `application/http`.
pub fn parse_http(block: &[u8]) -> Result<HttpResponse<'_>, ArchiveError> {
    let (head, body_offset) = split(block)
        .ok_or(ArchiveError::Http { what: "no empty line ends its header within 256 KiB" })?;
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let status = status_of(line)?;
    let headers = fields::parse(&head[line.len()..]);
    Ok(HttpResponse { status, headers, body: &block[body_offset..], body_offset })
}

/// Returns the unchanged bytes of the first header field called `name` of an HTTP message. Case does not matter.
/// A folded value is cut after its first line.
pub fn http_field<'a>(block: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let (head, _) = split(block)?;
    let mut fields = head.split(|&byte| byte == b'\n').skip(1).filter_map(|line| {
        let colon = line.iter().position(|&byte| byte == b':')?;
        Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
    });
    fields.find(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
}

/// The status in the first line of a response.
fn status_of(line: &[u8]) -> Result<u16, ArchiveError> {
    let mut words = line.trim_ascii().split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let version = words.next().unwrap_or_default();
    if !version.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"HTTP/")) {
        return Err(ArchiveError::Http { what: "its first line is not a status line" });
    }
    match words.next() {
        Some([a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9']) => {
            Ok(u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0'))
        }
        _ => Err(ArchiveError::Http { what: "its status is not a three-digit number" }),
    }
}

/// Returns the response that [`parse_http`] would return for a block of [`http_block`], without building the block.
pub fn http_response<'a, 'b>(
    status_line: &str,
    headers: impl Iterator<Item = (&'b str, &'b [u8])>,
    body: &'a [u8],
) -> Result<HttpResponse<'a>, ArchiveError> {
    let headers = headers.filter_map(kept);
    let headers = headers.map(|(name, value)| {
        (fields::text(name.as_bytes().trim_ascii()), fields::text(value.trim_ascii()))
    });
    let status = status_of(status_line.as_bytes())?;
    Ok(HttpResponse { status, headers: headers.collect(), body, body_offset: 0 })
}

/// Returns a field as it is written, with Transfer-Encoding renamed. Returns `None` if it is not valid in a header.
fn kept<'a>((name, value): (&'a str, &'a [u8])) -> Option<(&'a str, &'a [u8])> {
    let broken = |byte: &u8| matches!(byte, b'\r' | b'\n' | 0);
    let is_kept = !name.is_empty()
        && !name.bytes().any(|b| b == b':' || broken(&b))
        && !value.iter().any(broken);
    let undone = name.eq_ignore_ascii_case("Transfer-Encoding");
    is_kept.then_some((if undone { UNDONE_TRANSFER_ENCODING } else { name }, value))
}

/// Builds the block of a `response` record. Returns it and the offset of its payload. The body has its transfer
/// coding undone, so the field Transfer-Encoding is renamed [`UNDONE_TRANSFER_ENCODING`]. Other fields are written
/// unchanged. Fields that are not valid in a header are left out, such as one with a line break in its value.
/// `status_line` has no line break.
pub fn http_block<'a>(
    status_line: &str,
    headers: impl Iterator<Item = (&'a str, &'a [u8])>,
    body: &[u8],
) -> (Vec<u8>, usize) {
    let mut block = Vec::with_capacity(body.len() + 1024);
    block.extend(status_line.bytes().filter(|&byte| byte != b'\r' && byte != b'\n'));
    block.extend_from_slice(b"\r\n");
    for (name, value) in headers.filter_map(kept) {
        block.extend_from_slice(name.as_bytes());
        block.extend_from_slice(b": ");
        block.extend_from_slice(value);
        block.extend_from_slice(b"\r\n");
    }
    block.extend_from_slice(b"\r\n");
    let payload_offset = block.len();
    block.extend_from_slice(body);
    (block, payload_offset)
}

impl<'a> HttpResponse<'a> {
    /// The value of the first header called `name`; case does not matter.
    pub fn header(&self, name: &str) -> Option<&str> {
        fields::find(&self.headers, name)
    }

    /// Returns the body with transfer and content codings undone, cut at `bytes_max` bytes. The cut bounds the cost
    /// of a small body that unpacks to a huge one.
    ///
    /// Headers may be wrong. A body that is not in the coding of its header is returned unchanged. A body that breaks
    /// off is returned up to that point.
    ///
    /// A known coding without support (`br`, `zstd`, `compress`) is an error, because its bytes would pass for text.
    /// A coded body without a readable byte is an error, because it would pass for an empty page.
    pub fn decoded_body(&self, bytes_max: usize) -> Result<Cow<'a, [u8]>, ArchiveError> {
        Ok(self.decode(bytes_max)?.bytes)
    }

    /// Like [`HttpResponse::decoded_body`], but a body that breaks off or is damaged is an error.
    pub fn whole_body(&self, bytes_max: usize) -> Result<Cow<'a, [u8]>, ArchiveError> {
        let decoded = self.decode(bytes_max)?;
        let what = "its body breaks off or is damaged";
        decoded.is_whole.then_some(decoded.bytes).ok_or(ArchiveError::Http { what })
    }

    fn decode(&self, bytes_max: usize) -> Result<Decoded<'a>, ArchiveError> {
        coding::decode(self.body, &self.codings(), bytes_max)
    }

    /// The codings of the body, the outermost first.
    pub(crate) fn codings(&self) -> Vec<String> {
        let values = |name: &str| {
            let of_name = |field: &&(String, String)| field.0.eq_ignore_ascii_case(name);
            let values: Vec<_> =
                self.headers.iter().filter(of_name).map(|(_, value)| value.as_str()).collect();
            values.join(",")
        };
        coding::layers(&values("Transfer-Encoding"), &values("Content-Encoding"))
    }
}

/// Returns the correct payload digest of a record if `declared` is wrong. Returns `None` if it is right. The payload of
/// an HTTP message is its body. Some tools include the chunk headers and some do not, so both digests are accepted.
pub(crate) fn payload_mismatch(record: &Record, declared: &str) -> Option<String> {
    let payload = payload(record);
    let computed = digest::mismatch(declared, payload)?;
    let unchunked = coding::unchunk(payload, payload.len());
    let same = unchunked.is_some_and(|(bytes, _)| digest::mismatch(declared, &bytes).is_none());
    (!same).then_some(computed)
}

/// Returns whether block and payload have the declared digests, in our own notation. Checking both at once is faster.
/// `false` may also mean another notation.
pub(crate) fn both_fit(record: &Record, block: &str, payload: &str) -> bool {
    if !digest::is_own(block) || !digest::is_own(payload) {
        return false;
    }
    match payload_offset(&record.kind, record.content_type.as_deref(), &record.block) {
        0 => block == payload && digest::sha1(&record.block) == block,
        offset => {
            let (of_block, of_payload) = digest::sha1_twice(&record.block, offset);
            of_block == block && of_payload == payload
        }
    }
}

/// The bytes that a payload digest covers: the body of an HTTP message, or else the whole block.
pub(crate) fn payload(record: &Record) -> &[u8] {
    let offset = payload_offset(&record.kind, record.content_type.as_deref(), &record.block);
    &record.block[offset..]
}

/// The offset of the payload in a block, as a reader sees it.
pub(crate) fn payload_offset(kind: &Kind, content_type: Option<&str>, block: &[u8]) -> usize {
    let message = matches!(kind, Kind::Response | Kind::Request);
    if message && content_type.is_none_or(is_http) {
        split(block).map_or(0, |(_, offset)| offset)
    } else {
        0
    }
}

/// Returns whether a Content-Type declares an HTTP message.
pub(crate) fn is_http(content_type: &str) -> bool {
    const NAME: &[u8] = b"application/http";
    let start = content_type.trim_start().as_bytes().get(..NAME.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(NAME))
}

/// Returns the header without its empty line, and the offset of the body.
fn split(block: &[u8]) -> Option<(&[u8], usize)> {
    let mut line_start = 0;
    let head = &block[..block.len().min(HEADER_BYTES_MAX)];
    for (at, _) in head.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        if matches!(&head[line_start..at], b"" | b"\r") && line_start > 0 {
            return Some((&head[..line_start], at + 1));
        }
        line_start = at + 1;
    }
    // A header that ends with the block, with no body and no empty line.
    (block.len() == line_start && line_start > 0 && block.len() <= HEADER_BYTES_MAX)
        .then_some((block, block.len()))
}
