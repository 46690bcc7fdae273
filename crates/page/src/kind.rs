//! Selects the reader of a body by its content type, the name in its URL, and its first bytes.
//!
//! `binary.rs` decides whether a body is binary.
//!
//! **Invariant.** A content type without a reader gives an error. It never causes a guess.

use ::url::Url;

use crate::{PageError, charset};

/// Bytes at the start that are searched for markup if the content type is unknown.
const SNIFFED_BYTES: usize = 1024;

/// If one of these is near the start of a body of unknown type, the body is HTML.
const MARKUP: [&str; 12] = [
    "<!doctype html",
    "<html",
    "<head",
    "<body",
    "<title",
    "<meta",
    "<script",
    "<h1",
    "<div",
    "<table",
    "<a href",
    "<p>",
];

/// The formats this crate reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Html,
    /// HTML in XML syntax: `<script/>` is a complete element.
    Xhtml,
    Plain,
    Markdown,
}

impl Kind {
    /// The format of `body`. A content type without a slash counts as missing.
    pub(crate) fn of(
        url: &Url,
        content_type: Option<&str>,
        body: &[u8],
    ) -> Result<Self, PageError> {
        let essence = essence(content_type.unwrap_or_default());
        match essence.as_str() {
            "text/html" => Ok(Self::Html),
            "application/xhtml+xml" => Ok(Self::Xhtml),
            "text/markdown" | "text/x-markdown" => Ok(Self::Markdown),
            "text/plain" if named_markdown(url) => Ok(Self::Markdown),
            "text/plain" => Ok(Self::Plain),
            "unknown/unknown" | "application/unknown" | "*/*" => Ok(Self::sniff(url, body)),
            other if !other.contains('/') => Ok(Self::sniff(url, body)),
            _ => Err(PageError::UnsupportedType { content_type: essence }),
        }
    }

    pub(crate) fn is_html(self) -> bool {
        matches!(self, Self::Html | Self::Xhtml)
    }

    fn sniff(url: &Url, body: &[u8]) -> Self {
        if named_markdown(url) {
            return Self::Markdown;
        }
        let start = &body[..body.len().min(SNIFFED_BYTES)];
        let start = String::from_utf8_lossy(start).to_ascii_lowercase();
        let has_markup = MARKUP.iter().any(|tag| start.contains(tag));
        if has_markup { Self::Html } else { Self::Plain }
    }
}

/// The parts of a `Content-Type` that matter to a reader. Two equal values read equal bytes as equal pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentType {
    /// The type without parameters, in lower case and of bounded length. Empty if the header is missing.
    pub essence: String,
    /// The name of the charset in the WHATWG encoding standard, if the header names a charset of that standard.
    pub charset: Option<&'static str>,
}

impl ContentType {
    /// Reads the value of the header. `None` means that the header is missing.
    #[must_use]
    pub fn read(value: Option<&str>) -> Self {
        let value = value.unwrap_or_default();
        let charset = charset::header_encoding(value).map(encoding_rs::Encoding::name);
        Self { essence: essence(value), charset }
    }
}

/// The type without parameters, in lower case and of bounded length.
fn essence(content_type: &str) -> String {
    const BYTES_MAX: usize = 128;
    let essence = content_type.split([';', ',']).next().unwrap_or_default().trim();
    essence[..essence.floor_char_boundary(BYTES_MAX)].to_ascii_lowercase()
}

fn named_markdown(url: &Url) -> bool {
    let path = url.path();
    path.rsplit_once('.').is_some_and(|(_, extension)| {
        extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("markdown")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_are_read_whatever_their_spelling() {
        let read = |value| ContentType::read(Some(value));
        let html = read("text/html; charset=utf-8");
        assert_eq!((html.essence.as_str(), html.charset), ("text/html", Some("UTF-8")));
        assert_eq!(read("Text/HTML;charset=\"UTF8\""), html);
        for other in ["text/html", "text/html; charset=latin1", "text/plain; charset=utf-8", ""] {
            assert_ne!(read(other), html, "{other}");
        }
        assert_eq!(read("text/html; charset=martian"), read("text/html"));
        assert_eq!(ContentType::read(None), ContentType::default());
    }
}
