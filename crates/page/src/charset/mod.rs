//! Decodes bytes: determines the charset of a page and its text.
//!
//! The order is that of browsers: byte order mark, HTTP header, `<meta>` near the top, detection with the top-level
//! domain as a hint. It differs from browsers in three points, because a search engine does not depend on the wishes of
//! authors:
//!
//! - **A declaration that the bytes refute is ignored**, and the next source in the order is used.
//!   UTF-8 is refuted by more malformed than well-formed sequences beyond ASCII. Another charset is refuted by bytes
//!   that are clearly UTF-8.
//! - **UTF-8 may be detected.** Browsers do not detect it, so that authors do not rely on detection.
//! - **The declaration of a charset that is no longer decoded** (ISO-2022-KR, HZ and others) is ignored. Browsers show
//!   one U+FFFD for the whole page. Here the ASCII parts can still be found.
//!
//! `binary.rs` decides whether a body is text at all.
//!
//! **Invariant.** Every body decodes to a text, with U+FFFD in place of malformed bytes.
//!
//! References: <https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding>,
//! <https://encoding.spec.whatwg.org/>.

mod evidence;
mod prescan;

use std::borrow::Cow;
use std::cell::LazyCell;

use ::url::{Host, Url};
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

use evidence::Evidence;

/// The charset by which the bytes of a page were decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset {
    /// The name of the charset in the WHATWG encoding standard.
    pub name: &'static str,
    /// The source of the charset.
    pub source: CharsetSource,
}

/// The source of the charset of a page, the most reliable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharsetSource {
    /// The byte order mark.
    Bom,
    /// The `Content-Type` header.
    Header,
    /// A `<meta>` element or an XML declaration.
    Meta,
    /// Detection from the bytes.
    Detected,
}

/// The text of `body` without its byte order mark. Malformed bytes become U+FFFD.
pub(crate) fn decode<'a>(
    url: &Url,
    content_type: Option<&str>,
    body: &'a [u8],
    is_html: bool,
) -> (Cow<'a, str>, Charset) {
    if let Some((encoding, bom_bytes)) = Encoding::for_bom(body) {
        return decode_as(encoding, CharsetSource::Bom, &body[bom_bytes..]);
    }
    // Most pages are declared as UTF-8 and are valid, so their bytes can be borrowed as text.
    let text = simdutf8::basic::from_utf8(body).ok();
    let evidence = LazyCell::new(|| text.map_or_else(|| Evidence::of(body), Evidence::of_text));
    let admits = |encoding: &&'static Encoding| {
        text.is_some() && *encoding == UTF_8 || evidence.admits(encoding)
    };
    let decode_as = |encoding, source| match text {
        Some(text) if encoding == UTF_8 => {
            (Cow::Borrowed(text), Charset { name: UTF_8.name(), source })
        }
        _ => decode_as(encoding, source, body),
    };
    let header = || content_type.and_then(header_encoding);
    if let Some(encoding) = header().filter(admits) {
        return decode_as(encoding, CharsetSource::Header);
    }
    let meta = || if is_html { prescan::declared(body) } else { None };
    if let Some(encoding) = meta().filter(admits) {
        return decode_as(encoding, CharsetSource::Meta);
    }
    let encoding = if admits(&UTF_8) { UTF_8 } else { detect(url, body) };
    decode_as(encoding, CharsetSource::Detected)
}

fn decode_as<'a>(
    encoding: &'static Encoding,
    source: CharsetSource,
    bytes: &'a [u8],
) -> (Cow<'a, str>, Charset) {
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    (text, Charset { name: encoding.name(), source })
}

/// The charset parameter of a `Content-Type`, read leniently.
pub(crate) fn header_encoding(content_type: &str) -> Option<&'static Encoding> {
    prescan::charset_of_content(content_type.as_bytes())
}

/// Bytes of words with characters beyond ASCII that detection reads.
const DETECTED_BYTES_MAX: usize = 8 << 10;

/// Guesses the charset of bytes that are not UTF-8, as browsers do. It reads only words with characters beyond ASCII,
/// because ASCII words carry no information.
fn detect(url: &Url, body: &[u8]) -> &'static Encoding {
    // ISO-2022-JP consists of ASCII bytes, so guessing it would let attackers hide scripts.
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let (mut rest, mut room) = (body, DETECTED_BYTES_MAX);
    loop {
        let foreign = Encoding::ascii_valid_up_to(rest);
        if foreign == rest.len() || room == 0 {
            break;
        }
        let start = rest[..foreign].iter().rposition(|byte| parts_words(*byte)).unwrap_or(0);
        let after = rest[foreign..].iter().position(|byte| parts_words(*byte));
        let end = after.map_or(rest.len(), |after| foreign + after + 1);
        let word = &rest[start..end.min(start + room)];
        detector.feed(word, false);
        room -= word.len();
        rest = &rest[end..];
    }
    // At the limit a character may be cut in two, which is no evidence against a charset.
    detector.feed(&[], room > 0);
    let host = match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.'),
        _ => "",
    };
    let tld = host.rsplit('.').next().filter(|label| !label.is_empty());
    detector.guess(tld.map(str::as_bytes), Utf8Detection::Deny)
}

/// Returns whether a byte separates words. It is not a letter, and not a part of a longer character in any charset.
fn parts_words(byte: u8) -> bool {
    matches!(byte, 0..=b'/' | b':'..=b'?')
}
