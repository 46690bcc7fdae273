//! Finds the charset that a page declares in its first bytes.
//!
//! This is the "prescan a byte stream to determine its encoding" of the HTML standard, section 13.2.3.2, step for
//! step. It reads bytes before the charset is known, so it recognises only tags and comments.
//!
//! **Invariant.** The scan only moves forward and ends at [`PRESCAN_BYTES`] at the latest.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// Bytes that are read. The standard reads 1024 before parsing, and restarts the parser at a later declaration. A
/// longer prescan gives the same result.
const PRESCAN_BYTES: usize = 16 << 10;

/// The charset that `<meta charset>` or `<meta http-equiv>` declares, else that of `<?xml encoding?>`.
pub(super) fn declared(body: &[u8]) -> Option<&'static Encoding> {
    let bytes = &body[..body.len().min(PRESCAN_BYTES)];
    if bytes.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if bytes.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    Scanner { bytes, at: 0 }.meta().or_else(|| xml_declaration(bytes))
}

/// The charset in a value such as `text/html; charset=utf-8`.
pub(super) fn charset_of_content(value: &[u8]) -> Option<&'static Encoding> {
    let mut rest = value;
    loop {
        let at = find_ignoring_case(rest, b"charset")?;
        rest = trim_start(&rest[at + b"charset".len()..]);
        let Some(after) = rest.strip_prefix(b"=") else { continue };
        let label = trim_start(after);
        let label = if let quote @ (b'"' | b'\'') = label.first()? {
            let label = &label[1..];
            &label[..label.iter().position(|byte| byte == quote)?]
        } else {
            let is_end = |byte: &u8| is_space(*byte) || *byte == b';' || *byte == b',';
            &label[..label.iter().position(is_end).unwrap_or(label.len())]
        };
        return label_encoding(label);
    }
}

/// A walk over the bytes. `None` from any step means that the bytes ended and the scan is over.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The combined attributes of one `<meta>`.
#[derive(Default)]
struct Meta {
    is_content_type: bool,
    /// The encoding if its label is known, and whether it requires `http-equiv=content-type`.
    charset: Option<(Option<&'static Encoding>, bool)>,
}

impl Scanner<'_> {
    fn meta(mut self) -> Option<&'static Encoding> {
        loop {
            let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
            if rest.starts_with(b"<!--") {
                // The two dashes of `-->` may be the dashes of `<!--`.
                self.at += 2 + find_ignoring_case(&rest[2..], b"-->")? + 2;
            } else if is_meta(rest) {
                self.at += b"<meta".len();
                let meta = self.meta_attributes()?;
                if let Some(encoding) = meta.encoding() {
                    return Some(encoding);
                }
            } else if is_tag(rest) {
                self.at += rest.iter().position(|&byte| is_space(byte) || byte == b'>')?;
                while self.attribute()?.is_some() {}
            } else if matches!(rest, [b'<', b'!' | b'/' | b'?', ..]) {
                self.at += rest.iter().position(|&byte| byte == b'>')?;
            }
            self.at += 1;
        }
    }

    fn meta_attributes(&mut self) -> Option<Meta> {
        let mut meta = Meta::default();
        let mut seen = [false; 3];
        let mut is_first = |number: usize| !std::mem::replace(&mut seen[number], true);
        while let Some((name, value)) = self.attribute()? {
            match name.as_slice() {
                b"http-equiv" if is_first(0) => meta.is_content_type = value == b"content-type",
                b"content" if is_first(1) && meta.charset.is_none() => {
                    meta.charset = charset_of_content(&value).map(|found| (Some(found), true));
                }
                b"charset" if is_first(2) => {
                    meta.charset = Some((label_encoding(&value), false));
                }
                _ => {}
            }
        }
        Some(meta)
    }

    /// "Get an attribute": name and value in lower case. `Some(None)` at the end of the tag.
    #[expect(clippy::option_option, reason = "the scan may be over, or only the tag")]
    fn attribute(&mut self) -> Option<Option<(Vec<u8>, Vec<u8>)>> {
        self.skip(|byte| is_space(byte) || byte == b'/')?;
        if self.peek()? == b'>' {
            return Some(None);
        }
        let mut name = vec![];
        loop {
            match self.peek()? {
                b'=' if !name.is_empty() => break,
                byte if is_space(byte) => {
                    self.skip(is_space)?;
                    if self.peek()? != b'=' {
                        return Some(Some((name, vec![])));
                    }
                    break;
                }
                b'/' | b'>' => return Some(Some((name, vec![]))),
                byte => name.push(byte.to_ascii_lowercase()),
            }
            self.at += 1;
        }
        self.at += 1;
        self.skip(is_space)?;
        Some(Some((name, self.value()?)))
    }

    fn value(&mut self) -> Option<Vec<u8>> {
        let mut value = vec![];
        if let quote @ (b'"' | b'\'') = self.peek()? {
            self.at += 1;
            while self.peek()? != quote {
                value.push(self.peek()?.to_ascii_lowercase());
                self.at += 1;
            }
            self.at += 1;
        } else {
            while !(is_space(self.peek()?) || self.peek()? == b'>') {
                value.push(self.peek()?.to_ascii_lowercase());
                self.at += 1;
            }
        }
        Some(value)
    }

    fn skip(&mut self, skipped: impl Fn(u8) -> bool) -> Option<()> {
        while skipped(self.peek()?) {
            self.at += 1;
        }
        Some(())
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

impl Meta {
    fn encoding(&self) -> Option<&'static Encoding> {
        let (encoding, needs_content_type) = self.charset?;
        if needs_content_type && !self.is_content_type {
            return None;
        }
        let encoding = encoding?;
        Some(if encoding == X_USER_DEFINED { WINDOWS_1252 } else { not_utf_16(encoding) })
    }
}

/// "Get an XML encoding".
fn xml_declaration(bytes: &[u8]) -> Option<&'static Encoding> {
    let declaration = bytes.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..declaration.iter().position(|&byte| byte == b'>')?];
    let at = declaration.windows(8).position(|window| window == b"encoding")?;
    let value = trim_start(&declaration[at + 8..]).strip_prefix(b"=")?;
    let (quote, label) = trim_start(value).split_first()?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    let label = &label[..label.iter().position(|byte| byte == quote)?];
    if label.iter().any(|&byte| byte <= b' ') {
        return None;
    }
    label_encoding(label).map(not_utf_16)
}

/// The encoding of a label. `None` for labels of the "replacement" encoding.
fn label_encoding(label: &[u8]) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(label)
}

/// Replaces UTF-16 by UTF-8, because a declaration in single bytes cannot be UTF-16.
fn not_utf_16(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding }
}

fn is_meta(rest: &[u8]) -> bool {
    rest.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"<meta"))
        && rest.get(5).is_some_and(|&byte| is_space(byte) || byte == b'/')
}

fn is_tag(rest: &[u8]) -> bool {
    match rest {
        [b'<', b'/', letter, ..] | [b'<', letter, ..] => letter.is_ascii_alphabetic(),
        _ => false,
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}

fn trim_start(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.iter().position(|&byte| !is_space(byte)).unwrap_or(bytes.len())..]
}

fn find_ignoring_case(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window.eq_ignore_ascii_case(needle))
}
