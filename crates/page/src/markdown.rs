//! Markdown: converted to HTML, which it may also contain, and read as HTML.
//!
//! **Invariant.** A Markdown page observes the limits of an HTML page. The parser reads at most
//! [`Limits::text_bytes_max`](crate::Limits::text_bytes_max) bytes, because its tree takes up to 145 bytes
//! of memory for each byte of Markdown. It reads at most [`LEVELS_MAX`] markers of quotes and lists at the beginning of
//! a line, because it visits all open levels for each line.
//!
//! Reference: <https://spec.commonmark.org/>, with the tables and the strikethrough of GitHub.

use std::borrow::Cow;

use pulldown_cmark::{Options, Parser};

use crate::Page;
use crate::content::Reading;
use crate::html::{self, Syntax};

/// The greatest number of quotes and lists that one line may open.
const LEVELS_MAX: usize = 32;

/// Fills `page` with the wanted parts of a Markdown text. Returns the language that embedded HTML declares.
pub(crate) fn read(page: &mut Page, whole: &str, reading: &Reading<'_>) -> String {
    let text = &whole[..whole.floor_char_boundary(reading.limits.text_bytes_max)];
    let source = without_deep_levels(text);
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut markup = String::with_capacity(text.len() + text.len() / 4);
    pulldown_cmark::html::push_html(&mut markup, Parser::new_ext(&source, options));
    let declared = html::read(page, &markup, Syntax::Html, reading);
    page.text_is_cut |= reading.wanted.text && text.len() < whole.len();
    if page.title.is_empty() {
        page.title = page.headings.first().cloned().unwrap_or_default();
    }
    declared
}

/// The text, where lines with more than [`LEVELS_MAX`] markers of quotes and lists lose these markers.
fn without_deep_levels(text: &str) -> Cow<'_, str> {
    let shallow = |line: &str| match markers(line) {
        (levels, bytes) if levels > LEVELS_MAX => bytes,
        _ => 0,
    };
    if text.split_inclusive(['\n', '\r']).all(|line| shallow(line) == 0) {
        return Cow::Borrowed(text);
    }
    text.split_inclusive(['\n', '\r']).map(|line| &line[shallow(line)..]).collect()
}

/// The number of markers of quotes and lists at the beginning of a line, and the byte where they end.
fn markers(line: &str) -> (usize, usize) {
    let (mut levels, mut end) = (0, 0);
    let bytes = line.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let is_before_blank = bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
        match byte {
            b'>' => levels += 1,
            b'*' | b'-' | b'+' | b'.' | b')' if is_before_blank => levels += 1,
            b' ' | b'\t' | b'0'..=b'9' => continue,
            _ => break,
        }
        end = at + 1;
    }
    (levels, end)
}
