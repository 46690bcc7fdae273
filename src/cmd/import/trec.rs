//! TREC collections: `<DOC>` after `<DOC>`, of text or of the web.
//!
//! ```text
//! <DOC>                                      <DOC>
//! <DOCNO> FT911-3 </DOCNO>                   <DOCNO>WTX001-B01-1</DOCNO>
//! <HEADLINE> A headline </HEADLINE>          <DOCHDR>
//! <TEXT>                                     http://www.example.org:80/ 127.0.0.1 19970101
//! What it says, with <P> or without.         HTTP/1.0 200 OK
//! </TEXT>                                    Content-type: text/html
//! </DOC>                                     </DOCHDR>
//!                                            <html> … </html>
//!                                            </DOC>
//! ```
//!
//! **Invariant.** One document is in memory at a time, of at most [`DOCUMENT_BYTES_MAX`]. An error names the first byte of
//! the document in the unpacked file. Bytes outside of documents are counted.

use std::io::Read;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use archive::Unpacked;

/// The longest document.
const DOCUMENT_BYTES_MAX: usize = 64 << 20;
/// Number of bytes to read at a time.
const READ_BYTES: usize = 1 << 16;

/// Elements with a title; the first one present counts.
const TITLES: [&str; 5] = ["TITLE", "HEADLINE", "HL", "TTL", "HEAD"];
/// Elements with text.
const TEXTS: [&str; 3] = ["TEXT", "LEADPARA", "LP"];

/// A document.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TrecDocument {
    /// Text under a name.
    Text { id: String, title: String, text: String },
    /// An answer of a web server. The address is not normalised.
    Web { id: String, url: String, status: u16, content_type: String, body: Vec<u8> },
}

/// Counts of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TrecCount {
    pub(super) documents: u64,
    /// Bytes outside of documents that are not white space, and the place of the first.
    pub(super) outside: u64,
    pub(super) first_outside: Option<u64>,
}

/// Calls `visit` with every document of a file.
pub(super) fn each_document(
    file: &Path,
    visit: &mut dyn FnMut(TrecDocument) -> Result<()>,
) -> Result<TrecCount> {
    let mut cutter = Cutter { input: Unpacked::open(file)?, buffer: Vec::new(), offset: 0 };
    let mut count = TrecCount::default();
    loop {
        let place = |offset: u64| format!("{}: the document at byte {offset}", file.display());
        if !cutter.skip_to_document(&mut count).with_context(|| file.display().to_string())? {
            return Ok(count);
        }
        let offset = cutter.offset;
        let document = cutter.document().and_then(|bytes| read(&bytes));
        visit(document.with_context(|| place(offset))?)?;
        count.documents += 1;
    }
}

/// Cuts a stream into documents.
struct Cutter<R> {
    input: R,
    buffer: Vec<u8>,
    /// The place of the buffer in the file.
    offset: u64,
}

impl<R: Read> Cutter<R> {
    /// Drops the bytes before the next document. Returns `false` at the end.
    fn skip_to_document(&mut self, count: &mut TrecCount) -> Result<bool> {
        loop {
            let found = find(&self.buffer, b"<DOC>");
            // The end of the buffer may cut a tag in two.
            let outside = found.unwrap_or((self.buffer.len() + 1).saturating_sub(b"<DOC>".len()));
            self.drop_outside(outside, count);
            if found.is_some() {
                return Ok(true);
            }
            if !self.read()? {
                self.drop_outside(self.buffer.len(), count);
                return Ok(false);
            }
        }
    }

    fn drop_outside(&mut self, bytes: usize, count: &mut TrecCount) {
        for (byte, at) in self.buffer.drain(..bytes).zip(self.offset..) {
            if !byte.is_ascii_whitespace() {
                count.outside += 1;
                count.first_outside.get_or_insert(at);
            }
        }
        self.offset += bytes as u64;
    }

    /// Removes the document that the buffer begins with. Returns the bytes between its tags.
    fn document(&mut self) -> Result<Vec<u8>> {
        let (open, close) = (b"<DOC>".len(), b"</DOC>".len());
        let mut seen = open;
        loop {
            let from = seen.saturating_sub(close).max(open);
            if let Some(at) = find(&self.buffer[from..], b"</DOC>") {
                let inside: Vec<u8> = self.buffer[open..from + at].to_vec();
                self.buffer.drain(..from + at + close);
                self.offset += (from + at + close) as u64;
                ensure!(find(&inside, b"<DOC>").is_none(), "has no </DOC> before the next <DOC>");
                return Ok(inside);
            }
            seen = self.buffer.len();
            ensure!(seen <= DOCUMENT_BYTES_MAX, "is longer than {DOCUMENT_BYTES_MAX} bytes");
            ensure!(self.read()?, "has no </DOC>");
        }
    }

    /// Reads more. Returns `false` at the end.
    fn read(&mut self) -> Result<bool> {
        let before = self.buffer.len();
        (&mut self.input).take(READ_BYTES as u64).read_to_end(&mut self.buffer)?;
        Ok(self.buffer.len() > before)
    }
}

/// Finds `tag`, in capitals or not.
fn find(bytes: &[u8], tag: &[u8]) -> Option<usize> {
    let begins = memchr::memchr_iter(b'<', bytes);
    begins.into_iter().find(|&at| {
        bytes.get(at..at + tag.len()).is_some_and(|found| found.eq_ignore_ascii_case(tag))
    })
}

/// Parses the bytes between the tags of a document.
fn read(bytes: &[u8]) -> Result<TrecDocument> {
    let (name, _) = element(bytes, "DOCNO").context("has no <DOCNO>")?;
    let id = decoded(name).split_whitespace().collect::<Vec<_>>().join(" ");
    ensure!(!id.is_empty(), "has an empty <DOCNO>");
    if let Some((header, behind)) = element(bytes, "DOCHDR") {
        return web(id.clone(), header, behind).with_context(|| id);
    }
    let title = TITLES.iter().find_map(|name| element(bytes, name));
    let title = title.map(|(title, _)| one_line(title)).unwrap_or_default();
    let mut texts = Vec::new();
    for name in TEXTS {
        let mut rest = bytes;
        while let Some((text, behind)) = element(rest, name) {
            texts.push(plain(text));
            rest = behind;
        }
    }
    if texts.is_empty() {
        let mut rest = bytes.to_vec();
        for name in ["DOCNO"].iter().chain(&TITLES) {
            rest = without(&rest, name);
        }
        texts.push(plain(&rest));
    }
    Ok(TrecDocument::Text { id, title, text: texts.join("\n").trim().to_owned() })
}

/// Parses a page of the web. The first line of the header is the address, the others are the answer of the server.
fn web(id: String, header: &[u8], body: &[u8]) -> Result<TrecDocument> {
    let header = decoded(header);
    let mut lines = header.lines().map(str::trim).filter(|line| !line.is_empty());
    let url = lines.next().and_then(|line| line.split_whitespace().next());
    let url = url.context("has no address in its <DOCHDR>")?.to_owned();
    page::normalise(&url, None, &page::Limits::default())
        .with_context(|| format!("{url:?} is not a web address"))?;
    let (mut status, mut content_type) = (200, "text/html".to_owned());
    for line in lines {
        if let Some((_, rest)) = line.split_once("HTTP/").filter(|(before, _)| before.is_empty()) {
            let code = rest.split_whitespace().nth(1).and_then(|code| code.parse().ok());
            status = code.unwrap_or(status);
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-type")
        {
            value.trim().clone_into(&mut content_type);
        }
    }
    if !(100..1000).contains(&status) {
        bail!("has the status {status}");
    }
    Ok(TrecDocument::Web { id, url, status, content_type, body: body.trim_ascii().to_vec() })
}

/// Returns the content of the first closed element with this name, and the bytes after it.
fn element<'a>(bytes: &'a [u8], name: &str) -> Option<(&'a [u8], &'a [u8])> {
    let (begin, end) = range(bytes, name)?;
    let close = name.len() + 3;
    let inside_begin = begin + memchr::memchr(b'>', &bytes[begin..])? + 1;
    // A start tag without `>` may contain the end tag.
    Some((bytes.get(inside_begin..end - close)?, &bytes[end..]))
}

/// Returns the begin and end of the first element with this name.
fn range(bytes: &[u8], name: &str) -> Option<(usize, usize)> {
    let open = find_open(bytes, name)?;
    let close = format!("</{name}>");
    let end = open + find(&bytes[open..], close.as_bytes())? + close.len();
    Some((open, end))
}

/// Finds a start tag with this name, with or without attributes.
fn find_open(bytes: &[u8], name: &str) -> Option<usize> {
    memchr::memchr_iter(b'<', bytes).find(|&at| {
        let rest = &bytes[at + 1..];
        let named =
            rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()));
        named
            && rest.get(name.len()).is_some_and(|&next| next == b'>' || next.is_ascii_whitespace())
    })
}

/// The bytes without the elements of this name.
fn without(bytes: &[u8], name: &str) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let Some((begin, end)) = range(rest, name) {
        out.extend_from_slice(&rest[..begin]);
        rest = &rest[end..];
    }
    out.extend_from_slice(rest);
    out
}

/// Removes tags and comments and resolves entities.
fn plain(bytes: &[u8]) -> String {
    let text = decoded(bytes);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    // The ends of the last tag and of the last comment. No search goes beyond them.
    let ends = [">", "-->"].map(|end| text.rfind(end).map_or(0, |at| at + end.len()));
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let is_comment = after.starts_with("!--");
        let is_tag = after.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c));
        let is_closed = text.len() - after.len() < ends[usize::from(is_comment)];
        let end = if is_comment { "-->" } else { ">" };
        let behind = (is_tag && is_closed).then(|| after.split_once(end)).flatten();
        if let Some((_, behind)) = behind {
            out.push(' ');
            rest = behind;
        } else {
            out.push('<');
            rest = after;
        }
    }
    out.push_str(rest);
    for (entity, letter) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&nbsp;", " ")] {
        out = out.replace(entity, letter);
    }
    out.replace("&amp;", "&").trim().to_owned()
}

fn one_line(bytes: &[u8]) -> String {
    plain(bytes).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Decodes UTF-8, or else Latin-1, which older collections use.
fn decoded(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec())
        .unwrap_or_else(|_| bytes.iter().map(|&byte| char::from(byte)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_in_any_order_are_read_or_refused() {
        let pieces = [
            "<TEXT ",
            "<DOCNO>",
            "</docno>",
            "</TEXT>",
            "<DOCHDR>",
            "</DOCHDR>",
            ">",
            "<!--",
            "http://a/ ",
        ];
        let (mut read_count, mut refused) = (0, 0);
        for number in 0..pieces.len().pow(5) {
            let piece = |place: u32| pieces[number / pieces.len().pow(place) % pieces.len()];
            let text: String = (0..5).map(piece).collect();
            match read(text.as_bytes()) {
                Ok(_) => read_count += 1,
                Err(_) => refused += 1,
            }
        }
        assert!(read_count > 100 && refused > 100, "{read_count} {refused}");
    }

    #[test]
    fn documents_are_split_correctly_at_any_read_boundary() {
        struct Drops<'a>(&'a [u8]);
        impl Read for Drops<'_> {
            fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
                self.0.read(&mut out[..1])
            }
        }
        let text = b" x<DOC>one</DOC><doc>two</doc>\n<DOC></DO</DOC>y<DO";
        let mut cutter = Cutter { input: Drops(text), buffer: Vec::new(), offset: 0 };
        let (mut count, mut found) = (TrecCount::default(), Vec::new());
        while cutter.skip_to_document(&mut count).expect("reads") {
            found.push(cutter.document().expect("is whole"));
        }
        assert_eq!(found, [&b"one"[..], b"two", b"</DO"]);
        assert_eq!((count.outside, count.first_outside), (5, Some(1)));
    }

    /// A quadratic search takes minutes for these.
    #[test]
    fn unclosed_tags_take_linear_time() {
        for piece in ["<a", "<", "</", "<!--", "<TEXT x=", "<TITLE></TITLE>", "<TEXT>x</TEXT>"] {
            let text = "<DOCNO>1</DOCNO>".to_owned() + &piece.repeat((2 << 20) / piece.len());
            let document = read(text.as_bytes()).expect("a document");
            assert!(matches!(document, TrecDocument::Text { .. }), "{piece}");
        }
    }

    #[test]
    fn plain_text_has_no_tags_or_entities() {
        for (text, seen) in [
            ("a <b>c</b> &lt;d&gt; &amp;lt;", "a  c  <d> &lt;"),
            ("x < y <!-- <p> --> z", "x < y   z"),
            ("caf\u{e9}", "caf\u{e9}"),
        ] {
            assert_eq!(plain(text.as_bytes()), seen);
        }
        assert_eq!(decoded(b"caf\xe9"), "caf\u{e9}");
    }
}
