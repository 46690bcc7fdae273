//! Bytes to characters: which charset a page is in, and its text.
//!
//! The order is that of browsers: byte order mark, HTTP header, `<meta>` near the top,
//! detection with the top-level domain as a hint. Three things differ, because a search
//! engine does not have to please the authors of a page:
//!
//! - **A declaration that the bytes refute is passed over**, and the next in the order is asked.
//!   UTF-8 is refuted by more malformed sequences than well-formed ones beyond ASCII; another
//!   charset is refuted by bytes that are UTF-8 beyond doubt.
//! - **UTF-8 may be detected**, which browsers refuse to do lest authors rely on it.
//! - **A charset that is no longer decoded** (ISO-2022-KR, HZ and others), of which browsers show one
//!   U+FFFD for the whole page, is as good as no declaration: what is ASCII in it can still be found.
//!
//! What does not live here: the decision that a body is no text at all (`binary.rs`).
//!
//! **Invariant.** Every body has a text; which bytes came through badly is seen as U+FFFD in it.
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

/// How the bytes of a page were read as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset {
    /// The name of the charset in the WHATWG encoding standard.
    pub name: &'static str,
    /// What told us.
    pub source: CharsetSource,
}

/// What told the charset of a page, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharsetSource {
    /// The byte order mark.
    Bom,
    /// The `Content-Type` header.
    Header,
    /// A `<meta>` element or an XML declaration.
    Meta,
    /// The look of the bytes.
    Detected,
}

/// The text of `body` without its byte order mark; malformed bytes become U+FFFD.
pub(crate) fn decode<'a>(
    url: &Url,
    content_type: Option<&str>,
    body: &'a [u8],
    is_html: bool,
) -> (Cow<'a, str>, Charset) {
    if let Some((encoding, bom_bytes)) = Encoding::for_bom(body) {
        return decode_as(encoding, CharsetSource::Bom, &body[bom_bytes..]);
    }
    // Most pages are UTF-8 and say so, and then they are their text already.
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

/// Bytes in words beyond ASCII that detection looks at.
const DETECTED_BYTES_MAX: usize = 8 << 10;

/// The guess of browsers for bytes that are not UTF-8, from the words that are not all ASCII: the
/// others tell nothing.
fn detect(url: &Url, body: &[u8]) -> &'static Encoding {
    // ISO-2022-JP is pure ASCII to everyone else: guessing it is how scripts get smuggled in.
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
    // At the limit a character may be cut in two, and that is not the page's mistake.
    detector.feed(&[], room > 0);
    let host = match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.'),
        _ => "",
    };
    let tld = host.rsplit('.').next().filter(|label| !label.is_empty());
    detector.guess(tld.map(str::as_bytes), Utf8Detection::Deny)
}

/// Whether this byte is between words: one that is no letter, and no part of a longer character in
/// any charset.
fn parts_words(byte: u8) -> bool {
    matches!(byte, 0..=b'/' | b':'..=b'?')
}
